// The page: reads its data, and keeps picture, slider, details and tables together.

const data = JSON.parse(byId("data").textContent);
const state = { stop: data.stop, graph: null, picked: null };

// Where small groups are hidden, no search comes along: the graph is what it is.
const searched = Boolean(data.paths);
data.given = {};
data.edges.forEach((edge) => { data.given[edge.a + "," + edge.b] = edge; });
const counts = searched ? edgeCounts(data) : [];

// The largest threshold among the stops at which a pair is linked.
data.edgeEnters = (a, b) => {
  const takes = (r, t, threshold) => fitAfter(data.paths[r], cutOf(data.paths[r], threshold)).support.includes(t);
  const joined = data.rule === "and" ? (x, y) => x && y : (x, y) => x || y;
  const found = data.stops.find((stop) => joined(takes(a, b, stop), takes(b, a, stop)));
  return found === undefined ? null : found;
};

const network = makeNetwork(byId("canvas"), data, choose);
const scope = makeScope(data, () => { drawGraph(); network.fit(); });
const panel = makePanel(byId("panel"), data, choose);
const onEdge = (edge) => state.picked && state.picked.kind === "pair" && edge.a === state.picked.a && edge.b === state.picked.b && "on";
const onNode = (node) => state.picked && state.picked.kind === "node" && node.i === state.picked.a && "on";
const edgeTable = makeTable(byId("edge-table"), byId("edge-more"), edgeColumns(data, choose), { sort: 2, mark: onEdge });
const nodeTable = makeTable(byId("node-table"), byId("node-more"), nodeColumns(data, choose, () => state.graph), { sort: 1, mark: onNode });

// Picking a column or a pair; `open` moves the reader to its details.
function choose(picked, open) {
  state.picked = picked;
  if (picked && picked.kind === "pair") withChain(picked);
  if (picked) network.show(picked.a);
  network.setPicked(picked);
  panel.show(picked, state.graph);
  edgeTable.draw();
  nodeTable.draw();
  if (searched && picked && picked.kind === "node") showSteps(picked.a);
  say(picked);
  if (open) {
    byId("panel").focus({ preventScroll: true });
    const box = byId("panel").getBoundingClientRect();
    if (box.top < 0 || box.top > window.innerHeight - 120) byId("panel").scrollIntoView({ block: "start" });
  }
}

function withChain(picked) {
  const linked = state.graph.edges.some((edge) => edge.a === picked.a && edge.b === picked.b);
  picked.chain = linked ? null : chainBetween(state.graph, picked.a, picked.b);
}

function say(picked) {
  const said = !picked ? "Nothing is picked." : picked.kind === "node"
    ? oneLine(data.names[picked.a]) + ": " + counted(state.graph.neighbours[picked.a].length, "link")
    : oneLine(data.names[picked.a]) + " and " + oneLine(data.names[picked.b]);
  byId("say").textContent = said;
}

function drawGraph() {
  network.setGraph(state.graph, scope.partOf(state.graph));
}

function setGraph(graph) {
  state.graph = graph;
  drawGraph();
  if (state.picked && state.picked.kind === "pair") withChain(state.picked);
  panel.show(state.picked, state.graph);
  fillTables();
  drawLegend();
}

function showGiven() {
  ["threshold", "search-steps", "to-steps"].forEach((id) => { byId(id).hidden = true; });
  setGraph(givenGraph(data));
  byId("canvas").setAttribute("aria-label", "Network of " + counted(data.names.length, "column") + ", " + counted(data.edges.length, "link"));
}

// The slider.
function setStop(stop) {
  state.stop = stop;
  setGraph(graphAt(data, data.stops[stop]));
  showSteps(Number(byId("step-column").value) || 0);
  const slider = byId("slider");
  slider.value = stop;
  const firm = state.graph.edges.filter((edge) => edge.tier === "firm" || edge.required).length;
  const words = counted(state.graph.edges.length, "link") + " at threshold " + short(data.stops[stop]);
  slider.setAttribute("aria-valuetext", words);
  byId("readout").replaceChildren(make("b", {}, counted(state.graph.edges.length, "link")),
    " at " + short(data.stops[stop]) + (firm < state.graph.edges.length ? ", " + thousands(firm) + " of them firm" : ""));
  byId("canvas").setAttribute("aria-label", "Network of " + counted(data.names.length, "column") + ", " + words);
  document.querySelectorAll("#marks button").forEach((mark) => mark.setAttribute("aria-pressed", String(Number(mark.dataset.stop) === stop)));
  const here = byId("curve").querySelector(".here");
  ["x1", "x2"].forEach((end) => here.setAttribute(end, String(stop)));
}

function drawCurve() {
  const last = Math.max(data.stops.length - 1, 1), top = Math.max(...counts, 1);
  const curve = byId("curve");
  curve.setAttribute("viewBox", "0 0 " + last + " 100");
  const points = counts.map((count, k) => k + "," + (98 - 94 * count / top).toFixed(2));
  curve.append(
    drawn("polygon", { class: "area", points: "0,100 " + points.join(" ") + " " + last + ",100" }),
    drawn("polyline", { class: "line", points: points.join(" ") }));
  data.selectors.forEach((rule) => curve.append(drawn("line", { class: "rule", x1: rule.stop, x2: rule.stop, y1: 0, y2: 100 })));
  curve.append(drawn("line", { class: "here", x1: 0, x2: 0, y1: 0, y2: 100 }));
}

function drawMarks() {
  const titles = { chosen: "Chosen", firm: "Firm", tentative: "Tentative", paper: "Paper’s rule" };
  const chosen = data.selectors.find((rule) => rule.name === "chosen");
  data.selectors.forEach((rule) => {
    if (rule !== chosen && chosen && rule.threshold === chosen.threshold && rule.name === "firm") return;
    const title = (titles[rule.name] || oneLine(rule.name)) + (rule === chosen && data.selectors.some((other) => other.name === "firm" && other.threshold === rule.threshold) ? " (firm)" : "");
    byId("marks").append(make("button", { type: "button", title: rule.words, "data-stop": rule.stop, onclick: () => setStop(rule.stop) },
      title + " · " + thousands(rule.edges)));
  });
}

// Tables.
function fillTables() {
  const wanted = byId("edge-filter").value.trim().toLocaleLowerCase();
  const has = (i) => oneLine(data.names[i] + " " + (data.nodes[i].label || "")).toLocaleLowerCase().includes(wanted);
  const edges = wanted ? state.graph.edges.filter((edge) => has(edge.a) || has(edge.b)) : state.graph.edges;
  edgeTable.set(edges);
  nodeTable.set(data.nodes.map((node, i) => ({ ...node, i })));
  byId("links-note").textContent = counted(edges.length, "link") + (wanted ? " with that name" : "") + (searched ? " at the threshold of the slider, " + short(state.graph.threshold) + "." : ". Strengths are rounded; links that would reveal small groups are not shown.");
}

function showSteps(r) {
  const path = data.paths[r], kept = state.graph.cuts[r];
  byId("step-column").value = String(r);
  const heads = ["Step", "", "Column", "Gain per row", "Evidence", "Left to explain"];
  const rows = path.steps.map((step, k) => make("tr", { class: k < kept ? null : "beyond" },
    make("td", {}, String(k + 1)),
    make("td", {}, step.kind === "add" ? "adds" : "drops"),
    make("td", {}, make("span", { class: "cell" }, named(data.names[step.variable], 80))),
    make("td", { class: "num" }, step.kind === "add" ? short(step.gain) : MINUS + short(step.cost)),
    make("td", { class: "num" }, digits(2 * data.rows * (step.kind === "add" ? step.gain : step.cost), 1)),
    make("td", { class: "num" }, path.start.loss > 0 ? percent(step.loss / path.start.loss) : "")));
  byId("step-table").replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map((head, k) => make("th", { scope: "col", class: k > 2 ? "num" : null }, make("span", {}, head))))),
    make("tbody", {}, ...rows));
  byId("step-status").textContent = (path.steps.length ? "" : "It added no column. ") + "The search " + path.status + ".";
}

function fillSteps() {
  const list = byId("step-column");
  if (data.rule === "joint") {
    byId("steps-note").textContent = "The neighbours of each column, in the order in which both ends of a link accepted them together; the column is refitted each time. Steps below the threshold are grey: they belong to the graph only if the slider is moved further.";
  }
  data.names.forEach((name, i) => list.append(make("option", { value: i }, cut(oneLine(name), 60))));
  list.addEventListener("change", () => showSteps(Number(list.value)));
}

// Finding a column by its name.
function makeFinder() {
  const box = byId("find"), list = byId("found");
  let found = [], at = -1;
  const close = () => { list.hidden = true; at = -1; box.setAttribute("aria-expanded", "false"); box.removeAttribute("aria-activedescendant"); };
  const pick = (i) => { box.value = oneLine(data.names[i]); close(); choose({ kind: "node", a: i }); };
  function search() {
    const wanted = box.value.trim().toLocaleLowerCase();
    found = [];
    if (wanted) {
      const places = data.names.map((name, i) => [oneLine(name).toLocaleLowerCase().indexOf(wanted), i]).filter(([place]) => place >= 0);
      found = places.sort((x, y) => (x[0] > 0) - (y[0] > 0) || x[1] - y[1]).slice(0, 12).map(([, i]) => i);
    }
    at = found.length ? 0 : -1;
    list.replaceChildren(...found.map((i, k) => {
      const item = make("li", { role: "option", id: "found-" + k, "aria-selected": String(k === at) }, named(data.names[i], 100));
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); pick(i); });
      return item;
    }));
    mark();
    list.hidden = !found.length;
    box.setAttribute("aria-expanded", String(Boolean(found.length)));
  }
  function mark() {
    [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
    if (at >= 0) { box.setAttribute("aria-activedescendant", "found-" + at); list.children[at].scrollIntoView({ block: "nearest" }); }
  }
  box.addEventListener("input", search);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); return; }
    if (event.key === "Enter" && at >= 0 && !list.hidden) { event.preventDefault(); pick(found[at]); return; }
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      event.preventDefault();
      list.hidden = false;
      at = (at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      mark();
    }
  });
}

// What does not change.
function drawLegend() {
  const item = (colour, dash, text) => {
    const svg = drawn("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" });
    svg.append(drawn("line", { x1: 1, x2: 27, y1: 5, y2: 5, style: "stroke:var(--" + colour + ");stroke-width:3;stroke-linecap:round" + (dash ? ";stroke-dasharray:" + dash : "") }));
    return make("li", {}, svg, text);
  };
  const palette = getComputedStyle(document.documentElement).getPropertyValue("--groups").trim().split(/\s+/);
  const dot = (group) => {
    const svg = drawn("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" });
    svg.append(drawn("circle", { cx: 14, cy: 5, r: 4.5, fill: ownColour(data, group.columns[0], { groups: palette }), style: "stroke:var(--ink)" }));
    return make("li", {}, svg, named(group.name, 40));
  };
  const occurs = (test) => state.graph.edges.some(test);
  const items = [
    occurs((edge) => edge.sign > 0) && item("more", "", "more of one, more of the other"),
    occurs((edge) => edge.sign < 0) && item("less", "", "more of one, less of the other"),
    occurs((edge) => edge.sign === 0) && item("none", "", "without a sign"),
    occurs((edge) => edge.sign === null) && item("none", "", "numbers hidden"),
    occurs((edge) => edge.tier === "tentative") && item("soft", "5 5", "tentative"),
    occurs((edge) => edge.tier === "") && item("soft", "1 6", "weaker still"),
    occurs(() => true) && make("li", {}, "wider: stronger"),
    ...data.groups.map(dot),
    !data.groups.length && data.nodes.some((node) => node.community) && make("li", {}, "colour of a dot: its group"),
  ];
  byId("legend").replaceChildren(...items.filter(Boolean));
}

function drawOdd() {
  const kinds = new Map();
  data.diagnostics.forEach((note) => {
    if (!kinds.has(note.what)) kinds.set(note.what, []);
    kinds.get(note.what).push(note);
  });
  if (!kinds.size) byId("odd-notes").append(make("p", { class: "note" }, "Nothing."));
  kinds.forEach((notes, what) => {
    const title = what.charAt(0).toUpperCase() + what.slice(1);
    const meaning = data.meanings[what];
    byId("odd-notes").append(make("details", {},
      make("summary", {}, title, make("span", {}, notes.length > 1 ? " · " + thousands(notes.length) : "")),
      meaning ? make("p", {}, meaning) : null,
      make("ul", {}, ...notes.map((note) => make("li", {}, ...(note.column === null ? [] : [named(note.column, 80), ": "]), oneLine(note.done))))));
  });
}

function drawTexts() {
  const title = data.title ? oneLine(data.title) : "What is linked with what";
  byId("title").textContent = title;
  byId("lead").textContent = data.texts.lead;
  const more = searched ? data.tentative : 0;
  byId("lead-tentative").textContent = more ? (more === 1 ? "One more is" : thousands(more) + " more are") + " tentative." : "";
  byId("reading-text").append(...data.texts.how_to_read.map((text) => make("p", {}, text)));
  byId("limits-text").append(...data.texts.limits.map((text) => make("li", {}, text)));
  byId("methods").textContent = data.texts.methods;
  byId("results").textContent = data.texts.results;
  byId("columns-note").textContent = data.suppress ? "Shares of the rows are given in bands. Labels of states with fewer than " + data.suppress + " rows are hidden." : "“Explained” is the share of a column’s uncertainty that the columns chosen by its search explain in these rows; “strength in all” adds up its links" + (data.nodes.some((node) => node.community) ? "; groups have more links inside than between, at the chosen threshold." : ".");
  byId("colophon").textContent = "Made with isinglass " + data.version + ". " + data.texts.citation;
}

function drawSettings() {
  const sizes = data.nodes.map((node) => node.states.length);
  const missing = data.nodes.reduce((sum, node) => sum + (node.missing || 0), 0);
  const least = Math.min(...sizes), most = Math.max(...sizes);
  const list = [
    ["Rows", thousands(data.rows)],
    ["Columns", thousands(data.names.length)],
    ["States per column", least === most ? String(least) : least + " to " + most],
    ...(data.suppress ? [["Threshold", data.selector], ["Hidden", "groups of fewer than " + data.suppress + " rows"]] : [
      ["Missing values", missing ? thousands(missing) + (data.filled ? " filled, of " : " left out of ") + thousands(data.rows * data.names.length) : "none left out"],
      ...(data.dropped ? [["Rows dropped", thousands(data.dropped) + ", with missing values"]] : []),
      ["Threshold", short(data.threshold) + " — " + oneLine(data.selector)],
      ["Searched down to", short(data.floor)],
    ]),
    ["Links need", {
      or: "one of their ends to choose them (OR)",
      and: "both their ends to choose them (AND)",
      joint: "enough evidence at both ends together (joint)",
    }[data.rule]],
    ...Object.entries(data.settings).filter(([key]) => !["threshold", "rule", "floor"].includes(key))
      .map(([key, value]) => [key, value === null ? "default" : typeof value === "object" ? JSON.stringify(value) : String(value)]),
    ["isinglass", data.version],
    ...(data.fingerprint ? [["Fingerprint of the table", data.fingerprint]] : []),
  ];
  byId("settings-list").append(...list.flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, make("bdi", {}, oneLine(value)))]));
}

function copy(button) {
  const text = byId(button.dataset.copy);
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  const mark = () => getSelection().selectAllChildren(text);
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, mark);
  else mark();
}

byId("slider").addEventListener("input", () => setStop(Number(byId("slider").value)));
byId("edge-filter").addEventListener("input", fillTables);
const inText = (text, type) => new Blob([text], { type: type + ";charset=utf-8" });
byId("download").addEventListener("click", () => download("edges.csv", inText(csvOf(data, state.graph.edges), "text/csv")));
byId("save-svg").addEventListener("click", () => download("network.svg", inText(network.asSvg(), "image/svg+xml")));
byId("save-png").addEventListener("click", () => network.asPng((image) => download("network.png", image)));
byId("zoom-in").addEventListener("click", () => network.zoom(1.25));
byId("zoom-out").addEventListener("click", () => network.zoom(0.8));
byId("zoom-fit").addEventListener("click", network.fit);
document.querySelectorAll(".copy").forEach((button) => button.addEventListener("click", () => copy(button)));
window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((kind) => { kind.open = true; }));
drawTexts();
drawOdd();
drawSettings();
makeFinder();
if (searched) {
  byId("slider").max = data.stops.length - 1;
  fillSteps();
  drawCurve();
  drawMarks();
  setStop(state.stop);
} else showGiven();
// For scripts: where things are, and what is shown.
window.isinglass = { data, state, choose, setStop, place: network.place, draw: network.draw, shown: network.shown, oneParameterGain };
