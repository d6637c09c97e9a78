// SPDX-License-Identifier: Apache-2.0
// Questions to the program, which runs in a worker so that the page never waits.

/** @typedef {{argv: string[], files?: Object<string, Uint8Array|Blob>}} Question */
/** @typedef {{code: number, stdout: string, stderr: string}} Answer */

const waiting = new Map();
let lastId = 0;
let worker;

/** @param {string} text bytes in base64 @returns {Uint8Array} */
const bytesOf = (text) => Uint8Array.fromBase64?.(text) // not in browsers before 2025
  ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** The program, compiled while the browser reads it: the page calls `unpack` with one piece after another. */
function compile() {
  let packed;
  const pieces = new ReadableStream({ start: (controller) => { packed = controller; } });
  globalThis.unpack = (piece) => packed.enqueue(bytesOf(piece));
  addEventListener("DOMContentLoaded", () => packed.close());
  return WebAssembly.compileStreaming(new Response(pieces.pipeThrough(new DecompressionStream("gzip")),
    { headers: { "Content-Type": "application/wasm" } }));
}

/** Tells screen readers that an answer is being computed. */
const showBusy = () => document.querySelector("main").setAttribute("aria-busy", String(waiting.size > 0));

function post(message) {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    showBusy();
    worker.postMessage({ id, ...message });
  });
}

/** Starts the worker; resolves when the program can answer. @returns {Promise<void>} */
export async function startProgram() {
  const code = document.getElementById("worker").textContent;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  worker = new Worker(url);
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    if (data.failed) reject(new Error(data.failed));
    else resolve(data.answers);
    waiting.delete(data.id);
    showBusy();
  };
  worker.onerror = (event) => {
    event.preventDefault();
    for (const { reject } of waiting.values()) reject(new Error(event.message));
    waiting.clear();
  };
  await post({ compiled: await compile() });
}

/** The answers to questions, in their order. @param {Question[]} questions @returns {Promise<Answer[]>} */
export const ask = (questions) =>
  post({ questions: questions.map(({ argv, files }) =>
    ({ argv: argv.map((word) => word.replaceAll("\0", "")), files })) });

/**
 * A function that runs `work` only for the newest value: of the values that arrive while it runs, the last one is kept.
 * Work for an older value may fail, because it reads newer settings.
 * @param {(value: any, isNewest: () => boolean) => Promise<void>} work
 */
export function newest(work) {
  let running = false;
  let pending;
  return async (value) => {
    pending = { value };
    if (running) return;
    running = true;
    try {
      while (pending) {
        const next = pending;
        pending = undefined;
        await work(next.value, () => !pending).catch((error) => { if (!pending) throw error; });
      }
    } finally {
      running = false;
    }
  };
}

/**
 * The JSON document that the program printed, or its error.
 * @param {Answer} answer @returns {{document?: any, error?: string}}
 */
export function read(answer) {
  try {
    const parsed = JSON.parse(answer.stdout);
    return parsed.error ? { error: parsed.error } : { document: parsed };
  } catch {
    return { error: (answer.stderr || answer.stdout).trim() || `no answer (exit code ${answer.code})` };
  }
}
