// The picture as a file: a pen that takes the strokes of a canvas and makes an SVG of them.

function makeSvgPen(width, height, paper, context) {
  const svg = drawn("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: "0 0 " + width + " " + height });
  const round = (number) => String(Math.round(100 * number) / 100);
  let path = "", circle = null, dash = [];
  const pen = {
    globalAlpha: 1, fillStyle: "", strokeStyle: "", lineWidth: 1, font: "", lineCap: "", lineJoin: "", textAlign: "", textBaseline: "",
    clearRect: () => svg.append(drawn("rect", { width, height, fill: paper })),
    setLineDash: (parts) => { dash = parts; },
    beginPath: () => { path = ""; circle = null; },
    moveTo: (x, y) => { path += "M" + round(x) + " " + round(y); },
    lineTo: (x, y) => { path += "L" + round(x) + " " + round(y); },
    quadraticCurveTo: (cx, cy, x, y) => { path += "Q" + [cx, cy, x, y].map(round).join(" "); },
    arc: (x, y, r) => { circle = { cx: round(x), cy: round(y), r: round(r) }; },
    measureText: (text) => { context.font = pen.font; return context.measureText(text); },
    stroke: () => shape({ fill: "none", stroke: pen.strokeStyle, "stroke-opacity": round(pen.globalAlpha), ...line() }),
    fill: () => shape({ fill: pen.fillStyle, "fill-opacity": round(pen.globalAlpha) }),
    strokeText: (text, x, y) => word(text, x, y, { fill: "none", stroke: pen.strokeStyle, "stroke-opacity": round(pen.globalAlpha), "stroke-linejoin": "round", "stroke-width": round(pen.lineWidth) }),
    fillText: (text, x, y) => word(text, x, y, { fill: pen.fillStyle, "fill-opacity": round(pen.globalAlpha) }),
    file: () => new XMLSerializer().serializeToString(svg) + "\n",
  };

  function line() {
    const style = { "stroke-width": round(pen.lineWidth), "stroke-linecap": "round" };
    return dash.length ? { ...style, "stroke-dasharray": dash.join(" ") } : style;
  }

  function shape(style) {
    svg.append(circle ? drawn("circle", { ...circle, ...style }) : drawn("path", { d: path, ...style }));
  }

  // Letters hang from their top on the canvas, and stand on a line in an SVG.
  function word(text, x, y, style) {
    const [, heavy, letters, family] = /^(600 )?([\d.]+)px (.*)$/.exec(pen.font);
    const element = drawn("text", {
      x: round(x), y: round(y + 0.8 * Number(letters)), "text-anchor": "middle", "font-size": letters,
      "font-family": family, ...(heavy ? { "font-weight": "600" } : {}), ...style,
    });
    element.textContent = text;
    svg.append(element);
  }

  return pen;
}
