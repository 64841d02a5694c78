// Draws a graph that the service has laid out: users and links, or discs of communities.
"use strict";
const box = document.querySelector("[data-picture]");
const canvas = box.querySelector("canvas");
const pen = canvas.getContext("2d");
const said = box.querySelector(".said");
const tools = box.querySelector(".tools");
const choice = document.getElementById("colour");
const UNIT = 1000;
const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "hexagon", "bar", "dot"];
const LARGEST = 60;
let picture = null;
let links = null;
let marks = null;
let view = { x: 0, y: 0, scale: 1 };
let chosen = -1;
let near = new Set();
let due = false;
let still = null;

function tone(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const dense = () => window.devicePixelRatio || 1;
const format = (number) => number.toLocaleString("en");
const found = () => picture.colours[choice.value];
const count = () => picture.positions.length / 2;
const world = (at) => [(picture.positions[2 * at] / picture.side) * UNIT, (picture.positions[2 * at + 1] / picture.side) * UNIT];

// The colour of a value; the values without one of their own share the last.
function colour(code) {
  return tone(found().tones[code] || "rest");
}

// How the square of the layout lies on the canvas: its size, and where it begins.
function frame() {
  const [wide, high] = [canvas.width, canvas.height];
  const edge = 14 * dense();
  const side = Math.min(wide, high) - 2 * edge;
  return {
    by: (side * view.scale) / UNIT,
    x: -(side / 2) * view.scale + wide / 2 + view.x,
    y: (edge - high / 2) * view.scale + high / 2 + view.y,
  };
}

function spotOf(at) {
  const { by, x, y } = frame();
  const [wx, wy] = world(at);
  return [wx * by + x, wy * by + y];
}

function shape(path, kind, x, y, r) {
  const corners = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    triangle: [[0, -1.3], [1.15, 0.8], [-1.15, 0.8]],
    diamond: [[0, -1.4], [1.1, 0], [0, 1.4], [-1.1, 0]],
    cross: [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
    hexagon: [[-1.2, 0], [-0.6, -1], [0.6, -1], [1.2, 0], [0.6, 1], [-0.6, 1]],
    bar: [[-1.4, -0.5], [1.4, -0.5], [1.4, 0.5], [-1.4, 0.5]],
  }[kind];
  if (!corners) {
    const size = kind === "dot" ? 0.7 * r : r;
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  corners.forEach(([dx, dy], at) => path[at ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
  path.closePath();
}

function lineUp(wanted) {
  const path = new Path2D();
  for (let at = 0; at < picture.links.length; at += 2) {
    if (wanted && !wanted(picture.links[at], picture.links[at + 1])) continue;
    path.moveTo(...world(picture.links[at]));
    path.lineTo(...world(picture.links[at + 1]));
  }
  return path;
}

// One path for all users of a value; those who are not near the chosen one are left out.
function group(radius) {
  const { codes, names } = found();
  const paths = Array.from({ length: names.length + 1 }, () => new Path2D());
  codes.forEach((code, at) => {
    if (chosen >= 0 && at !== chosen && !near.has(at)) return;
    const kind = SHAPES[code >= names.length ? SHAPES.length - 1 : code];
    shape(paths[Math.min(code, names.length)], kind, ...world(at), at === chosen ? 2 * radius : radius);
  });
  return paths;
}

function dots(by) {
  const small = canvas.clientWidth < 600 ? 0.6 : 1;
  const size = Math.max(1.6, small * Math.min(5, 100 / Math.sqrt(count()))) * dense() * Math.sqrt(view.scale);
  const key = [size, by, choice.value, chosen].join();
  if (!marks || marks.key !== key) marks = { key, paths: group(size / by) };
  // The frequent values first, so that the rare ones lie on top of them.
  pen.lineWidth = 0.6 / by;
  // The lightest of an ordered scale would hardly be seen without an edge.
  const ordered = found().tones[0].startsWith("step");
  pen.strokeStyle = tone(ordered ? "soft" : "paper");
  marks.paths.forEach((path, code) => {
    pen.fillStyle = colour(code);
    pen.fill(path);
    if (ordered || count() < 3000) pen.stroke(path);
  });
}

function discs(by) {
  const { radii } = picture.communities;
  radii.forEach((radius, at) => {
    const size = Math.max(1.5 / by, (radius / picture.side) * UNIT);
    const [x, y] = world(at);
    const disc = new Path2D();
    disc.arc(x, y, size, 0, 2 * Math.PI);
    pen.globalAlpha = chosen < 0 || at === chosen || near.has(at) ? 1 : 0.25;
    pen.fillStyle = colour(found().codes[at]);
    pen.fill(disc);
    pen.lineWidth = (at === chosen ? 3 : 1) * dense() / by;
    pen.strokeStyle = tone(at === chosen ? "ink" : "paper");
    pen.stroke(disc);
    // Colour alone tells nothing to some eyes.
    if (size * by > 9 * dense()) {
      const sign = new Path2D();
      shape(sign, SHAPES[Math.min(found().codes[at], SHAPES.length - 1)], x, y, (4 * dense()) / by);
      pen.fillStyle = tone("paper");
      pen.fill(sign);
    }
  });
  pen.globalAlpha = 1;
}

function paint() {
  due = false;
  if (!picture) return;
  const [wide, high] = [canvas.clientWidth * dense(), canvas.clientHeight * dense()];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const { by, x, y } = frame();
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, wide, high);
  pen.setTransform(by, 0, 0, by, x, y);
  pen.strokeStyle = tone("soft");
  pen.lineWidth = (0.5 * dense()) / by;
  pen.globalAlpha = chosen >= 0 ? 0.06 : Math.max(0.06, Math.min(0.35, 1500 / (picture.links.length / 2)));
  pen.stroke(links);
  pen.globalAlpha = 1;
  if (chosen >= 0) {
    pen.strokeStyle = tone("ink");
    pen.lineWidth = dense() / by;
    pen.stroke(lineUp((one, other) => one === chosen || other === chosen));
  }
  if (picture.communities) discs(by);
  else dots(by);
  still = null;
}

function draw() {
  if (!due) requestAnimationFrame(paint);
  due = true;
}

// While the picture is dragged, what was painted is moved along; it is painted anew when it stands still.
let waiting = 0;
function drag(x, y) {
  if (!still) {
    still = { image: document.createElement("canvas"), x: view.x, y: view.y };
    [still.image.width, still.image.height] = [canvas.width, canvas.height];
    still.image.getContext("2d").drawImage(canvas, 0, 0);
  }
  view = { ...view, x, y };
  if (!due) requestAnimationFrame(slide);
  due = true;
  clearTimeout(waiting);
  waiting = setTimeout(draw, 120);
}

function slide() {
  due = false;
  if (!still) return;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(still.image, view.x - still.x, view.y - still.y);
}

function sample(code) {
  const size = 12 * dense();
  const small = document.createElement("canvas");
  [small.width, small.height] = [size, size];
  small.setAttribute("aria-hidden", "true");
  const inside = small.getContext("2d");
  const path = new Path2D();
  const all = found();
  shape(path, SHAPES[code >= all.names.length ? SHAPES.length - 1 : code], size / 2, size / 2, size / 3.2);
  inside.fillStyle = colour(code);
  inside.fill(path);
  return small;
}

function legend() {
  const { names, codes, other } = found();
  const all = codes.some((code) => code >= names.length) ? [...names, other] : names;
  box.querySelector(".legend").replaceChildren(
    ...all.map((name, code) => {
      const entry = document.createElement("li");
      entry.append(sample(code), name);
      return entry;
    }),
  );
}

function facts() {
  const all = picture.communities ? "pairs of communities" : "linked pairs";
  const shown = picture.drawn === picture.of ? `All ${format(picture.of)} ${all} are drawn.` : `${format(picture.drawn)} of ${format(picture.of)} ${all} are drawn, a random sample.`;
  const what = picture.communities
    ? `${format(picture.users)} users are too many to draw one by one. Each disc is a community; larger discs hold more users, and the colour shows the most frequent value.`
    : `${format(picture.users)} users. Click on a user to see their links.`;
  said.textContent = `${what} ${shown}`;
}

// What leads to the neighbours of a user; of an original, the form that keeps the user out of the address.
function linked(id) {
  const find = document.getElementById("find");
  const link = document.createElement(find?.method === "post" ? "button" : "a");
  link.textContent = "see all of them";
  if (link.localName === "button") {
    link.className = "link";
    link.addEventListener("click", () => {
      find.elements.user.value = id;
      find.requestSubmit();
    });
    return link;
  }
  const address = new URL(box.dataset.user, location.href);
  address.searchParams.set("user", id);
  address.hash = "neighbours";
  link.href = address;
  return link;
}

function tell(at) {
  if (picture.communities) {
    const { sizes, inside } = picture.communities;
    said.textContent = `Community ${at + 1} of ${format(count())}: ${format(sizes[at])} users, ${format(inside[at])} links among them, linked with ${format(near.size)} other communities.`;
    return;
  }
  const id = picture.ids[at];
  const values = ["continent", "topic1"].map((each) => picture.colours[each]).map((each) => each.names[each.codes[at]] || each.other);
  const link = linked(id);
  const sampled = picture.drawn === picture.of ? "" : " in the sample";
  const shared = picture.colours.class.sizes[at];
  const alike = shared > 1 ? `${format(shared)} users have this profile` : "nobody else has this profile";
  said.replaceChildren(`User ${id}: ${values.join(", ")}; ${alike}; linked with ${format(near.size)}${sampled}: `, link);
}

function choose(at) {
  chosen = at;
  near = new Set();
  for (let each = 0; at >= 0 && each < picture.links.length; each += 2) {
    if (picture.links[each] === at) near.add(picture.links[each + 1]);
    if (picture.links[each + 1] === at) near.add(picture.links[each]);
  }
  if (at < 0) facts();
  else tell(at);
  draw();
}

// From user to user, those with the most links first; of discs the largest.
let order = null;
function step(by) {
  if (!order) {
    const links = new Uint32Array(count());
    for (const end of picture.links) links[end] += 1;
    order = Array.from(links.keys()).sort((one, other) => (picture.communities ? one - other : links[other] - links[one]));
  }
  const next = chosen < 0 && by < 0 ? -1 : order.indexOf(chosen) + by;
  choose(order[(next + order.length) % order.length]);
  const [x, y] = spotOf(chosen);
  const margin = 30 * dense();
  if (x < margin || y < margin || x > canvas.width - margin || y > canvas.height - margin) {
    view = { ...view, x: view.x + canvas.width / 2 - x, y: view.y + canvas.height / 2 - y };
  }
}

function zoom(by, x = canvas.width / 2, y = canvas.height / 2) {
  const scale = Math.max(1, Math.min(LARGEST, view.scale * by));
  const grown = scale / view.scale;
  const [wide, high] = [canvas.width / 2, canvas.height / 2];
  view = scale === 1 ? { x: 0, y: 0, scale } : { x: (view.x + wide - x) * grown + x - wide, y: (view.y + high - y) * grown + y - high, scale };
  draw();
}

function spot(event) {
  const edge = canvas.getBoundingClientRect();
  const by = canvas.width / edge.width;
  return [(event.clientX - edge.left) * by, (event.clientY - edge.top) * by];
}

function nearest([x, y]) {
  const { by, x: left, y: top } = frame();
  let best = -1;
  let least = 18 * dense();
  for (let at = 0; at < count(); at += 1) {
    const [wx, wy] = world(at);
    const inside = picture.communities ? (picture.communities.radii[at] / picture.side) * UNIT * by : 0;
    const far = Math.hypot(wx * by + left - x, wy * by + top - y) - inside;
    if (far < least) [best, least] = [at, far];
  }
  return best;
}

let held = null;
canvas.addEventListener("pointerdown", (event) => {
  held = { at: spot(event), x: view.x, y: view.y, moved: false };
});
addEventListener("pointermove", (event) => {
  if (!held || !picture) return;
  const [x, y] = spot(event);
  if (Math.hypot(x - held.at[0], y - held.at[1]) > 6) held.moved = true;
  if (held.moved) drag(held.x + x - held.at[0], held.y + y - held.at[1]);
});
addEventListener("pointerup", (event) => {
  if (held && !held.moved && picture && event.target === canvas) choose(nearest(spot(event)));
  held = null;
});
addEventListener("pointercancel", () => {
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
  if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  const link = said.querySelector("a");
  if (event.key === "+" || event.key === "=") zoom(1.4);
  else if (event.key === "-") zoom(1 / 1.4);
  else if (event.key === "n" || event.key === "N") step(1);
  else if (event.key === "p" || event.key === "P") step(-1);
  else if (event.key === "Enter" && link) link.click();
  else if (event.key === "Escape") choose(-1);
  else if (moves[event.key]) drag(view.x + moves[event.key][0], view.y + moves[event.key][1]);
  else return;
  event.preventDefault();
});
tools.addEventListener("click", (event) => {
  const what = event.target.dataset.do;
  if (what === "in") zoom(1.4);
  if (what === "out") zoom(1 / 1.4);
  if (what === "next") step(1);
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
  legend();
  draw();
});

(async () => {
  const slow = setTimeout(() => {
    said.textContent = "Laying out the graph … The first one after an installation takes about ten seconds, to compile code.";
  }, 2000);
  try {
    const answer = await fetch(box.dataset.picture);
    if (!answer.ok) throw new Error(`The picture could not be loaded (${answer.status}). Load the page again.`);
    picture = await answer.json();
    links = lineUp();
    choice.replaceChildren(...Object.entries(picture.colours).map(([name, each]) => new Option(each.title, name, false, name === box.dataset.colour)));
    tools.hidden = false;
    legend();
    facts();
    paint();
    canvas.dataset.drawn = "yes";
  } catch (error) {
    said.textContent = error.message;
  } finally {
    clearTimeout(slow);
  }
})();
