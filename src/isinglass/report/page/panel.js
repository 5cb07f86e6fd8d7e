// What is known of the column, or of the pair of columns, that is picked.

function makePanel(element, data, choose) {
  const name = (i, most) => named(data.names[i], most);
  const state = (i, k) => labelOf(data.nodes[i].states[k]);

  function show(picked, graph) {
    const inner = make("div", { class: "panel-inner" });
    if (!picked) nothing(inner, graph);
    else {
      inner.append(make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => choose(null) }, "×"));
      if (picked.kind === "node") column(inner, picked.a, graph);
      else pair(inner, picked, graph);
    }
    element.replaceChildren(inner);
  }

  function heading(inner, ...parts) {
    const long = parts.some((part) => part.textContent && part.textContent.length > 40);
    inner.append(make("h3", { class: long ? "long" : null }, ...parts));
  }

  // What the column is about, such as the question that was asked.
  function about(i) {
    return data.nodes[i].label ? make("p", { class: "about" }, named(data.nodes[i].label)) : "";
  }

  function nothing(inner, graph) {
    heading(inner, "Strongest links");
    if (!graph.edges.length) {
      inner.append(make("p", {}, data.suppress ? "No link is shown." : "No link at this threshold. Move the slider to the right to see which link comes first."));
      return;
    }
    const best = strongest(graph.edges, 8);
    inner.append(make("ul", { class: "rows" }, ...best.map((edge) => row(
      pairOf(edge.a, edge.b), edge, name(edge.a, 28), " – ", name(edge.b, 28)))));
    inner.append(make("h4", { class: "hint" }, "To look closer"));
    inner.append(make("p", { class: "aside hint" }, "Click a dot for a column, a line for a link. Drag dots where you like. To ask about two columns without a line between them, click one, then the other with Shift held, or name it in the box that appears here."));
  }

  // A button for a pair, with its strength as a bar.
  function row(target, edge, ...what) {
    const share = edge.weight;
    const bar = make("span", { class: "bar " + (edge.plain ? "plain" : direction(edge.sign)), style: "width:" + Math.max(4, 100 * share).toFixed(0) + "%", "aria-hidden": "true" });
    const said = make("span", { class: "unseen" }, ", strength " + (edge.strength === null ? "not known" : digits(edge.strength, 2)));
    return make("li", {}, make("button", { type: "button", onclick: () => choose(target, true) },
      make("span", { class: "what" }, ...what, said), make("span", {}, bar)));
  }

  function column(inner, a, graph) {
    const node = data.nodes[a], links = strongest(graph.neighbours[a], Infinity);
    heading(inner, name(a));
    inner.append(about(a));
    inner.append(shares(a));
    inner.append(make("h4", {}, links.length ? counted(links.length, "link") : data.suppress ? "No link is shown" : "No link at this threshold"));
    if (links.length) inner.append(make("ul", { class: "rows" }, ...links.map((edge) => row(
      pairOf(edge.a, edge.b), edge, name(edge.a === a ? edge.b : edge.a, 60)))));
    const explained = explainedBy(data, graph, a);
    if (links.length && explained !== null) inner.append(make("p", { class: "aside" }, "The columns that its search chose explain " + percent(explained) + " of its uncertainty in these rows."));
    if (typeof node.predictability === "number") inner.append(make("p", { class: "aside" }, "Predictability: " + digits(node.predictability, 2) + "."));
    const near = unlinked(a, graph);
    if (near.length) {
      inner.append(make("h4", {}, "Associated, but not linked"));
      inner.append(make("ul", { class: "rows" }, ...near.map(([b, alone]) => row(
        pairOf(a, b), { strength: alone.strength, weight: alone.strength, plain: true }, name(b, 60)))));
    }
    inner.append(compareBox(a));
  }

  function shares(a) {
    const node = data.nodes[a];
    const list = make("dl", { class: "shares" });
    if (!node.counts && !node.shares) return make("p", { class: "aside" }, counted(node.states.length, "state") + ".");
    const total = node.counts ? node.counts.reduce((sum, count) => sum + count, 0) : null;
    node.states.slice(0, 12).forEach((_, k) => {
      const share = node.shares ? node.shares[k][1] : node.counts[k] / total;
      list.append(
        make("dt", {}, make("bdi", {}, cut(state(a, k), 40))),
        make("dd", {}, make("span", { class: "bar plain", style: "width:" + (100 * share).toFixed(1) + "%" })),
        make("dd", { class: "count" }, node.shares ? band(node.shares[k]) : percent(share)));
    });
    const parts = [list];
    if (node.states.length > 12) parts.push(make("p", { class: "aside" }, "and " + counted(node.states.length - 12, "more state")));
    if (node.missing) parts.push(make("p", { class: "aside" }, thousands(node.missing) + " missing"));
    return make("div", {}, ...parts);
  }

  // The strongest associations of a column that are not links.
  function unlinked(a, graph) {
    const linked = new Set(graph.neighbours[a].map((edge) => (edge.a === a ? edge.b : edge.a)));
    return data.names.map((_, b) => [b, b === a || linked.has(b) ? null : associationOf(data, a, b)])
      .filter(([, alone]) => alone && alone.evidence / (2 * data.rows) > graph.threshold)
      .sort((x, y) => y[1].evidence - x[1].evidence).slice(0, 5);
  }

  function compareBox(a) {
    const id = "compare-" + a;
    const options = make("datalist", { id: id + "-names" });
    data.names.forEach((other, b) => { if (b !== a && data.names.length <= 600) options.append(make("option", { value: oneLine(other) })); });
    const input = make("input", { type: "search", id, list: id + "-names", placeholder: "Another column", autocomplete: "off" });
    const ask = () => {
      const wanted = input.value.trim();
      const b = data.names.findIndex((other, i) => i !== a && oneLine(other) === wanted);
      if (b >= 0) choose(pairOf(a, b), true);
    };
    input.addEventListener("change", ask);
    return make("div", {}, make("h4", {}, make("label", { for: id }, "Ask about this column and")), make("div", { class: "compare" }, input, options));
  }

  function pair(inner, picked, graph) {
    const { a, b } = picked;
    const edge = graph.edges.find((one) => one.a === a && one.b === b);
    heading(inner, name(a), make("span", {}, edge ? " – " : " and "), name(b));
    inner.append(about(a), about(b));
    if (data.suppress) coarse(inner, edge);
    else if (edge) linked(inner, edge, graph);
    else absent(inner, a, b, picked, graph);
    const why = data.explanations?.[a + "," + b], found = edge ? null : couldBeFound(a, b);
    if (why) inner.append(make("h4", {}, "Why"), make("p", {}, why));
    if (found) inner.append(make("h4", {}, "What could have been found"), make("p", {}, found));
    inner.append(make("h4", {}, "The two columns"), make("ul", { class: "rows" }, ...[a, b].map((i) =>
      make("li", {}, make("button", { type: "button", onclick: () => choose({ kind: "node", a: i }, true) }, make("span", { class: "what" }, name(i, 80)))))));
  }

  // All that may be said of a pair where small groups are hidden.
  function coarse(inner, edge) {
    if (!edge) {
      inner.append(make("p", { class: "said" }, "No link is shown."), make("p", {}, "Either none was found, or it would reveal a combination of states with fewer than " + data.suppress + " rows."));
      return;
    }
    inner.append(make("p", { class: "said" }, ...inWords(edge)));
    inner.append(make("dl", { class: "facts" }, make("dt", {}, "Strength"), make("dd", {}, strengthOf(edge)), make("dt", {}, "Sign"), make("dd", {}, signOf(edge))));
    inner.append(make("p", { class: "aside" }, edge.strength === null ? "Some combination of states has fewer than " + data.suppress + " rows, so its numbers are hidden." : "The strength is rounded to one digit."));
  }

  // What a pair without a link means: that there is none, or that there are too few rows.
  function couldBeFound(a, b) {
    if (!data.verdicts) return null;
    const at = numberOf(data, a, b);
    const word = data.verdicts.verdict[at], ratio = data.verdicts.odds_ratio[at], rows = data.verdicts.rows_needed[at];
    const several = Math.max(data.nodes[a].states.length, data.nodes[b].states.length) > 2;
    const single = several && data.verdicts.state_odds_ratio ? data.verdicts.state_odds_ratio[at] : null;
    const size = ratio === null ? "No link would have been found here, whatever its size." : "A link with an odds ratio above " + times(ratio) + " would have been found, with 80 % power" + (several ? " on average over the shapes a link may take" : "") + "." + (single === null ? "" : " One that shows in one state of each column only would have been found with an odds ratio above " + times(single) + " there.");
    if (word === "n") return size;
    if (word === "l") return null;
    return "Too few rows to tell. " + size + (rows === null ? "" : " About " + thousands(rows) + " rows would settle it.");
  }

  function linked(inner, edge, graph) {
    inner.append(make("p", { class: "said" }, ...inWords(edge)));
    const facts = make("dl", { class: "facts" });
    const fact = (title, ...value) => facts.append(make("dt", {}, title), make("dd", {}, ...value));
    fact("Strength", digits(edge.strength, 3) + " (relative: " + digits(edge.relative, 3) + ")");
    fact("Evidence", digits(edge.evidence, 1));
    if (edge.entry !== null) fact("Entry evidence", digits(edge.entry, 1) + " (" + needs(data) + ")");
    if (edge.coupling !== null) fact("Log-odds", edge.unbounded ? "unbounded" : signed(4 * edge.coupling, 2));
    if (hasForms(data)) fact("Form", FORM_WORDS[edge.form]);
    if (edge.form === "product") fact("Log-odds per step", edge.unbounded ? "unbounded" : signed(edge.step, 3));
    if (edge.required) fact("Required", "it was required, so no search had to choose it");
    else {
      fact("Chosen by", ...(edge.selectedBy === null ? ["both"] : [name(edge.selectedBy), " alone"]));
      fact("How sure", edge.tier || "weaker than tentative");
    }
    if (edge.lost !== null) fact("Information lost", percent(edge.lost) + ", through missing values");
    if (edge.frequency !== null) fact("Half-samples", percent(edge.frequency) + " choose it");
    const alone = associationOf(data, edge.a, edge.b);
    if (alone) fact("With nothing held fixed", "strength " + digits(alone.strength, 3));
    inner.append(facts);
    if (edge.form === "trend" && !edge.unbounded) inner.append(...trendList(data, edge, name));
    inner.append(...trendPicture(edge));
    inner.append(...rowsTable(edge, graph));
    if (edge.unbounded) inner.append(make("p", { class: "aside" }, "Unbounded: some combination of states never occurs, or columns repeat each other. The rows do not say how strong the link is."));
    if (graph.threshold !== data.stops[data.stop]) inner.append(make("p", { class: "aside" }, "These numbers belong to the threshold of the slider."));
  }

  // A sentence of odds for two states each, of direction otherwise.
  function inWords(edge) {
    const { a, b } = edge;
    if (edge.coupling !== null && !edge.unbounded) {
      const odds = Math.exp(4 * Math.abs(edge.coupling));
      const high = edge.coupling > 0 ? 1 : 0;
      return ["With all other columns held fixed, the odds of ", name(b, 40), " = ", make("bdi", {}, cut(state(b, 1), 30)), " are " + times(odds) + " times as high where ", name(a, 40), " = ", make("bdi", {}, cut(state(a, high), 30)), " as where it is ", make("bdi", {}, cut(state(a, 1 - high), 30)), "."];
    }
    const steps = stepSentence(data, edge, name);
    if (steps) return steps;
    const ways = { 1: "More of one goes with more of the other", "-1": "More of one goes with less of the other", 0: "The two say something about each other; the link has no sign" };
    return [(ways[edge.sign] || "The two say something about each other") + ". All other columns are held fixed."];
  }

  // The table of a link whose form is one of scores, with its trend.
  function trendPicture(edge) {
    const picture = edge.form === "table" || edge.unbounded ? null : formPicture(data, edge, { most: 150, dots: true });
    if (!picture) return [];
    const line = edge.form === "product" ? "The line" : "Each stroke";
    return [picture, make("p", { class: "aside" }, "Squares: more rows than without this link (blue), or fewer (orange); ", name(edge.a, 40), " down, ", name(edge.b, 40), " across. " + line + ": the mean under the form of the link. Dots: the observed mean.")];
  }

  // Rows observed beside those expected without this link, for every combination of states.
  function rowsTable(edge, graph) {
    const { a, b } = edge, table = data.link_tables?.[a + "," + b];
    if (!table) {
      const why = !data.given[a + "," + b] ? "Tables are kept for the links at the chosen threshold; this is not one of them." : "The table of this link was not kept: the tables of all links would have been too many.";
      return [make("p", { class: "aside" }, why)];
    }
    const unclear = [], narrow = table.observed[0].length > 3;
    const upright = table.observed[0].every((_, k) => state(b, k).length <= 3);
    const head = make("tr", {}, make("td", { class: "corner" }), ...table.observed[0].map((_, k) => make("th", { scope: "col", title: state(b, k) }, make("bdi", {}, state(b, k)))));
    const rows = table.observed.map((values, k) => make("tr", {}, make("th", { scope: "row", title: state(a, k) }, make("bdi", {}, state(a, k))), ...values.map((seen, l) => {
      const expected = table.expected[k][l], known = expected >= 1;
      if (!known) unclear.push([k, l]);
      return rowsCell(seen, expected, known ? seen / expected : null, narrow);
    })));
    const numbers = "how many times as many rows as without this link, all other links kept. ";
    const frame = make("div", { class: "odds-frame", tabindex: "0", role: "region", "aria-label": "Rows observed and expected" }, make("table", { class: "odds" + (narrow ? " narrow" : "") + (upright ? " upright" : "") }, make("thead", {}, head), make("tbody", {}, ...rows)));
    return [
      make("h4", {}, "Rows of each combination"),
      make("p", { class: "aside" }, narrow ? "The numbers: " + numbers : "Large: " + numbers + "Below: rows observed / rows expected. ", name(a, 40), " down, ", name(b, 40), " across."),
      frame,
      ...(narrow ? [rowsPointedAt(frame, edge, table)] : []),
      ...(unclear.length ? [withoutRatio(a, b, unclear)] : []),
      ...(graph.threshold !== data.stops[data.stop] ? [make("p", { class: "aside" }, "Rows are expected from the links at the chosen threshold.")] : []),
    ];
  }

  // A line below a narrow table: the rows of the cell that is pointed at, or tapped.
  function rowsPointedAt(frame, { a, b }, table) {
    const line = make("p", { class: "aside pointed-at", "aria-live": "polite" }, "Point at a number, or tap it, for the rows behind it.");
    const show = (event) => {
      const cell = event.target.closest("td:not(.corner)");
      if (!cell) return;
      const k = cell.parentNode.rowIndex - 1, l = cell.cellIndex - 1;
      line.replaceChildren(make("bdi", {}, cut(state(a, k), 24)), " with ", make("bdi", {}, cut(state(b, l), 24)), ": " + rowsOf(table.observed[k][l]) + " rows observed, " + rowsOf(Number(table.expected[k][l].toFixed(1))) + " expected.");
    };
    frame.addEventListener("pointerover", show);
    frame.addEventListener("click", show);
    return line;
  }

  function rowsCell(seen, expected, ratio, narrow) {
    return make("td", { style: "background-color:" + shadeOf(ratio) },
      make("span", { class: "ratio" }, ratio === null ? "" : (narrow ? "" : "×\u202f") + ratioOf(ratio)),
      make("span", { class: "rows-of" }, rowsOf(seen) + " / " + rowsOf(Number(expected.toFixed(1)))));
  }

  // Which ratios the rows do not determine.
  function withoutRatio(a, b, cells) {
    const parts = cells.slice(0, 4).flatMap(([k, l], at) => [at ? ", " : "", make("bdi", {}, cut(state(a, k), 24)), " with ", make("bdi", {}, cut(state(b, l), 24))]);
    const more = cells.length > 4 ? " and " + counted(cells.length - 4, "more combination") : "";
    return make("p", { class: "aside" }, "No ratio where less than 1 row is expected: ", ...parts, more + ".");
  }

  function absent(inner, a, b, picked, graph) {
    inner.append(make("p", { class: "said" }, "No link at this threshold."));
    const alone = associationOf(data, a, b);
    if (!alone) {
      inner.append(make("p", {}, "Their association with nothing else held fixed was not saved."));
    } else {
      const chance = alone.evidence / (2 * data.rows) > graph.threshold;
      inner.append(make("p", {}, chance ? "With nothing else held fixed they are associated" + (alone.sign < 0 ? " (more of one, less of the other)" : alone.sign > 0 ? " (more of one, more of the other)" : "") + ". With the other columns held fixed, what remains is too weak for a link." : "Even with nothing else held fixed they are hardly associated."));
      const facts = make("dl", { class: "facts" });
      facts.append(make("dt", {}, "With nothing held fixed"), make("dd", {}, "strength " + digits(alone.strength, 3) + ", evidence " + digits(alone.evidence, 1)));
      inner.append(facts);
    }
    if (picked.chain && picked.chain.length > 2) {
      const parts = [];
      picked.chain.forEach((i, k) => { if (k) parts.push(" – "); parts.push(name(i, 40)); });
      inner.append(make("h4", {}, "The strongest chain between them"), make("p", {}, ...parts));
    } else if (!picked.chain) {
      inner.append(make("p", { class: "aside" }, "No chain of links leads from one to the other."));
    }
    const enters = data.edgeEnters(a, b);
    if (enters !== null) inner.append(make("p", { class: "aside" }, "It becomes a link at a threshold of about " + short(enters) + "."));
  }

  return { show };
}

// The share of a column's uncertainty that the columns chosen by its search explain.
function explainedBy(data, graph, a) {
  if (!data.paths) return null;
  const before = data.paths[a].start.loss, after = graph.fits[a].loss;
  return before > 1e-12 && after !== null ? Math.max(0, 1 - after / before) : null;
}
