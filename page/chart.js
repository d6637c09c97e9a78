// SPDX-License-Identifier: Apache-2.0
// Charts as plain SVG, in the style of plots/: axes in words with units, a legend, a dash and a marker for each series.
import { download, drawn, element, number } from "./elements.js";

/**
 * A layer of a chart. Points are [x, y] or [x, y, low, high], or [x, from, to] for `floating` bars.
 * `color`: for lines on a map, in both themes of the page; `bare`: without markers.
 * @typedef {{kind: "line"|"points"|"bars"|"floating"|"area"|"band"|"rule"|"mark"|"heat", name?: string,
 *   points?: number[][], look?: number, color?: string, bare?: boolean, from?: number, to?: number, x?: number,
 *   y?: number, text?: string, values?: number[][], xs?: number[], ys?: number[]}} Layer
 */
/** @typedef {{label: string, log?: boolean, min?: number, max?: number, categories?: string[], whole?: boolean}} Axis */
/**
 * @typedef {{name: string, title: string, note?: string, x: Axis, y: Axis, layers: Layer[],
 *   onPick?: (x: number, y: number) => void}} Spec
 */

const HEIGHT = 270;
const MARGIN = { left: 50, right: 14, top: 12 };
const LETTER = 6.4;
const LEGEND_LINE = 18;
const MAX_MARKERS = 40;
const LOOKS = [
  { color: "var(--series-1)", dash: "", marker: "circle" },
  { color: "var(--series-2)", dash: "7 3", marker: "square" },
  { color: "var(--series-3)", dash: "2 2.5", marker: "up" },
  { color: "var(--series-4)", dash: "7 2 2 2", marker: "diamond" },
  { color: "var(--series-5)", dash: "11 3", marker: "down" },
  { color: "var(--series-6)", dash: "5 2 2 2 2 2", marker: "circle" },
];
/** Maximum number of series that a chart can distinguish. */
export const MAX_SERIES = LOOKS.length;
// Speedups below 1 are orange, above 1 blue; 1 has the color of the page.
const HEAT = [[0.4, [158, 60, 10]], [0.7, [226, 125, 50]], [0.9, [246, 206, 160]], [1, [245, 243, 238]],
  [1.2, [205, 216, 240]],
  [1.6, [150, 172, 222]], [2.2, [98, 122, 196]], [3, [66, 82, 165]], [5, [38, 44, 110]], [10, [20, 20, 60]]];

const lookOf = (layer, at) =>
  ({ ...LOOKS[(layer.look ?? at) % LOOKS.length], ...(layer.color ? { color: layer.color } : {}) });
const finite = (value) => typeof value === "number" && Number.isFinite(value);

function niceStep(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999) ?? 10 * power;
}

/** Ticks of an axis between low and high. */
function ticks(low, high, count, { log = false, whole = false } = {}) {
  const found = [];
  if (log) {
    for (const factors of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]]) {
      found.length = 0;
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        for (const factor of factors) {
          const value = Number((factor * 10 ** power).toPrecision(6));
          if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
        }
      }
      if (found.length <= count + 1) break;
    }
    return found;
  }
  const step = whole ? Math.max(1, niceStep(high - low, count)) : niceStep(high - low, count);
  const kept = whole ? Math.ceil(step) : step;
  for (let k = Math.ceil(low / kept - 1e-9); k * kept <= high + kept * 1e-9; k += 1)
    found.push(Number((k * kept).toPrecision(12)));
  return found;
}

/** All x and y of the layers. */
function extent(layers) {
  const xs = [];
  const ys = [];
  for (const layer of layers) {
    for (const point of layer.points ?? []) {
      xs.push(point[0]);
      ys.push(...point.slice(1));
    }
    if (layer.kind === "rule") ys.push(layer.y);
    if (layer.kind === "mark") { xs.push(layer.x); ys.push(layer.y); }
    if (layer.kind === "heat") { xs.push(...layer.xs); ys.push(...layer.ys); }
  }
  return { xs: xs.filter(finite), ys: ys.filter(finite) };
}

function scaleOf(axis, values, from, to, padded) {
  if (axis.categories) {
    const width = (to - from) / axis.categories.length;
    return Object.assign((place) => from + (place + 0.5) * width, { low: 0, high: axis.categories.length - 1, width });
  }
  let low = axis.min ?? Math.min(...values);
  let high = axis.max ?? Math.max(...values);
  if (!finite(low) || !finite(high)) [low, high] = [axis.log ? 1 : 0, axis.log ? 10 : 1];
  if (high <= low) [low, high] = axis.log ? [low / 1.5, low * 1.5] : [low - 0.5, low + 0.5];
  if (padded && axis.max === undefined) high = axis.log ? high * (high / low) ** 0.06 : high + (high - low) * 0.06;
  if (padded && axis.min === undefined) low = axis.log ? low / (high / low) ** 0.06 : low - (high - low) * 0.04;
  const of = axis.log ? Math.log : (value) => value;
  const scale = (value) => from + ((of(value) - of(low)) / (of(high) - of(low))) * (to - from);
  scale.back = (place) => {
    const part = (place - from) / (to - from);
    return axis.log ? low * (high / low) ** part : low + (high - low) * part;
  };
  return Object.assign(scale, { low, high });
}

function marker(look, x, y, size = 3.4, said = undefined) {
  const style = `fill:${look.color};stroke:var(--page);stroke-width:0.8`;
  const wide = size * 1.3;
  const path = {
    square: `M${x - size},${y - size}h${2 * size}v${2 * size}h${-2 * size}z`,
    up: `M${x},${y - size * 1.2}l${size * 1.2},${size * 2.1}h${-size * 2.4}z`,
    down: `M${x},${y + size * 1.2}l${size * 1.2},${-size * 2.1}h${-size * 2.4}z`,
    diamond: `M${x},${y - wide}l${wide},${wide}l${-wide},${wide}l${-wide},${-wide}z`,
  }[look.marker];
  const title = said && drawn("title", {}, said);
  return path ? drawn("path", { d: path, style }, title) : drawn("circle", { cx: x, cy: y, r: size, style }, title);
}

const text = (x, y, content, style = "", anchor = "middle") =>
  drawn("text", { x, y, "text-anchor": anchor, style: `fill:var(--ink);font:12px var(--font);${style}` }, content);
const stroke = (color, width = 1, dash = "") =>
  `fill:none;stroke:${color};stroke-width:${width};stroke-dasharray:${dash || "none"}`;
const line = (x1, y1, x2, y2, style) => drawn("line", { x1, y1, x2, y2, style });

function whisker(x, low, high, y, color) {
  const [from, to] = [y(low), y(high)];
  return drawn("path", { d: `M${x},${from}V${to}M${x - 3},${from}h6M${x - 3},${to}h6`, style: stroke(color, 1.2) });
}

function heatImage(layer) {
  const canvas = element("canvas", { width: layer.xs.length, height: layer.ys.length });
  const context = canvas.getContext("2d");
  const image = context.createImageData(layer.xs.length, layer.ys.length);
  layer.values.forEach((row, j) => row.forEach((value, i) => {
    image.data.set([...heatColor(value), 255], 4 * ((layer.ys.length - 1 - j) * layer.xs.length + i));
  }));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function heatColor(value) {
  if (!finite(value)) return HEAT[HEAT.length - 1][1];
  const above = HEAT.findIndex(([level]) => level >= value);
  if (above <= 0) return HEAT[above === 0 ? 0 : HEAT.length - 1][1];
  const [[low, from], [high, to]] = [HEAT[above - 1], HEAT[above]];
  const part = Math.log(value / low) / Math.log(high / low);
  return from.map((channel, k) => Math.round(channel + (to[k] - channel) * part));
}

const DRAW = {
  band: (layer, look, { x, top, bottom }) => [drawn("rect", {
    x: x(layer.from), y: top, width: Math.max(1, x(layer.to) - x(layer.from)), height: bottom - top,
      style: "fill:var(--shade)" })],
  rule: (layer, look, { y, left, right }) =>
    [line(left, y(layer.y), right, y(layer.y), stroke("var(--soft)", 1, "4 3"))],
  area: (layer, look, { x, y }) => {
    const kept = layer.points.filter((point) => point.every(finite));
    const there = kept.map(([at, , high]) => `${x(at)},${y(high)}`);
    const back = kept.map(([at, low]) => `${x(at)},${y(low)}`).reverse();
    return [drawn("polygon", { points: [...there, ...back].join(" "), style: `fill:${look.color};opacity:0.16` })];
  },
  line: (layer, look, { x, y, heat }) => {
    const kept = layer.points.filter(([at, value]) => finite(at) && finite(value));
    const points = kept.map(([at, value]) => [x(at), y(value)]).join(" ");
    return [...(heat ? [drawn("polyline", { points, style: stroke("#fff", 3.6) })] : []),
      drawn("polyline", { points, style: stroke(look.color, 1.8, look.dash) }),
      ...(kept.length <= MAX_MARKERS && !layer.bare
        ? kept.map(([at, value]) => marker(look, x(at), y(value), 2.8, `${number(at)}: ${number(value)}`)) : [])];
  },
  points: (layer, look, { x, y }) => layer.points.filter(([, value]) =>
    finite(value)).flatMap(([at, value, low, high]) => [
    ...(finite(low) && finite(high) ? [whisker(x(at), low, high, y, look.color)] : []),
      marker(look, x(at), y(value), 3.4,
      `${number(value)}${finite(low) ? ` (${number(low)} to ${number(high)})` : ""}`)]),
  bars: (layer, look, { x, y, bottom, barWidth, place }) => layer.points.filter(([, value]) => finite(value)).flatMap(
    ([at, value, low, high]) => {
      const left = x(at) + place * barWidth;
      return [drawn("rect", { x: left, y: y(value), width: barWidth * 0.92, height: Math.max(0, bottom - y(value)),
        style: `fill:${look.color}` }),
      ...(finite(low) && finite(high) ? [whisker(left + barWidth * 0.46, low, high, y, "var(--ink)")] : [])];
    }),
  floating: (layer, look, { x, y }) => layer.points.flatMap(([at, from, to]) => [drawn("rect", {
    x: x(at) - x.width * 0.34, width: x.width * 0.68, y: Math.min(y(from), y(to)),
      height: Math.max(1.5, Math.abs(y(from) - y(to))),
    style: `fill:${look.color}` })]),
  heat: (layer, look, { left, right, top, bottom }) =>
    [drawn("image", { x: left, y: top, width: right - left, height: bottom - top,
    preserveAspectRatio: "none", style: "image-rendering:auto", href: heatImage(layer) })],
  mark: (layer, look, { x, y, left, right, top }) => {
    const [atX, atY] = [x(layer.x), y(layer.y)];
    const room = (layer.text ?? "").length * LETTER;
    const anchor = atX + room / 2 > right ? "end" : atX - room / 2 < left ? "start" : "middle";
    const below = atY - 12 < top + 6;
    return [...[["var(--page)", 4.5], ["var(--ink)", 2]].map(([color, size]) => drawn("circle",
      { cx: atX, cy: atY, r: 6, style: stroke(color, size) })),
      text(anchor === "end" ? atX + 6 : anchor === "start" ? atX - 6 : atX, below ? atY + 22
        : atY - 12, layer.text ?? "",
        "font-weight:600;paint-order:stroke;stroke:var(--page);stroke-width:3px", anchor)];
  },
};

/** The legend: an entry for each layer with a name, wrapped into lines. */
function legend(layers, width) {
  let x = 0;
  let row = 0;
  const entries = layers.map((layer, at) => ({ layer, look: lookOf(layer, at) })).filter(({ layer }) => layer.name
    && layer.kind !== "mark")
    .flatMap(({ layer, look }) => {
      const size = 30 + layer.name.length * LETTER + 12;
      if (x > 0 && x + size > width) { x = 0; row += 1; }
      const y = row * LEGEND_LINE + 6;
      const swatch = layer.kind === "line"
        ? [...(layer.color ? [line(x - 2, y, x + 26, y, stroke("#fff", 4))] : []),
        line(x, y, x + 24, y, stroke(look.color, 1.8, look.dash)),
        ...(layer.bare ? [] : [marker(look, x + 12, y, 2.8)])]
        : layer.kind === "rule" ? [line(x, y, x + 24, y, stroke("var(--soft)", 1, "4 3"))]
          : layer.kind === "points"
            ? [marker(look, x + 12, y), line(x + 12, y - 6, x + 12, y + 6, stroke(look.color, 1.2))]
            : [drawn("rect", { x: x + 4, y: y - 5, width: 16, height: 10,
              style: layer.kind === "band" ? "fill:var(--shade)"
                : `fill:${look.color};opacity:${layer.kind === "area" ? 0.3 : 1}` })];
      const made = [...swatch, text(x + 30, y + 4, layer.name, "", "start")];
      x += size;
      return made;
    });
  return { entries, height: entries.length ? (row + 1) * LEGEND_LINE : 0 };
}

/** Lines of an axis label with at most `letters` letters, or undefined if a word is longer. */
function wrapped(name, letters) {
  const lines = [];
  for (const word of name.split(" ")) {
    if (word.length > letters) return undefined;
    if (lines.length && lines[lines.length - 1].length + word.length < letters) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

function categoryLabels(names, x, bottom) {
  const labels = names.map((name) => wrapped(name, Math.floor(x.width / LETTER)));
  if (labels.every((lines) => lines && lines.length < 3))
    return labels.flatMap((lines, at) => lines.map((word, k) => text(x(at), bottom + 15 + 12 * k, word)));
  return names.map((name, at) => drawn("text",
    { transform: `translate(${x(at) + 4} ${bottom + 12}) rotate(-35)`, "text-anchor": "end",
    style: "fill:var(--ink);font:12px var(--font)" }, name));
}

/** Pixels below the axis and more at its left: labels of categories that do not fit side by side are slanted. */
function labelRoom(spec, width) {
  const names = spec.x.categories;
  if (!names) return { below: 42, more: 0 };
  const letters = Math.floor((width - MARGIN.left - MARGIN.right) / names.length / LETTER);
  const fits = names.every((name) => (wrapped(name, letters)?.length ?? 3) < 3);
  if (fits) return { below: 54, more: 0 };
  const longest = Math.max(...names.map((name) => name.length)) * LETTER;
  return { below: 34 + longest * 0.62, more: Math.max(0, names[0].length * LETTER * 0.85 - MARGIN.left) };
}

function axes({ spec, x, y, left, right, top, bottom, below, heat }) {
  const made = [];
  const grid = stroke(heat ? "none" : "var(--grid)", 0.7);
  for (const value of ticks(y.low, y.high, 6, spec.y)) {
    made.push(line(left, y(value), right, y(value), grid), text(left - 6, y(value) + 4, number(value, 3), "", "end"));
  }
  if (spec.x.categories) {
    made.push(...categoryLabels(spec.x.categories, x, bottom));
  } else {
    for (const value of ticks(x.low, x.high, Math.max(3, Math.floor((right - left) / 60)), spec.x)) {
      made.push(line(x(value), top, x(value), bottom, grid), text(x(value), bottom + 16, number(value, 3)));
    }
  }
  made.push(drawn("path", { d: `M${left},${top}V${bottom}H${right}`, style: stroke("var(--ink)", 1) }),
    text((left + right) / 2, bottom + below - 8, spec.x.label),
    drawn("text", { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle",
      style: "fill:var(--ink);font:12px var(--font)" }, spec.y.label));
  return made;
}

/** The chart as an SVG of `width` pixels. @param {Spec} spec */
function svgOf(spec, width) {
  const { below, more } = labelRoom(spec, width);
  const [left, right, top, bottom] = [MARGIN.left + more, width - MARGIN.right, MARGIN.top, HEIGHT - 42];
  const height = bottom + below;
  const { xs, ys } = extent(spec.layers);
  const heat = spec.layers.some(({ kind }) => kind === "heat");
  const hasBars = spec.layers.some(({ kind }) => kind === "bars");
  const inset = heat || spec.x.categories ? 0 : hasBars
    ? Math.max(8, ((right - left) * 0.5) / Math.max(1, new Set(xs).size)) : 8;
  const x = scaleOf(spec.x, xs, left + inset, right - inset, false);
  const y = scaleOf(spec.y, ys, bottom, top, !heat);
  const bars = spec.layers.filter(({ kind }) => kind === "bars");
  const slot = x.width ?? (right - left) / Math.max(1, new Set(xs).size);
  const barWidth = Math.min(46, (slot * 0.8) / Math.max(1, bars.length));
  const frame = { spec, x, y, left, right, top, bottom, barWidth, below, heat };
  const { entries, height: legendHeight } = legend(spec.layers, right - left);
  const whole = height + legendHeight + 2;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${whole}`, width, height: whole, role: "img",
    "aria-label": `${spec.title}: ${spec.y.label} over ${spec.x.label}` });
  const order = ["band", "heat"];
  const under = spec.layers.filter(({ kind }) => order.includes(kind));
  const over = spec.layers.filter(({ kind }) => !order.includes(kind));
  const draw = (layer) => DRAW[layer.kind](layer, lookOf(layer, spec.layers.indexOf(layer)),
    { ...frame, place: bars.indexOf(layer) - bars.length / 2 });
  svg.append(...under.flatMap(draw), ...axes(frame), ...over.flatMap(draw),
    drawn("g", { transform: `translate(${left} ${height + 2})` }, ...entries));
  if (spec.onPick) {
    svg.style.cursor = "crosshair";
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const at = [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * whole) / box.height];
      if (at[0] >= left && at[0] <= right && at[1] >= top && at[1] <= bottom) spec.onPick(x.back(at[0]), y.back(at[1]));
    });
  }
  return svg;
}

/** The numbers of a chart: a row for each point. @param {Spec} spec */
function rowsOf(spec) {
  const name = (value) => (spec.x.categories ? spec.x.categories[value] : value);
  return spec.layers.flatMap((layer) => {
    if (layer.kind === "heat")
      return layer.values.flatMap((row, j) => row.map((value, i) => [layer.name, layer.xs[i], layer.ys[j], value]));
    if (layer.kind === "area") return layer.points.map(([x, low, high]) => [layer.name ?? "", name(x), "", low, high]);
    return (layer.points ?? []).map(([x, ...rest]) => [layer.name ?? "", name(x), ...rest]);
  });
}

function csvOf(spec) {
  const heat = spec.layers.some(({ kind }) => kind === "heat");
  const head = heat ? ["series", spec.x.label, spec.y.label, "value"]
    : ["series", spec.x.label, spec.y.label, "low", "high"];
  const cell = (value) => (/[",\n]/.test(String(value ?? "")) ? `"${String(value).replaceAll('"', '""')}"`
    : String(value ?? ""));
  return [head, ...rowsOf(spec)].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** The current value of a variable of the style sheet: a color, or the font. @param {string} name */
function settled(name) {
  const style = getComputedStyle(document.documentElement);
  if (name === "--font") return style.getPropertyValue(name).trim().replaceAll('"', "'");
  const probe = element("span", { style: `color:var(${name})` });
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** The SVG as a file, with the current colors. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.insertBefore(drawn("rect", { width: "100%", height: "100%", style: "fill:var(--page)" }), copy.firstChild);
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (all, name) => settled(name));
}

async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * 3, height: image.height * 3 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.redraw) target.redraw();
});

/** An empty figure for `draw`. @returns {HTMLElement} */
export function newChart() {
  const figure = element("figure", { class: "chart" });
  const title = element("figcaption");
  const place = element("div", { class: "drawing" });
  const save = (label, act) => element("button",
    { type: "button", class: "quiet", onclick: act, "aria-label": `Download as ${label}` }, label);
  const name = () => `foredraft-${figure.spec.name}`;
  const note = element("p", { class: "note" });
  figure.append(title, place, note, element("div", { class: "saves" },
    save("CSV", () => download(csvOf(figure.spec), `${name()}.csv`, "text/csv")),
    save("SVG", () => download(svgText(place.firstChild), `${name()}.svg`, "image/svg+xml")),
    save("PNG", async () => download(await pngOf(place.firstChild), `${name()}.png`))));
  let drawnWidth = 0;
  figure.redraw = (forced = false) => {
    const width = Math.round(Math.max(260, Math.min(1100, place.clientWidth)));
    if (!figure.spec || place.clientWidth === 0 || (!forced && width === drawnWidth)) return;
    drawnWidth = width;
    title.textContent = figure.spec.title;
    note.textContent = figure.spec.note ?? "";
    place.replaceChildren(svgOf(figure.spec, width));
  };
  sizes.observe(figure);
  return figure;
}

/** Draws `spec` into a figure of newChart. A hidden figure is drawn when it becomes visible. @param {Spec} spec */
export function draw(figure, spec) {
  figure.spec = spec;
  figure.redraw(true);
}
