// Small pieces of a page. Names and labels are data: they are only ever set as text.

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes || {}).forEach(([key, value]) => {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  });
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// One line, no control characters; a blank name is said to be one.
function oneLine(name) {
  const line = String(name).split(/\s+/u).filter(Boolean).join(" ") || "(blank)";
  return line.replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu, "\ufffd");
}

function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : text;
}

// A name in a running text keeps its own direction of writing.
function named(name, most) {
  const line = oneLine(name);
  const shown = most ? cut(line, most) : line;
  const element = make("bdi", shown === line ? {} : { title: line });
  element.textContent = shown;
  return element;
}

function labelOf(state) {
  if (state === null) return "(missing)";
  return oneLine(state === true ? "true" : state === false ? "false" : state);
}

function byId(id) {
  return document.getElementById(id);
}
