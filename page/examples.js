// SPDX-License-Identifier: Apache-2.0
// Files that the page brings along.

let files;

/** The text of a file that is built in. @param {string} name */
export function example(name) {
  files ??= JSON.parse(document.getElementById("examples").textContent);
  return files[name];
}
