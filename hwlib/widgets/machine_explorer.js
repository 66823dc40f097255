// One plan on six machines: the time of each bound on each, and the data sheet of one of them to change.
// `bounds` is machine_bounds of hwlib.steptime in JavaScript; what the plan asks comes with the figure.

const KEYS = ["plan", "machine", "sheets"];
const SHOWN = ["math", "memory", "tp", "ep", "pp", "dp", "bubble"];
const LOOKS = { math: "#2f83c9", memory: "#b8860b", tp: "#d55e00", ep: "#cc79a7", pp: "#8d6e63", dp: "#a5508a", bubble: "#8a8a8a" };
const SHORT = { math: "arithmetic", memory: "memory", tp: "tensor", ep: "experts", pp: "stages", dp: "data", bubble: "bubble" };
const NUMBERS = [
  ["flops", "arithmetic", 1e12, "TFLOP/s"], ["hbm_bandwidth", "memory", 1e12, "TB/s"], ["hbm_bytes", "capacity", 1e9, "GB"],
  ["scaleup_bandwidth", "scale-up", 1e9, "GB/s"], ["domain", "domain", 1, "chips"],
  ["network_bandwidth", "network", 1e9, "GB/s"],
]; // in a sheet, words, unit
const RANGE = 16, FINE = 8; // a slider goes from a sixteenth of what is printed to sixteen times it, in steps of an eighth of a doubling
const SIDE = 4, MOST = 1e6; // as in Python
const WIDTH = across(660), LEFT = 40, TOP = 26, HIGH = 210, NARROW = WIDTH < 500;

/* Axes of a torus that so many ranks fill. */
const rings = (sheet, ranks) => Math.max(1, Math.min(sheet.axes, Math.floor(Math.log(Math.max(ranks, 1)) / Math.log(SIDE) + 1e-9)));

/* The share of a chip's scale-up links that a group has within the domain. */
export function share(sheet, ranks, inner) {
  const near = Math.max(1, Math.min(ranks, sheet.domain / inner));
  if (sheet.shape === "mesh") return Math.max(1, Math.min(near, sheet.domain) - 1) / Math.max(sheet.domain - 1, 1);
  if (sheet.shape === "torus") {
    const free = inner === 1 ? sheet.axes : Math.max(1, sheet.axes - rings(sheet, inner));
    return Math.min(rings(sheet, near), free) / sheet.axes;
  }
  return 1;
}

/* Seconds of a collective in a step, over the domain and the network, whichever takes longer. */
export function seconds(sheet, { collective, ranks, inner, S, calls }) {
  let up = sheet.scaleup_bandwidth * share(sheet, ranks, inner), slowest = 0, below = 1;
  if (sheet.shape === "torus" && collective === "all_to_all") {
    const near = Math.max(1, Math.min(ranks, sheet.domain / inner));
    up /= Math.max(1, near ** (1 / rings(sheet, near)) / 4);
  }
  const span = ranks * inner;
  for (const [children, bandwidth] of [[sheet.domain, up], [MOST, sheet.network_bandwidth * sheet.domain]]) {
    const above = below * children;
    if (inner < above && span > below) {
      const low = Math.min(Math.max(inner, below), above), high = Math.min(Math.max(span, below), above);
      let part = high > low ? 1 : 0;
      if (collective === "all_to_all") {
        const places = Math.max(span / low, 1);
        part *= (1 - 1 / places) / places;
      } else if (collective !== "send") part = (collective === "all_reduce" ? 2 : 1) * (1 - low / high);
      slowest = Math.max(slowest, part * S * Math.min(inner, below) / bandwidth);
    }
    below = above;
  }
  return calls * slowest;
}

/* Seconds that each part of a machine takes for what a plan asks. */
export function bounds(sheet, plan) {
  const math = formula.compute_time(plan.flops, sheet.flops);
  const found = { math, memory: plan.hbm_bytes / sheet.hbm_bandwidth, tp: 0, ep: 0, pp: 0, dp: 0, bubble: plan.bubble * math };
  for (const one of plan.transfers) found[one.axis] += seconds(sheet, one);
  return found;
}

const holds = (found) => SHOWN.reduce((best, name) => (found[name] > found[best] ? name : best), SHOWN[0]);

/* Every number that the figure shows, by machine. */
export function compute({ sheets, plans, plan }) {
  return Object.fromEntries(Object.entries(sheets).map(([key, sheet]) => {
    const found = bounds(sheet, plans[plan]);
    return [key, { found, holds: holds(found), fits: plans[plan].needs <= sheet.hbm_bytes }];
  }));
}

/* The sentences under the figure. */
export function tell(now, { sheets, printed, plans, plan, machine, words }) {
  const sheet = sheets[machine], { found, holds: name } = now[machine];
  const next = SHOWN.filter((other) => other !== name).reduce((best, other) => (found[other] > found[best] ? other : best));
  const room = `${show(plans[plan].needs, "B")} of ${show(sheet.hbm_bytes, "B")}`;
  const lines = [`${sheet.name}: ${words[name]} hold${name === "math" || name === "memory" || name === "bubble" ? "s" : ""}, ${show(found[name], "s")} of a step; next ${words[next]}, ${show(found[next], "s")}.`];
  lines.push(now[machine].fits ? `The fullest chip holds ${room}.` : `The plan does not fit: it needs ${room}, so that activations must be recomputed, or sent elsewhere.`);
  const changed = NUMBERS.filter(([field]) => sheet[field] !== printed[machine][field]);
  if (changed.length) {
    const before = holds(bounds(printed[machine], plans[plan]));
    lines.push(`Changed: ${changed.map(([field, word, size, unit]) => `${word} ${Number((sheet[field] / size).toPrecision(3))} ${unit}`.trim()).join(", ")}. As printed, ${words[before]} ${before === name ? "held as well" : "held"}.`);
  }
  return lines;
}

const sizes_of = (printed, field) => {
  const all = Array.from({ length: 2 * Math.log2(RANGE) * FINE + 1 }, (_, k) => printed * 2 ** (k / FINE) / RANGE);
  return field === "domain" ? [...new Set(all.map((x) => Math.max(1, Math.round(x))))] : all;
};

/* A number of the chosen machine's sheet: a slider around what is printed, and a field to type it. */
function changer(model, [field, word, size, unit]) {
  const input = make("input", { type: "range", min: 0, step: 1, name: field }), typed = make("input", { type: "number", min: 0, step: "any", name: `${field}-typed`, "aria-label": `${word}${unit ? `, ${unit}` : ""}` });
  const values = () => sizes_of(model.get("printed")[model.get("machine")][field], field);
  const put = (value) => {
    if (!(value > 0) || !Number.isFinite(value)) return pull();
    const sheets = model.get("sheets"), machine = model.get("machine");
    model.set("sheets", { ...sheets, [machine]: { ...sheets[machine], [field]: field === "domain" ? Math.max(1, Math.round(value)) : value } });
    model.save_changes();
  };
  const pull = () => {
    const value = model.get("sheets")[model.get("machine")][field], all = values();
    input.max = all.length - 1;
    input.value = nearest(all, value);
    const text = String(Number((value / size).toPrecision(4)));
    input.setAttribute("aria-valuetext", `${text} ${unit}`);
    if (document.activeElement !== typed) typed.value = text;
  };
  input.addEventListener("input", () => put(values()[Number(input.value)]));
  typed.addEventListener("change", () => put(Number(typed.value) * size));
  return { el: make("label", { class: "gpubook-control machine-number" }, make("span", {}, word), input, make("span", { class: "typed" }, typed, ` ${unit}`)), pull };
}

const round = (x) => {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((one) => one * power >= x * 0.999);
};

function draw(svg, now, { sheets, machine }, choose) {
  const keys = Object.keys(sheets), columns = NARROW ? 3 : keys.length, wide = (WIDTH - LEFT) / columns, parts = [];
  const rows = Math.ceil(keys.length / columns), block = TOP + HIGH / (rows === 1 ? 1 : 1.5) + 64, high = block - TOP - 64;
  const used = SHOWN.filter((name) => keys.some((key) => now[key].found[name] > 0));
  keys.forEach((key, i) => {
    const { found, holds: name } = now[key], x0 = LEFT + wide * (i % columns), low = block * Math.floor(i / columns) + TOP + high;
    const limit = round(Math.max(...Object.values(found))), bar = (wide - 14) / used.length, chosen = key === machine;
    const column = make("s.g", { class: chosen ? "column chosen" : "column", role: "button", tabindex: 0, "data-machine": key, "aria-label": `${sheets[key].name}: ${SHORT[name]}${now[key].fits ? "" : ", does not fit"}`, "aria-pressed": String(chosen) });
    column.append(make("s.rect", { x: x0 + 1, y: low - high - 22, width: wide - 4, height: high + 80, class: chosen ? "column-box chosen-box" : "column-box" }));
    column.append(make("s.polyline", { points: `${x0 + 5},${low} ${x0 + wide - 7},${low}`, class: "grid" }));
    column.append(make("s.text", { x: x0 + wide / 2, y: low - high - 8, "text-anchor": "middle", class: "muted" }, show(limit, "s")));
    column.append(make("s.polyline", { points: `${x0 + 5},${low - high} ${x0 + wide - 7},${low - high}`, class: "grid" }));
    used.forEach((one, k) => {
      const tall = high * found[one] / limit, at = { x: x0 + 6 + k * bar, y: low - tall, width: Math.max(bar - 1.5, 1), height: tall };
      column.append(make("s.rect", { ...at, fill: LOOKS[one], "fill-opacity": one === name ? 1 : 0.55 }, make("s.title", {}, `${SHORT[one]}: ${show(found[one], "s")}`)));
      if (one === name) column.append(make("s.path", { d: `M${at.x + at.width / 2 - 5},${at.y - 9} h10 l-5,7 Z`, class: "seen" }));
    });
    column.append(make("s.text", { x: x0 + wide / 2, y: low + 16, "text-anchor": "middle" }, sheets[key].name.replace(/^8x /, "8 ")));
    column.append(make("s.text", { x: x0 + wide / 2, y: low + 33, "text-anchor": "middle", class: "muted" }, SHORT[name]));
    if (!now[key].fits) column.append(make("s.text", { x: x0 + wide / 2, y: low + 49, "text-anchor": "middle", class: "unfit" }, "does not fit"));
    column.addEventListener("click", () => choose(key));
    column.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(key); }
    });
    parts.push(column);
  });
  parts.push(make("s.text", { x: 0, y: 18, class: "muted" }, "top is"));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${block * rows}`);
  svg.replaceChildren(...parts);
  return used;
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const put = (key, value) => { model.set(key, value); model.save_changes(); };
  const plans = read("plans"), printed = read("printed"), words = read("words");
  const lists = [
    chooser(model, "plan", "plan", () => Object.entries(plans).map(([key, { name }]) => [key, name])),
    chooser(model, "machine", "machine", () => Object.entries(printed).map(([key, { name }]) => [key, name])),
  ];
  const numbers = NUMBERS.map((row) => changer(model, row));
  const back = make("button", { type: "button" }, "as printed");
  back.addEventListener("click", () => put("sheets", { ...read("sheets"), [read("machine")]: { ...printed[read("machine")] } }));
  const svg = make("s.svg", { role: "group", class: "machines" });
  const key = make("p", { class: "gpubook-key legend" }), readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls gpubook-short" }, ...lists.map((one) => one.el)), key, svg,
    make("p", { class: "gpubook-key" }, "The chosen machine's data sheet: rates of one chip, one direction. Drag a number, or type it."),
    make("div", { class: "gpubook-controls" }, ...numbers.map((one) => one.el)), back, readout);
  return follow(model, KEYS, () => {
    [...lists, ...numbers].forEach((part) => part.pull());
    const state = { sheets: read("sheets"), printed, plans, plan: read("plan"), machine: read("machine"), words };
    const now = compute(state), lines = tell(now, state), focused = svg.contains(document.activeElement);
    const used = draw(svg, now, state, (one) => put("machine", one));
    if (focused) svg.querySelector(".column.chosen").focus();
    key.replaceChildren(...used.map((name) => make("span", { class: "say" }, make("span", { class: "dot", style: `background: ${LOOKS[name]}` }), words[name])), "▼ holds; each column has its own scale");
    svg.setAttribute("aria-label", `Six machines. ${Object.keys(now).map((one) => `${state.sheets[one].name}: ${words[now[one].holds]}`).join("; ")}.`);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    const { found, holds: name, fits } = now[state.machine];
    Object.assign(readout.dataset, { machine: state.machine, holds: name, fits, ...found });
  });
}

export default { render };
