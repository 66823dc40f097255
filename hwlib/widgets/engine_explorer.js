// A serving engine, played step by step as hwlib.engine does: a row for each request, and the measures of the whole run.

const KEYS = ["policy", "budget", "rate", "share", "long", "price", "row"];
const BUDGETS = Array.from({ length: 9 }, (_, k) => 2 ** (6 + k));
const RATES = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8];
const SHARES = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];
const LONGS = [1000, 2000, 4000, 8000, 16000];
const PRICES = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
const SPARE = 0.01; // of the cache, that a request leaves free where it begins beside others
const WIDTH = across(680), LEFT = 30, RIGHT = 12, ROW = 13, TOP = 6, ROWS = 20, SECONDS = 8;

/* The requests of a load: the same draws at every rate and share. */
export function requests({ gaps, draws, outputs, rate, share, long, short }) {
  let at = 0;
  return gaps.map((gap, i) => ({ arrival: (at += gap / rate), prompt: draws[i] < share ? long : short, output: outputs[i] }));
}

const generating = (run) => run.filter((job) => !left(job));
const left = (job) => job.target - job.read;

/* What goes into the next step: [job, tokens] for each. */
export const POLICIES = {
  "prefill first": (wait, run, budget) => {
    const plan = [];
    for (const job of [...run.filter(left), ...wait]) {
      if (plan.length && left(job) > budget) break;
      plan.push([job, left(job) || 1]);
      budget -= left(job);
    }
    return plan.length ? plan : run.map((job) => [job, 1]);
  },
  "decode first": (wait, run) => (run.length ? run.map((job) => [job, 1]) : wait.map((job) => [job, left(job) || 1])),
  chunked: (wait, run, budget) => {
    const plan = generating(run).slice(0, budget).map((job) => [job, 1]);
    budget -= plan.length;
    for (const job of [...run.filter(left), ...wait]) {
      if (budget < 1) break;
      plan.push([job, Math.min(left(job) || 1, budget)]);
      budget -= left(job) || 1;
    }
    return plan;
  },
};

/* Seconds of a step. */
const seconds = (cost, tokens, cached, pairs) =>
  cost.fixed + Math.max(cost.weights, cost.token * tokens) + cost.sent * tokens + cost.cached * cached + cost.pair * pairs;

/* Plays the requests until the last has its tokens: jobs with `times` and `chunks`, and the steps. */
export function play(asked, { cost, policy, budget, seats, room }) {
  const jobs = asked.map((one) => ({ ...one, target: one.prompt, read: 0, held: 0, again: 0, times: [], starts: [], chunks: [] }));
  const coming = [...jobs].sort((a, b) => a.arrival - b.arrival), steps = [];
  let waiting = [], running = [], now = 0, used = 0, next = 0;
  while (next < coming.length || waiting.length || running.length) {
    while (next < coming.length && coming[next].arrival <= now) waiting.push(coming[next++]);
    if (!running.length && !waiting.length) {
      now = coming[next].arrival;
      continue;
    }
    while (used + generating(running).length > room) {
      const job = running.pop();
      used -= job.held;
      Object.assign(job, { target: job.prompt + job.times.length, read: 0, held: 0, again: job.again + 1 });
      waiting.unshift(job);
    }
    const offered = [];
    let free = room - used - (running.length ? SPARE * room : 0);
    for (const job of waiting) {
      free -= job.target + 1;
      if (offered.length === seats - running.length || free < 0) break;
      offered.push(job);
    }
    const plan = POLICIES[policy](offered, running, budget);
    for (const [job] of plan) {
      if (job.held) continue;
      waiting.splice(waiting.indexOf(job), 1);
      job.begins = true;
    }
    for (const job of offered) {
      if (!job.begins) continue;
      job.begins = false;
      job.held = job.target;
      used += job.held;
      running.push(job);
    }
    let tokens = 0, cached = 0, pairs = 0, read = 0, decoding = 0;
    for (const [job, part] of plan) {
      tokens += part;
      if (left(job)) {
        read += part;
        cached += job.read;
        pairs += part * (job.read + part / 2);
      } else {
        decoding += 1;
        cached += job.held + 1;
      }
    }
    const end = now + seconds(cost, tokens, cached, pairs);
    steps.push({ start: now, end, read, decoding });
    for (const [job, part] of plan) {
      if (left(job)) {
        job.chunks.push({ start: now, end, tokens: part });
        job.read += part;
        if (left(job)) continue;
        job.starts.push(null);
      } else {
        job.held += 1;
        used += 1;
        job.starts.push(now);
      }
      job.times.push(end);
      if (job.times.length === job.output) used -= job.held;
    }
    running = running.filter((job) => job.times.length < job.output);
    now = end;
  }
  return { jobs, steps };
}

/* The least value that at least a share q of all values do not exceed. */
export function quantile(values, q) {
  const ordered = Float64Array.from(values).sort();
  return ordered[Math.max(0, Math.ceil(q * ordered.length - 1e-9) - 1)] ?? 0;
}

/* The run and every number that the figure shows. */
export function compute(state) {
  const { jobs, steps } = play(requests(state), state);
  const first = jobs.map((job) => job.times[0] - job.arrival), gaps = [];
  for (const { times } of jobs) for (let i = 1; i < times.length; i++) gaps.push(times[i] - times[i - 1]);
  const start = Math.min(...jobs.map((job) => job.arrival)), end = Math.max(...jobs.map((job) => job.times.at(-1)));
  const duration = end - start, tokens = jobs.reduce((sum, job) => sum + job.times.length, 0);
  return {
    jobs, steps, duration, rate: tokens / duration,
    ttft: [0.5, 0.99].map((q) => quantile(first, q)), tbt: [0.5, 0.99].map((q) => quantile(gaps, q)), longest: quantile(gaps, 1),
    money: 1e6 * state.gpus * state.price / 3600 / (tokens / duration),
    again: jobs.reduce((sum, job) => sum + job.again, 0),
  };
}

/* The sentences under the figure. */
export function tell({ jobs, ttft, tbt, longest, rate, money, again }) {
  const lines = [
    `Time to first token: p50 ${show(ttft[0], "s")}, p99 ${show(ttft[1], "s")}. Time between tokens: p50 ${show(tbt[0], "s")}, p99 ${show(tbt[1], "s")}, longest ${show(longest, "s")}.`,
    `${count(Math.round(rate))} tokens/s over the whole run of ${count(jobs.length)} requests: ${money.toFixed(2)} dollars a million tokens.`,
  ];
  if (again) lines.push(`The cache was full: ${count(again)} times a request lost its place and was read again.`);
  return lines;
}

/* Steps of one request in which it got a token without reading, those that follow each other at once joined. */
export function spans({ times, starts }) {
  const joined = [];
  times.forEach((end, i) => {
    const start = starts[i];
    if (start === null) return;
    const last = joined.at(-1);
    if (last && start - last.end < 1e-9) last.end = end;
    else joined.push({ start, end });
  });
  return joined;
}

function draw(svg, { row }, now) {
  const rows = now.jobs.slice(row, row + ROWS), from = rows[0].arrival, to = from + SECONDS;
  const X = (t) => LEFT + (WIDTH - LEFT - RIGHT) * (Math.min(Math.max(t, from), to) - from) / SECONDS;
  const low = TOP + ROWS * ROW, shapes = [];
  const bar = (start, end, y, look, title, high = ROW - 3) => {
    if (end <= from || start >= to) return;
    shapes.push(make("s.rect", { x: X(start), y, width: Math.max(X(end) - X(start), 0.4), height: high, class: look }, make("s.title", {}, title)));
  };
  for (let t = 0; t <= SECONDS; t++) {
    shapes.push(make("s.polyline", { points: `${X(from + t)},${TOP} ${X(from + t)},${low}`, class: "grid" }));
    shapes.push(make("s.text", { x: X(from + t), y: low + 15, "text-anchor": "middle" }, t === SECONDS ? `${t} s` : t));
  }
  rows.forEach((job, i) => {
    const y = TOP + i * ROW, name = `request ${row + i}`;
    if (i % 5 === 0) shapes.push(make("s.text", { x: LEFT - 5, y: y + ROW - 3, "text-anchor": "end" }, row + i));
    bar(job.arrival, job.times.at(-1), y + ROW / 2 - 2, "empty", `${name}, ${count(job.prompt)} tokens of prompt: stalled`, 1.5);
    bar(job.arrival, job.chunks[0].start, y + 2, "path", `${name} is queued for ${show(job.chunks[0].start - job.arrival, "s")}`, ROW - 7);
    for (const part of job.chunks) bar(part.start, part.end, y, "compute", `${name}, prefill: ${count(part.tokens)} of ${count(job.prompt)} tokens, ${show(part.end - part.start, "s")}`);
    for (const part of spans(job)) bar(part.start, part.end, y, "memory", `${name} decodes`);
  });
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${low + 22}`);
  svg.replaceChildren(...shapes);
}

function render({ model, el }) {
  const fixed = ["cost", "gaps", "draws", "outputs", "short", "seats", "room", "gpus"];
  const given = Object.fromEntries(fixed.map((name) => [name, model.get(name)]));
  const last = given.gaps.length - ROWS;
  const controls = [
    chooser(model, "policy", "scheduler", () => [["prefill first", "prefill first"], ["decode first", "whole batches"], ["chunked", "chunked prefill"]]),
    slider(model, "budget", "token budget", BUDGETS, count),
    slider(model, "rate", "requests/s", RATES, String),
    slider(model, "share", "long prompts", SHARES, (x) => `${Math.round(100 * x)} %`),
    slider(model, "long", "their tokens", LONGS, count),
    slider(model, "price", "a GPU hour", PRICES, (x) => `${x.toFixed(2)} $`),
    slider(model, "row", "first row", Array.from({ length: Math.floor(last / 10) + 1 }, (_, i) => 10 * i), (i) => `no. ${i}`),
  ];
  const svg = make("s.svg", { role: "img" });
  const key = make("p", { class: "gpubook-key" }, "A row for each request, time to the right. Grey: queued; blue: prefill; orange: decode; thin line: stalled, while others have the step.");
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...controls.map((part) => part.el)), svg, key, readout);
  let played = "", now = null;
  return follow(model, KEYS, () => {
    controls.forEach((part) => part.pull());
    const state = { ...given, ...Object.fromEntries(KEYS.map((name) => [name, model.get(name)])) };
    const asked = JSON.stringify(KEYS.filter((name) => name !== "row").map((name) => state[name]));
    if (asked !== played) now = compute(state);
    played = asked;
    controls[1].el.querySelector("input").disabled = state.policy === "decode first";
    draw(svg, state, now);
    const lines = tell(now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((line) => make("p", {}, line)));
    Object.assign(readout.dataset, { ttft: now.ttft[1], tbt: now.tbt[1], longest: now.longest, money: now.money, rate: now.rate });
  });
}

export default { render };
