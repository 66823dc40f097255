// Flows from the cards below a leaf, each on a cable that a hash picks, or packet by packet on all of them;
// `formula` holds hwlib.topology.shares in JavaScript.

const KEYS = ["cards", "cables", "each", "how", "draw"];
const STEPS = { each: [1, 2, 4, 8, 16] };
const WAYS = { hash: "a hash of addresses", spray: "spraying packets" };
const WIDTH = 440, TOP = 22, LOW = 140, BAR = 13, MOST = 6, PERIOD = 1200, SECONDS = 1.1;

const NARROW = "min-width: 0; max-width: 38rem"; // fits a phone without scrolling

/* Random numbers in [0, 1) that a seed fixes (mulberry32), so that a draw can be repeated. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/* Where the connections of one draw went: the load of each cable in cards' worth, and what the slowest card gets. */
export function compute({ cards, cables, each, how, draw }) {
  const next = random(1000 * draw + each), load = new Array(cables).fill(0), picked = [];
  for (let card = 0; card < cards; card++) {
    const mine = Array.from({ length: each }, () => how === "spray" ? card % cables : Math.floor(next() * cables));
    picked.push(mine);
    if (how === "spray") for (let cable = 0; cable < cables; cable++) load[cable] += 1 / cables;
    else for (const cable of mine) load[cable] += 1 / each;
  }
  const busiest = Math.max(...load);
  return { cards, cables, each, how, draw, picked, load, busiest, idle: load.filter((one) => !one).length, share: Math.min(1, 1 / busiest) };
}

const percent = (x) => `${Math.round(100 * x)} %`;

/* The sentences under the figure; `seen` holds the shares of the draws so far. */
export function tell({ cards, cables, each, how, idle, share, busiest }, seen) {
  if (how === "spray") return [
    `Every cable carries ${Number(busiest.toPrecision(3))} of a card: all ${cards} cards send at full rate, and packets arrive out of order.`, "",
  ];
  const flows = cards * each, expected = cables * formula.idle_cable_fraction(flows, cables);
  const mean = seen.reduce((sum, one) => sum + one, 0) / seen.length;
  return [
    `${count(flows)} connections: ${idle} of ${cables} cables idle (${Number(expected.toPrecision(3))} expected), ` +
      `and the busiest carries ${Number(busiest.toPrecision(3))} cards: whoever is on it gets ${percent(share)}.`,
    `Whoever waits for all waits for the slowest: ${percent(mean)} of the cards' rate, the mean of ${seen.length} draw${seen.length === 1 ? "" : "s"}.`,
  ];
}

/* Cards above, cables below as bars as long as their load; a dot travels the slower the fuller its cable is. */
function draw(svg, now) {
  const { cards, cables, picked, load } = now, parts = [];
  const still = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
  const at = (i, n) => WIDTH * (i + 0.5) / n, size = Math.min(12, 0.7 * WIDTH / Math.max(cards, cables));
  parts.push(make("s.text", { x: 0, y: 12 }, `${cards} cards`));
  const lines = [], dots = [];
  picked.forEach((mine, card) => {
    const worst = mine.reduce((most, cable) => load[cable] > load[most] ? cable : most, mine[0]);
    for (const cable of new Set(mine)) {
      const path = `M${at(card, cards)},${TOP + size}L${at(cable, cables)},${LOW}`, slow = load[cable] > 1 + 1e-9;
      lines.push(make("s.path", { d: path, fill: "none", stroke: slow ? "var(--memory)" : "var(--compute)", "stroke-opacity": slow ? 0.75 : 0.4 }));
      if (cable !== worst || still) continue;
      const dot = make("s.circle", { r: 2.5, class: slow ? "memory" : "compute" });
      dot.append(make("s.animateMotion", { path, dur: `${SECONDS * Math.max(load[cable], 1)}s`, repeatCount: "indefinite" }));
      dots.push(dot);
    }
  });
  parts.push(...lines);
  for (let card = 0; card < cards; card++) {
    parts.push(make("s.rect", { x: at(card, cards) - size / 2, y: TOP, width: size, height: size, class: "compute" }));
  }
  load.forEach((one, cable) => {
    const x = at(cable, cables) - size / 2, full = Math.min(one, MOST) * BAR;
    parts.push(make("s.rect", { x, y: LOW, width: size, height: BAR, class: one ? "box" : "empty" }));
    if (one) parts.push(make("s.rect", { x, y: LOW, width: size, height: full, class: one > 1 + 1e-9 ? "memory" : "compute" }));
  });
  parts.push(...dots);
  const low = LOW + MOST * BAR;
  parts.push(make("s.text", { x: 0, y: low + 8 }, `${cables} cables up; a longer bar is more than one card's worth`));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${low + 14}`);
  svg.replaceChildren(...parts);
}

/* A button that draws again and again; `stop` ends it. */
function player(again) {
  const el = make("button", { type: "button" }, "Play");
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    el.textContent = "Play";
  };
  el.addEventListener("click", () => {
    if (timer) return stop();
    el.textContent = "Pause";
    again();
    timer = setInterval(again, PERIOD);
  });
  return { el, stop };
}

function render({ model, el }) {
  const read = () => Object.fromEntries(KEYS.map((key) => [key, model.get(key)]));
  const again = () => {
    model.set("draw", model.get("draw") + 1);
    model.save_changes();
  };
  const parts = [
    chooser(model, "how", "picked by", () => Object.entries(WAYS)),
    slider(model, "each", "connections a card", STEPS.each, count),
  ];
  const once = make("button", { type: "button" }, "Hash again"), play = player(again);
  once.addEventListener("click", again);
  const svg = make("s.svg", { role: "img", style: NARROW });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), once, " ", play.el, svg, readout);

  let setting = "", seen = [];
  const unfollow = follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute(read()), same = JSON.stringify([now.cards, now.cables, now.each, now.how]);
    seen = same === setting ? [...seen, now.share] : [now.share];
    setting = same;
    const lines = tell(now, seen);
    draw(svg, now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["idle", "busiest", "draw"]) readout.dataset[key] = now[key];
  });
  return () => {
    play.stop();
    unfollow();
  };
}

export default { render };
