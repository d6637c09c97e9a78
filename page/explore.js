// SPDX-License-Identifier: Apache-2.0
// Explore: one setting by closed form, with its neighbors in draft length, acceptance and cost.
import { ask, newest, read } from "./ask.js";
import { draw, newChart } from "./chart.js";
import { describe, element, number, symbols, table, times } from "./elements.js";
import { BY_PROCESS, COST_FORMULAS, FORMULAS } from "./formulas.js";
import { example } from "./examples.js";
import { fieldsSet, form } from "./fields.js";
import { code, commandLine, configuration, literal, pythonCall, shareBox } from "./share.js";
import { treeParts } from "./tree.js";

const chain = (values) => values.shape === "chain";
const isTree = (values) => values.shape === "tree";
const process = (name) => (values) => chain(values) && values.process === name;
const timed = (values) => values.cost === "times" && chain(values);

/** The controls. @type {import("./fields.js").Group[]} */
export const EXPLORE = [
  { title: "Draft", fields: [
    { name: "shape", label: "Shape", kind: "choice", default: "chain",
      options: [["chain", "A chain of tokens"], ["tree", "A tree of candidates"]] },
    { name: "best", label: "Use the best draft length", kind: "check", default: true, when: chain },
    { name: "gamma", label: "Draft length γ", kind: "slider", default: 5, min: 1, max: 32, step: 1,
      help: "tokens drafted in each iteration (K of engines)",
      when: (values) => chain(values) && !values.best },
    { name: "accuracies", label: "Accuracy by rank, a row per depth", kind: "area", default: "", when: isTree,
      placeholder: "0.56, 0.11, 0.06\n0.32, 0.11, 0.06", help: "empty: the five Medusa heads of Vicuna-7B" },
    { name: "nodes", label: "Nodes at most", kind: "slider", default: 64, min: 2, max: 256, step: 1, when: isTree } ] },
  { title: "Acceptance", fields: [
    { name: "process", label: "What is known", kind: "choice", default: "iid", when: chain, options: [
      ["iid", "acceptance rate α (i.i.d.)"], ["length", "acceptance length of a log"],
        ["conditional", "rate by position, given those before"],
      ["marginal", "rate by position, as engines log it"], ["runs", "easy and hard runs"]] },
    { name: "alpha", label: "Acceptance rate α", kind: "slider", default: 0.8, min: 0, max: 1, step: 0.01,
      flag: "--alpha", parameter: "alpha",
      help: "probability that a drafted token is accepted; Your log shows yours", when: process("iid") },
    { name: "length", label: "Tokens per iteration", kind: "slider", default: 2.5, min: 1, max: 10, step: 0.05,
      when: process("length") },
    { name: "lengthGamma", label: "measured at γ", kind: "number", default: 3, when: process("length") },
    { name: "conditional", label: "a₁, a₂, …", kind: "text", default: "0.8, 0.7, 0.6, 0.5", flag: "--conditional",
      parameter: "process.conditional", when: process("conditional") },
    { name: "marginal", label: "m₁, m₂, …", kind: "text", default: "0.74, 0.49, 0.305", flag: "--marginal",
      parameter: "process.marginal", when: process("marginal") },
    { name: "a", label: "P(accept | accepted)", kind: "slider", default: 0.85, min: 0, max: 1, step: 0.01, flag: "--a",
      parameter: "process.a", when: process("runs") },
    { name: "b", label: "P(accept | rejected)", kind: "slider", default: 0.6, min: 0, max: 1, step: 0.01, flag: "--b",
      parameter: "process.b", when: process("runs") },
    { name: "spread", label: "Spread of runs", kind: "slider", default: 0, min: 0, max: 5, step: 0.1, flag: "--spread",
      parameter: "process.spread", help: "log odds of easy runs above the mean", when: process("runs") },
    { name: "rho", label: "Odds across the bonus token", kind: "slider", default: 1, min: 0.1, max: 10, log: true,
      flag: "--rho", parameter: "process.rho", when: process("runs") } ] },
  { title: "Cost of an iteration", fields: [
    { name: "cost", label: "Known as", kind: "choice", default: "ratio",
      options: [["ratio", "ratio c"], ["times", "measured times"]], when: chain },
    { name: "c", label: "Cost ratio c", kind: "slider", default: 0.05, min: 0.001, max: 1, log: true, flag: "--c",
      parameter: "c",
      help: "time of a draft step over a target decode step", when: (values) => !timed(values) },
    { name: "step", label: "Decode step, ms", kind: "number", default: 20, flag: "--step-ms", parameter: "cost.step_ms",
      when: timed },
    { name: "draft", label: "Draft step, ms", kind: "number", default: 1, flag: "--draft-ms",
      parameter: "cost.draft_ms", when: timed },
    { name: "verify", label: "Verification, ms", kind: "number", default: 22, flag: "--verify-ms",
      parameter: "cost.verify_ms", when: timed },
    { name: "overhead", label: "Everything else, ms", kind: "number", default: 0, flag: "--overhead-ms",
      parameter: "cost.overhead_ms", when: timed },
    { name: "growth", label: "Verification growth", kind: "slider", default: 0, min: 0, max: 0.2, step: 0.002,
      flag: "--verify-growth", parameter: "cost.verify_growth",
      help: "decode steps that each verified token after the first adds", when: (values) => !timed(values) } ] },
  { title: "More", folded: true, fields: [
    { name: "drafter", label: "Drafting costs", kind: "choice", default: "autoregressive", flag: "--drafter",
      parameter: "drafter",
      options: [["autoregressive", "γ c: token by token"], ["block", "c: one pass for all"]] },
    { name: "convention", label: "Tokens of an iteration", kind: "choice", default: "bonus", flag: "--convention",
      parameter: "convention",
      options: [["bonus", "1 to γ + 1 (bonus token)"], ["no_bonus", "1 to γ"]], when: chain },
    { name: "operations", label: "Operations of a draft step, ĉ", kind: "slider", default: 0.05, min: 0, max: 0.5,
      step: 0.005, flag: "--operations-ratio", parameter: "operations_ratio",
      help: "over those of a target decode step", when: chain } ] },
  { title: "Simulation beside it", folded: true, fields: [
    { name: "simulate", label: "Simulate and draw the mean with its 95 % interval", kind: "check", default: false,
      when: chain },
    { name: "iterations", label: "Iterations", kind: "choice", default: "10000",
      options: [["1000", "1,000"], ["10000", "10,000"], ["100000", "100,000"], ["1000000", "1,000,000"]], when: chain },
    { name: "seed", label: "Random seed", kind: "number", default: 1, when: chain } ] },
];

const FIELDS = EXPLORE.flatMap(({ fields }) => fields);
const ALWAYS_STATED = ["alpha", "c", "a", "b", "conditional", "marginal", "step", "draft", "verify"];
const PROCESS = { conditional: "positional", marginal: "positional", runs: "runs" };
const MAP_POINTS = 33;
const MAP_ALPHAS = Array.from({ length: MAP_POINTS }, (_, k) =>
  Number((0.02 + (0.96 * k) / (MAP_POINTS - 1)).toFixed(4)));
const MAP_COSTS = Array.from({ length: MAP_POINTS }, (_, k) =>
  Number((0.002 * 500 ** (k / (MAP_POINTS - 1))).toPrecision(4)));
const NEAR = 0.99;
const MAX_SIMULATED = 12;
const CALM_MS = 60;

const listOf = (words) => String(words).split(/[\s,;]+/).filter(Boolean).map(Number);
const isList = (name) => name === "conditional" || name === "marginal";

/** Fields of a question with their values, without the draft length. `alpha` replaces an acceptance length. */
function counted(values, alpha) {
  const kept = fieldsSet(EXPLORE, values).filter((field) => values[field.name] !== field.default
    || ALWAYS_STATED.includes(field.name)).map((field) => [field, values[field.name]]);
  return values.process === "length" && alpha !== undefined
    ? [[FIELDS.find(({ name }) => name === "alpha"), alpha], ...kept] : kept;
}

/** Options of the program for `values`. */
function optionsOf(values, alpha) {
  const words = counted(values, alpha).flatMap(([field, value]) => [field.flag, isList(field.name)
    ? listOf(value).join(",") : String(value)]);
  // The program has another default than the page.
  if (values.operations === FIELDS.find(({ name }) => name === "operations").default)
    words.push("--operations-ratio", String(values.operations));
  return values.process === "runs" ? ["--process", "runs", ...words] : words;
}

/** Parameters of TOML and Python for `values`. */
function parametersOf(values, gamma, alpha) {
  const kept = Object.fromEntries(counted(values, alpha).map(([field, value]) => [field.parameter, isList(field.name)
    ? listOf(value) : value]));
  return { ...(PROCESS[values.process] ? { process: PROCESS[values.process] } : {}), ...kept,
    ...(timed(values) ? { cost: "block" } : {}), gamma };
}

const predict = (options, json = true) => ({ argv: ["predict", ...options, ...(json ? ["--json"] : [])] });

/** The line of a text answer that begins with `name`, unwrapped and with the symbols of the page. */
function lineOf(text, name) {
  const found = new RegExp(`^${name} +(.*(?:\\n {4,}\\S.*)*)`, "m").exec(text);
  return found ? symbols(found[1].replace(/\s+/g, " ")) : undefined;
}

function formulaOf(key, values) {
  const own = BY_PROCESS[PROCESS[values.process]]?.[key];
  const cost = key !== "speedup" ? undefined : timed(values) ? COST_FORMULAS.times : values.growth > 0
    ? COST_FORMULAS.growth : undefined;
  return { ...FORMULAS[key], ...own, ...cost };
}

function numbersTable(values, at, best) {
  const value = (document, key) => (key === "standard_deviation"
    ? (typeof document.tokens_variance === "number" ? Math.sqrt(document.tokens_variance) : null) : document[key]);
  const shown = (document, key) => {
    const found = value(document, key);
    return typeof found === "number" ? `${number(found, 5)}${FORMULAS[key].unit ?? ""}` : number(found);
  };
  const keys = Object.keys(FORMULAS).filter((key) => value(best, key) !== null && value(best, key) !== undefined);
  const same = at === best;
  const rows = keys.map((key) => {
    const { label, formula, source } = formulaOf(key, values);
    return [label, shown(at, key), ...(same ? [] : [shown(best, key)]),
      element("span", { class: "formula" }, element("code", {}, formula), " ", element("small", {}, source))];
  });
  const most = values.convention === "bonus" ? "γ + 1" : "γ";
  return table(`Numbers, with their formulas and sources; n = ${most}: most tokens of an iteration`,
    ["", `at γ = ${at.gamma}${same ? " (best)" : ""}`, ...(same ? [] : [`at γ = ${best.gamma} (best)`]),
      "formula and source"], rows);
}

function headline(at, best, near) {
  if (best.best_gamma === "unbounded") {
    return ["Longer drafts are always faster.", typeof best.best_speedup === "number"
      ? `The speedup stays below ${times(best.best_speedup)}.`
      : "Every draft is accepted at no cost: the speedup has no limit."];
  }
  if (best.best_gamma === 0)
    return ["Do not speculate: no draft length is faster.", "A draft costs more than it saves at this acceptance."];
  const tokens = `An iteration yields ${number(at.tokens_per_iteration, 3)} tokens.`;
  if (at.gamma === best.best_gamma) {
    return [`Use γ = ${best.best_gamma}: ${times(best.best_speedup)} as fast.`,
      `${tokens} ${near ? `Near best: ${near}.` : ""}`];
  }
  const loss = at.speedup < 1 ? ": slower than no speculation" : "";
  return [`γ = ${at.gamma} is ${times(at.speedup)} as fast${loss}. `
    + `Best is γ = ${best.best_gamma}: ${times(best.best_speedup)}.`, tokens];
}

/** The point where the speedup is `level`, between the acceptance rates before and at index `first`. */
function crossing(row, first, level, c) {
  const part = (level - row[first - 1]) / (row[first] - row[first - 1]);
  return [MAP_ALPHAS[first - 1] + part * (MAP_ALPHAS[first] - MAP_ALPHAS[first - 1]), c];
}

/** The acceptance rate for each cost ratio at which the speedup reaches `level`. */
const contour = (speedups, level) => MAP_COSTS.map((c, j) => {
  const first = speedups[j].findIndex((value) => value >= level);
  return first > 0 ? crossing(speedups[j], first, level, c) : undefined;
}).filter(Boolean);

/** The tab. @param {Object} values @param {() => void} changed called after a change of a control */
export function exploreTab(values, changed) {
  const said = element("h2", { class: "verdict", "aria-live": "polite" }, "…");
  const more = element("p", { class: "lead" });
  const numbers = element("div");
  const lines = element("dl", { class: "lines" });
  const charts = { speedup: newChart(), tokens: newChart(), costs: newChart(), map: newChart(),
    distribution: newChart() };
  const chainView = element("div", {}, element("div", { class: "charts" }, charts.speedup, charts.map), numbers, lines,
    element("div", { class: "charts" }, charts.distribution, charts.tokens, charts.costs));
  const tree = treeParts();
  const share = shareBox();
  const results = element("div", { class: "results" }, chainView, tree.element, share.element);
  const controls = form("explore", EXPLORE, values, () => { changed(); update(); });

  let ready = false;
  let calm;

  const fail = (error) => {
    said.textContent = error.replace(/^foredraft:? ?(predict|tree|simulate)?:? ?/, "").split("\n")[0];
    said.classList.add("error");
    more.textContent = "";
  };

  async function answerTree() {
    const accuracies = values.accuracies.trim() ? `${values.accuracies}\n` : example("medusa_heads.csv");
    const file = new TextEncoder().encode(accuracies);
    const cost = ["--c", String(values.c), "--verify-growth", String(values.growth), "--drafter",
      values.drafter];
    const argv = (nodes) => ["tree", "--accuracies", "/input/accuracies.csv", "--nodes", String(nodes), ...cost,
      "--json"];
    const nodes = Math.round(values.nodes);
    const sizes = [...new Set([2, 4, 8, 16, 32, 64, 128, 256, nodes])].filter((size) =>
      size <= Math.max(nodes, 64)).sort((a, b) => a - b);
    const answers = await ask([nodes, ...sizes].map((size) =>
      ({ argv: argv(size), files: { "accuracies.csv": file } })));
    const { document, error } = read(answers[0]);
    if (error) return fail(error);
    said.classList.remove("error");
    const [headText, moreText] = tree.show(document, sizes.map((size, k) => [size, read(answers[k + 1]).document]));
    said.textContent = headText;
    more.textContent = moreText;
    const name = values.accuracies.trim() ? "accuracies.csv" : "experiments/configs/medusa_heads.csv";
    share.show([["Command line", commandLine(["tree", "--accuracies", name, ...argv(nodes).slice(3, -1)])],
      ["Python", pythonCall("tree", { nodes, c: values.c, verify_growth: values.growth, drafter: values.drafter },
        [literal(accuracies.split("\n").filter((row) => row.trim() && !row.startsWith("#")).map(listOf))])], ["Link", location.href]],
        answers[0].stdout);
    return undefined;
  }

  /** The acceptance rate that explains the acceptance length, or an error. */
  async function solved() {
    if (values.process !== "length") return {};
    const [answer] = await ask([predict(["--acceptance-length", String(values.length), "--gamma",
      String(Math.round(values.lengthGamma)), "--c", "0.05"])]);
    const { document, error } = read(answer);
    return error ? { error } : { alpha: document.alpha };
  }

  async function answerChain(isNewest) {
    const { alpha, error: unsolved } = await solved();
    if (unsolved) return fail(unsolved);
    const options = optionsOf(values, alpha);
    const own = values.best ? [] : ["--gamma", String(values.gamma)];
    const [text, ...documents] = await ask([predict([...options, ...own], false), predict(options),
      ...(own.length ? [predict([...options, ...own])] : [])]);
    const [best, at = best] = documents.map(read);
    if (best.error ?? at.error) return fail(best.error ?? at.error);
    const near = lineOf(text.stdout, "near best");
    said.classList.remove("error");
    [said.textContent, more.textContent] = headline(at.document, best.document, near?.split(";")[0]);
    if (alpha !== undefined) more.textContent += ` The acceptance length is that of α = ${number(alpha)}.`;
    const bestGamma = typeof best.document.best_gamma === "number" ? best.document.best_gamma : 16;
    const given = isList(values.process) ? listOf(values[values.process]).length : Infinity;
    const longest = Math.min(given, 64, Math.max(12, Math.ceil(bestGamma * 1.5), own.length ? values.gamma + 2 : 0));
    const shortest = values.convention === "no_bonus" ? 1 : 0;
    const gammas = Array.from({ length: longest - shortest + 1 }, (_, k) => k + shortest);
    const curve = (await ask(gammas.map((gamma) => predict([...options, "--gamma", String(gamma)])))).map((answer) =>
      read(answer).document).filter(Boolean);
    const atBest = own.length ? curve.find(({ gamma }) => gamma === best.document.gamma) ?? best.document
      : best.document;
    const shownAt = own.length ? at.document : atBest;
    numbers.replaceChildren(numbersTable(values, shownAt, atBest));
    describe(lines, [["Near best", near], ["Break even", lineOf(text.stdout, "break even")],
      ["Any acceptance of this mean", lineOf(text.stdout, "any process")],
      ["Assumes", lineOf(text.stdout, "assumes")]]);
    drawCurves(curve, best.document, shownAt, undefined);
    shareChain(options, own, typeof shownAt.gamma === "number" ? shownAt.gamma : 16, alpha, documents.at(-1).stdout);
    clearTimeout(calm);
    if (isNewest())
      calm = setTimeout(() => after({ curve, best: best.document, at: shownAt, options, own, alpha }), CALM_MS);
    return undefined;
  }

  /** Draws the map and the simulation, when no control has moved for a moment. */
  const after = newest(async ({ curve, best, at, options, own, alpha }, isNewest) => {
    const settled = calm;
    const isCalm = () => isNewest() && settled === calm;
    charts.map.hidden = !["iid", "length"].includes(values.process);
    if (!charts.map.hidden) await drawMap(options, own, alpha, at, isCalm);
    // The distribution of runs has no closed form, so its draft length is always simulated.
    if (!(values.simulate || values.process === "runs") || !isCalm()) return;
    const simulated = [];
    const others = values.simulate ? curve.map(({ gamma }) => gamma).filter((gamma) => gamma > 0) : [];
    const gammas = [...new Set([...others.slice(0, MAX_SIMULATED), at.gamma])].filter((gamma) => gamma > 0);
    for (const gamma of gammas) {
      const toml = configuration(parametersOf(values, gamma, alpha),
        { iterations: Number(values.iterations), seed: Math.round(values.seed) });
      const [answer] = await ask([{ argv: ["simulate", "/input/scenario.toml", "--json"],
        files: { "scenario.toml": new TextEncoder().encode(toml) } }]);
      const { document, error } = read(answer);
      if (!isCalm()) return;
      if (error) { fail(error); return; }
      simulated.push(document);
    }
    if (values.simulate) drawCurves(curve, best, at, simulated);
    drawDistribution(curve, at, simulated);
  });

  function drawCurves(curve, best, at, simulated) {
    const points = (key) => curve.filter((row) => typeof row[key] === "number").map((row) => [row.gamma, row[key]]);
    const estimates = (key) => (simulated ? [{ kind: "points", name: "simulated, 95 %", look: 1,
      points: simulated.map((row) => [row.gamma, row[key].mean, ...row[key].ci95]) }] : []);
    const near = curve.filter(({ speedup }) => speedup >= NEAR * best.best_speedup).map(({ gamma }) => gamma);
    const marks = [...(typeof best.best_gamma === "number" && best.best_gamma > 0
      ? [{ kind: "mark", x: best.best_gamma, y: best.best_speedup,
      text: `best: γ = ${best.best_gamma}, ${times(best.best_speedup)}` }] : []),
      ...(at.gamma !== best.best_gamma && typeof at.speedup === "number"
        ? [{ kind: "mark", x: at.gamma, y: at.speedup, text: `γ = ${at.gamma}` }] : [])];
    const band = near.length
      ? [{ kind: "band", name: "within 1 % of the best", from: near[0] - 0.3, to: near[near.length - 1] + 0.3 }] : [];
    const x = { label: "draft length γ, tokens", whole: true };
    const line = { kind: "line", name: "closed form", look: 0 };
    draw(charts.speedup, { name: "speedup", title: "Speedup by draft length", x, y: { label: "speedup, ×" },
      layers: [...band, { ...line, points: points("speedup") }, { kind: "rule", y: 1, name: "no speculation" },
        ...estimates("speedup"), ...marks] });
    draw(charts.tokens, { name: "tokens", title: "Tokens per iteration by draft length", x,
      y: { label: "tokens per iteration", min: 0 },
      layers: [{ ...line, points: points("tokens_per_iteration") }, ...estimates("tokens_per_iteration")] });
    draw(charts.costs, { name: "costs", title: "Operations and memory accesses", x,
      y: { label: "over autoregressive decoding, ×", min: 0 }, layers: [
      { kind: "line", name: "operations", look: 1, points: points("operations_factor") },
      { kind: "line", name: "target memory accesses", look: 0, points: points("memory_access_factor") },
        { kind: "rule", y: 1, name: "no speculation" }] });
    drawDistribution(curve, at, simulated);
  }

  function drawDistribution(curve, at, simulated) {
    const known = values.process !== "runs" && typeof at.gamma === "number";
    const tokens = curve.map((row) => row.tokens_per_iteration);
    const last = curve.findIndex(({ gamma }) => gamma === at.gamma);
    // The tokens that one more draft adds equal the probability that it and all drafts before it are accepted.
    const survival = [1, ...tokens.slice(1, last + 1).map((value, k) => value - tokens[k]), 0];
    const closed = known && last >= 0 ? survival.slice(0, -1).map((value, k) => [k + 1, value - survival[k + 1]]) : [];
    const found = simulated?.find(({ gamma }) => gamma === at.gamma);
    const bonus = values.convention === "bonus";
    const drawnTokens = found && [1, ...found.acceptance.marginal.slice(0, bonus ? undefined : -1), 0];
    const bars = found ? drawnTokens.slice(0, -1).map((value, k) => [k + 1, value - drawnTokens[k + 1]])
      .map(([k, value]) => [k, value,
        ...[-1, 1].map((side) => value + side * 1.96 * Math.sqrt((value * (1 - value)) / found.iterations))]) : [];
    draw(charts.distribution, { name: "distribution", title: `Tokens of an iteration at γ = ${at.gamma}`,
      x: { label: "tokens of an iteration", whole: true }, y: { label: "probability", min: 0 },
      note: known ? "" : `Simulated: ${Number(values.iterations).toLocaleString("en-US")} iterations.`,
      layers: [...(closed.length ? [{ kind: "bars", name: "closed form", look: 0, points: closed }] : []),
        ...(bars.length ? [{ kind: "points", name: "simulated, 95 %", look: 1, points: bars }] : [])] });
  }

  async function drawMap(options, own, alpha, at, isCalm) {
    const set = (name, value) => { const place = options.indexOf(name); return place < 0 ? [...options, name, value]
      : options.with(place + 1, value); };
    const questions = MAP_COSTS.map((c) => {
      const changedCost = timed(values) ? set("--draft-ms", String(c * values.step)) : set("--c", String(c));
      return predict([...changedCost.with(changedCost.indexOf("--alpha") + 1, MAP_ALPHAS.join(",")), ...own]);
    });
    const rows = [];
    for (const question of questions) { // one by one: a slider waits for one at most
      const [answer] = await ask([question]);
      if (!isCalm()) return;
      rows.push(read(answer).document?.cells ?? []);
    }
    const speedups = rows.map((cells) => cells.map((cell) => (own.length ? cell.speedup : cell.best_speedup)));
    // At the best draft length the speedup is never below 1. It breaks even where that length becomes 0, which is
    // extrapolated from the first two speedups above 1.
    const pays = (cell) => (own.length ? cell.speedup >= 1 : cell.best_gamma !== 0);
    const border = MAP_COSTS.map((c, j) => {
      const first = rows[j].findIndex(pays);
      if (first <= 0) return undefined;
      if (own.length) return crossing(speedups[j], first, 1, c);
      const [above, next] = [speedups[j][first], speedups[j][first + 1] ?? speedups[j][first] + 1];
      const back = ((above - 1) / (next - above)) * (MAP_ALPHAS[1] - MAP_ALPHAS[0]);
      return [Math.max(MAP_ALPHAS[first - 1], MAP_ALPHAS[first] - back), c];
    }).filter(Boolean);
    const here = timed(values) ? values.draft / values.step : values.c;
    draw(charts.map, { name: "map", title: own.length ? `Speedup at γ = ${at.gamma} by acceptance and cost`
      : "Speedup at the best γ by acceptance and cost",
      note: "Click to go there.", x: { label: "acceptance rate α", min: 0.02, max: 0.98 },
        y: { label: "cost ratio c", log: true, min: MAP_COSTS[0], max: 1 },
      layers: [{ kind: "heat", xs: MAP_ALPHAS, ys: MAP_COSTS, values: speedups },
        { kind: "line", name: "break even (1×)", look: 1, color: "#a33f08", bare: true, points: border },
        ...[1.5, 2, 3].map((level, k) =>
          ({ kind: "line", name: `${level}×`, look: [0, 3, 2][k], color: "#1d1f21", bare: true,
          points: contour(speedups, level) })),
        { kind: "mark", x: Math.min(0.98, Math.max(0.02, alpha ?? values.alpha)),
          y: Math.min(1, Math.max(MAP_COSTS[0], here)), text: times(at.speedup) }],
      onPick: (x, y) => {
        values.process = "iid";
        values.alpha = Number(x.toFixed(2));
        if (timed(values)) values.draft = Number((y * values.step).toPrecision(3));
        else values.c = Number(y.toPrecision(2));
        controls.show();
        changed();
        update();
      } });
  }

  function shareChain(options, own, gamma, alpha, json) {
    const parameters = parametersOf(values, gamma, alpha);
    share.show([["Command line", commandLine(["predict", ...options, ...own])],
      ["Configuration (TOML)", configuration(parameters,
        { iterations: Number(values.iterations), seed: Math.round(values.seed) })],
      ["Python", pythonCall("predict", { ...parameters, ...(values.best ? { gamma: code("fd.best") } : {}) })],
      ["Link", location.href]], json);
  }

  const update = newest(async (_, isNewest) => {
    if (!ready || results.closest("[hidden]")) return;
    clearTimeout(calm);
    calm = undefined;
    chainView.hidden = isTree(values);
    tree.element.hidden = !isTree(values);
    if (isTree(values)) await answerTree();
    else await answerChain(isNewest);
    performance.mark("explore-answered");
  });
  return { answer: element("div", { class: "answer" }, said, more), controls: controls.element, results,
    start: () => { ready = true; update(); }, show: () => { controls.show(); update(); }, linked: share.relink };
}
