// Python's memory once the library is loaded: node snapshot.mjs FOLDER OUT.gz
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { open, start } from "./boot.mjs";

const [folder, out] = process.argv.slice(2);
const python = await start(resolve(folder, "pyodide"), { _makeSnapshot: true });
open(python, folder, ["library.zip"]);
writeFileSync(out, gzipSync(python.makeMemorySnapshot(), { level: 9 }));
