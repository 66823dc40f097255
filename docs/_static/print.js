// Paper is white: while a page is printed its theme is the light one. Figures that have not been near are drawn.
"use strict";
{
  const page = document.documentElement;
  let before = null;

  window.addEventListener("beforeprint", () => {
    before = page.dataset.theme;
    page.dataset.theme = "light";
    window.gpubook?.mountAll?.();
  });
  window.addEventListener("afterprint", () => { page.dataset.theme = before ?? page.dataset.theme; });
}
