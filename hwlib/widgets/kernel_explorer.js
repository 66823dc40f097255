// What one program of a kernel loads and stores, in grids of the arrays' elements, after the programs before it.

const KEYS = ["run", "program"];
const WIDTH = across(640), GAP = 24, LINE = 3, CELL = 14, TOP = 20, PERIOD = 500;
const LOOKS = { load: "loaded", "load-along": "fetched along", store: "stored", "store-along": "written along", seen: "before" };
const RANK = { "": 0, seen: 1, "load-along": 2, "store-along": 3, load: 4, store: 5 };

/* Every element of the ranges [first, count, first, count, ...]. */
function each(ranges, touch) {
  for (let i = 0; i < ranges.length; i += 2) {
    for (let at = ranges[i]; at < ranges[i] + ranges[i + 1]; at++) touch(at);
  }
}

/* The sectors of an array in which these elements lie. */
function sectorsOf(ranges, bytes, sector) {
  const found = new Set();
  each(ranges, (at) => found.add(Math.floor(at * bytes / sector)));
  return found;
}

/* How each element looks and how often it was touched before, and the bytes of this program and of all up to it. */
export function compute({ runs, run, program, sector }) {
  const { arrays, programs } = runs[run];
  const now = Math.min(program, programs.length);
  const grids = arrays.map(({ size }) => ({ looks: new Array(size).fill(""), times: new Array(size).fill(0) }));
  const mine = [], total = { asked: 0, moved: 0 };
  programs.slice(0, now).forEach(({ requests }, k) => {
    for (const [array, stores, count, ranges] of requests) {
      const { looks, times } = grids[array], { name, bytes, size } = arrays[array];
      const sectors = sectorsOf(ranges, bytes, sector);
      total.asked += count * bytes;
      total.moved += sectors.size * sector;
      const look = (at, word) => { if (RANK[word] > RANK[looks[at]]) looks[at] = word; };
      if (k + 1 < now) {
        each(ranges, (at) => { times[at] += 1; look(at, "seen"); });
        continue;
      }
      mine.push({ name, stores, count, sectors: sectors.size });
      const word = stores ? "store" : "load", wide = sector / bytes;
      for (const one of sectors) {
        for (let at = one * wide; at < Math.min((one + 1) * wide, size); at++) look(at, `${word}-along`);
      }
      each(ranges, (at) => look(at, word));
    }
  });
  return { arrays, grids, mine, ...total, now, all: programs.length, at: programs[now - 1].at, wide: sector };
}

/* What one program did with an array, its requests added up. */
function summed(mine) {
  const found = new Map();
  for (const { name, stores, count, sectors } of mine) {
    const key = `${stores ? "stores" : "loads"} ${name}`, before = found.get(key) ?? { name, stores, count: 0, sectors: 0 };
    found.set(key, { ...before, count: before.count + count, sectors: before.sectors + sectors });
  }
  return [...found.values()];
}

/* The sentences under the figure. */
export function tell({ mine, asked, moved, now, all, at }) {
  const more = asked && moved !== asked ? `, ${Number((moved / asked).toPrecision(3))} times as many` : "";
  const parts = summed(mine).map(({ name, stores, count: n, sectors }) =>
    `${stores ? "stores" : "loads"} ${count(n)} element${n === 1 ? "" : "s"} of ${name} in ${count(sectors)} sector${sectors === 1 ? "" : "s"}`);
  return [
    `Program ${at}, ${now} of ${all}, ${parts.join(", ")}.`,
    `Up to here: ${count(asked)} B asked for, ${count(moved)} B moved in sectors${more}.`,
  ];
}

/* One grid at (x, y): neighbours in a row that look the same are one rectangle; a frame around every sector. */
function drawGrid({ name, shape, size, columns, bytes }, { looks, times }, x, y, cell, sector) {
  const most = Math.max(1, ...times), rows = Math.ceil(size / columns), parts = [];
  parts.push(make("s.text", { x, y: y - 6 }, `${name} [${shape.map(count).join(" × ")}]`));
  for (let row = 0; row < rows; row++) {
    for (let from = 0, to; from < columns; from = to) {
      const first = row * columns + from, look = looks[first] ?? "", often = times[first];
      for (to = from + 1; to < columns && (looks[first + to - from] ?? "") === look && times[first + to - from] === often;) to++;
      if (!look) continue;
      const box = { x: x + from * cell, y: y + row * cell, width: (to - from) * cell, height: cell, class: look };
      parts.push(make("s.rect", look === "seen" ? { ...box, "fill-opacity": 0.12 + 0.38 * (often / most) ** 2 } : box));
    }
  }
  const right = x + Math.min(columns, size) * cell, bottom = y + rows * cell, wide = sector / bytes;
  let lines = "";
  for (let row = 0; row <= rows; row++) lines += `M${x},${y + row * cell}H${right}`;
  for (let at = 0; at <= columns; at += columns % wide ? columns : wide) lines += `M${x + at * cell},${y}V${bottom}`;
  parts.push(make("s.path", { d: lines, class: "frame" }));
  return { parts, bottom };
}

/* All arrays, three in a line, and the legend. */
function draw(svg, { arrays, grids, wide }) {
  const parts = [], inLine = Math.min(LINE, arrays.length), room = (WIDTH - GAP * (inLine - 1)) / inLine;
  const cell = Math.min(CELL, ...arrays.map(({ columns }) => room / columns));
  let y = TOP, low = TOP;
  arrays.forEach((array, i) => {
    if (i && i % LINE === 0) y = low + TOP + 8;
    const one = drawGrid(array, grids[i], (i % LINE) * (room + GAP), y, cell, wide);
    parts.push(...one.parts);
    low = Math.max(low, one.bottom);
  });
  Object.entries(LOOKS).forEach(([look, word], i) => {
    const inRow = Math.floor(WIDTH / 128), x = (i % inRow) * WIDTH / inRow, y = low + 20 * Math.floor(i / inRow);
    const shade = look === "seen" ? { "fill-opacity": 0.3 } : {};
    parts.push(make("s.rect", { x, y: y + 12, width: 12, height: 12, class: look, ...shade }));
    parts.push(make("s.text", { x: x + 18, y: y + 22 }, word));
  });
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${Math.ceil(low + (WIDTH < 640 ? 50 : 30))}`);
  svg.replaceChildren(...parts);
}

/* A button that steps to the last program, half a second each; `stop` ends it. */
function player(model, last) {
  const el = make("button", { type: "button" }, "Play");
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    el.textContent = "Play";
  };
  const go = (program) => {
    model.set("program", program);
    model.save_changes();
  };
  el.addEventListener("click", () => {
    if (timer) return stop();
    if (model.get("program") >= last()) go(1);
    el.textContent = "Pause";
    timer = setInterval(() => {
      go(model.get("program") + 1);
      if (model.get("program") >= last()) stop();
    }, PERIOD);
  });
  return { el, stop };
}

function render({ model, el }) {
  const runs = model.get("runs"), labels = Object.keys(runs);
  const lengths = labels.map((label) => runs[label].programs.length);
  const counted = Array.from({ length: Math.max(...lengths) }, (_, i) => i + 1);
  const parts = [slider(model, "program", "program", counted, (k) => `${k} of ${runs[model.get("run")].programs.length}`)];
  if (labels.length > 1) parts.push(chooser(model, "run", "kernel", () => labels.map((label) => [label, label])));
  const play = player(model, () => runs[model.get("run")].programs.length);
  const svg = make("s.svg", { role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), play.el, svg, readout);

  const unfollow = follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute({ runs, run: model.get("run"), program: model.get("program"), sector: model.get("sector") });
    const lines = tell(now);
    draw(svg, now);
    svg.setAttribute("aria-label", lines[0]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["now", "asked", "moved"]) readout.dataset[key] = now[key];
  });
  return () => {
    play.stop();
    unfollow();
  };
}

export default { render };
