// Grades the answers to one question. The server has the last word: a grade names the revision that it was decided on,
// and is refused where somebody else has changed the answer since.

const main = document.getElementById("answers");
const base = main.dataset.base;
const max = Number(main.dataset.max);
const scale = Number(main.dataset.scale);
const articles = [...main.querySelectorAll("article")];
const STATES = {
  waiting: "to be graded", review: "changed since it was graded: look again", graded: "graded",
  rubric: "graded by an earlier rubric",
  empty: "nothing written: 0 points",
};
const EVERY = 10_000; // milliseconds between two looks at what others do
const PAUSE = 700; // milliseconds without a key after which a comment is saved
const REUSED = 6; // comments that are offered again
const here = `gpubook-by-hand:${base}`;
const queue = document.getElementById("queue"); // of which grader; there is none where nobody has a share

const show = points => String(Number(points.toFixed(4)));
const remembered = key => { try { return localStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a private window */ } };
const status = text => { document.getElementById("status").textContent = text; };
const notice = text => {
  const place = document.getElementById("notice");
  place.hidden = !text;
  place.textContent = text;
};

class Answer {
  constructor(article, state) {
    this.article = article;
    this.rows = [...article.querySelectorAll(".criterion")];
    this.most = this.rows.map(row => Number(row.querySelector("input").max));
    this.comment = article.querySelector("textarea");
    this.text = state.text;
    this.changed = false; // here and not yet on the server
    this.saving = null;
    this.timer = 0;
    this.take(state);
    this.rows.forEach((row, at) => {
      row.querySelector("button").addEventListener("click", event => {
        this.toggle(at);
        if (event.detail) article.focus({ preventScroll: true }); // the keys go on after a click
      });
      row.querySelector("input").addEventListener("change", event => this.type(at, event.target));
    });
    this.comment.addEventListener("input", () => {
      this.changed = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.save(), PAUSE);
    });
    this.comment.addEventListener("change", () => this.save());
    article.querySelector(".alike")?.addEventListener("click", () => lookAlike(this));
    article.querySelector(".finish").addEventListener("click", () => finish(this));
    article.querySelector(".back").addEventListener("click", () => this.set(this.most.map(() => null)));
    article.addEventListener("focusin", () => choose(this));
  }

  get queued() { return !queue?.value || this.article.dataset.grader === queue.value; }

  get waits() { return this.server.state === "waiting" || this.server.state === "review"; }

  take(state) {
    this.server = state;
    this.given = state.given ? [...state.given] : this.most.map(() => null);
    const typing = document.activeElement === this.comment; // the server cuts blanks off
    if (!typing && this.comment.value !== state.comment) this.comment.value = state.comment;
    this.draw();
  }

  draw() {
    this.rows.forEach((row, at) => {
      const given = this.given[at];
      const kind = given === null ? "" : given >= this.most[at] ? "full" : given > 0 ? "part" : "none";
      row.dataset.given = kind;
      row.querySelector("button").setAttribute("aria-pressed", kind === "full" ? "true" : kind === "part" ? "mixed" : "false");
      row.querySelector("input").value = given === null ? "" : show(given);
    });
    const open = this.given.filter(one => one === null).length;
    const sum = show(this.given.reduce((all, one) => all + (one ?? 0), 0) * scale);
    const said = this.article.querySelector("output");
    if (open === 0) said.textContent = `${sum} of ${max} points`;
    else if (open < this.given.length) {
      const counts = this.server.score === null ? "" : `; until then ${show(this.server.score)} count`;
      said.textContent = `${sum} so far, ${open} ${open === 1 ? "criterion" : "criteria"} not decided${counts}`;
    }
    else if (this.server.score !== null) said.textContent = `${show(this.server.score)} of ${max} points, not by these criteria`;
    else said.textContent = "";
    const when = this.server.at ? `, ${this.server.at.slice(0, 16)} UTC` : "";
    const who = this.server.by ? ` by ${this.server.by}${when}` : "";
    this.article.querySelector(".state").textContent = STATES[this.server.state] + (this.server.state === "graded" ? who : "");
    this.article.querySelector(".back").hidden = open === this.given.length;
    this.article.querySelector(".finish").textContent = open ? "Others not reached, go on" : "Go on";
  }

  set(given) {
    this.given = given;
    this.changed = true;
    this.draw();
    return this.save();
  }

  toggle(at, points = this.most[at]) {
    this.set(this.given.map((one, other) => (other !== at ? one : one === points ? 0 : points)));
  }

  type(at, input) {
    const points = input.value === "" ? null : Number(input.value);
    if (points !== null && !(points >= 0 && points <= this.most[at])) {
      status(`between 0 and ${show(this.most[at])} points were expected`);
      this.draw();
      return;
    }
    this.set(this.given.map((one, other) => (other === at ? points : one)));
  }

  // One request at a time: what changes meanwhile is sent when it ends.
  async save() {
    clearTimeout(this.timer);
    if (!this.changed || this.saving) return this.saving;
    this.changed = false;
    status("Saving …");
    this.saving = this.send(this.given, this.comment.value);
    const done = await this.saving;
    this.saving = null;
    if (done && this.changed) return this.save();
    return done;
  }

  async send(given, comment) {
    const body = JSON.stringify({ learner: this.server.learner, given, comment, revision: this.server.revision });
    let answer, said;
    try {
      ({ answer, said } = await put("answer", body));
    } catch {
      return this.failed("The server does not answer. What you gave stays here, and is sent once it does.");
    }
    if (answer.status === 409) return this.conflict(said);
    if (!answer.ok) return this.failed(said.message || `The server refused it (${answer.status}).`);
    notice("");
    status("Saved");
    if (this.changed) this.server = said;
    else this.take(said);
    progress();
    return true;
  }

  failed(message) {
    this.changed = true;
    status("Not saved");
    notice(message);
    return false;
  }

  conflict({ by, at, now, theirs }) {
    const place = this.article.querySelector(".conflict");
    const words = now.comment ? `, with the comment “${now.comment}”` : "";
    const paragraph = document.createElement("p");
    paragraph.textContent = `Changed ${by ? `by ${by} ` : ""}${at ? `at ${at} UTC ` : ""}while you graded: ${theirs}${words}.`;
    const button = (text, then) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", () => {
        place.hidden = true;
        this.article.focus({ preventScroll: true });
        then();
      });
      return made;
    };
    place.replaceChildren(
      paragraph,
      button("Take theirs", () => { this.changed = false; this.take(now); progress(); }),
      button("Keep mine", () => { this.server = now; this.changed = true; this.save(); }),
    );
    place.hidden = false;
    place.scrollIntoView({ block: "nearest" });
    this.changed = true; // not on the server
    if (now.text !== this.text) notice("This answer was submitted again: load the page to see its text.");
    status("Not saved");
    return false;
  }

  // What the server says now, unless something here is still to be sent: then the conflict is told when it is.
  hear(state) {
    if (state.text !== this.text) return true;
    if (!this.changed && !this.saving && state.revision !== this.server.revision && document.activeElement !== this.comment) {
      this.take(state);
    }
    return false;
  }
}

async function put(what, body) {
  const answer = await fetch(`${base}/${what}`, {
    method: "PUT", body, credentials: "same-origin",
    headers: { "Content-Type": "application/json", "X-XSRFToken": xsrf() },
  });
  return { answer, said: await answer.json() };
}

function xsrf() {
  const found = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/);
  return found ? decodeURIComponent(found[1]) : "";
}

const states = new Map(JSON.parse(document.getElementById("start").textContent).map(one => [one.learner, one]));
const answers = articles.map(article => new Answer(article, states.get(article.dataset.learner)));
let current = null;

function choose(answer) {
  if (current === answer) return;
  if (current) {
    current.article.classList.remove("now");
    current.article.querySelector(".again").hidden = true;
  }
  current = answer;
  answer.article.classList.add("now");
  remember(here, answer.server.learner);
  offer(answer);
}

function go(answer) {
  if (!answer) return;
  choose(answer);
  filter();
  answer.article.focus({ preventScroll: true });
  answer.article.scrollIntoView({ block: "start" });
}

function step(by, only = document.getElementById("waiting").checked) {
  for (let at = answers.indexOf(current) + by; at >= 0 && at < answers.length; at += by) {
    if (answers[at].queued && (!only || answers[at].waits)) return go(answers[at]);
  }
  status(only ? "No other answer waits after this one" : by > 0 ? "This is the last answer" : "This is the first answer");
}

function nextWaiting() {
  const at = answers.indexOf(current);
  const waiting = [...answers.slice(at + 1), ...answers.slice(0, at + 1)].filter(one => one.waits);
  const found = waiting.find(one => one.queued);
  if (found) go(found);
  else status(waiting.length ? `This queue is done; ${waiting.length} wait in others` : "No answer waits");
}

// The criteria that are not decided are not reached. Where none is decided nothing is meant by it.
function finish(answer) {
  const some = answer.given.some(one => one !== null);
  const open = answer.given.includes(null);
  if (some && (open || answer.server.state === "review")) answer.set(answer.given.map(one => one ?? 0));
  else answer.save();
  step(1);
}

function offer(answer) {
  const count = new Map();
  for (const one of answers) {
    for (const part of one.comment.value.split(/\n\s*\n/).map(text => text.trim()).filter(Boolean)) {
      count.set(part, (count.get(part) ?? 0) + 1);
    }
  }
  const place = answer.article.querySelector(".again");
  const often = [...count].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  const free = often.filter(text => !answer.comment.value.includes(text)).slice(0, REUSED);
  place.replaceChildren(...free.map(text => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = `+ ${text}`;
    made.title = text;
    made.addEventListener("click", () => {
      answer.comment.value = [answer.comment.value.trim(), text].filter(Boolean).join("\n\n");
      answer.changed = true;
      answer.save();
      answer.article.focus({ preventScroll: true });
      offer(answer);
    });
    return made;
  }));
  place.hidden = free.length === 0;
}

function progress() {
  const graded = among => `${among.filter(one => !one.waits).length} of ${among.length} graded`;
  const own = queue?.value ? `${graded(answers.filter(one => one.queued))} in this queue, ` : "";
  document.getElementById("progress").textContent = own + graded(answers) + (own ? " in all" : "");
}

function filter() {
  const only = document.getElementById("waiting").checked;
  for (const one of answers) one.article.hidden = one !== current && (!one.queued || (only && !one.waits));
}

// Equal and nearly equal answers: all are shown, and the grader says which of them get the grade of this one.
async function lookAlike(answer) {
  await answer.save();
  if (answer.changed || answer.saving) return status("Not saved yet: the grade of this answer comes first");
  let rows;
  try {
    const reply = await fetch(`${base}/alike?${new URLSearchParams({ learner: answer.server.learner })}`, { credentials: "same-origin" });
    if (!reply.ok) throw new Error();
    rows = (await reply.json()).answers;
  } catch {
    return notice("The server does not say which answers are alike.");
  }
  const dialog = document.getElementById("alike");
  const open = answer.given.includes(null);
  const boxes = rows.map(row => alikeBox(row)).filter(Boolean);
  document.getElementById("alike-head").textContent = boxes.length
    ? `Answers like ${answer.article.querySelector("h2").firstChild.textContent}` : "No other answer is equal or nearly equal";
  const parts = answer.given.map((one, at) => `${at + 1}: ${one === null ? "not decided" : show(one)}`).join(", ");
  const words = answer.comment.value.trim();
  document.getElementById("alike-grade").textContent =
    `${answer.article.querySelector("output").textContent || "No points yet"} (criteria ${parts})${words ? `, with the comment “${words}”` : ""}.`
    + (open ? " Decide each criterion first." : "");
  document.getElementById("alike-answers").replaceChildren(...boxes.map(box => box.place));
  const give = document.getElementById("alike-give");
  const count = () => {
    const chosen = boxes.filter(box => box.input.checked).length;
    give.disabled = open || !chosen;
    give.textContent = `Give ${chosen} answer${chosen === 1 ? "" : "s"} this grade`;
  };
  for (const box of boxes) box.input.addEventListener("change", count);
  count();
  give.onclick = async () => {
    dialog.close();
    const chosen = boxes.filter(box => box.input.checked).map(box => box.answer);
    const learners = Object.fromEntries(chosen.map(one => [one.server.learner, one.server.revision]));
    await decided("together", { learners, given: answer.given, comment: answer.comment.value });
    answer.article.focus({ preventScroll: true });
  };
  dialog.showModal();
}

// One of them with its text; only an equal one that waits is ticked from the start.
function alikeBox(row) {
  const answer = answers.find(one => one.server.learner === row.learner);
  if (!answer) return null;
  const place = document.createElement("section");
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "checkbox";
  input.checked = row.equal && answer.waits && !answer.changed;
  input.disabled = answer.changed;
  const head = answer.article.querySelector("h2").firstChild.textContent.trim();
  const likeness = row.equal ? "equal" : `${Math.floor(100 * row.share)} % of the words`;
  const points = answer.server.score === null ? "" : ` (${show(answer.server.score)} points)`;
  label.append(input, ` ${head}: ${likeness}, ${STATES[answer.server.state]}${points}`);
  place.append(label);
  if (row.differs.length) {
    const differs = document.createElement("p");
    differs.textContent = `Here → there: ${row.differs.join("; ")}`;
    place.append(differs);
  }
  const text = answer.article.querySelector(".text").cloneNode(true);
  for (const one of text.querySelectorAll("[id]")) one.removeAttribute("id");
  place.append(text);
  return { answer, input, place };
}

// A decision over several answers, or its undoing.
async function decided(what, content) {
  let answer, said;
  status("Saving …");
  try {
    ({ answer, said } = await put(what, JSON.stringify(content)));
  } catch {
    status("Not saved");
    return notice("The server does not answer: nothing was changed.");
  }
  if (!answer.ok) {
    status("Not saved");
    return notice(said.message || `The server refused it (${answer.status}).`);
  }
  for (const state of said.answers) answers.find(one => one.server.learner === state.learner)?.take(state);
  const head = one => answers.find(each => each.server.learner === one.now.learner)?.article.querySelector("h2").firstChild.textContent;
  notice(said.refused.length
    ? `Changed meanwhile, and left as they are: ${said.refused.map(one => `${head(one)} (${one.by ? `${one.by}: ` : ""}${one.theirs})`).join("; ")}.` : "");
  const list = document.getElementById("together");
  if (what === "undo") list.querySelector(`[data-number="${said.number}"]`)?.closest("li").remove();
  else if (said.answers.length) list.querySelector("ul").prepend(decision(said));
  list.hidden = !list.querySelector("li");
  status(what === "undo" ? `${said.answers.length} as before` : `${said.answers.length} graded together`);
  progress();
  filter();
}

function decision({ number, answers: changed }) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  const button = document.createElement("button");
  text.textContent = `${changed.length} answers, just now `;
  button.type = "button";
  button.dataset.number = number;
  button.textContent = "Undo";
  item.append(text, button);
  return item;
}

function names() {
  const shown = document.getElementById("names").checked;
  for (const one of document.querySelectorAll(".name")) one.hidden = !shown;
  remember("gpubook-by-hand-names", shown ? "1" : "");
}

function keyed(event) {
  if (document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input, textarea, select, summary, a");
  if (field && event.key === "Escape" && current) current.article.focus({ preventScroll: true });
  if (field || !current || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!document.getElementById("keys").checked) return;
  if (event.key === "Enter" && event.target.closest("button")) return; // it presses the button
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  const at = digit ? Number(digit[1]) - 1 : -1;
  if (digit && at === -1 && !event.shiftKey) current.set(current.most.map(() => 0));
  else if (digit && at >= 0 && at < current.most.length) current.toggle(at, current.most[at] / (event.shiftKey ? 2 : 1));
  else if (event.key === "Enter") finish(current);
  else if (event.key === "f") current.set([...current.most]);
  else if (event.key === "n" || event.key === "j") step(1);
  else if (event.key === "p" || event.key === "k") step(-1);
  else if (event.key === "w") nextWaiting();
  else if (event.key === "g" && current.article.querySelector(".alike")) lookAlike(current);
  else if (event.key === "c") current.comment.focus();
  else return;
  event.preventDefault();
}

async function look() {
  if (document.hidden) return;
  let now;
  try {
    const answer = await fetch(`${base}/state`, { credentials: "same-origin" });
    if (!answer.ok) return;
    now = new Map((await answer.json()).answers.map(one => [one.learner, one]));
  } catch {
    return; // told when something is saved
  }
  for (const one of answers) {
    const told = !one.article.querySelector(".conflict").hidden; // of a conflict, which is not ours to decide
    if (one.changed && !told && document.activeElement !== one.comment) one.save();
  }
  const other = answers.filter(one => { const state = now.get(one.server.learner); return !state || one.hear(state); });
  if (other.length || now.size !== answers.length) notice("Submissions have changed: load the page again to see them.");
  progress();
}

document.addEventListener("keydown", keyed);
document.getElementById("next").addEventListener("click", nextWaiting);
document.getElementById("waiting").addEventListener("change", filter);
document.getElementById("names").addEventListener("change", names);
document.addEventListener("visibilitychange", look);
document.getElementById("alike-cancel")?.addEventListener("click", () => document.getElementById("alike").close());
document.getElementById("together")?.addEventListener("click", event => {
  const number = Number(event.target.dataset.number);
  if (number) decided("undo", { number });
});
queue?.addEventListener("change", () => {
  remember("gpubook-by-hand-queue", queue.value);
  progress();
  filter();
  if (current && !current.queued) nextWaiting();
});
window.addEventListener("beforeunload", event => {
  if (answers.some(one => one.changed || one.saving)) event.preventDefault();
});
setInterval(look, EVERY);

document.getElementById("names").checked = Boolean(remembered("gpubook-by-hand-names"));
if (queue) {
  const own = queue.querySelector("[data-me]")?.value;
  const before = remembered("gpubook-by-hand-queue");
  queue.value = own ?? ([...queue.options].some(one => one.value === before) ? before : "");
}
names();
progress();
if (matchMedia("(max-width: 60rem)").matches) {
  for (const one of document.querySelectorAll("aside details:not(#rubric)")) one.open = false;
}
const last = remembered(here);
const first = answers.filter(one => one.queued);
go(first.find(one => one.server.learner === last) ?? first.find(one => one.waits) ?? first[0] ?? answers[0]);
filter();
