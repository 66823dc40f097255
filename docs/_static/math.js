/* Formulas as MathML, which browsers draw by themselves. Those of the page come converted (autograder/book/finishing/mathml.py runs
 * this file then, too); those that come later, in a verdict, are converted here: gpubook.typeset(element) loads Temml the
 * first time that there is one, and keeps a promise when its formulas stand. */
(function () {
  "use strict";

  const DELIMITED = /\\\((.+?)\\\)|\\\[(.+?)\\\]/gs;
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

  if (typeof document === "undefined") {
    module.exports = { convert };
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
    while (walker.nextNode()) if (walker.currentNode.data.search(DELIMITED) >= 0) found.push(walker.currentNode);
    return found;
  }

  async function typeset(element) {
    if (!waiting(element).length) return;
    const temml = await load();
    for (const node of waiting(element)) {  // anew: the element may have changed meanwhile
      const parts = [];
      let end = 0;
      for (const found of node.data.matchAll(DELIMITED)) {
        let made;
        try {
          made = window.gpubook.markup.math(convert(temml, found[1] ?? found[2], found[1] === undefined));
        } catch (error) {
          console.error(error);
          continue;  // what cannot be read stays as it was typed
        }
        parts.push(node.data.slice(end, found.index), made);
        end = found.index + found[0].length;
      }
      node.replaceWith(...parts, node.data.slice(end));
    }
  }

  window.gpubook = Object.assign(window.gpubook ?? {}, { typeset });
})();
