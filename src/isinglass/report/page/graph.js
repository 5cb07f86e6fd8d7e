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

function worthOf(fit, column) {
  const at = fit.worth ? fit.worth[0].indexOf(column) : -1;
  return at < 0 ? null : fit.worth[1][at];
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
    .filter((key) => data.rule === "or" || (pairs.get(key)[0] && pairs.get(key)[1]));
  let edges = kept.map((key) => {
    const b = key % data.names.length;
    return edgeOf(data, fits, (key - b) / data.names.length, b, pairs.get(key));
  });
  // A selector may keep fewer edges than its threshold gives.
  if (data.kept_fewer && threshold === data.stops[data.stop]) edges = edges.filter((edge) => data.given[edge.a + "," + edge.b]);
  return { threshold, cuts, fits, edges, neighbours: neighboursOf(data, edges) };
}

// The one graph of a page whose small groups are hidden: no search comes with it.
function givenGraph(data) {
  const edges = data.edges.map((edge) => ({
    ...edge, evidence: null, coupling: null, required: false, selectedBy: null, unbounded: false, frequency: null, tier: null,
  }));
  return { threshold: null, cuts: [], fits: [], edges, neighbours: neighboursOf(data, edges) };
}

function neighboursOf(data, edges) {
  const neighbours = data.names.map(() => []);
  edges.forEach((edge) => { neighbours[edge.a].push(edge); neighbours[edge.b].push(edge); });
  return neighbours;
}

function edgeOf(data, fits, a, b, chosen) {
  const worths = [worthOf(fits[a], b), worthOf(fits[b], a)];
  const known = data.given[a + "," + b];
  const worth = worths.includes(null) ? null : (worths[0] + worths[1]) / 2;
  const df = (data.nodes[a].states.length - 1) * (data.nodes[b].states.length - 1);
  const loose = (fit, column) => (fit.unbounded || []).includes(column);
  const trend = mean([...(chosen[0] ? [trendOf(fits[a], b)] : []), ...(chosen[1] ? [trendOf(fits[b], a)] : [])]);
  const ordered = data.nodes[a].ordered && data.nodes[b].ordered;
  return {
    a, b,
    strength: worth !== null ? Math.sqrt(-Math.expm1(-2 * worth)) : known ? known.strength : null,
    evidence: worth !== null ? 2 * data.rows * oneParameterGain(worth, df, data.rows) : known ? known.evidence : null,
    sign: ordered && Math.abs(trend) >= 1e-12 ? Math.sign(trend) : 0,
    coupling: df === 1 ? trend : null,
    required: requires(data, a, b),
    selectedBy: chosen[0] && chosen[1] ? null : chosen[0] ? a : b,
    unbounded: (chosen[0] && loose(fits[a], b)) || (chosen[1] && loose(fits[b], a)),
    frequency: frequencyOf(data, a, b),
    tier: tierOf(data, a, b),
  };
}

function frequencyOf(data, a, b) {
  const share = data.frequencies[a + "," + b];
  return share === undefined ? null : share;
}

function requires(data, a, b) {
  return data.paths[a].start.support.includes(b);
}

function tierOf(data, a, b) {
  const key = a + "," + b;
  if (requires(data, a, b)) return "required";
  return data.pairsOf.firm.has(key) ? "firm" : data.pairsOf.tentative.has(key) ? "tentative" : "";
}

function pairsAt(data, threshold) {
  return new Set(graphAt(data, threshold).edges.map((edge) => edge.a + "," + edge.b));
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
  const wanted = data.rule === "or" ? 1 : 2;
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
      const far = best.get(here) - Math.log(Math.max(edge.strength || 0.01, 0.01)) + 1e-9;
      if (!best.has(node) || far < best.get(node)) { best.set(node, far); via.set(node, here); open.add(node); }
    });
  }
  if (!via.has(to)) return null;
  const chain = [to];
  while (chain[0] !== from) chain.unshift(via.get(chain[0]));
  return chain;
}
