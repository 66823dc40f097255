// The traces of a job: ranks over time, what of their communication is exposed, and who waited for whom.

const KEYS = ["job", "zoom", "place", "arrows"];
const [COMPUTE, COMMUNICATION, COPY, HOST] = [0, 1, 2, 3];
const ZOOMS = [1, 2, 4, 8, 16, 32], PLACES = Array.from({ length: 101 }, (_, i) => 10 * i);
const WIDTH = across(640), LEFT = 46, RIGHT = 8, TOP = 22, ROW = 36, LANE = 12;
const LEAST_ARROW = 0.004, MOST_ARROWS = 40; // of the window, and how many are drawn

/* Sorted intervals that do not touch. */
export function union(intervals) {
  const found = [];
  for (const [start, end] of [...intervals].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (end <= start) continue;
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

/* What is in the first and not in the second. */
export function minus(some, others) {
  const found = [], away = union(others);
  for (let [start, end] of union(some)) {
    for (const [from, to] of away) {
      if (to <= start || from >= end) continue;
      if (from > start) found.push([start, from]);
      start = Math.max(start, to);
    }
    if (start < end) found.push([start, end]);
  }
  return found;
}

export const length = (intervals) => union(intervals).reduce((sum, [start, end]) => sum + end - start, 0);

const times = (events, kind) => events.filter((e) => e[0] === kind).map((e) => [e[1], e[2]]);

/* The collectives that two ranks or more have, by group and number: when each rank arrived. */
export function meetings({ ranks }) {
  const found = new Map();
  for (const { rank, events } of ranks)
    for (const [kind, start, end, name, group, number] of events)
      if (kind === COMMUNICATION) {
        const key = `${group} ${number}`;
        if (!found.has(key)) found.set(key, { name, arrivals: [], end: 0 });
        const one = found.get(key);
        one.arrivals.push([rank, start]);
        one.end = Math.max(one.end, end);
      }
  return [...found.values()].filter((one) => one.arrivals.length > 1).map((one) => {
    const [last, until] = one.arrivals.reduce((late, each) => (each[1] > late[1] ? each : late));
    return { ...one, last, until };
  });
}

/* Every number that the figure shows, in us: per rank, and the exposed waits by pair, longest first. */
export function compute(state) {
  const job = state.jobs[state.job], met = meetings(job), busy = new Map();
  const rows = job.ranks.map(({ rank, events }) => {
    const kernels = times(events, COMPUTE), sent = times(events, COMMUNICATION), copied = times(events, COPY);
    busy.set(rank, kernels);
    const open = minus(sent, kernels);
    return { rank, open, compute: length(kernels), communication: length(sent), exposed: length(open), idle: job.end - length([...kernels, ...sent, ...copied]) };
  });
  const pairs = new Map();
  for (const one of met)
    for (const [rank, start] of one.arrivals)
      if (start < one.until) {
        const key = `${rank} ${one.last}`;
        pairs.set(key, [...(pairs.get(key) ?? []), [start, one.until]]);
      }
  const waits = [...pairs].map(([key, list]) => {
    const [who, whom] = key.split(" ").map(Number);
    return { who, whom, time: length(minus(list, busy.get(who))) };
  }).filter((one) => one.time > 0).sort((a, b) => b.time - a.time);
  return { job, met, rows, waits, step: job.end };
}

/* 1, 2 or 5 times a power of ten, at least x. */
const nice = (x) => {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 2, 5, 10].find((one) => one * power >= x * 0.999);
};

const ms = (us) => show(us * 1e-6, "s");

/* The sentences under the figure. */
export function tell({ rows, waits, step }) {
  const by = (key) => [...rows].sort((a, b) => a[key] - b[key]);
  const open = by("exposed"), math = by("compute"), idle = by("idle");
  const lines = [`A step of ${ms(step)}. Exposed communication: ${ms(open[0].exposed)} on rank ${open[0].rank} to ${ms(open.at(-1).exposed)} on rank ${open.at(-1).rank}.`];
  lines.push(`Kernels: ${ms(math[0].compute)} on rank ${math[0].rank} to ${ms(math.at(-1).compute)} on rank ${math.at(-1).rank}. Idle: at most ${ms(idle.at(-1).idle)}, on rank ${idle.at(-1).rank}.`);
  if (waits.length) lines.push(`The longest exposed wait: rank ${waits[0].who} waits ${ms(waits[0].time)} for rank ${waits[0].whom}.`);
  return lines;
}

function draw(svg, { zoom, place, arrows }, { job, met, rows, step }) {
  const wide = WIDTH - LEFT - RIGHT, span = step / zoom, from = (step - span) * place / 1000, to = from + span;
  const X = (t) => LEFT + wide * (Math.min(Math.max(t, from), to) - from) / span;
  const low = TOP + ROW * rows.length, Y = new Map(rows.map(({ rank }, i) => [rank, TOP + ROW * i]));
  const inside = (start, end) => end > from && start < to;
  const shapes = [];
  const tick = nice(span / 5);
  shapes.push(make("s.text", { x: 0, y: TOP - 9, class: "muted" }, "ms"));
  for (let k = Math.ceil(from / tick - 1e-9); k * tick <= to; k++) {
    const x = X(k * tick);
    shapes.push(make("s.polyline", { points: `${x},${TOP - 4} ${x},${low}`, class: "grid" }));
    shapes.push(make("s.text", { x, y: TOP - 9, "text-anchor": x > WIDTH - RIGHT - 16 ? "end" : "middle" }, String(Number((k * tick / 1e3).toPrecision(6)))));
  }
  rows.forEach(({ rank, open }, i) => {
    const y = Y.get(rank);
    shapes.push(make("s.text", { x: 0, y: y + 17 }, `rank ${rank}`));
    for (const [kind, start, end, name, group, number] of job.ranks[i].events) {
      if (!inside(start, end)) continue;
      const look = { [COMPUTE]: "compute", [COMMUNICATION]: "third", [COPY]: "path", [HOST]: "empty" }[kind];
      const about = kind === COMMUNICATION ? `${job.words[name]} ${number} of ${job.words[group]}` : job.words[name];
      const box = { x: X(start), y: y + (kind === COMMUNICATION ? LANE + 2 : 0), width: Math.max(X(end) - X(start) - 0.4, 0.3), height: LANE, class: look };
      shapes.push(make("s.rect", box, make("s.title", {}, `rank ${rank}, ${about}: ${ms(end - start)} from ${ms(start)}`)));
    }
    for (const [start, end] of open) if (inside(start, end)) shapes.push(make("s.rect", { x: X(start), y: y + 2 * LANE + 3, width: Math.max(X(end) - X(start), 0.3), height: 4, class: "memory open" }));
  });
  if (arrows === "yes") {
    const calls = met.flatMap((one) => one.arrivals.map(([rank, start]) => ({ ...one, rank, start }))).filter((one) => one.rank !== one.last && one.until > from && one.until <= to && one.until - one.start > LEAST_ARROW * span);
    calls.sort((a, b) => b.until - b.start - (a.until - a.start));
    for (const { rank, start, last, until } of calls.slice(0, MOST_ARROWS)) {
      const x = X(until), y = Y.get(rank) + LANE * 1.5 + 2, end = Y.get(last) + LANE * 1.5 + 2, down = end > y ? 1 : -1;
      const arrow = make("s.g", { class: "wait" }, make("s.title", {}, `rank ${rank} waits ${ms(until - start)} for rank ${last}`));
      arrow.append(make("s.polyline", { points: `${X(start)},${y} ${x},${y} ${x},${end - 4 * down}`, "stroke-width": 1.2, "stroke-opacity": 0.75 }));
      arrow.append(make("s.path", { d: `M${x},${end} l-3,${-6 * down} l6,0 Z`, class: "seen" }));
      shapes.push(arrow);
    }
  }
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${low + 4}`);
  svg.replaceChildren(...shapes);
}

function render({ model, el }) {
  const jobs = model.get("jobs");
  const controls = [
    chooser(model, "job", "job", () => Object.keys(jobs).map((name) => [name, name])),
    chooser(model, "arrows", "arrows of waits", () => [["yes", "shown"], ["no", "hidden"]]),
    slider(model, "zoom", "zoom", ZOOMS, (times) => `${times} x`),
    slider(model, "place", "window", PLACES, (place) => `${Math.round(place / 10)} %`),
  ];
  const svg = make("s.svg", { role: "img" });
  const key = make("p", { class: "gpubook-key" }, "above: kernels (blue), waiting for data (faint); below: collectives (green), waits included; underlined: communication that nothing hides; arrows: from a rank that waits to the one that it waits for");
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...controls.map((part) => part.el)), svg, key, readout);
  return follow(model, KEYS, () => {
    controls.forEach((part) => part.pull());
    const state = { jobs, ...Object.fromEntries(KEYS.map((name) => [name, model.get(name)])) };
    controls[3].el.querySelector("input").disabled = state.zoom === 1;
    const now = compute(state), lines = tell(now);
    draw(svg, state, now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    Object.assign(readout.dataset, { step: now.step, exposed: Math.max(...now.rows.map((row) => row.exposed)), wait: now.waits[0]?.time ?? 0, whom: now.waits[0]?.whom ?? -1 });
  });
}

export default { render };
