// Progress of the work that is going on.

const STAGES = new Map([
  ["looking at every column", "Looking at every column"],
  ["reading the table", "Reading the table"],
  ["searching", "Searching for links"],
  ["refitting without each link", "Asking what each link adds"],
  ["writing the report", "Writing the report"],
  ["fitting the model", "Fitting the model of all columns"],
  ["predicting", "Predicting each column"],
  ["judging pairs", "Asking what could have been found"],
  ["explaining pairs", "Explaining pairs without a link"],
]);

function timeOf(seconds) {
  if (seconds < 90) return Math.max(1, Math.round(seconds)) + " s";
  return seconds < 5400 ? Math.round(seconds / 60) + " min" : (seconds / 3600).toFixed(1) + " h";
}

function showWork(status) {
  const words = status.doing ? STAGES.get(status.doing) || status.doing[0].toUpperCase() + status.doing.slice(1) : "Starting";
  const doing = words + (status.words ? ": " + status.words : "");
  if (byId("doing").textContent !== doing) byId("doing").textContent = doing;
  const bar = byId("bar");
  if (status.total) {
    bar.max = status.total;
    bar.value = status.done;
  } else {
    bar.removeAttribute("value");
  }
  const left = status.left === null || status.left === undefined ? "" : "about " + timeOf(status.left) + " left for this step, ";
  byId("left").textContent = status.elapsed === undefined ? "" : left + timeOf(status.elapsed) + " so far";
}

// Wait until the work on a table ends, and say how it ended.
async function follow(key) {
  byId("work").hidden = false;
  byId("stop").disabled = false;
  showWork({});
  try {
    for (;;) {
      const status = await ask("tables/" + key);
      if (status.state !== "running") return status;
      showWork(status);
      await pause(250);
    }
  } finally {
    byId("work").hidden = true;
  }
}
