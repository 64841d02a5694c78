// Follows jobs: one by events where the service has a stream to spare, else by asking again and again.
"use strict";
const ENDED = ["done", "failed", "cancelled"];
const watched = [...document.querySelectorAll("[data-watch]")];

function left(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return `, about ${Math.round(seconds)} s left`;
  return seconds < 5400 ? `, about ${Math.round(seconds / 60)} min left` : `, about ${Math.round(seconds / 3600)} h left`;
}

function show(line, progress) {
  if (!progress) return;
  const bar = line.querySelector("progress");
  if (progress.of) {
    bar.max = progress.of;
    bar.value = progress.done;
  } else {
    bar.removeAttribute("value");
  }
  const share = progress.of ? ` ${Math.round((100 * progress.done) / progress.of)} %` : "";
  line.querySelector(".phase").textContent = progress.phase + share + left(progress.seconds_left);
}

// Who has just clicked on something goes there, not to this page anew; after a download it is still here.
let leaves = false;
let delayed = false;
addEventListener("beforeunload", () => (leaves = true));
function renew() {
  // One job after the other may end meanwhile.
  if (delayed) return;
  if (!leaves) return location.reload();
  leaves = false;
  delayed = true;
  setTimeout(() => {
    delayed = false;
    renew();
  }, 3000);
}

function follow(state) {
  if (!ENDED.includes(state)) return false;
  renew();
  return true;
}

// The page itself says how what is best so far looks now.
let waits = false;
async function redraw() {
  if (waits || !document.querySelector("[data-live]")) return;
  waits = true;
  try {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const now of document.querySelectorAll("[data-live]")) {
      const next = answer.ok && page.getElementById(now.id);
      // Who is reading it is not disturbed.
      if (next && !now.contains(document.activeElement)) now.replaceWith(next);
    }
  } catch {
    // The service may be starting again; the next event tries again.
  }
  setTimeout(() => (waits = false), 1000);
}

async function poll(line) {
  try {
    const answer = await fetch(line.dataset.watch);
    if (answer.status === 401 || answer.status === 404) return renew();
    if (answer.ok) {
      const job = await answer.json();
      if (follow(job.state)) return;
      show(line, job.progress);
      if (job.best) redraw();
    }
  } catch {
    // The service may be starting again; ask later.
  }
  setTimeout(() => poll(line), 2000);
}

function listen(line) {
  const source = new EventSource(`${line.dataset.watch}/events`);
  source.addEventListener("state", (event) => {
    if (follow(JSON.parse(event.data).state)) source.close();
  });
  source.addEventListener("progress", (event) => show(line, JSON.parse(event.data)));
  source.addEventListener("best", redraw);
  source.onerror = () => {
    // A stream that was only cut is taken up by the browser; one that was refused is not.
    if (source.readyState === EventSource.CLOSED) poll(line);
  };
  addEventListener("pagehide", () => source.close());
}

// A stream holds a thread of the service: a page with several jobs asks.
if (watched.length === 1) listen(watched[0]);
else watched.forEach(poll);
