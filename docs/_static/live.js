/* Live figures without a kernel: a small host for anywidget's front-end modules, and for vega-lite.
 *
 * A figure is <figure class="live" data-live="anywidget|vega"> with its data as JSON inside. An anywidget module sees
 * the part of the contract that needs no kernel: get, set, on, off, save_changes, send. The module is imported from a
 * blob, so the page works from file:// too. Scripts load from this book's own folder and from nowhere else.
 * gpubook.mountAll() starts all figures of the page, and keeps its promise when they are drawn. */
(function () {
  "use strict";

  class Model {
    constructor(state) {
      this.state = { ...state };
      this.listeners = new Map();
    }
    get(key) {
      return this.state[key];
    }
    set(key, value) {
      const changes = typeof key === "object" ? key : { [key]: value };
      const changed = Object.keys(changes).filter((k) => this.state[k] !== changes[k]);
      Object.assign(this.state, changes);
      changed.forEach((k) => this.emit(`change:${k}`, this, changes[k]));
      if (changed.length) this.emit("change", this);
    }
    on(names, callback) {
      for (const name of names.split(/\s+/)) {
        if (!this.listeners.has(name)) this.listeners.set(name, new Set());
        this.listeners.get(name).add(callback);
      }
    }
    off(names, callback) {
      if (!names) return this.listeners.clear();
      for (const name of names.split(/\s+/)) {
        if (callback) this.listeners.get(name)?.delete(callback);
        else this.listeners.delete(name);
      }
    }
    emit(name, ...values) {
      for (const callback of [...(this.listeners.get(name) ?? [])]) callback(...values);
    }
    save_changes() {}
    send() {}
  }

  async function importSource(source) {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    try {
      return await import(url);
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  async function mountWidget(figure, data) {
    const module = await importSource(data.esm);
    let widget = module.default ?? module;
    if (typeof widget === "function") widget = await widget();
    if (data.css) {
      const style = document.createElement("style");
      style.textContent = data.css;
      figure.append(style);
    }
    const el = document.createElement("div");
    figure.insertBefore(el, figure.querySelector("figcaption"));
    const model = new Model(data.state);
    await widget.initialize?.({ model, experimental: {} });
    await widget.render?.({ model, el, experimental: {} });
    figure.model = model; // drag.js moves it
  }

  const base = typeof document === "undefined" ? "" : document.currentScript.src.replace(/[^/]*$/, "");
  const loaded = new Map();

  function load(path) {
    if (!loaded.has(path)) {
      loaded.set(path, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = base + path;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${path} did not load`));
        document.head.append(script);
      }));
    }
    return loaded.get(path);
  }

  async function mountVega(figure, data) {
    for (const name of ["vega", "vega-lite", "vega-embed"]) await load(`vendor/${name}/${name}.min.js`);
    const el = document.createElement("div");
    figure.insertBefore(el, figure.querySelector("figcaption"));
    const spec = fit(data.spec, figure.clientWidth - 100);
    const { view } = await vegaEmbed(el, spec, {
      ast: true, actions: false, renderer: "svg", tooltip: { theme: "custom" },
      config: { background: "transparent", font: getComputedStyle(figure).fontFamily, view: { stroke: null } },
    });
    figure.view = view; // drag.js moves it
    if (spec === data.spec || !data.spec.title?.text?.expr) return;
    const head = document.createElement("p");
    head.className = "live-title";
    el.before(head);
    const say = (name, text) => { head.textContent = [text].flat().join("; "); };
    say("", view.signal("headline"));
    view.addSignalListener("headline", say);
  }

  /* A chart drawn for a wide page, on a phone: its views as wide as there is room, the legend above them in two columns,
   * and a title that is computed above all, where it can have several lines. */
  function fit(spec, room) {
    const views = (view) => [view, ...[...(view.vconcat || []), ...(view.layer || [])].flatMap(views)];
    if (!views(spec).some((view) => view.width > room)) return spec;
    const narrow = (view) => ({
      ...view,
      ...(view.width && { width: Math.max(160, Math.min(view.width, room)) }),
      ...(view.layer && { layer: view.layer.map(narrow) }),
    });
    const { axis, legend } = spec.config || {}, title = spec.title?.text?.expr;
    const config = {
      ...spec.config,
      axis: { ...axis, labelOverlap: "greedy", labelSeparation: 4 },
      legend: { ...legend, orient: "top", columns: 2, labelLimit: room / 2 },
    };
    const fitted = { ...narrow(spec), config };
    if (title) {
      delete fitted.title;
      fitted.params = [...(spec.params || []), { name: "headline", expr: title }];
    }
    if (spec.vconcat) fitted.vconcat = spec.vconcat.map(narrow);
    return fitted;
  }

  /* A chart needs 0.8 MB of scripts, so it waits until it is near; a widget brings its own. Each starts once. */
  const mounted = new Map(), NEAR = "800px 0px";

  function mount(figure) {
    if (!mounted.has(figure)) mounted.set(figure, start(figure));
    return mounted.get(figure);
  }

  async function start(figure) {
    try {
      const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
      await (figure.dataset.live === "vega" ? mountVega : mountWidget)(figure, data);
      figure.dataset.ready = "true";
    } catch (error) {
      const say = document.createElement("p");
      say.className = "live-error";
      say.textContent = `This figure could not start: ${error.message}`;
      figure.append(say);
      console.error(error);
    }
  }

  if (typeof document === "undefined") module.exports = { Model };
  else {
    const figures = [...document.querySelectorAll("figure.live")];
    const near = new IntersectionObserver((entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        near.unobserve(target);
        mount(target);
      }
    }, { rootMargin: NEAR });
    for (const figure of figures)
      if (figure.dataset.live === "vega") near.observe(figure);
      else mount(figure);
    const mountAll = () => Promise.all(figures.map(mount));
    window.gpubook = Object.assign(window.gpubook ?? {}, { mountAll });
  }
})();
