/* One answer card: gpubook.card.
 *
 * A card is a form that Python wrote (autograder/declaration/box.html.j2): fields by the kind of input, Check, Run for code,
 * Hint and Solution, which unfold what stands below the form. `mount(form, desk)` brings it to life over a desk:
 *
 * - backend: check, run and echo give the notebook's own verdicts; isRunning() without loading(place) first, and stop()
 *   where what runs can be stopped;
 * - progress: what is kept of an exercise, as gpubook.progress has it (progress.js);
 * - typeset(element), for the formulas in it, and editor(textarea), for code.
 *
 * The pages' desk is Python in a worker and the browser's storage (exercise.js), that of a notebook its kernel
 * (autograder/learner/exercise_widget.js). HTML is shown by markup.js, which stands before this file. */
(function () {
  "use strict";

  const WAITS = 350;  // milliseconds after the last key until a text is echoed
  const LOOKS = { right: "right", predicted: "otherwise", recorded: "told", partial: "told", waiting: "told",
    empty: "unread", unreadable: "unread", unit: "unread" };  // any other kind is wrong
  const SIGNS = { right: "✓", predicted: "→", recorded: "…", empty: "…", waiting: "…" };  // as in declaration/verdict.py
  const AS_PREDICTED = "as-predicted";  // the reason of a prediction that came true

  const desks = new WeakMap();  // by card
  const backend = (form) => desks.get(form).backend, progress = (form) => desks.get(form).progress;
  const typeset = async (form, element) => { await desks.get(form).typeset?.(element); };

  const area = (form) => form.querySelector("code-input")?.textareaElement ?? form.querySelector("textarea");

  /* What was entered: a text, the key of an option, or the texts of a record by field; null for nothing. Of a cell of the
   * notebook, "". */
  function entered(form) {
    const kind = form.dataset.input;
    if (kind === "cell") return "";
    if (kind === "options") return form.querySelector("input:checked")?.value ?? null;
    if (kind === "fields") {
      const found = Object.fromEntries([...form.querySelectorAll("[name]")].map((one) => [one.name, one.value]));
      return Object.values(found).some((text) => text.trim()) ? found : null;
    }
    const text = (area(form) ?? form.querySelector("input")).value;
    return text.trim() ? text : null;
  }

  const asSource = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  function fill(form, source) {
    const kind = form.dataset.input;
    if (kind === "cell") return;
    if (kind === "options") {
      const option = [...form.querySelectorAll("input")].find((one) => one.value === source);
      if (option) option.checked = true;
    } else if (kind === "fields") {
      let known = {};
      try { known = JSON.parse(source); } catch { return; }
      for (const one of form.querySelectorAll("[name]")) if (typeof known[one.name] === "string") one.value = known[one.name];
    } else {
      const field = area(form) ?? form.querySelector("input"), box = field.closest("code-input");
      if (field.localName === "input" && source.includes("\n")) return; // a notebook's cell, of which a field would join the lines
      if (box) box.value = source;
      field.value = source;
    }
  }

  /* The sign of a verdict that was kept, which has none. */
  const signOf = ({ kind, score, reason }) =>
    (score > 0 && score < 1 ? "◐" : reason === AS_PREDICTED ? "✓" : SIGNS[kind] ?? "✗");

  async function say(form, verdict) {
    const said = form.querySelector(".verdict");
    form.dataset.verdict = verdict.reason === AS_PREDICTED ? "right" : LOOKS[verdict.kind] ?? "wrong";
    form.toggleAttribute("data-solved", verdict.score >= 1);
    offerHint(form);
    const line = document.createElement("p"), sign = document.createElement("span");
    sign.className = "sign";
    sign.setAttribute("aria-hidden", "true");
    sign.textContent = verdict.sign ?? signOf(verdict);
    line.append(sign, " ", window.gpubook.markup.sentence(verdict.say));
    said.replaceChildren(line);
    if (verdict.wants_hint && hints(form).some((one) => one.hidden)) {
      said.append(Object.assign(document.createElement("p"), { className: "offer", textContent: "A hint is at hand." }));
    }
    if (verdict.offer) {
      const offer = Object.assign(document.createElement("p"), { className: "offer" });
      offer.append(window.gpubook.markup.sentence(verdict.offer));
      said.append(offer);
    }
    await typeset(form, said);
  }

  const plain = (text) => Object.assign(document.createElement("span"), { textContent: text }).innerHTML;

  function printed(form, ...parts) {
    const out = form.querySelector(".printed"), text = parts.filter(Boolean).map((part) => part.replace(/\n$/, "")).join("\n");
    out.textContent = text;
    out.hidden = !text;
  }

  const loaded = new WeakMap();  // what ends the count of bytes, by card
  function busy(form, words) {
    const running = Boolean(words);
    loaded.get(form)?.();
    form.toggleAttribute("data-busy", running);
    for (const button of form.querySelectorAll("button:not(.stop)")) button.setAttribute("aria-disabled", String(running));
    form.querySelector(".stop")?.remove();
    if (!running) return;
    form.dataset.verdict = "busy";
    const said = form.querySelector(".verdict");
    said.textContent = words;
    if (!backend(form).isRunning()) loaded.set(form, backend(form).loading(said));
    if (!backend(form).stop) return;
    const stop = Object.assign(document.createElement("button"), { type: "button", className: "stop", textContent: "Stop" });
    stop.addEventListener("click", () => backend(form).stop());
    form.querySelector(".actions").append(stop);
  }

  /* Ask the backend, with the card busy for so long; undefined where that failed, and the card says why. */
  async function asked(form, words, ask) {
    if (form.hasAttribute("data-busy")) return undefined;
    busy(form, words);
    try {
      const result = await ask();
      busy(form, "");
      return result;
    } catch (error) {
      busy(form, "");
      await say(form, { kind: "unreadable", sign: "!", say: plain(error.message) });
      return undefined;
    }
  }

  async function check(form) {
    const value = entered(form), { exercise, chapter } = form.dataset;
    const variant = form.dataset.variant === undefined ? null : Number(form.dataset.variant);
    if (value === null) {
      await say(form, { kind: "empty", sign: "…", say: form.dataset.input === "options" ? "Choose one of them." : "No answer yet." });
      return;
    }
    const result = await asked(form, "Checking …", () => backend(form).check(chapter, exercise, value, variant));
    if (result === undefined) return;
    printed(form, result.printed, result.error);
    tried(form);
    if (result.error) {
      await say(form, { kind: "unreadable", sign: "!", say: "Your code ends in an error; what Python says of it stands above." });
      return;
    }
    await settle(form, asSource(value), result);
  }

  async function settle(form, source, { verdict, message }) {
    const { exercise } = form.dataset, predict = form.hasAttribute("data-predict");
    const told = { source, verdict, message, predict };
    if (form.dataset.variant !== undefined) told.variant = Number(form.dataset.variant);
    progress(form)?.attempt(exercise, told);
    if (predict && ["predicted", "recorded"].includes(verdict.kind)) lock(form);
    await say(form, verdict);
  }

  /* A prediction is made once: the first one is kept. */
  function lock(form) {
    for (const field of form.querySelectorAll("input, textarea, select, button[type=submit]")) field.disabled = true;
  }

  async function run(form) {
    const { exercise, chapter } = form.dataset, source = entered(form) ?? "";
    const result = await asked(form, "Running …", () => backend(form).run(chapter, source, exercise ?? form.dataset.place ?? ""));
    if (result === undefined) return;
    printed(form, result.printed, result.error, result.value);
    const said = form.querySelector(".verdict");
    form.dataset.verdict = result.error ? "unread" : "ran";
    said.replaceChildren(window.gpubook.markup.answer(result.html ?? ""));
    if (!result.html && !result.error && !result.printed && !result.value) said.textContent = "It ran, and shows nothing.";
    if (exercise) tried(form);
    await typeset(form, said);
  }

  /* How a text is read, while it is typed; only where Python runs already. */
  async function echo(form) {
    const out = form.querySelector(".echo"), value = entered(form);
    if (value === null || !backend(form).isRunning() || form.hasAttribute("data-busy")) {
      if (value === null) out.textContent = "";
      return;
    }
    try {
      const read = await backend(form).echo(form.dataset.chapter, form.dataset.exercise, value);
      if (entered(form) !== value) return;
      out.replaceChildren(...(read.html ? ["Read as ", window.gpubook.markup.sentence(read.html)] : []));
      await typeset(form, out);
    } catch { out.textContent = ""; }
  }

  const card = (form) => form.closest(".exercise");
  const hints = (form) => [...(card(form)?.querySelectorAll(":scope > details.hint") ?? [])];
  const solution = (form) => card(form)?.querySelector(":scope > details.solution");

  function showHints(form, shown) {
    const all = hints(form), button = form.querySelector("button.hint");
    all.forEach((one, at) => { one.hidden = at >= shown; });
    if (button) button.firstChild.textContent = all.length > 1 ? `Hint ${Math.min(shown + 1, all.length)} of ${all.length}` : "Hint";
    offerHint(form);
    if (shown >= all.length) tried(form);
  }

  /* While there are hints, and the answer has not all the points. */
  function offerHint(form) {
    const button = form.querySelector("button.hint");
    if (button) button.hidden = form.hasAttribute("data-solved") || !hints(form).some((one) => one.hidden);
  }

  function nextHint(form) {
    const next = hints(form).findIndex((one) => one.hidden);
    if (next < 0) return;
    progress(form)?.hint(form.dataset.exercise, next + 1);
    showHints(form, next + 1);
    hints(form)[next].open = true;
    hints(form)[next].querySelector("summary").focus();
  }

  /* After a try the solution can be asked for; a prediction shows it with what comes out. */
  function tried(form) {
    const button = form.querySelector("button.solution");
    if (button && solution(form)?.hidden) button.hidden = false;
  }

  function showSolution(form, open) {
    const folded = solution(form);
    if (!folded) return;
    folded.hidden = false;
    folded.open = open;
    form.querySelector("button.solution").hidden = true;
    if (open) folded.querySelector("summary").focus();
  }

  function restore(form) {
    if (form.dataset.variant !== undefined) return;
    const kept = progress(form)?.exercise(form.dataset.exercise) ?? {};
    showHints(form, kept.hints ?? 0);
    if (kept.solution) showSolution(form, false);
    const source = kept.prediction?.source ?? kept.answer?.source;
    if (source === undefined) return;
    fill(form, source);
    tried(form);
    const { verdict } = kept.answer ?? {};
    if (verdict) say(form, verdict);
    if (kept.prediction && form.hasAttribute("data-predict")) lock(form);
  }

  function mount(form, desk) {
    if (form.dataset.ready) return;
    form.dataset.ready = "true";
    desks.set(form, desk);
    const code = form.querySelector("textarea.code");
    if (code) desk.editor?.(code);
    const answerable = form.dataset.exercise !== undefined;
    if (answerable && form.dataset.variant === undefined) {
      for (const one of hints(form)) one.hidden = true;
      if (solution(form)) solution(form).hidden = true;
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (answerable) check(form);
      else run(form);
    });
    form.querySelector("button.run")?.addEventListener("click", () => run(form));
    form.querySelector("button.hint")?.addEventListener("click", () => nextHint(form));
    form.querySelector("button.solution")?.addEventListener("click", () => {
      progress(form)?.solution(form.dataset.exercise);
      showSolution(form, true);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey || event.shiftKey) || !event.target.closest("textarea")) return;
      event.preventDefault();
      event.stopPropagation();  // the editor would begin a line
      if (event.shiftKey && form.querySelector("button.run")) run(form);
      else form.requestSubmit();
    }, true);
    if (form.hasAttribute("data-echo")) {
      let timer;
      form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => echo(form), WAITS); });
    }
    if (answerable) restore(form);
  }

  window.gpubook = Object.assign(window.gpubook ?? {}, { card: { mount } });
})();
