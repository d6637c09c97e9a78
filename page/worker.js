// SPDX-License-Identifier: Apache-2.0
// The worker: unpacks the program, then answers one message after another.
import { loadProgram } from "./program.js";

/** @type {WebAssembly.Module} */
let compiled;
let program;

/** Compiles a gzip stream in base64 while it unpacks. @param {string} packed @returns {Promise<WebAssembly.Module>} */
function compile(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

/** Asks the program, and starts a new one after a trap. @returns {Promise<import("./ask.js").Answer>} */
async function answer({ argv, files }) {
  try {
    return program.run(argv, files ?? {});
  } catch (error) {
    program = await loadProgram(compiled);
    return { code: 1, stdout: "", stderr: `foredraft: the program stopped (${error.message ?? error})` };
  }
}

onmessage = async ({ data }) => {
  if (data.packed !== undefined) {
    try {
      compiled = await compile(data.packed);
      program = await loadProgram(compiled);
      postMessage({ id: data.id });
    } catch (error) {
      postMessage({ id: data.id, failed: String(error) });
    }
    return;
  }
  const answers = [];
  for (const question of data.questions) answers.push(await answer(question));
  postMessage({ id: data.id, answers });
};
