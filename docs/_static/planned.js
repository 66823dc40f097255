/* The pages that plan: a form whose fields are the address, and its answer, which Python computes in the page.
 *
 * The answer to the question that a form opens with stands in the page; any other loads Python, once. The address holds
 * every field that is not empty, so a link opens the same plan, and Back and Forward go through what was asked. */
(function () {
  "use strict";

  const LARGEST = 1000000;  // bytes of a file, which a field and an address are to hold
  const PAUSE = 300;  // ms after a key, on a page that answers at once

  function mount(form) {
    const answer = document.getElementById(form.dataset.answer), said = form.querySelector(".planned-status");
    const wrong = form.querySelector(".planned-error"), parts = [...document.querySelectorAll("details[data-part]")];
    const fields = [...form.elements].filter((field) => field.name);
    let shown = key(), running = false, timer;

    function asked() {
      const found = {};
      for (const field of fields) if (field.value.trim()) found[field.name] = field.value.trim();
      return { ...found, ...form.odd };
    }
    function key() { return JSON.stringify(asked()); }
    const address = () => "#" + Object.entries(asked())
      .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`).join("&");

    /* The fields as the address has them; whether it has any. */
    function read() {
      const given = location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : null;
      form.odd = {};
      for (const field of fields) field.value = given?.get(field.name) ?? (given && field.dataset.empty ? "" : field.dataset.first);
      for (const field of fields) if (field.selectedIndex === -1) {  // what no option is, the library is to say
        form.odd[field.name] = given.get(field.name);
        field.value = field.dataset.first;
      }
      for (const field of fields) if (field.value !== field.dataset.first) field.closest("details")?.setAttribute("open", "");
      if (given) for (const [name, value] of given) if (!fields.some((field) => field.name === name)) form.odd[name] = value;
      return given !== null;
    }

    function write() {
      form.odd = {};
      if (location.hash !== address()) history.pushState(null, "", address());
    }

    function link(place) {
      for (const one of place.querySelectorAll("a[data-address]")) one.href = one.dataset.address;
    }

    function fail(sentence, name) {
      for (const field of fields) field.removeAttribute("aria-invalid");
      const field = fields.find((one) => one.name === name);  // the name is the address's, such as "length"
      field?.setAttribute("aria-invalid", "true");
      field?.closest("details")?.setAttribute("open", "");
      wrong.textContent = sentence;
    }

    async function ask(part) {
      const python = gpubook.python, ended = python.isRunning() ? () => {} : python.loading(said);
      if (python.isRunning()) said.textContent = "Computing …";
      try {
        return await python.planned(form.dataset.page, asked(), part);
      } finally {
        ended();
      }
    }

    /* Ask until what is shown is what the fields say. */
    async function compute() {
      clearTimeout(timer);
      if (running) return;
      running = true;
      form.setAttribute("aria-busy", "true");
      try {
        while (shown !== key()) {
          const now = key(), warm = gpubook.python.isRunning(), start = performance.now();
          const found = await ask("answer");
          if (now !== key()) continue;
          shown = now;
          fail(found.error ?? "", found.field);
          answer.replaceChildren(gpubook.markup.answer(found.html ?? ""));
          link(answer);
          for (const part of parts) part.hidden = Boolean(found.error);
          const seconds = ((performance.now() - start) / 1000).toFixed(2);
          said.textContent = found.error ? "" : `Computed in this page in ${seconds} s${warm ? "" : ", the start of Python included"}.`;
          for (const part of parts) part.filled = "";
        }
        for (const part of parts) if (part.open) await unfold(part);
      } catch (error) {
        said.textContent = "";
        fail(error.message, "");
        shown = "";
      } finally {
        running = false;
        form.removeAttribute("aria-busy");
      }
    }

    async function unfold(part) {
      if (part.filled === key()) return;
      const place = part.querySelector(".planned-part"), told = said.textContent, now = key();
      place.textContent = "Computing …";
      const found = await ask(part.dataset.part);
      said.textContent = told;
      part.filled = now;
      place.replaceChildren(gpubook.markup.answer(found.html ?? ""));
      if (found.error) place.textContent = found.error;
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      write();
      compute();
    });
    form.addEventListener("change", async ({ target }) => {
      if (target.type === "file") {
        if (!target.files.length) return;
        if (target.files[0].size > LARGEST) {
          fail(`The file has ${target.files[0].size} bytes: at most ${LARGEST} are read here.`, document.getElementById(target.dataset.into).name);
          return;
        }
        const text = await target.files[0].text(), lines = target.accept === ".toml";  // which ends a field at a line's end
        document.getElementById(target.dataset.into).value = lines ? text : text.replace(/\s*\n\s*/g, " ");
      }
      write();
      compute();
    });
    if ("live" in form.dataset) form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(compute, PAUSE); });
    for (const part of parts) part.addEventListener("toggle", () => {
      if (part.open && !running) unfold(part).catch((error) => fail(error.message, ""));
    });
    form.querySelector(".planned-copy").addEventListener("click", async () => {
      write();
      try {
        await navigator.clipboard.writeText(location.href);
        said.textContent = "The link is copied.";
      } catch {  // from the disk, or where it is not allowed
        said.textContent = "The address of this page is the link.";
      }
    });
    window.addEventListener("popstate", () => { read(); compute(); });

    link(answer);
    if (read() && shown !== key()) {
      answer.replaceChildren();  // it is to another question
      compute();
    }
    form.dataset.ready = "true";
  }

  for (const form of document.querySelectorAll("form.planned")) mount(form);
})();
