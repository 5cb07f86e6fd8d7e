// Small pieces of the report.

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
}

function pairOf(a, b) {
  return { kind: "pair", a: Math.min(a, b), b: Math.max(a, b) };
}

function direction(sign) {
  return sign > 0 ? "up" : sign < 0 ? "down" : "";
}

// The group that somebody put a column into, and its colour; nothing for the others.
function ownGroup(data, i) {
  return data.groups.find((group) => group.columns.includes(i));
}

function ownColour(data, i, colours) {
  const group = ownGroup(data, i);
  return group && (group.colour || colours.groups[data.groups.indexOf(group) % colours.groups.length]);
}
