// Follows a job: by events where the service has a stream to spare, else by asking again and again.
"use strict";
const line = document.querySelector("[data-watch]");
const address = line.dataset.watch;
const bar = line.querySelector("progress");
const words = line.querySelector(".phase");

function show(progress) {
  if (!progress) return;
  if (progress.of) {
    bar.max = progress.of;
    bar.value = progress.done;
  } else {
    bar.removeAttribute("value");
  }
  const share = progress.of ? ` ${Math.round((100 * progress.done) / progress.of)}%` : "";
  const left = progress.seconds_left === null || progress.seconds_left === undefined ? "" : `, about ${Math.round(progress.seconds_left)} s left`;
  words.textContent = progress.phase + share + left;
}

function follow(state) {
  if (["done", "failed", "cancelled"].includes(state)) {
    location.reload();
    return true;
  }
  return false;
}

async function poll() {
  try {
    const answer = await fetch(address);
    if (answer.status === 401 || answer.status === 404) return location.reload();
    if (answer.ok) {
      const job = await answer.json();
      if (follow(job.state)) return;
      show(job.progress);
    }
  } catch {
    // The service may be starting again; ask later.
  }
  setTimeout(poll, 2000);
}

const source = new EventSource(`${address}/events`);
source.addEventListener("state", (event) => {
  if (follow(JSON.parse(event.data).state)) source.close();
});
source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
source.onerror = () => {
  // A stream that was only cut is taken up by the browser; one that was refused is not.
  if (source.readyState === EventSource.CLOSED) poll();
};
addEventListener("pagehide", () => source.close());
