// SPDX-License-Identifier: Apache-2.0
// Your log: whether speculation pays, which draft length to use, and why. Or two logs compared, or a logging plan.
import { ask, newest, read } from "./ask.js";
import { MAX_SERIES, draw, newChart } from "./chart.js";
import { describe, element, interval, number, table, times } from "./elements.js";
import { example } from "./examples.js";
import { fieldsSet, form } from "./fields.js";
import { dropArea, fileList } from "./files.js";
import { code, commandLine, copy, pythonCall, shareBox } from "./share.js";

const asks = (...questions) => (values) => questions.includes(values.question);
const ENGINES = ["vllm", "sglang", "trtllm", "llama.cpp"];
const EXAMPLES = {
  pays: ["It pays", "advise", { "k3.log": "log", "k1.log": "log", "plain.log": "plain" }],
  loses: ["It loses at this load", "advise", { "busy.log": "log", "plain.log": "plain" }],
  broken: ["The drafter is broken", "advise", { "broken.log": "log", "plain.log": "plain" }],
  alone: ["No run without speculation", "advise", { "k3.log": "log" }],
  compare: ["Two logs compared", "compare", { "old.csv": "a", "new.csv": "b", "plain.csv": "plain" }],
};

/** The controls. @type {import("./fields.js").Group[]} */
export const LOG = [
  { title: "Question", fields: [
    { name: "question", label: "About logs", kind: "choice", default: "advise",
      options: [["advise", "Does it pay, which K?"], ["compare", "Compare log A with log B"],
      ["plan", "What should I log?"]] },
    { name: "example", label: "Example", kind: "choice", default: "",
      options: [["", "none"], ...Object.entries(EXAMPLES).map(([name, [label]]) => [name, label])],
      when: asks("advise", "compare") },
    { name: "engine", label: "Engine", kind: "choice", default: "vllm", options: ENGINES.map((name) => [name, name]),
      when: asks("plan") },
    { name: "currentK", label: "Draft length of the server now", kind: "number", default: "", flag: "--current-k",
      when: asks("plan") },
    { name: "concurrency", label: "Requests at once", kind: "text", default: "", flag: "--concurrency",
      placeholder: "1,16,64", when: asks("plan") } ] },
  { title: "Costs and other draft lengths", folded: true, fields: [
    { name: "price", label: "Price of a GPU hour", kind: "number", default: "", flag: "--gpu-hour-price",
      when: asks("advise", "compare") },
    { name: "gpus", label: "GPUs of the server", kind: "number", default: "", flag: "--gpus",
      when: (values) => values.question !== "plan" && values.price !== "" },
    { name: "device", label: "Device, to predict times of other K", kind: "search", default: "", flag: "--device",
      when: asks("advise") },
    { name: "target", label: "Target model", kind: "search", default: "", flag: "--target", when: asks("advise") },
    { name: "draft", label: "Draft model", kind: "search", default: "", flag: "--draft", when: asks("advise") },
    { name: "version", label: "Version of the engine, if the log does not say it", kind: "text", default: "",
      flag: "--engine-version", when: asks("advise") } ] },
];
const FACTORS = { verification: "verification", drafting: "drafting", engine_overhead: "engine overhead",
  plain_overhead: "overhead in both", iteration_cost: "iteration cost" };
const MAX_TEXT_BYTES = 20e6;
const MAX_CHAINS = 4;

const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** A load in words. */
function loadName({ batch, request_rate_per_s: rate, offered_requests: offered, context, category }) {
  const size = rate ? `${number(rate)} requests/s` : offered ? `${plural(offered, "request")} sent at once` : batch
    ? plural(batch, "request") : "all requests";
  return [size, context && `context ${number(context)}`, category].filter(Boolean).join(", ");
}

const withError = (value, ci95) => (typeof value === "number"
  ? `${number(value, 3)}${ci95 ? ` (${interval(...ci95)})` : ""}` : "–");

/** Rows of loads and runs, including K that were not logged. */
function evidenceTable(loads) {
  const rows = loads.flatMap((load) => [
    ...(load.plain_ms
      ? [[loadName(load), "no speculation", "1", number(load.plain_ms, 3), "1", number(load.plain_ms, 3), ""]] : []),
    ...load.runs.map((run) => [loadName(load), run.name,
      withError(run.tokens_per_iteration, run.tokens_per_iteration_ci95), number(run.iteration_ms, 3),
      number(run.iteration_ms && load.plain_ms ? run.iteration_ms / load.plain_ms : null, 3), number(run.tpot_ms, 3),
        withError(run.speedup?.measured, run.speedup?.ci95)]),
    ...load.speedup_by_gamma.filter(({ iteration_time: how, gamma, value }) => how !== "logged" && gamma > 0
      && typeof value === "number").map((row) =>
      [loadName(load), `K = ${row.gamma}, not logged (${row.iteration_time})`, "", "", "", "",
        `${number(row.value, 3)} (${interval(row.low, row.high)})`])]);
  return table("What the logs show, by load", ["load", "run", "tokens per iteration", "iteration, ms", "decode steps",
    "TPOT, ms", "speedup, × (95 %)"], rows);
}

/** Links to the other tabs with the acceptance of a log: its model, or its rates by position. */
function onwards({ marginal, model }) {
  const address = (tab, values) => `#${tab}&${new URLSearchParams(values)}`;
  const rates = { marginal: marginal.map(({ value }) => value.toFixed(4)).join(", ") };
  const rounded = model && Object.fromEntries(Object.entries(model.parameters).map(([name, value]) =>
    [name, Number(value.toPrecision(4))]));
  const explored = rounded ? { process: "runs", ...rounded } : { process: "marginal", ...rates };
  return element("p", {}, "Use this acceptance to ",
    element("a", { href: address("explore", explored) }, "explore other costs"),
    ...(marginal.length > 1 ? [" or to ", element("a", { href: address("gpu", rates) }, "predict for a GPU")] : []), ".");
}

const speedupsOf = (loads) => loads.filter(({ speedup_by_gamma: rows }) =>
  rows.some(({ value }) => typeof value === "number"));

function chainLayers(load) {
  let level = load.tokens_per_iteration;
  const bars = load.explanation.map(({ value }, k) => { const from = level; level *= value; return [k + 1, from,
    level]; });
  const measured = load.speedup.measured;
  return [{ kind: "floating", name: "speedup", look: 0,
    points: [[0, 1, load.tokens_per_iteration], [bars.length + 1, 1, measured]] },
    { kind: "floating", name: "loss", look: 2, points: bars.filter(([, from, to]) => to < from) },
    { kind: "floating", name: "gain", look: 4,
      points: bars.filter(([, from, to]) => to >= from) }].filter(({ points }) => points.length);
}

/** The tab. @param {Object} values @param {() => void} changed called after a change of a control */
export function logTab(values, changed) {
  const said = element("h2", { class: "verdict", "aria-live": "polite" }, "Drop the logs of your server.");
  const more = element("p", { class: "lead" });
  const facts = element("dl", { class: "lines" });
  const tables = element("div");
  const charts = { speedup: newChart(), tokens: newChart(), positions: newChart() };
  const chains = element("div", { class: "charts" });
  const pictures = element("div", { class: "charts", hidden: true }, ...Object.values(charts));
  const engineChoice = element("select", { "aria-label": "Settings for", onchange: () => showSettings() });
  const settingsText = element("pre", { tabindex: "0" });
  const settings = element("section", { hidden: true }, element("h3", {}, "Settings to copy"), engineChoice,
    settingsText,
    element("div", { class: "saves" }, element("button",
      { type: "button", onclick: () => copy(settingsText.textContent) }, "Copy")));
  const warnings = element("section", { hidden: true }, element("h3", {}, "Warnings"),
    element("ul", { class: "warnings" }));
  const printed = element("pre", { tabindex: "0" });
  const text = element("details", { hidden: true }, element("summary", {}, "The answer as the program prints it"),
    printed);
  const share = shareBox();
  share.element.hidden = true;
  const results = element("div", { class: "results" }, facts, tables, pictures, chains, settings, warnings, text,
    share.element);
  let exported = {};
  let ready = false;

  const roles = () => (values.question === "compare"
    ? [["a", "log A"], ["b", "log B"], ["plain", "without speculation"], ["", "not used"]]
    : [["log", "with speculation"], ["plain", "without speculation"], ["", "not used"]]);
  const guess = (name, at) => (/plain|baseline|no.?spec|vanilla|autoreg/i.test(name) ? "plain"
    : values.question !== "compare" ? "log" : !given.files.slice(0, at).some(({ role }) => role === "a") ? "a" : "b");
  const given = fileList(roles, guess, () => update());
  const own = () => { values.example = ""; controls.show(); changed(); };
  const take = (files) => { if (values.example) given.files.length = 0; own(); given.add(files.map((file) =>
    ({ name: file.name, blob: file }))); };
  const pasted = element("textarea", { rows: "4", "aria-label": "Paste a log", placeholder: "or paste lines of a log",
    spellcheck: "false" });
  const drop = element("fieldset", {}, element("legend", {}, "Logs"),
    dropArea("Drop logs here, with and without speculation.", take),
    pasted, element("button", { type: "button", class: "quiet", onclick: () => {
      if (pasted.value.trim()) take([new File([pasted.value], "pasted.log")]);
      pasted.value = "";
    } }, "Use the pasted text"), given.element,
    element("small", {}, "Of vLLM, SGLang, TensorRT-LLM, llama.cpp, load generators, /metrics, or CSV."));
  const controls = form("log", LOG, values, (name) => {
    if (name === "question") { values.example = ""; controls.show(); given.assign(); }
    if (name === "example") useExample();
    changed();
    update();
  });
  controls.element.firstChild.after(drop);

  function useExample() {
    const chosen = EXAMPLES[values.example];
    if (!chosen) { given.replace([]); return; }
    values.question = chosen[1];
    controls.show();
    given.replace(Object.entries(chosen[2]).map(([name, role]) => ({ name, role, blob: new Blob([example(name)]) })));
  }

  const set = (show) => {
    for (const part of [pictures, chains, settings, warnings, text, share.element]) part.hidden = !show;
    if (show) return;
    for (const part of [facts, tables, more]) part.replaceChildren();
  };
  const fail = (error) => {
    set(false);
    said.classList.add("error");
    said.textContent = error.replaceAll("/input/", "").split("\n").slice(0, 3).join(" ");
  };

  function showSettings() {
    settingsText.textContent = exported[engineChoice.value] ?? "";
  }

  /** The options in use, without files. */
  const options = () => fieldsSet(LOG, values).flatMap((field) => [field.flag, String(values[field.name])]);

  function question() {
    const at = (role) => given.files.filter((file) => file.role === role).map(({ name }) => name);
    const first = values.question === "compare" ? [...at("a").slice(0, 1), ...at("b").slice(0, 1)] : at("log");
    const logs = first.length || values.question === "compare" ? first : at("plain");
    const plain = first.length ? at("plain") : [];
    return (folder) => [values.question, ...logs.map((name) => folder + name),
      ...(plain.length ? ["--plain", plain.map((name) => folder + name).join(",")] : []), ...options()];
  }

  function showAdvice(document) {
    said.textContent = document.action;
    more.textContent = document.cause ?? "";
    describe(facts, [["Evidence", document.evidence], ["Read",
      [document.engine, document.engine_version,
      document.method].filter(Boolean).join(" ") + (document.verification_steps
      ? `, ${number(document.verification_steps)} verification steps` : "")],
      ["Sign of the speedup", document.speedup || document.loads.some(({ speedup }) => speedup)
        ? (document.sign_certain ? "certain" : "uncertain") : null],
      ["Schedule",
        document.recommendation?.schedule?.map((row) =>
        `K = ${row.gamma} at ${row.first_batch} to ${row.last_batch} requests`).join("; ")],
      ["Next", document.next], ["Why no more", document.why_not !== document.next ? document.why_not : null]]);
    tables.replaceChildren(...(document.loads.length ? [evidenceTable(document.loads)] : []),
      element("p", { class: "note" },
        "Speedup: TPOT without speculation / TPOT. Decode steps: time of an iteration / TPOT without speculation. "
        + "Intervals: 95 %, from the scatter of requests or windows (docs/advise.md, D27)."));
    if (document.model || document.marginal.length) tables.append(onwards(document));
    drawAdvice(document);
    exported = Object.fromEntries(Object.entries(document.export).filter(([, value]) => value));
    const engine = engineChoice.value;
    engineChoice.replaceChildren(...Object.keys(exported).map((name) => element("option", { value: name }, name)));
    engineChoice.value = exported[engine] ? engine : exported[document.engine] ? document.engine
      : Object.keys(exported)[0] ?? "";
    settings.hidden = Object.keys(exported).length === 0;
    showSettings();
  }

  function drawAdvice(document) {
    const byLoad = speedupsOf(document.loads);
    charts.speedup.hidden = byLoad.length === 0;
    charts.tokens.hidden = !document.tokens_per_iteration_by_gamma.some(({ value }) => typeof value === "number");
    charts.positions.hidden = document.marginal.length < 2;
    const x = { label: "draft length K, tokens", whole: true };
    if (byLoad.length) {
      draw(charts.speedup, { name: "speedup-by-load", title: "Speedup by draft length and load", x,
        y: { label: "speedup, ×" },
        note: byLoad.length > MAX_SERIES ? `${MAX_SERIES} of ${byLoad.length} loads are drawn.`
          : "Bars: 95 %. A K that was not logged is interpolated or predicted.",
        layers: [...byLoad.slice(0, MAX_SERIES).flatMap((load, look) => [
          { kind: "line", name: loadName(load), look,
            points: load.speedup_by_gamma.map(({ gamma, value }) => [gamma, value]) },
          { kind: "points", look,
            points: load.speedup_by_gamma.map(({ gamma, value, low, high }) => [gamma, value, low, high]) }]),
        { kind: "rule", y: 1, name: "no speculation" }] });
    }
    const rows = document.tokens_per_iteration_by_gamma.filter(({ low, high }) => typeof low === "number"
      && typeof high === "number");
    draw(charts.tokens, { name: "tokens-by-gamma", title: "Acceptance curve: tokens per iteration by K", x,
      y: { label: "tokens per iteration" },
      note: "Model of easy and hard runs, fitted to the counts (docs/model.md, D23).", layers: [
      { kind: "area", name: "95 %", look: 0, points: rows.map(({ gamma, low, high }) => [gamma, low, high]) },
      { kind: "line", name: "fitted", look: 0, bare: true,
        points: rows.filter(({ value }) => typeof value === "number").map(({ gamma, value }) => [gamma, value]) },
      { kind: "points", name: "logged", look: 1,
        points: rows.filter(({ source }) => source === "observed").map(({ gamma, value, low, high }) =>
        [gamma, value, low, high]) }] });
    draw(charts.positions, { name: "positions", title: `Drafts accepted by position, K = ${document.gamma_observed}`,
      x: { label: "position of the draft", whole: true }, y: { label: "share of iterations", min: 0 },
      layers: [{ kind: "bars", name: "it and all before it accepted, 95 %", look: 0,
        points: document.marginal.map(({ value, ci95 }, k) => [k + 1, value, ...(ci95 ?? [])]) }] });
    const explained = document.loads.filter((load) => load.explanation.length && load.speedup).slice(0, MAX_CHAINS);
    chains.replaceChildren(...explained.map((load) => {
      const figure = newChart();
      figure.chain = load;
      return figure;
    }));
    for (const figure of chains.children) {
      const load = figure.chain;
      draw(figure, { name: "chain",
        title: `From tokens to speedup: ${loadName(load)}${load.gamma ? `, K = ${load.gamma}` : ""}`,
        note: "Each factor multiplies what is left of it.",
        x: { label: "factors", categories: ["promised",
          ...load.explanation.map(({ factor }) => FACTORS[factor] ?? factor), "measured"] },
          y: { label: "speedup, ×", log: true }, layers: [...chainLayers(load),
          { kind: "rule", y: 1, name: "no speculation" }] });
    }
  }

  function showComparison(document) {
    said.textContent = document.answer;
    more.textContent = "";
    facts.replaceChildren();
    tables.replaceChildren(...document.comparisons.map((pair) => table(`${pair.candidate} against ${pair.reference}`,
      ["", "A", "B", "difference (95 %)", "ratio (95 %)", "seen from"],
        pair.metrics.map((row) => [row.metric.replaceAll("_", " "), number(row.reference), number(row.candidate),
        `${number(row.difference, 3)} (${row.difference_ci95 ? interval(...row.difference_ci95) : "unknown"})`,
          `${number(row.ratio, 4)} (${row.ratio_ci95 ? interval(...row.ratio_ci95, 4) : "unknown"})`,
          number(row.smallest_detectable, 2)]))),
    table("Ranking", ["run", "place", "by", ""],
      document.ranking.map((row) => [row.run, row.place, row.metric, row.tied ? "tie: within noise of the first"
      : ""])),
    element("p", { class: "note" },
      "Seen from: the smallest difference that these logs could show. Intervals: 95 % (docs/advise.md)."));
    pictures.hidden = false;
    for (const chart of Object.values(charts)) chart.hidden = true;
    const pair = document.comparisons[0];
    if (pair) {
      const ratios = pair.metrics.filter(({ ratio }) => typeof ratio === "number");
      charts.speedup.hidden = false;
      draw(charts.speedup, { name: "comparison", title: "B over A",
        x: { label: "metric", categories: ratios.map(({ metric }) => metric.replaceAll("_", " ")) },
        y: { label: "ratio, B / A" },
        layers: [{ kind: "points", name: "ratio, 95 %", look: 0,
          points: ratios.map(({ ratio, ratio_ci95: ci95 }, k) => [k, ratio, ...(ci95 ?? [])]) },
          { kind: "rule", y: 1, name: "equal" }] });
    }
    chains.replaceChildren();
    settings.hidden = true;
  }

  async function plan() {
    const argv = ["advise", "--plan", values.engine, ...options()];
    const [answer] = await ask([{ argv }]);
    if (answer.code !== 0) return fail(answer.stderr || answer.stdout);
    set(false);
    said.classList.remove("error");
    said.textContent = answer.stdout.split("\nwhy")[0].replaceAll("\n", " ");
    text.hidden = false;
    text.open = true;
    printed.textContent = answer.stdout;
    share.element.hidden = false;
    share.show([["Command line", commandLine(argv)], ["Python",
      pythonCall("plan", Object.fromEntries([...(values.currentK !== "" ? [["current_k", values.currentK]] : []),
      ...(values.concurrency !== "" ? [["concurrency", values.concurrency.split(",").map(Number)]] : [])]),
        [JSON.stringify(values.engine)])], ["Link", location.href]],
        (await ask([{ argv: [...argv, "--json"] }]))[0].stdout);
    return undefined;
  }

  const update = newest(async () => {
    if (!ready || results.closest("[hidden]")) return;
    drop.hidden = values.question === "plan";
    if (values.question === "plan") { await plan(); return; }
    const used = given.files.filter(({ role }) => role);
    said.classList.remove("error");
    if (used.length === 0) {
      set(false);
      [said.textContent, more.textContent] = values.question === "compare"
        ? ["Drop two logs: A, then B.", "Of two builds or settings, at the same load. Or choose an example."]
        : ["Drop the logs of your server.",
          "Best are a log with speculation and one without, of the same load. Or choose an example."];
      return;
    }
    results.classList.add("busy");
    const argv = question();
    const files = Object.fromEntries(used.map(({ name, blob }) => [name, blob]));
    const small = used.reduce((sum, { blob }) => sum + blob.size, 0) < MAX_TEXT_BYTES;
    const start = performance.now();
    const answers = await ask([[...argv("/input/"), "--json"],
      ...(small ? [argv("/input/")] : [])].map((words) => ({ argv: words, files })));
    performance.measure("log-answered", { start });
    results.classList.remove("busy");
    const { document, error } = read(answers[0]);
    if (error) { fail(error); return; }
    set(true);
    if (values.question === "compare") showComparison(document);
    else showAdvice(document);
    const codes = document.warnings ?? [];
    warnings.hidden = codes.length === 0;
    warnings.lastChild.replaceChildren(...codes.map((warning) =>
      element("li", {}, [warning.code, warning.line && `line ${warning.line}`,
      warning.message].filter(Boolean).join(" "))));
    text.hidden = !small;
    printed.textContent = (answers[1]?.stdout ?? "").replaceAll("/input/", "");
    const words = argv("");
    const plain = given.files.filter(({ role }) => role === "plain").map(({ name }) => name);
    const logs = words.slice(1).filter((word) => used.some(({ name }) => name === word));
    share.show([["Command line", commandLine(words)], ["Python", values.question === "compare"
      ? pythonCall("compare", plain.length ? { plain: code(JSON.stringify(plain)) }
        : {}, logs.map((name) => JSON.stringify(name)))
      : pythonCall("advise", plain.length && logs[0] !== plain[0] ? { plain: code(JSON.stringify(plain)) }
        : {}, [JSON.stringify(logs)])], ["Link", location.href]], answers[0].stdout);
  });

  return {
    answer: element("div", { class: "answer" }, said, more), controls: controls.element, results, take,
      linked: share.relink,
    start: () => { ready = true; useExampleIfEmpty(); update(); },
    show: () => { controls.show(); useExampleIfEmpty(); update(); },
  };

  function useExampleIfEmpty() {
    if (values.example && EXAMPLES[values.example]
      && !Object.keys(EXAMPLES[values.example][2]).every((name) =>
      given.files.some((file) => file.name === name))) useExample();
  }
}
