// SPDX-License-Identifier: Apache-2.0
// Your GPU: the speedup from a device, two models and an acceptance rate, by batch size or for the users of a server.
import { ask, newest, read } from "./ask.js";
import { MAX_SERIES, draw, newChart } from "./chart.js";
import { describe, element, interval, number, symbols, table, times } from "./elements.js";
import { fieldsSet, form } from "./fields.js";
import { dropArea } from "./files.js";
import { code, commandLine, configuration, pythonCall, shareBox } from "./share.js";

const batches = (values) => values.load === "batch";
const users = (values) => values.load === "users" || values.load === "rate";
const FORMATS = [["", "as published"], ..."fp16 bf16 fp8 int8 int4 nvfp4 mxfp4".split(" ").map((name) => [name, name])];
const ENGINES = [["", "not known: a range"],
  ..."vllm sglang trtllm llama.cpp none".split(" ").map((name) => [name, name])];
const MAX_CHOICES = 12;
const LOADS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The controls. @type {import("./fields.js").Group[]} */
export const GPU = [
  { title: "Hardware and models", fields: [
    { name: "device", label: "Device", kind: "search", default: "h100", flag: "--device", parameter: "cost.device",
      help: "type to search, such as a100 or rtx" },
    { name: "target", label: "Target model", kind: "search", default: "llama-3.1-8b", flag: "--target",
      parameter: "cost.target" },
    { name: "draft", label: "Draft model or head", kind: "search", default: "eagle3-llama-3.1-8b", flag: "--draft",
      parameter: "cost.draft" } ] },
  { title: "Acceptance", fields: [
    { name: "alpha", label: "Acceptance rate α", kind: "slider", default: 0.75, min: 0, max: 1, step: 0.01,
      flag: "--alpha", parameter: "alpha", help: "Your log shows yours", when: (values) => values.marginal === "" },
    { name: "marginal", label: "or rates by position, as logged", kind: "text", default: "", flag: "--marginal",
      parameter: "process.marginal", placeholder: "0.74, 0.49, 0.305" } ] },
  { title: "Load", fields: [
    { name: "load", label: "Known as", kind: "choice", default: "batch",
      options: [["batch", "batch size (decoding only)"], ["users", "users at once, with prompts"],
      ["rate", "requests per second, with prompts"]] },
    { name: "batch", label: "Batch sizes", kind: "text", default: "1,4,16,64,256", flag: "--batch",
      parameter: "cost.batch", when: batches },
    { name: "context", label: "Context length, tokens", kind: "number", default: 512, flag: "--context",
      parameter: "cost.context", when: batches },
    { name: "concurrency", label: "Users: requests at once", kind: "slider", default: 40, min: 1, max: 512, log: true,
      flag: "--concurrency", when: (values) => values.load === "users" },
    { name: "rate", label: "Requests per second", kind: "slider", default: 5, min: 0.1, max: 100, log: true,
      flag: "--request-rate", when: (values) => values.load === "rate" },
    { name: "prompt", label: "Prompt length, tokens", kind: "number", default: 3000, flag: "--prompt", when: users },
    { name: "output", label: "Output length, tokens", kind: "number", default: 500, flag: "--output", when: users },
    { name: "engine", label: "Engine", kind: "choice", default: "vllm", flag: "--engine", options: ENGINES,
      when: users },
    { name: "percentiles", label: "Percentiles, by simulation of 2,000 requests", kind: "check", default: false,
      when: users } ] },
  { title: "Formats and deployment", folded: true, fields: [
    { name: "targetFormat", label: "Format of the target's weights", kind: "choice", default: "",
      flag: "--target-format", parameter: "cost.target_format", options: FORMATS },
    { name: "draftFormat", label: "Format of the draft model's weights", kind: "choice", default: "",
      flag: "--draft-format", parameter: "cost.draft_format", options: FORMATS },
    { name: "kvFormat", label: "Format of both KV caches", kind: "choice", default: "", flag: "--kv-format",
      parameter: "cost.kv_format", options: FORMATS.filter(([name]) => !/4/.test(name)) },
    { name: "tp", label: "Tensor parallelism of the target", kind: "number", default: "", flag: "--target-tp",
      parameter: "cost.target_tp" },
    { name: "maxBatch", label: "Maximum batch size of the engine", kind: "number", default: "", flag: "--max-batch",
      when: users },
    { name: "ttft", label: "Objective for TTFT, ms", kind: "number", default: "", flag: "--slo-ttft-ms", when: users },
    { name: "tpot", label: "Objective for TPOT, ms", kind: "number", default: "", flag: "--slo-tpot-ms", when: users },
    { name: "price", label: "Price of a GPU hour", kind: "number", default: "", flag: "--gpu-hour-price", when: users },
    { name: "any", label: "Ignore limits of memory and vocabulary", kind: "check", default: false } ] },
];
const listOf = (words) => String(words).split(/[\s,;]+/).filter(Boolean);
const isList = (name) => name === "marginal" || name === "batch";
const listCode = (words) => code(`[${listOf(words).join(", ")}]`);

/** The first paragraph of a text answer, unwrapped. */
const opening = (text) => text.split(/\n(?=evidence|\n|Decoding only)/)[0].replace(/\s+/g, " ").trim();

function batchTable(cells) {
  const rows = cells.map((cell) => {
    const best = cell.gammas.find(({ gamma }) => gamma === cell.best_gamma);
    return [String(cell.batch), number(cell.plain.ms), number(cell.plain_tokens_per_s), cell.best_gamma
      ? `γ = ${cell.best_gamma}` : "none", times(cell.best_speedup),
      best ? interval(...best.speedup_ci95) : "", number(best?.tokens_per_s), number(best?.verify.ms),
        number(best?.drafting.ms), number(cell.memory ? cell.memory.total_bytes / 1e9 : null, 3), cell.fits === false
        ? "no" : "yes"];
  });
  return table("By batch size", ["batch", "decode step, ms", "tokens/s", "best", "speedup", "its range",
    "tokens/s with it", "verification, ms", "drafting, ms", "memory, GB", "fits"], rows);
}

function loadTable(answer) {
  const priced = answer.gammas.some(({ cost_per_million_output_tokens: cost }) => typeof cost === "number");
  return table("By draft length", ["K", "tokens/s", "speedup", "its range", "TPOT, ms", "TTFT, ms", "request, ms",
    "in flight", "batch", "GB", "requests/s per GPU", ...(priced ? ["per 1M tokens"] : [])],
    answer.gammas.map((row) => {
      const means = row.closed_form ?? {};
      return [row.gamma === 0 ? "none" : String(row.gamma), number(means.output_tokens_per_s),
        times(row.request_speedup), row.request_speedup_interval ? interval(...row.request_speedup_interval) : "",
        number(means.tpot_ms), number(means.ttft_ms), number(means.request_ms), number(means.in_flight, 3),
          number(row.equilibrium?.decoding, 3), number(row.memory_bytes ? row.memory_bytes / 1e9 : null, 3),
        number(row.requests_per_s_per_gpu, 3), ...(priced ? [number(row.cost_per_million_output_tokens, 3)] : [])];
    }), (cells, at) => answer.gammas[at].gamma === answer.gamma);
}

function percentileTable(answer) {
  const three = (spread) => (spread ? [spread.p50, spread.p95, spread.p99].map((value) => number(value, 3))
    : ["–", "–", "–"]);
  return table("Percentiles, simulated: 50, 95, 99 %",
    ["K", "TTFT, ms", "95 %", "99 %", "TPOT, ms", "95 %", "99 %", "request, ms", "95 %", "99 %"],
    answer.gammas.filter(({ simulated }) => simulated).map((row) =>
      [row.gamma === 0 ? "none" : String(row.gamma), ...three(row.simulated.ttft_ms), ...three(row.simulated.tpot_ms),
      ...three(row.simulated.request_ms)]));
}

/** The tab. @param {Object} values @param {() => void} changed called after a change of a control */
export function gpuTab(values, changed) {
  const said = element("h2", { class: "verdict", "aria-live": "polite" }, "…");
  const more = element("p", { class: "lead" });
  const facts = element("dl", { class: "lines" });
  const tables = element("div");
  const charts = [newChart(), newChart(), newChart()];
  const printed = element("pre", { tabindex: "0" });
  const text = element("details", {}, element("summary", {},
    "The answer as the program prints it, with its assumptions"), printed);
  const share = shareBox();
  const body = element("div", {}, element("div", { class: "charts" }, ...charts), tables, facts, text);
  const results = element("div", { class: "results" }, body, share.element);
  /** Dropped files, by search field. */
  const dropped = {};
  let ready = false;
  let json = "";
  let offered;
  /** Shipped names, by search field. */
  const names = {};

  const controls = form("gpu", GPU, values, (name) => { delete dropped[name]; changed(); update(); });
  const takeConfig = (name) => ([file]) => {
    if (!file) return;
    const extension = /\.toml$/i.test(file.name) ? "toml" : "json";
    dropped[name] = { file: `${name}.${extension}`, blob: file };
    values[name] = `${name}.${extension}`;
    controls.show();
    update();
  };
  controls.element.firstChild.append(element("details", {}, element("summary", {}, "A model of your own"),
    dropArea("Drop the target's config.json here.", takeConfig("target"), false),
      dropArea("Drop the draft model's config.json here.", takeConfig("draft"), false)));

  const counted = () => fieldsSet(GPU, values);
  const options = (folder) =>
    [...counted().flatMap((field) => [field.flag, dropped[field.name] ? folder + dropped[field.name].file
    : isList(field.name) ? listOf(values[field.name]).join(",") : String(values[field.name])]),
    ...(values.any ? ["--ignore-memory", "--allow-vocabulary-mismatch"] : []),
      ...(users(values) && !values.percentiles ? ["--closed-form"] : [])];
  const files = () => Object.fromEntries(Object.values(dropped).map(({ file, blob }) => [file, blob]));

  const fail = (error) => {
    body.hidden = true;
    said.classList.add("error");
    const lines = error.replaceAll("/input/", "").replace(/^foredraft predict: /gm, "").split("\n").slice(0, 3);
    const choices = Object.keys(names).filter((name) => lines[0].startsWith(`${values[name]}: `)).flatMap(choicesOf);
    said.textContent = choices.length ? lines[0].split(" - ")[0] : lines.join(" ");
    more.replaceChildren(...choices);
  };

  /** Shipped names that contain every word in a search field, as buttons. */
  function choicesOf(name) {
    const words = String(values[name]).toLowerCase().split(/[\s/]+/).filter(Boolean);
    return names[name].filter((known) => words.every((word) => known.includes(word))).slice(0, MAX_CHOICES).map((known) =>
      element("button", { type: "button", class: "quiet", onclick: () => {
        values[name] = known;
        controls.show();
        changed();
        update();
      } }, known));
  }

  function showBatches(document) {
    tables.replaceChildren(batchTable(document.cells), element("p", { class: "note" },
      "Speedup = tokens per iteration × decode step / (drafting + verification + overhead), Xia 2023, Eq. 4. "
      + "Times: roofline of the data sheet with the efficiency of engines (docs/step-times.md); 90 % intervals."));
    const cells = document.cells.filter(({ gammas }) => gammas.length).slice(0, MAX_SERIES);
    draw(charts[0], { name: "speedup-by-batch-size", title: "Speedup by draft length and batch size",
      x: { label: "draft length γ, tokens", whole: true }, y: { label: "speedup, ×" },
      layers: [...cells.map((cell, look) =>
        ({ kind: "line", name: `batch ${cell.batch}`, look,
        points: [[0, 1], ...cell.gammas.map(({ gamma, speedup }) => [gamma, speedup])] })),
        { kind: "rule", y: 1, name: "no speculation" }] });
    const best = document.cells.map((cell) => [cell,
      cell.gammas.find(({ gamma }) => gamma === Math.max(1, cell.best_gamma))]).filter(([, row]) => row);
    draw(charts[1], { name: "best-speedup", title: "Speedup at the best draft length by batch size",
      x: { label: "batch size", log: true }, y: { label: "speedup, ×" }, layers: [
      { kind: "area", name: "90 %", look: 0, points: best.map(([cell, row]) => [cell.batch, ...row.speedup_ci95]) },
      { kind: "line", name: "predicted", look: 0, points: best.map(([cell, row]) => [cell.batch, row.speedup]) },
        { kind: "rule", y: 1, name: "no speculation" }] });
    draw(charts[2], { name: "times", title: "Times at the best draft length by batch size",
      x: { label: "batch size", log: true }, y: { label: "time, ms", log: true }, layers: [
      { kind: "line", name: "decode step", look: 0, points: best.map(([cell]) => [cell.batch, cell.plain.ms]) },
      { kind: "line", name: "verification", look: 1, points: best.map(([cell, row]) => [cell.batch, row.verify.ms]) },
      { kind: "line", name: "drafting", look: 2, points: best.map(([cell, row]) => [cell.batch, row.drafting.ms]) }] });
    const schedule = document.schedules[0]?.schedule.map(([from, to, gamma]) =>
      `γ = ${gamma} from batch ${from} to ${to}`).join("; ");
    describe(facts, [["Schedule", schedule], ["Device", document.profile.device],
      ["Target", modelText(document.models.target)], ["Draft", document.models.draft
      && modelText(document.models.draft)],
      ["Largest batch", document.schedules[0]?.max_batch && number(document.schedules[0].max_batch)]]);
  }

  const modelText = (model) =>
    `${number(model.parameters / 1e9, 3)} G parameters, ${model.format}, KV cache ${model.kv_format}`;

  function showLoad(document) {
    const simulated = document.gammas.some((row) => row.simulated);
    tables.replaceChildren(loadTable(document), ...(simulated ? [percentileTable(document)] : []),
      element("p", { class: "note" },
      "Speedup: mean request time without speculation over that with K drafts. Means by closed form (docs/load.md)."));
    const rows = document.gammas.filter(({ request_speedup: value }) => typeof value === "number");
    draw(charts[0], { name: "speedup-at-load", title: "Speedup of requests by draft length",
      x: { label: "draft length K, tokens", whole: true }, y: { label: "speedup, ×" }, layers: [
      { kind: "points", look: 0,
        points: rows.map((row) => [row.gamma, row.request_speedup, ...(row.request_speedup_interval ?? [])]) },
      { kind: "line", name: "predicted, 90 %", look: 0, points: rows.map((row) => [row.gamma, row.request_speedup]) },
        { kind: "rule", y: 1, name: "no speculation" },
      ...rows.filter(({ gamma }) => gamma === document.gamma).map((row) =>
        ({ kind: "mark", x: row.gamma, y: row.request_speedup, text: `K = ${row.gamma}` }))] });
    const shares = [document.gammas[0], document.gammas.find(({ gamma }) => gamma === document.gamma
      && gamma > 0)].filter((row) => row?.closed_form);
    const parts = ["verification", "drafting", "prompts", "engine"];
    draw(charts[1], { name: "iteration", title: "Where the time of an iteration goes",
      x: { label: "part of an iteration", categories: parts }, y: { label: "time, ms", min: 0 },
      layers: shares.map((row, look) =>
        ({ kind: "bars", name: row.gamma === 0 ? "no speculation" : `K = ${row.gamma}`, look: look === 0 ? 0 : 2,
        points: parts.map((part, k) => [k, row.closed_form.shares[part] * row.closed_form.iteration_ms]) })) });
    describe(facts, [["Evidence", document.evidence.error], ["Device", document.device], ["Engine", document.engine?.summary],
      ["Largest batch",
        document.gammas.map(({ gamma, max_batch: batch, max_batch_by: by }) => ({ gamma, batch, by })).slice(0,
        2).map(({ gamma, batch, by }) => `${batch} with K = ${gamma} (${by})`).join(", ")],
      ["Adaptive", document.adaptive_gain
        && `one budget of drafted tokens for the batch would be ${times(document.adaptive_gain)} the best fixed K`]]);
  }

  /** Draws the same server at other loads in the third figure. */
  async function otherLoads(isNewest) {
    const at = values.load === "users" ? "--concurrency" : "--request-rate";
    const here = Number(values.load === "users" ? values.concurrency : values.rate);
    const loads = values.load === "users" ? LOADS
      : [0.125, 0.25, 0.5, 1, 1.5, 2].map((factor) => Number((factor * here).toPrecision(3)));
    const base = options("/input/").filter((word) => word !== "--closed-form");
    const found = [];
    for (const load of loads) {
      if (!isNewest()) return;
      const argv = ["predict", ...base.with(base.indexOf(at) + 1, String(load)), "--closed-form", "--json"];
      const { document } = read((await ask([{ argv, files: files() }]))[0]);
      if (document) found.push([load, document]);
    }
    const best = found.map(([load, { gammas }]) => [load,
      gammas.filter(({ request_speedup: value }) => typeof value === "number").sort((one, other) =>
      other.request_speedup - one.request_speedup)[0]]).filter(([, row]) => row);
    draw(charts[2], { name: "speedup-by-load", title: "Speedup of the best draft length by load",
      x: { label: values.load === "users" ? "requests at once" : "requests per second", log: true },
      y: { label: "speedup, ×" },
      note: best.map(([load, row]) => `${load}: K = ${row.gamma}`).join(", "), layers: [
        { kind: "area", name: "90 %", look: 0,
          points: best.filter(([, row]) => row.request_speedup_interval).map(([load, row]) =>
          [load, ...row.request_speedup_interval]) },
        { kind: "line", name: "predicted", look: 0, points: best.map(([load, row]) => [load, row.request_speedup]) },
          { kind: "rule", y: 1, name: "no speculation" }] });
  }

  const update = newest(async (_, isNewest) => {
    if (!ready || results.closest("[hidden]")) return;
    results.classList.add("busy");
    const argv = ["predict", ...options("/input/")];
    const atLoad = users(values);
    const answers = await ask([{ argv: [...argv, "--json"], files: files() }, { argv, files: files() }]);
    results.classList.remove("busy");
    offered ??= offerNames();
    const { document, error } = read(answers[0]);
    json = answers[0].stdout;
    showShare();
    if (error) { fail(error); return; }
    body.hidden = false;
    said.classList.remove("error");
    const [first, ...rest] = symbols(opening(answers[1].stdout)).split(/(?<=\.)\s(?=[A-Z])/);
    said.textContent = first;
    more.textContent = [...rest, atLoad ? ""
      : "Decoding only. For a server with prompts, choose users at once under Load."].join(" ");
    printed.textContent = answers[1].stdout.replaceAll("/input/", "");
    if (!atLoad) { showBatches(document); return; }
    showLoad(document);
    if (isNewest()) await otherLoads(isNewest);
  });

  function showShare() {
    const valueOf = ({ name }) => (isList(name) ? listCode(values[name]) : values[name]);
    const keywords = Object.fromEntries(counted().map((field) =>
      [field.flag.slice(2).replaceAll("-", "_"), valueOf(field)]));
    const extra = { ...(values.any ? { ignore_memory: true, allow_vocabulary_mismatch: true } : {}),
      ...(users(values) && !values.percentiles ? { closed_form: true } : {}) };
    const first = Object.fromEntries(counted().filter(({ parameter, name }) => parameter
      && name !== "batch").map((field) => [field.parameter, valueOf(field)]));
    share.show([["Command line", commandLine(["predict", ...options("")])],
      ...(users(values) ? []
        : [["Configuration (TOML)",
        configuration({ ...(values.marginal ? { process: "positional" } : {}), cost: "roofline", ...first }, undefined,
        { gamma: code("{ from = 1, to = 8 }"), "cost.batch": listCode(values.batch) })]]),
      ["Python", pythonCall(users(values) ? "predict_load" : "predict_times", { ...keywords, ...extra })],
        ["Link", location.href]], json);
  }

  async function offerNames() {
    const [devices,
      models] = (await ask(["devices", "models"].map((what) => ({ argv: ["list", what, "--json"] })))).map((answer) =>
      read(answer).document);
    const offer = (name, list = []) => {
      names[name] = list.map((entry) => entry.name);
      controls.offer(name, list.map((entry) => [entry.name, entry.summary]));
    };
    offer("device", devices?.devices);
    for (const name of ["target", "draft"]) offer(name, models?.models);
  }

  return { answer: element("div", { class: "answer" }, said, more), controls: controls.element, results,
    start: () => { ready = true; update(); }, show: () => { controls.show(); update(); },
      linked: share.relink };
}
