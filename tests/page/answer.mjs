// SPDX-License-Identifier: Apache-2.0
// Answers questions with the program as WebAssembly: node answer.mjs GLUE.js PROGRAM.wasm PROGRAM.js. One JSON document a
// line in and out: {"argv": [...], "files": {"name": "base64"}} gives {"code", "stdout", "stderr", "ms"}.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

const [glue, wasm, program] = process.argv.slice(2);
globalThis.self = globalThis;
globalThis.location = { href: "" };
runInThisContext(readFileSync(glue, "utf8"));
globalThis.loadModule = loadModule;
const { loadProgram } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(program, "utf8"))}`);
const begin = performance.now();
const answers = await loadProgram(await WebAssembly.compile(readFileSync(wasm)));
console.error(`loaded in ${(performance.now() - begin).toFixed(0)} ms`);

for await (const line of createInterface({ input: process.stdin })) {
  const { argv, files } = JSON.parse(line);
  const bytes = Object.fromEntries(Object.entries(files ?? {}).map(([name, text]) => [name, Buffer.from(text, "base64")]));
  const start = performance.now();
  let answer;
  try {
    answer = answers.run(argv, bytes);
  } catch (error) {
    answer = { code: -1, stdout: "", stderr: `${error.stack ?? error}` };
  }
  process.stdout.write(`${JSON.stringify({ ...answer, ms: performance.now() - start })}\n`);
}
