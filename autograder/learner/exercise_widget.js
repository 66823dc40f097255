/* A card in a notebook, over its kernel, with docs/_static/markup.js and card.js before it; exercise_widget.py answers. */

const { mount } = window.gpubook.card;
const CONTROLS = "input, textarea, select, button, summary";  // a key pressed on one is not a shortcut of Lab's
const PATIENCE = 120;  // seconds: a kernel answers when its cell has ended
const GONE = "The kernel was restarted, or does not answer: run the first cell of the notebook, and then this one again.";

/* Ask the kernel: `ask(call, entered)`, and `end()` after the last question. */
function kernel(model) {
  const waiting = new Map(), view = Math.random().toString(36).slice(2);  // one model may have several views
  let serial = 0, live = true;

  function answered({ id, result, error }) {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.done(result);
    else asked?.failed(new Error(error));
  }

  function gone() {
    live = false;
    for (const id of [...waiting.keys()]) answered({ id, error: GONE });
  }

  function ask(call, entered = null) {
    if (!live) return Promise.reject(new Error(GONE));
    const id = `${view} ${++serial}`;
    return new Promise((done, failed) => {
      waiting.set(id, { done, failed });
      setTimeout(() => answered({ id, error: GONE }), PATIENCE * 1000);
      model.send({ id, call, entered });
    });
  }

  model.on("msg:custom", answered);
  model.on("comm_live_update", gone);
  return { ask, end: () => { model.off("msg:custom", answered); model.off("comm_live_update", gone); } };
}

/* The solution is asked for when it is first unfolded. */
async function unfolded(folded, ask) {
  const body = folded.querySelector(".body");
  if (!folded.open || body.firstChild) return;
  body.textContent = "…";
  try {
    body.replaceChildren(window.gpubook.markup.answer((await ask("solution")).html));
  } catch (error) {
    body.textContent = error.message;
  }
}

export default {
  render({ model, el }) {
    const { ask, end } = kernel(model);
    el.classList.add("gpubook-card");
    el.replaceChildren(window.gpubook.markup.card(model.get("html")));
    for (const one of el.querySelectorAll(CONTROLS)) one.setAttribute("data-lm-suppress-shortcuts", "true");
    const form = el.querySelector("form"), folded = el.querySelector("details.solution");
    form.addEventListener("keydown", (event) => {  // Lab takes a line break from any field, and with it what submits a form
      if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
      event.preventDefault();
      form.requestSubmit();
    });
    folded?.addEventListener("toggle", () => unfolded(folded, ask));
    mount(form, {
      backend: {
        isRunning: () => true,
        check: (_chapter, _exercise, entered) => ask("check", entered),
        echo: (_chapter, _exercise, entered) => ask("echo", entered),
      },
      // the kernel records what it judges and shows
      progress: { exercise: () => model.get("entry"), attempt() {}, solution() {}, hint: () => ask("hint").catch(() => {}) },
    });
    return end;
  },
};
