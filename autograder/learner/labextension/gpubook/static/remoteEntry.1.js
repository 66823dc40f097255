/* Goes to the cell that an address names, "/lab/tree/chapter.ipynb#cell-id=some-cell", or a link in a notebook does.
 *
 * JupyterLab 4.6 does so only where the notebook is open already, and what is laid out above the cell afterwards pushes it
 * out of sight again. The cell is brought back until it rests, or until the reader scrolls, clicks or types.
 * A federated extension by hand: its name has a number, since browsers keep it for good; a container with `init` and `get`, which needs none of JupyterLab's modules. */
"use strict";
{
  const KEY = "gpubook.cell", OPENS = 60_000, SETTLES = 20_000, EVERY = 200, RESTS = 8; // ms, and looks in a row
  const named = (hash) => {
    const found = /^#cell-id=(.+)$/.exec(hash);
    return found && decodeURIComponent(found[1]);
  };
  const memory = (value) => {
    try {
      if (value === undefined) return sessionStorage.getItem(KEY);
      if (value === null) sessionStorage.removeItem(KEY);
      else sessionStorage.setItem(KEY, value);
    } catch { /* a browser that keeps nothing */ }
    return null;
  };

  // At once, for JupyterLab goes on to another address where a second tab needs a workspace of its own.
  if (named(location.hash)) memory(named(location.hash));

  function activate(app) {
    let going = 0;

    function stop() {
      clearInterval(going);
      going = 0;
    }
    for (const kind of ["wheel", "pointerdown", "keydown", "touchstart"])
      document.addEventListener(kind, stop, { capture: true, passive: true });

    function go(id) {
      stop();
      let until = Date.now() + OPENS, rested = 0, reached = false;
      going = setInterval(() => {
        if (Date.now() > until) return stop();
        const content = app.shell.currentWidget?.content, cells = content?.widgets;
        if (!Array.isArray(cells) || typeof content.scrollToItem !== "function") return;
        const at = cells.findIndex((cell) => cell.model?.id === id);
        if (at < 0) return;
        if (!reached) {
          reached = true;
          until = Date.now() + SETTLES;
          memory(null);
          content.deselectAll?.();
          content.activeCellIndex = at;
        }
        const outer = content.node.getBoundingClientRect(), { top } = cells[at].node.getBoundingClientRect();
        if (cells[at].node.isConnected && top >= outer.top - 1 && top <= outer.top + outer.height / 3) {
          if (++rested >= RESTS) stop();
          return;
        }
        rested = 0;
        if (cells[at].node.isConnected) cells[at].node.scrollIntoView({ block: "start" });
        else content.scrollToItem(at, "start").catch(() => {});
      }, EVERY);
    }

    window.addEventListener("hashchange", () => named(location.hash) && go(named(location.hash)));
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]"), id = link && named(new URL(link.href, location.href).hash);
      if (id && link.target !== "_blank") setTimeout(() => go(id));
    }, true);
    if (memory()) app.restored.then(() => memory() && go(memory()));
  }

  const plugin = { id: "gpubook:go-to-cell", description: "Goes to the cell of an address", autoStart: true, activate };
  const modules = { "./extension": () => ({ __esModule: true, default: plugin }) };
  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB.gpubook = { init: () => {}, get: async (name) => modules[name] };
}
