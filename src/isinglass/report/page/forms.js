// The form of a link: one product of scores, a trend for each state, or a whole table.

const FORMS = ["product", "trend", "table"];
const FORM_WORDS = {
  product: "product of scores: one number for the whole table",
  trend: "trend: one number for each state of the column without order",
  table: "table: one number for every combination of states",
};

// The form of a search's edge to a column, and its log odds ratios per step, if it has any.
function formAt(fit, column) {
  const at = fit.support.indexOf(column);
  return fit.forms ? { form: fit.forms[at], step: fit.steps[at] } : { form: "table", step: null };
}

// The form of an edge, the larger one where its ends differ, and its numbers per step, the mean of its ends.
function formOf(ends) {
  const found = ends.map(([fit, column]) => formAt(fit, column));
  const form = found.map((one) => one.form).reduce((x, y) => (FORMS.indexOf(x) > FORMS.indexOf(y) ? x : y));
  if (form === "table") return { form, step: null };
  const steps = found.map((one) => one.step);
  const step = form === "product" ? mean(steps) : steps[0].map((_, k) => mean(steps.map((one) => one[k])));
  return { form, step };
}

// Whether some link of the run may be something else than a table.
function hasForms(data) {
  return Boolean(data.paths) && data.paths.some((path) => [path.start, ...path.steps].some((fit) => fit.forms));
}

function scoresOf(data, i) {
  return data.nodes[i].scores || data.nodes[i].states.map((_, k) => k);
}

// What a step of a column is.
function unitOf(data, i) {
  const scores = scoresOf(data, i);
  return scores.every((score, k) => !k || score - scores[k - 1] === 1) ? "step" : "unit of its scores";
}

function centredScores(data, i) {
  const scores = scoresOf(data, i), middle = mean(scores);
  return scores.map((score) => score - middle);
}

// The column of a trend whose states have no order.
function unorderedOf(data, edge) {
  return data.nodes[edge.a].ordered ? edge.b : edge.a;
}

// The log-potentials of a link in its form; null for a table.
function potentialsOf(data, edge) {
  if (edge.form === "table" || edge.unbounded) return null;
  const free = edge.form === "trend" ? unorderedOf(data, edge) : null;
  const side = (i) => (i === free ? edge.step : centredScores(data, i));
  const left = side(edge.a), right = side(edge.b), by = edge.form === "product" ? edge.step : 1;
  return left.map((x) => right.map((y) => by * x * y));
}

// Rows with the link in its form: what is expected without it, times its odds, with the margins that were seen.
function fittedRows(table, potentials) {
  let rows = table.expected.map((line, k) => line.map((x, l) => Math.max(x, 1e-9) * Math.exp(potentials[k][l])));
  const sum = (line) => line.reduce((x, y) => x + y, 0);
  const turned = (lines) => lines[0].map((_, l) => lines.map((line) => line[l]));
  const scaled = (lines, wanted) => lines.map((line, k) => line.map((x) => x * sum(wanted[k]) / (sum(line) || 1)));
  for (let round = 0; round < 50; round += 1) rows = turned(scaled(turned(scaled(rows, table.observed)), turned(table.observed)));
  return rows;
}

// The mean place of each line of a table: where its rows are, in cells from the left.
function meanPlaces(lines) {
  return lines.map((line) => {
    const rows = line.reduce((x, y) => x + y, 0);
    return rows > 0 ? line.reduce((total, x, l) => total + x * (l + 0.5), 0) / rows : null;
  });
}

function shadeOf(ratio) {
  const size = ratio === null ? 0 : Math.min(Math.abs(Math.log(Math.max(ratio, 1e-9))) / Math.log(4), 1);
  return "color-mix(in srgb, var(--" + (ratio > 1 ? "more" : "less") + ") " + (45 * size).toFixed(0) + "%, var(--wash))";
}

// The table of a link as small squares, shaded as in its details; and over it where the form of the link puts the mean of
// each row (a line), with the mean that was seen (dots) if there is room.
function formPicture(data, edge, { most, dots }) {
  const table = data.link_tables?.[edge.a + "," + edge.b];
  if (!table || Math.max(table.observed.length, table.observed[0].length) > 12) return null;
  const down = table.observed.length, across = table.observed[0].length, cell = most / Math.max(down, across);
  const wide = across * cell, high = down * cell;
  const svg = drawn("svg", { class: "form-picture", viewBox: "0 0 " + wide + " " + high, width: wide, height: high, role: "img", "aria-label": FORM_WORDS[edge.form] });
  table.observed.forEach((line, k) => line.forEach((seen, l) => {
    const expected = table.expected[k][l];
    svg.append(drawn("rect", { x: l * cell, y: k * cell, width: cell, height: cell, style: "fill:" + shadeOf(expected >= 1 ? seen / expected : null) }));
  }));
  const potentials = potentialsOf(data, edge);
  if (!potentials) return svg;
  const turn = edge.form === "trend" && unorderedOf(data, edge) === edge.b;
  const turned = (lines) => (turn ? lines[0].map((_, l) => lines.map((line) => line[l])) : lines);
  const point = (place, k) => (turn ? [(k + 0.5) * cell, place * cell] : [place * cell, (k + 0.5) * cell]);
  const points = (lines) => meanPlaces(turned(lines)).map((place, k) => (place === null ? null : point(place, k))).filter(Boolean);
  const fitted = points(fittedRows(table, potentials));
  if (edge.form === "product") svg.append(drawn("polyline", { class: "trend", points: fitted.map((one) => one.map((x) => x.toFixed(1)).join(",")).join(" ") }));
  else fitted.forEach(([x, y]) => svg.append(drawn("path", { class: "trend", d: turn ? "M" + (x - cell / 3) + " " + y + "h" + 2 * cell / 3 : "M" + x + " " + (y - cell / 3) + "v" + 2 * cell / 3 })));
  if (dots) points(table.observed).forEach(([x, y]) => svg.append(drawn("circle", { class: "seen", cx: x, cy: y, r: 3 })));
  return svg;
}

// Odds ratios per step are near 1: three digits.
function oddsOf(value) {
  return value >= 100 ? times(value) : value.toPrecision(3);
}

// What a link says per step, in a sentence; the names are elements.
function stepSentence(data, edge, name) {
  if (edge.form !== "product" || edge.unbounded) return null;
  const odds = Math.exp(edge.step), up = odds >= 1;
  return ["With all other columns held fixed, one " + unitOf(data, edge.a) + " up in ", name(edge.a, 40),
    (up ? " multiplies" : " divides") + " the odds of one " + unitOf(data, edge.b) + " up in ", name(edge.b, 40), " by " + oddsOf(up ? odds : 1 / odds) + "."];
}

// The numbers of a trend: odds of each state, against the mean of all, per step of the ordered column.
function trendList(data, edge, name) {
  const free = unorderedOf(data, edge), ordered = free === edge.a ? edge.b : edge.a;
  const items = edge.step.flatMap((step, k) => [make("dt", {}, make("bdi", {}, cut(labelOf(data.nodes[free].states[k]), 40))), make("dd", {}, "× " + oddsOf(Math.exp(step)))]);
  return [
    make("p", { class: "aside" }, "Odds of each state of ", name(free, 40), ", against the mean of all its states, per " + unitOf(data, ordered) + " up in ", name(ordered, 40), ":"),
    make("dl", { class: "facts" }, ...items),
  ];
}
