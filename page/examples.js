// SPDX-License-Identifier: Apache-2.0
// Files built into the page.

let files;

/** The text of a built-in file. @param {string} name */
export function example(name) {
  files ??= JSON.parse(document.getElementById("examples").textContent);
  return files[name];
}
