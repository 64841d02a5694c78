// Draws a graph that the service has laid out: users and links, or discs of communities.
"use strict";
const box = document.querySelector("[data-picture]");
const canvas = box.querySelector("canvas");
const pen = canvas.getContext("2d");
const said = box.querySelector(".said");
const tools = box.querySelector(".tools");
const choice = document.getElementById("colour");
let picture = null;
let view = { x: 0, y: 0, scale: 1 };
let chosen = -1;
let near = new Set();
let palette = [];
let due = false;

function tone(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function colours() {
  palette = [1, 2, 3, 4, 5, 6, 7].map((each) => tone(`series-${each}`)).concat(tone("rest"));
}

// Whole numbers of the layout, on the canvas in the part of it that is looked at.
function place(at) {
  const [wide, high] = [canvas.width, canvas.height];
  const edge = 12 * (window.devicePixelRatio || 1);
  const side = Math.min(wide, high) - 2 * edge;
  const x = (wide - side) / 2 + (picture.positions[2 * at] / picture.side) * side;
  const y = edge + (picture.positions[2 * at + 1] / picture.side) * side;
  return [(x - wide / 2) * view.scale + wide / 2 + view.x, (y - high / 2) * view.scale + high / 2 + view.y];
}

function lines(wanted) {
  pen.beginPath();
  const links = picture.links;
  for (let at = 0; at < links.length; at += 2) {
    if (wanted && !wanted(links[at], links[at + 1])) continue;
    pen.moveTo(...place(links[at]));
    pen.lineTo(...place(links[at + 1]));
  }
  pen.stroke();
}

function dots(radius) {
  const codes = picture.colours[choice.value].codes;
  const groups = palette.map(() => []);
  for (let at = 0; at < codes.length; at += 1) groups[codes[at]].push(at);
  // The frequent values first, so that the rare ones lie on top of them.
  groups.forEach((users, code) => {
    pen.fillStyle = palette[code];
    pen.beginPath();
    for (const at of users) {
      if (chosen >= 0 && at !== chosen && !near.has(at)) continue;
      const [x, y] = place(at);
      pen.moveTo(x + radius, y);
      pen.arc(x, y, at === chosen ? 1.8 * radius : radius, 0, 2 * Math.PI);
    }
    pen.fill();
  });
}

function discs() {
  const found = picture.communities;
  const side = Math.min(canvas.width, canvas.height) * view.scale;
  found.radii.forEach((radius, at) => {
    const [x, y] = place(at);
    pen.fillStyle = palette[at % 7];
    pen.beginPath();
    pen.arc(x, y, Math.max(1.5, (radius / picture.side) * side), 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  });
}

function paint() {
  due = false;
  if (!picture) return;
  const dense = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * dense;
  canvas.height = canvas.clientHeight * dense;
  const radius = Math.max(1.2, Math.min(5, 90 / Math.sqrt(picture.positions.length / 2))) * dense * Math.sqrt(view.scale);
  pen.strokeStyle = tone("soft");
  pen.lineWidth = 0.5 * dense;
  pen.globalAlpha = chosen >= 0 ? 0.05 : Math.max(0.06, Math.min(0.35, 1500 / (picture.links.length / 2)));
  lines();
  pen.globalAlpha = 1;
  if (chosen >= 0) {
    pen.strokeStyle = tone("ink");
    pen.lineWidth = dense;
    lines((one, other) => one === chosen || other === chosen);
  }
  pen.strokeStyle = tone("paper");
  if (picture.communities) discs();
  else dots(radius);
}

function draw() {
  if (!due) requestAnimationFrame(paint);
  due = true;
}

function legend() {
  const list = box.querySelector(".legend");
  const found = picture.colours[choice.value];
  if (!found) return;
  const names = found.names.slice();
  if (found.codes.includes(7)) names[7] = "others";
  list.replaceChildren(
    ...Object.keys(names).map((code) => {
      const entry = document.createElement("li");
      const sample = document.createElement("i");
      sample.style.background = palette[code];
      entry.append(sample, names[code]);
      return entry;
    }),
  );
}

function facts() {
  const links = picture.of.toLocaleString("en");
  const all = picture.communities ? "pairs of communities" : "linked pairs";
  const shown = picture.drawn === picture.of ? `All ${links} ${all} are drawn.` : `${picture.drawn.toLocaleString("en")} of ${links} ${all} are drawn, a random sample.`;
  const what = picture.communities
    ? `${picture.users.toLocaleString("en")} users are too many to draw one by one: each disc is a community, as large as it has users.`
    : `${picture.users.toLocaleString("en")} users. Click on one to see who is linked with them.`;
  said.textContent = `${what} ${shown}`;
}

function choose(at) {
  chosen = at;
  near = new Set();
  if (at < 0 || picture.communities) {
    facts();
    return draw();
  }
  for (let each = 0; each < picture.links.length; each += 2) {
    if (picture.links[each] === at) near.add(picture.links[each + 1]);
    if (picture.links[each + 1] === at) near.add(picture.links[each]);
  }
  const id = picture.ids[at];
  const values = Object.entries(picture.colours).map(([, each]) => each.names[each.codes[at]] || "others");
  const link = document.createElement("a");
  link.href = `${box.dataset.user}&user=${encodeURIComponent(id)}#neighbours`;
  link.textContent = "all about them";
  const sampled = picture.drawn === picture.of ? "" : " in the sample";
  said.replaceChildren(`User ${id}: ${values.join(", ")}; linked with ${near.size}${sampled}; `, link);
  draw();
  return undefined;
}

function zoom(by, x = canvas.width / 2, y = canvas.height / 2) {
  const scale = Math.max(1, Math.min(40, view.scale * by));
  const step = scale / view.scale;
  const [wide, high] = [canvas.width / 2, canvas.height / 2];
  view = scale === 1 ? { x: 0, y: 0, scale } : { x: (view.x + wide - x) * step + x - wide, y: (view.y + high - y) * step + y - high, scale };
  draw();
}

function spot(event) {
  const frame = canvas.getBoundingClientRect();
  const dense = canvas.width / frame.width;
  return [(event.clientX - frame.left) * dense, (event.clientY - frame.top) * dense];
}

function nearest([x, y]) {
  let best = -1;
  let least = (18 * (window.devicePixelRatio || 1)) ** 2;
  for (let at = 0; at < picture.positions.length / 2; at += 1) {
    const [px, py] = place(at);
    const far = (px - x) ** 2 + (py - y) ** 2;
    if (far < least) [best, least] = [at, far];
  }
  return best;
}

let held = null;
canvas.addEventListener("pointerdown", (event) => {
  held = { at: spot(event), x: view.x, y: view.y, moved: false };
});
canvas.addEventListener("pointermove", (event) => {
  if (!held || !picture) return;
  const [x, y] = spot(event);
  if (Math.hypot(x - held.at[0], y - held.at[1]) > 6) held.moved = true;
  if (held.moved && view.scale > 1) {
    view = { ...view, x: held.x + x - held.at[0], y: held.y + y - held.at[1] };
    draw();
  }
});
addEventListener("pointerup", (event) => {
  if (held && !held.moved && picture && event.target === canvas) choose(nearest(spot(event)));
  held = null;
});
canvas.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey || !picture) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8, ...spot(event));
  },
  { passive: false },
);
canvas.addEventListener("keydown", (event) => {
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (event.key === "+" || event.key === "=") zoom(1.4);
  else if (event.key === "-") zoom(1 / 1.4);
  else if (event.key === "Escape") choose(-1);
  else if (moves[event.key] && view.scale > 1) {
    view = { ...view, x: view.x + moves[event.key][0], y: view.y + moves[event.key][1] };
    draw();
  } else return;
  event.preventDefault();
});
tools.addEventListener("click", (event) => {
  const what = event.target.dataset.do;
  if (what === "in") zoom(1.4);
  if (what === "out") zoom(1 / 1.4);
  if (what === "whole") {
    zoom(0.001);
    choose(-1);
  }
});
choice.addEventListener("change", () => {
  legend();
  draw();
});
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours();
  legend();
  draw();
});

(async () => {
  try {
    const answer = await fetch(box.dataset.picture);
    if (!answer.ok) throw new Error(`The picture did not come (${answer.status}).`);
    picture = await answer.json();
    tools.hidden = false;
    if (picture.communities) choice.closest("span").hidden = true;
    colours();
    legend();
    facts();
    draw();
    canvas.dataset.drawn = "yes";
  } catch (error) {
    said.textContent = error.message;
  }
})();
