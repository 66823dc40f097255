"""An anywidget that doubles a number in its own front end, for the tests of the page."""

import anywidget
import traitlets

ESM = """
export default {
  render({ model, el }) {
    const [label, input, out] = ["label", "input", "output"].map((name) => document.createElement(name));
    label.textContent = "x ";
    input.type = "range"; input.min = 0; input.max = 50; input.value = model.get("x");
    const show = () => { out.textContent = `twice is ${2 * model.get("x")}`; };
    input.addEventListener("input", () => { model.set("x", Number(input.value)); model.save_changes(); });
    model.on("change:x", show);
    show();
    label.append(input);
    el.append(label, out);
  },
};
"""


class Doubler(anywidget.AnyWidget):
    _esm = ESM
    _css = "output { font-weight: 700; }"
    x = traitlets.Int(1).tag(sync=True)
