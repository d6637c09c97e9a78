// SPDX-License-Identifier: Apache-2.0
// The figures of a token tree: the tree, its tokens, and the effect of more nodes.
import { draw, newChart } from "./chart.js";
import { drawn, element, number, table, times } from "./elements.js";

const LEVEL = 46;
const MIN_WIDTH = 13;

/** Children of each path, and the positions of nodes: leaves side by side, a parent above its children. */
function placed(paths) {
  const children = new Map([["", []]]);
  for (const path of paths) {
    children.set(path.join(), []);
    children.get(path.slice(0, -1).join())?.push(path);
  }
  const at = new Map();
  let leaves = 0;
  const place = (path) => {
    const below = children.get(path.join());
    below.forEach(place);
    const x = below.length ? (at.get(below[0].join()).x + at.get(below[below.length - 1].join()).x) / 2 : leaves++;
    at.set(path.join(), { x, depth: path.length });
  };
  place([]);
  return { at, leaves };
}

function treeDrawing(paths, probabilities) {
  const { at, leaves } = placed(paths);
  const deepest = Math.max(0, ...paths.map((path) => path.length));
  const [width, height] = [Math.max(280, leaves * MIN_WIDTH + 20), deepest * LEVEL + 34];
  const x = (node) => 14 + (leaves > 1 ? (node.x * (width - 28)) / (leaves - 1) : (width - 28) / 2);
  const y = (node) => 16 + node.depth * LEVEL;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `Token tree of ${paths.length + 1} nodes, ${deepest} deep` });
  const reached = (path) => probabilities[paths.indexOf(path)] ?? 1;
  for (const path of paths) {
    const [node, parent] = [at.get(path.join()), at.get(path.slice(0, -1).join())];
    svg.append(drawn("line", { x1: x(parent), y1: y(parent), x2: x(node), y2: y(node),
      style: `stroke:var(--series-1);stroke-width:${0.6 + 5 * reached(path)}` }));
  }
  for (const path of [[], ...paths]) {
    const node = at.get(path.join());
    svg.append(drawn("circle", { cx: x(node), cy: y(node), r: path.length ? 4 : 6,
      style: `fill:${path.length ? "var(--series-1)" : "var(--series-3)"};stroke:var(--page)` },
      drawn("title", {}, path.length
        ? `candidates ${path.map((rank) => rank + 1).join(", ")}: accepted with probability ${number(reached(path), 3)}`
        : "the target's own token")));
  }
  return svg;
}

/** The view of a tree. `show` returns the verdict and the line below it. */
export function treeParts() {
  const place = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The token tree" });
  const numbers = element("div");
  const charts = { nodes: newChart(), distribution: newChart() };
  const paths = element("pre", { tabindex: "0" });
  const view = element("div", { hidden: true }, place, numbers,
    element("div", { class: "charts" }, charts.nodes, charts.distribution),
    element("details", {}, element("summary", {}, "Paths of child ranks, as engines take them"), paths));
  return {
    element: view,
    show: (document, bySize) => {
      place.replaceChildren(treeDrawing(document.paths, document.probabilities));
      paths.textContent = JSON.stringify(document.paths);
      const { dense, chain } = document;
      const row = (name, value) => [name, ...[document, dense, chain].map(value)];
      numbers.replaceChildren(table("Tree and chain", ["", "best tree", `widths ${dense.widths.join("×")}`, "best chain"],
        [row("Nodes", ({ nodes }) => nodes), row("Depth", ({ depth }) => depth),
          row("Tokens per iteration", (shape) => shape.tokens_per_iteration),
          row("Iteration, decode steps", (shape) => shape.iteration_cost),
          row("Speedup", ({ speedup }) => times(speedup))]), element("p", { class: "note" },
        "Nodes: the target's own token included. Tokens per iteration = 1 + Σ over the other nodes of the probability that "
        + "the path to it is accepted (docs/model.md, Token trees). Iteration = "
        + `${document.drafter === "block" ? "c" : "depth × c"} + 1 + growth × (nodes − 1). Speedup = tokens / iteration.`));
      const known = bySize.filter(([, answer]) => answer);
      draw(charts.nodes, { name: "tree-nodes", title: "Tokens and speedup by size of the tree",
        x: { label: "nodes at most", log: true }, y: { label: "tokens per iteration; speedup, ×" }, layers: [
        { kind: "line", name: "tokens per iteration", look: 0,
          points: known.map(([size, answer]) => [size, answer.tokens_per_iteration]) },
        { kind: "line", name: "speedup", look: 1, points: known.map(([size, answer]) => [size, answer.speedup]) },
        { kind: "rule", y: 1, name: "no speculation" }] });
      draw(charts.distribution, { name: "tree-distribution", title: "Tokens of an iteration",
        x: { label: "tokens of an iteration", whole: true }, y: { label: "probability", min: 0 },
        layers: [{ kind: "bars", name: "closed form", look: 0,
          points: document.tokens_pmf.map((value, k) => [k + 1, value]) }] });
      return [`The best tree has ${document.nodes} nodes: ${times(document.speedup)} as fast. `
        + `The best chain: ${times(chain.speedup)}.`,
        `${document.depth} deep, ${number(document.tokens_per_iteration, 3)} tokens per iteration. `
          + "The widths of lines show how often a path is accepted."];
    },
  };
}
