/* The page's Python, in a worker of its own, so that the page can end a cell that does not.
 *
 * First message: {config: {base, files, lock, snapshot, needs}}. With `files` (a page read from the disk) nothing is fetched:
 * they hold what lies in _static/python/, by name. Later messages: {id, request, files}, a JSON text for
 * autograder.live.worker, with the files that it names, [path, blob] each, there for this call; and {file, data}, one of the files that came later. Answers: {id, result} or {id, error}; {id, wants: a file's name}
 * where a package is needed that is not here yet; over http, while it starts, {loaded, total} bytes. */
const LOCAL = "https://files.invalid/", HOME = "/home/pyodide", SITE = "/lib/python3.14/site-packages";
let python, config, started;

/* Over http: say how much of what Python needs has come, by the sizes that the build wrote down. Modules are imported, and
 * count when they are there; what else is fetched counts as it comes. */
async function reporter(names) {
  const response = await fetch(new URL("sizes.json", config.base));
  if (!response.ok) return () => {};
  const sizes = await response.json(), plain = self.fetch.bind(self);
  const total = names.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
  let loaded = 0, told = 0;
  const add = (count) => {
    loaded = Math.min(loaded + count, total);
    if (Date.now() - told < 100 && loaded < total) return;
    told = Date.now();
    postMessage({ loaded, total });
  };
  self.fetch = async (url, ...more) => {
    const answer = await plain(url, ...more), name = String(url?.url ?? url).split(config.base)[1];
    if (!answer.ok || !answer.body || !names.includes(name)) return answer;
    const counted = new TransformStream({ transform(chunk, to) { add(chunk.byteLength); to.enqueue(chunk); } });
    return new Response(answer.body.pipeThrough(counted), { headers: { "content-type": answer.headers.get("content-type") ?? "" } });
  };
  add(0);
  return (name) => add(sizes[name] ?? 0);
}

async function bytes(name) {
  if (config.files) return new Uint8Array(config.files[name] ?? (await late(name)));
  const response = await fetch(new URL(name, config.base));
  if (!response.ok) throw new Error(`${name} did not load (${response.status})`);
  return new Uint8Array(await response.arrayBuffer());
}

/* A file that the page has to read from the disk first. */
const awaited = new Map();
function late(name) {
  postMessage({ wants: name });
  return new Promise((done) => awaited.set(name, done));
}

const unpack = async (name, to) => python.unpackArchive(await bytes(name), "zip", { extractDir: to });

/* The memory of a module has to be as large as a snapshot before that is copied there: so much is asked for that it must
 * grow. What malloc keeps of this is overwritten with all else. */
function roomy(create, size) {
  return async (settings) => {
    const made = await create(settings);
    if (made.HEAP8.length < size) made._malloc(size);
    return made;
  };
}

async function start() {
  const options = { env: { HOME, PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0" } };
  let module, create;
  if (config.files) {
    // Pyodide refuses a classic worker, which it knows by importScripts; from the disk no other can be started.
    self.importScripts = () => { throw new Error("as in a module worker"); };
    const plain = self.fetch.bind(self);
    self.fetch = (url, ...more) => {
      const name = String(url?.url ?? url);
      if (!name.startsWith(LOCAL)) return plain(url, ...more);
      const type = name.endsWith(".wasm") ? "application/wasm" : "application/zip";
      return Promise.resolve(new Response(config.files[`pyodide/${name.slice(LOCAL.length)}`], { headers: { "content-type": type } }));
    };
    const script = (name) => URL.createObjectURL(new Blob([config.files[`pyodide/${name}`]], { type: "text/javascript" }));
    create = (await import(script("pyodide.asm.mjs"))).default;
    module = await import(script("pyodide.mjs"));
    options.indexURL = LOCAL;
  } else {
    const came = await reporter(config.needs).catch(() => () => {});  // without it Python starts all the same
    const imported = async (name) => {
      const one = await import(new URL(name, config.base).href);
      came(name);
      return one;
    };
    create = (await imported("pyodide/pyodide.asm.mjs")).default;
    module = await imported("pyodide/pyodide.mjs");
    options.indexURL = new URL("pyodide/", config.base).href;
  }
  options.lockFileContents = { info: config.lock, packages: {} };
  const archives = config.needs.filter((name) => name.endsWith(".zip") && !name.includes("/")).map(bytes);
  if (config.snapshot) {  // Python as it was when the library had been loaded; an option that Pyodide calls experimental
    const packed = new Blob([await bytes("snapshot.gz")]).stream();
    const memory = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    options._loadSnapshot = Promise.resolve(memory);
    create = roomy(create, memory.byteLength);
  }
  options.createPyodideModule = create;
  python = await module.loadPyodide(options);
  for (const archive of archives) python.unpackArchive(await archive, "zip", { extractDir: `${HOME}/book` });
  python.runPython(`
import sys
sys.path[:0] = [p for p in ("${HOME}/book", "${HOME}/book/site") if p not in sys.path]
import autograder.live.worker as worker
worker.prepare()
`);
}

self.onmessage = async ({ data }) => {
  if (data.file) {
    config.files[data.file] = data.data;
    awaited.get(data.file)?.(data.data);
    return;
  }
  try {
    if (data.config) {
      config = data.config;
      started = start();
      await started;
      postMessage({ id: data.id, result: "" });
      return;
    }
    await started;
    for (const [path, blob] of data.files ?? []) python.FS.writeFile(path, new Uint8Array(await blob.arrayBuffer()), { canOwn: true });
    const call = python.pyimport("autograder.live.worker").call;
    let result = call(data.request);
    while (result.startsWith('{"needs"')) {  // a package: unpack it, and call again
      await unpack(`${JSON.parse(result).needs}.zip`, SITE);
      result = call(data.request);
    }
    postMessage({ id: data.id, result });
  } catch (error) {
    postMessage({ id: data.id, error: String(error.message ?? error).slice(-2000) });
  } finally {
    for (const [path] of data.files ?? []) if (python?.FS.analyzePath(path).exists) python.FS.unlink(path);
  }
};
