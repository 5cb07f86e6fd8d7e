// Tables that can be sorted, filtered and taken away.

// columns: {title, value(row) for sorting, show(row) -> text or elements, number: bool}
function makeTable(table, more, columns, { most = 100, sort = 0, falling = true, mark = () => false } = {}) {
  const order = { column: sort, falling };
  let rows = [], all = false;
  const heads = columns.map((column, k) => make("th", { scope: "col", class: column.number ? "num" : null },
    make("button", { type: "button", onclick: () => sortBy(k) }, column.title)));
  const body = make("tbody", {});
  table.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), body);
  if (more) more.addEventListener("click", () => { all = true; draw(); });

  function sortBy(k) {
    order.falling = order.column === k ? !order.falling : Boolean(columns[k].number);
    order.column = k;
    draw();
  }

  function compare(x, y) {
    const value = columns[order.column].value;
    const one = value(x), other = value(y);
    const missing = (v) => v === null || v === undefined || v === "";
    if (missing(one) || missing(other)) return missing(one) - missing(other);
    const way = typeof one === "string" ? one.localeCompare(other) : one - other;
    return order.falling ? -way : way;
  }

  function draw() {
    heads.forEach((head, k) => {
      if (k === order.column) head.setAttribute("aria-sort", order.falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const sorted = rows.map((row, i) => [row, i]).sort((x, y) => compare(x[0], y[0]) || x[1] - y[1]).map(([row]) => row);
    const shown = all ? sorted : sorted.slice(0, most);
    body.replaceChildren(...shown.map((row) => make("tr", { class: mark(row) || null }, ...columns.map((column) => {
      const content = column.show(row);
      return make("td", { class: column.number ? "num" : null }, ...(Array.isArray(content) ? content : [content]));
    }))));
    if (more) {
      more.hidden = shown.length === sorted.length;
      more.textContent = "Show all " + thousands(sorted.length);
    }
  }

  return { set(next) { rows = next; draw(); }, draw };
}

function strengthCell(edge) {
  const share = edge.weight;
  return make("span", { class: "strength" },
    make("span", { class: "track", "aria-hidden": "true" }, make("span", { class: "bar " + direction(edge.sign), style: "width:" + Math.max(4, 100 * share).toFixed(0) + "%" })),
    make("span", {}, strengthOf(edge)));
}

// Three digits where the strength is exact, one where small groups are hidden.
function strengthOf(edge) {
  return edge.strength === null ? (edge.tier === null ? "hidden" : "") : digits(edge.strength, edge.tier === null ? 1 : 3);
}

function signOf(edge) {
  return edge.sign === null ? "hidden" : edge.sign > 0 ? "+" : edge.sign < 0 ? MINUS : "none";
}

function edgeColumns(data, choose) {
  const cell = (i, edge) => make("button", { type: "button", class: "name cell", onclick: () => choose(pairOf(edge.a, edge.b), true) }, named(data.names[i], 80));
  const columns = [
    { title: "Column", value: (edge) => oneLine(data.names[edge.a]), show: (edge) => cell(edge.a, edge) },
    { title: "Column", value: (edge) => oneLine(data.names[edge.b]), show: (edge) => cell(edge.b, edge) },
    { title: "Strength", number: true, value: (edge) => edge.strength, show: strengthCell },
    { title: "Sign", value: (edge) => edge.sign, show: signOf },
  ];
  if (data.suppress) return columns;
  columns.splice(3, 0, { title: "Relative strength", number: true, value: (edge) => edge.relative, show: (edge) => digits(edge.relative, 3) });
  columns.push(
    { title: "Log-odds", number: true, value: (edge) => edge.coupling, show: (edge) => (edge.unbounded ? "unbounded" : edge.coupling === null ? "" : signed(4 * edge.coupling, 2)) },
    ...(hasForms(data) ? [
      { title: "Form", value: (edge) => edge.form, show: (edge) => formCell(data, edge) },
      { title: "Per step", number: true, value: (edge) => (edge.form === "product" ? edge.step : null), show: (edge) => (edge.form !== "product" ? "" : edge.unbounded ? "unbounded" : signed(edge.step, 2)) },
    ] : []),
    { title: "Evidence", number: true, value: (edge) => edge.evidence, show: (edge) => digits(edge.evidence, 1) },
    { title: "Entry evidence", number: true, value: (edge) => edge.entry, show: (edge) => digits(edge.entry, 1) },
    { title: "Chosen by", value: (edge) => oneLine(chooserOf(data, edge)), show: (edge) => make("span", { class: "cell" }, named(chooserOf(data, edge), 40)) },
    { title: "How sure", value: (edge) => ["", "tentative", "firm", "required"].indexOf(edge.tier), show: (edge) => edge.tier || "weak" });
  if (data.filled) {
    columns.push({ title: "Information lost", number: true, value: (edge) => edge.lost, show: (edge) => percent(edge.lost) });
  }
  if (Object.keys(data.frequencies).length) {
    columns.push({ title: "Half-samples", number: true, value: (edge) => edge.frequency, show: (edge) => percent(edge.frequency) });
  }
  return columns;
}

function formCell(data, edge) {
  return make("span", { class: "form", title: FORM_WORDS[edge.form] }, formPicture(data, edge, { most: 34 }), edge.form);
}

function nodeColumns(data, choose, graph) {
  const columns = [
    { title: "Column", value: (node) => oneLine(data.names[node.i]), show: (node) => make("button", { type: "button", class: "name cell", onclick: () => choose({ kind: "node", a: node.i }, true) }, named(data.names[node.i], 80)) },
    { title: "Links", number: true, value: (node) => graph().neighbours[node.i].length, show: (node) => String(graph().neighbours[node.i].length) },
    { title: "States", number: true, value: (node) => node.states.length, show: (node) => String(node.states.length) },
  ];
  if (data.nodes.some((node) => node.label)) {
    columns.splice(1, 0, { title: "Label", value: (node) => oneLine(node.label || ""), show: (node) => (node.label ? make("span", { class: "cell" }, named(node.label, 120)) : "") });
  }
  if (data.groups.length) {
    const group = (node) => oneLine(ownGroup(data, node.i)?.name || " ").replace("(blank)", "");
    columns.splice(1, 0, { title: "Group", value: group, show: (node) => make("span", { class: "cell" }, make("bdi", {}, cut(group(node), 40))) });
  }
  if (data.suppress) return [...columns, { title: "Shares", value: (node) => node.shares[0][0], show: bandsOf }];
  columns.push(
    { title: "Strength in all", number: true, value: (node) => total(graph().neighbours[node.i]), show: (node) => digits(total(graph().neighbours[node.i]), 2) },
    { title: "Explained", number: true, value: (node) => explainedBy(data, graph(), node.i), show: (node) => percent(explainedBy(data, graph(), node.i)) },
    { title: "Most common state", value: (node) => common(node).label, show: (node) => make("span", { class: "cell" }, make("bdi", {}, cut(common(node).label, 40))) },
    { title: "Its share", number: true, value: (node) => common(node).share, show: (node) => percent(common(node).share) });
  if (data.nodes.some((node) => node.community !== null)) {
    const title = data.groups.length ? "Group found" : "Group";
    columns.push({ title, number: true, value: (node) => node.community, show: (node) => String(node.community || "") });
  }
  if (data.nodes.some((node) => node.predictability !== null)) {
    columns.push({ title: "Predictability", number: true, value: (node) => node.predictability, show: (node) => digits(node.predictability, 2) });
  }
  if (data.nodes.some((node) => node.missing)) {
    columns.push({ title: "Missing", number: true, value: (node) => node.missing, show: (node) => (node.missing === null ? "" : thousands(node.missing)) });
  }
  return columns;
}

function total(edges) {
  return edges.reduce((sum, edge) => sum + (edge.relative === null ? edge.weight : edge.relative), 0);
}

// The state seen most often, and its share of the rows where the column is seen.
function common(node) {
  if (!node.counts) return { label: "", share: null };
  const sum = node.counts.reduce((x, y) => x + y, 0);
  const best = node.counts.indexOf(Math.max(...node.counts));
  return { label: labelOf(node.states[best]), share: sum ? node.counts[best] / sum : null };
}

// The first few states with their bands of shares.
function bandsOf(node) {
  const parts = node.states.slice(0, 4).flatMap((state, k) => [k ? ", " : "", make("bdi", {}, cut(labelOf(state), 20)), " " + band(node.shares[k])]);
  return [...parts, node.states.length > 4 ? " and more" : ""];
}

function chooserOf(data, edge) {
  return edge.required ? "required" : edge.selectedBy === null ? "both" : data.names[edge.selectedBy];
}

// The state that log-odds are about: the second of two.
function highOf(data, edge, i) {
  return edge.coupling === null ? null : labelOf(data.nodes[i].states[1]);
}

function csvOf(data, edges) {
  const quote = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? "\"" + text.replace(/"/g, "\"\"") + "\"" : text;
  };
  if (data.suppress) {
    const coarse = edges.map((edge) => [data.names[edge.a], data.names[edge.b], edge.strength, edge.sign].map(quote).join(","));
    return ["source,target,strength,sign", ...coarse].join("\n") + "\n";
  }
  const heads = [
    "source", "target", "strength", "relative_strength", "sign", "coupling", "log_odds", "source_state", "target_state",
    "evidence", "entry_evidence", "tier", "selected_by", "unbounded", "form", "step_log_odds",
  ];
  const withFrequency = Object.keys(data.frequencies).length > 0;
  if (withFrequency) heads.push("frequency");
  if (data.filled) heads.push("information_lost");
  const lines = edges.map((edge) => [
    data.names[edge.a], data.names[edge.b], edge.strength, edge.relative, edge.sign, edge.coupling,
    edge.coupling === null ? null : 4 * edge.coupling, highOf(data, edge, edge.a), highOf(data, edge, edge.b),
    edge.evidence, edge.entry, edge.tier, chooserOf(data, edge), edge.unbounded, edge.form, edge.form === "product" ? edge.step : null,
    ...(withFrequency ? [edge.frequency] : []), ...(data.filled ? [edge.lost] : []),
  ].map(quote).join(","));
  return [heads.join(","), ...lines].join("\n") + "\n";
}

function download(name, content) {
  const url = URL.createObjectURL(content);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
