// SPDX-License-Identifier: Apache-2.0
// The worker: unpacks the program, then answers one message after another.
import { loadProgram } from "./program.js";

/** @type {Uint8Array} */
let wasmBytes;
let program;

/** The bytes of a gzip stream in base64. @param {string} packed @returns {Promise<Uint8Array>} */
async function unpack(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Asks the program, and starts a new one after a trap. @returns {Promise<import("./ask.js").Answer>} */
async function answer({ argv, files }) {
  try {
    return program.run(argv, files ?? {});
  } catch (error) {
    program = await loadProgram(wasmBytes);
    return { code: 1, stdout: "", stderr: `foredraft: the program stopped (${error.message ?? error})` };
  }
}

onmessage = async ({ data }) => {
  if (data.packed !== undefined) {
    try {
      wasmBytes = await unpack(data.packed);
      program = await loadProgram(wasmBytes);
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
