/* Numbers as Python writes them: hwlib.units.show, format() and round(), for the numbers that follow a dragged one.
 *
 * What a unit needs (its steps of prefixes, its plurals) comes with the page from Python. Every text is rounded as
 * Python rounds: the exact value of the double decides, and a tie goes to the even digit. */
(function () {
  "use strict";

  /* The digits of |x|, rounded half to even: `text(d)` is x to d places (of toFixed or toExponential), which rounds a tie up. */
  function even(text, places) {
    const up = text(places);
    const [mantissa, power] = text(100).split("e"), dot = mantissa.indexOf(".");
    const tail = mantissa.slice(dot + 1 + places);
    if (!/^50*$/.test(tail)) return up;
    const kept = places ? mantissa.slice(0, dot + 1 + places) : mantissa.slice(0, dot);
    const odd = Number(kept.replace(".", "").at(-1)) % 2;
    return odd ? up : kept + (power === undefined ? "" : `e${power}`);
  }

  const sign = (x) => (x < 0 || Object.is(x, -0) ? "-" : "");

  function fixed(x, places) {
    if (Math.abs(x) >= 1e21) return sign(x) + BigInt(Math.round(Math.abs(x))).toString() + (places ? "." + "0".repeat(places) : "");
    return sign(x) + even((d) => Math.abs(x).toFixed(d), places);
  }

  function exponential(x, places) {
    const [mantissa, power] = even((d) => Math.abs(x).toExponential(d), places).split("e");
    return [sign(x) + mantissa, Number(power)];
  }

  const written = (power) => `e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const grouped = (text) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

  function general(x, precision) {
    const digits = precision || 1;
    if (x === 0) return sign(x) + "0";
    const [mantissa, power] = exponential(x, digits - 1);
    return power < -4 || power >= digits ? trimmed(mantissa) + written(power) : trimmed(fixed(x, digits - 1 - power));
  }

  /* f"{x:spec}", where `kind` is "i" for a whole number, "f" for a float and "s" for a text. */
  function format(x, spec, kind) {
    if (kind === "s") return x;
    const found = /^(\+?)(,?)(?:\.(\d+))?([dfgeE%]?)$/.exec(spec);
    const [, plus, comma, precision, type] = found;
    const places = precision === undefined ? 6 : Number(precision);
    let text;
    if (!Number.isFinite(x)) text = Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
    else if (type === "f") text = fixed(x, places);
    else if (type === "%") text = fixed(100 * x, places) + "%";
    else if (type === "e") text = exponential(x, places).reduce((mantissa, power) => mantissa + written(power));
    else if (type === "g") text = general(x, places);
    else if (kind === "i") text = fixed(x, 0);
    else text = Number.isInteger(x) ? `${x}.0` : String(x);
    if (comma) text = grouped(text);
    return plus && x >= 0 ? `+${text}` : text;
  }

  /* A number by itself in the text: a whole one with separators, a float with four digits. */
  const number = (x, kind) => (kind === "s" ? x : kind === "i" ? format(x, ",", "i") : format(x, ".4g", "f"));

  /* Python's round: half to even. */
  const round = (x, places = 0) => Number(fixed(x, places));

  function digits(x, count) {
    if (x === 0) return "0";
    let exponent = 0;
    if (!(Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6)) {
      const [mantissa, power] = exponential(x, Math.max(count - 1, 0));
      exponent = 3 * Math.floor(power / 3);
      x = Number(`${mantissa}e${power - exponent}`);
    }
    const places = Number.isInteger(x) ? 0 : Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(x))));
    return trimmed(fixed(x, places)) + (exponent ? `e${exponent}` : "");
  }

  /* hwlib.units.show(x, unit, count), where `unit` is what the build says of it: {scale, steps, long}. A step is the least
   * number, what it is divided by, and what follows one and several. */
  function show(x, unit, count = 4) {
    x /= unit.scale;
    if (!Number.isFinite(x)) return `${Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf"}${unit.none}`;
    const long = unit.long && Math.abs(x) >= 2 * unit.long.at(-1)[0] && unit.long.find(([size]) => Math.abs(x) >= 2 * size);
    if (long) return `${digits(x / long[0], count)}${long[1]}`;
    const size = x === 0 ? 0 : Math.abs(Number(general(x, count)));
    const plain = unit.steps.find(([least]) => least === 1) ?? unit.steps[0];
    const [, by, one, several] = size ? unit.steps.findLast(([least]) => least <= size) ?? unit.steps[0] : plain;
    const text = digits(x / by, count);
    return text + (text === "1" ? one : several);
  }

  /* A value behind a number; one that is `whole` has no unit where it is a whole number. */
  const inUnit = (x, unit, whole) => (whole && Number.isInteger(x) ? format(x, ",", "i") : show(x, unit));

  const numbers = { show, format, number, round, inUnit };
  if (typeof document === "undefined") module.exports = numbers;
  else (window.gpubook ??= {}).numbers = numbers;
})();
