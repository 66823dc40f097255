// A product A[I, J] . B[J, K] on a mesh of nodes (X) and the GPUs of a node (Y): which letter splits what, what has to
// move, and how long it takes. The ways to multiply come from the table of moves of hwlib.sharding.

const SLOTS = { AI: "I", AJ: "J", BJ: "J", BK: "K" };
const KEYS = [...Object.keys(SLOTS), "cluster", "nodes", "I", "J", "K", "ends", "device"];
const ENDS = { scatter: "without open sums", everywhere: "whole on every GPU", open: "as it comes" };
const NAMES = { all_gather: "all-gather", reduce_scatter: "reduce-scatter", all_reduce: "all-reduce", all_to_all: "all-to-all" };
const SPLITS = { X: "Across the nodes", Y: "Inside a node" };
const DRAWN = 4, SIDE = 100, ELEMENT = 2;

const has = (state, slot, letter) => state[slot].includes(letter);
const roleOf = (state, array, letter) => Object.keys(SLOTS).find((slot) => slot[0] === array && has(state, slot, letter))?.[1] ?? "";

/* The places after a letter was dropped on a slot: an axis splits one dimension of an array, and a second drop removes it. */
export function drop(state, slot, letter) {
  const now = Object.fromEntries(Object.keys(SLOTS).map((key) => [key, state[key]]));
  const there = has(state, slot, letter);
  for (const key of Object.keys(SLOTS)) if (key[0] === slot[0]) now[key] = now[key].replace(letter, "");
  if (!there) now[slot] = [...now[slot], letter].sort().join("");
  return now;
}

/* The levels that a group along some axes crosses, innermost first: children, and the bandwidth of each. */
function levelsOf(axes, { Y, W_in, W_node }, X) {
  const levels = [];
  if (axes.includes("Y")) levels.push(["node", Y, W_in]);
  if (axes.includes("X")) levels.push(["network", X, axes.includes("Y") ? W_node : W_node / Y]);
  return levels;
}

/* Seconds of a collective on S bytes of a group: the slowest of its levels, bandwidth only. */
export function timeOf(op, axes, S, machine, X) {
  const levels = levelsOf(axes, machine, X), n = levels.reduce((all, [, d]) => all * d, 1);
  let below = 1, slowest = 0, where = "";
  for (const [name, d, W] of levels) {
    const share = op === "all_to_all" ? below / n * (1 - below / n) : (op === "all_reduce" ? 2 : 1) * (d - 1) / d;
    if (share * S / W >= slowest) [slowest, where] = [share * S / W, name];
    below *= d;
  }
  return { time: slowest, where };
}

/* Which of an array's two dimensions a letter is, "-" for none: as the table of moves names placements. */
const placeOf = (array, label) => ({ A: "IJ", B: "JK" })[array].indexOf(label || "-").toString().replace("-1", "-");
const rolesOf = (state, array) => ["X", "Y"].map((axis) => placeOf(array, roleOf(state, array, axis))).join("");

function textOf(name, dims, sums = "") {
  const told = dims.map(([label, axes]) => label + (axes ? `_${axes}` : "")).join(", ");
  return `${name}[${told}]` + (sums ? `{U_${sums}}` : "");
}

/* Everything that the figure shows: the ways to multiply, the fastest of them, and its moves with bytes and times. */
export function compute(state) {
  const machine = state.clusters[state.cluster], X = state.nodes, mesh = { X, Y: machine.Y };
  const size = (axes) => [...axes].reduce((n, axis) => n * mesh[axis], 1);
  const whole = { A: ELEMENT * state.I * state.J, B: ELEMENT * state.J * state.K, C: ELEMENT * state.I * state.K };
  const roles = { A: rolesOf(state, "A"), B: rolesOf(state, "B") };
  const choices = [0, 1].map((i) => (roles.A[i] + roles.B[i] === "--" ? ["-"] : ["I", "J", "K"]));
  const ways = choices[0].flatMap((x) => choices[1].map((y) => [x, y])).map((split) => {
    const todo = ["A", "B"].flatMap((array) => {
      const to = split.map((letter) => placeOf(array, letter)).join("");
      return state.moves[`${roles[array]}>${to}`].map(([op, axes, rest]) => [op, array, axes, rest]);
    });
    const axesOf = (letter) => ["X", "Y"].filter((_, i) => split[i] === letter).join("");
    const [I, K, U] = ["I", "K", "J"].map(axesOf);
    let result = { I, K, U };
    if (U && state.ends === "scatter") {
      todo.push(["reduce_scatter", "C", U, I + K]);
      result = { I: I + U, K, U: "" };  // the new axis cuts finest
    }
    if (state.ends === "everywhere") {
      if (U) todo.push(["all_reduce", "C", U, I + K]);
      if (I + K) todo.push(["all_gather", "C", [...I + K].sort().join(""), ""]);
      result = { I: "", K: "", U: "" };
    }
    const priced = todo.map(([op, array, axes, rest]) => {
      const S = whole[array] / size(rest);
      return { op, array, axes, S, ...timeOf(op, axes, S, machine, X) };
    });
    return { split: split.join(""), result, moves: priced, network: priced.reduce((sum, move) => sum + move.time, 0),
      arithmetic: 2 * state.I * state.J * state.K / size(I + K + U) / machine.C };
  });
  const best = ways.reduce((least, way) => (way.network < least.network - 1e-15 ? way : least));
  return { ...best, mesh, cases: ["X", "Y"].map((axis) => [axis, caseOf(state, axis)]), ways: ways.length,
    A: textOf("A", [["I", state.AI], ["J", state.AJ]]), B: textOf("B", [["J", state.BJ], ["K", state.BK]]),
    C: textOf("C", [["I", best.result.I], ["K", best.result.K]], best.result.U) };
}

/* The case of the product on one axis, 0 where the axis does nothing. */
function caseOf(state, axis) {
  const a = roleOf(state, "A", axis), b = roleOf(state, "B", axis);
  if (!a && !b) return 0;
  if (a && b && a !== b) return 4;
  if (a === "J" && b === "J") return 3;
  return a === "J" || b === "J" ? 2 : 1;
}

/* The sentences under the figure. */
export function tell(now) {
  const cases = now.cases.map(([axis, n]) => (n ? `${axis}: case ${n}` : `${axis} does nothing here, and repeats all`));
  const moves = now.moves.map(({ op, array, axes, S, time, where }) =>
    `${NAMES[op]} of ${array} over ${axes}: ${show(S, "B")} a group, ${show(time, "s")} (${where})`);
  const decides = now.network > now.arithmetic ? "the network decides" : "arithmetic decides";
  return [
    `${now.A} · ${now.B} → ${now.C}. ${cases.join("; ")}.`,
    moves.length ? `${moves.join("; then ")}.` : "Nothing has to move.",
    `Arithmetic ${show(now.arithmetic, "s")}, network ${show(now.network, "s")}: ${decides}.`,
  ];
}

/* A matrix cut by its letters; the part of one device is filled, and paler with a plus where it is a term of a sum. */
function draw(svg, rows, columns, device, sums, look) {
  const at = { X: Math.floor(device / DRAWN), Y: device % DRAWN };
  const part = (axes) => [...axes].reduce((k, axis) => k * DRAWN + at[axis], 0);
  const high = DRAWN ** rows.length, wide = DRAWN ** columns.length, parts = [];
  parts.push(make("s.rect", { x: 0, y: 0, width: SIDE, height: SIDE, class: "empty" }));
  const box = { x: SIDE * part(columns) / wide, y: SIDE * part(rows) / high, width: SIDE / wide, height: SIDE / high };
  parts.push(make("s.rect", { ...box, class: look, "fill-opacity": sums ? 0.5 : 1 }));
  for (let cut = 1; cut < high; cut++) parts.push(make("s.line", { x1: 0, x2: SIDE, y1: SIDE * cut / high, y2: SIDE * cut / high, class: "cut" }));
  for (let cut = 1; cut < wide; cut++) parts.push(make("s.line", { y1: 0, y2: SIDE, x1: SIDE * cut / wide, x2: SIDE * cut / wide, class: "cut" }));
  parts.push(make("s.rect", { x: 0, y: 0, width: SIDE, height: SIDE, class: "box" }));
  if (sums) parts.push(make("s.text", { x: box.x + box.width / 2, y: box.y + box.height / 2 + 5, "text-anchor": "middle" }, "+"));
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = () => Object.fromEntries([...KEYS, "clusters", "moves"].map((key) => [key, model.get(key)]));
  let picked = "X", dragged = false, timer = 0;
  const put = (slot, letter) => {
    for (const [key, axes] of Object.entries(drop(read(), slot, letter))) model.set(key, axes);
    model.save_changes();
  };
  const choose = (letter) => {
    picked = letter;
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.dataset.letter === letter));
  };
  /* Dragging with a pointer of any kind: where it ends on a place, the letter is dropped there. */
  const drags = (button, letterOf) => button.addEventListener("pointerdown", (event) => {
    const letter = letterOf(), from = [event.clientX, event.clientY];
    if (!letter) return;
    let ghost = null;
    const move = ({ clientX, clientY }) => {
      if (!ghost && Math.hypot(clientX - from[0], clientY - from[1]) > 6) {
        ghost = make("span", { class: "letter ghost" }, letter);
        el.firstChild.append(ghost);
      }
      if (ghost) ghost.style.translate = `${clientX}px ${clientY}px`;
    };
    const end = ({ clientX, clientY, type }) => {
      for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) removeEventListener(kind, listener);
      if (!ghost) return;
      ghost.remove();
      dragged = true;
      setTimeout(() => { dragged = false; });
      const slot = type === "pointerup" && el.getRootNode().elementFromPoint(clientX, clientY)?.closest("[data-slot]");
      const source = button.dataset.slot;
      if (slot && slot.dataset.slot !== source && !has(read(), slot.dataset.slot, letter)) put(slot.dataset.slot, letter);
      else if (!slot && source) put(source, letter);
      if (slot && source && slot.dataset.slot[0] !== source[0]) put(source, letter);
    };
    for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) addEventListener(kind, listener);
  });

  const chips = ["X", "Y"].map((letter) => {
    const chip = make("button", { type: "button", class: "letter", "data-letter": letter, "aria-pressed": "false" }, letter);
    chip.addEventListener("click", () => dragged || choose(letter));
    drags(chip, () => letter);
    return chip;
  });
  const named = chips.map((chip) => make("span", {}, chip, ` ${SPLITS[chip.dataset.letter].toLowerCase()} `));
  const slots = {}, titles = {}, pictures = {};
  const matrix = (name, ...keys) => {
    titles[name] = make("div", { class: "title" });
    pictures[name] = make("s.svg", { viewBox: `-1 -1 ${SIDE + 2} ${SIDE + 2}`, role: "img" });
    const row = keys.map((key) => {
      slots[key] = make("button", { type: "button", class: "slot", "data-slot": key });
      slots[key].addEventListener("click", () => dragged || put(key, picked));
      drags(slots[key], () => model.get(key).at(-1));
      return slots[key];
    });
    return make("div", {}, titles[name], pictures[name], make("div", { class: "slots" }, ...row));
  };
  const product = make("div", { class: "product" }, matrix("A", "AI", "AJ"), matrix("B", "BJ", "BK"), matrix("C"));
  const clusters = model.get("clusters"), lengths = sizes(256, 65536), tokens = sizes(256, 2 ** 20);
  const parts = [
    chooser(model, "cluster", "cluster", () => Object.entries(clusters).map(([key, { name }]) => [key, name])),
    chooser(model, "ends", "C is wanted", () => Object.entries(ENDS)),
    slider(model, "nodes", "nodes, X", [2, 4, 8], count),
    slider(model, "I", "rows, I", tokens, count),
    slider(model, "J", "the sum, J", lengths, count),
    slider(model, "K", "columns, K", lengths, count),
    slider(model, "device", "device drawn", Array.from({ length: DRAWN * DRAWN }, (_, i) => i), (i) => `${Math.floor(i / DRAWN)}, ${i % DRAWN}`),
  ];
  const play = make("button", { type: "button" }, "Walk through the devices");
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Walk through the devices";
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    timer = setInterval(() => {
      model.set("device", (model.get("device") + 1) % (DRAWN * DRAWN));
      model.save_changes();
    }, 700);
  });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("p", { class: "letters" }, "Drag a letter, or pick one and then its place: ", ...named), product, readout,
    make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), play);
  choose(picked);

  const unfollow = follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const state = read(), now = compute(state), lines = tell(now);
    for (const [key, label] of Object.entries(SLOTS)) {
      slots[key].replaceChildren(`${label} `, make("b", {}, state[key] || "·"));
      slots[key].setAttribute("aria-label", `${label} of ${key[0]}, split by ${[...state[key]].join(" and ") || "no axis"}: put the letter here, or take it away`);
    }
    for (const name of ["A", "B", "C"]) titles[name].textContent = now[name];
    draw(pictures.A, state.AI, state.AJ, state.device, false, "compute");
    draw(pictures.B, state.BJ, state.BK, state.device, false, "compute");
    draw(pictures.C, now.result.I, now.result.K, state.device, now.result.U, "memory");
    for (const name of ["A", "B", "C"]) pictures[name].setAttribute("aria-label", now[name]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    readout.dataset.network = now.network;
  });
  return () => {
    stop();
    unfollow();
  };
}

export default { render };
