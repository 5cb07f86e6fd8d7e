// What a fit found: the report, numbers for a paper, files, and lines that do the same again.

const MOST_LINKS = 15;

// Strongest first; an odds ratio is there between columns of two states.
function linkRows(edges) {
  const columns = [
    ["Column", "", (edge) => named(edge.source, 60)],
    ["Column", "", (edge) => named(edge.target, 60)],
    ["Strength", "num", (edge) => edge.strength.toFixed(3)],
    ["Sign", "num", (edge) => (edge.sign > 0 ? "+" : edge.sign < 0 ? "−" : "")],
    ["Odds ratio", "num", oddsRatio],
    ["Evidence", "num", (edge) => (edge.evidence === null ? "" : edge.evidence.toFixed(1))],
  ].filter(([, , cell]) => edges.some((edge) => cell(edge) !== ""));
  return [
    make("thead", {}, make("tr", {}, ...columns.map(([head, look]) => make("th", { scope: "col", class: look }, make("span", {}, head))))),
    make("tbody", {}, ...edges.slice(0, MOST_LINKS).map((edge) => make("tr", {}, ...columns.map(([, look, cell]) => make("td", { class: look }, cell(edge)))))),
  ];
}

function oddsRatio(edge) {
  if (edge.unbounded) return "unbounded";
  return edge.log_odds === null || edge.log_odds === undefined ? "" : Math.exp(edge.log_odds).toPrecision(3);
}

function showResult(key, result, notes) {
  const at = location.pathname + "tables/" + key + "/";
  const pairs = (result.columns * (result.columns - 1)) / 2;
  byId("links-found").textContent = counted(result.edges.length, "link") + " among " + counted(pairs, "pair") + " of " + counted(result.columns, "column") + ", from " + counted(result.rows, "row") + ".";
  byId("notes").replaceChildren(...notes.map((sentence) => make("li", {}, sentence)));
  byId("report-box").hidden = !result.report;
  if (result.report) {
    byId("report").src = at + "report";
    byId("report-link").href = at + "report";
  }
  byId("links").replaceChildren(...linkRows(result.edges));
  byId("links").hidden = result.edges.length === 0;
  byId("links-note").textContent = result.edges.length > MOST_LINKS ? "The " + MOST_LINKS + " strongest; edges.csv has all." : "";
  byId("results-text").textContent = result.texts.results;
  byId("methods-text").textContent = result.texts.methods;
  byId("files").replaceChildren(...result.files.map((file) => make("li", {},
    make("a", { href: at + "files/" + encodeURIComponent(file.name), download: file.name }, file.name), " ",
    make("span", { class: "soft" }, sizeOf(file.size)))));
  byId("all").href = at + "all.zip";
  byId("all").download = result.all;
  byId("again-note").textContent = "Save the settings file (" + result.files.at(-1).name + ", the last in the list above) beside your table. These lines then learn the same graph.";
  byId("command").textContent = result.command;
  byId("python").textContent = result.python;
}

function hideResult() {
  byId("result").hidden = true;
  byId("report").removeAttribute("src");
}

function copyFrom(button) {
  const text = byId(button.dataset.copy);
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  const mark = () => getSelection().selectAllChildren(text);
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, mark);
  else mark();
}
