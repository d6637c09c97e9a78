// SPDX-License-Identifier: Apache-2.0
// Elements of the page. Text is always set as text: nothing from a user or a log becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** An HTML element; attributes that begin with "on" are listeners. @returns {HTMLElement} */
export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. @returns {SVGElement} */
export const drawn = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** The element of an id. @returns {HTMLElement} */
export const byId = (id) => document.getElementById(id);

/** A number with `digits` significant digits and thousand separators; a dash for none. @param {?number} value */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(digits - 1);
  // Formats of Intl cost 20 ms at their first use.
  const [whole, part] = String(Number(value.toPrecision(digits))).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/, ","), part].filter(Boolean).join(".");
}

/** Text of the program with the symbols of the page. @param {string} text */
export const symbols = (text) => text.replace(/\bgamma\b/g, "γ").replace(/\balpha\b/g, "α");

/** A speedup, as 2.95×. */
export const times = (value) => (typeof value === "number" ? `${value.toFixed(2)}×` : "–");

/** "1.2 to 1.4", or "" without a range. */
export const interval = (low, high, digits = 3) =>
  (typeof low === "number" && typeof high === "number" ? `${number(low, digits)} to ${number(high, digits)}` : "");

/**
 * A table. The first cell of a row is its header; columns of numbers are aligned right.
 * @param {string[]} head @param {any[][]} rows @param {(row: any[], at: number) => boolean} marked
 */
export function table(caption, head, rows, marked = () => false) {
  const isNumber = (value) => typeof value === "number" || /^[–\d(<−-]/.test(String(value ?? ""));
  const right = head.map((_, place) => place > 0 && rows.some((row) => isNumber(row[place]))
    && rows.every((row) => isNumber(row[place]) || !row[place]));
  const cell = (value, place) => {
    const content = typeof value === "number" ? number(value) : value ?? "–";
    return element(place === 0 ? "th" : "td", { class: right[place] && "number", scope: place === 0 && "row" },
      content);
  };
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head.map((text, place) =>
        element("th", { scope: "col", class: right[place] && "number" }, text)))),
      element("tbody", {},
        ...rows.map((row, at) => element("tr", { class: marked(row, at) && "marked" }, ...row.map(cell))))));
}

/** Fills a list of descriptions with the entries that have a text. @param {[string, ?string][]} entries */
export const describe = (list, entries) => list.replaceChildren(...entries.filter(([, text]) => text)
  .flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));

/** Offers `content` as a file. @param {Blob|string} content @param {string} name */
export function download(content, name, type = "text/plain") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Shows `text` for a moment, also to screen readers. */
export function tell(text) {
  const place = byId("told");
  place.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { place.textContent = ""; }, 2500);
}
