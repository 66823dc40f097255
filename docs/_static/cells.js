// The page of measured and predicted rows: a cell's link draws its rows and lists them, below the table that it is in.
// Without it the numbers of the tables stand alone.
"use strict";
{
  const WIDEST = 560, NARROWEST = 290, HIGH = 360, LEFT = 62, LOW = 46, TOP = 12, RIGHT = 14;
  const BASES = ["a constant was fitted to it, among others", "no constant was fitted to it", "nothing was fitted to its software on this chip"];
  const SHORT = ["fitted", "not fitted", "nothing fitted"];
  const SHAPES = ["fitted", "unseen", "typical"];
  const cells = new Map((globalThis.gpubookCells ?? []).map(([key, work, chip, kind, software, release, sources, rows]) => [key, { work, chip, kind, software, release, sources, rows }]));

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const draw = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]], BYTES = [[1e9, "GB"], [1e6, "MB"], [1, "B"]];
  const units = ({ work }) => (work.startsWith("memory of") ? BYTES : SECONDS);
  const told = (value, cell) => {
    const [size, unit] = units(cell).find(([one]) => value >= one) ?? units(cell).at(-1);
    return `${Number((value / size).toPrecision(4))} ${unit}`;
  };
  const off = ([, measured, predicted]) => predicted / measured - 1;
  const signed = (share) => `${share < 0 ? "−" : "+"}${(100 * Math.abs(share)).toFixed(1)} %`;
  const title = ({ work, chip, kind, software, release }) => [work, chip, kind, software, release].filter((word) => word && !["any", "not printed"].includes(word)).join(", ");

  /* Ticks of an axis: powers of ten; with 2 and 5 between them, or all tenths, where these are too few. */
  function ticks(low, high) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const within = (steps) => {
      const all = [];
      for (let power = first; power <= last; power++) for (const step of steps) all.push(step * 10 ** power);
      return all.filter((value) => value >= low && value <= high);
    };
    const tenths = Array.from({ length: 90 }, (_, n) => (n + 10) / 10);
    const all = [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9], tenths].map(within).find((some) => some.length >= 3) ?? within(tenths);
    const every = Math.ceil(all.length / 6);
    return all.filter((_, n) => n % every === 0);
  }

  function mark(shape, x, y) {
    const r = 4;
    if (shape === "unseen") return draw("circle", { class: shape, cx: x, cy: y, r });
    if (shape === "fitted") return draw("path", { class: shape, d: `M${x - r},${y - r}L${x + r},${y + r}M${x - r},${y + r}L${x + r},${y - r}` });
    return draw("path", { class: shape, d: `M${x},${y - r}L${x + r},${y + r}H${x - r}Z` });
  }

  function plot(cell, room) {
    const WIDE = Math.max(NARROWEST, Math.min(WIDEST, room));
    const values = cell.rows.flatMap(([, measured, predicted]) => [measured, predicted]);
    const low = Math.min(...values) / 1.25, high = Math.max(...values) * 1.25, reach = Math.log(high / low);
    const x = (value) => LEFT + (WIDE - LEFT - RIGHT) * Math.log(value / low) / reach;
    const y = (value) => HIGH - LOW - (HIGH - LOW - TOP) * Math.log(value / low) / reach;
    const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Predicted against measured, ${cell.rows.length} rows; the table below has them` });
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { class: "grid", x1: x(value), x2: x(value), y1: TOP, y2: HIGH - LOW }), draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(value), y2: y(value) }));
      svg.append(draw("text", { x: x(value), y: HIGH - LOW + 16, "text-anchor": "middle" }, told(value, cell)), draw("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, told(value, cell)));
    }
    svg.append(draw("line", { class: "equal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
    for (const row of cell.rows) {
      const point = mark(SHAPES[row[3]], x(row[1]), y(row[2]));
      point.append(draw("title", {}, `${row[0]}: measured ${told(row[1], cell)}, predicted ${told(row[2], cell)}, ${signed(off(row))}`));
      svg.append(point);
    }
    svg.append(draw("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 8, "text-anchor": "middle" }, "measured"));
    svg.append(draw("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(11 ${(HIGH - LOW) / 2}) rotate(-90)` }, "predicted"));
    return svg;
  }

  function list(cell) {
    const head = make("tr", {}, ...["row", "measured", "predicted", "off", "basis"].map((name) => make("th", { scope: "col", textContent: name })));
    const sorted = [...cell.rows].sort((a, b) => Math.abs(Math.log(b[2] / b[1])) - Math.abs(Math.log(a[2] / a[1])));
    const rows = sorted.map((row) => make("tr", {}, make("th", { scope: "row", textContent: row[0] }),
      ...[told(row[1], cell), told(row[2], cell), signed(off(row)), SHORT[row[3]]].map((text) => make("td", { textContent: text }))));
    const table = make("table", { className: "reference" }, make("thead", {}, head), make("tbody", {}, ...rows));
    return make("div", { className: "wide-table", tabIndex: 0, role: "region", ariaLabel: "The rows, the furthest off first" }, table);
  }

  function key(cell) {
    const bases = [...new Set(cell.rows.map((row) => row[3]))].sort();
    return make("ul", { className: "cell-key" }, ...bases.map((basis) => {
      const sign = draw("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, mark(SHAPES[basis], 8, 8));
      return make("li", {}, sign, ` ${BASES[basis]}`);
    }));
  }

  /* What the address names; "" where it is no text, as "#%" is none. */
  function anchor() {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  }

  function show() {
    const name = anchor(), cell = cells.get(name), link = document.getElementById(name);
    if (!cell || !link) return;
    document.querySelector("section.cell-shown")?.remove();
    const heading = make("h3", { tabIndex: -1, textContent: title(cell) });
    const sources = make("p", { className: "cell-sources", textContent: `From ${cell.sources.join("; ")}.` });
    const shown = make("section", { className: "cell-shown", ariaLabel: title(cell) }, heading, key(cell), sources, list(cell));
    const after = (link.closest(".pst-scrollable-table-container, .wide-table") ?? link.closest("table"));
    after.after(shown);
    heading.after(plot(cell, shown.clientWidth - 32));
    heading.focus({ preventScroll: true });
    shown.scrollIntoView({ block: "start" });
  }

  addEventListener("hashchange", show);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.cell-rows");
    if (link && link.hash === location.hash) show();  // once more, though the address stays
  });
  show();
}
