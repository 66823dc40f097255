// A ring of ranks that pass messages, and what breaks it: an order of calls, a turn left out, a slow link.

const KEYS = ["n", "collective", "calls", "skips", "slow"];
const NOBODY = -1, SKIPPED = 1; // the turn that `skips` leaves out: its second
const COLLECTIVES = [["all_gather", "all-gather"], ["reduce_scatter", "reduce-scatter"]];
const CALLS = [
  ["together", "calls both at once"],
  ["sends", "sends, then receives"],
  ["zero", "the same; rank 0 receives first"],
  ["odd", "the same; odd ranks receive first"],
];
const HUES = ["#2f83c9", "#3fa58c", "#9a7fd1", "#7ea43a", "#56b4e9", "#c77fb5", "#b39a3a", "#8295a3"];
const SECOND = 0.8; // of a reader's time for one message over a whole link
const SIDE = 420, MIDDLE = SIDE / 2, CUT = 26, RADIUS = 152, INNER = 98, BOX = [82, 50], SQUARE = 22;

const range = (n) => Array.from({ length: n }, (_, i) => i);
const modulo = (i, n) => ((i % n) + n) % n;

/* What a rank calls: groups of calls that it makes together and then waits for, one group after another. */
export function program(rank, { n, calls, skips }) {
  const receives = { zero: rank === 0, odd: rank % 2 === 1 }[calls] ?? false;
  const turns = range(n - 1).filter((turn) => rank !== skips || turn !== SKIPPED);
  return turns.flatMap((turn) => {
    const both = [{ kind: "send", turn }, { kind: "recv", turn }];
    if (calls === "together") return [both];
    return (receives ? both.reverse() : both).map((call) => [call]);
  });
}

/* The block that a rank sends in a turn, and the one that it then receives: as in hwlib.algorithms.ring. */
const blockOf = (rank, call, { n, collective }) =>
  modulo(rank - call.turn - (collective === "reduce_scatter") - (call.kind === "recv"), n);

/* Plays the ranks' programs. A send waits until its receive is posted; the message is then on its link, and both
 * calls return when it has arrived. Who cannot go on at the end is `stuck`, as the judge of the exercises says it. */
export function play(state) {
  const { n, S, alpha, W, slow, slowdown, collective } = state;
  const start = (rank, of) => (collective === "all_gather" && of !== rank ? null : { of, shares: [rank] });
  const ranks = range(n).map((rank) => ({
    rank, groups: program(rank, state), at: 0, now: 0, depth: 0, posted: null, sent: [], asked: [], steps: [],
    held: range(n).map((of) => start(rank, of)), history: [],
  }));
  const messages = new Map();

  function post(one) {
    one.posted = one.groups[one.at].map((call) => {
      const list = call.kind === "send" ? one.sent : one.asked, block = blockOf(one.rank, call, state);
      const value = call.kind === "send" ? one.held[block] : null;
      list.push({ time: one.now, depth: one.depth + 1, value, block });
      return { ...call, number: list.length - 1, peer: modulo(one.rank + (call.kind === "send" ? 1 : -1), n) };
    });
    one.steps.push({ from: one.now, to: null, calls: one.posted });
  }

  /* The message of a call, once both sides have posted it. */
  function message(one, call) {
    const src = call.kind === "send" ? one.rank : call.peer, dst = modulo(src + 1, n), key = `${src} ${call.number}`;
    const sent = ranks[src].sent[call.number], asked = ranks[dst].asked[call.number];
    if (!sent || !asked) return null;
    if (!messages.has(key)) {
      const from = Math.max(sent.time, asked.time);
      const to = from + alpha + S / n / (src === slow ? W / slowdown : W);
      messages.set(key, { src, dst, from, to, depth: sent.depth, value: sent.value, block: asked.block });
    }
    return messages.get(key);
  }

  function advance(one) {
    if (one.at === one.groups.length) return false;
    const first = !one.posted;
    if (first) post(one);
    const found = one.posted.map((call) => message(one, call));
    one.posted.forEach((call, i) => { call.begins = found[i]?.from; });
    if (found.includes(null)) return first;
    one.now = Math.max(...found.map((m) => m.to));
    one.posted.forEach((call, i) => {
      if (call.kind === "send") return;
      one.depth = Math.max(one.depth, found[i].depth);
      one.held[found[i].block] = received(one.held[found[i].block], found[i].value, collective);
      one.history.push({ time: found[i].to, block: found[i].block, value: one.held[found[i].block] });
    });
    one.steps.at(-1).to = one.now;
    one.at += 1;
    one.posted = null;
    return true;
  }

  for (let moved = true; moved; ) {
    moved = false;
    for (const one of ranks) while (advance(one)) moved = true;
  }
  const ended = (rank) => ranks[rank].at === ranks[rank].groups.length;
  const stuck = ranks.filter((one) => one.posted).map((one) => {
    const { kind, peer } = one.posted.find((call) => !message(one, call));
    return { rank: one.rank, kind, peer, ended: ended(peer), from: one.now };
  });
  const passed = [...messages.values()].sort((a, b) => a.from - b.from || a.src - b.src);
  const over = Math.max(0, ...passed.map((m) => m.to));
  const unit = alpha + S / n / W;
  return {
    messages: passed, stuck, reason: reasonOf(stuck), unit, over, end: over + (stuck.length ? 2 * unit : 0),
    rounds: Math.max(0, ...passed.map((m) => m.depth)), finish: ranks.map((one) => (one.posted ? null : one.now)),
    ranks: ranks.map(({ steps, history, groups, held }) => ({ steps, history, calls: groups.length, held })),
  };
}

/* A block after a message for it has come: the message, or in a sum both. */
function received(held, value, collective) {
  if (collective === "all_gather") return value;
  return { of: held.of, shares: [...held.shares, ...value.shares], mixed: held.mixed || value.mixed || held.of !== value.of };
}

/* The judge's reason: a partner that has ended, or a circle. */
function reasonOf(stuck) {
  const left = stuck.find((one) => one.ended);
  if (left) return left.kind === "send" ? "unreceived" : "unsent";
  if (!stuck.length) return "";
  return stuck.every((one) => one.kind === "send") ? "only-sends" : "deadlock";
}

const waiting = ({ rank, kind, peer, ended }) =>
  (kind === "send" ? `rank ${rank} waits in send for rank ${peer} to receive` : `rank ${rank} waits for a message from rank ${peer}`) +
  (ended ? ", which has ended" : "");

/* The sentence of the judge's verdict. */
export const verdict = (run) => (run.stuck.length ? `no rank can go on: ${run.stuck.map(waiting).join("; ")}` : "");

/* What there is to see at a time: messages on their way, what each rank holds, and who has waited for whom since when. */
export function look(run, time, state) {
  const flights = run.messages.filter((m) => m.from <= time && time < m.to);
  const arrived = run.messages.filter((m) => m.to <= time);
  const held = run.ranks.map(({ history }, rank) => {
    const now = range(state.n).map((of) => (state.collective === "all_gather" && of !== rank ? null : { of, shares: [rank] }));
    for (const { time: at, block, value } of history) if (at <= time) now[block] = value;
    return now;
  });
  const waits = run.ranks.flatMap(({ steps }, rank) => {
    const step = steps.find(({ from, to }) => from <= time && (to === null || time < to));
    const call = step?.calls.find(({ begins }) => begins === undefined || time < begins);
    if (!call) return [];
    const fate = run.stuck.find((one) => one.rank === rank && one.from === step.from);
    return [{ rank, kind: call.kind, peer: call.peer, from: step.from, ended: (fate?.ended && ended(run, call.peer, time)) ?? false }];
  });
  const rounds = Math.max(0, ...arrived.map((m) => m.depth));
  const sent = Math.max(...range(state.n).map((rank) => arrived.filter((m) => m.src === rank).length));
  return {
    flights, held, waits, rounds, messages: arrived.length, sentBytes: (sent * state.S) / state.n, bytes: (arrived.length * state.S) / state.n,
    stuck: Boolean(run.stuck.length) && time >= run.over, done: !run.stuck.length && time >= run.over,
    ended: range(state.n).filter((rank) => ended(run, rank, time)),
  };
}

const ended = (run, rank, time) => run.finish[rank] !== null && run.finish[rank] <= time;

/* A circle of ranks that wait for each other, or a wait for a rank that has ended. */
const nameOf = (run) => (["deadlock", "only-sends"].includes(run.reason) ? "Deadlock" : "Hang");

/* The sentences under the figure. */
export function tell(state, run, time) {
  const now = look(run, time, state), { n, S, alpha, W, slow, slowdown, skips, calls } = state, lines = [];
  const ideal = { all_gather: formula.ring_allgather_time, reduce_scatter: formula.ring_reduce_scatter_time }[state.collective](n, S, alpha, W);
  const progress = `${count(now.messages)} of ${count(n * (n - 1))} messages have arrived, ${show(now.sentBytes, "B")} from each rank at most, ${now.rounds} of ${n - 1} rounds are over`;
  if (now.stuck) lines.push(`${nameOf(run)}. ${sentence(verdict(run))}`);
  else if (now.done) lines.push(`Done in ${show(run.over, "s")}: ${count(now.messages)} messages, ${show(now.sentBytes, "B")} sent by each rank, ${now.rounds} rounds.`);
  else {
    lines.push(`${time > 0 ? `After ${show(time, "s")}` : "At the start"}: ${progress}.`);
    if (now.waits.length) lines.push(sentence(now.waits.map(waiting).join("; ")));
  }
  const longer = `${(run.over / ideal).toPrecision(2)} times as long as a ring that works`;
  if (slow !== NOBODY) {
    const part = { 2: "half", 4: "a quarter" }[slowdown] ?? `1/${slowdown}`;
    const link = `The link from rank ${slow} to rank ${(slow + 1) % n} has ${part} of the bandwidth`;
    lines.push(run.stuck.length || calls !== "together" ? `${link}.` : `${link}, and all wait for it: the whole ring takes ${longer}.`);
  }
  if (skips !== NOBODY) lines.push(`Rank ${skips} leaves out its second turn.`);
  if (calls === "sends") lines.push("A send returns when its receive is posted, and each rank would post one after its send.");
  if (["zero", "odd"].includes(calls) && !run.stuck.length) {
    lines.push(`The circle is open, but a link idles while its ranks wait for other links: the ring takes ${longer}.`);
  }
  if (calls === "together" && slow === NOBODY && skips === NOBODY) {
    lines.push(`All links are busy all the time, so it takes (n − 1)(α + S/(nW)) = ${show(ideal, "s")} for S = ${show(S, "B")}, α = ${show(alpha, "s")}, W = ${show(W, "B/s")}.`);
  }
  return lines;
}

const seconds = (time) => (time > 0 ? show(time, "s") : "0 s");
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// Drawing. Rank 0 is at the top; messages go clockwise.

const angleOf = (rank, n) => (2 * Math.PI * rank) / n - Math.PI / 2;
const place = (angle, radius) => [MIDDLE + radius * Math.cos(angle), MIDDLE + radius * Math.sin(angle)];
const points = (list) => list.map((at) => at.map((x) => x.toFixed(1)).join(",")).join(" ");

/* Where the ring leaves the box of a rank, on the way on (1) or back (-1). */
function edge(rank, n, way) {
  const at = angleOf(rank, n), [x, y] = place(at, RADIUS);
  const beyond = range(60).map((i) => at + (way * i) / 60).find((angle) => {
    const [u, v] = place(angle, RADIUS);
    return Math.abs(u - x) > BOX[0] / 2 || Math.abs(v - y) > BOX[1] / 2;
  });
  return beyond + way * 0.02;
}

/* The link that leaves a rank: from box to box. */
function gap(rank, n) {
  const end = edge((rank + 1) % n, n, -1);
  return [edge(rank, n, 1), rank === n - 1 ? end + 2 * Math.PI : end];
}

function arc(from, to, radius, attributes) {
  const steps = Math.max(2, Math.ceil(Math.abs(to - from) / 0.08));
  return make("s.polyline", { points: points(range(steps + 1).map((i) => place(from + ((to - from) * i) / steps, radius))), ...attributes });
}

function drawn(state, run, time) {
  const { n, slow, skips, slowdown } = state, now = look(run, time, state), shapes = [];
  const between = (2 * Math.PI) / n;
  for (const rank of range(n)) {
    const [from, to] = gap(rank, n), look = rank === slow ? "link slow" : "link";
    const link = make("s.g", { class: look, "data-link": rank }, arc(from, to, RADIUS, { class: "touch" }), arc(from, to, RADIUS, { class: "wire" }));
    link.append(make("s.title", {}, `link from rank ${rank} to rank ${(rank + 1) % n}`));
    shapes.push(link);
    if (rank !== slow) continue;
    const [x, y] = place((from + to) / 2, RADIUS + 24);
    shapes.push(make("s.text", { x, y: y + 5, class: "stopped", "text-anchor": "middle" }, `1/${slowdown}`));
  }
  for (const { src, from, to, value } of now.flights) {
    const [begin, end] = gap(src, n), share = (time - from) / (to - from), half = SQUARE / 2 / RADIUS;
    const [x, y] = place(begin + half + (end - begin - 2 * half) * share, RADIUS);
    shapes.push(block(value, x - SQUARE / 2, y - SQUARE / 2, SQUARE, state), make("s.text", { x, y: y + 4.5, class: "number", "text-anchor": "middle" }, value ? value.of : "?"));
  }
  for (const { rank, peer, from } of now.waits) {
    const way = modulo(peer - rank, n) === 1 ? 1 : -1, grown = Math.min(1, (time - from) / run.unit);
    if (grown <= 0) continue;
    const begin = angleOf(rank, n) + 0.1 * way, tip = begin + way * grown * (between - 0.2), back = tip - way * Math.min(0.12, grown * between / 2);
    shapes.push(arc(begin, back, INNER, { class: "wait" }));
    shapes.push(make("s.polygon", { points: points([place(tip, INNER), place(back, INNER + 6.5), place(back, INNER - 6.5)]), class: "head" }));
  }
  const waits = new Set(now.waits.filter(({ from }) => time > from).map(({ rank }) => rank));
  for (const rank of range(n)) {
    const [x, y] = place(angleOf(rank, n), RADIUS), [wide, high] = BOX, side = Math.min(12, (wide - 12) / n);
    const looks = [now.ended.includes(rank) && "ended", waits.has(rank) && "waits", rank === skips && "skips"].filter(Boolean).join(" ");
    shapes.push(make("s.g", { class: `rank ${looks}`, "data-rank": rank },
      make("s.rect", { x: x - wide / 2, y: y - high / 2, width: wide, height: high, rx: 7, class: "gpu" }),
      make("s.text", { x, y: y - 5, "text-anchor": "middle" }, rank === skips ? `rank ${rank} skips` : `rank ${rank}`),
      ...now.held[rank].map((value, i) => block(value, x + (i - n / 2) * side + 0.5, y + 5, side - 1, state, i)),
      make("s.title", {}, `rank ${rank}`),
    ));
  }
  const big = now.stuck ? nameOf(run) : `${now.rounds} of ${n - 1}`;
  const lines = [[now.stuck ? "" : "rounds", -26, "muted"], [big, 4, now.stuck ? "big stopped" : "big"], [`${show(now.sentBytes, "B")} a rank`, 26, "muted"], [seconds(Math.min(time, run.over)), 44, "muted"]];
  for (const [text, dy, look] of lines) shapes.push(make("s.text", { x: MIDDLE, y: MIDDLE + dy, class: look, "text-anchor": "middle" }, text));
  return shapes;
}

/* A block: its hue says whose it is, its strength how many ranks have a share in it; a block that is not there is empty. */
function block(value, x, y, side, { n, collective }, slot) {
  const wrong = value && (value.mixed || (slot !== undefined && value.of !== slot));
  const rect = make("s.rect", { x, y, width: side, height: side, rx: side / 6, class: `block${wrong ? " wrong" : ""}` });
  if (value) rect.setAttribute("style", `fill: ${HUES[value.of]}; fill-opacity: ${collective === "all_gather" ? 1 : value.shares.length / n}`);
  return rect;
}

function render({ model, el }) {
  const fixed = Object.fromEntries(["S", "alpha", "W", "slowdown"].map((name) => [name, model.get(name)]));
  const stateOf = () => ({ ...fixed, ...Object.fromEntries(KEYS.map((key) => [key, model.get(key)])) });
  const still = typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
  const mended = { calls: "together", skips: NOBODY, slow: NOBODY };
  const presets = [
    ["All send first", { ...mended, calls: "sends" }],
    ["Rank 2 skips", { ...mended, skips: 2 }],
    ["One slow link", { ...mended, slow: 3 }],
    ["Mend it", mended],
  ];
  const ranks = () => range(model.get("n"));
  const controls = [
    chooser(model, "collective", "collective", () => COLLECTIVES),
    slider(model, "n", "ranks", [4, 5, 6, 7, 8], String),
    chooser(model, "calls", "every rank", () => CALLS),
    numbers(model, "skips", "skips a turn", () => [[NOBODY, "nobody"], ...ranks().map((k) => [k, `rank ${k}`])]),
    numbers(model, "slow", "slow link", () => [[NOBODY, "none"], ...ranks().map((k) => [k, `from rank ${k} to rank ${(k + 1) % model.get("n")}`])]),
  ];
  const svg = make("s.svg", { role: "img", class: "ring", viewBox: `0 ${CUT} ${SIDE} ${SIDE - 2 * CUT}` });
  const buttons = presets.map(([text, change]) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => { set(change); restart(); });
    return [button, change];
  });
  const playing = make("button", { type: "button", class: "play" }, "Play"), stepping = make("button", { type: "button" }, "Step");
  const scrub = make("input", { type: "range", min: 0, max: 200, step: 1, name: "time", "aria-label": "time" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "ring-breaker" },
    make("div", { class: "breaks", role: "group", "aria-label": "Break this ring" }, ...buttons.map(([button]) => button)),
    make("div", { class: "stage" }, svg, make("div", { class: "time" }, playing, stepping, scrub)),
    make("div", { class: "panel" }, readout, make("div", { class: "gpubook-controls" }, ...controls.map((part) => part.el))),
  ));
  let run = play(stateOf()), before = 0, timer = 0, shown = "";

  const set = (changes) => {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  };
  const time = () => Math.min(model.get("time"), run.end);
  const moments = () => [...new Set([0, ...run.messages.flatMap((m) => [m.from, m.to]), run.end])].sort((a, b) => a - b);
  const next = () => moments().find((at) => at > time() * (1 + 1e-9)) ?? run.end;

  function paint() {
    const state = stateOf(), now = look(run, time(), state);
    svg.replaceChildren(...drawn(state, run, time()));
    scrub.value = Math.round((200 * time()) / run.end);
    scrub.setAttribute("aria-valuetext", `${seconds(time())}, ${now.rounds} of ${state.n - 1} rounds`);
    playing.textContent = timer ? "Pause" : time() >= run.end ? "Play again" : "Play";
    for (const [button, change] of buttons) {
      button.setAttribute("aria-pressed", String(Object.entries(change).every(([key, value]) => model.get(key) === value)));
    }
    Object.assign(readout.dataset, {
      state: now.stuck ? nameOf(run).toLowerCase() : now.done ? "done" : "running", reason: run.reason,
      rounds: now.rounds, messages: now.messages, bytes: now.bytes, time: time(), takes: run.over,
    });
    say(state);
  }

  /* What the read-out says is spoken when the figure rests; while it plays, it changes when a message starts or is there. */
  function say(state) {
    const at = timer ? moments().findLast((moment) => moment <= time()) : time();
    const lines = tell(state, run, at), text = lines.join("\n");
    readout.setAttribute("aria-live", timer ? "off" : "polite");
    if (text === shown) return;
    shown = text;
    svg.setAttribute("aria-label", `A ring of ${state.n} ranks. ${lines[0]}`);
    readout.replaceChildren(...lines.map((line, i) => make("p", i ? {} : { class: "first" }, line)));
  }

  function move(at) {
    model.set("time", Math.max(0, Math.min(at, run.end)));
  }

  function frameOf(moment) {
    if (!timer) return;
    if (still) {
      if (moment - before >= 1000 * SECOND) {
        move(next());
        before = moment;
      }
    } else {
      move(time() + (Math.min(100, moment - before) / 1000 / SECOND) * run.unit);
      before = moment;
    }
    if (time() >= run.end || !el.isConnected) pause();
    else timer = requestAnimationFrame(frameOf);
  }

  function go() {
    if (timer) return;
    if (time() >= run.end) move(0);
    before = performance.now();
    timer = requestAnimationFrame(frameOf);
    paint();
  }

  function pause() {
    cancelAnimationFrame(timer);
    timer = 0;
    model.save_changes();
    paint();
  }

  function restart() {
    pause();
    move(0);
    go();
  }

  playing.addEventListener("click", () => (timer ? pause() : go()));
  stepping.addEventListener("click", () => {
    const at = time() >= run.end ? 0 : next();
    pause();
    move(at);
    model.save_changes();
  });
  scrub.addEventListener("input", () => {
    const at = (Number(scrub.value) * run.end) / 200;
    pause();
    move(at);
    model.save_changes();
  });
  svg.addEventListener("click", (event) => {
    const on = event.target.closest("[data-rank], [data-link]")?.dataset;
    if (!on) return;
    const [key, value] = on.rank === undefined ? ["slow", Number(on.link)] : ["skips", Number(on.rank)];
    set({ [key]: model.get(key) === value ? NOBODY : value });
    restart();
  });
  const stopTime = follow(model, ["time"], paint);
  const stop = follow(model, KEYS, () => {
    if (Math.max(model.get("skips"), model.get("slow")) >= model.get("n")) return set({ skips: NOBODY, slow: NOBODY });
    const share = time() / run.end;
    run = play(stateOf());
    move(share * run.end);
    controls.forEach((part) => part.pull());
    paint();
  });
  return () => {
    cancelAnimationFrame(timer);
    timer = 0;
    stopTime();
    stop();
  };
}

/* A list to choose a number from. */
function numbers(model, key, label, options) {
  return chooser({ get: (name) => String(model.get(name)), set: (name, value) => model.set(name, Number(value)), save_changes: () => model.save_changes() }, key, label, options);
}

export default { render };
