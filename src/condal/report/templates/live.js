"use strict";
const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const W = 440, H = 280, LEFT = 58, RIGHT = 12, TOP = 12, BOTTOM = 34;

function clock(seconds) {
  const s = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}
function shown(x, digits) {
  if (x === null || x === undefined) return "none yet";
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e12) ? x.toExponential(Math.max(digits - 6, 1))
    : x.toLocaleString("en", { maximumSignificantDigits: digits });
}
function put(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
}
function ticks(low, high, most) {
  const step = 10 ** Math.floor(Math.log10((high - low) / most || 1));
  const wide = [1, 2, 5, 10].find((m) => (high - low) / (m * step) <= most) * step;
  const multiples = [];
  for (let i = Math.ceil(low / wide); i * wide <= high; i++) multiples.push(i * wide);
  return multiples;
}
function decades(low, high, most) {
  const exponents = [], each = Math.max(1, Math.ceil((high - low) / most));
  for (let e = Math.ceil(low); e <= high; e += each) exponents.push(e);
  return exponents;
}
function draw(id, k, curves, logarithmic) {
  const svg = at(id);
  const scaled = curves.map((c) => c.map((v) => v === null || (logarithmic && v <= 1e-13) ? null
    : logarithmic ? Math.log10(v) : v));
  const late = scaled.flatMap((c) => c.slice(logarithmic ? 0 : Math.floor(c.length / 4)))
    .filter((v) => v !== null);
  svg.replaceChildren();
  if (!late.length) return;
  let low = Math.min(...late), high = Math.max(...late);
  if (logarithmic) { low = Math.floor(low); high = Math.max(Math.ceil(high), low + 1); }
  const margin = logarithmic ? 0.06 * (high - low) : 0.08 * (high - low) || 0.05 * Math.max(1, Math.abs(high));
  low -= margin; high += margin;
  const last = k[k.length - 1], far = last - k[0] >= 200;
  const along = (v) => far ? Math.log(v / k[0]) / Math.log(last / k[0]) : (v - k[0]) / Math.max(last - k[0], 1);
  const x = (v) => LEFT + (W - LEFT - RIGHT) * along(v);
  const y = (v) => H - BOTTOM - (H - BOTTOM - TOP) * (v - low) / (high - low);
  const label = { "font-size": 11, fill: "var(--faint)" };
  for (const v of (logarithmic ? decades : ticks)(low, high, 6)) {
    put(svg, "line", { x1: LEFT, x2: W - RIGHT, y1: y(v), y2: y(v), stroke: "var(--grid)", "stroke-width": 0.8 });
    const name = logarithmic ? (v >= 0 && v <= 3 ? String(10 ** v) : `1e${v}`) : shown(v, 5);
    put(svg, "text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end", ...label }, name);
  }
  const marks = far ? decades(Math.log10(k[0]), Math.log10(last), 6).map((e) => 10 ** e)
    : ticks(k[0], last, 6).filter(Number.isInteger);
  for (const v of marks) {
    put(svg, "text", { x: x(v), y: H - BOTTOM + 16, "text-anchor": "middle", ...label }, v.toLocaleString("en"));
  }
  put(svg, "text", { x: (LEFT + W - RIGHT) / 2, y: H - 3, "text-anchor": "middle", ...label }, "iteration");
  put(svg, "clipPath", { id: `${id}-clip` });
  put(svg.lastChild, "rect", { x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM });
  scaled.forEach((c, i) => {
    let path = "", pen = false;
    c.forEach((v, j) => {
      if (v === null) { pen = false; return; }
      path += `${pen ? "L" : "M"}${x(k[j]).toFixed(1)} ${Math.max(-999, Math.min(999, y(v))).toFixed(1)}`;
      pen = true;
    });
    put(svg, "path", {
      d: path, fill: "none", stroke: `var(--c${i + 1})`, "stroke-width": 1.8, "stroke-linecap": "round",
      "stroke-dasharray": ["none", "6 3", "2 3"][i], "clip-path": `url(#${id}-clip)`,
    });
  });
}
function say(status, detail, tone) {
  if (at("status").textContent !== status) at("status").textContent = status;
  at("detail").textContent = detail;
  at("state").className = `verdict ${tone}`;
}

const source = new EventSource("events");
let received = null, asked = false, over = false;
source.addEventListener("rows", (event) => {
  const state = JSON.parse(event.data), rows = state.rows, n = rows.k.length;
  received = new Date();
  asked = asked || state.asked;
  at("stop").disabled = asked || state.settled;
  const elapsed = `for ${clock(state.elapsed)}`;
  if (state.settled) say("Ending", "The solve has ended, and its answer is being written.", "live");
  else if (asked) say("Stopping", "The solve proves what it can about its last point, and ends.", "fair");
  else if (!n) say("Starting", `Running ${elapsed}.`, "live");
  else say("Running", `${rows.k[n - 1].toLocaleString("en")} iterations, ${elapsed}.`, "live");
  if (!n) return;
  for (const [name, digits] of [["objective", 8], ["bound", 8], ["gap", 3], ["infeasibility", 3], ["price", 3], ["proved", 3], ["k", 12], ["matvecs", 12]]) {
    const value = rows[name][n - 1], mark = value !== null && (name === "bound" || name === "gap") ? "~" : "";
    at(name).textContent = mark + shown(value, digits);
  }
  draw("values", rows.k, [rows.objective, rows.bound], false);
  draw("errors", rows.k, [rows.gap, rows.infeasibility, rows.price], true);
});
source.addEventListener("end", (event) => {
  over = true;
  source.close();
  const { verdict, html } = JSON.parse(event.data);
  if (html === null) {
    at("stop").disabled = true;
    if (verdict === null) say("Ended", "There is no result; the curves show the last rows.", "bad");
    else say(verdict, "The result is printed where the solve was started.", "live");
    return;
  }
  document.body.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  window.scrollTo(0, 0);
});
source.addEventListener("error", () => {
  if (over) return;
  at("stop").disabled = true;
  const when = received === null ? "" : ` The values are from ${received.toLocaleTimeString("en-GB")}.`;
  say("Not connected", `The process has ended, or this machine was asleep.${when}`, "bad");
});
at("stop").addEventListener("click", async () => {
  at("stop").disabled = asked = true;
  say("Stopping", "The solve proves what it can about its last point, and ends.", "fair");
  try {
    await fetch("stop", { method: "POST", headers: { "X-Condal": "stop" } });
  } catch {
    say("Not connected", "The process could not be reached.", "bad");
  }
});
