/* Formulas as MathML, which browsers draw by themselves. Those of the page come converted (autograder/book/finishing/mathml.py runs
 * this file then, too); those that come later, in a verdict, are converted here: gpubook.typeset(element) loads Temml the
 * first time that there is one, and keeps a promise when its formulas stand. */
(function () {
  "use strict";

  // A sentence may be a stranger's: a formula has so many characters and defines nothing, since a macro of a macro fills
  // the memory.
  const LONGEST = 2000, OPENS = /\\[([]/g, CLOSES = { "\\(": "\\)", "\\[": "\\]" };
  const DEFINES = /\\(?:[egx]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand|DeclareMathOperator)/;
  const TALL = /<(?:mfrac|msqrt|mroot|mtable|munder|mover|munderover)\b/;

  /* Brackets around nothing tall keep their size: Chromium sets one that may stretch with room for its largest form. */
  function tidy(mathml) {
    const open = [], flat = [];
    for (const found of mathml.matchAll(/<mo fence="true" form="(prefix|postfix)" stretchy="true">/g)) {
      if (found[1] === "prefix") open.push(found);
      else if (open.length) {
        const first = open.pop();
        if (!TALL.test(mathml.slice(first.index, found.index))) flat.push(first.index, found.index);
      }
    }
    flat.sort((a, b) => b - a);
    for (const at of flat) mathml = mathml.slice(0, at) + mathml.slice(at).replace('stretchy="true"', 'stretchy="false"');
    return mathml;
  }

  function convert(temml, tex, display) {
    return tidy(temml.renderToString(tex, { displayMode: display, throwOnError: true, wrap: "none", xml: true }));
  }

  /* The formulas in a text: {tex, display, start, end} of each. The text is gone through once. */
  function formulas(text) {
    const all = [], next = { "\\(": 0, "\\[": 0 };  // where a formula of this kind that is open ends; -1 for nowhere
    let end = 0;
    for (const { 0: sign, index: start } of text.matchAll(OPENS)) {
      if (start < end || next[sign] === -1) continue;
      if (next[sign] < start + 3) next[sign] = text.indexOf(CLOSES[sign], start + 3);
      const tex = text.slice(start + 2, Math.max(next[sign], start + 2));
      if (!tex || tex.length > LONGEST || DEFINES.test(tex)) continue;
      end = next[sign] + 2;
      all.push({ tex, display: sign === "\\[", start, end });
    }
    return all;
  }

  if (typeof document === "undefined") {
    module.exports = { convert, formulas };
    return;
  }

  const base = document.currentScript.src.replace(/[^/]*$/, "");
  let loading = null;

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${base}vendor/temml/temml.min.js`;
      script.onload = () => resolve(window.temml);
      script.onerror = () => reject(new Error("temml.min.js did not load"));
      document.head.append(script);
    });
    return loading;
  }

  function waiting(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest("script, style, pre, code, textarea, math") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const found = [];
    while (walker.nextNode()) {
      const text = formulas(walker.currentNode.data);
      if (text.length) found.push([walker.currentNode, text]);
    }
    return found;
  }

  async function typeset(element) {
    if (!waiting(element).length) return;
    const temml = await load();
    for (const [node, all] of waiting(element)) {  // anew: the element may have changed meanwhile
      const parts = [];
      let before = 0;
      for (const { tex, display, start, end } of all) {
        let made;
        try {
          made = window.gpubook.markup.math(convert(temml, tex, display));
        } catch (error) {
          console.error(error);
          continue;  // what cannot be read stays as it was typed
        }
        parts.push(node.data.slice(before, start), made);
        before = end;
      }
      node.replaceWith(...parts, node.data.slice(before));
    }
  }

  window.gpubook = Object.assign(window.gpubook ?? {}, { typeset });
})();
