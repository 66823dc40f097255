// A Python file in the page's Python, under node: node run.mjs BOOT SITE FILE.py [DATA.json]; prints its `result`.
// SITE is the folder _static/python of a built book; packages on demand are all unpacked, as a reader's cells would do.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [boot, folder, file, data] = process.argv.slice(2);
const { open, read, SITE, start } = await import(pathToFileURL(resolve(boot)).href);
const python = await start(resolve(folder, "pyodide"));
open(python, folder);
for (const name of ["mpmath", "sympy", "networkx"])
  python.unpackArchive(read(folder, `${name}.zip`), "zip", { extractDir: SITE });
python.globals.set("data", data ? readFileSync(data, "utf8") : "null");
python.runPython(readFileSync(file, "utf8"));
process.stdout.write(python.globals.get("result"));
