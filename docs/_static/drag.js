/* Quantities in the text that a reader drags, and the numbers that follow them.
 *
 * The page's last script is a function of N (numbers.js) that gives `drags`, each quantity by name with its values, texts and
 * the place `at` of the book's value, and `numbers`, by the id of their span the functions (v, at) of those that follow, and `origins`, those of what stands
 * behind them (provenance.js).
 * A quantity is a slider: mouse and finger move it, so do the arrow keys, PageUp, PageDown, Home and End; Escape, or a double
 * click, brings the book's value back. Where it names the parameter of a live figure, the next figure that has it follows. */
(function () {
  "use strict";
  const book = (window.gpubook ??= {});
  if (!book.sentences) return;
  const { drags, numbers, origins } = book.sentences(book.numbers);
  const place = Object.fromEntries(Object.entries(drags).map(([name, one]) => [name, one.at]));
  const spans = (kind, key) => document.querySelectorAll(`.bd-article span.${kind}[data-${kind}="${key}"]`);
  const following = Object.entries(numbers).map(([key, text]) => ({ text, spans: [...spans("n", key)] }));
  following.flatMap((one) => one.spans).forEach((span) => span.classList.add("follows"));

  const values = () => Object.fromEntries(Object.entries(place).map(([name, at]) => [name, drags[name].values[at]]));

  function followText() {
    const v = values();
    for (const { text, spans } of following) {
      const now = text(v, place);
      for (const span of spans) {
        if (span.textContent === now) continue;
        span.textContent = now;
        span.classList.remove("changed");
        void span.offsetWidth; // so that the animation begins again
        span.classList.add("changed");
      }
    }
  }

  /* The live figure that has a parameter: the first one after the quantity, or else the last before it. */
  function figureOf(span, parameter) {
    const has = (figure) => parameter in (figure.model?.state ?? figure.view?.getState().signals ?? {});
    const those = [...document.querySelectorAll("figure.live[data-ready]")].filter(has);
    const after = (figure) => span.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_FOLLOWING;
    return those.find(after) ?? those.at(-1);
  }

  function followFigure(span, one) {
    if (!one.parameter) return;
    const figure = figureOf(span, one.parameter), value = one.moved(values(), place);
    if (figure?.view) figure.view.signal(one.parameter, value).runAsync();
    else figure?.model.set(one.parameter, value);
  }

  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  let telling;

  /* A reader who listens hears the quantity at once, and the sentences that follow once it rests. */
  function tell(span) {
    clearTimeout(telling);
    telling = setTimeout(() => { status.textContent = span.closest("p, li, td, dd")?.textContent ?? ""; }, 900);
  }

  function dragOf(span, name) {
    const one = drags[name], last = one.values.length - 1, page = Math.max(2, Math.round(last / 8));
    const reset = document.createElement("button");
    reset.type = "button";
    reset.className = "drag-reset";
    reset.hidden = true;
    reset.setAttribute("aria-label", `${one.label}: back to ${one.texts[one.at]}`);
    reset.append("↺");
    reset.addEventListener("click", () => { move(one.at); span.focus(); });
    span.after(reset);

    for (const [key, value] of Object.entries({
      role: "slider", tabindex: 0, "aria-label": one.label, "aria-valuemin": 0, "aria-valuemax": last,
      title: "Drag, or use the arrow keys; Escape brings the book's value back",
    })) span.setAttribute(key, value);

    function pull() {
      span.textContent = one.texts[place[name]];
      span.setAttribute("aria-valuenow", place[name]);
      span.setAttribute("aria-valuetext", one.texts[place[name]]);
      span.classList.toggle("moved", place[name] !== one.at);
      reset.hidden = place[name] === one.at;
    }

    function move(to) {
      const next = Math.min(last, Math.max(0, to));
      if (next === place[name]) return;
      place[name] = next;
      pulls[name].forEach((again) => again());
      followText();
      followFigure(span, one);
      tell(span);
    }

    span.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const at = place[name];
      const to = {
        ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page, PageDown: at - page,
        Home: 0, End: last, Escape: one.at,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(to);
    });

    /* As many pixels a step as turn the whole list in some 300, so that a short one does not jump. */
    const step = Math.min(28, Math.max(3, 300 / last));
    let from = null;
    span.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      span.focus();
      span.setPointerCapture(event.pointerId);
      from = { x: event.clientX, at: place[name] };
      span.classList.add("dragging");
    });
    span.addEventListener("pointermove", (event) => {
      if (from) move(from.at + Math.round((event.clientX - from.x) / step));
    });
    const end = () => { from = null; span.classList.remove("dragging"); };
    span.addEventListener("pointerup", end);
    span.addEventListener("pointercancel", end);
    span.addEventListener("dblclick", () => move(one.at));
    pull();
    return pull;
  }

  const pulls = {};
  for (const name of Object.keys(drags)) pulls[name] = [...spans("drag", name)].map((span) => dragOf(span, name));
  document.querySelector(".bd-article")?.append(status);
  book.drag = { drags, place, origin: (at) => origins[at](values(), place) };
})();
