/* What the reader's mistakes have in common: said at the end of a chapter, with two exercises that would catch it, and
 * days later on the front page. Which exercises catch what is in misconceptions.js, of the open edition only. */
(function () {
  "use strict";

  const { progress, memory, misconceptions } = window.gpubook ?? {};
  if (!memory || !misconceptions) return;
  const { exercises, here, base, made } = memory, { names, variants } = misconceptions;
  const DAY = 24 * 3600 * 1000, DAYS = 3, OFFERED = 2, REPEATED = 3, LISTED = 20, LOOKED_AT = 200;
  const known = (name) => Object.hasOwn(names, name), exerciseOf = (key) => key.split("#")[0];

  const drawn = (id) => variants[id]?.count ?? 1;

  /* Exercises that would catch a mistake: those that declare it, and where it was made. */
  const catching = ({ key, in: where }) => [...new Set([...(known(key) ? names[key].exercises : []), ...where])].filter((id) => exercises.has(id));

  /* All attempts, the first one first: {id, time, kind, mistakes, score, variant}. */
  function attempts(record) {
    const all = Object.entries(record.exercises).flatMap(([id, entry]) =>
      Object.entries(entry.attempts ?? {}).map(([time, one]) => ({ id, time, ...one })));
    return all.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  }

  const CAUGHT = new Map();  // by exercise: the known mistakes that it would catch
  for (const [key, { exercises: ids }] of Object.entries(names)) for (const id of ids) listed(CAUGHT, id).add(key);
  function listed(map, id) {
    if (!map.has(id)) map.set(id, new Set());
    return map.get(id);
  }

  /* Each mistake by its key: where and how often it was made, when last, and whether it is mastered since: by a right
   * answer to a variant of an exercise that catches it or to another such exercise, or to the same one days later. The
   * same mistake made again in the next attempt at an exercise counts once. A record may be a stranger's: after a right
   * answer only the mistakes that its exercise would catch are looked at. */
  function mistakesOf(record, days) {
    const found = new Map(), before = new Map(), madeAt = new Map();
    for (const attempt of attempts(record)) {
      const { id, time, score, variant } = attempt, now = attempt.mistakes ?? [];
      for (const key of now) {
        if (!found.has(key)) found.set(key, { key, count: 0, in: new Set() });
        const mistake = found.get(key);
        if (!before.get(id)?.includes(key)) mistake.count += 1;
        mistake.in.add(id);
        listed(madeAt, id).add(key);
        Object.assign(mistake, { last: time, at: id, mastered: false });
      }
      before.set(id, now);
      if (score < 1 || !exercises.has(id)) continue;
      for (const key of new Set([...(CAUGHT.get(id) ?? []), ...(madeAt.get(id) ?? [])])) {
        const mistake = found.get(key);
        if (!mistake) continue;
        const later = Date.parse(time) - Date.parse(mistake.last) >= days * DAY;
        if (variant !== undefined || id !== mistake.at || later) mistake.mastered = true;
      }
    }
    return [...found.values()].map((mistake) => ({ ...mistake, in: [...mistake.in] }));
  }

  const linked = (address, ...inside) => made("a", { href: address.includes("#") && here && address.startsWith(`${here.name}.html#`) ? address.slice(address.indexOf("#")) : base + address }, ...inside);

  function exerciseLink(id) {
    const { number, chapter, predict } = exercises.get(id);
    return linked(`${chapter.name}.html#exercise-${id}`, `${predict ? "prediction" : "exercise"} ${number}`);
  }

  const TIMES = ["", "Once", "Twice", "Three times", "Four times", "Five times", "Six times"];

  /* "Twice you did such a thing: see the section on it." */
  function sentence({ key, count, in: where, mastered }) {
    const times = TIMES[count] ?? `${count} times`, ids = where.filter((id) => exercises.has(id));
    const list = ids.flatMap((id, n) => [...(n ? [n === ids.length - 1 ? " and " : ", "] : []), exerciseLink(id)]);
    const said = known(key) ? [`${times} you ${names[key].did}`, ...(list.length ? [" (", ...list, ")"] : [])]
      : [count === 1 ? "Once you made a mistake in " : `${times} you made the same mistake in `, ...(list.length ? list : [exerciseOf(key)])];
    const more = known(key) && names[key].address ? [": see ", linked(names[key].address, names[key].section), "."] : ["."];
    return made("p", {}, ...said, ...more, ...(mastered ? [" A later answer was right."] : []));
  }

  /* Up to `count` exercises that would catch a mistake, {id, k}: with numbers that the reader has not had right, those of
   * this chapter first; of one without variants the book's own, unless it is right already. */
  function offers(mistake, record, count, taken = new Set()) {
    const ids = catching(mistake), local = new Set((here?.exercises ?? []).map(({ id }) => id)), out = [];
    const right = (id, k) => Object.values(record.exercises[id]?.attempts ?? {}).some((one) => one.score >= 1 && (one.variant ?? 0) === k);
    const free = (id) => {
      for (let k = 1; k < drawn(id); k += 1) if (!right(id, k) && !taken.has(`${id}:${k}`)) return k;
      return right(id, 0) || (record.exercises[id]?.best?.score ?? 0) >= 1 || taken.has(`${id}:0`) ? -1 : 0;
    };
    const ordered = [...ids.filter((id) => local.has(id)), ...ids.filter((id) => !local.has(id))];
    const withNumbers = (id) => (drawn(id) > 1 ? 0 : 1);
    for (const id of ordered.sort((a, b) => withNumbers(a) - withNumbers(b))) {
      const k = free(id);
      if (k < 0 || out.length === count) continue;
      taken.add(`${id}:${k}`);
      out.push({ id, k });
    }
    return out;
  }

  async function typeset(element) {
    await window.gpubook.typeset?.(element);
  }

  /* A card for an exercise with other numbers, which Python in the page asks and judges; a link for one with the book's. */
  function offer({ id, k }) {
    const { number, title } = exercises.get(id), name = made("span", {});
    if (title) name.append(": ", window.gpubook.markup.sentence(title));
    if (k === 0) return made("p", { class: "mistakes-offer" }, "Try ", exerciseLink(id), name, ".");
    const card = made("div", { "data-variant": `${id}:${k}`, class: "mistakes-variant", role: "group", "aria-label": `Exercise ${number} with other numbers` });
    const ask = made("button", { type: "button", class: "progress-button" }, "Show the question", made("span", { class: "visually-hidden" }, ` of exercise ${number} with other numbers`));
    ask.addEventListener("click", () => question(card, id, k));
    card.append(ask);
    return made("div", {}, made("p", { class: "mistakes-offer" }, "With other numbers: ", exerciseLink(id), name), card);
  }

  async function question(card, id, k) {
    const { python, exercise } = window.gpubook, said = made("p", { role: "status" }, "…");
    card.replaceChildren(said);
    const ended = python?.isRunning?.() === false ? python.loading(said) : () => {};
    let asked;
    try {
      asked = await python.variant(exercises.get(id).chapter.name, id, k);
    } catch (error) {
      asked = { error: error.message };
    }
    ended();
    if (asked.error) {
      said.textContent = asked.error;
      return;
    }
    const prompt = made("div", {}), name = `${id}-${k}`;
    prompt.append(window.gpubook.markup.answer(asked.prompt));
    const field = made("input", { type: "text", id: `box-${name}`, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": `echo-${name} verdict-${name}` });
    const form = made("form", { class: "answer-box", novalidate: "", "data-exercise": id, "data-chapter": exercises.get(id).chapter.name, "data-input": "text", "data-echo": "", "data-variant": String(k) },
      made("label", { for: field.id }, variants[id].ask), field, made("p", { class: "echo", id: `echo-${name}` }),
      made("p", { class: "actions" }, made("button", { type: "submit" }, "Check")),
      made("pre", { class: "printed", hidden: "" }), made("div", { class: "verdict", id: `verdict-${name}`, role: "status" }));
    card.replaceChildren(prompt, form);
    exercise?.mount?.(form);
    field.focus({ preventScroll: true });
    await typeset(prompt);
  }

  /* The end of a chapter. It is made anew only where what it says has changed, so that no card is lost while one types. */
  function end(place) {
    if (place.dataset.chapterEnd !== here?.name) return;
    const record = progress.record(), local = new Set(here.exercises.map(({ id }) => id));
    const mistakes = mistakesOf(record, DAYS).filter((one) => one.in.some((id) => local.has(id)) && (known(one.key) || one.count > 1));
    mistakes.sort((a, b) => b.count - a.count || (a.last < b.last ? 1 : -1));
    mistakes.splice(LISTED);
    const said = JSON.stringify(mistakes.map(({ key, count, mastered }) => [key, count, mastered]));
    if (place.dataset.said === said) return;
    place.dataset.said = said;
    if (!mistakes.length) {
      place.replaceChildren();
      return;
    }
    const taken = new Set(), open = mistakes.filter(({ mastered }) => !mastered);
    const parts = mistakes.map((one) => made("li", {}, sentence(one)));
    const offered = open.flatMap((one) => offers(one, record, OFFERED, taken)).slice(0, OFFERED);
    place.replaceChildren(made("section", { class: "mistakes-again", "aria-labelledby": "mistakes-again" },
      made("h2", { id: "mistakes-again" }, "Your mistakes in this chapter"), made("ul", {}, ...parts),
      ...(offered.length ? [made("p", {}, "These would show whether it is past:"), ...offered.map(offer)] : [])));
    typeset(place);
  }

  /* The front page, days later. */
  function repeat(place) {
    const days = Number(place.dataset.repeat) || DAYS, record = progress.record(), taken = new Set(), items = [];
    const old = mistakesOf(record, days).filter(({ mastered, last }) => !mastered && Date.now() - Date.parse(last) >= days * DAY);
    for (const mistake of old.sort((a, b) => (a.last < b.last ? -1 : 1)).slice(0, LOOKED_AT)) {
      const [found] = items.length < REPEATED ? offers(mistake, record, 1, taken) : [];
      if (found) items.push([mistake, found]);
    }
    const said = JSON.stringify(items.map(([{ key, count }, { id, k }]) => [key, count, id, k]));
    if (place.dataset.said === said) return;
    place.dataset.said = said;
    place.hidden = items.length === 0;
    place.replaceChildren(...(items.length ? [made("section", { class: "mistakes-again", "aria-labelledby": "mistakes-repeat" },
      made("h2", { id: "mistakes-repeat" }, "Once more"), made("p", {}, `These you got wrong ${days} days ago or more.`),
      ...items.map(([mistake, found]) => made("div", { class: "mistakes-item" }, sentence(mistake), offer(found))))] : []));
    typeset(place);
  }

  function show() {
    document.querySelectorAll("[data-chapter-end]").forEach(end);
    document.querySelectorAll("[data-repeat]").forEach(repeat);
  }

  /* What was just answered in a card stays in sight: it is said anew once the reader has gone on. */
  let later = false;
  progress.subscribe(() => {
    later = Boolean(document.activeElement?.closest?.("[data-chapter-end], [data-repeat]"));
    if (!later) show();
  });
  document.addEventListener("focusout", (event) => {
    const place = event.target.closest?.("[data-chapter-end], [data-repeat]");
    if (later && place && !place.contains(event.relatedTarget) && event.relatedTarget) {
      later = false;
      show();
    }
  });
  if (document.readyState === "complete") show();
  else window.addEventListener("load", show);  // when exercise.js is there
  Object.assign(window.gpubook, { mistakes: { of: mistakesOf, offers, show } });
})();
