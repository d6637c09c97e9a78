// SPDX-License-Identifier: Apache-2.0
// Files that users drop, choose or paste. Nothing is uploaded: the program reads them in the page.
import { element } from "./elements.js";

/** @typedef {{name: string, blob: Blob, role: string}} Given */

/** A file name that options of the program accept: without commas, blanks or folders. */
const plainName = (name) => name.replace(/[^\w.+-]/g, "_").replace(/^[-.]+/, "_").slice(0, 80) || "log";

/** An area to drop files on. @param {string} text @param {(files: File[]) => void} take @param {boolean} [several] */
export function dropArea(text, take, several = true) {
  const input = element("input", { type: "file", multiple: several, "aria-label": text,
    onchange: () => { take([...input.files]); input.value = ""; } });
  const area = element("div", { class: "drop" }, text, input);
  const over = (on) => (event) => { event.preventDefault(); area.classList.toggle("over", on); };
  area.addEventListener("dragover", over(true));
  area.addEventListener("dragleave", over(false));
  area.addEventListener("drop", (event) => { over(false)(event); take([...event.dataTransfer.files]); });
  return area;
}

/**
 * The list of given files, each with a role.
 * @param {() => string[][]} roles pairs of role and label
 * @param {(name: string, at: number) => string} guess the role of a new file
 * @param {() => void} changed
 */
export function fileList(roles, guess, changed) {
  /** @type {Given[]} */
  const files = [];
  const list = element("ul", { class: "files", "aria-label": "Files" });
  const show = () => list.replaceChildren(...files.map((file) => {
    const select = element("select", { "aria-label": `Role of ${file.name}`,
      onchange: () => { file.role = select.value; changed(); } },
      ...roles().map(([value, label]) => element("option", { value }, label)));
    select.value = file.role;
    return element("li", {}, file.name, select, element("button",
      { type: "button", class: "quiet", "aria-label": `Remove ${file.name}`,
      onclick: () => { files.splice(files.indexOf(file), 1); show(); changed(); } }, "×"));
  }));
  return {
    element: list, files,
    /** Adds files. @param {{name: string, blob: Blob, role?: string}[]} more */
    add: (more) => {
      for (const { name, blob, role } of more) {
        let free = plainName(name);
        for (let k = 2; files.some((file) => file.name === free); k += 1) free = `${k}-${plainName(name)}`;
        files.push({ name: free, blob, role: role ?? guess(free, files.length) });
      }
      show();
      changed();
    },
    replace: (more) => { files.length = 0; more.forEach(({ name, blob, role }) =>
      files.push({ name, blob, role })); show(); changed(); },
    /** Guesses all roles again, after a change of the question. */
    assign: () => { files.forEach((file, at) => { file.role = guess(file.name, at); }); show(); },
  };
}
