// Tokens on their way to experts: what each network card carries and how busy each rank is, in one draw of a router.
// The same draw as hwlib.parallel.expert_traffic; `formula` holds `drawn_imbalance` in JavaScript.

const KEYS = ["model", "nodes", "tokens", "skew", "copies", "limit", "fp8", "redundant", "rank", "draw"];
const STEPS = { nodes: [2, 4, 8], tokens: [8, 16, 32, 64, 128], limit: [1, 2, 4, 8], skew: Array.from({ length: 9 }, (_, i) => i / 4) };
const COPIES = { expert: "one for each expert", rank: "one for each rank", node: "one for each node" };
const BF16 = 2, FP8 = 1 + 4 / 128, MATRICES = 3, LIKED = 1;
const KEPT = 6, kept = new Map();

/* Random numbers in [0, 1) that a seed fixes (mulberry32), in Python the same. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const range = (n, from = 0) => Array.from({ length: n }, (_, i) => from + i);
const sum = (row) => row.reduce((all, one) => all + one, 0);
/* Places of a row from the largest number to the smallest, the first of equal ones first. */
const ranked = (places, value) => places.sort((a, b) => value(b) - value(a) || a - b);

export function liking(experts, skew) {
  const order = range(experts), next = random(LIKED);
  for (let i = experts - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.map((place) => Math.exp(skew * (2 * place / Math.max(experts - 1, 1) - 1)));
}

/* The experts of every token, best first: an affinity is a draw whose odds are multiplied by the liking of the expert. */
export function routes({ experts, k, nodes, inner, tokens }, skew, limit, seed) {
  const liked = liking(experts, skew), next = random(1000 + seed), each = experts / nodes, all = range(experts);
  const affinity = new Float64Array(experts);
  return range(nodes * inner * tokens).map(() => {
    for (let e = 0; e < experts; e++) {
      const u = next();
      affinity[e] = u * liked[e] / (1 - u + u * liked[e]);
    }
    let candidates = all;
    if (limit) {
      const sums = range(nodes).map((node) => sumOfBest(affinity, node * each, each, k / limit));
      const chosen = ranked(range(nodes), (node) => sums[node]).slice(0, limit).sort((a, b) => a - b);
      candidates = chosen.flatMap((node) => range(each, node * each));
    }
    return top(candidates, affinity, k);
  });
}

/* The sum of the `most` largest of `each` values from place `first` on, added from the largest down. */
function sumOfBest(value, first, each, most) {
  const best = new Float64Array(most).fill(-1);
  for (let e = first; e < first + each; e++) {
    let at = most - 1;
    if (value[e] <= best[at]) continue;
    for (; at > 0 && value[e] > best[at - 1]; at--) best[at] = best[at - 1];
    best[at] = value[e];
  }
  return sum([...best]);
}

/* The k candidates with the largest values, best first. */
function top(candidates, value, k) {
  const found = [];
  for (const e of candidates) {
    if (found.length === k && value[e] <= value[found[k - 1]]) continue;
    let at = found.length === k ? k - 1 : found.length;
    while (at > 0 && value[e] > value[found[at - 1]]) {
      found[at] = found[at - 1];
      at--;
    }
    found[at] = e;
  }
  return found;
}

/* The ranks that hold each expert; with loads of a draw before, one expert more on every rank, dealt out as EPLB does. */
export function placement({ experts, nodes, inner }, loads) {
  const each = experts / (nodes * inner), held = range(experts).map((e) => (loads ? [] : [Math.floor(e / each)]));
  if (!loads) return held;
  for (let node = 0; node < nodes; node++) {
    const mine = range(each * inner, node * each * inner), copies = new Map(mine.map((e) => [e, 1]));
    const share = (e) => loads[e] / copies.get(e);
    for (let i = 0; i < inner; i++) {
      const [e] = ranked(mine.filter((one) => copies.get(one) < inner), share);
      copies.set(e, copies.get(e) + 1);
    }
    const room = new Array(inner).fill(each + 1), work = new Array(inner).fill(0);
    for (const e of ranked(mine.flatMap((one) => new Array(copies.get(one)).fill(one)), share)) {
      const open = range(inner).filter((r) => room[r]), without = open.filter((r) => !held[e].includes(node * inner + r));
      const [rank] = ranked(without.length ? without : open, (r) => -work[r]);
      room[rank]--;
      work[rank] += share(e);
      held[e].push(node * inner + rank);
    }
  }
  return held;
}

const homes = (chosen, held, token) => chosen[token].map((e) => [e, held[e][token % held[e].length]]);

/* Every copy of one token, from rank to rank. */
export function paths({ inner, tokens }, chosen, held, token, copies) {
  const source = Math.floor(token / tokens), node = (rank) => Math.floor(rank / inner);
  let goals = homes(chosen, held, token).map(([, rank]) => rank);
  if (copies !== "expert") goals = [...new Set(goals)];
  if (copies !== "node") return goals.filter((rank) => rank !== source).map((rank) => [source, rank]);
  const gate = (rank) => node(rank) * inner + source % inner;
  const far = [...new Set(goals.map(gate))].filter((one) => node(one) !== node(source)).map((one) => [source, one]);
  return [...far, ...goals.filter((rank) => rank !== gate(rank)).map((rank) => [gate(rank), rank])];
}

/* Copies of a draw by rank, through cards and inside nodes, and the loads of ranks: `paths` of all tokens, counted. */
export function traffic({ experts, nodes, inner, tokens }, chosen, held, copies) {
  const n = nodes * inner, zeros = () => new Array(n).fill(0), nodeOf = range(n).map((rank) => Math.floor(rank / inner));
  const found = { far_out: zeros(), far_in: zeros(), near_out: zeros(), near_in: zeros(), loads: zeros(), touched: zeros() };
  const busy = range(n).map(() => new Uint8Array(experts)), rankSeen = new Int32Array(n).fill(-1), nodeSeen = new Int32Array(nodes).fill(-1);
  const send = (from, to) => {
    if (from === to) return;
    const near = nodeOf[from] === nodeOf[to];
    (near ? found.near_out : found.far_out)[from]++;
    (near ? found.near_in : found.far_in)[to]++;
  };
  for (let token = 0; token < chosen.length; token++) {
    const source = Math.floor(token / tokens);
    for (const e of chosen[token]) {
      const home = held[e], rank = home[home.length === 1 ? 0 : token % home.length];
      found.loads[rank]++;
      if (!busy[rank][e]) found.touched[rank] += busy[rank][e] = 1;
      if (copies !== "expert" && rankSeen[rank] === token) continue;
      rankSeen[rank] = token;
      if (copies !== "node") {
        send(source, rank);
        continue;
      }
      const gate = nodeOf[rank] * inner + source % inner;
      if (nodeSeen[nodeOf[rank]] !== token) send(source, gate);
      nodeSeen[nodeOf[rank]] = token;
      send(gate, rank);
    }
  }
  return found;
}

/* What a draw chose, kept for the settings that do not change it. */
function drawn(key, layer, ...rest) {
  const name = JSON.stringify([key, layer, ...rest]);
  if (!kept.has(name)) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(name, routes(layer, ...rest));
  }
  return kept.get(name);
}

const layerOf = ({ models, model, machine, nodes, tokens }) => ({ experts: models[model].E, k: models[model].k, nodes, inner: machine.inner, tokens });
const limitOf = ({ limit, nodes }) => (limit < nodes ? limit : 0);

/* Everything that the figure shows. */
export function compute(state) {
  const { model, models, machine, skew, copies, fp8, redundant, draw } = state, { D, F, k } = models[model];
  const layer = layerOf(state), limit = limitOf(state), n = layer.nodes * layer.inner;
  const chosen = drawn(model, layer, skew, limit, draw);
  let before = null;
  if (redundant) {
    before = new Array(layer.experts).fill(0);
    for (const experts of drawn(model, layer, skew, limit, draw - 1)) for (const e of experts) before[e]++;
  }
  const held = placement(layer, before), moved = traffic(layer, chosen, held, copies), { far_out, far_in, near_out, near_in, loads, touched } = moved;
  const b_disp = fp8 ? FP8 : BF16, far = Math.max(...far_out, ...far_in), near = Math.max(...near_out, ...near_in);
  const phase = (b) => Math.max(D * b * far / machine.W_out, D * b * near / machine.W_in);
  const arithmetic = (r) => 2 * MATRICES * D * F * loads[r] / machine.C, weights = (r) => MATRICES * D * F * BF16 * touched[r] / machine.W;
  const each = range(n).map((r) => Math.max(arithmetic(r), weights(r))), slowest = each.indexOf(Math.max(...each));
  const sent = far_out.map((out, r) => D * (b_disp * out + BF16 * far_in[r])), received = far_in.map((came, r) => D * (b_disp * came + BF16 * far_out[r]));
  const ways = sent.map((one, r) => Math.max(one, received[r]));
  return {
    ...moved, layer, limit, chosen, held, sent, received, dispatch: phase(b_disp), combine: phase(BF16), experts: each[slowest],
    bound: arithmetic(slowest) >= weights(slowest) ? "arithmetic" : "reading their weights",
    inside: near / machine.W_in > far / machine.W_out,
    imbalance: Math.max(...loads) * n / sum(loads), lot: formula.drawn_imbalance(n * layer.tokens, k, n),
    crossings: sum(far_out) / (n * layer.tokens), busiest: Math.max(...ways), cards: Math.max(...ways) * n / Math.max(sum(ways), 1),
    // What the cards would carry with a copy for each expert in BF16: the bars' scale, so that they shrink as copies do.
    full: 1.25 * 2 * BF16 * D * k * layer.tokens * (layer.nodes - 1) / layer.nodes,
  };
}

const two = (x) => Number(x.toPrecision(3));
const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

/* One token of a rank, in words: `way` are its copies. */
export function tellToken(now, rank, token, copies) {
  const { layer, chosen, held } = now, goals = homes(chosen, held, token).map(([, home]) => home);
  const node = (r) => Math.floor(r / layer.inner), places = new Set(goals), sites = new Set(goals.map(node));
  const way = paths(layer, chosen, held, token, copies), far = way.filter(([a, b]) => node(a) !== node(b)).length;
  return `Token ${token % layer.tokens} of rank ${rank}: ${layer.k} experts on ${many(places.size, "rank")} of ${many(sites.size, "node")}; ` +
    `${many(far, "copy", "copies")} ${far === 1 ? "leaves" : "leave"} its node, ${count(way.length - far)} ${way.length - far === 1 ? "goes" : "go"} over links inside a node.`;
}

/* The sentences under the figure, the token's aside. */
export function tell(now) {
  const total = now.dispatch + now.experts + now.combine;
  return [
    `A token leaves its node ${two(now.crossings)} times on average. The busiest card moves ${show(now.busiest, "B")} one way, ${two(now.cards)} times the mean: ` +
      `dispatch ${show(now.dispatch, "s")}, combine ${show(now.combine, "s")}${now.inside ? ", both decided by the links inside a node" : ""}.`,
    `The busiest rank has ${two(now.imbalance)} times the mean load; drawn by lot alone, without skew, it would be about ${two(now.lot)}. ` +
      `Experts take ${show(now.experts, "s")}, decided by ${now.bound}.`,
    `The layer takes ${show(total, "s")}, ${Math.round(100 * (now.dispatch + now.combine) / total)} % of it in exchanges.`,
  ];
}

const TOP = 18, CELL = 13, LOW = 140, BARS = 54, LOADS = 176, CARDS = LOADS + BARS + 26, HEIGHT = CARDS + BARS + 4;
const PACE = 700, TRAVEL = 1300, HANDED = 0.62; // milliseconds; the part of a journey after which a token is handed on

/* Where ranks stand: nodes side by side, with a gap between them. */
function columns({ nodes, inner }, width) {
  const gap = 6, wide = (width - gap * (nodes - 1)) / (nodes * inner);
  const left = (rank) => rank * wide + gap * Math.floor(rank / inner);
  return { wide, left, middle: (rank) => left(rank) + wide / 2 };
}

function bars(parts, values, most, floor, at, look, part = [0, 1]) {
  const wide = 0.84 * at.wide * (part[1] - part[0]);
  values.forEach((value, rank) => {
    const tall = BARS * Math.min(value / most, 1);
    parts.push(make("s.rect", { x: at.left(rank) + at.wide * (0.08 + 0.84 * part[0]), y: floor - tall, width: wide, height: tall, class: look(value, rank) }));
  });
}

/* Ranks as cells above and below, their loads and their cards' bytes as bars; flows and dots are drawn over it. */
function draw(svg, now, width) {
  const { layer, loads, sent, received } = now, at = columns(layer, width), parts = [], n = loads.length, inner = layer.inner;
  const mean = sum(loads) / n, top = Math.max(3 * mean, ...loads), busiest = Math.max(...loads), line = (y) => parts.push(make("s.polyline", { points: `0,${y} ${width},${y}`, class: "drop" }));
  for (let node = 0; node < layer.nodes; node++) {
    const x = at.left(node * inner), wide = at.wide * inner;
    parts.push(make("s.text", { x: x + wide / 2, y: 12, "text-anchor": "middle" }, `node ${node}`));
    for (const y of [TOP, LOW]) parts.push(make("s.rect", { x, y, width: wide, height: CELL, class: "empty" }));
  }
  for (let rank = 0; rank < n; rank++) for (const y of [TOP, LOW]) {
    parts.push(make("s.rect", { x: at.left(rank), y, width: at.wide, height: CELL, class: "frame", "data-rank": rank }));
  }
  parts.push(make("s.text", { x: 0, y: LOADS - 8 }, `load of each rank, ${two(now.imbalance)} times the mean at most`));
  bars(parts, loads, top, LOADS + BARS, at, (load) => (load === busiest ? "memory" : "compute"));
  line(LOADS + BARS * (1 - mean / top));
  parts.push(make("s.text", { x: 0, y: CARDS - 6 }, `each card: sent, and paler received; ${show(now.busiest, "B")} at most`));
  const most = Math.max(now.full, now.busiest), fullest = Math.max(...sent, ...received);
  const look = (pale) => (value) => (value === fullest ? "store" : "load") + (pale ? "-along" : "");
  bars(parts, sent, most, CARDS + BARS, at, look(false), [0, 0.5]);
  bars(parts, received, most, CARDS + BARS, at, look(true), [0.5, 1]);
  line(CARDS + BARS * (1 - sum(sent) / n / most));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...parts);
  return at;
}

/* The copies of one token as curves: from above where the token lives to the ranks below, or handed on within a node. */
export function curves(layer, way, source, at) {
  const seen = new Map();
  return way.map(([from, to]) => {
    const name = `${from}>${to}`, again = seen.get(name) ?? 0, aside = 2.2 * (again % 2 ? -1 : 1) * Math.ceil(again / 2);
    seen.set(name, again + 1);
    const far = Math.floor(from / layer.inner) !== Math.floor(to / layer.inner), handed = from !== source;
    const start = [at.middle(from), handed ? LOW : TOP + CELL], end = [at.middle(to), LOW];
    const bend = handed ? [(start[0] + end[0]) / 2, LOW - 26] : [(start[0] + end[0]) / 2 + aside * 3, (start[1] + end[1]) / 2];
    return { start, bend, end, far, handed };
  });
}

/* A point of a curve, t from 0 to 1. */
export const point = ({ start, bend, end }, t) => [0, 1].map((i) => (1 - t) ** 2 * start[i] + 2 * t * (1 - t) * bend[i] + t ** 2 * end[i]);

function toggle(model, key, label) {
  const input = make("input", { type: "checkbox", name: key, style: "width: auto; justify-self: start" });
  const pull = () => { input.checked = model.get(key); };
  input.addEventListener("change", () => {
    model.set(key, input.checked);
    model.save_changes();
  });
  pull();
  return { el: make("label", { class: "gpubook-control" }, make("span", {}, label), input), pull };
}

function render({ model, el }) {
  const read = () => Object.fromEntries([...KEYS, "models", "machine"].map((key) => [key, model.get(key)]));
  const width = across(520), still = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
  const put = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const ranks = () => range(model.get("nodes") * model.get("machine").inner);
  const limits = (v) => (v < model.get("nodes") ? many(v, "node") : "none");
  const parts = [
    chooser(model, "model", "model", () => Object.entries(model.get("models")).map(([key, one]) => [key, one.name])),
    chooser(model, "copies", "copies of a token", () => Object.entries(COPIES)),
    slider(model, "nodes", "nodes", STEPS.nodes, count),
    slider(model, "tokens", "tokens a rank", STEPS.tokens, count),
    slider(model, "skew", "router skew", STEPS.skew, (v) => String(v)),
    slider(model, "limit", "node limit", STEPS.limit, limits),
    toggle(model, "fp8", "dispatch in FP8"),
    toggle(model, "redundant", "redundant experts"),
  ];
  const rank = make("input", { type: "range", min: 0, step: 1, name: "rank" }), said = make("output", { "aria-hidden": "true" });
  rank.addEventListener("input", () => put("rank", Number(rank.value)));
  const pick = make("label", { class: "gpubook-control" }, make("span", {}, "tokens of rank"), rank, said);
  const play = make("button", { type: "button" }, "Play"), next = make("button", { type: "button" }, "Next token"), again = make("button", { type: "button" }, "Draw again");
  const svg = make("s.svg", { role: "img", class: "experts" }), readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  const flows = make("s.g"), trace = make("s.g"), dots = make("s.g"), one = make("p", { class: "token", style: "margin: 0.3rem 0; min-height: 2.7em" });
  let now = null, at = null, source = 0, token = 0, beat = 0, clock = 0, last = 0, under = [];

  const place = () => source * now.layer.tokens + token;
  const wayOf = (which) => curves(now.layer, paths(now.layer, now.chosen, now.held, which, model.get("copies")), source, at);
  const dot = ([x, y], far) => make("s.circle", { cx: x, cy: y, r: 3.2, class: far ? "memory" : "compute" });
  function traced() {
    const way = wayOf(place()), marks = [];
    const goals = new Map();
    for (const [, home] of homes(now.chosen, now.held, place())) goals.set(home, (goals.get(home) ?? 0) + 1);
    marks.push(make("s.rect", { x: at.left(source), y: TOP, width: at.wide, height: CELL, class: "seen" }));
    for (const [home, times] of goals) marks.push(make("s.rect", { x: at.left(home), y: LOW, width: at.wide, height: CELL, class: "third", "fill-opacity": Math.min(0.5 + 0.25 * times, 1) }));
    for (const { start, bend, end, far } of way) {
      marks.push(make("s.path", { d: `M${start}Q${bend} ${end}`, fill: "none", stroke: far ? "var(--memory)" : "var(--compute)", "stroke-width": 1.8 }));
    }
    trace.replaceChildren(...marks);
    if (!under.length) dots.replaceChildren(...way.map((curve) => dot(point(curve, still() ? 1 : 0.5), curve.far)));
    one.textContent = tellToken(now, source, place(), model.get("copies"));
    Object.assign(svg.dataset, { token, copies: way.length, far: way.filter((curve) => curve.far).length });
  }
  function flowing() {
    const totals = new Map(), { tokens } = now.layer;
    for (let t = source * tokens; t < (source + 1) * tokens; t++) {
      for (const [from, to] of paths(now.layer, now.chosen, now.held, t, model.get("copies"))) if (from === source) totals.set(to, (totals.get(to) ?? 0) + 1);
    }
    const most = Math.max(1, ...totals.values());
    flows.replaceChildren(...[...totals].map(([to, times]) => make("s.path", {
      d: `M${at.middle(source)},${TOP + CELL}L${at.middle(to)},${LOW}`, fill: "none", stroke: "currentColor", "stroke-opacity": 0.06 + 0.3 * times / most,
    })));
  }
  const advance = () => {
    token = (token + 1) % now.layer.tokens;
    traced();
  };
  function step(time) {
    clock += Math.min(time - (last || time), 100);
    last = time;
    if (clock >= PACE) {
      clock -= PACE;
      advance();
      if (!still()) under.push({ way: wayOf(place()), since: time });
    }
    const travelling = under.flatMap((journey) => {
      const t = (time - journey.since) / TRAVEL;
      const handed = journey.way.some((curve) => curve.handed), first = Math.min(t / (handed ? HANDED : 1), 1), second = (t - HANDED) / (1 - HANDED);
      return journey.way.flatMap((curve) => (curve.handed ? (second > 0 ? [dot(point(curve, Math.min(second, 1)), false)] : []) : [dot(point(curve, first), curve.far)]));
    });
    under = under.filter((journey) => time - journey.since < TRAVEL);
    if (!still()) dots.replaceChildren(...travelling);
    beat = requestAnimationFrame(step);
  }
  const stop = () => {
    cancelAnimationFrame(beat);
    beat = 0;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (beat) return stop();
    play.textContent = "Pause";
    last = 0;
    clock = PACE;
    under = [];
    beat = requestAnimationFrame(step);
  });
  next.addEventListener("click", () => {
    stop();
    under = [];
    advance();
  });
  again.addEventListener("click", () => put("draw", model.get("draw") + 1));
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * width / box.width;
    const near = ranks().reduce((best, r) => (Math.abs(at.middle(r) - x) < Math.abs(at.middle(best) - x) ? r : best), 0);
    put("rank", near);
  });

  const key = make("p", { class: "gpubook-key" }, "Above a rank's tokens, below the ranks that have their experts (green). Orange: through a network card. Blue: inside a node. Dashed: the mean. A tap on a rank follows its tokens.");
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el), pick), play, " ", next, " ", again, svg, one, readout, key);
  const unfollow = follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    now = compute(read());
    source = Math.min(model.get("rank"), now.loads.length - 1);
    rank.max = now.loads.length - 1;
    rank.value = source;
    said.textContent = source;
    rank.setAttribute("aria-valuetext", `rank ${source} of node ${Math.floor(source / now.layer.inner)}`);
    token %= now.layer.tokens;
    under = [];
    at = draw(svg, now, width);
    svg.append(flows, trace, dots);
    flowing();
    traced();
    const lines = tell(now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((line) => make("p", {}, line)));
    for (const name of ["imbalance", "crossings", "busiest", "dispatch", "combine", "experts"]) readout.dataset[name] = now[name];
  });
  return () => {
    stop();
    unfollow();
  };
}

export default { render };
