// Works at a hierarchy by keyboard: every step is a form of the page, sent without loading the page anew.
"use strict";
const told = document.getElementById("told");
const refused = document.getElementById("refused");
const STEPS = ["names", "join", "out", "level", "drop", "undo", "settle"];
let editor = document.getElementById("editor");
let here = null;
let editing = null;
let busy = false;

const cells = () => [...editor.querySelectorAll(".grid input[type=text]")];
const ticks = () => [...editor.querySelectorAll(".grid [name=tick]:checked")];
const cellAt = (name) => cells().find((each) => each.name === name);

function prepare() {
  editor.querySelectorAll(".scripted").forEach((each) => (each.hidden = false));
  editor.querySelectorAll(".unscripted").forEach((each) => (each.hidden = true));
  const every = cells();
  every.forEach((each) => {
    each.readOnly = true;
    each.tabIndex = -1;
  });
  const first = cellAt(here) || every[0];
  if (first) first.tabIndex = 0;
}

// Names are told apart from those of other groups by the service; only what was changed is sent.
async function step(does, changes = {}) {
  if (busy) return;
  busy = true;
  const form = editor.querySelector("form.edited");
  const sent = new URLSearchParams(new FormData(form));
  [...sent.keys()].filter((key) => key.startsWith("label-")).forEach((key) => sent.delete(key));
  sent.set("do", does);
  Object.entries(changes).forEach(([key, value]) => {
    sent.delete(key);
    [value].flat().forEach((each) => sent.append(key, each));
  });
  const focused = document.activeElement;
  try {
    const answer = await fetch(form.action, { method: "POST", body: sent });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("editor");
    refused.hidden = answer.ok;
    if (!answer.ok || !next) {
      refused.textContent = page.querySelector("main p, main")?.textContent || "This was not possible.";
      refused.hidden = false;
      cells().forEach((each) => (each.value = each.defaultValue));
      return;
    }
    editor.replaceWith(next);
    editor = next;
    prepare();
    told.textContent = editor.dataset.told;
    again(focused);
  } catch {
    refused.textContent = "The service does not answer. Nothing was changed.";
    refused.hidden = false;
  } finally {
    busy = false;
  }
}

// Where the focus was, or what is left of it.
function again(focused) {
  if (focused?.value && focused.name === "do") {
    const same = editor.querySelector(`button[name=do][value="${focused.value}"]:not(.hidden)`);
    if (same && !same.disabled) return same.focus();
  }
  const cell = cellAt(here) || cells()[0];
  if (cell) cell.focus();
}

function move(cell, rows, columns) {
  const lines = [...editor.querySelectorAll(".grid tbody tr")];
  const line = lines[lines.indexOf(cell.closest("tr")) + rows];
  const level = Number(cell.dataset.level) + columns;
  const next = line?.querySelector(`input[data-level="${level}"]`);
  if (next) next.focus();
}

function above(cell) {
  const line = cells().filter((each) => each.dataset.level === cell.dataset.level);
  const before = line.slice(0, line.indexOf(cell)).reverse();
  return before.find((each) => each.value && each.value !== cell.value);
}

function join(cell) {
  const ticked = ticks();
  if (ticked.length && cell.value) return step("join", { at: cell.dataset.level, into: cell.value, tick: ticked.map((each) => each.value) });
  const other = above(cell);
  if (other) return step("names", { [cell.name]: other.value });
  told.textContent = "There is no group above to join.";
}

function edit(cell, text) {
  editing = cell;
  cell.readOnly = false;
  if (text === undefined) cell.select();
  else cell.value = text;
}

function leave(keep) {
  const cell = editing;
  editing = null;
  if (!cell) return;
  cell.readOnly = true;
  const name = cell.value.trim();
  if (keep && name && name !== cell.defaultValue) step("names", { [cell.name]: name });
  else cell.value = cell.defaultValue;
}

function pressed(event, cell) {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (moves[event.key]) move(cell, ...moves[event.key]);
  else if (event.key === "Enter") join(cell);
  else if (event.key === "F2") edit(cell);
  else if (event.key === " ") cell.closest("tr").querySelector("[name=tick]").click();
  else if (event.key === "Delete" || event.key === "Backspace") {
    const ticked = ticks().map((each) => each.value);
    step("out", { at: cell.dataset.level, tick: ticked.length ? ticked : [cell.dataset.place] });
  } else if (event.key.length === 1) edit(cell, event.key);
  else return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  const field = event.target;
  const isCell = field.matches?.(".grid input[type=text]");
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && (isCell ? !editing : !field.matches("input"))) {
    event.preventDefault();
    return step("undo");
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !editing && (isCell || !field.matches("input, select, textarea"))) {
    event.preventDefault();
    return document.getElementById("q").focus();
  }
  if (field.id === "into" && event.key === "Enter") {
    event.preventDefault();
    return step("join");
  }
  if (!isCell) return;
  if (!editing) return pressed(event, field);
  if (event.key === "Enter" || event.key === "Escape") {
    event.preventDefault();
    leave(event.key === "Enter");
  }
});

document.addEventListener("focusin", (event) => {
  if (!event.target.matches?.(".grid input[type=text]")) return;
  here = event.target.name;
  cells().forEach((each) => (each.tabIndex = each === event.target ? 0 : -1));
});

document.addEventListener("focusout", (event) => {
  if (event.target === editing) leave(true);
});

document.addEventListener("dblclick", (event) => {
  if (event.target.matches(".grid input[type=text]")) edit(event.target);
});

document.addEventListener("change", (event) => {
  if (event.target.name === "tick") event.target.closest("tr").classList.toggle("ticked", event.target.checked);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-rename]")) return;
  const cell = cellAt(here) || cells()[0];
  if (!cell) return;
  cell.focus();
  edit(cell);
});

document.addEventListener("submit", (event) => {
  const does = event.submitter?.value;
  if (!event.target.matches("form.edited") || !STEPS.includes(does)) return;
  event.preventDefault();
  step(does);
});

prepare();
