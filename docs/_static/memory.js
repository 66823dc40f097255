/* What the page shows of the reader's progress: marks in the navigation and at the cards, the way back to where one was,
 * and a dialog that exports, imports and erases the record. gpubook.progress (progress.js) keeps it. */
(function () {
  "use strict";

  const { progress, book } = window.gpubook ?? {};
  if (!progress || !book) return;
  const base = document.currentScript.src.replace(/_static\/[^/]*$/, "");
  const page = decodeURIComponent(location.pathname.split("/").at(-1) || "index.html");
  const here = book.chapters.find(({ name }) => page === `${name}.html`);
  const exercises = new Map(book.chapters.flatMap((chapter) => chapter.exercises.map((one) => [one.id, { ...one, chapter }])));

  const made = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const round = (number) => String(Math.round(10 * number) / 10);

  /* Whether an exercise is done, and its points; a text that nobody judges has none. */
  function state(exercise, entry) {
    const unjudged = exercise.judged === false, predicted = Boolean(entry.prediction);
    const score = predicted ? 1 : Math.min(entry.best?.score ?? 0, 1);
    const done = predicted || score >= 1 || (unjudged && Boolean(entry.answer || entry.solution));
    return { done, predicted, unjudged, reached: unjudged ? 0 : score * exercise.points, points: unjudged ? 0 : exercise.points };
  }

  function totals(list, record) {
    const each = list.map((one) => state(one, record.exercises[one.id] ?? {}));
    const sum = (name) => each.reduce((total, one) => total + Number(one[name]), 0);
    return { done: sum("done"), all: list.length, unjudged: sum("unjudged"), reached: sum("reached"), points: sum("points") };
  }

  const saidDone = ({ done, all }) => `${done} of ${all} exercises done`;
  const saidAll = (sums) => `${saidDone(sums)}, ${round(sums.reached)} of ${round(sums.points)} points${sums.unjudged ? " judged by machine" : ""}`;

  function ring({ done, all }) {
    const mark = made("span", { class: "progress-ring", "aria-hidden": "true" });
    mark.style.setProperty("--part", all ? done / all : 0);
    mark.classList.toggle("complete", all > 0 && done === all);
    return mark;
  }

  function bar({ done, all }) {
    const whole = made("span", { class: "progress-bar-thin", "aria-hidden": "true" }, made("span"));
    whole.firstChild.style.inlineSize = `${all ? (100 * done) / all : 0}%`;
    return whole;
  }

  /* Every place that shows progress, of the whole record. */
  function show() {
    const record = progress.record();
    const sums = new Map(book.chapters.map((chapter) => [chapter.name, totals(chapter.exercises, record)]));
    for (const chapter of book.chapters) {
      const sum = sums.get(chapter.name);
      for (const link of navigation(chapter)) {
        link.querySelector(".progress-mark")?.remove();
        if (sum.all === 0) continue;
        const text = made("span", { class: "visually-hidden" }, sum.done ? ` (${saidDone(sum)})` : "");
        link.append(made("span", { class: "progress-mark", title: saidDone(sum) }, ring(sum), text));
      }
      for (const place of document.querySelectorAll(`[data-chapter-progress="${chapter.name}"]`))
        place.replaceChildren(ring(sum), made("span", {}, sum.done ? saidAll(sum) : `${sum.all} exercises`));
    }
    const whole = totals([...exercises.values()], record);
    opener.replaceChildren(ring(whole), "Progress", ...(whole.done ? [made("span", { class: "progress-count" }, `${whole.done} of ${whole.all}`)] : []));
    for (const place of document.querySelectorAll("[data-book-progress]"))
      place.replaceChildren(bar(whole), made("span", {}, saidAll(whole)));
    for (const card of document.querySelectorAll(".exercise[id^='exercise-']")) mark(card, record);
    showPlace();
  }

  function navigation(chapter) {
    const links = [...document.querySelectorAll(".bd-links li > a")];
    return links.filter((link) => link.href.split("#")[0].endsWith(`/${chapter.name}.html`));
  }

  function mark(card, record) {
    const exercise = exercises.get(card.id.replace("exercise-", "")), told = card.querySelector(".exercise-points");
    if (!exercise || !told) return;
    const { done, predicted, reached, points } = state(exercise, record.exercises[exercise.id] ?? {});
    told.dataset.points ??= told.textContent;
    const of = done || reached > 0 ? (points ? `${round(reached)} of ${told.dataset.points}` : told.dataset.points) : "";
    const word = predicted ? "predicted" : points ? "done" : "answered";
    told.replaceChildren(...(done ? [made("span", { class: "exercise-done" }, made("span", { "aria-hidden": "true" }, "✓ "), word), ", "] : []),
      of || told.dataset.points);
    card.classList.toggle("done", done);
  }

  /* Where the reader is: the section or exercise at the top of the window, and how far below it. */
  const PLACE = "gpubook-place";
  function remembered() {
    try {
      const place = JSON.parse(localStorage.getItem(PLACE));
      return place && book.chapters.some(({ name }) => name === place.chapter) ? place : null;
    } catch {
      return null;
    }
  }

  function remember(exercise) {
    if (!here) return;
    const marks = [...document.querySelectorAll(".bd-article :is(section, .exercise)[id]")];
    const above = marks.map((at) => [at.id, at.getBoundingClientRect().top]).filter(([, top]) => top <= 90);
    const [anchor, top] = above.sort(([, a], [, b]) => a - b).at(-1) ?? ["", -window.scrollY];
    const before = remembered(), same = before?.chapter === here.name;
    if (!exercise && !same && window.scrollY < 200) return;  // a page that was only opened is not where one works
    const place = { chapter: here.name, exercise: exercise ?? (same ? before.exercise : ""), anchor, by: -top };
    try {
      localStorage.setItem(PLACE, JSON.stringify(place));
    } catch { /* then there is no way back */ }
  }

  function showPlace() {
    const place = remembered(), chapter = place && book.chapters.find(({ name }) => name === place.chapter);
    if (!place) return;
    const exercise = exercises.get(place.exercise), title = chapter.number ? `${chapter.number}. ${chapter.title}` : chapter.title;
    const last = exercise?.chapter.name === chapter.name ? `, last at ${exercise.predict ? "prediction" : "exercise"} ${exercise.number}` : "";
    for (const element of document.querySelectorAll("[data-continue]")) {
      const link = element.matches("a") ? element : element.querySelector("a") ?? element.appendChild(made("a"));
      link.href = `${base}${chapter.name}.html#continue`;
      link.textContent = `Continue with ${title}${last}`;
      element.hidden = false;
    }
  }

  /* Go back there; figures that start change the page's height, so for a moment the place is kept. */
  function back() {
    const place = remembered();
    if (location.hash !== "#continue" || place?.chapter !== here?.name) return;
    let ends = Date.now() + 3000;
    const stop = () => { ends = 0; };
    for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) window.addEventListener(moved, stop, { once: true, passive: true });
    const go = () => {
      if (Date.now() > ends) return;
      const top = document.getElementById(place.anchor)?.getBoundingClientRect().top ?? -window.scrollY;
      if (Math.abs(top + place.by) > 2) window.scrollBy({ top: top + place.by, behavior: "instant" });
      setTimeout(go, 100);
    };
    history.replaceState(null, "", location.pathname + location.search);
    go();
  }

  /* The dialog. */
  const said = made("p", { role: "status", class: "progress-said" });
  const say = (...inside) => said.replaceChildren(...inside);
  const chosen = made("input", { type: "file", accept: ".json,application/json", class: "visually-hidden", tabindex: "-1", "aria-hidden": "true" });
  const button = (text, action, kind = "") => {
    const one = made("button", { type: "button", class: `progress-button ${kind}`.trim() }, text);
    one.addEventListener("click", action);
    return one;
  };

  const summary = made("div", { "data-book-progress": "" });
  const dialog = made("dialog", { class: "progress-dialog", "aria-labelledby": "progress-dialog-title" },
    made("h2", { id: "progress-dialog-title" }, "Progress"), summary,
    made("p", {}, "What you answer is kept in this browser only. A progress.json carries it to another browser, or to a notebook and back: what two places have is merged, and nothing is lost."),
    made("div", { class: "progress-row" },
      button("Export progress.json", () => {
        const link = made("a", { download: "progress.json", href: URL.createObjectURL(new Blob([progress.exported()], { type: "application/json" })) });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
        say("Exported. In a notebook's folder: gpubook progress --import progress.json");
      }),
      button("Import a progress.json", () => chosen.click()), chosen),
    made("div", { class: "progress-row" },
      ...(here ? [button(`Erase ${here.number ? `chapter ${here.number}` : "this chapter"}`, () => ask(here.name), "danger")] : []),
      button("Erase everything", () => ask("all"), "danger")),
    said, made("form", { method: "dialog" }, made("button", { class: "progress-button" }, "Close")));

  function ask(scope) {
    const what = scope === "all" ? "everything that this browser has recorded" : `what is recorded of ${here.title}`;
    const keep = button("Keep it", () => say("Nothing was erased."));
    say(made("span", {}, `Erase ${what}? It cannot be undone; an export can be imported again. `),
      button("Erase", () => {
        progress.erase(scope);
        say("Erased.");
      }, "danger"), keep);
    keep.focus();
  }

  chosen.addEventListener("change", async () => {
    const [file] = chosen.files;
    chosen.value = "";
    if (!file) return;
    try {
      const { fresh, changed, all } = progress.imported(await file.text());
      const told = [fresh && `${fresh} new`, changed && `${changed} changed`].filter(Boolean).join(", ") || "nothing that was not here";
      say(`Imported: of ${all} exercise${all === 1 ? "" : "s"} in the file, ${told}.`);
    } catch (error) {
      say(`${error.message} Nothing was changed.`);
    }
  });

  const troubled = () => progress.troubles().length && say(progress.troubles().join(" "));
  const opener = made("button", { type: "button", class: "progress-open" });
  opener.addEventListener("click", () => {
    troubled();
    dialog.showModal();
  });

  /* A trouble with the storage is said once, where the reader sees it. */
  function warn() {
    for (const text of progress.troubles()) {
      if (document.querySelector(`.progress-trouble[data-say=${CSS.escape(String(text.length))}]`)) continue;
      const note = made("div", { class: "progress-trouble", role: "status", "data-say": String(text.length) }, made("p", {}, text));
      note.append(button("Understood", () => note.remove()));
      document.body.append(note);
    }
  }

  const item = made("div", { class: "sidebar-primary-item progress-item" }, opener), nav = document.querySelector(".bd-sidebar-primary nav.bd-links");
  if (nav) nav.closest(".sidebar-primary-item").before(item);
  else document.querySelector(".bd-article")?.before(item);
  document.body.append(dialog);
  show();
  window.addEventListener("gpubook-trouble", warn);
  warn();
  progress.subscribe((id) => {
    if (id && here?.exercises.some((one) => one.id === id)) remember(id);
    show();
  });
  let waiting = 0;
  window.addEventListener("scroll", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => remember(), 400);
  }, { passive: true });
  if (document.readyState === "complete") back();
  else window.addEventListener("load", back);
  Object.assign(window.gpubook, { memory: { state, totals, exercises, here, base, made } });
})();
