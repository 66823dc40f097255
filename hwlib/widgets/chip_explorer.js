// Every chip of the tables by two of their quantities; `formula` holds hwlib.roofline in JavaScript.

const WIDTH = across(640), HEIGHT = 380, LEFT = 92, RIGHT = 20, TOP = 14, BOTTOM = 46;
const MARKS = { NVIDIA: ["compute", 5.5], AMD: ["memory", 5.2], Google: ["third", 6.5] };
const OTHERS = ["", 6];
const UNITS = { "1": "", "1/s": "Hz", "J/s": "W" };

/* The value of a quantity as a person writes it. */
export const written = (value, unit) =>
  unit === "FLOP" ? `${count(Math.round(value))} FLOP` : show(value, UNITS[unit] ?? unit, 4).trim().replace("KW", "kW");

/* What a chip has of a quantity: its fact, a number made of facts, or nothing. */
export function fact({ data }, name) {
  if (name !== "cycle_flops") return data[name];
  const { bf16_flops: C, sms: n, clock: f } = data;
  if (!(C && n && f)) return undefined;
  return { value: formula.cycle_flops(C.value, n.value, f.value), from: ["bf16_flops", "sms", "clock"] };
}

/* The chips that have both quantities, and the names of those that lack one. */
export function compute({ chips, x, y, vendor }) {
  const points = [], lack = [];
  for (const [key, chip] of Object.entries(chips)) {
    if (vendor !== "all" && chip.vendor !== vendor) continue;
    const [a, b] = [fact(chip, x), fact(chip, y)];
    if (a && b) points.push({ key, name: chip.name, vendor: chip.vendor, x: a.value, y: b.value });
    else lack.push(chip.name);
  }
  return { points, lack };
}

/* The sentences about a chip: its two values, who printed what, and what others print. */
export function tell(chip, names, fields) {
  const field = (name) => fields.find((one) => one.name === name);
  const line = (name) => {
    const { label, unit } = field(name), found = fact(chip, name);
    if (!found) return `${label}: no source confirms one.`;
    const value = `${label}: ${written(found.value, unit)}`;
    if (found.from) return `${value}, from ${found.from.map((part) => field(part).label).join(", ")}.`;
    const says = [`${value}. Printed “${found.printed}” (${found.source}; ${found.confidence})`];
    if (found.also.length) says.push(`Others print ${found.also.join(", ")}`);
    if (found.note) says.push(`Note: ${found.note}`);
    return `${says.join(". ")}.`;
  };
  return [`${chip.name}, ${chip.arch} (${chip.vendor})`, ...new Set(names.map(line))];
}

/* A logarithmic axis that holds the values with some room, and its ticks. */
export function axis(values, from, to) {
  const low = Math.min(...values) / 1.25, high = Math.max(...values) * 1.25;
  const at = (v) => from + (to - from) * Math.log(v / low) / Math.log(high / low);
  const steps = high / low > 300 ? [1] : high / low > 20 ? [1, 3] : high / low > 5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
    for (const m of steps) if (m * 10 ** e >= low && m * 10 ** e <= high) ticks.push(Number((m * 10 ** e).toPrecision(3)));
  return { at, ticks };
}

/* The vendors of some chips, in their order. */
export const vendors = (chips) => [...new Set(Object.values(chips).map(({ vendor }) => vendor))];

/* The mark of a chip: a circle, a square, a triangle or a diamond, so that vendors differ in more than colour. */
function mark({ vendor }, px, py) {
  const [look, r] = MARKS[vendor] ?? OTHERS;
  if (vendor === "NVIDIA") return make("s.circle", { cx: px, cy: py, r, class: look });
  if (vendor === "AMD") return make("s.rect", { x: px - r, y: py - r, width: 2 * r, height: 2 * r, class: look });
  const below = MARKS[vendor] ? `${px - r},${py + r} ${px + r},${py + r}` : `${px - r},${py} ${px},${py + r} ${px + r},${py}`;
  return make("s.polygon", { points: `${below} ${px},${py - r}`, class: look });
}

function draw(svg, points, { x, y }, choose) {
  const parts = [];
  const text = (px, py, say, anchor = "middle", look = "") =>
    parts.push(make("s.text", { x: px, y: py, "text-anchor": anchor, class: look }, say));
  const across = axis(points.map((p) => p.x), LEFT, WIDTH - RIGHT), up = axis(points.map((p) => p.y), HEIGHT - BOTTOM, TOP);
  for (const v of across.ticks) {
    parts.push(make("s.polyline", { points: `${across.at(v)},${TOP} ${across.at(v)},${HEIGHT - BOTTOM}`, class: "grid" }));
    text(across.at(v), HEIGHT - BOTTOM + 16, written(v, x.unit));
  }
  for (const v of up.ticks) {
    parts.push(make("s.polyline", { points: `${LEFT},${up.at(v)} ${WIDTH - RIGHT},${up.at(v)}`, class: "grid" }));
    text(LEFT - 6, up.at(v) + 4, written(v, y.unit), "end");
  }
  text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x.label);
  text(LEFT, 10, y.label, "start", "muted");
  for (const p of points) {
    const say = `${p.name}: ${x.label} ${written(p.x, x.unit)}, ${y.label} ${written(p.y, y.unit)}`;
    const [px, py] = [across.at(p.x), up.at(p.y)], left = px > WIDTH - 150;
    const name = make("s.text", { x: px + (left ? -10 : 10), y: py - 8, class: "name", "text-anchor": left ? "end" : "start" }, p.name);
    const ring = make("s.circle", { cx: px, cy: py, r: 10, class: "ring" });
    const dot = make("s.g", { class: "chip", tabindex: 0, role: "button", "aria-label": say, "data-chip": p.key }, ring, mark(p, px, py), name);
    for (const event of ["focus", "pointerenter", "click"]) dot.addEventListener(event, () => choose(p.key));
    parts.push(dot);
  }
  if (!points.length) text(WIDTH / 2, HEIGHT / 2, "No chip of this vendor has both.");
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const chips = read("chips"), fields = read("fields");
  const named = () => fields.map(({ name, label }) => [name, label]);
  const parts = [
    chooser(model, "y", "up", named),
    chooser(model, "x", "across", named),
    chooser(model, "vendor", "vendor", () => ["all", ...vendors(chips)].map((v) => [v, v])),
    chooser(model, "chip", "chip", () => Object.entries(chips).map(([key, { name }]) => [key, name])),
  ];
  const svg = make("s.svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group" });
  const others = vendors(chips).filter((vendor) => !MARKS[vendor]).map((vendor) => `  ◆ ${vendor}`).join("");
  const key = make("p", { class: "gpubook-key" }, "● NVIDIA  ■ AMD  ▲ Google" + others);
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  const without = make("p", { class: "gpubook-key" });
  const controls = make("div", { class: "gpubook-controls gpubook-short" }, ...parts.map((part) => part.el));
  frame(el, controls, key, svg, readout, without);

  const choose = (chosen) => {
    if (read("chip") === chosen) return;
    model.set("chip", chosen);
    model.save_changes();
  };
  const mark_chosen = () => {
    parts.forEach((part) => part.pull());
    for (const dot of svg.querySelectorAll(".chip")) dot.classList.toggle("chosen", dot.dataset.chip === read("chip"));
    const lines = tell(chips[read("chip")], [read("y"), read("x")], fields);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    readout.dataset.chip = read("chip");
  };
  const stops = [
    follow(model, ["x", "y", "vendor"], () => {
      const { points, lack } = compute({ chips, x: read("x"), y: read("y"), vendor: read("vendor") });
      const [x, y] = ["x", "y"].map((axis) => fields.find(({ name }) => name === read(axis)));
      draw(svg, points, { x, y }, choose);
      svg.setAttribute("aria-label", `${points.length} chips: ${y.label} against ${x.label}`);
      svg.dataset.points = points.length;
      without.textContent = lack.length ? `Without a confirmed value of both: ${lack.join(", ")}.` : "";
      mark_chosen();
    }),
    follow(model, ["chip"], mark_chosen),
  ];
  return () => stops.forEach((stop) => stop());
}

export default { render };
