// Compiles the .py of a zip to .pyc with the Pyodide that will load them: node compile.mjs PYODIDE ZIP
import { writeFileSync } from "node:fs";
import { read, start } from "./boot.mjs";

const [pyodide, zip] = process.argv.slice(2);
const python = await start(pyodide);
python.runPython(`
import importlib.util, io, marshal, zipfile


def compiled(data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name.endswith(".py"):
                code = compile(body, "/" + name, "exec", dont_inherit=True, optimize=2)
                # an unchecked hash: it is never held against a source
                body = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
                name += "c"
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), body, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()
`);
writeFileSync(zip, python.globals.get("compiled")(python.toPy(read(zip))).toJs());
