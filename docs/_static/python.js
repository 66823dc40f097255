/* Python for the page's cells: gpubook.python. Nothing is loaded before the first call.
 *
 * A call is answered by autograder/live in a worker (python-worker.js), which is ended where it takes too long or is
 * stopped; the next call starts another. Over http the worker fetches what it needs from _static/python/; a page that is
 * read from the disk may fetch nothing, so the same files come as scripts (_static/python/disk/). */
(function () {
  "use strict";

  const BASE = document.currentScript.src.replace(/[^/]*$/, ""), DISK = location.protocol === "file:";
  const LIMIT = 30, START = 120, SEARCH = 120, READ = 300;  // seconds of a cell, until the library is loaded, of a search, of files
  const LOCK = { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.2" };
  const CORE = ["pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs", "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "library.zip"];
  const CHAPTERS = "book.zip";  // which a page that plans does without, and the course edition has not
  const ENDED = ["Stopped", "TimeUp"];
  const files = {}, reading = new Map();
  const watchers = new Set();
  let worker, ready, waiting = new Map(), serial = 0, snapshot = true;

  /* Called by the scripts of _static/python/disk/. */
  function file(name, text) {
    files[name] = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text).buffer
      : Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  }

  function fromDisk(name) {
    if (!reading.has(name)) {
      reading.set(name, new Promise((done, failed) => {
        const src = `${BASE}python/disk/${name.replaceAll("/", ".")}.js`;
        const gone = () => failed(new Error(`${name} did not load`));
        document.head.append(Object.assign(document.createElement("script"), { src, onload: done, onerror: gone }));
      }));
    }
    return reading.get(name);
  }

  async function begin(chapters) {
    const wanted = [...CORE, ...(chapters ? [CHAPTERS] : []), ...(snapshot ? ["snapshot.gz"] : [])];
    if (DISK) await Promise.all([...wanted, "worker"].map(fromDisk));
    // from a Blob a worker has the page's policy; a page on the disk may start no other, and no module
    const source = DISK ? files.worker : `import ${JSON.stringify(`${BASE}python-worker.js`)};`;
    const blob = new Blob([source], { type: "text/javascript" });
    worker = new Worker(URL.createObjectURL(blob), { type: DISK ? "classic" : "module" });
    const mine = worker;
    worker.onmessage = async ({ data }) => {
      if (data.wants) {
        await fromDisk(data.wants);
        mine.postMessage({ file: data.wants, data: files[data.wants] });
        return;
      }
      if (data.total) {
        watchers.forEach((watch) => watch(data));
        return;
      }
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.error === undefined) asked?.done(data.result);
      else asked?.failed(new Error(data.error));
    };
    worker.onerror = (event) => { for (const { failed } of waiting.values()) failed(new Error(event.message || "the worker failed")); };
    const config = { base: `${BASE}python/`, files: DISK ? { ...files } : null, lock: LOCK, snapshot, needs: wanted };
    await send({ config }, START);
  }

  /* Started once; without the snapshot where that does not load. */
  function started(chapters) {
    ready ??= begin(chapters).catch((error) => {
      end();
      if (!snapshot || ENDED.includes(error.name)) throw error;
      snapshot = false;
      ready = begin(chapters);
      return ready;
    });
    return ready;
  }

  function send(message, limit) {
    const id = ++serial;
    return new Promise((done, failed) => {
      const timer = setTimeout(() => {
        waiting.delete(id);
        const others = end();
        for (const other of others) other.failed(Object.assign(new Error("It waited for a cell that ran too long and was ended; try again."), { name: "Stopped" }));
        failed(Object.assign(new Error(`It ran longer than ${limit} s and was ended. Does a loop never end?`), { name: "TimeUp" }));
      }, limit * 1000);
      const settled = (f) => (x) => { clearTimeout(timer); f(x); };
      waiting.set(id, { done: settled(done), failed: settled(failed) });
      worker.postMessage({ id, ...message });
    });
  }

  function end() {
    worker?.terminate();
    worker = ready = undefined;
    const left = [...waiting.values()];
    waiting = new Map();
    return left;
  }

  /* End what runs, and say so to who waits for it. */
  function stop() {
    for (const { failed } of end()) failed(Object.assign(new Error("Stopped."), { name: "Stopped" }));
  }

  /* Say in `place` that Python is being loaded, and how much of it has come; returns what ends it. A reader who listens hears
   * the size once: what counts up is hidden from them. */
  function loading(place) {
    const count = document.createElement("span"), size = new Text("");
    count.setAttribute("aria-hidden", "true");
    place.replaceChildren("Loading Python, once", size, " … ", count);
    const megabytes = (bytes) => Math.round(bytes / 1e6);
    const watch = ({ loaded, total }) => {
      const told = `, about ${megabytes(total)} MB`;
      if (size.data !== told) size.data = told;
      count.textContent = loaded < total ? `${megabytes(loaded)} MB are here` : "it starts";
    };
    watchers.add(watch);
    return () => watchers.delete(watch);
  }

  async function call(name, given, limit = LIMIT, files = []) {
    try {
      await started(given.chapter !== undefined);
    } catch (error) {
      end();
      if (ENDED.includes(error.name)) throw error;
      throw new Error(`Python did not start: ${error.message}`);
    }
    return JSON.parse(await send({ request: JSON.stringify({ call: name, ...given }), files }, limit));
  }

  const parts = {
    file, stop, loading, isRunning: () => ready !== undefined, usesSnapshot: () => snapshot,
    run: (chapter, source, place) => call("run", { chapter, source, place }),
    check: (chapter, exercise, entered, variant) => call("check", { chapter, exercise, entered, variant }),
    echo: (chapter, exercise, entered) => call("echo", { chapter, exercise, entered }),
    variant: (chapter, exercise, number) => call("variant", { chapter, exercise, number }),
    planned: (page, asked, part) => call("planned", { page, asked, part }, SEARCH),
    /* Files are [name, blob] each. */
    read(files, kind, options) {
      const places = files.map((_, i) => `/tmp/held-${i}`);
      const named = files.map(([name], i) => [name, places[i]]);
      return call("read", { files: named, kind, options }, READ, files.map(([, blob], i) => [places[i], blob]));
    },
  };
  window.gpubook = Object.assign(window.gpubook ?? {}, { python: parts });
})();
