// Asks for a page again that could not be shown for the moment, and shows it once it is there.
"use strict";
const WAIT = 2000;

async function ask() {
  let status = 503;
  try {
    status = (await fetch(location.href, { headers: { Accept: "text/html" } })).status;
  } catch {
    // The service is away: that may pass, too.
  }
  if (status === 503) setTimeout(ask, WAIT);
  else location.reload();
}

setTimeout(ask, WAIT);
