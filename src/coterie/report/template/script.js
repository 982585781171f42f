"use strict";
(() => {
  const data = JSON.parse(document.getElementById("matrices").textContent);
  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };

  // The value of a cell: a number where there is one, else text. Missing values go last.
  const value = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.trim();
    const number = Number(text.replace(/,/g, ""));
    return text === "–" || text === "" ? null : Number.isNaN(number) ? text : number;
  };
  const order = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => {
    if (a === null || b === null) return 0;
    const numbers = typeof a === "number" && typeof b === "number";
    return numbers ? a - b : order.compare(String(a), String(b));
  };

  // The rows of data, each with the opened matrix that stands under it, if any.
  const rowsOf = (table) =>
    [...table.tBodies[0].rows]
      .filter((row) => row.className !== "detail")
      .map((row) => [row, row.nextElementSibling?.className === "detail" ? row.nextElementSibling : null]);

  const sort = (table, heading) => {
    const column = heading.cellIndex;
    const numeric = !heading.classList.contains("l");
    const before = heading.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = rowsOf(table).map((pair) => [value(pair[0].cells[column]), pair]);
    rows.sort(([a], [b]) => (a === null) - (b === null) || (down ? compare(b, a) : compare(a, b)));
    table.tBodies[0].append(...rows.flatMap(([, pair]) => pair.filter(Boolean)));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      if (heading.tagName !== "TH" || "fixed" in heading.dataset) continue;
      const button = make("button", heading.textContent, "sort");
      button.type = "button";
      button.addEventListener("click", () => sort(table, heading));
      heading.replaceChildren(button);
    }
  }

  const filter = (form) => {
    const table = document.getElementById(form.dataset.for);
    const wanted = [...form.elements].filter((field) => field.dataset.column && field.value);
    const fits = (row, field) => {
      const cell = row.cells[Number(field.dataset.column)];
      const text = cell.querySelector("bdi[title]")?.title ?? cell.textContent.trim();
      if (field.tagName === "SELECT") return text === field.value;
      return text.toLocaleLowerCase().includes(field.value.toLocaleLowerCase());
    };
    const rows = rowsOf(table);
    let shown = 0;
    for (const [row, detail] of rows) {
      row.hidden = !wanted.every((field) => fits(row, field));
      if (detail) detail.hidden = row.hidden;
      if (!row.hidden) shown += 1;
    }
    const all = rows.length;
    const [some, every] = [shown, all].map((n) => n.toLocaleString("en"));
    const said = shown === all ? `${every} shown` : `${some} of ${every} shown`;
    form.querySelector("output").textContent = shown ? said : "none fits";
  };

  for (const form of document.querySelectorAll("form.tools")) {
    form.hidden = false;
    form.addEventListener("input", () => filter(form));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter(form);
  }

  for (const link of document.querySelectorAll("a[data-coterie]")) {
    link.addEventListener("click", () => {
      const form = document.querySelector("form[data-for=annotator-table]");
      const choice = form.querySelector("select[data-column='2']");
      form.querySelector("input").value = "";
      if (choice) choice.value = link.dataset.coterie;
      filter(form);
    });
  }

  // An edge that fades says that there is more to see on that side.
  const fade = (box) => {
    const left = box.scrollLeft;
    box.classList.toggle("more-left", left > 1);
    box.classList.toggle("more-right", left + box.clientWidth < box.scrollWidth - 1);
  };
  const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => fade(target)));
  const watch = (box) => {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    watcher.observe(box);
  };
  document.querySelectorAll(".scroll").forEach(watch);

  const named = (name, scope) => {
    const heading = make("th");
    heading.scope = scope;
    heading.append(make("bdi", name));
    heading.firstChild.title = name;
    return heading;
  };

  // What an annotator answers, drawn when asked for.
  const matrix = (numbers, who) => {
    const table = make("table", undefined, data.upright ? "heat upright" : "heat");
    table.append(make("caption", `Answers of ${who}, in %`));
    const head = table.createTHead().insertRow();
    head.append(make("td", "true \\ answer", "corner"));
    for (const column of data.columns) {
      head.append(named(column, "col"));
    }
    const body = table.createTBody();
    data.rows.forEach((name, t) => {
      const row = body.insertRow();
      row.append(named(name, "row"));
      for (let c = 0; c < data.columns.length; c += 1) {
        const share = numbers[t * data.columns.length + c];
        row.append(make("td", share, `h${Math.round(share / 5)}`));
      }
    });
    return table;
  };

  const annotators = document.getElementById("annotator-table");
  [...annotators.tBodies[0].rows].forEach((row, k) => {
    const heading = row.cells[0];
    const who = heading.textContent;
    const button = make("button", undefined, "open");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.append(...heading.childNodes);
    heading.append(button);
    let detail = null;
    button.addEventListener("click", () => {
      const open = detail === null;
      button.setAttribute("aria-expanded", String(open));
      if (!open) {
        detail.remove();
        detail = null;
        return;
      }
      detail = make("tr", undefined, "detail");
      const cell = make("td");
      cell.colSpan = row.cells.length;
      const box = make("div", undefined, "scroll");
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `Answers of ${who}`);
      box.append(matrix(data.matrices[k], who));
      watch(box);
      cell.append(box);
      detail.append(cell);
      row.after(detail);
    });
  });
  for (const hint of document.querySelectorAll(".script")) hint.hidden = false;
})();
