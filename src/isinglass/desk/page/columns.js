// The columns as a table that one can change. What a person chose is kept per column, in order;
// names are never keys of an object.

const USES = [["keep", "use it"], ["drop", "leave it out"], ["weight", "weights of the rows"], ["cluster", "clusters of rows"], ["adjust", "hold it fixed (adjust)"]];
const MOST_STATES = 6;
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a", "#8c564b"];

function select(label, options, value, onchange) {
  const list = make("select", { "aria-label": label }, ...options.map(([key, words]) => make("option", { value: key }, words)));
  list.value = value;
  list.addEventListener("change", () => onchange(list.value));
  return list;
}

function input(label, value, onchange, more) {
  const field = make("input", { type: "text", "aria-label": label, autocomplete: "off", spellcheck: "false", ...more });
  field.value = value;
  field.addEventListener("input", () => onchange(field.value.trim()));
  return field;
}

function listOf(text) {
  return text.split(";").map((one) => one.trim()).filter(Boolean);
}

// What the proposal says of a column, as the fields show it.
function choiceOf(column, said, fit) {
  const states = column.states.map(([state]) => labelOf(state));
  const { drop, adjust, bins, order, missing, ...rest } = said;
  const use = fit.weight === column.name ? "weight" : fit.clusters === column.name ? "cluster" : drop ? "drop" : adjust ? "adjust" : "keep";
  const kind = bins !== undefined ? "bins" : order === false ? "unordered" : order !== undefined ? "ordered" : "";
  return {
    name: column.name,
    use,
    kind,
    bins: bins === undefined ? "4" : [bins].flat().join("; "),
    order: Array.isArray(order) ? order.map(String) : states,
    listed: Array.isArray(order),
    missing: (missing || []).join("; "),
    group: "",
    rest,
  };
}

function isNumeric(column) {
  return column.states.length > 0 && column.states.every(([state]) => typeof state === "number");
}

// A choice as the settings file says it.
function settingsOf(choice) {
  const said = { ...choice.rest };
  if (choice.use === "drop") said.drop = true;
  if (choice.use === "adjust") said.adjust = true;
  if (choice.kind === "bins") said.bins = binsOf(choice.bins);
  if (choice.kind === "unordered") said.order = false;
  if (choice.kind === "ordered") said.order = choice.listed ? choice.order : true;
  const codes = listOf(choice.missing);
  if (codes.length) said.missing = codes;
  return said;
}

// A number of bins, or cut points. What is neither goes on as it is: the fit says what is allowed.
function binsOf(text) {
  const parts = listOf(text).map((one) => (one !== "" && Number.isFinite(Number(one)) ? Number(one) : one));
  return parts.length === 1 ? parts[0] : parts;
}

function orderList(choice, open) {
  const list = make("ol", { class: "order" });
  const all = make("span", {});
  function draw(focus) {
    all.replaceChildren(named(choice.order.map(oneLine).join(" < "), 60));
    list.replaceChildren(...choice.order.map((state, i) => make("li", {},
      named(state, 40), " ",
      mover("Move " + oneLine(state) + " up", "↑", i, i - 1),
      mover("Move " + oneLine(state) + " down", "↓", i, i + 1))));
    if (focus) list.children[focus.to]?.querySelectorAll("button")[focus.button]?.focus();
  }
  function mover(label, sign, from, to) {
    const button = make("button", { type: "button", "aria-label": label, disabled: to < 0 || to >= choice.order.length }, sign);
    button.addEventListener("click", () => {
      choice.order.splice(to, 0, ...choice.order.splice(from, 1));
      choice.listed = true;
      draw({ to, button: to > from ? (to === choice.order.length - 1 ? 0 : 1) : (to === 0 ? 1 : 0) });
    });
    return button;
  }
  draw(null);
  return make("details", { class: "order-box", open }, make("summary", {}, all), list);
}

function statesOf(column) {
  const shown = column.states.slice(0, MOST_STATES).map(([state, count]) =>
    make("li", {}, named(labelOf(state), 30), " ", make("span", { class: "soft" }, count.toLocaleString("en"))));
  const more = column.distinct - shown.length;
  if (column.distinct > 12 && column.states.length) shown.splice(3);
  const rest = column.distinct - shown.length;
  if (more > 0 || rest > 0) shown.push(make("li", { class: "soft" }, "and " + counted(rest, "more value")));
  return make("ul", { class: "states" }, ...shown);
}

function kindCell(column, choice) {
  const cell = make("td", { "data-head": "Kind" });
  const options = [["", "as found: " + column.kind]];
  if (column.distinct <= 32) options.push(["ordered", "ordered"], ["unordered", "unordered"]);
  if (isNumeric(column)) options.push(["bins", "number, in bins"]);
  if (choice.kind && !options.some(([key]) => key === choice.kind)) options.push([choice.kind, choice.kind]);
  const more = make("div", {});
  function draw(open) {
    const wanted = [];
    if (choice.kind === "bins") {
      wanted.push(make("label", { class: "small" }, "number of bins, or cut points ",
        input("Bins of " + oneLine(column.name), choice.bins, (text) => { choice.bins = text; }, { class: "short" })));
    }
    if (choice.kind === "ordered" && !isNumeric(column)) {
      choice.listed = true;
      wanted.push(orderList(choice, open));
    }
    more.replaceChildren(...wanted);
  }
  cell.append(select("Kind of " + oneLine(column.name), options, choice.kind, (kind) => { choice.kind = kind; draw(true); }), more);
  draw(false);
  return cell;
}

function columnRow(column, choice, changed) {
  const row = make("tr", {},
    make("th", { scope: "row" }, make("span", { class: "cell" }, named(column.name, 60)),
      column.label ? make("span", { class: "about" }, named(column.label, 140)) : null),
    make("td", { "data-head": "Values" }, statesOf(column),
      ...column.related.map((sentence) => make("p", { class: "small" }, named(sentence, 240)))),
    make("td", { "data-head": "Use" }, select("Use of " + oneLine(column.name), USES, choice.use, (use) => {
      choice.use = use;
      changed();
    })),
    kindCell(column, choice),
    make("td", { "data-head": "Missing" },
      column.missing ? make("span", { class: "small" }, column.missing.toLocaleString("en") + " missing") : null,
      input("Codes for missing values of " + oneLine(column.name), choice.missing, (text) => { choice.missing = text; }, { class: "codes", placeholder: "none" })),
    make("td", { "data-head": "Group" },
      input("Group of " + oneLine(column.name), choice.group, (text) => { choice.group = text; changed(); }, { class: "group", list: "group-names", placeholder: "none" })));
  row.classList.toggle("out", choice.use === "drop");
  return row;
}

function drawColumns(found, choices, changed) {
  const heads = ["Column", "Values", "Use", "Kind", "Codes for missing values", "Group"];
  const rows = found.columns.map((column, i) => columnRow(column, choices[i], () => {
    body.children[i].classList.toggle("out", choices[i].use === "drop");
    changed();
  }));
  const body = make("tbody", {}, ...rows);
  byId("columns").replaceChildren(make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, make("span", {}, head))))), body);
}

// Groups in the order in which they first occur, with a colour each.
function groupsOf(choices, colours) {
  const groups = new Map();
  choices.forEach((choice) => {
    if (!choice.group || choice.use !== "keep") return;
    if (!groups.has(choice.group)) groups.set(choice.group, []);
    groups.get(choice.group).push(choice.name);
  });
  return [...groups].map(([name, columns], i) => [name, { columns, colour: colours.get(name) || COLOURS[i % COLOURS.length] }]);
}
