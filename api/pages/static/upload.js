// Sends a file of any size in pieces, and goes on where a cut one ended.
"use strict";
const form = document.querySelector("[data-upload]");
const PIECE = 4 * 1024 * 1024;
const TRIES = 6;
const mark = { [form.dataset.upload]: form.elements.form.value };

async function asked(path, options) {
  const answer = await fetch(path, options);
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.detail), { final: answer.status < 500 && ![409, 429].includes(answer.status) });
  return told;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

async function send(file, show) {
  let upload = await asked("/v1/uploads", {
    method: "POST",
    headers: { ...mark, "Content-Type": "application/json" },
    body: JSON.stringify({ size: file.size }),
  });
  const began = performance.now();
  let failures = 0;
  while (!upload.finished) {
    try {
      const piece = file.slice(upload.offset, upload.offset + PIECE);
      const path = `/v1/uploads/${upload.id}?offset=${upload.offset}`;
      upload = await asked(path, { method: "PUT", headers: { ...mark, "Content-Type": "application/octet-stream" }, body: piece });
      failures = 0;
    } catch (error) {
      failures += 1;
      if (error.final || failures > TRIES) throw error;
      await new Promise((done) => setTimeout(done, 500 * 2 ** failures));
      upload = await asked(`/v1/uploads/${upload.id}`, {}).catch(() => upload);
    }
    show(upload.offset, (upload.offset / (performance.now() - began)) * 1000);
  }
  return upload.id;
}

form.addEventListener("submit", async (event) => {
  const file = form.elements.file.files[0];
  if (!file || form.elements.upload.value) return;
  event.preventDefault();
  const [sending, wrong, button] = [".sending", ".problem", "button"].map((each) => form.querySelector(each));
  sending.hidden = false;
  wrong.hidden = true;
  button.disabled = true;
  try {
    form.elements.upload.value = await send(file, (bytes, rate) => {
      sending.querySelector("progress").value = bytes / file.size;
      sending.querySelector("span").textContent = `${size(bytes)} of ${size(file.size)}, ${size(rate)} a second`;
    });
    form.elements.filename.value = file.name;
    form.elements.file.disabled = true;
    form.submit();
  } catch (error) {
    wrong.textContent = error.message;
    wrong.hidden = false;
    sending.hidden = true;
    button.disabled = false;
  }
});
