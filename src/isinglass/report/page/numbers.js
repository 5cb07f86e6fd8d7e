// Gains of blocks of any size on one scale, as in solvers/equivalent.py; and how numbers look.

function logGamma(a) {
  // Stirling's series, after a is raised to 10 or more.
  let shift = 0;
  while (a < 10) { shift += Math.log(a); a += 1; }
  const square = 1 / (a * a);
  const series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / a;
  return (a - 0.5) * Math.log(a) - a + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

// Log of the upper incomplete gamma ratio Q(a, x), however far out.
function logUpper(a, x) {
  if (x <= 0) return 0;
  const front = a * Math.log(x) - x - logGamma(a);
  if (x < a + 1) {
    let term = 1 / a, sum = term;
    for (let k = 1; k < 2000 && term > sum * 1e-17; k += 1) { term *= x / (a + k); sum += term; }
    return Math.log1p(-Math.min(Math.exp(front) * sum, 1 - 1e-16));
  }
  let b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (let k = 1; k < 2000; k += 1) {
    const numerator = -k * (k - a);
    b += 2;
    d = 1 / (numerator * d + b || 1e-300);
    c = b + numerator / c || 1e-300;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return front + Math.log(fraction);
}

// The gain of one parameter that would be as surprising as `gain` of df parameters.
function oneParameterGain(gain, df, n) {
  if (df <= 1 || !(gain > 0)) return Math.max(gain, 0);
  const tail = logUpper(df / 2, n * gain);
  let y = Math.max(-2 * tail - Math.log1p(-2 * tail), 1e-12);
  for (let k = 0; k < 200; k += 1) {
    const value = logUpper(0.5, y / 2);
    const slope = -Math.exp(-y / 2 - 0.5 * Math.log(2 * Math.PI * y) - value);
    const next = Math.max(y - (value - tail) / slope, y / 10);
    const done = Math.abs(next - y) <= 1e-13 * y;
    y = next;
    if (done) break;
  }
  return y / (2 * n);
}

const MINUS = "\u2212";

function digits(value, most) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  return value.toFixed(most).replace("-", MINUS);
}

function signed(value, most) {
  if (value === null || value === undefined) return "";
  const shown = digits(value, most);
  if (Number(shown.replace(MINUS, "")) === 0) return (0).toFixed(most);
  return (value > 0 ? "+" : "") + shown;
}

function short(value) {
  if (value === null || value === undefined) return "";
  return String(Number(value.toPrecision(4)));
}

function times(value) {
  if (value >= 1000) return "more than 1,000";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(2);
}

// How many times as many: two digits, three from 10 on.
function ratioOf(value) {
  return value === 0 ? "0" : value >= 100 ? thousands(Math.round(value)) : value >= 10 ? value.toFixed(1) : value >= 0.1 ? value.toFixed(2) : value.toPrecision(1);
}

function thousands(value) {
  const rounded = Number.isInteger(value) ? value : Math.round(value * 100) / 100;
  return rounded.toLocaleString("en");
}

function percent(value) {
  if (value === null || value === undefined) return "";
  return (100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0) + " %";
}

function band([low, high]) {
  return Math.round(100 * low) + " to " + Math.round(100 * high) + " %";
}

// Rows: whole ones as they are, others with as many digits as can be read.
function rowsOf(count) {
  return Number.isInteger(count) ? thousands(count) : count < 100 ? digits(count, 1) : thousands(Math.round(count));
}

function counted(number, noun) {
  return thousands(number) + " " + noun + (number === 1 ? "" : "s");
}

// What entry evidence is compared with.
function needs(data) {
  return Object.entries(data.levels).map(([tier, level]) => tier + " above " + digits(2 * data.rows * level, 1)).join(", ");
}
