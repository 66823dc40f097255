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

  /* A number of 32 bits out of a text, each bit of which any letter may change: FNV-1a, and MurmurHash3's last step. */
  function hashed(text) {
    let hash = 0x811c9dc5;
    for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  /* The options of a choice in this reader's order, unless theirs has a meaning; the book's order is the same for all. */
  function shuffle(form) {
    const reader = window.gpubook.progress?.reader();
    if (form.dataset.input !== "options" || form.hasAttribute("data-ordered") || !reader) return;
    const place = (label) => hashed(`${reader}\0${form.dataset.exercise}\0${label.querySelector("input").value}`);
    const places = [...form.querySelectorAll("fieldset > label")].map((label) => [place(label), label]);
    form.querySelector("fieldset").append(...places.sort(([a], [b]) => a - b).map(([, label]) => label));
  }

  function mount(form) {
    if (!form.dataset.ready) shuffle(form);
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
