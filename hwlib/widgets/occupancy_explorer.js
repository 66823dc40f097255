// What fits on one multiprocessor; `formula` holds the limits of hwlib.hierarchy in JavaScript.

const KEYS = ["chip", "threads", "registers", "smem"];
const THREADS = Array.from({ length: 32 }, (_, i) => 32 * (i + 1));
const REGISTERS = Array.from({ length: 32 }, (_, i) => Math.min(8 * (i + 1), 255));
const SMEM = Array.from({ length: 228 }, (_, i) => i * 1024);
const NAMES = ["warps", "registers", "shared memory", "blocks"];
const WIDTH = across(640, 460), LEFT = 150, CELL = 15, PARTITIONS = 4;

/* Blocks that each resource allows, what is resident, and what that leaves unused. */
export function compute({ chips, chip, threads, registers, smem }) {
  const { slots, blocks, S_RF, S_SM, unit, reserved } = chips[chip];
  const most = Math.max(0, S_SM - reserved), asked = Math.min(smem, most);
  const allowed = {
    warps: formula.slot_blocks(slots, threads),
    registers: formula.register_blocks(S_RF, registers, threads),
    "shared memory": formula.smem_blocks(S_SM, asked, unit, reserved),
    blocks,
  };
  const resident = Math.min(...Object.values(allowed)), each = Math.ceil(threads / 32);
  return {
    allowed, asked, slots, each,
    blocks: resident,
    warps: resident * each,
    share: resident * each / slots,
    limited: NAMES.filter((name) => allowed[name] === resident),
  };
}

/* The sentences under the figure. */
export function tell({ allowed, blocks, warps, slots, each, share, limited }) {
  const listed = NAMES.map((name) => `${name} ${count(allowed[name])}`).join(", ");
  const full = blocks
    ? `${count(blocks)} block${blocks === 1 ? "" : "s"} of ${each} warp${each === 1 ? "" : "s"}: ${warps} of ${slots} warps, occupancy ${Math.round(100 * share)} %.`
    : "Not one block fits: this kernel does not launch.";
  return [full, `Blocks that each resource allows: ${listed}. The limit is ${limited.join(" and ")}.`];
}

/* The slots of the four subpartitions; a warp goes to the next subpartition in turn, and has its block's colour. */
function drawSlots(svg, { slots, each, warps, blocks }) {
  const parts = [], rows = slots / PARTITIONS;
  for (let p = 0; p < PARTITIONS; p++) {
    parts.push(make("s.text", { x: LEFT - 8, y: 14 + p * (CELL + 5) + 11, "text-anchor": "end" }, `subpartition ${p + 1}`));
    for (let r = 0; r < rows; r++) {
      const warp = r * PARTITIONS + p, block = Math.floor(warp / each);
      const look = warp < warps ? (block % 2 ? "memory" : "compute") : "empty";
      parts.push(make("s.rect", { x: LEFT + r * (CELL + 4), y: 14 + p * (CELL + 5), width: CELL, height: CELL, class: look }));
    }
  }
  const say = blocks > 1 ? "a square is a warp; blocks alternate in colour" : "a square is a warp";
  parts.push(make("s.text", { x: LEFT, y: 14 + PARTITIONS * (CELL + 5) + 10, class: "muted" }, say));
  svg.replaceChildren(...parts);
}

/* One bar a resource: the blocks that it allows, as a share of the slots that they would fill. */
function drawLimits(svg, { allowed, each, slots, blocks }) {
  const room = WIDTH - LEFT - 110, parts = [];
  NAMES.forEach((name, row) => {
    const share = Math.min(allowed[name] * each / slots, 1), y = 4 + row * 19, limit = allowed[name] === blocks;
    parts.push(
      make("s.text", { x: LEFT - 8, y: y + 11, "text-anchor": "end" }, name),
      make("s.rect", { x: LEFT, y, width: Math.max(room * share, 1), height: 13, class: limit ? "memory" : "compute" }),
      make("s.text", { x: LEFT + room * share + 6, y: y + 11 },
        `${count(allowed[name])} block${allowed[name] === 1 ? "" : "s"}${limit ? ": the limit" : ""}`),
    );
  });
  svg.replaceChildren(...parts);
}

function render({ model, el }) {
  const read = (key) => model.get(key);
  const chips = read("chips");
  const kib = (bytes) => `${count(bytes / 1024)} KiB`;
  const parts = [
    chooser(model, "chip", "chip", () => Object.entries(chips).map(([key, { name }]) => [key, name])),
    slider(model, "threads", "threads a block", THREADS, count),
    slider(model, "registers", "registers a thread", REGISTERS, count),
    slider(model, "smem", "shared memory a block", SMEM, kib),
  ];
  const slots = make("s.svg", { viewBox: `0 0 ${WIDTH} 112`, role: "img" });
  const limits = make("s.svg", { viewBox: `0 0 ${WIDTH} 84`, role: "img" });
  const readout = make("div", { class: "gpubook-readout", role: "status", "aria-live": "polite" });
  frame(el, make("div", { class: "gpubook-controls" }, ...parts.map((part) => part.el)), slots, limits, readout);

  return follow(model, KEYS, () => {
    parts.forEach((part) => part.pull());
    const now = compute({ chips, ...Object.fromEntries(KEYS.map((key) => [key, read(key)])) }), lines = tell(now);
    if (now.asked < read("smem")) lines.push(`One block can have ${kib(now.asked)} at most here; the figure takes that.`);
    drawSlots(slots, now);
    drawLimits(limits, now);
    slots.setAttribute("aria-label", lines[0]);
    limits.setAttribute("aria-label", lines[1]);
    readout.replaceChildren(...lines.map((say) => make("p", {}, say)));
    for (const key of ["blocks", "warps"]) readout.dataset[key] = now[key];
  });
}

export default { render };
