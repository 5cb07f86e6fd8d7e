// The graph at any threshold, from the steps of the searches: exactly what a fresh run would give.

// Steps of a path that a run to this threshold would have taken: all before the first forward
// step whose gain is not above it. Later, larger gains do not count.
function cutOf(path, threshold) {
  for (let k = 0; k < path.steps.length; k += 1) {
    const step = path.steps[k];
    if (step.kind === "add" && !(step.gain > threshold)) return k;
  }
  return path.steps.length;
}

function fitAfter(path, count) {
  return count ? path.steps[count - 1] : path.start;
}

// How much high goes with high, to one end of an edge; between two states each, the coupling.
function trendOf(fit, column) {
  return fit.trends[fit.support.indexOf(column)];
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function graphAt(data, threshold) {
  const cuts = data.paths.map((path) => cutOf(path, threshold));
  const fits = data.paths.map((path, r) => fitAfter(path, cuts[r]));
  const pairs = new Map();
  fits.forEach((fit, r) => fit.support.forEach((t) => {
    const key = Math.min(r, t) * data.names.length + Math.max(r, t);
    const chosen = pairs.get(key) || [false, false];
    chosen[r < t ? 0 : 1] = true;
    pairs.set(key, chosen);
  }));
  const kept = [...pairs.keys()].sort((x, y) => x - y)
    .filter((key) => data.rule !== "and" || (pairs.get(key)[0] && pairs.get(key)[1]));
  let edges = kept.map((key) => {
    const b = key % data.names.length;
    return edgeOf(data, fits, threshold, (key - b) / data.names.length, b, pairs.get(key));
  });
  // A selector may keep fewer edges than its threshold gives.
  if (data.kept_fewer && threshold === data.stops[data.stop]) edges = edges.filter((edge) => data.given[edge.a + "," + edge.b]);
  return { threshold, cuts, fits, edges, neighbours: neighboursOf(data, edges) };
}

// The one graph of a page whose small groups are hidden: no search comes with it.
function givenGraph(data) {
  const edges = data.edges.map((edge) => ({
    ...edge, weight: edge.strength === null ? 0.1 : edge.strength, relative: null, entry: null, evidence: null, coupling: null, required: false, selectedBy: null, unbounded: false, frequency: null, lost: null, tier: null, form: null, step: null,
  }));
  return { threshold: null, cuts: [], fits: [], edges, neighbours: neighboursOf(data, edges) };
}

function neighboursOf(data, edges) {
  const neighbours = data.names.map(() => []);
  edges.forEach((edge) => { neighbours[edge.a].push(edge); neighbours[edge.b].push(edge); });
  return neighbours;
}

function edgeOf(data, fits, threshold, a, b, chosen) {
  const key = a + "," + b, given = data.given[key];
  const [strength, relative, evidence] = data.values[key] || [null, null, null];
  const ends = [...(chosen[0] ? [[fits[a], b]] : []), ...(chosen[1] ? [[fits[b], a]] : [])];
  const twoStates = data.nodes[a].states.length === 2 && data.nodes[b].states.length === 2;
  const loose = (fit, column) => (fit.unbounded || []).includes(column);
  const trend = mean(ends.map(([fit, column]) => trendOf(fit, column)));
  const ordered = data.nodes[a].ordered && data.nodes[b].ordered;
  const required = requires(data, a, b);
  const entry = required ? null : entryOf(data, a, b, threshold);
  return {
    a, b, strength, relative, evidence,
    weight: strength !== null ? strength : given ? given.weight : 0.1,
    sign: ordered && Math.abs(trend) >= 1e-12 ? Math.sign(trend) : 0,
    coupling: twoStates ? trend : null,
    ...formOf(ends),
    required,
    entry: entry === null ? null : 2 * data.rows * entry,
    selectedBy: selectedBy(data, threshold, a, b, chosen),
    unbounded: (chosen[0] && loose(fits[a], b)) || (chosen[1] && loose(fits[b], a)),
    frequency: frequencyOf(data, a, b),
    lost: data.information_lost[key] ?? null,
    tier: required ? "required" : tierOf(data, entry),
  };
}

// The column that chose an edge by its own search; null if both did.
function selectedBy(data, threshold, a, b, chosen) {
  const alone = (r, t) => {
    const high = data.found_alone ? data.found_alone[r + "," + t] : null;
    return high === null || high > threshold; // where columns do not decide together, all found it
  };
  const [first, second] = [chosen[0] && alone(a, b), chosen[1] && alone(b, a)];
  return first === second ? null : first ? a : b; // an edge that was asked for needs neither
}

function frequencyOf(data, a, b) {
  const share = data.frequencies[a + "," + b];
  return share === undefined ? null : share;
}

function requires(data, a, b) {
  return data.paths[a].start.support.includes(b);
}

function tierOf(data, entry) {
  return Object.keys(data.levels).find((tier) => entry > data.levels[tier]) || "";
}

// Where an edge of the graph at a threshold enters: it is in the graphs of all thresholds between.
function entryOf(data, a, b, threshold) {
  const ends = [stretches(data.paths[a], b), stretches(data.paths[b], a)];
  const tops = (from) => ends.map((end) => end.filter(([low, high]) => low <= from && from < high).map(([, high]) => high));
  if (data.rule === "and") return Math.min(...tops(threshold).flat());
  for (let top = threshold; ;) {
    const further = Math.max(...tops(top).flat());
    if (!(further > top)) return top;
    top = further;
  }
}

// The thresholds at which a search has a neighbour: from the first, up to the second, which is not among them.
function stretches(path, neighbour) {
  const found = [];
  let least = Infinity, begin = null;
  const close = (low, fit) => {
    const there = fit.support.includes(neighbour);
    if (there && begin === null) begin = least;
    if (!there && begin !== null) { found.push([least, begin]); begin = null; }
    least = low;
  };
  path.steps.forEach((step, k) => {
    if (step.kind === "add" && step.gain < least) close(step.gain, fitAfter(path, k));
  });
  close(-Infinity, fitAfter(path, path.steps.length));
  if (begin !== null) found.push([-Infinity, begin]);
  return found;
}

// The number of edges at every stop: only neighbourhoods that change are looked at again.
function edgeCounts(data) {
  const events = [];
  data.paths.forEach((path, r) => {
    let least = Infinity, before = null;
    path.steps.forEach((step, k) => {
      if (step.kind !== "add" || step.gain >= least) return;
      if (before !== null) events.push([before, r, k]);
      least = step.gain;
      before = least;
    });
    if (before !== null) events.push([before, r, path.steps.length]);
  });
  events.sort((x, y) => y[0] - x[0]);
  const supports = data.paths.map((path) => path.start.support), chosen = new Map();
  const wanted = data.rule === "and" ? 2 : 1;
  let count = 0, next = 0;
  const change = (r, t, by) => {
    const key = Math.min(r, t) * data.names.length + Math.max(r, t);
    const before = chosen.get(key) || 0;
    chosen.set(key, before + by);
    if (before < wanted && before + by >= wanted) count += 1;
    if (before >= wanted && before + by < wanted) count -= 1;
  };
  supports.forEach((support, r) => support.forEach((t) => change(r, t, 1)));
  return data.stops.map((stop) => {
    for (; next < events.length && events[next][0] > stop; next += 1) {
      const [, r, steps] = events[next];
      supports[r].forEach((t) => change(r, t, -1));
      supports[r] = data.paths[r].steps[steps - 1].support;
      supports[r].forEach((t) => change(r, t, 1));
    }
    return count;
  });
}

// The place of a pair among all pairs, in column order.
function numberOf(data, a, b) {
  return a * data.names.length - a * (a + 1) / 2 + (b - a - 1);
}

// The association of two columns with nothing else held; null where it is not known.
function associationOf(data, a, b) {
  if (!data.pairs) return null; // nobody counted, or it is hidden
  const [i, j] = a < b ? [a, b] : [b, a];
  const value = data.pairs[numberOf(data, i, j)];
  if (value === null || value === undefined) return null;
  const information = Math.abs(value) / (20 * data.rows); // kept in tenths of a chi-square
  // Of the whole table of two columns, whatever the form of an edge between them.
  const df = (data.nodes[i].states.length - 1) * (data.nodes[j].states.length - 1);
  return {
    strength: Math.sqrt(-Math.expm1(-2 * information)),
    evidence: 2 * data.rows * oneParameterGain(information, df, data.rows),
    sign: data.nodes[i].ordered && data.nodes[j].ordered ? Math.sign(value) : 0,
  };
}

// The strongest chain of links from one column to another: that whose strengths multiply to most.
function chainBetween(graph, from, to) {
  const best = new Map([[from, 0]]), via = new Map(), open = new Set([from]);
  while (open.size) {
    let here = null;
    open.forEach((node) => { if (here === null || best.get(node) < best.get(here)) here = node; });
    open.delete(here);
    if (here === to) break;
    graph.neighbours[here].forEach((edge) => {
      const node = edge.a === here ? edge.b : edge.a;
      const far = best.get(here) - Math.log(Math.max(edge.weight, 0.01)) + 1e-9;
      if (!best.has(node) || far < best.get(node)) { best.set(node, far); via.set(node, here); open.add(node); }
    });
  }
  if (!via.has(to)) return null;
  const chain = [to];
  while (chain[0] !== from) chain.unshift(via.get(chain[0]));
  return chain;
}
