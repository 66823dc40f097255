/* The page that reads what somebody holds: a text that is pasted, files that are opened or dropped. Python reads them in the
 * page; nothing is sent. A link holds the text itself, compressed, in the address's fragment, which no server is sent either;
 * it is written only when it is asked for, since a log may be nobody else's business. */
(function () {
  "use strict";

  const LONGEST_LINK = 12000;  // characters of a fragment: more does not pass through mail and chats
  const LONGEST_TEXT = 1000000;  // characters that a link may unpack to
  const LARGEST = 256 * 1024 * 1024;  // bytes of all files: a page's Python has 2 to 4 GB
  const SHOWN = 256 * 1024;  // bytes of a file whose text is put into the field, so that it can be linked
  const MOST_FILES = 512;

  const toBase64 = (bytes) => {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  };
  const ofBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

  /* A text as letters of an address. */
  async function packed(text) {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return toBase64(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  /* The text of these letters; an error for others, and for what unpacks to more than `limit` characters. */
  async function unpacked(letters, limit = LONGEST_TEXT) {
    const reader = new Blob([ofBase64(letters)]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      text += decoder.decode(value, { stream: true });
      if (text.length > limit) {
        reader.cancel().catch(() => {});
        throw new Error(`The link's text is longer than ${limit} characters.`);
      }
    }
    return text + decoder.decode();
  }

  /* The fragment of a question, or "" where it is too long to be linked. */
  async function fragment(text, fields) {
    const parts = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const whole = `#${[...parts, `text=${await packed(text)}`].join("&")}`;
    return whole.length > LONGEST_LINK ? "" : whole;
  }

  if (typeof document === "undefined") {
    module.exports = { packed, unpacked, fragment, LONGEST_LINK, LONGEST_TEXT };
    return;
  }

  const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

  function mount(form) {
    const answer = document.getElementById(form.dataset.answer), said = form.querySelector(".planned-status");
    const wrong = form.querySelector(".planned-error"), pasted = form.elements.text, opened = form.elements.files;
    const list = form.querySelector(".reading-files"), clear = form.querySelector(".reading-clear");
    const fields = [...form.elements].filter((field) => field.name && field !== pasted && field !== opened);
    let files = [], running = false, again = false;

    const options = () => Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]).filter(([, value]) => value));

    function fail(sentence, name) {
      for (const field of fields) field.removeAttribute("aria-invalid");
      const field = fields.find((one) => one.name === name);
      field?.setAttribute("aria-invalid", "true");
      field?.closest("details")?.setAttribute("open", "");
      wrong.textContent = sentence;
    }

    function hold(chosen) {
      files = chosen;
      const bytes = files.reduce((sum, file) => sum + file.size, 0);
      const names = files.slice(0, 3).map((file) => file.name).join(", ");
      list.textContent = files.length ? `${names}${files.length > 3 ? ` and ${files.length - 3} more` : ""}: ${size(bytes)}` : "";
      clear.hidden = !files.length;
      return bytes;
    }

    /* Take files that were opened or dropped; the text of a small one is put into the field. */
    async function take(chosen) {
      if (!chosen.length) return;
      const bytes = hold([]) + chosen.reduce((sum, file) => sum + file.size, 0);
      answer.replaceChildren();
      said.textContent = "";
      if (chosen.length > MOST_FILES) return fail(`At most ${MOST_FILES} files are read at once, got ${chosen.length}.`, "");
      if (bytes > LARGEST) {
        return fail(`${size(bytes)} are more than the ${size(LARGEST)} that a page reads: use the command, gpubook trace or hang.`, "");
      }
      if (chosen.length === 1 && bytes <= SHOWN) {
        try {
          pasted.value = new TextDecoder("utf-8", { fatal: true }).decode(await chosen[0].arrayBuffer());
          if (!pasted.value.includes("\0")) return compute();
        } catch { /* no text: it is read as a file */ }
      }
      pasted.value = "";
      hold(chosen);
      return compute();
    }

    async function compute() {
      if (running) {
        again = true;
        return;
      }
      const held = files.length ? files.map((file) => [file.name, file]) : [["", new Blob([pasted.value])]];
      if (!files.length && !pasted.value.trim()) return fail("Paste a text or open a file.", "");
      const { kind = "", ...others } = options(), python = gpubook.python, warm = python.isRunning(), start = performance.now();
      running = true;
      form.setAttribute("aria-busy", "true");
      const ended = warm ? () => {} : python.loading(said);
      if (warm) said.textContent = "Reading …";
      try {
        const result = await python.read(held, kind, others);
        fail(result.error ?? "", result.field);
        answer.replaceChildren(gpubook.markup.answer(result.html ?? ""));
        for (const link of answer.querySelectorAll("a[data-address]")) link.href = link.dataset.address;
        const seconds = ((performance.now() - start) / 1000).toFixed(2);
        said.textContent = result.error ? "" : `Read in this page in ${seconds} s${warm ? "" : ", the start of Python included"}.`;
      } catch (error) {
        said.textContent = "";
        answer.replaceChildren();
        fail(error.name === "TimeUp" ? "It took too long for a page: use the command." : error.message, "");
      } finally {
        ended();
        running = false;
        form.removeAttribute("aria-busy");
      }
      if (again) {
        again = false;
        compute();
      }
    }

    /* What the address asks for. */
    async function open() {
      const asked = new URLSearchParams(location.hash.slice(1));
      if (!asked.get("text")) return;
      hold([]);
      answer.replaceChildren();
      for (const field of fields) field.value = asked.get(field.name) ?? "";
      for (const field of fields) {
        if (field.selectedIndex === -1) field.value = "";
        if (field.value) field.closest("details")?.setAttribute("open", "");
      }
      try {
        pasted.value = await unpacked(asked.get("text"));
      } catch (error) {
        pasted.value = "";
        fail(error.message.startsWith("The link") ? error.message : "The link is cut or changed: its text cannot be unpacked.", "");
        return;
      }
      compute();
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      compute();
    });
    form.addEventListener("change", ({ target }) => {
      if (target === opened) {
        take([...opened.files]);
        opened.value = "";  // so that the same file can be opened anew
      } else if (target !== pasted && (files.length || pasted.value.trim())) compute();
    });
    pasted.addEventListener("input", () => hold([]));
    pasted.addEventListener("paste", () => setTimeout(compute));
    clear.addEventListener("click", () => { hold([]); opened.focus(); });
    for (const kind of ["dragover", "dragleave", "drop"]) form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.toggle("reading-over", kind === "dragover");
      if (kind === "drop") take([...event.dataTransfer.files]);
    });
    form.querySelector(".planned-copy").addEventListener("click", async () => {
      if (files.length || !pasted.value.trim()) return fail("A link holds a text: paste one, or open a small file.", "");
      const place = await fragment(pasted.value, options());
      if (!place) return fail(`The text is too long for a link, which has at most ${LONGEST_LINK} characters.`, "");
      fail("", "");
      if (location.hash !== place) history.pushState(null, "", place);
      try {
        await navigator.clipboard.writeText(location.href);
        said.textContent = "The link is copied; it holds the text.";
      } catch {  // from the disk, or where it is not allowed
        said.textContent = "The address of this page is the link; it holds the text.";
      }
      return undefined;
    });
    window.addEventListener("popstate", open);
    open();
    form.dataset.ready = "true";
  }

  for (const form of document.querySelectorAll("form.reading")) mount(form);
})();
