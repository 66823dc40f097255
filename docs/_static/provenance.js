/* Where a number comes from: a click, a tap or Enter on a computed number opens what stands behind it.
 *
 * The data is one JSON script of the page, #origins: `numbers`, by the id of a span its expression, its entries and, where
 * it follows quantities, their names and how the entries do: 1 where their values have functions (drag.js), which are named
 * by their place after the value; a list of entries for each value of the quantity; 0 where they stay the book's; `entries`, each once; `sources`, by key who and when, the address and the title. An entry is a
 * list that begins with its kind: a formula, a value of a table, a property of a row, a measured row, several of them, a function, a constant. */
(function () {
  "use strict";
  /* The anchor of a source, as Sphinx makes it of its key. */
  const anchorOf = (key) => `cite-${key.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}`;

  const script = document.getElementById("origins");
  if (!script) return;
  const { numbers, entries, sources } = JSON.parse(script.textContent);

  function make(tag, attributes, ...children) {
    const el = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) el.setAttribute(name, value);
    el.append(...children.flat().filter((child) => child !== "" && child !== null && child !== undefined));
    return el;
  }
  const link = (href, ...text) => make("a", { href }, ...text);
  const tex = (text, display) => make("span", { class: "math" }, display ? `\\[${text}\\]` : `\\(${text}\\)`);

  function source([key, rest]) {
    if (!key) return [rest];
    const [who, address, title] = sources[key];
    const named = title ? make("cite", {}, title) : who;
    const at = [address ? link(address, named) : named, title ? ` (${who}` : " (", title ? "; " : "", link(`bibliography.html#${anchorOf(key)}`, "bibliography"), ")"];
    return rest ? [...at, `, ${rest}`] : at;
  }

  /* A value that may follow what is dragged. */
  const now = (text, follows) => (follows === undefined || !window.gpubook?.drag ? text : window.gpubook.drag.origin(follows));
  const parts = (list) => list.map((entry) => make("div", { class: "origin" }, ...shown(entries[entry])));
  const row = (name, ...value) => make("div", { class: "origin-row" }, make("dt", {}, name), make("dd", {}, ...value));

  const KINDS = {
    f: (name, indexed, equation, cited, rows, value, follows) => [
      make("p", { class: "origin-head" }, "The formula ", indexed ? link(`formulas.html#${name}`, make("code", {}, name)) : make("code", {}, name),
        value ? " gives " : "", value ? make("b", {}, now(value, follows)) : ""),
      equation ? tex(equation, true) : "",
      make("dl", { class: "letters" }, rows.map(([letter, meaning, of, below, moves]) =>
        row(tex(letter), `${meaning}${of ? ": " : ""}`, of ? make("b", {}, now(of, moves)) : "", parts(below)))),
      make("p", { class: "origin-source" }, "Formula: ", ...source(cited)),
    ],
    d: (name, key, meaning, value, printed, from, factor, confidence, note) => [
      make("p", { class: "origin-head" }, link(`specs.html#${key}`, name), `, ${meaning}: `, make("b", {}, value)),
      make("dl", {}, row("printed", `“${printed}”`, factor ? `, times ${factor}` : ""), note ? row("note", note) : "",
        row("source", ...source(from)), row("confidence", confidence)),
    ],
    p: (name, key, property, value, said) => [
      make("p", { class: "origin-head" }, link(`specs.html#${key}`, name), ", ", make("code", {}, property), ": ", make("b", {}, value)),
      said ? make("p", {}, said) : "",
    ],
    r: (row_, field, value, from) => [
      make("p", { class: "origin-head" }, "Measured, ", make("code", {}, field), ": ", make("b", {}, value)),
      make("dl", {}, row_ ? row("row", row_) : "", row("source", ...source(from))),
    ],
    m: (name, said, count, from) => [
      make("p", { class: "origin-head" }, "Measured rows, ", make("b", {}, String(count)), ", of ", make("code", {}, name)),
      said ? make("p", {}, said) : "",
      make("dl", {}, from.map((one) => row("source", ...source(one)))),
    ],
    x: (name, said, value, follows) => [
      make("p", { class: "origin-head" }, make("code", {}, name), value ? " gives " : "", value ? make("b", {}, now(value, follows)) : ""),
      said ? make("p", {}, said) : "",
    ],
    c: (name, text, value) => [
      make("p", { class: "origin-head" }, "Given in this chapter: ", make("code", {}, `${name} = ${text}`),
        value && value.replaceAll(",", "") !== text.replaceAll("_", "") ? ` = ${value}` : ""),
    ],
  };
  const shown = ([kind, ...rest]) => KINDS[kind](...rest).filter((child) => child !== "");

  const box = make("div", { class: "origins", id: "origins-box", popover: "auto", role: "dialog", "aria-label": "Where this number comes from", tabindex: "-1" });
  let opener = null;

  function follows(names, how) {
    const { drags, place } = window.gpubook?.drag ?? {};
    if (!names || !drags) return "";
    const own = how && names.some((name) => place[name] !== drags[name].at);
    const each = names.map((name) => `${drags[name].label} = ${drags[name].texts[own ? place[name] : drags[name].at]}`);
    return make("p", { class: "origin-follows" }, `This number follows a quantity that you can drag. Below it is computed for ${own ? "your" : "the book's"} ${each.join(", ")}.`);
  }

  function open(span) {
    const [expression, entered, names, how] = numbers[span.dataset.n];
    const list = Array.isArray(how) ? how[window.gpubook?.drag?.place[names[0]]] ?? entered : entered;
    const close = make("button", { type: "button", class: "origins-close", "aria-label": "Close" }, "×");
    close.addEventListener("click", leave);
    box.replaceChildren(
      make("div", { class: "origins-top" }, make("p", {}, make("b", {}, span.textContent), " comes from"), close),
      make("pre", {}, make("code", {}, expression)), follows(names, how), ...parts(list),
    );
    if (opener && opener !== span) opener.setAttribute("aria-expanded", "false");
    opener = span;
    box.showPopover();
    stand(span);
    span.setAttribute("aria-expanded", "true");
    box.focus();
    window.gpubook?.typeset?.(box).then(() => stand(span)).catch(() => {});
  }

  /* Below the number, or above it where there is more room; on a telephone the styles put it at the foot of the window. */
  function stand(span) {
    const at = span.getClientRects()[0] ?? span.getBoundingClientRect();
    const under = innerHeight - at.bottom - 16, over = at.top - 16;
    box.style.setProperty("--room", `${Math.max(under, over, 160)}px`);
    const high = box.offsetHeight, top = high <= under || under >= over ? at.bottom + 8 : at.top - 8 - high;
    box.style.setProperty("--left", `${Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`);
    box.style.setProperty("--top", `${Math.max(8, Math.min(top, innerHeight - high - 8))}px`);
  }

  function leave() {
    box.hidePopover();
    opener?.setAttribute("aria-expanded", "false"); // at once: the event of the popover comes later
    opener?.focus({ preventScroll: true });
  }

  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    leave();
  });
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed" || !opener) return;
    opener.setAttribute("aria-expanded", "false");
    if (document.activeElement === document.body) opener.focus({ preventScroll: true });
  });
  addEventListener("scroll", (event) => {
    if (box.matches(":popover-open") && !box.contains(event.target) && opener && innerWidth >= 600) stand(opener);
  }, true);

  for (const span of document.querySelectorAll(".bd-article span.n[data-n]")) {
    if (!numbers[span.dataset.n]?.[1].length || span.closest("a, button, summary, label")) continue;
    span.classList.add("explained");
    for (const [name, value] of Object.entries({ role: "button", tabindex: 0, "aria-haspopup": "dialog", "aria-expanded": "false" }))
      span.setAttribute(name, value);
  }
  const numberOf = (event) => event.target.closest?.("span.n.explained");
  let wasOpen = null; // a click on the number outside closes the box before the click arrives
  document.addEventListener("pointerdown", () => { wasOpen = box.matches(":popover-open") ? opener : null; }, true);
  document.addEventListener("click", (event) => {
    const span = numberOf(event);
    if (!span) return;
    if (span === wasOpen) box.hidePopover();
    else open(span);
    wasOpen = null;
  });
  document.addEventListener("keydown", (event) => {
    const span = numberOf(event);
    if (!span || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    open(span);
  });
  (document.querySelector(".bd-article") ?? document.body).append(box);
})();
