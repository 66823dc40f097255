// Links of all GPUs against ports of all switch chips of a node; `formula` holds hwlib.topology.counts in JavaScript.

const KEYS = ["node", "n", "paths", "switches"];
const whole = (least, most) => Array.from({ length: most - least + 1 }, (_, i) => least + i);
const DIALS = { n: [1, 2, 4, 8, 16, 36, 72], paths: whole(1, 18), switches: whole(1, 18) };
const WIDTH = across(640), LEFT = 142, RIGHT = 92, ROW = 34;

/* Every number that the figure shows. */
export function compute({ rows, node, n, paths, switches }) {
  const { W_link, ports } = rows[node];
  const total = formula.node_switch_bandwidth(n, paths, switches, ports, W_link);
  return {
    links: n * paths, ends: switches * ports, W_link, ports, total,
    byLinks: formula.node_switch_bandwidth(n, paths, switches, Math.max(ports, n * paths), W_link),
    byPorts: formula.node_switch_bandwidth(switches * ports, 1, switches, ports, W_link),
    one: total / n, bisection: formula.crossbar_bisection_bandwidth(n, total / n),
  };
}

/* The sentences under the figure. */
export function tell({ links, ends, byLinks, byPorts, total, one, bisection, W_link }) {
  const limit = links < ends ? `${count(ends - links)} ports stay empty: the links decide`
    : links > ends ? `${count(links - ends)} links find no port: the switches decide` : "every port has its link";
  return [
    `${count(links)} links of ${show(W_link, "B/s")} meet ${count(ends)} ports: ${limit}.`,
    `The node moves ${show(total, "B/s")}, one direction; links alone ${show(byLinks, "B/s")}, ports alone ${show(byPorts, "B/s")}.`,
    `A GPU has ${show(one, "B/s")} out and as much in, printed as ${show(2 * one, "B/s")}. Half of the GPUs send ${show(bisection, "B/s")} to the other half.`,
  ];
}

function draw(svg, now) {
  const most = Math.max(now.byLinks, now.byPorts), width = (W) => Math.max((WIDTH - LEFT - RIGHT) * W / most, 1);
  const rows = [["links of GPUs", now.byLinks, "compute"], ["switch ports", now.byPorts, "memory"]];
  const parts = rows.flatMap(([word, W, look], i) => [
    make("s.text", { x: LEFT - 8, y: i * ROW + 22, "text-anchor": "end" }, word),
    make("s.rect", { x: LEFT, y: i * ROW + 6, width: width(W), height: 22, class: look }),
    make("s.text", { x: LEFT + width(W) + 6, y: i * ROW + 22, "text-anchor": "start" }, show(W, "B/s")),
  ]);
  const x = LEFT + width(now.total), end = rows.length * ROW + 4;
  parts.push(make("s.polyline", { points: `${x},0 ${x},${end}`, class: "ridge" }));
  parts.push(make("s.text", { x: Math.min(x, WIDTH - 150), y: end + 12, "text-anchor": "middle" }, `the node: ${show(now.total, "B/s")}`));
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const rows = read("rows");
  const parts = [
    chooser(model, "node", "node", () => Object.entries(rows).map(([key, { name }]) => [key, name])),
    slider(model, "n", "GPUs", DIALS.n, count),
    slider(model, "paths", "links of a GPU", DIALS.paths, count),
    slider(model, "switches", "switch chips", DIALS.switches, count),
  ];
  const bars = make("s.svg", { viewBox: `0 0 ${WIDTH} ${2 * ROW + 22}`, role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), bars, readout);

  let shown = read("node");
  return follow(model, KEYS, () => {
    if (read("node") !== shown) {
      shown = read("node");
      for (const key of ["n", "paths", "switches"]) model.set(key, rows[shown][key]);
      model.save_changes();
    }
    parts.forEach((part) => part.pull());
    const now = compute({ rows, ...Object.fromEntries(KEYS.map((key) => [key, read(key)])) }), lines = tell(now);
    draw(bars, now);
    bars.setAttribute("aria-label", `${rows[shown].name}. ${lines[0]}`);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["total", "one", "bisection"]) readout.dataset[key] = now[key];
  });
}

export default { render };
