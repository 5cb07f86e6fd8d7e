// Which part of a large graph is drawn: its strongest links, one group, or everything.

function strongest(edges, most) {
  return edges.slice().sort((x, y) => y.weight - x.weight).slice(0, most);
}

function endsOf(edges) {
  return [...new Set(edges.flatMap((edge) => [edge.a, edge.b]))].sort((x, y) => x - y);
}

// Columns and links of each group, the largest group first.
function groupsOf(data, graph) {
  const groups = new Map();
  data.nodes.forEach((node, i) => {
    if (!node.community) return;
    if (!groups.has(node.community)) groups.set(node.community, { number: node.community, nodes: [], edges: [] });
    groups.get(node.community).nodes.push(i);
  });
  graph.edges.forEach((edge) => {
    const group = data.nodes[edge.a].community;
    if (group && group === data.nodes[edge.b].community) groups.get(group).edges.push(edge);
  });
  return [...groups.values()].sort((x, y) => y.nodes.length - x.nodes.length || x.number - y.number);
}

function makeScope(data, changed) {
  const list = byId("scope"), box = byId("scope-box"), said = byId("drawn"), more = byId("draw-all");
  let wanted = "first";

  function choose(value) { wanted = value; changed(); }
  list.addEventListener("change", () => choose(list.value));
  more.addEventListener("click", () => choose(wanted === "all" ? "first" : "all"));

  function partOf(graph) {
    const crowded = data.first !== null && graph.edges.length > data.first;
    box.hidden = byId("drawn-box").hidden = !crowded;
    if (!crowded || wanted === "all") {
      tell(graph, crowded, null);
      return { edges: graph.edges, nodes: data.names.map((_, i) => i) };
    }
    const group = groupsOf(data, graph).find((one) => "group-" + one.number === wanted);
    const edges = group ? group.edges : strongest(graph.edges, data.first);
    tell(graph, crowded, group);
    return { edges, nodes: group ? group.nodes : endsOf(edges) };
  }

  function tell(graph, crowded, group) {
    if (!crowded) return;
    const links = thousands(graph.edges.length);
    list.replaceChildren(
      make("option", { value: "first" }, "Strongest " + data.first + " links"),
      make("option", { value: "all" }, "All " + links + " links"),
      ...groupsOf(data, graph).filter((one) => one.nodes.length > 2).map((one) =>
        make("option", { value: "group-" + one.number }, "Group " + one.number + ": " + counted(one.nodes.length, "column") + ", " + counted(one.edges.length, "link"))));
    list.value = wanted;
    said.textContent = wanted === "all" ? "All " + links + " links are drawn."
      : group ? "Drawn: group " + group.number + ", " + counted(group.edges.length, "link") + " of " + links + "."
        : "Drawn: the strongest " + data.first + " of " + links + " links.";
    more.textContent = wanted === "all" ? "Draw the strongest " + data.first + " links" : "Draw all " + links + " links";
  }

  return { partOf };
}
