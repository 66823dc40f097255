// Compiles the .py of a zip to .pyc with the Pyodide that will load them: node compile.mjs PYODIDE ZIP HOW
// HOW is "instead": without their sources and their docstrings; "stdlib": without their sources; or "beside": in
// __pycache__, next to the sources, which errors and figures quote.
import { writeFileSync } from "node:fs";
import { read, start } from "./boot.mjs";

const [pyodide, zip, how] = process.argv.slice(2);
const python = await start(pyodide);
python.runPython(`
import importlib.util, io, marshal, sys, zipfile


def compiled(data, how):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as old, zipfile.ZipFile(out, "w") as new:

        def add(name, body):
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), body, zipfile.ZIP_DEFLATED, 9)

        for name in old.namelist():
            body = old.read(name)
            if name.endswith("/"):
                continue
            if not name.endswith(".py"):
                add(name, body)
                continue
            code = compile(body, "/" + name, "exec", dont_inherit=True, optimize=2 if how == "instead" else 0)
            # an unchecked hash: it is never held against a source
            binary = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
            if how == "beside" and not name.startswith("site/"):
                add(name, body)
                folder, _, file = name.rpartition("/")
                add(f"{folder}/__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc", binary)
            else:
                add(name + "c", binary)
    return out.getvalue()
`);
writeFileSync(zip, python.globals.get("compiled")(python.toPy(read(zip)), how).toJs());
