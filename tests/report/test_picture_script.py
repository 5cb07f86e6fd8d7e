"""The page's picture as an SVG file, drawn by its own scripts; run by Node, without a browser."""

import json
import shutil
import subprocess
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from isinglass import summarise
from isinglass.report.html import page_data
from report.pages import binary, fitted, hostile

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")

#: As much of a browser as the scripts ask for.
BROWSER = """
class Element {
  constructor(tag) {
    this.tag = tag; this.attributes = {}; this.children = []; this.textContent = "";
  }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  append(...more) { this.children.push(...more); }
}
const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
function write(element) {
  const given = Object.entries(element.attributes)
    .map(([key, value]) => ` ${key}="${escape(value)}"`);
  const inside = escape(element.textContent) + element.children.map(write).join("");
  return `<${element.tag}${given.join("")}>${inside}</${element.tag}>`;
}
class XMLSerializer { serializeToString(element) { return write(element); } }
class ResizeObserver { constructor(call) { this.call = call; } observe() { this.call(); } }
const document = { createElementNS: (_, tag) => new Element(tag), documentElement: {}, body: {} };
const getComputedStyle = () => ({
  getPropertyValue: (name) => (name === "--groups" ? "red green" : "grey"), fontFamily: "serif",
});
const matchMedia = () => ({ addEventListener: () => {} });
const requestAnimationFrame = () => {};
const window = { devicePixelRatio: 1 };
const measureText = (text) => ({ width: 7 * text.length });
const nothing = new Proxy({}, {
  get: (_, key) => (key === "measureText" ? measureText : () => {}), set: () => true,
});
const canvas = {
  getContext: () => nothing, addEventListener: () => {},
  getBoundingClientRect: () => ({ width: 600, height: 400 }),
};
"""
ASK = """
const { data, threshold } = JSON.parse(require("fs").readFileSync(0, "utf8"));
data.given = {};
const graph = graphAt(data, threshold);
const network = makeNetwork(canvas, data, () => {});
network.setGraph(graph, { edges: graph.edges, nodes: data.names.map((_, i) => i) });
process.stdout.write(network.asSvg());
"""
SCRIPTS = (
    *("numbers.js", "names.js", "elements.js", "forms.js", "graph.js", "picture.js", "network.js"),
)


def drawn(est) -> ElementTree.Element:
    page = files("isinglass.report") / "page"
    script = "\n".join((page / name).read_text() for name in SCRIPTS)
    data = page_data(summarise(est))
    done = subprocess.run(
        ["node", "-e", BROWSER + script + ASK],
        input=json.dumps({"data": data, "threshold": est.threshold_}),
        capture_output=True,
        text=True,
        check=True,
    )
    return ElementTree.fromstring(done.stdout)


def parts(picture, kind):
    return picture.findall(f"{{http://www.w3.org/2000/svg}}{kind}")


def test_all_links_dots_and_names_are_drawn():
    est = fitted(binary())
    picture = drawn(est)
    assert picture.attrib["viewBox"] == "0 0 600 400"
    lines, dots = parts(picture, "path"), parts(picture, "circle")
    assert len(lines) == len(est.graph_)
    assert {line.attrib["stroke"] for line in lines} == {"grey"}
    assert all(0 < float(line.attrib["stroke-opacity"]) <= 1 for line in lines)
    # Each dot is a ground that hides lines, its colour, and its rim.
    assert len(dots) == 3 * len(est.graph_.names)
    assert {word.text for word in parts(picture, "text")} <= set(est.graph_.names)
    assert len(parts(picture, "text")) % 2 == 0
    assert len(parts(picture, "rect")) == 1


def test_hostile_names_are_only_text():
    picture = drawn(fitted(hostile()))
    kinds = {element.tag.rpartition("}")[2] for element in picture.iter()}
    assert kinds <= {"svg", "rect", "path", "circle", "text"}
