/* The answer cards of the page, over Python in a worker (python.js) and the browser's record (progress.js): gpubook.exercise.
 *
 * What a card does stands in card.js. */
(function () {
  "use strict";

  const desk = {
    get backend() { return window.gpubook.python; },
    get progress() { return window.gpubook.progress; },
    typeset: (element) => window.gpubook.typeset?.(element),
    editor: (area) => window.gpubook.editor?.(area),
  };

  /* Options in an order of this browser's own, which it keeps, by a hash (FNV-1a); where it keeps nothing, in the book's. */
  function shuffle({ dataset }, fieldset) {
    if (dataset.input !== "options" || "ordered" in dataset) return;
    try {
      const reader = (localStorage["gpubook-reader"] ??= Math.random());
      const hash = ({ control }) => [...`${control.value} ${dataset.exercise} ${reader}`]
        .reduce((sum, letter) => Math.imul(sum ^ letter.codePointAt(0), 0x1000193), 0x811c9dc5);
      fieldset.append(...[...fieldset.querySelectorAll("label")].sort((a, b) => hash(a) - hash(b)));
    } catch { /* no storage */ }
  }

  function mount(form) {
    shuffle(form, form.querySelector("fieldset"));
    window.gpubook.card.mount(form, desk);
  }

  /* A cell of a section in which to try something: `<div class="scratch-here">`, where the build put one. */
  function scratch(place, number) {
    const folded = document.createElement("details");
    folded.className = "scratch";
    folded.append(window.gpubook.markup.card(`<summary>Try something</summary>
      <form class="answer-box" data-input="code"><label for="scratch-${number}">Python, with the names of this chapter</label>
      <textarea class="code" id="scratch-${number}" rows="3" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
      <p class="actions"><button type="submit">Run</button></p><pre class="printed" hidden></pre>
      <div class="verdict" role="status"></div></form>`));
    const form = folded.querySelector("form");
    Object.assign(form.dataset, { chapter: place.dataset.chapter, place: place.dataset.place });
    place.append(folded);
    folded.addEventListener("toggle", () => mount(form), { once: true });
  }

  /* An exercise in words has no form: its model answer, once it was read, is all that there is to record. */
  function written(card) {
    const folded = card.querySelector(":scope > details.solution");
    if (folded && !card.querySelector("form.answer-box"))
      folded.addEventListener("toggle", () => {
        if (folded.open) window.gpubook.progress?.solution(card.id.slice("exercise-".length));
      });
  }

  window.gpubook = Object.assign(window.gpubook ?? {}, { exercise: { mount } });
  document.querySelectorAll("form.answer-box").forEach(mount);
  document.querySelectorAll(".scratch-here").forEach(scratch);
  document.querySelectorAll(".exercise[id^='exercise-']").forEach(written);
})();
