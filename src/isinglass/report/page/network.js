// The picture: columns as dots, links as lines, on a canvas.

function makeNetwork(canvas, data, choose) {
  const p = data.names.length;
  let context = canvas.getContext("2d");
  const size = p <= 30 ? { dot: 8, text: 14 } : p <= 130 ? { dot: 5.5, text: 12 } : { dot: 3.5, text: 11 };
  const faint = p <= 30 ? { link: 0.2, dot: 0.6, text: 0.55 } : { link: 0.07, dot: 0.25, text: 0 };
  const at = data.at.map((point) => point.slice());
  const labels = data.names.map((name) => cut(oneLine(name), 24));
  const view = { kx: 1, ky: 1, x: 0, y: 0, width: 0, height: 0, turned: false };
  const colours = {};
  let graph = null, picked = null, hover = null, waiting = false, first = true;
  // What is drawn: the links and columns that were asked for, and what is picked.
  let wanted = { edges: [], nodes: [] }, shown = { edges: [], nodes: [] };

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colours.groups = style.getPropertyValue("--groups").trim().split(/\s+/);
    ["paper", "card", "ink", "soft", "hair", "more", "less", "none"].forEach((name) => {
      colours[name] = style.getPropertyValue("--" + name).trim();
    });
  }

  const place = (i) => {
    const [x, y] = view.turned ? [at[i][1], at[i][0]] : at[i];
    return [x * view.kx + view.x, y * view.ky + view.y];
  };

  function moveTo(i, x, y) {
    const across = (x - view.x) / view.kx, down = (y - view.y) / view.ky;
    at[i] = view.turned ? [down, across] : [across, down];
  }

  function resize() {
    const box = canvas.getBoundingClientRect();
    if (!box.width) return;
    const ratio = Math.max(window.devicePixelRatio || 1, 1);
    const old = [view.width, view.height];
    view.width = box.width;
    view.height = box.height;
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (first || Math.abs(old[0] - box.width) > 1 || Math.abs(old[1] - box.height) > 1) fit();
    first = false;
    draw();
  }

  // Everything in sight; stretched a little, and turned on a tall screen, to use the room.
  function fit() {
    const points = (shown.nodes.length ? shown.nodes : at.map((_, i) => i)).map((i) => at[i]);
    const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
    const range = (values) => Math.max(Math.max(...values) - Math.min(...values), 0.001);
    view.turned = view.height > 1.15 * view.width && range(xs) > range(ys);
    const [across, down] = view.turned ? [ys, xs] : [xs, ys];
    const side = Math.min(70, view.width * 0.14), top = 36;
    const most = p <= 30 ? 130 : 90;
    const kx = Math.min((view.width - 2 * side) / range(across), most * 1.25);
    const ky = Math.min((view.height - 2 * top) / range(down), most);
    const least = Math.min(kx, ky);
    view.kx = Math.min(kx, least * 1.6);
    view.ky = Math.min(ky, least * 1.6);
    view.x = view.width / 2 - view.kx * (Math.max(...across) + Math.min(...across)) / 2;
    view.y = view.height / 2 - view.ky * (Math.max(...down) + Math.min(...down)) / 2 - 6;
    redraw();
  }

  function zoom(factor, x, y) {
    const cx = x === undefined ? view.width / 2 : x, cy = y === undefined ? view.height / 2 : y;
    view.kx *= factor;
    view.ky *= factor;
    view.x = cx - (cx - view.x) * factor;
    view.y = cy - (cy - view.y) * factor;
    redraw();
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  const colourOf = (sign) => (sign > 0 ? colours.more : sign < 0 ? colours.less : colours.none);
  const dashOf = (tier) => (tier === "tentative" ? [6, 4] : tier === "" ? [1.5, 4] : []);

  // What is in the light: all, or what is picked and its neighbours.
  function lit() {
    if (!picked) return null;
    const nodes = new Set(), links = new Set();
    if (picked.kind === "node") {
      nodes.add(picked.a);
      graph.neighbours[picked.a].forEach((edge) => { nodes.add(edge.a); nodes.add(edge.b); links.add(edge); });
    } else {
      nodes.add(picked.a);
      nodes.add(picked.b);
      graph.edges.forEach((edge) => { if (edge.a === picked.a && edge.b === picked.b) links.add(edge); });
      (picked.chain || []).forEach((node) => nodes.add(node));
      const chain = picked.chain || [];
      graph.edges.forEach((edge) => {
        chain.forEach((node, k) => {
          if (k && Math.min(node, chain[k - 1]) === edge.a && Math.max(node, chain[k - 1]) === edge.b) links.add(edge);
        });
      });
    }
    return { nodes, links };
  }

  function lookAgain() {
    const light = lit();
    shown = !light ? wanted : {
      edges: [...new Set([...wanted.edges, ...light.links])],
      nodes: [...new Set([...wanted.nodes, ...light.nodes])],
    };
    redraw();
  }

  function draw() {
    if (!graph || !view.width) return;
    const light = lit();
    context.clearRect(0, 0, view.width, view.height);
    drawLinks(light);
    drawAbsent();
    drawDots(light);
    drawLabels(light);
  }

  // The picture as it is now, drawn by another pen; nothing that a pointer is over stands out.
  function drawBy(pen) {
    const usual = context, over = hover;
    context = pen;
    hover = null;
    try { draw(); } finally { context = usual; hover = over; }
  }

  function asSvg() {
    const pen = makeSvgPen(Math.round(view.width), Math.round(view.height), colours.card, context);
    drawBy(pen);
    return pen.file();
  }

  // Three pixels for each of the screen's, on paper of the page's colour.
  function asPng(done) {
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [3 * view.width, 3 * view.height];
    const pen = sheet.getContext("2d");
    pen.scale(3, 3);
    drawBy(pen);
    pen.globalCompositeOperation = "destination-over";
    pen.fillStyle = colours.card;
    pen.fillRect(0, 0, view.width, view.height);
    sheet.toBlob(done, "image/png");
  }

  // In a crowd, links between groups step back, so that the groups can be seen.
  function stepsBack(edge) {
    return data.first !== null && shown.edges.length > data.first && data.nodes[edge.a].community !== data.nodes[edge.b].community;
  }

  function drawLinks(light) {
    const scale = p <= 30 ? 1 : p <= 130 ? 0.75 : 0.6;
    context.lineCap = "round";
    const order = shown.edges.slice().sort((x, y) => x.weight - y.weight);
    order.forEach((edge) => {
      const strength = edge.weight;
      const on = light ? light.links.has(edge) : !stepsBack(edge);
      context.globalAlpha = on ? 0.5 + 0.5 * strength : light ? faint.link : 0.15;
      context.strokeStyle = colourOf(edge.sign);
      context.lineWidth = scale * (0.8 + 8 * strength) + (hover && hover.edge === edge ? 2 : 0);
      context.setLineDash(dashOf(edge.tier));
      trace(edge.a, edge.b);
    });
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function trace(a, b) {
    const [x1, y1] = place(a), [x2, y2] = place(b), middle = bend(a, b);
    context.beginPath();
    context.moveTo(x1, y1);
    if (middle) context.quadraticCurveTo(middle[0], middle[1], x2, y2);
    else context.lineTo(x2, y2);
    context.stroke();
  }

  // Where a line would run through a third dot, the point that bends it around; else null.
  function bend(a, b) {
    if (p > 130) return null;
    const [x1, y1] = place(a), [x2, y2] = place(b);
    const dx = x2 - x1, dy = y2 - y1, length = Math.hypot(dx, dy) || 1;
    for (let i = 0; i < p; i += 1) {
      if (i === a || i === b) continue;
      const [x, y] = place(i);
      const along = ((x - x1) * dx + (y - y1) * dy) / length, aside = ((y - y1) * dx - (x - x1) * dy) / length;
      if (along > 0 && along < length && Math.abs(aside) < size.dot + 2) {
        const out = (aside > 0 ? -1 : 1) * (4 * size.dot + 0.06 * length);
        return [(x1 + x2) / 2 - out * dy / length, (y1 + y2) / 2 + out * dx / length];
      }
    }
    return null;
  }

  // A pair without a link, when it is asked about: a thin line of dots.
  function drawAbsent() {
    if (picked?.kind !== "pair") return;
    if (graph.edges.some((edge) => edge.a === picked.a && edge.b === picked.b)) return;
    context.strokeStyle = colours.soft;
    context.lineWidth = 1.25;
    context.setLineDash([1, 6]);
    trace(picked.a, picked.b);
    context.setLineDash([]);
  }

  // Groups that somebody made, else those with more links inside than between.
  function groupColour(i) {
    if (data.groups.length) return ownColour(data, i, colours) || colours.card;
    const group = data.nodes[i].community;
    return group ? colours.groups[(group - 1) % colours.groups.length] : colours.card;
  }

  function drawDots(light) {
    shown.nodes.forEach((i) => {
      const [x, y] = place(i);
      const on = !light || light.nodes.has(i);
      const chosen = picked && (picked.a === i || picked.b === i);
      const alone = graph.neighbours[i].length === 0;
      context.beginPath();
      context.arc(x, y, size.dot * (chosen ? 1.25 : 1), 0, 2 * Math.PI);
      context.globalAlpha = 1;
      context.fillStyle = colours.card; // so that no line shines through
      context.fill();
      context.globalAlpha = on ? 1 : faint.dot;
      context.fillStyle = chosen ? colours.ink : groupColour(i);
      context.fill();
      context.lineWidth = (hover && hover.node === i) ? 2.5 : 1.4;
      context.strokeStyle = alone && !chosen ? colours.soft : colours.ink;
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  // Names, the most important first, each only where it has room; what is picked always has.
  function drawLabels(light) {
    const font = getComputedStyle(document.body).fontFamily;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    const weight = (i) => {
      if (picked && (picked.a === i || picked.b === i)) return 1e9;
      if (hover && hover.node === i) return 1e8;
      return (light?.nodes.has(i) ? 1e6 : 0) + graph.neighbours[i].length;
    };
    const order = shown.nodes.slice().sort((i, j) => weight(j) - weight(i) || i - j);
    const boxes = makeBoxes();
    shown.nodes.forEach((i) => {
      const [x, y] = place(i);
      if (!light || light.nodes.has(i) || faint.text) boxes.add([x - size.dot, y - size.dot, x + size.dot, y + size.dot]);
    });
    order.forEach((i) => {
      const [x, y] = place(i);
      if (x < -80 || y < -20 || x > view.width + 80 || y > view.height + 20) return;
      const on = !light || light.nodes.has(i);
      const strong = weight(i) >= 1e8;
      if (!strong && !on && !faint.text) return;
      const half = widthOf(i, strong, font) / 2 + 2;
      const room = spots(x, y, half).find((spot) => strong || boxes.free(spot));
      if (!room) return;
      context.font = (strong ? "600 " : "") + size.text + "px " + font;
      const [mid, low] = [(room[0] + room[2]) / 2, room[1]];
      boxes.add(room);
      context.lineWidth = 4;
      context.strokeStyle = colours.card;
      context.globalAlpha = 0.85;
      context.strokeText(labels[i], mid, low);
      context.globalAlpha = on || strong ? 1 : faint.text;
      context.fillStyle = graph.neighbours[i].length || strong ? colours.ink : colours.soft;
      context.fillText(labels[i], mid, low);
      context.globalAlpha = 1;
    });
  }

  const widths = new Map();
  function widthOf(i, strong, font) {
    const key = strong ? i : -1 - i;
    if (!widths.has(key)) {
      context.font = (strong ? "600 " : "") + size.text + "px " + font;
      widths.set(key, context.measureText(labels[i]).width);
    }
    return widths.get(key);
  }

  // Places taken, in squares of the canvas, so that only near ones are compared.
  function makeBoxes(side = 64) {
    const squares = new Map();
    const each = (box, visit) => {
      for (let x = Math.floor(box[0] / side); x <= Math.floor(box[2] / side); x += 1) {
        for (let y = Math.floor(box[1] / side); y <= Math.floor(box[3] / side); y += 1) {
          if (visit(x * 4096 + y) === false) return false;
        }
      }
      return true;
    };
    return {
      add: (box) => each(box, (key) => { if (squares.has(key)) squares.get(key).push(box); else squares.set(key, [box]); }),
      free: (box) => each(box, (key) => !(squares.get(key) || []).some((other) => overlap(box, other))),
    };
  }

  // Below the dot, above it, or beside it; never off the canvas.
  function spots(x, y, half) {
    const high = size.text + 1, gap = size.dot + 3;
    const inside = (mid) => Math.min(Math.max(mid, half + 2), Math.max(view.width - half - 2, half + 2));
    return [[x, y + gap], [x, y - gap - high], [x + half + gap, y - high / 2], [x - half - gap, y - high / 2]]
      .map(([mid, top]) => [inside(mid) - half, top, inside(mid) + half, top + high]);
  }

  const overlap = (one, other) =>
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

  function underPoint(x, y, touch) {
    let near = null, best = size.dot + (touch ? 14 : 6);
    shown.nodes.forEach((i) => {
      const [px, py] = place(i);
      const far = Math.hypot(px - x, py - y);
      if (far < best) { best = far; near = i; }
    });
    if (near !== null) return { node: near };
    let edge = null;
    best = touch ? 12 : 6;
    shown.edges.forEach((candidate) => {
      const far = toLink(x, y, candidate.a, candidate.b);
      if (far < best) { best = far; edge = candidate; }
    });
    return edge ? { edge } : null;
  }

  function toLink(x, y, a, b) {
    const from = place(a), to = place(b), middle = bend(a, b);
    if (!middle) return toSegment(x, y, from, to);
    let best = Infinity, before = from;
    for (let k = 1; k <= 12; k += 1) {
      const t = k / 12, s = 1 - t;
      const point = [0, 1].map((axis) => s * s * from[axis] + 2 * s * t * middle[axis] + t * t * to[axis]);
      best = Math.min(best, toSegment(x, y, before, point));
      before = point;
    }
    return best;
  }

  function toSegment(x, y, [x1, y1], [x2, y2]) {
    const dx = x2 - x1, dy = y2 - y1;
    const along = Math.min(Math.max(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0), 1);
    return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
  }

  // Pointers: drag a dot, drag the ground, pinch, click.
  const pointers = new Map();
  let grip = null, spread = 0;
  const local = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = local(event);
    pointers.set(event.pointerId, [x, y]);
    canvas.setPointerCapture(event.pointerId);
    grip = { x, y, lastX: x, lastY: y, moved: false, on: underPoint(x, y, event.pointerType === "touch"), beside: event.shiftKey };
    spread = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = local(event);
    if (!pointers.has(event.pointerId)) {
      const now = underPoint(x, y, false);
      const same = (now && hover && now.node === hover.node && now.edge === hover.edge) || (!now && !hover);
      if (!same) { hover = now; canvas.classList.toggle("on", Boolean(hover)); redraw(); }
      return;
    }
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size === 2) { pinch(); return; }
    if (!grip) return;
    if (Math.hypot(x - grip.x, y - grip.y) > 4) grip.moved = true;
    if (!grip.moved) return;
    canvas.classList.add("grabbing");
    if (grip.on && grip.on.node !== undefined) {
      moveTo(grip.on.node, x, y);
    } else {
      view.x += x - grip.lastX;
      view.y += y - grip.lastY;
    }
    grip.lastX = x;
    grip.lastY = y;
    redraw();
  });
  function pinch() {
    const [[x1, y1], [x2, y2]] = [...pointers.values()];
    const now = Math.hypot(x1 - x2, y1 - y2);
    if (spread) zoom(now / spread, (x1 + x2) / 2, (y1 + y2) / 2);
    spread = now;
    if (grip) grip.moved = true;
  }
  const release = (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove("grabbing");
    if (grip && !grip.moved && event.type === "pointerup") {
      if (!grip.on) choose(null);
      else if (grip.on.edge) choose({ kind: "pair", a: grip.on.edge.a, b: grip.on.edge.b });
      else if (grip.beside && picked && picked.a !== grip.on.node) choose(pairOf(picked.a, grip.on.node));
      else choose({ kind: "node", a: grip.on.node });
    }
    if (!pointers.size) grip = null;
    spread = 0;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { if (hover) { hover = null; redraw(); } });
  canvas.addEventListener("wheel", (event) => {
    // A page must still scroll: the wheel zooms with Ctrl, or once the picture has the focus.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const [x, y] = local(event);
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (steps[event.key]) walk(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") choose(null);
    else if (event.key === "Enter" && picked) choose(picked, true);
    else return;
    event.preventDefault();
  });

  // The nearest column in a direction, sideways counting double; from nowhere, the first.
  function walk(dx, dy) {
    if (!picked) { choose({ kind: "node", a: shown.nodes[0] }); return; }
    const [x, y] = place(picked.a);
    let best = Infinity, next = null;
    shown.nodes.forEach((i) => {
      const [px, py] = place(i);
      const along = (px - x) * dx + (py - y) * dy, aside = Math.abs((px - x) * dy - (py - y) * dx);
      if (i !== picked.a && along > 1 && along + 2 * aside < best) { best = along + 2 * aside; next = i; }
    });
    if (next !== null) choose({ kind: "node", a: next });
  }

  function show(i) {
    const [x, y] = place(i);
    if (x < 30 || y < 30 || x > view.width - 30 || y > view.height - 30) {
      view.x += view.width / 2 - x;
      view.y += view.height / 2 - y;
    }
    redraw();
  }

  readColours();
  new ResizeObserver(resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
  matchMedia("print").addEventListener("change", () => { readColours(); resize(); draw(); });

  return {
    fit, zoom, show, place, draw, at, asSvg, asPng,
    setGraph(next, part) { graph = next; wanted = part; hover = null; lookAgain(); },
    setPicked(next) { picked = next; if (graph) lookAgain(); },
    shown: () => shown,
  };
}
