// Plans of one task as a cloud of time against memory, with the published runs of the same task. The points come with
// the figure: nothing is timed here.

const KEYS = ["cloud", "colour", "chosen"];
const WIDTH = across(640), HEIGHT = 400, LEFT = 54, RIGHT = 12, TOP = 22, BOTTOM = 44, BAR = 62;
const COLOURS = ["#56b4e9", "#2f83c9", "#009e73", "#b8860b", "#d55e00", "#a5508a", "#8d6e63"];
const NEAR = 22; // units of the drawing within which a pointer means a point
const PARTS = [ // colours of the parts of a step, in their order
  "#2f83c9", "#56b4e9", "#d55e00", "#e69f00", "#cc79a7", "#b8860b", "#8a8a8a", "#a5508a", "#009e73", "#666666", "#444444",
];

const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;
const gigabytes = (x) => `${Number(x.toPrecision(3))} GB`;
const seconds = (x) => `${x < 100 ? Number(x.toPrecision(3)) : x.toFixed(1)} s`;

const made = new WeakMap();

/* All points of a cloud, plans first: what is drawn where, and whether it is a published run. */
export function points(cloud) {
  if (made.has(cloud)) return made.get(cloud);
  const named = (names, values) => Object.fromEntries(names.map((name, k) => [name, values[k]]).filter(([, v]) => v !== 0));
  const plan = ([time, memory, degrees, words, terms]) =>
    ({ time, memory, degrees: { zero: 0, ...named(cloud.degrees, degrees) }, words, terms: named(cloud.terms, terms), at: time });
  const run = (row) => ({ ...plan(row), at: row[5], measured: row[5], name: row[6], modelled: row[7], run: true });
  const all = [...cloud.plans.map(plan), ...cloud.runs.map(run)];
  made.set(cloud, all);
  return all;
}

/* The degrees of a kind that plans of the cloud have, in order. */
export const kinds = (cloud, colour) =>
  [...new Set(points(cloud).map(({ degrees }) => degrees[colour]))].sort((a, b) => a - b);

/* Where memory and time are drawn. */
export function scales(cloud) {
  const all = points(cloud), best = cloud.plans[0][0];
  const most = Math.max(cloud.room, ...all.map((p) => p.memory)) * 1.04, least = 0.8 * Math.min(...all.map((p) => p.memory));
  const low = Math.min(best, ...all.map((p) => p.at)) * 0.94, high = Math.max(...all.map((p) => p.at)) * 1.02;
  const x = (memory) => LEFT + ((memory - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  const y = (time) => HEIGHT - BOTTOM - ((time - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  return { x, y, least, most, low, high };
}

/* Round numbers from low to high, about so many. */
export function ticks(low, high, about) {
  const raw = (high - low) / about, size = 10 ** Math.floor(Math.log10(raw));
  const step = size * [1, 2, 5, 10].find((m) => m * size >= raw), found = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) found.push(Number(v.toPrecision(6)));
  return found;
}

/* The sentences about a point. */
export function tell(cloud, point) {
  const best = cloud.plans[0][0], over = point.time / best - 1;
  const parts = Object.entries(point.terms).sort((a, b) => b[1] - a[1]).slice(0, 4)
    .map(([name, t]) => `${cloud.parts[name][0]} ${seconds(t)} (${percent(t / point.time)})`);
  const close = over <= cloud.error ? "too close to the quickest to call" : `${percent(over)} more than the quickest`;
  const holds = `${gigabytes(point.memory)} of ${gigabytes(cloud.room)}`;
  const lines = [`${point.run ? `Published (${point.name}): ` : ""}${point.words}.`];
  if (point.run) {
    const error = point.time / point.measured - 1;
    const off = `${error < 0 ? "−" : "+"}${percent(Math.abs(error))}`;
    lines.push(`Measured ${seconds(point.measured)} a step; the model says ${seconds(point.time)} (${off}). ${holds}${point.modelled ? " by the model, no memory was printed" : ", as printed"}.`);
  } else lines.push(`${seconds(point.time)} a step, ${over ? close : "the quickest"}; ${holds}.`);
  return [...lines, `By the model: ${parts.join(", ")}.`];
}

/* The number of the point that an arrow leads to from `from`: the next one in time, or in memory, of those in sight. */
export function step(all, from, key, seen) {
  const by = { ArrowUp: ["at", 1], ArrowDown: ["at", -1], ArrowRight: ["memory", 1], ArrowLeft: ["memory", -1] }[key];
  if (!by) return from;
  const [name, side] = by, here = all[from][name];
  const ahead = all.map((p, n) => [side * (p[name] - here), n])
    .filter(([far, n]) => n !== from && seen(all[n]) && (far > 0 || (far === 0 && side * (n - from) > 0)));
  return ahead.reduce((best, one) => (one[0] < best[0] || (one[0] === best[0] && side * (one[1] - best[1]) < 0) ? one : best), [Infinity, from])[1];
}

/* A star around a place, as the points of a polygon. */
const star = (x, y, r) => Array.from({ length: 10 }, (_, k) => {
  const far = k % 2 ? 0.45 * r : r, angle = (Math.PI * k) / 5 - Math.PI / 2;
  return `${(x + far * Math.cos(angle)).toFixed(1)},${(y + far * Math.sin(angle)).toFixed(1)}`;
}).join(" ");

function draw(svg, cloud, colour, shade, seen) {
  const { x, y, least, most, low, high } = scales(cloud), parts = [], best = cloud.plans[0][0];
  const text = (px, py, say, anchor = "middle", look = "") =>
    parts.push(make("s.text", { x: px, y: py, "text-anchor": anchor, class: look }, say));
  const line = (x1, y1, x2, y2, look) => parts.push(make("s.polyline", { points: `${x1},${y1} ${x2},${y2}`, class: look }));
  for (const v of ticks(least, most, WIDTH < 500 ? 4 : 6)) {
    line(x(v), TOP, x(v), HEIGHT - BOTTOM, "grid");
    text(x(v), HEIGHT - BOTTOM + 16, v);
  }
  for (const v of ticks(low, high, 6)) {
    line(LEFT, y(v), WIDTH - RIGHT, y(v), "grid");
    text(LEFT - 6, y(v) + 4, v, "end");
  }
  text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "memory of the fullest GPU [GB]");
  text(4, 12, "time of a step [s]", "start", "muted");
  const top = y(best * (1 + cloud.error));
  parts.push(make("s.rect", { x: LEFT, y: top, width: WIDTH - LEFT - RIGHT, height: y(best) - top, class: "band" }));
  text(LEFT + 4, y(best) + 14, `within ${percent(cloud.error)}: too close to call`, "start", "muted");
  line(x(cloud.room), TOP, x(cloud.room), HEIGHT - BOTTOM, "ridge");
  text(x(cloud.room) - 4, TOP + 10, `${gigabytes(cloud.room)} of a GPU`, "end", "muted");
  parts.push(make("s.polyline", { points: cloud.front.map((n) => `${x(cloud.plans[n][1])},${y(cloud.plans[n][0])}`).join(" "), class: "front" }));
  for (const p of points(cloud)) {
    if (p.run) continue;
    const look = { cx: x(p.memory).toFixed(1), cy: y(p.time).toFixed(1), r: 3.4, fill: shade(p.degrees[colour]) };
    parts.push(make("s.circle", { ...look, class: seen(p) ? "plan" : "plan faint" }));
  }
  for (const p of points(cloud)) {
    if (!p.run) continue;
    line(x(p.memory), y(p.measured), x(p.memory), y(p.time), "measured");
    const look = { points: star(x(p.memory), y(p.measured), 8.5), fill: shade(p.degrees[colour]) };
    parts.push(make("s.polygon", { ...look, class: seen(p) ? "star" : "star faint" }));
  }
  parts.push(make("s.circle", { r: 9, class: "marked" }), make("s.g", { class: "terms" }));
  svg.replaceChildren(...parts);
}

/* Where the time of a point goes, as a bar as long as its time. */
function bar(group, cloud, point) {
  const longest = Math.max(...points(cloud).map((p) => p.time)), scale = (WIDTH - LEFT - RIGHT) / longest;
  let at = LEFT;
  const parts = [make("s.text", { x: LEFT - 6, y: HEIGHT + 31, "text-anchor": "end", class: "muted" }, seconds(point.time))];
  for (const [name, t] of Object.entries(point.terms)) {
    const [word, place] = cloud.parts[name], fill = PARTS[place], width = t * scale;
    const box = make("s.rect", { x: at, y: HEIGHT + 14, width, height: 26, fill }, make("s.title", {}, `${word}: ${seconds(t)}`));
    parts.push(box);
    if (width > 7.4 * word.length) parts.push(make("s.text", { x: at + width / 2, y: HEIGHT + 31, "text-anchor": "middle", class: "light" }, word));
    at += width;
  }
  group.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key), clouds = read("clouds"), colours = read("colours");
  const put = (changes) => {
    for (const [key, value] of Object.entries(changes)) model.set(key, value);
    model.save_changes();
  };
  const parts = [
    chooser(model, "cloud", "task", () => Object.entries(clouds).map(([key, { name }]) => [key, name])),
    chooser(model, "colour", "colour", () => Object.entries(colours).map(([key, [words]]) => [key, words])),
  ];
  const svg = make("s.svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + BAR}`, role: "img", tabindex: 0, class: "plans" });
  const legend = make("p", { class: "gpubook-key legend" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  const go = (label, find) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => put({ chosen: find(points(clouds[read("cloud")]), read("chosen")) }));
    return button;
  };
  const least = (all) => all.reduce((best, p, n) => (!p.run && p.memory < all[best].memory ? n : best), 0);
  const next = (all, from) => {
    const runs = all.flatMap((p, n) => (p.run ? [n] : []));
    return runs.find((n) => n > from) ?? runs[0] ?? from;
  };
  const buttons = make("p", { class: "jumps" }, go("quickest", () => 0), " ", go("least memory", least), " ", go("next published run", next));
  frame(el, make("div", { class: "gpubook-controls gpubook-short" }, ...parts.map((part) => part.el)), legend, svg, buttons, readout);

  let only = null, hovered = null;
  const seen = (p) => only === null || p.degrees[read("colour")] === only;
  const point = () => {
    const all = points(clouds[read("cloud")]), n = hovered ?? read("chosen");
    return all[n] ?? all[0];
  };
  const mark = () => {
    const cloud = clouds[read("cloud")], { x, y } = scales(cloud), p = point(), ring = svg.querySelector(".marked");
    ring.setAttribute("cx", x(p.memory));
    ring.setAttribute("cy", y(p.at));
    bar(svg.querySelector(".terms"), cloud, p);
    const lines = tell(cloud, p);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    Object.assign(readout.dataset, { seconds: p.at, memory: p.memory, run: p.name ?? "" });
    svg.setAttribute("aria-label", `${cloud.plans.length} of ${cloud.fitting} plans that fit, time against memory. ${lines.join(" ")}`);
  };
  const redraw = () => {
    const cloud = clouds[read("cloud")], colour = read("colour"), found = kinds(cloud, colour);
    const shade = (degree) => COLOURS[found.indexOf(degree) % COLOURS.length];
    draw(svg, cloud, colour, shade, seen);
    legend.replaceChildren(`${colours[colour][1]} `, ...found.map((degree) => {
      const button = make("button", { type: "button", "aria-pressed": String(only === degree), "data-degree": degree }, make("span", { class: "dot", style: `background: ${shade(degree)}` }), degree);
      button.addEventListener("click", () => { only = only === degree ? null : degree; redraw(); });
      return button;
    }), make("span", { class: "say" }, ` ★ published; ${count(cloud.close)} of ${count(cloud.fitting)} plans are too close to call`));
    mark();
  };
  const under = (event) => {
    const box = svg.getBoundingClientRect(), { x, y } = scales(clouds[read("cloud")]);
    const [px, py] = [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * (HEIGHT + BAR)];
    const all = points(clouds[read("cloud")]);
    const far = (p) => Math.hypot(x(p.memory) - px, y(p.at) - py) - (p.run ? 4 : 0); // a star is larger
    const best = all.reduce((found, p, n) => (seen(p) && far(p) < far(all[found] ?? { memory: 1e9, at: 1e9 }) ? n : found), -1);
    return best >= 0 && far(all[best]) < NEAR ? best : null;
  };
  svg.addEventListener("pointermove", (event) => {
    const found = event.pointerType === "touch" ? null : under(event);
    if (found !== hovered) { hovered = found; mark(); }
  });
  svg.addEventListener("pointerleave", () => { if (hovered !== null) { hovered = null; mark(); } });
  svg.addEventListener("click", (event) => {
    const found = under(event);
    if (found !== null) { hovered = null; put({ chosen: found }); }
  });
  svg.addEventListener("keydown", (event) => {
    const all = points(clouds[read("cloud")]);
    const to = event.key === "Home" ? 0 : event.key === "End" ? least(all) : step(all, read("chosen"), event.key, seen);
    if (!["Home", "End", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    hovered = null;
    put({ chosen: to });
  });
  const stops = [
    follow(model, ["cloud", "colour"], () => {
      parts.forEach((part) => part.pull());
      only = hovered = null;
      if (read("chosen") >= points(clouds[read("cloud")]).length) model.set("chosen", 0);
      redraw();
    }),
    follow(model, ["chosen"], mark),
  ];
  return () => stops.forEach((stop) => stop());
}

export default { render };
