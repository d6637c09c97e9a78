// SPDX-License-Identifier: Apache-2.0
// Other ways to get the same answer: an address, a command line, a configuration, a line of Python.
import { download, element, tell } from "./elements.js";
import { defaultsOf, valueFrom } from "./fields.js";

/** The part of an address after #: the tab, and the values that differ from its defaults. */
export function toAddress(tab, groups, values) {
  const defaults = defaultsOf(groups);
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== defaults[name] && name in defaults)
      kept.set(name, typeof value === "boolean" ? (value ? "1" : "0") : value);
  }
  const text = kept.toString();
  return `#${tab}${text ? `&${text}` : ""}`;
}

/** The tab named in an address. @param {string} address */
export const tabOf = (address) => address.replace(/^#/, "").split("&")[0];

/** Sets `values` from an address. Values that it does not contain get their defaults. */
export function fromAddress(address, groups, values) {
  const given = new URLSearchParams(address.replace(/^#[^&]*&?/, ""));
  Object.assign(values, defaultsOf(groups));
  for (const field of groups.flatMap(({ fields }) => fields)) {
    if (given.has(field.name)) values[field.name] = valueFrom(field, given.get(field.name));
  }
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`);

/** A command line for a shell. @param {string[]} argv */
export const commandLine = (argv) => ["foredraft", ...argv].map(quoted).join(" ");

/** Text to insert unquoted. */
export const code = (text) => ({ code: text });

/** A value in TOML or Python: numbers, lists of numbers, words. */
export function literal(value) {
  if (value?.code) return value.code;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** A call of the Python package. @param {Object<string, any>} keywords */
export const pythonCall = (name, keywords, first = []) =>
  `import foredraft as fd\nanswer = fd.${name}(${[...first, ...Object.entries(keywords).map(([key, value]) =>
    `${key.replaceAll(".", "_")}=${value === true ? "True" : literal(value)}`)].join(", ")})`;

/**
 * A configuration of one point, or of the combinations of `axes`.
 * @param {Object<string, any>} fixed @param {Object<string, any>} [simulation] @param {Object<string, any>} [axes]
 */
export function configuration(fixed, simulation, axes) {
  const key = (name) => (name.includes(".") ? JSON.stringify(name) : name);
  const lines = (values) => Object.entries(values).map(([name, value]) => `${key(name)} = ${literal(value)}`);
  return ['schema = "foredraft.sweep/1"', "", ...(axes ? ["[axes]", ...lines(axes), ""] : []), "[fixed]",
    ...lines(fixed),
    ...(simulation ? ["", "[simulation]", ...lines(simulation)] : []), ""].join("\n");
}

/** Copies `text` to the clipboard and confirms it. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    tell("Select the text and copy it: this browser keeps the clipboard closed.");
  }
}

/** The box with these texts to copy. `show` takes [name, text] pairs and the answer as JSON. */
export function shareBox() {
  const text = element("pre", { tabindex: "0" });
  const ways = element("div", { class: "ways", role: "group", "aria-label": "Ways to share" });
  let shown = [];
  let json = "";
  let chosen = "Command line";
  const update = () => {
    const way = shown.find(([name]) => name === chosen) ?? shown[0];
    text.textContent = way ? way[1] : "";
    ways.querySelectorAll("[aria-pressed]").forEach((button) =>
      button.setAttribute("aria-pressed", String(button.textContent === (way ?? [])[0])));
  };
  const pick = (name) => element("button",
    { type: "button", class: "quiet", "aria-pressed": "false", onclick: () => { chosen = name; update(); } }, name);
  const box = element("section", { class: "share" }, element("h3", {}, "Share: the same answer elsewhere"), ways, text,
    element("div", { class: "saves" }, element("button", { type: "button", onclick: () => copy(text.textContent) },
      "Copy"),
      element("button", { type: "button", class: "quiet",
        onclick: () => download(json, "foredraft-answer.json", "application/json") },
        "Answer as JSON")));
  return {
    element: box,
    show: (pairs, answer) => {
      json = answer;
      if (pairs.map(([name]) => name).join() !== shown.map(([name]) => name).join())
        ways.replaceChildren(...pairs.map(([name]) => pick(name)));
      shown = pairs;
      update();
    },
    /** Shows the current address. */
    relink: () => {
      const link = shown.find(([name]) => name === "Link");
      if (link) link[1] = location.href;
      update();
    },
  };
}
