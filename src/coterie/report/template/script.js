"use strict";
(() => {
  // What is shown on demand: unpacked once, when the page is there.
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const canUnpack = "DecompressionStream" in window;
  const data = canUnpack ? unpack() : null;
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
    if (form.querySelector("[data-all]")) return find(form, table);
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

  const cut = (text) => (text.length > 60 ? `${text.slice(0, 38)}…${text.slice(-21)}` : text);
  const isolated = (text, name) => {
    const word = make("bdi", cut(text), name);
    if (text.length > 60) word.title = text;
    return word;
  };

  // Who said what of an item: answers by how many gave them, with names where there is room.
  const said = (items, start, n) => {
    const by = new Map();
    for (let k = start; k < start + n; k += 1) {
      const some = by.get(items.answer[k]) ?? [];
      some.push(items.who ? items.people[items.who[k]] : null);
      by.set(items.answer[k], some);
    }
    const list = make("ul");
    for (const [c, names] of [...by].sort((a, b) => b[1].length - a[1].length)) {
      const line = make("li");
      line.append(isolated(items.answers[c], "answer"), " ", make("span", `×${names.length}`, "soft"), " ");
      names.slice(0, items.who ? 12 : 0).forEach((name, k) => line.append(k ? ", " : "", isolated(name)));
      if (items.who && names.length > 12) line.append(` and ${names.length - 12} more`);
      list.append(line);
    }
    return list;
  };

  const itemRow = (items, i) => {
    const row = make("tr");
    const heading = make("th", undefined, items.text ? "l name with-text" : "l name");
    heading.scope = "row";
    heading.append(isolated(items.item[i]));
    if (items.text?.[i]) {
      const text = make("p", undefined, "text");
      text.append(make("bdi", items.text[i]));
      heading.append(text);
    }
    const label = make("td", undefined, "l name");
    label.append(isolated(items.answers[items.label[i]]));
    const sure = make("td", items.isKnown.has(i) ? "known" : items.words[items.sure[i]]);
    sure.dataset.v = parseFloat(items.words[items.sure[i]].replace(/[<>]/, ""));
    const second = make("td", undefined, "l name soft more");
    if (items.p2[i] > 0) second.append(isolated(items.answers[items.second[i]]), ` (${items.p2[i]}\u00a0%)`);
    else second.append("–");
    const cell = make("td", undefined, "l said");
    if (items.answer) cell.append(said(items, items.start[i], items.n[i]));
    row.append(heading, label, sure, second, make("td", items.n[i].toLocaleString("en"), "more"), cell);
    return row;
  };

  const prepared = async () => {
    const { items } = (await data) ?? {};
    if (!items || items.start) return items;
    let end = 0;
    items.start = items.n.map((n) => (end += n) - n);
    items.lower = items.item.map((name, i) => `${name}\n${items.text?.[i] ?? ""}`.toLocaleLowerCase());
    items.isKnown = new Set(items.known);
    return items;
  };

  // All items are searched, not only those that are listed; the first that fit are shown.
  const MOST = 50;
  const listed = new Map();
  const find = async (form, table) => {
    const field = form.querySelector("[data-all]");
    const body = table.tBodies[0];
    if (!listed.has(table)) listed.set(table, [...body.rows]);
    const every = listed.get(table);
    const wanted = field.value.toLocaleLowerCase();
    const output = form.querySelector("output");
    const say = (n) => n.toLocaleString("en");
    if (!wanted) {
      if (field.dataset.searched) body.replaceChildren(...every);
      delete field.dataset.searched;
      output.textContent = `${say(every.length)} shown`;
      return;
    }
    const items = await prepared();
    if (field.value.toLocaleLowerCase() !== wanted) return;
    if (!items) {
      const fits = every.filter((row) => row.cells[0].textContent.toLocaleLowerCase().includes(wanted));
      body.replaceChildren(...fits);
      output.textContent = `${say(fits.length)} of the ${say(every.length)} listed`;
    } else {
      const fits = [];
      items.lower.forEach((name, i) => name.includes(wanted) && fits.push(i));
      body.replaceChildren(...fits.slice(0, MOST).map((i) => itemRow(items, i)));
      const some = fits.length > MOST ? `, the first ${MOST} shown` : "";
      output.textContent = fits.length ? `${say(fits.length)} of ${say(items.item.length)}${some}` : "none fits";
    }
    field.dataset.searched = "1";
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

  // What an annotator answers, drawn when asked for: percents, 95 % intervals, numbers of labels.
  const matrix = ({ upright, rows, columns, matrices }, k, who) => {
    const table = make("table", undefined, upright ? "heat upright" : "heat");
    const low = matrices.low?.[k];
    table.append(make("caption", `Answers of ${who}, in %`));
    const head = table.createTHead().insertRow();
    head.append(make("td", "true \\ answer", "corner"));
    for (const column of columns) {
      head.append(named(column, "col"));
    }
    const body = table.createTBody();
    rows.forEach((name, t) => {
      const row = body.insertRow();
      row.append(named(name, "row"));
      for (let c = 0; c < columns.length; c += 1) {
        const place = t * columns.length + c;
        const share = matrices.mean[k][place];
        const cell = make("td", share, `h${Math.round(share / 5)}`);
        if (low) cell.append(make("small", `${low[place]}–${matrices.high[k][place]}`));
        cell.append(make("small", `×${matrices.count[k][place]}`));
        row.append(cell);
      }
    });
    return table;
  };

  const annotators = document.getElementById("annotator-table");
  if (canUnpack) [...annotators.tBodies[0].rows].forEach((row, k) => {
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
      const note = make("p", undefined, "soft note");
      data.then((all) => {
        box.append(matrix(all, k, who));
        const reach = all.matrices.low?.[k] ? "95 % intervals, and " : "";
        note.textContent = `Below each: ${reach}the number of labels, counted by what items are called now.`;
      });
      watch(box);
      cell.append(box, note);
      detail.append(cell);
      row.after(detail);
    });
  });
  for (const hint of document.querySelectorAll(".script")) hint.hidden = false;
})();
