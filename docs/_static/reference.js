// The tables of the reference pages: filtered by text and by what a column holds, sorted by a column, with the columns
// that one chooses, and rows compared side by side. Without it they are plain tables with everything in them.
"use strict";
{
  const FACETS = { vendor: "Vendor", chapter: "Chapter", kind: "Kind" };
  let number = 0;

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const labelled = (text, control) => {
    control.id ||= `reference-${++number}`;
    const label = make("label", { htmlFor: control.id }, text);
    return make("span", { className: "reference-control" }, label, control);
  };
  const words = (text) => text.toLocaleLowerCase().split(/\s+/).filter(Boolean);

  class Explored {
    constructor(table) {
      this.table = table;
      this.heads = [...table.tHead.rows[0].cells];
      this.names = this.heads.map((head) => head.dataset.column);
      this.rows = [...table.tBodies[0].rows].map((row) => {
        const details = row.dataset.key ? document.getElementById(row.dataset.key) : null;
        return { row, details, text: `${row.dataset.key ?? row.id} ${row.textContent}`.toLocaleLowerCase() };
      });
      this.section = table.closest("section");
      this.title = this.section?.querySelector("h1, h2, h3")?.firstChild?.textContent ?? "";
      this.facets = (table.dataset.facets ?? "").split(" ").filter((name) => this.names.includes(name));
      this.heads.forEach((head, at) => this.sortable(head, at));
      if (this.heads.some((head) => "more" in head.dataset)) this.choosable();
      if (this.rows.some(({ details }) => details)) this.comparable();
    }

    value(row, name) { return row.cells[this.names.indexOf(name)]?.textContent.trim() ?? ""; }

    sortable(head, at) {
      const button = make("button", { type: "button", className: "reference-sort", title: head.title }, ...head.childNodes);
      head.removeAttribute("title");
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of this.heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = ({ row }) => row.cells[at].dataset.sort ?? row.cells[at].textContent.trim();
        const sorted = this.rows.map((one) => [key(one), one]).sort(([a], [b]) => {
          if (!a || !b) return Boolean(b) - Boolean(a); // what is not known comes last
          const order = isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", { numeric: true }) : a - b;
          return down ? -order : order;
        });
        this.table.tBodies[0].append(...sorted.map(([, { row }]) => row));
      });
    }

    show(at, shown) {
      this.heads[at].hidden = !shown;
      for (const { row } of this.rows) row.cells[at].hidden = !shown;
    }

    choosable() {
      const list = make("div", { className: "reference-choices" });
      this.heads.forEach((head, at) => {
        if (at === 0) return;
        const box = make("input", { type: "checkbox", checked: !("more" in head.dataset) });
        box.addEventListener("change", () => this.show(at, box.checked));
        this.show(at, box.checked);
        list.append(make("label", {}, box, ` ${head.textContent}`));
      });
      const chosen = make("details", { className: "reference-columns" }, make("summary", {}, "Columns"), list);
      this.table.parentElement.before(chosen);
    }

    comparable() {
      this.compared = make("div", { className: "reference-compared" });
      this.table.parentElement.after(this.compared);
      for (const one of this.rows) {
        const cell = one.row.cells[0];
        one.box = make("input", { type: "checkbox", title: "Compare", ariaLabel: `Compare ${cell.textContent.trim()}` });
        one.box.addEventListener("change", () => this.compare());
        cell.prepend(one.box, " ");
      }
    }

    compare() {
      const chosen = this.rows.filter(({ box }) => box.checked);
      this.compared.replaceChildren();
      if (!chosen.length) return;
      const clear = make("button", { type: "button" }, "Clear");
      clear.addEventListener("click", () => {
        for (const { box } of chosen) box.checked = false;
        this.compare();
        chosen[0].box.focus();
      });
      const told = make("p", { className: "reference-status" });
      told.setAttribute("role", "status");
      this.compared.append(make("p", {}, make("strong", {}, "Side by side "), clear), told);
      if (chosen.length < 2) {
        told.textContent = "Choose another one to compare it with.";
        return;
      }
      told.textContent = `${chosen.length} compared; what differs is in bold.`;
      const fields = new Map();
      chosen.forEach(({ details }, at) => {
        for (const line of details.querySelectorAll("tr[data-field]")) {
          const field = line.dataset.field;
          if (!fields.has(field)) fields.set(field, { head: line.cells[0], values: [] });
          fields.get(field).values[at] = line.cells[1].textContent.trim();
        }
      });
      const names = chosen.map(({ row }) => make("th", { scope: "col" }, row.cells[0].textContent.trim()));
      const body = [...fields.values()].map(({ head, values }) => {
        const all = chosen.map((_, at) => values[at] ?? "");
        const line = make("tr", { className: new Set(all).size > 1 ? "differs" : "" });
        line.append(head.cloneNode(true), ...all.map((value) => make("td", {}, value || "–")));
        return line;
      });
      const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "field"), ...names));
      const table = make("table", { className: "reference" }, head, make("tbody", {}, ...body));
      const box = make("div", { className: "wide-table", tabIndex: 0 }, table);
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Side by side");
      this.compared.append(box);
    }

    /** Show the rows that pass; returns how many do. */
    filter(passes) {
      let count = 0;
      for (const one of this.rows) {
        const shown = passes(this, one);
        one.row.hidden = !shown;
        if (one.details) one.details.hidden = !shown;
        count += shown;
      }
      return count;
    }
  }

  function toolbar(tables) {
    const text = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    const status = make("p", { className: "reference-status" });
    status.setAttribute("role", "status");
    const controls = [labelled("Filter", text)], chosen = {};
    let which = null;
    if (tables.some(({ rows }) => rows.some(({ details }) => details))) {
      which = make("select", {}, make("option", { value: "" }, "all"), ...tables.map(({ title, table }) => make("option", { value: table.dataset.explore }, title)));
      controls.push(labelled("Table", which));
    }
    for (const name of new Set(tables.flatMap(({ facets }) => facets))) {
      const values = new Set(tables.flatMap((one) => one.rows.map(({ row }) => one.value(row, name))).filter(Boolean));
      chosen[name] = make("select", {}, make("option", { value: "" }, "all"), ...[...values].map((value) => make("option", { value }, value)));
      controls.push(labelled(FACETS[name] ?? name, chosen[name]));
    }
    const all = tables.reduce((sum, { rows }) => sum + rows.length, 0);

    function apply() {
      const wanted = words(text.value);
      const passes = (one, { row, text: own }) => wanted.every((word) => own.includes(word))
        && Object.entries(chosen).every(([name, { value }]) => !value || (one.names.includes(name) && one.value(row, name) === value));
      let count = 0;
      for (const one of tables) {
        const here = which?.value && which.value !== one.table.dataset.explore ? one.filter(() => false) : one.filter(passes);
        one.table.parentElement.hidden = !here;
        if (which) one.section.hidden = !here;
        count += here;
      }
      status.textContent = count === all ? `${all} rows` : `${count} of ${all} rows`;
    }

    function reset() {
      for (const control of [text, which, ...Object.values(chosen)]) if (control) control.value = "";
      apply();
    }

    for (const control of [text, which, ...Object.values(chosen)]) control?.addEventListener("input", apply);
    const form = make("form", { className: "reference-tools" }, ...controls, status);
    form.setAttribute("role", "search");
    form.setAttribute("aria-label", "The rows of this page");
    form.addEventListener("submit", (event) => event.preventDefault());
    (tables.length > 1 ? tables[0].section : tables[0].table.parentElement).before(form);
    apply();
    return reset;
  }

  window.addEventListener("DOMContentLoaded", () => {
    const tables = [...document.querySelectorAll("table[data-explore]")].map((table) => new Explored(table));
    if (!tables.length) return;
    const reset = toolbar(tables);

    /** What the address names; "" where it is no text, as "#%" is none. */
    function anchor() {
      try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
    }

    /** A link to a row unfolds it, wherever it was filtered away. */
    function go() {
      const target = document.getElementById(anchor());
      if (!target) return;
      if (target.closest("[hidden]")) reset();
      if (target.matches("details.spec")) target.open = true;
      if (target.closest("table[data-explore], details.spec")) target.scrollIntoView();
    }

    window.addEventListener("hashchange", go);
    document.addEventListener("click", (event) => { // the same link again
      if (event.target.closest(`a[href="${CSS.escape(location.hash)}"]`)) go();
    });
    go();
  });
}
