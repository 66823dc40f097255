// One token through one layer: what each operation takes, as areas; `formula` holds hwlib.transformer in JavaScript.

const KEYS = ["model", "T", "G", "E", "B"];
const doubled = (least, most) => Array.from({ length: most - least + 1 }, (_, i) => 2 ** (least + i));
const LENGTHS = doubled(8, 20), GROUPS = doubled(0, 6), EXPERTS = [1, ...doubled(4, 9)], BATCHES = doubled(0, 14);
const VISITED = 8, BYTES = 2;
const WIDTH = across(640), HIGH = 64, TOP = 20;
const LOOKS = { matrices: "compute", attention: "memory", mlp: "third", router: "path" };

/* Every number that the figure shows: of each operation its FLOPs and the bytes that one token has to pay for. */
export function compute({ shapes, model, T, G, E, B }) {
  const { D, F, n_q, H } = shapes[model];
  const shared = Math.min(G, n_q), K = n_q / shared, k = E > 1 ? VISITED : 1;
  const weights = (name, look, P) => ({ name, look, flops: formula.forward_flops(P, 1), bytes: BYTES * P / B });
  const out = D * n_q * H, expert = formula.mlp_params(D, F / k, 3);
  const awake = E * (1 - (1 - k / E) ** B);
  const cache = formula.kv_token_bytes(1, K, H, BYTES);
  const operations = [
    weights("q k v", "matrices", formula.attention_params(D, n_q, K, H) - out),
    { name: "attention", look: "attention", flops: formula.attention_forward_flops(1, T, n_q, H), bytes: T * cache },
    weights("out", "matrices", out),
    ...(E > 1 ? [weights("router", "router", D * E)] : []),
    { name: E > 1 ? "experts" : "MLP", look: "mlp", flops: formula.forward_flops(k * expert, 1), bytes: awake * BYTES * expert / B },
  ];
  const total = (key) => operations.reduce((sum, one) => sum + one[key], 0);
  const [attention, mlp] = ["attention", "mlp"].map((look) => operations.find((one) => one.look === look));
  return {
    operations, K, k, awake, flops: total("flops"), bytes: total("bytes"), parameters: E * expert,
    flops_share: attention.flops / total("flops"), bytes_share: attention.bytes / total("bytes"),
    flops_equal: formula.mlp_params(D, F, 3) / (2 * n_q * H), bytes_equal: mlp.bytes / cache,
  };
}

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/* The sentences under the figure. */
export function tell(now, { T, E, B }) {
  const length = (tokens) => count(Math.round(tokens));
  return [
    `Attention takes ${percent(now.flops_share)} of the FLOPs and ${percent(now.bytes_share)} of the bytes.`,
    `It overtakes the ${E > 1 ? "experts" : "MLP"} at T = ${length(now.flops_equal)} in FLOPs, at T = ${length(now.bytes_equal)} in bytes.`,
    `One token through the layer, with ${count(now.K)} key-value head${now.K > 1 ? "s" : ""}: ${show(now.flops, "FLOP")}, ${show(now.bytes, "B")}${B > 1 ? `, if ${count(B)} tokens share each weight that is read` : ""}.`,
    ...(E > 1 ? [`A token visits ${now.k} of ${count(E)} experts; the ${count(B)} tokens together visit ${length(now.awake)}.`] : []),
  ];
}

function row(now, key, unit, y) {
  let x = 0;
  const parts = [make("s.text", { x: 0, y: y - 6 }, `${key === "flops" ? "FLOPs" : "bytes"}: ${show(now[key], unit)}`)];
  for (const one of now.operations) {
    const width = WIDTH * one[key] / now[key];
    parts.push(make("s.rect", { x, y, width: Math.max(width - 1, 0.5), height: HIGH, class: LOOKS[one.look] }));
    const room = 7.5 * one.name.length + 6;
    if (width > room) parts.push(make("s.text", { x: x + width / 2, y: y + HIGH / 2 + 4, "text-anchor": "middle", class: "light" }, one.name));
    x += width;
  }
  return parts;
}

function draw(svg, now) {
  svg.replaceChildren(...row(now, "flops", "FLOP", TOP), ...row(now, "bytes", "B", 2 * TOP + HIGH + 8));
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const shapes = read("shapes");
  const parts = [
    chooser(model, "model", "shape of", () => Object.entries(shapes).map(([key, { name }]) => [key, name])),
    slider(model, "T", "context T", LENGTHS, count),
    slider(model, "G", "queries a key G", GROUPS, count),
    slider(model, "E", "experts E", EXPERTS, count),
    slider(model, "B", "tokens at once B", BATCHES, count),
  ];
  const picture = make("s.svg", { viewBox: `0 0 ${WIDTH} ${2 * (TOP + HIGH) + 12}`, role: "img" });
  const key = make("p", { class: "gpubook-key" }, "from left to right: q k v, attention (orange), out, router, MLP or experts (green)");
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), picture, key, readout);

  return follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const state = { shapes, ...Object.fromEntries(KEYS.map((name) => [name, read(name)])) };
    const now = compute(state), lines = tell(now, state);
    draw(picture, now);
    picture.setAttribute("aria-label", `${shapes[state.model].name}. ${lines[0]}`);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const name of ["flops", "bytes", "flops_share", "bytes_share"]) readout.dataset[name.replace("_", "")] = now[name];
  });
}

export default { render };
