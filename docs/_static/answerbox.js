/* Answer boxes that work in the page, without a server.
 *
 * A box knows the digest of the right answer's cell on a logarithmic grid, and those of the common mistakes with their
 * sentences (autograder/book/answerbox.py writes them; the same digest is computed here). That hides an answer from a
 * glance, not from someone who reads this script. SHA-256 is written out because crypto.subtle needs https. */
(function () {
  "use strict";

  const K = [], H0 = [];
  for (let n = 2; K.length < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (!prime) continue;
    const bits = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
    if (H0.length < 8) H0.push(bits(Math.sqrt(n)));
    K.push(bits(Math.cbrt(n)));
  }

  function sha256(text) {
    const bytes = [...new TextEncoder().encode(text)], length = bytes.length * 8;
    bytes.push(128);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (let i = 7; i >= 0; i--) bytes.push(Math.floor(length / 2 ** (8 * i)) & 255);
    const h = [...H0], w = new Int32Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let at = 0; at < bytes.length; at += 64) {
      for (let i = 0; i < 16; i++) w[i] = bytes.slice(at + 4 * i, at + 4 * i + 4).reduce((a, b) => (a << 8) | b, 0);
      for (let i = 16; i < 64; i++) {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
      }
      let [a, b, c, d, e, f, g, j] = h;
      for (let i = 0; i < 64; i++) {
        const t1 = (j + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
        const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [j, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
      }
      [a, b, c, d, e, f, g, j].forEach((x, i) => { h[i] = (h[i] + x) | 0; });
    }
    return h.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  }

  const digest = (salt, n, what) => sha256(`${salt}:${n}:${what}`).slice(0, 20);

  /* What of a number is digested: zero, or its sign and its cell on the entry's own grid. */
  function cell(value, entry) {
    if (value === 0) return "zero";
    return `${value < 0 ? "-" : "+"}${Math.floor((Math.log(Math.abs(value)) - entry.offset) / entry.width)}`;
  }

  /* A number of at most two digits as it is typed, "3.8e-3"; "" for one of more. */
  function twoDigits(value) {
    const text = value.toExponential(1);
    return value && Math.abs(Number(text) - value) <= 1e-9 * Math.abs(value) ? text.replace("e+", "e") : "";
  }

  function readUnit(text, atoms) {
    let scale = 1;
    const powers = {};
    const tidy = text.trim().replace(/µ|μ/g, "u").replace(/\s*(\/|\*|·|\bper\b)\s*/g, (_, op) =>
      op === "/" || op === "per" ? "/" : "*");
    for (const [, sign, factor] of tidy.matchAll(/([/*\s]?)([^/*\s]*)/g)) {
      if (!factor && !sign) continue;
      const [, name, power] = /^(.+?)(?:\^(-?\d{1,2}))?$/.exec(factor) ?? [];
      if (!name || !Object.hasOwn(atoms, name)) throw new Error(`unknown unit ${JSON.stringify(factor)}`);
      const exponent = Number(power ?? 1) * (sign === "/" ? -1 : 1), [size, bases] = atoms[name];
      scale *= size ** exponent;
      for (const [base, p] of Object.entries(bases)) powers[base] = (powers[base] ?? 0) + p * exponent;
    }
    return [scale, powers];
  }

  const DIMENSIONS = ["B", "J", "USD", "s"];
  function nameUnit(powers) {
    const key = (name) => `${DIMENSIONS.includes(name) ? 1 : 0}${name}`;
    const all = Object.entries(powers).filter(([, p]) => p).sort(([a], [b]) => (key(a) < key(b) ? -1 : 1));
    const over = all.filter(([, p]) => p > 0).map(([name, p]) => name + (p > 1 ? `^${p}` : "")).join("*");
    return (over || "1") + all.filter(([, p]) => p < 0).map(([name, p]) => `/${name}` + (p < -1 ? `^${-p}` : "")).join("");
  }

  /* The same as in hwlib/units.py: groups of three digits where no comma can be a decimal one, and a plain ratio. */
  const GROUPS = "[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\\.[0-9]*)?|,[0-9]{3}\\.[0-9]*)(?![0-9,])";
  const NUMBER = `[-+−]?(?:${GROUPS}|[0-9][0-9_]*\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+−]?[0-9]+)?`;
  const QUANTITY = new RegExp(`^(${NUMBER})\\s*(.*)$`), RATIO = /^(?::\s*1|x|×|times)$/;

  /* One group is enough where things are counted, for these have no decimals: 38,087 tokens. */
  const GROUP = /^([-+−]?[1-9][0-9]{0,2}),([0-9]{3})(?=\s*(\S*)$)/;
  function counted(unit, atoms) {
    const [scale, powers] = Object.hasOwn(atoms, unit) ? atoms[unit] : [0, {}], names = Object.keys(powers);
    return scale === 1 && names.length === 1 && !DIMENSIONS.includes(names[0]) && !["FLOP", "OP"].includes(names[0]);
  }

  /* "31.9 us" -> {value: 3.19e-5, unit: "s"}; unit is null where none was typed, and `asked` is the box's. */
  function readQuantity(text, atoms, asked = "1") {
    const group = GROUP.exec(text.trim());
    if (group && counted(group[3] || asked, atoms)) text = text.trim().replace(GROUP, "$1$2");
    const match = QUANTITY.exec(text.trim());
    if (!match || /^[,._]/.test(match[2])) throw new Error("a number was expected, with its unit if you like, such as 31.9 us");
    if (/^(?:[-+*/×·^]+\s*|x\s+)[0-9(.]/.test(match[2])) throw new Error("that is a calculation; write one number, then its unit");
    const unit = match[2].startsWith(":") && RATIO.test(match[2]) ? "" : match[2];
    const [scale, powers] = unit && !RATIO.test(unit) ? readUnit(unit, atoms) : [1, {}];
    const value = Number(match[1].replaceAll("−", "-").replace(/[_,]/g, "")) * scale;
    if (!Number.isFinite(value)) throw new Error("that number is too large");
    return { value, unit: unit ? nameUnit(powers) : null };
  }

  /* What a text is read as, by the box's `read`. */
  const readOption = (box, text) => text;

  function readInteger(box, text) {
    let tidy = text.trim().replaceAll("_", "");
    const [, count, noun] = /^(.*\d)\s*([A-Za-z]+)$/.exec(tidy) ?? [];
    if (noun && box.nouns?.includes(noun.toLowerCase())) tidy = count;
    if (/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(tidy)) tidy = tidy.replaceAll(",", "");
    const power = /^([0-9]{1,2})\^([0-9]{1,2})$/.exec(tidy);
    if (power) return BigInt(power[1]) ** BigInt(power[2]);
    if (/^[\d\s.()]*\d[\s)]*[-+*/][\d\s.+\-*/()]+$/.test(tidy))
      throw new Error("Could not read the answer: that is a calculation; write what comes out.");
    if (!/^[-+]?\d{1,300}(\.\d{1,300})?([eE][-+]?\d{1,3})?$/.test(tidy))
      throw new Error("Could not read the answer: a whole number was expected.");
    if (!Number.isInteger(Number(tidy))) throw new Error("It is counted, so a whole number was expected.");
    return /^[-+]?\d+$/.test(tidy) ? BigInt(tidy.replace("+", "")) : BigInt(Number(tidy));
  }

  function readNumber(box, text, atoms) {
    const fraction = /^([-+]?[0-9]{1,15})\s*\/\s*([1-9][0-9]{0,14})$/.exec(text.trim());
    if (fraction && box.unit === "1") return Number(fraction[1]) / Number(fraction[2]);
    let read;
    try {
      read = readQuantity(text, atoms, box.unit);
    } catch (error) {
      throw new Error(`Could not read the answer: ${error.message}.`);
    }
    const named = (unit) => (unit === "1" ? "has no unit" : `is in ${unit}`);
    const rate = `${read.unit}/s` === box.unit && /(?:fl)?ops$/i.test(text.trim());  // 989 TFLOPs, as many write it
    if (read.unit !== null && read.unit !== box.unit && !rate)
      throw new Error(`The answer ${named(box.unit)}, yours ${named(read.unit)}.`);
    return read.value;
  }

  /* So many numbers above zero in one text, each as it was typed and as it was read. */
  function readNumbers(box, text, atoms) {
    const bare = text.trim().replace(/^[[(]|[\])]$/g, "").trim();
    const parts = [/\s*;\s*|\s*,\s+|\s*\n\s*/, ","].map((mark) => bare.split(mark)).find((found) => found.length === box.count);
    if (!parts) throw new Error(`${box.count} numbers were expected, one a line or with semicolons between them.`);
    return parts.map((part, n) => {
      const where = `Number ${n + 1}`;
      if (!part.trim()) throw new Error(`${where} is missing.`);
      let value;
      try {
        value = readNumber(box, part, atoms);
      } catch (error) {
        throw new Error(`${where}: ${error.message}`);
      }
      if (!(value > 0)) throw new Error(`${where}: a number above zero was expected.`);
      return { typed: part.trim(), value };
    });
  }

  const READERS = { option: readOption, integer: readInteger, number: readNumber, numbers: readNumbers };

  const percent = (share) => `${share < 1 ? Number((100 * share).toPrecision(2)) : Math.round(100 * share)} %`;
  const median = (list) => {
    const sorted = [...list].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  /* What stands beside the right numbers of a table, the last column, for predicted ones: texts, errors, their median. */
  function beside(box, numbers, right, atoms) {
    const off = numbers.map(({ value }, n) => value / readNumber(box, right[n], atoms) - 1);
    const typed = numbers.map((one) => (/[a-z%]/i.test(one.typed.replace(/\de[-+]?\d/i, "")) || box.unit === "1" ? one.typed : `${one.typed} ${box.unit}`));
    const signed = off.map((error) => (error < 0 ? "−" : "+") + percent(Math.abs(error)));
    return { typed, signed, median: percent(median(off.map(Math.abs))) };
  }

  /* Two columns of the reader's own, in each table of numbers that the prediction unlocks. */
  function fillIn(box, numbers, details, atoms) {
    for (const table of details.querySelectorAll("table")) {
      const rows = [...table.tBodies[0].rows];
      if (rows.length !== numbers.length + 1 || table.dataset.filled) continue;
      const own = beside(box, numbers, rows.slice(0, -1).map((row) => row.cells[row.cells.length - 1].textContent), atoms);
      const put = (row, name, texts) => texts.forEach((text, n) => {
        const cell = document.createElement(name);
        cell.textContent = text;
        cell.style.textAlign = "right";
        row.insertBefore(cell, row.cells[1 + n]);
      });
      put(table.tHead.rows[0], "th", ["yours", "off"]);
      rows.forEach((row, n) => put(row, "td", n < numbers.length ? [own.typed[n], own.signed[n]] : ["", own.median]));
      table.dataset.filled = "true";
    }
  }

  /* What of an answer is digested, by the box's `digest`: its cell on the entry's grid or its two digits, or all of it. */
  function what(box, value, entry) {
    if (box.digest !== "grid") return `${box.digest}:${value}`;
    return entry.rounded ? `rounded:${twoDigits(value)}` : cell(value, entry);
  }

  /* The verdict on what was typed or chosen: {kind: "right" | "wrong" | "unread" | "none", say: HTML}. */
  function judge(box, text, atoms) {
    if (!text.trim()) return { kind: "none", say: "No answer yet." };
    let value;
    try {
      value = READERS[box.read](box, text, atoms);
    } catch (error) {
      return { kind: "unread", say: escape(error.message) };
    }
    const found = box.entries.find((entry, n) => digest(box.salt, n, what(box, value, entry)) === entry.digest);
    return found ? { kind: found.right ? "right" : "wrong", say: found.say } : { kind: "wrong", say: box.otherwise };
  }

  const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  /* The verdict as the record has it. */
  function told(kind, say, predict) {
    const score = kind === "right" || (predict && kind === "wrong") ? 1 : 0;
    return { say, score, points: 0, kind: predict && score ? "predicted" : kind === "unread" ? "unreadable" : kind, reason: "" };
  }

  function attach(form) {
    const box = JSON.parse(form.querySelector("script[type='application/json']").textContent);
    const output = form.querySelector(".verdict"), marks = { right: "✓ ", wrong: "✗ ", unread: "? ", none: "" };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (form.dataset.kept) return;
      const typed = box.input === "text" ? form.querySelector("input[type=text], textarea") : null;
      const given = typed ?? form.querySelector(`input[type=${box.input}]:checked`);
      const atoms = window.GPUBOOK_UNITS ?? {}, { kind, say } = judge(box, given?.value ?? "", atoms);
      form.dataset.verdict = box.predict && kind === "wrong" ? "told" : kind;
      output.innerHTML = `<span aria-hidden="true">${box.predict && kind === "wrong" ? "" : marks[kind]}</span>${say}`;
      typed?.setAttribute("aria-invalid", String(kind === "unread" || kind === "wrong"));
      if (kind !== "none" && form.dataset.exercise)
        window.gpubook?.progress?.attempt(box.id, { source: given.value, predict: box.predict, verdict: told(kind, say, box.predict) });
      window.MathJax?.typesetPromise?.([output]);
      if (box.predict && (kind === "right" || kind === "wrong")) {
        form.dataset.kept = "first";  // a prediction made once more, with the result in sight, is none
        for (const field of form.querySelectorAll("input, textarea")) field.disabled = true;
        form.querySelector("button").setAttribute("aria-disabled", "true");
        for (const reveal of document.querySelectorAll("details.reveal"))
          if (reveal.dataset.reveals === box.id) {
            reveal.open = true;
            reveal.classList.add("unlocked");
            if (box.read === "numbers") fillIn(box, readNumbers(box, given.value, atoms), reveal, atoms);
          }
      }
    });
  }

  if (typeof document === "undefined") module.exports = { sha256, cell, readQuantity, judge, readNumbers, beside };
  else document.querySelectorAll("form.answer-box").forEach(attach);
})();
