// One decode step: its parts at a batch, the same parts against the batch, the roofline, and what was published;
// `formula` holds hwlib.inference, hwlib.roofline and hwlib.transformer in JavaScript.

const KEYS = ["model", "chip", "tp", "B", "T", "weights", "kv", "host", "launch"];
const PARTS = [
  ["weights", "compute", "weights", "weights"], ["arithmetic", "store-along", "arithmetic", "arithmetic beyond"],
  ["cache", "memory", "caches", "caches"], ["collectives", "third", "sums", "sums of the GPUs"],
  ["kernels", "path", "starts", "starts of kernels"], ["waiting", "empty", "waiting", "waiting for the host"],
]; // in the state, look, a word, more words
const BATCHES = Array.from({ length: 11 }, (_, k) => 2 ** k);
const CONTEXTS = Array.from({ length: 11 }, (_, k) => 2 ** (7 + k));
const LAUNCHES = [4, 6, 8, 11, 16, 24, 36, 56, 88];
const MOST = 1024, FINE = 8;
const WIDTH = across(640), LEFT = 46, RIGHT = 18, BAR = 34, TOP = 18, HIGH = 220;

/* Seconds of a step, by parts, at a batch of B; the rest of the state is as it stands. */
export function parts({ shapes, chips, bytes, kernels, model, chip, tp, T, weights, kv, host, launch }, B) {
  const { L, D, K, P_read, P_mul, kv: token } = shapes[model], gpu = chips[chip], sums = gpu.sums[tp];
  const b_kv = Number(kv) / 8;
  const read = formula.weight_time(P_read, tp, gpu.W_got, bytes[weights]);
  const math = formula.compute_time(formula.forward_flops(P_mul, B), tp * gpu.C_got);
  const found = {
    weights: read,
    arithmetic: Math.max(math - read, 0),
    cache: formula.cache_time(formula.cache_copies(K, tp) * B, T, token * b_kv, tp, gpu.W_got),
    collectives: tp > 1 ? formula.tensor_decode_time(L, B, D, tp, sums.alpha, sums.W, 2) : 0,
    kernels: formula.host_step_time(L, kernels.graph, gpu.t0),
  };
  const device = Math.max(read, math) + found.cache + found.collectives + found.kernels;
  const queue = host === "eager" ? formula.host_step_time(L, kernels.eager, launch * 1e-6) : 0;
  found.waiting = formula.launched_step_time(device, queue) - device;
  return found;
}

const total = (found) => Object.values(found).reduce((sum, t) => sum + t, 0);

/* Seconds of a step by the data sheet alone. */
export function roofline({ shapes, chips, bytes, model, chip, tp, T, weights, kv }, B) {
  const { P_read, kv: token } = shapes[model], gpu = chips[chip];
  return formula.decode_time(P_read, B, T, token * Number(kv) / 8, tp, gpu.C, gpu.W, bytes[weights]);
}

/* Every number that the figure shows. */
export function compute(state) {
  const { shapes, chips, bytes, rows, model, chip, tp, B, T, weights, kv } = state;
  const found = parts(state, B), step = total(found), sheet = roofline(state, B);
  const fits = formula.batch_limit(shapes[model].P, T, shapes[model].kv * Number(kv) / 8 * formula.cache_copies(shapes[model].K, tp), tp, chips[chip].S, bytes[weights]);
  const same = rows.filter((row) => row.model === model && row.chip === chip && row.tp === tp && row.weights === weights && row.kv === kv);
  const near = same.filter((row) => row.T <= 2 * T && T <= 2 * row.T);
  return { found, step, sheet, fits, near, others: same.length - near.length, here: near.find((row) => row.B === B) };
}

const rate = (x) => (x < 9.95 ? x.toFixed(1) : count(Math.round(x)));

/* The sentences under the figure. */
export function tell({ found, step, sheet, fits, near, others, here }, { shapes, chips, model, tp, B, host, launch, kernels }) {
  const lines = [
    `A step of ${show(step, "s")}: ${rate(1 / step)} tokens/s of a sequence${B > 1 ? `, ${rate(B / step)} of all` : ""}. The roofline allows ${rate(1 / sheet)} (${show(sheet, "s")}).`,
  ];
  const largest = PARTS.map(([key, , , name]) => [found[key] / step, name]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  lines.push(`Of it ${largest.filter(([share]) => share > 0.005).map(([share, name]) => `${Math.round(100 * share)}\u00a0% ${name}`).join(", ")}.`);
  if (found.waiting > 0) lines.push(`The host launches ${count(kernels.eager * shapes[model].L)} kernels, ${launch} us each: longer than the GPUs need.`);
  else if (host === "eager") lines.push(`The host launches ${count(kernels.eager * shapes[model].L)} kernels, ${launch} us each, and is done before the GPUs are.`);
  lines.push(fits < 1 ? `${tp} ${tp > 1 ? "GPUs do" : "GPU does"} not hold the weights and one sequence.` : `The caches of ${count(fits)} sequences fit beside the weights${B > fits ? `: ${count(B)} do not` : ""}.`);
  if (here) lines.push(`Published, ${here.who} on ${tp} ${chips[here.chip].name}: ${show(here.time, "s")}, ${rate(1 / here.time)} tokens/s; the parts give ${show(step, "s")}, ${Math.abs(Math.round(100 * (step / here.time - 1)))}\u00a0% ${step < here.time ? "less" : "more"}.`);
  else if (near.length) lines.push(`Published at other batches: ${near.map((row) => count(row.B)).join(", ")} (dots).`);
  else if (others) lines.push("There are published steps of other contexts: choose one from the list.");
  return lines;
}

const nice = (x) => {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((one) => one * power >= x);
};

function strip(now, scale, label, segments, y, high) {
  let x = LEFT;
  const shapes = [make("s.text", { x: LEFT, y: y - 5 }, label)];
  for (const [look, name, seconds] of segments) {
    const width = seconds * scale;
    if (width <= 0) continue;
    shapes.push(make("s.rect", { x, y, width: Math.max(width - 0.7, 0.3), height: high, class: look }, make("s.title", {}, `${name}: ${show(seconds, "s")}`)));
    const dark = look !== "empty" && look !== "path";
    if (name && width > 7 * name.length + 6) shapes.push(make("s.text", { x: x + width / 2, y: y + high / 2 + 4, "text-anchor": "middle", ...(dark ? { class: "light" } : {}) }, name));
    x += width;
  }
  return shapes;
}

function dot(x, y, row, chosen) {
  const r = chosen ? 6 : 4.5;
  return make("s.path", { d: `M${x},${y - r} L${x + r},${y} L${x},${y + r} L${x - r},${y} Z`, class: "seen", stroke: "#fff", "stroke-width": 1 }, make("s.title", {}, `${row.who}, batch ${row.B}: ${show(row.time, "s")}`));
}

function draw(svg, state, now) {
  const wide = WIDTH - LEFT - RIGHT, { B } = state;
  const longest = Math.max(now.step, now.here ? now.here.time : 0), scale = wide / longest;
  const shapes = [
    ...strip(now, scale, `this step, batch ${count(B)}`, PARTS.map(([key, look, name]) => [look, name, now.found[key]]), TOP, BAR),
    ...strip(now, scale, "by the roofline", [["load-along", "", now.sheet]], TOP + BAR + 20, 10),
  ];
  if (now.here) shapes.push(dot(LEFT + now.here.time * scale, TOP + BAR / 2, now.here, true));

  const low = TOP + BAR + 62 + HIGH, top = low - HIGH;
  const shown = Math.max(B, 64), seen = now.near.filter((row) => row.B <= shown).map((row) => row.time);
  const limit = nice(1.05 * Math.max(total(parts(state, shown)), ...seen));
  const X = (batch) => LEFT + wide * Math.log2(batch) / Math.log2(MOST);
  const Y = (t) => low - HIGH * t / limit;
  const inside = make("s.g", { "clip-path": "url(#decode-chart)" });
  for (let k = 0; k <= 4; k++) {
    const t = limit * k / 4;
    shapes.push(make("s.polyline", { points: `${LEFT},${Y(t)} ${WIDTH - RIGHT},${Y(t)}`, class: "grid" }));
    shapes.push(make("s.text", { x: LEFT - 5, y: Y(t) + 4, "text-anchor": "end" }, String(Number((1e3 * t).toPrecision(3)))));
  }
  shapes.push(make("s.text", { x: 0, y: top - 8 }, "ms"));
  shapes.push(make("s.clipPath", { id: "decode-chart" }, make("s.rect", { x: LEFT, y: top, width: wide, height: HIGH })), inside);
  const batches = Array.from({ length: 10 * FINE + 1 }, (_, i) => 2 ** (i / FINE));
  const rows = batches.map((batch) => parts(state, batch));
  let below = batches.map(() => 0);
  for (const [key, look, , name] of PARTS) {
    const above = below.map((t, i) => t + rows[i][key]);
    if (above.some((t, i) => t > below[i])) {
      const there = above.map((t, i) => `${X(batches[i])},${Y(t)}`), back = below.map((t, i) => `${X(batches[i])},${Y(t)}`).reverse();
      inside.append(make("s.polygon", { points: [...there, ...back].join(" "), class: look }, make("s.title", {}, name)));
    }
    below = above;
  }
  inside.append(make("s.polyline", { points: batches.map((batch) => `${X(batch)},${Y(roofline(state, batch))}`).join(" "), class: "roof", "stroke-dasharray": "6 3" }));
  if (now.fits < MOST) {
    const x = X(Math.max(now.fits, 1));
    shapes.push(make("s.rect", { x, y: top, width: WIDTH - RIGHT - x, height: HIGH, class: "empty" }));
    shapes.push(make("s.polyline", { points: `${x},${top} ${x},${low}`, class: "ridge" }));
    const left = x < WIDTH - 110;
    shapes.push(make("s.text", { x, y: top - 8, "text-anchor": left ? "start" : "end" }, now.fits < 1 ? "nothing fits" : "caches full"));
  }
  shapes.push(make("s.polyline", { points: `${X(B)},${low} ${X(B)},${top}`, class: "drop" }));
  for (const row of now.near) if (row.time <= limit) shapes.push(dot(X(row.B), Y(row.time), row, row === now.here));
  for (const batch of BATCHES) if (WIDTH > 500 || Math.log2(batch) % 2 === 0) shapes.push(make("s.text", { x: X(batch), y: low + 16, "text-anchor": "middle" }, batch));
  shapes.push(make("s.text", { x: LEFT + wide / 2, y: low + 34, "text-anchor": "middle" }, "sequences in the batch"));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${low + 40}`);
  svg.replaceChildren(...shapes);
}

/* A list of the published steps; one that is chosen sets all controls. */
function published(model, rows, shapes, chips) {
  const select = make("select", { name: "published" });
  const text = (row) => `${row.who}: ${shapes[row.model].name}, ${row.tp} ${chips[row.chip].name.replace("NVIDIA ", "")}, ${row.weights} bits, batch ${row.B}`;
  select.append(make("option", { value: "" }, "—"), ...rows.map((row, i) => make("option", { value: i }, text(row))));
  select.addEventListener("change", () => {
    const row = rows[Number(select.value)];
    if (select.value === "") return;
    for (const key of ["model", "chip", "tp", "B", "T", "weights", "kv"]) model.set(key, row[key]);
    model.set("host", "graph");
    model.save_changes();
  });
  const pull = (now) => {
    select.value = now.here ? rows.indexOf(now.here) : "";
  };
  return { el: make("label", { class: "gpubook-control" }, make("span", {}, "as published"), select), pull };
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const [shapes, chips, rows, bytes, kernels] = ["shapes", "chips", "rows", "bytes", "kernels"].map(read);
  const names = (table) => () => Object.entries(table).map(([key, { name }]) => [key, name]);
  const bits = (values) => () => values.map((value) => [value, `${value} bits`]);
  const list = published(model, rows, shapes, chips);
  const controls = [
    chooser(model, "model", "model", names(shapes)),
    chooser(model, "chip", "GPU", names(chips)),
    slider(model, "tp", "GPUs of a layer", [1, 2, 4, 8], count),
    slider(model, "B", "batch", BATCHES, count),
    slider(model, "T", "tokens in each cache", CONTEXTS, count),
    chooser(model, "weights", "weights in", bits(["16", "8", "4"])),
    chooser(model, "kv", "cache in", bits(["16", "8"])),
    chooser(model, "host", "launched", () => [["graph", "as a CUDA graph"], ["eager", "kernel by kernel"]]),
    slider(model, "launch", "a launch takes", LAUNCHES, (us) => `${us} us`),
  ];
  const svg = make("s.svg", { role: "img" });
  const key = make("p", { class: "gpubook-key" }, "from below: weights (blue), arithmetic beyond them (dull orange), caches (orange), sums of the GPUs (green), starts of kernels (grey), waiting for the host (faint); dashed: the roofline; diamonds: published");
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, list.el, ...controls.map((part) => part.el)), svg, key, readout);
  return follow(model, KEYS, () => {
    controls.forEach((part) => part.pull());
    const state = { shapes, chips, rows, bytes, kernels, ...Object.fromEntries(KEYS.map((name) => [name, read(name)])) };
    controls.at(-1).el.querySelector("input").disabled = state.host === "graph";
    const now = compute(state), lines = tell(now, state);
    list.pull(now);
    draw(svg, state, now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    Object.assign(readout.dataset, { step: now.step, sheet: now.sheet, fits: now.fits, waiting: now.found.waiting });
  });
}

export default { render };
