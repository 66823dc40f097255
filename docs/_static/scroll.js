// What is wider than a telephone scrolls by itself, and by the keyboard too: then it can be focused, and says what it is.
"use strict";
{
  const boxes = "div.cell_output, div.cell_output > .output, div.math";

  function mark() {
    for (const box of document.querySelectorAll(boxes)) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      if (scrolls === box.hasAttribute("data-scrolls")) continue;
      box.toggleAttribute("data-scrolls", scrolls);
      for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", "scrolls sideways"]])
        if (scrolls) box.setAttribute(name, value);
        else box.removeAttribute(name);
    }
    // the theme lets code be focused that is too wide when a page loads; what is unfolded later it does not look at
    for (const code of document.querySelectorAll("div.highlight pre"))
      if (code.scrollWidth > code.clientWidth + 1) code.tabIndex = 0;
  }

  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
}
