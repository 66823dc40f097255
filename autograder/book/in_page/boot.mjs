// Pyodide under node, as a page starts it: from a folder with pyodide/ and library.zip.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const HOME = "/home/pyodide", SITE = "/lib/python3.14/site-packages";
// Pyodide asks its lock file for packages; the page has its own archives instead.
export const LOCK = { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.2" };

export async function start(pyodide, options = {}) {
  const { loadPyodide } = await import(pathToFileURL(resolve(pyodide, "pyodide.mjs")).href);
  return loadPyodide({
    indexURL: resolve(pyodide) + "/", lockFileContents: { info: LOCK, packages: {} },
    env: { HOME, PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0" }, ...options,
  });
}

export const read = (...path) => new Uint8Array(readFileSync(resolve(...path)));

/* The book's own files, of these archives, and what is loaded before the first cell. */
export function open(python, folder, archives = ["library.zip", "book.zip"]) {
  for (const name of archives) python.unpackArchive(read(folder, name), "zip", { extractDir: `${HOME}/book` });
  python.runPython(`
import sys
sys.path[:0] = ["${HOME}/book", "${HOME}/book/site"]
import autograder.live.worker as worker
worker.prepare()
`);
}
