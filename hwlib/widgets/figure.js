// What every live figure needs: numbers as people write them, labelled controls bound to the model, and SVG.

const LARGE = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "K"], [1, ""]];
const PREFIXES = { s: [[1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"], [1e-12, "p"]], "FLOP/B": [[1, ""]] };

/* The value x (SI) as a person writes it: show(3.35e12, "B/s") is "3.35 TB/s". */
export function show(x, unit, digits = 3) {
  const steps = PREFIXES[unit] ?? LARGE;
  const [size, prefix] = steps.find(([size]) => Math.abs(Number(x.toPrecision(digits))) >= size) ?? steps.at(-1);
  const y = x / size;
  return `${Math.abs(y) < 10 ** digits ? Number(y.toPrecision(digits)) : Math.round(y)} ${prefix}${unit}`;
}

export const count = (n) => n.toLocaleString("en");

/* Sizes that models have: m * 2^k with m of 4 to 7 (8, 10, 12, 14, 16, 20, ...), from `least` to `most`. */
export function sizes(least, most) {
  const all = [1, 2, 3];
  for (let k = 1; k <= most; k *= 2) for (const m of [4, 5, 6, 7]) all.push(m * k);
  return all.filter((size) => size >= least && size <= most);
}

/* The place of the size nearest to `value`, by ratio. */
export function nearest(values, value) {
  const far = (v) => Math.abs(Math.log(v / value));
  return values.reduce((best, v, i) => (far(v) < far(values[best]) ? i : best), 0);
}

/* How wide to draw a figure of `full` units: on a phone less, so that its text stays as large as the page's. */
export const across = (full, narrow = 400) => (typeof innerWidth === "number" && innerWidth < 640 ? narrow : full);

const SVG = "http://www.w3.org/2000/svg";

/* An element with its attributes and children; `s.tag` names are SVG, the rest HTML. */
export function make(tag, attributes = {}, ...children) {
  const el = tag.startsWith("s.") ? document.createElementNS(SVG, tag.slice(2)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
  el.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return el;
}

/* A slider over a list of values, bound to the number `key` of the model. */
export function slider(model, key, label, values, text) {
  const input = make("input", { type: "range", min: 0, max: values.length - 1, step: 1, name: key });
  const output = make("output", { "aria-hidden": "true" });
  const pull = () => {
    const value = model.get(key);
    input.value = nearest(values, value);
    input.setAttribute("aria-valuetext", text(value));
    output.textContent = text(value);
  };
  input.addEventListener("input", () => {
    model.set(key, values[Number(input.value)]);
    model.save_changes();
  });
  pull();
  return { el: make("label", { class: "gpubook-control" }, make("span", {}, label), input, output), pull };
}

/* A list to choose from, bound to the text `key` of the model; options() is [[value, label], ...] and may change. */
export function chooser(model, key, label, options) {
  const select = make("select", { name: key });
  const pull = () => {
    select.replaceChildren(...options().map(([value, text]) => make("option", { value }, text)));
    select.value = model.get(key);
  };
  select.addEventListener("change", () => {
    model.set(key, select.value);
    model.save_changes();
  });
  pull();
  return { el: make("label", { class: "gpubook-control" }, make("span", {}, label), select), pull };
}

/* Puts the figure into el. Plain keys end here: JupyterLab would take the arrows for commands of its own. */
export function frame(el, ...children) {
  const figure = make("div", { class: "gpubook-figure" }, ...children);
  figure.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey || event.altKey)) event.stopPropagation();
  });
  el.replaceChildren(figure);
}

/* Redraws on every change of the model, from the reader or from Python, until the returned function is called. */
export function follow(model, keys, redraw) {
  const events = keys.map((key) => `change:${key}`);
  events.forEach((event) => model.on(event, redraw));
  redraw();
  return () => events.forEach((event) => model.off(event, redraw));
}
