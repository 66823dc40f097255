// A matmul [B, D] x [D, F] on a chip's roofline; `formula` holds hwlib.roofline in JavaScript.

const KEYS = ["chip", "dtype", "B", "D", "F"];
const SIZES = { B: sizes(1, 65536), D: sizes(64, 65536), F: sizes(64, 65536) };
const WIDTH = across(640), HEIGHT = 320, LEFT = 88, RIGHT = 14, TOP = 16, BOTTOM = 42;

/* Every number that the figure shows, from the chip's two rates and the three sizes. */
export function compute({ chips, widths, output_bytes, chip, dtype, B, D, F }) {
  const { rates, W } = chips[chip], C = rates[dtype], b = widths[dtype];
  const flops = formula.matmul_flops(B, D, F);
  const bytes = formula.mixed_matmul_bytes(B, D, F, b, b, output_bytes);
  const intensity = formula.mixed_matmul_intensity(B, D, F, b, b, output_bytes);
  return {
    C, W, flops, bytes, intensity,
    ridge: formula.ridge(C, W),
    rate: formula.attainable_flops(intensity, C, W),
    arithmetic: formula.compute_time(flops, C),
    traffic: formula.memory_time(bytes, W),
    time: formula.roofline_time(flops, bytes, C, W),
    serial: formula.serial_time(flops, bytes, C, W),
  };
}

/* The sentences under the figure. */
export function tell({ flops, bytes, intensity, ridge, arithmetic, traffic, time, serial, rate, C }) {
  const bound = intensity < ridge
    ? `below the ridge of ${show(ridge, "FLOP/B")}: memory-bound`
    : `not below the ridge of ${show(ridge, "FLOP/B")}: compute-bound`;
  return [
    `Intensity ${show(intensity, "FLOP/B")}, ${bound}, at best ${show(rate, "FLOP/s")}, ${Number((100 * rate / C).toPrecision(2))} % of the peak.`,
    `${show(flops, "FLOP")} take ${show(arithmetic, "s")}; ${show(bytes, "B")} take ${show(traffic, "s")}.`,
    `Both at once: ${show(time, "s")}, the larger. One after the other: ${show(serial, "s")}, the sum.`,
  ];
}

const span = (low, high, from, to) => (v) => from + (to - from) * Math.log(v / low) / Math.log(high / low);
const decades = (low, high) => {
  const first = Math.ceil(Math.log10(low)), last = Math.floor(Math.log10(high));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
};

/* The roof, the ridge, the path of the point as B grows, and the point. */
function drawRoof(svg, state, now) {
  const all = Object.values(state.chips), peaks = all.flatMap(({ rates }) => Object.values(rates));
  const low = 0.3, high = 2e4, floor = low * Math.min(...all.map(({ W }) => W)), top = 2 * Math.max(...peaks);
  const x = span(low, high, LEFT, WIDTH - RIGHT), y = span(floor, top, HEIGHT - BOTTOM, TOP);
  const inside = (v) => Math.min(Math.max(v, low), high);
  const at = (I) => [x(inside(I)), y(formula.attainable_flops(inside(I), now.C, now.W))];
  const parts = [];
  const line = (points, look) => parts.push(make("s.polyline", { points: points.flat().join(" "), class: look }));
  const text = (px, py, say, look = "", anchor = "middle") =>
    parts.push(make("s.text", { x: px, y: py, class: look, "text-anchor": anchor }, say));

  for (const I of decades(low, high)) {
    line([[x(I), TOP], [x(I), HEIGHT - BOTTOM]], "grid");
    text(x(I), HEIGHT - BOTTOM + 16, count(I));
  }
  for (const rate of decades(floor, top)) {
    line([[LEFT, y(rate)], [WIDTH - RIGHT, y(rate)]], "grid");
    text(LEFT - 6, y(rate) + 4, show(rate, "FLOP/s"), "", "end");
  }
  text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "arithmetic intensity [FLOP/B]");
  line([[x(now.ridge), TOP], [x(now.ridge), HEIGHT - BOTTOM]], "ridge");
  text(x(now.ridge) + 5, HEIGHT - BOTTOM - 6, `ridge ${show(now.ridge, "FLOP/B")}`, "muted", "start");
  line([at(low), at(now.ridge), at(high)], "roof");
  text(WIDTH - RIGHT, y(now.C) - 7, show(now.C, "FLOP/s"), "", "end");
  const slope = Math.sqrt(low * now.ridge);
  text(x(slope) - 10, at(slope)[1] - 4, show(now.W, "B/s"), "", "end");

  let written = -Infinity;
  for (let B = 1; B <= 65536; B *= 4) {
    const [px, py] = at(compute({ ...state, B }).intensity);
    parts.push(make("s.circle", { cx: px, cy: py, r: 3, class: "path" }));
    if (px - written < 34) continue;
    const says = B === 1 ? "B = 1" : count(B), last = px + 4 + 8 * says.length > WIDTH;    // it would be cut
    text(last ? WIDTH : px + 4, py + 16, says, "muted", last ? "end" : "start");
    written = px;
  }
  const [px, py] = at(now.intensity);
  line([[px, py], [px, HEIGHT - BOTTOM]], "drop");
  parts.push(make("s.circle", { cx: px, cy: py, r: 7, class: now.intensity < now.ridge ? "memory" : "compute" }));
  svg.replaceChildren(...parts);
}

/* The two times as bars: both at once, and one after the other. */
function drawTimes(svg, { arithmetic, traffic, time, serial }) {
  const width = (t) => (WIDTH - LEFT - RIGHT - 70) * t / serial;
  const bar = (row, height, from, t, look) =>
    make("s.rect", { x: LEFT + width(from), y: row, width: Math.max(width(t), 1), height, class: look });
  const text = (px, py, say, anchor) => make("s.text", { x: px, y: py, "text-anchor": anchor }, say);
  svg.replaceChildren(
    text(LEFT - 6, 19, "max", "end"), bar(4, 9, 0, arithmetic, "compute"), bar(14, 9, 0, traffic, "memory"),
    text(LEFT + width(time) + 6, 19, show(time, "s"), "start"),
    text(LEFT - 6, 45, "sum", "end"), bar(31, 19, 0, arithmetic, "compute"), bar(31, 19, arithmetic, traffic, "memory"),
    text(LEFT + width(serial) + 6, 45, show(serial, "s"), "start"),
    make("s.rect", { x: LEFT, y: 60, width: 10, height: 10, class: "compute" }), text(LEFT + 15, 69, "arithmetic", "start"),
    make("s.rect", { x: LEFT + 95, y: 60, width: 10, height: 10, class: "memory" }), text(LEFT + 110, 69, "traffic", "start"),
  );
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const chips = read("chips"), widths = read("widths");
  const parts = [
    chooser(model, "chip", "chip", () => Object.entries(chips).map(([key, { name }]) => [key, name])),
    chooser(model, "dtype", "number format", () => Object.keys(chips[read("chip")].rates).map((d) => [d, d])),
    slider(model, "B", "batch B [tokens]", SIZES.B, count),
    slider(model, "D", "width D", SIZES.D, count),
    slider(model, "F", "width F", SIZES.F, count),
  ];
  const roof = make("s.svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const times = make("s.svg", { viewBox: `0 0 ${WIDTH} 74`, role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), roof, times, readout);

  return follow(model, KEYS, () => {
    const rates = chips[read("chip")].rates;
    if (!(read("dtype") in rates)) {
      model.set("dtype", Object.keys(rates)[0]);
      model.save_changes();
    }
    parts.forEach((part) => part.pull());
    const state = { chips, widths, output_bytes: read("output_bytes"), ...Object.fromEntries(KEYS.map((k) => [k, read(k)])) };
    const now = compute(state), lines = tell(now);
    drawRoof(roof, state, now);
    drawTimes(times, now);
    roof.setAttribute("aria-label", `Roofline of ${chips[state.chip].name}, ${state.dtype}. ${lines[0]}`);
    times.setAttribute("aria-label", lines[2]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["intensity", "ridge", "time", "serial"]) readout.dataset[key] = now[key];
  });
}

export default { render };
