/* A prediction locks what follows it, up to what came out and the text about that, until it is made or deliberately
 * skipped.
 *
 * Without this script, and in print, nothing is folded; an anchor or a search hit inside unfolds it. */
(function () {
  "use strict";

  const progress = window.gpubook?.progress;
  if (!progress) return;
  const locks = [];

  /* The largest elements after `from` and up to `to`, in the document's order, `to` included. */
  function between(from, to) {
    const found = [];
    for (let at = from; at && at !== to; ) {
      if (!at.nextElementSibling) {
        at = at.parentElement;
        continue;
      }
      at = at.nextElementSibling;
      while (at !== to && at.contains(to)) at = at.firstElementChild;
      found.push(at);
    }
    return found;
  }

  /* The text right after what came out: it tells that, too. It ends at the next heading, exercise, figure or code. */
  function afterwards(reveal) {
    let at = reveal;
    while (!at.nextElementSibling && at.parentElement && !at.parentElement.matches("section, article, body")) at = at.parentElement;
    const found = [];
    while ((at = at.nextElementSibling) && at.matches("p, ul, ol, div.math, blockquote")) found.push(at);
    return found;
  }

  function lock(card, reveal, id) {
    const folded = [...card.querySelectorAll("details.solution"), ...between(card, reveal), ...afterwards(reveal)].filter((element) => !element.matches("script, style"));
    const line = document.createElement("p"), button = document.createElement("button");
    line.className = "prediction-lock";
    line.append("Predict first; what follows unfolds then. ", button);
    button.type = "button";
    button.textContent = "Show it without a prediction";
    button.addEventListener("click", () => {
      progress.skip(id);
      const next = reveal.querySelector("summary");
      next?.focus({ preventScroll: true });
    });
    card.after(line);
    const own = { id, reveal, folded, line, open: false };
    for (const element of folded)
      element.addEventListener("beforematch", () => unfold(own));
    locks.push(own);
  }

  function fold(own) {
    own.open = false;
    own.line.hidden = false;
    own.reveal.open = false;
    own.reveal.classList.remove("unlocked");
    for (const element of own.folded) {
      element.setAttribute("hidden", "until-found");
      element.classList.add("prediction-locked");
    }
  }

  function unfold(own, opened = false) {
    own.open = true;
    own.line.hidden = true;
    for (const element of own.folded) {
      element.removeAttribute("hidden");
      element.classList.remove("prediction-locked");
    }
    if (opened) {
      own.reveal.open = true;
      own.reveal.classList.add("unlocked");
    }
    window.dispatchEvent(new Event("resize"));  // a figure inside has its width now
  }

  /* By the record: what is predicted or skipped is open; what was erased is folded again. */
  function settle(own) {
    const entry = progress.exercise(own.id), known = Boolean(entry.prediction || entry.skipped);
    if (known && !(own.open && own.reveal.open)) unfold(own, true);
    else if (!known && own.known !== false) fold(own);
    own.known = known;
  }

  /* What the address names; "" where it is no text, as "#%" is none. */
  function anchor() {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  }

  function reach() {
    const target = document.getElementById(anchor());
    for (const own of locks) {
      const hit = own.folded.find((element) => element.contains(target) || element.querySelector(".highlighted"));
      if (!hit || own.open) continue;
      unfold(own, own.reveal.contains(target));
      target?.scrollIntoView();
    }
  }

  for (const reveal of document.querySelectorAll("details.reveal[data-reveals]")) {
    const id = reveal.dataset.reveals, card = document.getElementById(`exercise-${id}`);
    if (card && card.compareDocumentPosition(reveal) & Node.DOCUMENT_POSITION_FOLLOWING) lock(card, reveal, id);
  }
  locks.forEach(settle);
  progress.subscribe((id) => locks.filter((own) => id === null || own.id === id).forEach(settle));
  reach();
  window.addEventListener("hashchange", reach);
  window.addEventListener("load", reach);  // the theme marks the words of a search when the page is there

  const print = window.matchMedia("print");
  print.addEventListener("change", () => {
    for (const own of locks.filter(({ known }) => !known)) {
      if (print.matches) unfold(own, true);
      else fold(own);
    }
  });
})();
