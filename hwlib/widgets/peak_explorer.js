// A chip's peaks as products of three numbers; `formula` holds hwlib.roofline in JavaScript.

const KEYS = ["chip", "n_SM", "ops", "clock", "sparsity"];
const WIDTH = across(640), ROW = 34, LEFT = 108, RIGHT = 86, TOP = 8, LOW = 5e12, HIGH = 4e16;
const BARS = [["fp32", "fp32, lanes", 0], ["bf16", "16 bits", 1], ["fp8", "8 bits", 2], ["fp4", "4 bits", 4]];
const RANGES = {
  n_SM: Array.from({ length: 320 }, (_, i) => i + 1),
  ops: Array.from({ length: 11 }, (_, i) => 128 * 2 ** i),
  clock: Array.from({ length: 181 }, (_, i) => (800 + 10 * i) * 1e6),
};
export const hertz = (f) => show(f, "Hz", 4);

/* Every number that the figure shows: a rate for each format, and the sheet's. */
export function compute({ chips, chip, n_SM, ops, clock, sparsity }) {
  const { lanes, rates, measured } = chips[chip], skip = sparsity === "2:4" ? 2 : 1;
  const rate = (halvings) =>
    halvings ? formula.peak_flops(n_SM, skip * halvings * ops, clock) : formula.vector_flops(n_SM, lanes, clock, 2);
  return {
    lanes, measured, bars: BARS.map(([format, label, halvings]) => ({ format, label, rate: rate(halvings), sheet: rates[format] })),
    dense: formula.peak_flops(n_SM, ops, clock), asked: rates.bf16, n_SM, ops, clock, skip,
  };
}

/* The sentences under the figure. */
export function tell({ lanes, bars, dense, asked, measured, n_SM, ops, clock, skip }) {
  const share = (a, b) => `${Number((100 * a / b).toPrecision(3))} %`;
  const lines = [`16 bits: ${n_SM} x ${count(ops)} FLOP x ${hertz(clock)} = ${show(dense, "FLOP/s", 4)}, ${share(dense, asked)} of the sheet's dense ${show(asked, "FLOP/s", 4)}.`];
  const { rate, sheet } = bars[0];
  if (sheet) lines.push(`fp32: ${n_SM} x ${lanes} lanes x 2 FLOP x ${hertz(clock)} = ${show(rate, "FLOP/s", 4)}, ${share(rate, sheet)} of the sheet's ${show(sheet, "FLOP/s", 4)}.`);
  if (measured) lines.push(`The best matmul measured reached ${show(measured, "FLOP/s", 4)}: as many multiprocessors at full work would need ${hertz(clock * measured / dense)}.`);
  if (skip === 2) lines.push("2:4 sparsity: half the products are with zeros, are skipped, and are counted.");
  return lines;
}

function draw(svg, { bars, measured }) {
  const x = (v) => LEFT + (WIDTH - LEFT - RIGHT) * Math.log(Math.min(Math.max(v, LOW), HIGH) / LOW) / Math.log(HIGH / LOW);
  const foot = TOP + ROW * bars.length, parts = [];
  const text = (px, py, say, anchor = "start", look = "") =>
    parts.push(make("s.text", { x: px, y: py, "text-anchor": anchor, class: look }, say));
  const line = (px, from, to, look) => parts.push(make("s.polyline", { points: `${px},${from} ${px},${to}`, class: look }));
  for (const v of [1e13, 1e14, 1e15, 1e16]) {
    line(x(v), TOP, foot, "grid");
    text(x(v), foot + 16, show(v, WIDTH < 640 ? "" : "FLOP/s"), "middle");
  }
  bars.forEach(({ format, label, rate, sheet }, row) => {
    const y = TOP + ROW * row;
    text(LEFT - 8, y + 19, label, "end");
    if (!sheet) return text(LEFT + 6, y + 19, "not on this chip's sheet", "start", "muted");
    parts.push(make("s.rect", { x: LEFT, y: y + 5, width: Math.max(x(rate) - LEFT, 1), height: ROW - 13, class: format === "fp32" ? "compute" : "memory" }));
    text(Math.max(x(rate), x(sheet)) + 6, y + 19, show(rate, "FLOP/s"));
    line(x(sheet), y, y + ROW - 4, "sheet");
    if (format === "bf16" && measured) line(x(measured), y, y + ROW - 4, "measured");
  });
  text(LEFT, foot + 34, "┃ the sheet, dense   ┊ best matmul measured", "start", "muted");
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const chips = read("chips");
  const parts = [
    chooser(model, "chip", "chip", () => Object.entries(chips).map(([key, { name }]) => [key, name])),
    slider(model, "n_SM", "multiprocessors", RANGES.n_SM, count),
    slider(model, "ops", "FLOP a cycle", RANGES.ops, count),
    slider(model, "clock", "clock", RANGES.clock, hertz),
    chooser(model, "sparsity", "zeros", () => [["dense", "dense"], ["2:4", "2:4 sparse"]]),
  ];
  const svg = make("s.svg", { viewBox: `0 0 ${WIDTH} ${TOP + ROW * BARS.length + 40}`, role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), svg, readout);

  const adopt = () => {
    const { n_SM, ops, clock } = chips[read("chip")];
    for (const [key, value] of Object.entries({ n_SM, ops, clock })) model.set(key, value);
    model.save_changes();
  };
  parts[0].el.querySelector("select").addEventListener("change", adopt);
  return follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute({ chips, ...Object.fromEntries(KEYS.map((k) => [k, read(k)])) }), lines = tell(now);
    draw(svg, now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    readout.dataset.dense = now.dense;
  });
}

export default { render };
