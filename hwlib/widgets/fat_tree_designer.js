// A fat tree for so many GPUs, of switches with so many ports; `formula` holds hwlib.topology.counts in JavaScript.

const KEYS = ["hosts", "ports", "omega", "link"];
const STEPS = {
  hosts: [8, 16, 32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 65536, 131072],
  ports: [16, 32, 40, 64, 128, 144, 256, 512],
  omega: [1, 2, 3, 4, 5, 6, 7, 8],
};
const WIDTH = 440, ROW = 74, TALL = 26, MIDDLE = WIDTH / 2, FULL = 420;
const NARROW = "min-width: 0; max-width: 28rem; margin: 0 auto"; // fits a phone without scrolling

/* Every number that the figure shows: switches and cables of each tier, and what crosses from half to half. */
export function compute({ links, hosts, ports, omega, link }) {
  const W = links[link].W, tiers = formula.tree_tiers(hosts, ports, omega);
  const up = formula.up_ports(ports, omega), down = formula.down_ports(ports, omega), half = Math.floor(ports / 2);
  const leaf = formula.tree_leaf_switches(hosts, ports, omega);
  const spine = formula.tree_spine_switches(hosts, ports, omega);
  const core = formula.tree_core_switches(hosts, ports, omega);
  const ratio = tiers < 2 ? 1 : omega;
  const bisection = formula.tree_bisection_bandwidth(hosts, W, ratio);
  return {
    W, hosts, ports, tiers, leaf, spine, core, ratio, bisection,
    leafUp: tiers < 2 ? 0 : leaf * (tiers < 3 ? up : half), spineUp: tiers < 3 ? 0 : spine * up,
    switches: leaf + spine + core, each: bisection / Math.floor(hosts / 2),
    two: ports * down, three: ports * down * half,
  };
}

const total = ({ hosts, leafUp, spineUp }) => hosts + leafUp + spineUp;
const plural = (n, word, words) => `${count(n)} ${n === 1 ? word : words}`;

/* The sentences under the figure. */
export function tell(now) {
  if (now.tiers > 3) return [
    `${count(now.hosts)} GPUs are more than three tiers of such switches join: they end at ${count(now.three)}.`,
    "Take switches with more ports, or a fourth tier.", "",
  ];
  const parts = [plural(now.leaf, "leaf", "leaves")];
  if (now.spine) parts.push(plural(now.spine, "spine", "spines"));
  if (now.core) parts.push(plural(now.core, "core", "cores"));
  const sum = parts.length > 1 ? `${parts.join(" + ")} = ${count(now.switches)} switches` : "1 switch";
  return [
    `${plural(now.tiers, "tier", "tiers")}: ${sum}, ${count(total(now))} cables; ` +
      `${Number((1000 * now.switches / now.hosts).toPrecision(3))} switches for 1,000 GPUs.`,
    `From one half to the other: ${show(now.bisection, "B/s")} one way, ${show(now.each, "B/s")} for each GPU that sends.`,
    `One tier of such switches ends at ${count(now.ports)} GPUs, two at ${count(now.two)}, three at ${count(now.three)}.`,
  ];
}

/* The tree from the side: a row a tier, and between two rows a band as wide as its cables, against one a GPU. */
function draw(svg, now) {
  const parts = [];
  const text = (x, y, say, look = "", anchor = "middle") =>
    parts.push(make("s.text", { x, y, class: look, "text-anchor": anchor }, say));
  const rows = [["GPUs", now.hosts, 0]];
  if (now.tiers <= 3) {
    rows.unshift(["leaf switches", now.leaf, now.hosts]);
    if (now.spine) rows.unshift(["spines", now.spine, now.leafUp]);
    if (now.core) rows.unshift(["cores", now.core, now.spineUp]);
  }
  const bottom = rows.length - 1, start = (4 - rows.length) * ROW + 6;
  rows.forEach(([name, n, cables], row) => {
    const y = start + row * ROW;
    if (cables) {
      const wide = Math.max(FULL * cables / now.hosts, 2);
      parts.push(make("s.rect", { x: MIDDLE - wide / 2, y: y + TALL, width: wide, height: ROW - TALL, class: "band" }));
      text(MIDDLE, y + TALL + 29, `${count(cables)} cables, ${show(cables * now.W, "B/s")}`, "muted");
    }
    parts.push(make("s.rect", { x: MIDDLE - FULL / 2, y, width: FULL, height: TALL, rx: 4, class: row === bottom ? "compute" : "box" }));
    text(MIDDLE, y + 18, `${count(n)} ${n === 1 ? name.replace(/(e?)s$/, name === "leaf switches" ? "" : "$1") : name}`, row === bottom ? "light" : "");
  });
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key), links = read("links");
  const parts = [
    slider(model, "hosts", "GPUs", STEPS.hosts, count),
    slider(model, "ports", "ports of a switch", STEPS.ports, count),
    slider(model, "omega", "oversubscription", STEPS.omega, (ratio) => `${ratio}:1`),
    chooser(model, "link", "cable", () => Object.entries(links).map(([key, { name }]) => [key, name])),
  ];
  const tree = make("s.svg", { viewBox: `0 0 ${WIDTH} ${4 * ROW - ROW + TALL + 14}`, role: "img", style: NARROW });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), tree, readout);

  return follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute({ links, ...Object.fromEntries(KEYS.map((key) => [key, read(key)])) });
    const lines = tell(now);
    draw(tree, now);
    tree.setAttribute("aria-label", `A fat tree of ${count(now.hosts)} GPUs. ${lines[0]}`);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["tiers", "switches", "bisection"]) readout.dataset[key] = now[key];
  });
}

export default { render };
