// The book's search: sections, exercises, formulas, terms, symbols and rows of tables, ranked by MiniSearch as one types,
// in the theme's dialog and on search.html. The index is a script, so that it loads from the disk as well, and not before
// somebody searches.
"use strict";
{
  const MOST = { dialog: 12, page: 60 };
  const AROUND = 110; // letters of an excerpt before and after what was found
  const KINDS = { section: 1.5, exercise: 0.8, formula: 0.9, term: 1.5, symbol: 0.7, numbers: 1, page: 1.2 };
  const BESIDE = 0.4; // a page that is not a chapter
  const SAID_AGAIN = /^(Summary|Further reading)$/, AGAIN = 0.5;
  const SHORT = { // what engineers write, and what the book calls it
    moe: "mixture of experts", kv: "key-value", dp: "data parallelism", tp: "tensor parallelism", pp: "pipeline parallelism",
    ep: "expert parallelism", cp: "context parallelism", sp: "sequence parallelism", sm: "multiprocessor", smem: "shared memory",
  };
  const root = document.documentElement.dataset.content_root || "./";
  let loading = null;

  function script(source) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = root + source;
      element.addEventListener("load", resolve);
      element.addEventListener("error", () => reject(new Error(`${source} did not load`)));
      document.head.append(element);
    });
  }

  const words = (text) => text.split(/[\n\r\p{Z}\p{P}\p{S}]+/u).filter(Boolean);
  /** The words of a text, and those that a hyphen or an underscore joins in one piece as well: all-reduce is allreduce. */
  const indexed = (text) => [...words(text), ...(text.match(/[\p{L}\p{N}]+(?:[-_‑][\p{L}\p{N}]+)+/gu) ?? []).map((word) => word.replace(/[-_‑]/g, ""))];

  function weight(_, __, { kind, href, title }) {
    const beside = ["section", "page"].includes(kind) && !/^\d\d-/.test(href);
    return (KINDS[kind] ?? 1) * (beside ? BESIDE : 1) * (SAID_AGAIN.test(title) ? AGAIN : 1);
  }

  async function index() {
    await Promise.all([script("_static/vendor/minisearch/minisearch.js"), script("_static/search-data.js")]);
    const found = new window.MiniSearch({
      fields: ["title", "text", "place", "terms"],
      storeFields: ["title", "kind", "href", "place", "text"],
      tokenize: indexed,
      searchOptions: {
        tokenize: words,
        boost: { title: 3, terms: 3, place: 0.3 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 && !/\d/.test(term) ? 0.2 : false),
        weights: { prefix: 0.5, fuzzy: 0.2 },
        boostDocument: weight,
      },
    });
    found.addAll(window.gpubook.searchData.map(([title, kind, href, place, text, terms], id) => ({ id, title, kind, href, place, text, terms })));
    delete window.gpubook.searchData;
    return found;
  }

  /** What is found for a text, the best first: with all of its words or, where nothing has them all, with some. */
  async function search(text) {
    loading ??= index();
    const found = await loading;
    const long = words(text).map((word) => SHORT[word.toLowerCase()] ?? word).join(" ");
    const query = { combineWith: "OR", queries: [...new Set([words(text).join(" "), long])].map((one) => ({ combineWith: "AND", queries: [one] })) };
    const all = found.search(query);
    return all.length ? all : found.search(text);
  }

  /** A piece of a result's text around the first of the words that were found, which are marked. */
  function excerpt(result) {
    const terms = [...new Set(result.terms)].sort((a, b) => b.length - a.length).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${terms.join("|")})(?![\\p{L}\\p{N}])`, "giu");
    const first = result.text.search(pattern);
    let from = Math.max(0, first - AROUND);
    if (from) from = result.text.indexOf(" ", from) + 1;
    const end = result.text.indexOf(" ", Math.max(first, 0) + AROUND);
    const to = end < 0 ? result.text.length : end;
    const line = document.createElement("span");
    line.className = "search-excerpt";
    line.append(from ? "… " : "");
    result.text.slice(from, to).split(pattern).forEach((piece, at) => {
      if (at % 2 === 0) return line.append(piece);
      const mark = document.createElement("mark");
      mark.textContent = piece;
      line.append(mark);
    });
    line.append(to < result.text.length ? " …" : "");
    return line;
  }

  function item(result) {
    const entry = document.createElement("li"), link = document.createElement("a");
    link.href = root + result.href;
    const title = document.createElement("span"), kind = document.createElement("span");
    title.className = "search-title";
    title.textContent = result.title;
    kind.className = "search-kind";
    kind.textContent = result.place ? `${result.kind}, ${result.place}` : result.kind;
    link.append(title, " ", kind, excerpt(result));
    entry.append(link);
    return entry;
  }

  /** A search field with its list of results below it. */
  function field(form, most) {
    const input = form.querySelector("input[type=search]");
    const results = document.createElement("div"), count = document.createElement("p"), list = document.createElement("ol");
    results.className = "search-results";
    count.className = "search-count";
    count.setAttribute("role", "status");
    list.setAttribute("aria-label", "Results");
    results.append(count, list);
    form.after(results);
    let asked = 0;

    async function show() {
      const text = input.value.trim(), mine = ++asked;
      if (!text) {
        count.textContent = "";
        list.replaceChildren();
        return;
      }
      let found;
      try {
        found = await search(text);
      } catch (error) {
        if (mine === asked) count.textContent = `The search could not be loaded: ${error.message}.`;
        return;
      }
      if (mine !== asked) return; // somebody has typed on since
      list.replaceChildren(...found.slice(0, most).map(item));
      count.textContent = found.length === 0 ? "Nothing found." : found.length > most
        ? `${found.length} found, the first ${most} shown.` : `${found.length} found.`;
      results.dataset.query = text;
    }

    function move(event) {
      const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
      if (!["ArrowDown", "ArrowUp"].includes(event.key) || !links.length) return;
      event.preventDefault();
      const next = event.key === "ArrowDown" ? at + 1 : at - 1;
      if (next < 0) input.focus();
      else links[Math.min(next, links.length - 1)].focus();
    }

    input.addEventListener("input", show);
    input.addEventListener("keydown", move);
    list.addEventListener("keydown", move);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await show();
      list.querySelector("a")?.click();
    });
    return { input, show };
  }

  window.addEventListener("DOMContentLoaded", () => {
    const dialog = document.querySelector("#pst-search-dialog");
    if (dialog) {
      dialog.setAttribute("aria-label", "Search the book");
      field(dialog.querySelector("form"), MOST.dialog);
      // a link to a place on this page leaves the dialog open above it
      dialog.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
      dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") dialog.close(); });
    }
    const page = document.querySelector("#book-search form");
    if (page) {
      const { input, show } = field(page, MOST.page);
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      input.focus();
      show();
    }
  });

  window.gpubook = Object.assign(window.gpubook ?? {}, { search });
}
