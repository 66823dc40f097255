// A pipeline schedule whose passes are moved by hand, played anew after each move. The player is hwlib.pipeline's.

const KEYS = ["preset", "rows", "t_F", "t_I", "t_W"];
const TIMES = Array.from({ length: 26 }, (_, i) => (5 + i) / 10);
const WIDTH = across(680), LEFT = 22, RIGHT = 46, BLOCK = 24, KEPT = 20, ROW = BLOCK + KEPT + 12;
const KINDS = { F: "forward", B: "backward", I: "gradient of the input", W: "gradient of the weights" };

/* What each letter of a row is: the pass, its chunk and its microbatch, as in the chapter's lab. */
export function passes(row, { route, m }) {
  const count = {}, late = {};
  return [...row].map((letter) => {
    const kind = letter.toUpperCase(), chunk = letter === kind ? 0 : 1, first = route === "both" ? chunk * m / 2 : 0;
    if (kind === "W") return { kind, chunk, i: (late[chunk] ??= []).shift() };
    const key = (kind === "F" ? "F" : "B") + chunk, i = (count[key] = (count[key] ?? -1) + 1) + first;
    if (kind === "I") (late[chunk] ??= []).push(i);
    return { kind, chunk, i };
  });
}

const named = ({ kind, i, chunk }) => `${kind}${i}${chunk ? " of chunk 1" : ""}`;

/* Times of all passes; or `stuck`, a sentence, where the order cannot be played. */
export function compute({ rows, layout, t_F, t_I, t_W }) {
  const { route, v } = layout, n = rows.length, depth = n * v;
  const part = (r, c) => (route === "loop" || !c ? c * n + r : depth - 1 - r);
  const cost = { F: t_F / v, B: (t_I + t_W) / v, I: t_I / v, W: t_W / v };
  const orders = rows.map((row) => passes(row, layout));
  for (const [r, order] of orders.entries()) {
    const seen = new Set();
    for (const pass of order) {
      const before = { B: "F", I: "F", W: "I" }[pass.kind];
      if (pass.i === undefined || (before && !seen.has(`${before}${pass.chunk}.${pass.i}`))) {
        const lacking = pass.i === undefined ? "an I" : named({ ...pass, kind: before });
        return { stuck: `Rank ${r}: ${pass.i === undefined ? "a W" : named(pass)} cannot come before ${lacking}.` };
      }
      seen.add(`${pass.kind}${pass.chunk}.${pass.i}`);
    }
  }
  const done = {}, at = rows.map(() => 0), clock = rows.map(() => 0), spans = rows.map(() => []);
  for (let moved = true; moved;) {
    moved = false;
    for (let r = 0; r < n; r++) {
      while (at[r] < orders[r].length) {
        const pass = orders[r][at[r]], p = part(r, pass.chunk), key = pass.kind === "F" ? "F" : "B";
        const other = pass.kind === "W" ? -1 : pass.kind === "F" ? p - 1 : p + 1;
        const need = other >= 0 && other < depth ? `${key}${other}.${pass.i}` : null;
        if (need && !(need in done)) break;
        const start = Math.max(clock[r], need ? done[need] : 0), end = start + cost[pass.kind];
        if (pass.kind !== "W") done[`${key}${p}.${pass.i}`] = end;
        spans[r].push({ ...pass, start, end });
        clock[r] = end;
        at[r] += 1;
        moved = true;
      }
    }
  }
  const waiting = at.findIndex((k, r) => k < orders[r].length);
  if (waiting >= 0) return { stuck: `The ranks wait for each other: rank ${waiting} cannot begin ${named(orders[waiting][at[waiting]])}.` };
  const time = Math.max(...clock), work = spans.map((row) => row.reduce((sum, s) => sum + s.end - s.start, 0));
  const all = work.reduce((a, b) => a + b, 0);
  const kept = spans.map((row) => {
    const steps = [];
    let held = 0;
    for (const s of row) {
      if (s.kind === "F") steps.push([s.start, (held += 1 / v)]);
      if (s.kind === "B" || s.kind === "W") steps.push([s.end, (held -= 1 / v)]);
    }
    return steps;
  });
  return {
    spans, kept, time, bubble: 1 - all / (n * time), overhead: n * time / all - 1,
    high: kept.map((steps) => Math.max(...steps.map(([, held]) => held))),
  };
}

const per = (x) => `${(100 * x).toFixed(1)} %`;

/* The sentences under the figure. */
export function tell({ time, bubble, overhead, high }) {
  const most = high.map((held) => Number(held.toFixed(2))).join(", ");
  return [
    `A step takes ${Number(time.toFixed(2))}. Bubble: ${per(bubble)} of the step, ${per(overhead)} of the work.`,
    `Microbatches kept at most, on ranks 0 to ${high.length - 1}: ${most}.`,
  ];
}

/* The row with its letter `from` moved to the place `to`. */
export const moved = (row, from, to) => {
  const letters = [...row], [one] = letters.splice(from, 1);
  letters.splice(to, 0, one);
  return letters.join("");
};

function render({ model, el }) {
  const presets = model.get("presets");
  const layout = () => presets[model.get("preset")];
  const state = (rows) => ({ rows, layout: layout(), t_F: model.get("t_F"), t_I: model.get("t_I"), t_W: model.get("t_W") });
  const svg = make("s.svg", { role: "group", class: "schedule" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  const parts = [
    chooser(model, "preset", "begin with", () => Object.entries(presets).map(([key, { name }]) => [key, name])),
    slider(model, "t_F", "forward", TIMES, String),
    slider(model, "t_I", "back: input", TIMES, String),
    slider(model, "t_W", "back: weights", TIMES, String),
  ];
  const again = make("button", { type: "button" }, "undo all moves");
  const key = make("p", { class: "gpubook-key" }, "Drag a pass along its row, or choose one and press ← or →. Blue: forward; red: backward, or its half for the input; green: its half for the weights; paler: second chunk. Below each row: microbatches kept.");
  let focus = null, said = "", drag = null, last = model.get("preset");

  const put = (rank, row) => {
    const rows = model.get("rows").map((old, r) => (r === rank ? row : old)), now = compute(state(rows));
    said = now.stuck ?? "";
    if (now.stuck) return redraw();
    model.set("rows", rows);
    model.save_changes();
    redraw();
  };

  /* Moves a pass past the next place that holds another letter, since equal letters are the same pass. */
  const step = (rank, k, way) => {
    const row = model.get("rows")[rank];
    let to = k + way;
    while (to >= 0 && to < row.length && row[to] === row[k]) to += way;
    if (to < 0 || to >= row.length) return;
    const next = moved(row, k, to), before = model.get("rows");
    focus = [rank, to];
    put(rank, next);
    if (model.get("rows") === before || said) focus = [rank, k], redraw();
  };

  const look = { F: "compute", B: "memory", I: "memory", W: "third" };
  function redraw() {
    const now = compute(state(model.get("rows")));
    if (now.stuck) return;
    const scale = (WIDTH - LEFT - RIGHT) / now.time, x = (t) => LEFT + t * scale, most = Math.max(...now.high, 1);
    const children = [];
    now.spans.forEach((row, r) => {
      const top = r * ROW + 4, floor = top + BLOCK + KEPT + 2;
      children.push(make("s.text", { x: 2, y: top + 17 }, r));
      const steps = now.kept[r], up = (held) => floor - KEPT * held / most;
      let points = `${x(0)},${floor}`, before = 0;
      for (const [t, held] of steps) {
        points += ` ${x(t)},${up(before)} ${x(t)},${up(held)}`;
        before = held;
      }
      children.push(make("s.polygon", { points: `${points} ${x(now.time)},${up(before)} ${x(now.time)},${floor}`, class: "kept" }));
      children.push(make("s.text", { x: WIDTH - RIGHT + 6, y: floor - 4 }, Number(now.high[r].toFixed(2))));
      row.forEach((s, k) => {
        const wide = (s.end - s.start) * scale, block = make("s.g", {
          class: "pass", tabindex: focus ? (focus[0] === r && focus[1] === k ? 0 : -1) : (r || k ? -1 : 0), role: "button",
          "data-rank": r, "data-place": k, "aria-label": `rank ${r}, ${KINDS[s.kind]} of microbatch ${s.i}${s.chunk ? ", second chunk" : ""}`,
        });
        block.append(make("s.rect", { x: x(s.start) + 0.4, y: top, width: Math.max(wide - 0.8, 0.8), height: BLOCK, class: look[s.kind], "fill-opacity": s.chunk ? 0.55 : 1 }));
        if (wide > 9) block.append(make("s.text", { x: x((s.start + s.end) / 2), y: top + 16, "text-anchor": "middle", class: s.chunk ? "" : "light" }, s.i));
        children.push(block);
      });
    });
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${now.spans.length * ROW + 6}`);
    svg.replaceChildren(...children);
    const lines = tell(now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((line) => make("p", {}, line)), make("p", { class: "refused" }, said));
    Object.assign(readout.dataset, { time: now.time, bubble: now.bubble, high: now.high.join(",") });
    if (focus && refocus) at(focus)?.focus();
  }
  let refocus = false;
  const at = ([r, k]) => svg.querySelector(`[data-rank="${r}"][data-place="${k}"]`);
  const place = (target) => {
    const block = target.closest?.(".pass");
    return block && [Number(block.dataset.rank), Number(block.dataset.place)];
  };

  svg.addEventListener("keydown", (event) => {
    const here = place(event.target), way = { ArrowLeft: -1, ArrowRight: 1 }[event.key], row = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!here || !(way || row)) return;
    event.preventDefault();
    refocus = true;
    if (event.shiftKey || row) {
      const rows = model.get("rows"), r = Math.min(Math.max(here[0] + (row ?? 0), 0), rows.length - 1);
      focus = [r, Math.min(Math.max(here[1] + (way ?? 0), 0), rows[r].length - 1)];
      redraw();
    } else step(...here, way);
    refocus = false;
  });
  svg.addEventListener("pointerdown", (event) => {
    const here = place(event.target);
    if (!here) return;
    event.preventDefault();
    focus = here;
    drag = { here, id: event.pointerId, from: event.clientX };
    svg.setPointerCapture(event.pointerId);
    at(here)?.classList.add("dragged");
  });
  svg.addEventListener("pointermove", (event) => {
    if (drag?.id !== event.pointerId) return;
    const box = svg.getBoundingClientRect();
    at(drag.here)?.setAttribute("transform", `translate(${(event.clientX - drag.from) * WIDTH / box.width} 0)`);
  });
  const drop = (event) => {
    if (drag?.id !== event.pointerId) return;
    const [r, k] = drag.here, box = svg.getBoundingClientRect(), by = (event.clientX - drag.from) * WIDTH / box.width;
    drag = null;
    const now = compute(state(model.get("rows"))), scale = (WIDTH - LEFT - RIGHT) / now.time, s = now.spans[r][k];
    const middle = (s.start + s.end) / 2 + by / scale;
    const to = now.spans[r].filter((other, j) => j !== k && (other.start + other.end) / 2 < middle).length;
    refocus = true;
    if (event.type === "pointerup" && to !== k) {
      const row = model.get("rows")[r], next = moved(row, k, to);
      focus = [r, to];
      said = "";
      next === row ? redraw() : put(r, next);
      if (said) focus = [r, k], redraw();
    } else redraw();
    refocus = false;
  };
  svg.addEventListener("pointerup", drop);
  svg.addEventListener("pointercancel", drop);
  again.addEventListener("click", () => {
    said = "";
    focus = null;
    model.set("rows", layout().rows);
    model.save_changes();
    redraw();
  });

  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), svg, again, readout, key);
  return follow(model, KEYS, () => {
    if (model.get("preset") !== last) {
      last = model.get("preset");
      said = "";
      focus = null;
      model.set("rows", layout().rows);
      model.save_changes();
    }
    parts.forEach((part) => part.pull());
    redraw();
  });
}

export default { render };
