// SPDX-License-Identifier: Apache-2.0
// The worker: starts the compiled program, then answers one message after another.
import { loadProgram } from "./program.js";

/** @type {WebAssembly.Module} */
let compiled;
let program;

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
  if (data.compiled) {
    compiled = data.compiled;
    try {
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
