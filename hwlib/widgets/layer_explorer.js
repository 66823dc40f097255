// The forward pass of one layer on tp ranks, its products and its collectives against time; `formula` holds
// hwlib.parallel, hwlib.collectives, hwlib.calibrated.kernel and hwlib.transformer in JavaScript.

const KEYS = ["machine", "model", "tokens", "tp", "how", "pieces"];
const WAYS = { wait: "wait", halves: "two half batches", pieces: "in pieces" };
const DEGREES = [1, 2, 4, 8, 16, 32, 64];
const TOKENS = Array.from({ length: 21 }, (_, k) => 2 ** k);
const LONGEST = 8192;
const WIDTH = across(640), LEFT = across(640) < 500 ? 64 : 84, ROW = 40;

/* Seconds of a product of `rows` tokens, [rows, D] x [D, F/tp]. */
function product(chip, rows, D, F) {
  const work = formula.matmul_flops(rows, D, F), bytes = formula.matmul_bytes(rows, D, F, 2);
  return formula.kernel_time(work, bytes, chip.C, chip.W, chip.eta_C, chip.eta_W, chip.t0);
}

/* Seconds of a gather, or a scatter, of the activations of `rows` tokens: in the node, or between nodes if that is longer. */
function collective(machine, tp, rows, D) {
  if (tp === 1) return 0;
  const S = 2 * rows * D, { n_in, W_in, W_out } = machine;
  const near = formula.direct_allgather_time(Math.min(tp, n_in), S, 0, W_in);
  const far = tp > n_in ? formula.direct_allgather_time(tp / n_in, S, 0, n_in * W_out) : 0;
  return machine.alpha[tp] + Math.max(near, far);
}

/* The stages of one layer for `rows` tokens, in sequences of T: [name, kind, seconds]. */
function stages(machine, model, tp, rows, T) {
  const { D, F, heads, kv, H } = model, own = Math.max(kv / tp, 1);
  const qkv = product(machine, rows, D, (heads / tp + 2 * own) * H);
  const scores = formula.causal_attention_forward_flops(rows, T, heads / tp, H) / (machine.eta_C * machine.C) + machine.t0;
  const out = product(machine, rows, (heads / tp) * H, D);
  const up = product(machine, rows, D, (2 * F) / tp), down = product(machine, rows, F / tp, D);
  const wire = collective(machine, tp, rows, D);
  return [
    ["gather", "network", wire], ["q, k, v", "math", qkv], ["attention", "math", scores], ["out", "math", out],
    ["scatter", "network", wire], ["gather", "network", wire], ["gate, up", "math", up], ["down", "math", down],
    ["scatter", "network", wire],
  ];
}

const bar = (name, kind, from, to, part = 0) => ({ name, kind, from, to, part });

/* One after the other. */
function waiting(list) {
  let at = 0;
  return list.filter(([, , t]) => t > 0).map(([name, kind, t]) => bar(name, kind, at, (at += t)));
}

/* Each gather in m pieces beside the product behind it, each scatter beside the one before it. */
function split(list, m, t0) {
  const bars = [];
  let at = 0;
  const pair = (first, second) => {
    const [a, b] = [first[2] / m, second[2] / m + t0];
    let ready = at, free = at;
    for (let k = 0; k < m; k++) {
      bars.push(bar(first[0], first[1], ready, ready + a, k));
      ready += a;
      const start = Math.max(ready, free);
      bars.push(bar(second[0], second[1], start, start + b, k));
      free = start + b;
    }
    at = free;
  };
  const alone = (one) => bars.push(bar(one[0], one[1], at, (at += one[2])));
  const [g1, qkv, scores, out, s1, g2, up, down, s2] = list;
  pair(g1, qkv);
  alone(scores);
  pair(out, s1);
  pair(g2, up);
  pair(down, s2);
  return bars;
}

/* Two half batches that take turns: while one is on the wire, the other computes. */
function turns(list) {
  const free = { math: 0, network: 0 }, ready = [0, 0], bars = [];
  const groups = [[0, 1], [1, 4], [4, 6], [6, 8], [8, 9]];
  for (const [from, to] of groups) {
    for (const half of [0, 1]) {
      for (const [name, kind, t] of list.slice(from, to)) {
        if (!t) continue;
        const start = Math.max(ready[half], free[kind]);
        bars.push(bar(name, kind, start, start + t, half));
        free[kind] = ready[half] = start + t;
      }
    }
  }
  return bars;
}

/* Every number that the figure shows. */
export function compute({ machines, models, machine, model, tokens, tp, how, pieces }) {
  const node = machines[machine], shape = models[model];
  const T = Math.min(tokens, LONGEST), list = stages(node, shape, tp, tokens, T);
  const bars = tp === 1 || how === "wait" ? waiting(list)
    : how === "pieces" ? split(list, pieces, node.t0)
      : turns(stages(node, shape, tp, tokens / 2, T));
  const sum = (kind) => list.filter((one) => one[1] === kind).reduce((t, one) => t + one[2], 0);
  const total = Math.max(...bars.map((one) => one.to)), math = sum("math"), wire = sum("network");
  const one = stages(node, shape, 1, tokens, T).reduce((t, stage) => t + stage[2], 0);
  return { bars, total, math, wire, exposed: total - math, speedup: one / total, tp, how, tokens };
}

/* The sentences under the figure. */
export function tell({ total, math, wire, exposed, speedup, tp, how }) {
  if (tp === 1) return [`One GPU: ${show(total, "s")} a layer, and no collectives.`];
  const more = exposed - wire;
  const seen = how === "wait" ? `${show(wire, "s")} of collectives, all of it exposed`
    : exposed <= 0 ? "all of the collectives hidden"
      : more > 1e-12 ? `${show(exposed, "s")} more than the products: more than the ${show(wire, "s")} that waiting would cost`
        : `${show(exposed, "s")} of ${show(wire, "s")} of collectives exposed`;
  return [
    `${show(total, "s")} a layer: ${show(math, "s")} of products, ${seen}.`,
    `${tp} GPUs are ${Number(speedup.toPrecision(2))} times as fast as one.`,
  ];
}

function draw(svg, now) {
  const scale = (WIDTH - LEFT - 8) / now.total, rows = { math: 0, network: 1 };
  const parts = [["products", 0], ["network", 1]].map(([word, row]) =>
    make("s.text", { x: LEFT - 8, y: row * ROW + 27, "text-anchor": "end" }, word));
  for (const { name, kind, from, to, part } of now.bars) {
    const x = LEFT + from * scale, width = Math.max((to - from) * scale, 0.4), y = rows[kind] * ROW + 8;
    const look = kind === "math" ? "compute" : "memory";
    parts.push(make("s.rect", {
      x, y, width, height: ROW - 12, class: look, "fill-opacity": part % 2 ? 0.6 : 0.95, stroke: "currentColor", "stroke-opacity": 0.25,
      "stroke-width": 0.5,
    }, make("s.title", {}, `${name}: ${show(to - from, "s")}`)));
    if (width > 7.2 * name.length + 6 && part === 0) parts.push(make("s.text", { x: x + width / 2, y: y + 18, "text-anchor": "middle" }, name));
  }
  const low = 2 * ROW + 6;
  parts.push(make("s.polyline", { points: `${LEFT},${low} ${WIDTH - 8},${low}` }));
  parts.push(make("s.text", { x: LEFT, y: low + 16 }, "0"));
  parts.push(make("s.text", { x: WIDTH - 8, y: low + 16, "text-anchor": "end" }, show(now.total, "s")));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${low + 22}`);
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const machines = read("machines"), models = read("models");
  const parts = [
    chooser(model, "machine", "machine", () => Object.entries(machines).map(([key, { name }]) => [key, name])),
    chooser(model, "model", "model", () => Object.entries(models).map(([key, { name }]) => [key, name])),
    slider(model, "tokens", "tokens", TOKENS, count),
    slider(model, "tp", "GPUs of a layer", DEGREES, count),
    chooser(model, "how", "collectives", () => Object.entries(WAYS)),
    slider(model, "pieces", "pieces", [2, 4, 8, 16, 32], count),
  ];
  const svg = make("s.svg", { role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), svg, readout);
  return follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute({ machines, models, ...Object.fromEntries(KEYS.map((key) => [key, read(key)])) }), lines = tell(now);
    draw(svg, now);
    svg.setAttribute("aria-label", lines.join(" "));
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["total", "exposed", "speedup"]) readout.dataset[key] = now[key];
  });
}

export default { render };
