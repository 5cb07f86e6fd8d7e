// From a dropped file to a report. A tab has one table, whose key is in its address.

const tab = { key: null, found: null, choices: [], fit: {}, reading: {}, colours: new Map(), extras: new Set() };

const MISSING = [
  ["error", "there are none"],
  ["model", "fill them from the model that is learned"],
  ["drop", "use complete rows only"],
  ["state", "treat missing as one more state"],
  ["available", "for each column, use the rows where it is observed"],
];
const ASSUMES = new Map([
  ["error", "If there are some after all, an error says so."],
  ["model", "Assumes that whether a value is missing depends only on observed values."],
  ["drop", "Assumes that whether a value is missing has nothing to do with the values."],
  ["state", "Columns that are missing together become linked."],
  ["available", "For few missing values; with many it creates false links."],
]);
const RULES = [["or", "either column chooses it"], ["and", "both columns choose it"], ["joint", "both columns decide together"]];
const EDGES = [["auto", "whichever the rows support"], ["table", "any table of states"], ["scores", "one product of scores"]];
const WEIGHTS = [["sum", "counts of rows"], ["design", "sampling weights (design effect)"], ["kish", "sampling weights (Kish)"]];

function wrong(sentence) {
  byId("wrong").textContent = sentence || "";
  byId("wrong").hidden = !sentence;
  if (sentence) byId("wrong").scrollIntoView({ block: "nearest" });
}

// Run some work; whatever goes wrong becomes a sentence on the page.
async function trying(work) {
  wrong("");
  try {
    await work();
  } catch (error) {
    wrong(error.message);
  }
}

function field(label, control, note) {
  return make("label", { class: "field" }, make("span", {}, label), control, note ? make("span", { class: "small" }, note) : null);
}

function drawFit() {
  const fit = tab.fit;
  const fields = [
    field("Missing values", select("Missing values", MISSING, fit.missing || "error", (way) => { fit.missing = way; drawFit(); }), ASSUMES.get(fit.missing || "error")),
    field("A link is kept if", select("A link is kept if", RULES, fit.rule || "or", (rule) => { fit.rule = rule; }), "The last finds more links from few rows."),
    field("Links of ordered columns", select("Links of ordered columns", EDGES, fit.edges || "auto", (form) => { fit.edges = form; }), "A product of scores has one parameter: it finds weaker links that rise steadily."),
    field("Threshold", input("Threshold", String(fit.threshold || "auto"), (text) => { fit.threshold = text; }, { class: "short" }), "auto expects about one false link in twenty graphs; paper, or a number such as 0.01."),
  ];
  if (tab.choices.some((choice) => choice.use === "weight")) {
    fields.push(field("The weights are", select("The weights are", WEIGHTS, fit.n_eff || "sum", (way) => { fit.n_eff = way; }), "Weights that are not whole numbers are not counts."));
  }
  fields.push(check("predictability", "How well each column is predicted", "Five more searches."), check("verdicts", "What could have been found", "For pairs without a link: which columns explain their association. Slower."));
  byId("fit-fields").replaceChildren(...fields);
}

function check(name, label, note) {
  const box = make("input", { type: "checkbox" });
  box.checked = tab.extras.has(name);
  box.addEventListener("change", () => { if (box.checked) tab.extras.add(name); else tab.extras.delete(name); });
  return make("label", { class: "field check" }, box, make("span", {}, label), make("span", { class: "small" }, note));
}

function drawReading() {
  const reading = tab.reading;
  const text = (label, key, note) => field(label, input(label, reading[key] || "", (said) => { if (said) reading[key] = said; else delete reading[key]; }, { class: "short" }), note);
  const header = select("First row", [["yes", "names of the columns"], ["no", "data"]], reading.header === false ? "no" : "yes", (said) => { if (said === "no") reading.header = false; else delete reading.header; });
  const na = input("Text for missing values", (reading.na || []).join("; "), (said) => { const some = listOf(said); if (some.length) reading.na = some; else delete reading.na; }, { class: "short" });
  byId("reading-fields").replaceChildren(
    field("First row", header),
    field("Text for missing values", na, "such as ?; several with ; between them"),
    text("Separator", "sep", "such as ; or | or tab"),
    text("Encoding", "encoding", "such as latin-1"),
    text("Sheet", "sheet", "of a spreadsheet; by default the first"));
}

function drawGroups() {
  const groups = groupsOf(tab.choices, tab.colours);
  byId("groups").hidden = groups.length === 0;
  byId("group-names").replaceChildren(...groups.map(([name]) => make("option", { value: name })));
  byId("group-colours").replaceChildren(...groups.map(([name, { colour, columns }]) => {
    const picker = make("input", { type: "color", "aria-label": "Colour of " + oneLine(name) });
    picker.value = colour;
    picker.addEventListener("input", () => tab.colours.set(name, picker.value));
    return make("label", { class: "field colour" }, picker, named(name, 40), make("span", { class: "small" }, counted(columns.length, "column")));
  }));
}

function drawReasons(reasons) {
  byId("why").hidden = reasons.length === 0;
  byId("reasons").replaceChildren(...reasons.flatMap(({ option, why }) => [make("dt", {}, named(option, 100)), make("dd", {}, named(why))]));
}

function showColumns(found) {
  const groups = found.groups || [];
  Object.assign(tab, { found, fit: { ...found.fit }, reading: { ...found.reading }, colours: new Map(groups.map(([name, said]) => [name, said.colour])) });
  tab.choices = found.columns.map((column, i) => choiceOf(column, found.settings[i], found.fit));
  groups.forEach(([name, said]) => tab.choices.filter((choice) => said.columns.includes(choice.name)).forEach((choice) => { choice.group = name; }));
  byId("title").replaceChildren(named(found.name, 80));
  byId("lead").textContent = counted(found.rows, "row") + ", " + counted(found.columns.length, "column") + ". Change what is wrong, then press Learn.";
  byId("table-note").textContent = "What every column looks like, and how it will be used. Put ; between several codes for missing values.";
  drawColumns(found, tab.choices, () => { drawGroups(); drawFit(); });
  drawReading();
  drawFit();
  drawGroups();
  drawReasons(found.reasons);
  byId("choose").hidden = true;
  byId("table").hidden = false;
}

async function look() {
  const status = await follow(tab.key);
  if (status.state === "failed") throw new Error(status.sentence);
  if (status.state === "stopped") throw new Error("Stopped.");
  showColumns(await ask("tables/" + tab.key + "/columns"));
  byId("table-title").focus();
}

async function take(file) {
  const most = Number(document.body.dataset.most);
  if (file.size > most) throw new Error(oneLine(file.name) + " is larger than " + document.body.dataset.limit + ", the most that the desk takes.");
  showWork({ doing: "sending the file" });
  byId("work").hidden = false;
  byId("stop").disabled = true;
  try {
    tab.key = (await upload(file)).key;
  } finally {
    byId("work").hidden = true;
  }
  try {
    await look();
  } catch (error) {
    await forget();
    throw error;
  }
  history.replaceState(null, "", "#" + tab.key);
}

async function forget() {
  const { key } = tab;
  tab.key = null;
  history.replaceState(null, "", location.pathname);
  if (key) await ask("tables/" + key, { method: "DELETE" }).catch(() => null);
}

function chosen() {
  const { weight, clusters, n_eff: nEff, ...fit } = tab.fit;
  const one = (use) => tab.choices.filter((choice) => choice.use === use).map((choice) => choice.name);
  if (fit.missing === "error") delete fit.missing;
  if (fit.rule === "or") delete fit.rule;
  if (fit.edges === "auto") delete fit.edges;
  if (!fit.threshold || fit.threshold === "auto") delete fit.threshold;
  else if (Number.isFinite(Number(fit.threshold))) fit.threshold = Number(fit.threshold);
  const [weights, clustered] = [one("weight"), one("cluster")];
  if (weights.length > 1 || clustered.length > 1) throw new Error("At most one column can hold the weights of the rows, and at most one the clusters.");
  if (weights.length) Object.assign(fit, { weight: weights[0] }, nEff && nEff !== "sum" ? { n_eff: nEff } : {});
  if (clustered.length) fit.clusters = clustered[0];
  if (!tab.choices.some((choice) => choice.use === "keep")) throw new Error("No column is left to learn from; use at least one.");
  return {
    reading: tab.reading,
    fit,
    groups: groupsOf(tab.choices, tab.colours),
    columns: tab.choices.map((choice) => [choice.name, settingsOf(choice)]),
  };
}

async function learn() {
  const settings = chosen();
  hideResult();
  byId("learn").disabled = true;
  try {
    await send("tables/" + tab.key + "/learn", { settings, extras: [...tab.extras] });
    await learned();
  } finally {
    byId("learn").disabled = false;
  }
}

async function learned() {
  byId("work").scrollIntoView({ block: "center" });
  const status = await follow(tab.key);
  if (status.state === "failed") throw new Error(status.sentence);
  if (status.state === "stopped") throw new Error("Stopped. Nothing was kept; change what you like and learn again.");
  showResult(tab.key, await ask("tables/" + tab.key + "/result"), status.notes);
  byId("result").hidden = false;
  byId("result-title").focus();
  byId("result").scrollIntoView();
}

async function again() {
  hideResult();
  byId("table").hidden = true;
  await forget();
  byId("choose").hidden = false;
  byId("choose-button").focus();
}

// A page that was loaded again goes on with its table.
async function resume() {
  tab.key = location.hash.slice(1);
  const status = await ask("tables/" + tab.key);
  if (status.what === "look") {
    await look();
    return;
  }
  showColumns(await ask("tables/" + tab.key + "/columns"));
  await learned();
}

function listen() {
  const drop = byId("drop");
  const taking = (files) => { if (files.length) trying(() => take(files[0])); };
  byId("choose-button").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", () => { taking([...byId("file").files]); byId("file").value = ""; });
  ["dragover", "drop", "dragleave"].forEach((what) => document.addEventListener(what, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", what === "dragover");
    if (what === "drop" && !byId("choose").hidden) taking([...event.dataTransfer.files]);
  }));
  byId("learn").addEventListener("click", () => trying(learn));
  byId("look").addEventListener("click", () => trying(async () => {
    hideResult();
    await send("tables/" + tab.key + "/look", tab.reading);
    await look();
  }));
  byId("other").addEventListener("click", () => trying(again));
  byId("stop").addEventListener("click", () => trying(async () => {
    byId("stop").disabled = true;
    await send("tables/" + tab.key + "/stop", {});
  }));
  document.querySelectorAll(".copy").forEach((button) => button.addEventListener("click", () => copyFrom(button)));
}

listen();
if (location.hash.length > 1) trying(resume).then(() => { if (!tab.found) forget(); });
