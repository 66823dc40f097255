/* What the reader has done, in this browser: gpubook.progress.
 *
 * The record is the one that a notebook writes, format 2 (autograder/learner/record.py says what it holds and has the same
 * merge). It lies in localStorage; where that is full or forbidden it lasts as long as the page. Each change reads what is
 * stored, changes it and stores it, so two tabs do not lose each other's changes. */
(function () {
  "use strict";

  const FORMAT = 2, ATTEMPTS = 40, LONGEST = 20000, KEY = "gpubook-progress", RACE = 2000;
  // What a file may have, as in record.py, so that a stranger's does not make every visit to a page wait.
  const MOST_EXERCISES = 5000, MOST_MISTAKES = 10, LONGEST_NAME = 200;
  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  const empty = () => ({ format: FORMAT, exercises: {} });
  const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

  /* A text that two equal values share in Python and in JavaScript, in ASCII. */
  function canonical(value) {
    if (typeof value === "number") {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value);
      return [0, 4].map((at) => view.getUint32(at).toString(16).padStart(8, "0")).join("");
    }
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (isObject(value)) {
      const rows = Object.keys(value).map((key) => [ascii(key), canonical(value[key])]);
      return `{${rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => `${key}:${one}`).join(",")}}`;
    }
    return ascii(value);
  }
  const ascii = (value) =>
    JSON.stringify(value).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

  const either = (a, b) => (a === b || canonical(a) >= canonical(b) ? a : b);
  const before = (a, b) => (a.time === b.time ? a === b || canonical(a) <= canonical(b) : a.time < b.time);
  const earliest = (a, b) => (before(a, b) ? a : b), latest = (a, b) => (before(a, b) ? b : a);
  const least = (a, b) => (a <= b ? a : b);
  const best = (a, b) => (a.score === b.score ? earliest(a, b) : a.score > b.score ? a : b);

  function attempts(a, b) {
    const times = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().slice(-ATTEMPTS);
    return Object.fromEntries(times.map((time) => [time, either(own(a, time) ?? b[time], own(b, time) ?? a[time])]));
  }

  const RULES = { answer: latest, best, prediction: earliest, skipped: least, hints: Math.max, solution: least, attempts };

  /* An object with what either has, and where both have it, what `rule(name)` makes of the two. */
  function combined(a, b, rule) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return Object.fromEntries(names.map((name) => {
      const both = Object.hasOwn(a, name) && Object.hasOwn(b, name);
      const one = Object.hasOwn(a, name) ? a[name] : b[name];
      return [name, rule(name)(one, both ? b[name] : one)];
    }));
  }

  /* The record of everything that two records have, in any order, as often as one likes. */
  function merged(a, b) {
    const entries = (one, other) => combined(one, other, (part) => own(RULES, part) ?? either);
    const exercises = (one, other) => combined(one, other, () => entries);
    return { ...combined(a, b, (name) => (name === "exercises" ? exercises : either)), format: FORMAT };
  }

  const isText = (value) => typeof value === "string", isTime = (value) => isText(value) && TIME.test(value);
  const isName = (value) => isText(value) && value.length <= LONGEST_NAME, isSource = (value) => isText(value) && value.length <= 2 * LONGEST;  // Python counts a pair as one
  const isNumber = (value) => typeof value === "number" && value >= 0 && value <= 1e6;
  const isCount = (value) => Number.isInteger(value) && value >= 0 && value < 1000;
  const isVerdict = (v) => isObject(v) && [v.say, v.kind].every(isText) && [v.score, v.points].every(isNumber);
  const isAttempt = (one) => isObject(one) && isText(one.kind) && isNumber(one.score)
    && (one.mistakes === undefined || (Array.isArray(one.mistakes) && one.mistakes.length <= MOST_MISTAKES && one.mistakes.every(isName)));
  const timed = (value) => isObject(value) && isTime(value.time);
  const FITS = {
    answer: (value) => timed(value) && isSource(value.source) && isVerdict(value.verdict),
    best: (value) => timed(value) && isNumber(value.score),
    prediction: (value) => timed(value) && isSource(value.source) && Object.hasOwn(value, "answer"),
    skipped: isTime,
    hints: isCount,
    solution: isTime,
    attempts: (value) => isObject(value) && Object.entries(value).every(([time, one]) => isTime(time) && isAttempt(one)),
  };

  /* The part of an entry that is not one. */
  const misfit = (entry) => Object.keys(entry).find((part) => own(FITS, part) && !FITS[part](entry[part]));

  /* An Error where a record has more exercises than one may have. */
  function countable(data, where) {
    const count = Object.keys(data.exercises).length;
    if (count > MOST_EXERCISES)
      throw new Error(`${where} is not a record of progress: it has ${count} exercises, and at most ${MOST_EXERCISES} were expected.`);
  }

  /* The record in a text, of an older format too; an Error that says what was expected where it is none. */
  function read(text, where = "The file") {
    let data;
    try {
      data = JSON.parse(text);
    } catch {
      throw new Error(`${where} is not JSON, so it is not a record of progress.`);
    }
    if (isObject(data) && Number.isInteger(data.format) && data.format > FORMAT) {
      const newer = new Error(`${where} has format ${data.format} of a newer edition of this book, and this one reads up to ${FORMAT}.`);
      newer.newer = true;
      throw newer;
    }
    if (isObject(data) && data.format === 1) data = upgraded(data);
    if (!isObject(data) || data.format !== FORMAT || !isObject(data.exercises))
      throw new Error(`${where} is not a record of progress: a progress.json of this book was expected.`);
    countable(data, where);
    for (const [id, entry] of Object.entries(data.exercises)) {
      const wrong = isObject(entry) ? misfit(entry) : "entry";
      if (wrong !== undefined) throw new Error(`${where} is not a record of progress: the ${wrong} of ${JSON.stringify(id)} is not one.`);
    }
    return merged(data, data);
  }

  /* Format 1 had predictions, hints and solutions beside each other. */
  function upgraded(data) {
    const exercises = {}, entry = (id) => (exercises[id] ??= {}), each = (part) => Object.entries(data[part] ?? {});
    const time = (text) => (isText(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : "");
    for (const [id, one] of each("predictions"))
      entry(id).prediction = { answer: one?.answer ?? null, source: "", time: time(one?.time) };
    for (const [id, shown] of each("hints")) if (isCount(shown)) entry(id).hints = shown;
    for (const [id, seen] of each("solutions")) if (isText(seen)) entry(id).solution = time(seen);
    return { format: FORMAT, exercises };
  }

  const sorted = (value) => (Array.isArray(value) ? value.map(sorted) : !isObject(value) ? value
    : Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])));
  const written = (data) => JSON.stringify(sorted(data), null, 1);

  if (typeof document === "undefined") {
    module.exports = { merged, canonical, read, written };
    return;
  }

  /* Where it is kept. */
  let memory = empty(), lasting = true, mine = [];
  const seen = { text: null, data: null };  // what was stored when it was read last, which each card asks for
  const watchers = new Set(), troubles = [];

  function trouble(say) {
    if (troubles.includes(say)) return;
    troubles.push(say);
    window.dispatchEvent(new CustomEvent("gpubook-trouble", { detail: say }));
  }

  const NOT_KEPT = "This browser keeps nothing for this page (a private window, or no room is left): your answers last until you close it. Export your progress to keep it.";

  function stored() {
    if (!lasting) return memory;
    let text;
    try {
      text = window.localStorage.getItem(KEY);
    } catch {
      lasting = false;
      trouble(NOT_KEPT);
      return memory;
    }
    if (text === null) return empty();
    if (text === seen.text) return seen.data;
    try {
      return Object.assign(seen, { data: read(text, "What this browser has stored"), text }).data;
    } catch (error) {
      if (error.newer) {
        lasting = false;
        trouble(`${error.message} It is left as it is, and your answers here last until you close the page.`);
        return memory;
      }
      return setAside(text);
    }
  }

  function setAside(text) {
    try {
      let number = 1;
      while (window.localStorage.getItem(`${KEY}.unreadable-${number}`) !== null) number += 1;
      window.localStorage.setItem(`${KEY}.unreadable-${number}`, text);
      window.localStorage.removeItem(KEY);
      trouble(`The progress that this browser had stored could not be read. It was set aside as ${KEY}.unreadable-${number}, and a new record begins.`);
    } catch {
      lasting = false;
      trouble(NOT_KEPT);
    }
    return empty();
  }

  function store(data) {
    memory = data;
    if (!lasting) return;
    try {
      window.localStorage.setItem(KEY, JSON.stringify(data));
    } catch {
      lasting = false;
      trouble(NOT_KEPT);
    }
  }

  /* Change the entry of an exercise by `change(entry)`; nothing is stored where that returns false. */
  function changing(id, change) {
    const data = stored(), entry = structuredClone(own(data.exercises, id) ?? {});
    if (change(entry) === false || misfit(entry)) return;  // what is no verdict would make the whole record unreadable
    const alone = { format: FORMAT, exercises: { [id]: entry } };
    mine = [...mine.filter(({ at }) => Date.now() - at < RACE), { at: Date.now(), alone }];
    store(merged({ ...data, exercises: { ...data.exercises, [id]: {} } }, alone));
    tell(id);
  }

  const tell = (id) => watchers.forEach((callback) => callback(id));

  /* Another tab has stored something. What this one stored in the same moment and is not in it is added again. */
  window.addEventListener("storage", (event) => {
    if (event.key !== KEY && event.key !== null) return;
    if (!lasting) return;
    const recent = mine.filter(({ at }) => Date.now() - at < RACE);
    if (event.newValue && recent.length) {
      const theirs = stored(), all = recent.reduce((data, { alone }) => merged(data, alone), theirs);
      if (canonical(all) !== canonical(theirs)) store(all);
    }
    tell(null);
  });

  /* A file from elsewhere, with sentences of the markup alone that a verdict has, for whoever is given the record next: what
   * shows them does not trust them either. */
  function harmless(data) {
    for (const { answer } of Object.values(data.exercises))
      if (answer) answer.verdict.say = window.gpubook.markup.kept(answer.verdict.say);
    return data;
  }

  const now = () => new Date().toISOString();
  const kept = (source) => (isText(source) && source.length <= LONGEST ? source : "");

  const progress = {
    merged, read, written,

    /* What is recorded of an exercise; {} for nothing. */
    exercise: (id) => structuredClone(own(stored().exercises, id) ?? {}),

    /* The whole record. */
    record: () => structuredClone(stored()),

    /* An answer and its verdict {say, kind, reason, score, points, mistakes, wants_hint}. With `predict` it is a prediction, of which
     * the first one is kept; `message` is the answer as autograder.values.encoding has it. With `variant` it is an answer to
     * other numbers than the book's, which is an attempt only. */
    attempt(id, { source = "", verdict, message = null, predict = false, variant = null } = {}) {
      if (!verdict || verdict.kind === "empty") return;
      changing(id, (entry) => {
        if (predict && (entry.prediction || verdict.kind === "unreadable" || verdict.kind === "unit")) return false;
        entry.attempts ??= {};
        let time = now();
        while (Object.hasOwn(entry.attempts, time)) time = new Date(Date.parse(time) + 1).toISOString();
        const { kind = "wrong", reason = "" } = verdict, score = Math.min(Math.max(Number(verdict.score) || 0, 0), 1);
        const mistakes = predict ? [] : [...(verdict.mistakes ?? [])].slice(0, MOST_MISTAKES);
        entry.attempts[time] = { kind, reason, mistakes, score, ...(variant === null ? {} : { variant }) };
        if (variant !== null) return true;
        const points = Number(verdict.points) || 0, say = String(verdict.say ?? "");
        const more = verdict.wants_hint ? { wants_hint: true } : {};
        entry.answer = { source: kept(source), time, verdict: { say, kind, reason, score, points, mistakes, ...more } };
        if (score > (entry.best?.score ?? 0)) entry.best = { score, time };
        if (predict) entry.prediction = { answer: message ?? source, source: kept(source), time };
        return true;
      });
    },

    /* So many hints were shown. */
    hint: (id, shown) => changing(id, (entry) => {
      if (shown <= (entry.hints ?? 0)) return false;
      entry.hints = shown;
      return true;
    }),

    /* The solution was shown. */
    solution: (id) => changing(id, (entry) => {
      if (entry.solution) return false;
      entry.solution = now();
      return true;
    }),

    /* What follows a prediction was looked at without one. */
    skip: (id) => changing(id, (entry) => {
      if (entry.skipped) return false;
      entry.skipped = now();
      return true;
    }),

    /* `callback(id)` after each change, with null where several or unknown exercises changed; returns what ends it. */
    subscribe(callback) {
      watchers.add(callback);
      return () => watchers.delete(callback);
    },

    /* The text of progress.json, the notebook's own file. */
    exported: () => written(stored()),

    /* Merge the text of a progress.json: how many exercises are new here, and how many have changed. Throws an Error with
     * a sentence for the reader; then nothing has changed. */
    imported(text) {
      const other = harmless(read(text)), before = stored(), after = merged(before, other), ids = Object.keys(after.exercises);
      countable(after, "With what is here, the file");
      const fresh = ids.filter((id) => !own(before.exercises, id));
      const changed = ids.filter((id) => own(before.exercises, id) && canonical(before.exercises[id]) !== canonical(after.exercises[id]));
      store(after);
      tell(null);
      return { fresh: fresh.length, changed: changed.length, all: Object.keys(other.exercises).length };
    },

    /* Forget an exercise, by its id, a chapter, by its name, or, with "all", everything. */
    erase(scope) {
      const data = stored(), chapter = (window.gpubook.book?.chapters ?? []).find(({ name }) => name === scope);
      const gone = new Set(chapter ? chapter.exercises.map(({ id }) => id) : [scope]);
      mine = [];
      store({ ...data, exercises: Object.fromEntries(Object.entries(data.exercises).filter(([id]) => scope !== "all" && !gone.has(id))) });
      tell(null);
    },

    /* What the reader is to know of the storage, each sentence once. */
    troubles: () => [...troubles],
  };
  window.gpubook = Object.assign(window.gpubook ?? {}, { progress });
})();
