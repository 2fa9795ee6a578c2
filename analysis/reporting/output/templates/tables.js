// Sorts and filters the tables of a page. A page works without it: then tables stay in the order of the report.
"use strict";
const number = text => {
  const plain = text.replace(/[,\s]/g, "").replace("\u2212", "-").replace(/^[<>]/, "");
  if (plain.endsWith("\u221e")) return plain.startsWith("-") ? -Number.MAX_VALUE : Number.MAX_VALUE;
  const found = /^-?\d*\.?\d+/.exec(plain);
  return found ? Number(found[0]) : null;
};
// The value of a cell, without the interval below it.
const value = (row, column) => {
  const cell = row.cells[column].cloneNode(true);
  cell.querySelectorAll("small").forEach(small => small.remove());
  return cell.textContent.trim();
};
const compare = (a, b) => {
  if (a === "" || b === "") return 0;
  const [x, y] = [number(a), number(b)];
  return x !== null && y !== null ? x - y : a.localeCompare(b, undefined, {numeric: true});
};

function makeSortable(table) {
  const body = table.tBodies[0], headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const up = header.getAttribute("aria-sort") === "descending" || !header.classList.contains("number") && !header.ariaSort;
      headers.forEach(other => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = [...body.rows].map(row => [value(row, column), row]);
      // Empty cells stay last, whatever the direction.
      keyed.sort(([a], [b]) => (a === "") - (b === "") || (up ? compare(a, b) : compare(b, a)));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

function makeFilterable(details, table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 5) return;
  const label = document.createElement("label"), input = document.createElement("input");
  const count = document.createElement("output");
  input.type = "search";
  label.append("Rows with ", input, " ", count);
  label.className = "filter";
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
  details.querySelector("summary").after(label);
}

// Key columns stay in view side by side; the style sheet alone can hold the first one only.
function holdKeys(table) {
  let left = 0;
  for (const header of table.tHead.rows[0].querySelectorAll(".key")) {
    for (const row of table.rows) row.cells[header.cellIndex].style.left = `${left}px`;
    left += header.offsetWidth;
  }
  table.classList.toggle("held", left < table.parentElement.clientWidth / 2);
}

for (const details of document.querySelectorAll("details.table")) {
  const table = details.querySelector("table");
  makeSortable(table);
  makeFilterable(details, table);
  if (details.open) holdKeys(table);
  details.addEventListener("toggle", () => details.open && holdKeys(table));
}
// A link to something inside a folded part opens it.
const reveal = () => document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", reveal);
reveal();
