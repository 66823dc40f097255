// A link from each exercise to its cell in the reader's JupyterLab. Where that runs only its reader knows: the address
// stands once, below the page's title, and is remembered.
"use strict";
{
  const KEY = "gpubook.lab", USUAL = "http://localhost:8888";

  function remembered() {
    try {
      return localStorage.getItem(KEY) || USUAL;
    } catch {
      return USUAL; // a browser that keeps nothing
    }
  }

  /** The address of a cell: that of JupyterLab, or of a folder in it ("http://localhost:8888/lab/tree/course"). */
  function address(lab, notebook, cell) {
    const base = lab.replace(/\/+$/, "").replace(/\/lab$/, "");
    return `${base}${base.includes("/lab/tree/") ? "" : "/lab/tree"}/${notebook}#cell-id=${encodeURIComponent(cell)}`;
  }

  window.addEventListener("DOMContentLoaded", () => {
    const line = document.querySelector(".notebook-link"), own = line?.querySelector("a")?.getAttribute("href");
    const notebook = own?.match(/notebooks\/(.+\.ipynb)$/)?.[1];
    const cards = document.querySelectorAll(".exercise[id^='exercise-']");
    if (!notebook || !cards.length) return;
    const links = [...cards].map((card) => {
      const link = document.createElement("a"), place = document.createElement("p");
      link.textContent = "In your JupyterLab";
      // One tab for all of them. That of `gpubook lab` goes to the cell; another opens a notebook at its beginning (4.6).
      link.target = "gpubook-lab";
      link.dataset.cell = `${card.id.slice("exercise-".length)}-prompt`;
      place.className = "card-link";
      place.append(link);
      card.append(place);
      return link;
    });
    const input = document.createElement("input"), label = document.createElement("label");
    input.type = "url";
    input.value = remembered();
    input.placeholder = USUAL;
    label.className = "lab-address";
    label.append("yours runs at ", input);
    line.append("; ", label);

    function point() {
      const lab = /^https?:\/\//.test(input.value.trim()) ? input.value.trim() : USUAL;
      for (const link of links) {
        link.href = address(lab, notebook, link.dataset.cell);
        link.title = `Opens the notebook at ${lab}, at this exercise where “gpubook lab” runs there; the address is set below the page's title`;
      }
      return lab;
    }

    input.addEventListener("change", () => {
      const lab = point();
      try {
        if (lab === USUAL) localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, lab);
      } catch { /* it holds for this page */ }
    });
    point();
  });
}
