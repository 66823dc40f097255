/* The editor of a card: gpubook.editor.
 *
 * A textarea with colours and indentation (code-input, Prism), or a plain one where these are missing. Tab indents, and
 * leaves the editor after Escape; Enter keeps the indentation of its line, and adds to it after a colon. */
(function () {
  "use strict";

  const MOST_ROWS = 30;  // of an editor, which scrolls beyond
  const STEP = "    ", TEMPLATE = "gpubook";
  let registered = false;

  /* Without strings and the comment, so that a colon at its end is Python's own. */
  const code = (line) => line.replace(/"[^"]*"|'[^']*'/g, '""').replace(/#.*$/, "").trimEnd();

  /* What a new line begins with; undefined beside a bracket, where the editor's own plugin knows better. */
  function indentation({ value, selectionStart, selectionEnd }) {
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart), said = code(line);
    if (/[([{]$/.test(said) || /^[)\]}]/.test(value.slice(selectionEnd))) return undefined;
    return /^\s*/.exec(line)[0] + (said.endsWith(":") ? STEP : "");
  }

  /* As tall as its lines, also where the styles wrap them. */
  function fit(box) {
    const range = document.createRange();
    range.selectNodeContents(box.codeElement);
    const wrapped = Math.round(range.getBoundingClientRect().height / parseFloat(getComputedStyle(box).lineHeight)) || 0;
    const lines = Math.max(box.value.split("\n").length, wrapped, Number(box.dataset.rows));
    box.style.height = `calc(${Math.min(lines + 1, MOST_ROWS)} * 1.5em + 1.5rem)`;
  }

  function register() {
    class Lines extends window.codeInput.Plugin {
      constructor() { super([]); }

      afterElementsAdded(box) {
        box.textareaElement.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" || event.isComposing) return;
          const begins = indentation(box.textareaElement);
          if (begins === undefined) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          document.execCommand("insertText", false, `\n${begins}`);
        });
        let wide = 0;
        new ResizeObserver(([{ contentRect }]) => {  // its height a reader may set
          if (contentRect.width === wide) return;
          wide = contentRect.width;
          box.syncSize();  // the textarea is as large as its coloured copy, whose lines may wrap now
          fit(box);
        }).observe(box);
      }

      afterHighlight(box) { fit(box); }
    }
    window.codeInput.registerTemplate(TEMPLATE, new window.codeInput.templates.Prism(window.Prism, [
      new Lines(), new window.codeInput.plugins.Indent(true, STEP.length),
    ]));
    registered = true;
  }

  function editor(area) {
    if (!window.codeInput || !window.Prism) return;
    if (!registered) register();
    const box = document.createElement("code-input"), { id, rows } = area;
    box.setAttribute("language", "python");
    box.setAttribute("template", TEMPLATE);
    box.setAttribute("placeholder", "");
    box.dataset.rows = rows;
    box.addEventListener("code-input_load", () => {  // it has a textarea of its own, with the text of this one
      Object.assign(box.textareaElement, { id, autocomplete: "off", autocapitalize: "off" });
      box.removeAttribute("id");
    });
    const marker = document.createComment("");
    area.replaceWith(marker);
    area.dataset.codeInputFallback = "";
    box.append(area);
    marker.replaceWith(box);
  }

  window.gpubook = Object.assign(window.gpubook ?? {}, { editor });
})();
