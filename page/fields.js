// SPDX-License-Identifier: Apache-2.0
// Builds the controls of a tab from a table of fields: the label, program option and parameter of each.
import { element } from "./elements.js";

/**
 * A control. `flag` is the option of the program, `parameter` the key in TOML and, with _ for dots, in Python.
 * @typedef {{name: string, label: string, default: any,
 *   kind: "slider"|"number"|"text"|"choice"|"check"|"search"|"area",
 *   flag?: string, parameter?: string, min?: number, max?: number, step?: number, log?: boolean, options?: string[][],
 *   help?: string, when?: (values: Object) => boolean}} Field
 */
/** @typedef {{title: string, fields: Field[], folded?: boolean}} Group */

const MAX_TEXT = 20000;
const STEPS_OF_LOG = 200;

/** The default values of fields. @param {Group[]} groups */
export const defaultsOf = (groups) =>
  Object.fromEntries(groups.flatMap(({ fields }) => fields).map((field) => [field.name, field.default]));

/** The fields that are options of the program, shown and not empty. @param {Group[]} groups @returns {Field[]} */
export const fieldsSet = (groups, values) => groups.flatMap(({ fields }) => fields).filter((field) =>
  field.flag && (!field.when || field.when(values)) && values[field.name] !== "");

/**
 * The value of `field` in the text of an address, or its default if the text is invalid.
 * @param {Field} field @param {string} given
 */
export function valueFrom(field, given) {
  if (field.kind === "check") return given === "1";
  if (field.kind === "choice") return field.options.some(([value]) => value === given) ? given : field.default;
  if (field.kind === "slider" || field.kind === "number") {
    const value = given.trim() === "" ? NaN : Number(given);
    return Number.isFinite(value) ? value : field.default;
  }
  return given.slice(0, MAX_TEXT);
}

const toPlace = (field, value) => (field.log
  ? Math.round((STEPS_OF_LOG * Math.log(Math.max(value, field.min) / field.min)) / Math.log(field.max / field.min))
    : value);
const fromPlace = (field, place) => (field.log
  ? Number((field.min * (field.max / field.min) ** (place / STEPS_OF_LOG)).toPrecision(2)) : place);

function slider(field, id, values, changed) {
  const box = element("input", { id, type: "number", min: field.min, step: "any",
    value: values[field.name] });
  const range = element("input", { type: "range", "aria-label": field.label, min: field.log ? 0 : field.min,
    max: field.log ? STEPS_OF_LOG : field.max,
    step: field.log ? 1 : field.step, value: toPlace(field, values[field.name]) });
  range.addEventListener("input", () => {
    const value = fromPlace(field, Number(range.value));
    box.value = value;
    changed(field, value);
  });
  box.addEventListener("input", () => {
    if (box.value === "" || !Number.isFinite(box.valueAsNumber)) return;
    range.value = toPlace(field, box.valueAsNumber);
    changed(field, box.valueAsNumber);
  });
  const show = (value) => { box.value = value; range.value = toPlace(field, value); };
  return { parts: [element("span", { class: "slide" }, range, box)], show };
}

function choice(field, id, values, changed) {
  const select = element("select", { id, onchange: () => changed(field, select.value) },
    ...field.options.map(([value, label]) => element("option", { value }, label)));
  select.value = values[field.name];
  return { parts: [select], show: (value) => { select.value = value; } };
}

/** Empties a search field on focus, because browsers list only matches of its text. Restores it if it is left empty. */
function browsable(box) {
  let typed;
  box.addEventListener("focus", () => { box.placeholder = box.value; box.value = ""; typed = false; });
  box.addEventListener("input", () => { typed = true; });
  box.addEventListener("blur", () => {
    if (box.value !== "") return;
    box.value = box.placeholder;
    if (typed) box.dispatchEvent(new Event("input"));
  });
}

function written(field, id, values, changed) {
  const tag = field.kind === "area" ? "textarea" : "input";
  const list = field.kind === "search" ? `${id}-list` : undefined;
  const box = element(tag, { id, type: tag === "input" && (field.kind === "number" ? "number" : "text"), list,
    rows: tag === "textarea" && 5,
    step: field.kind === "number" && "any", placeholder: field.placeholder, autocomplete: "off", spellcheck: "false",
      maxlength: tag === "input" && field.kind !== "number" && MAX_TEXT });
  box.value = values[field.name];
  if (list && field.default !== "") browsable(box);
  box.addEventListener("input", () => changed(field, field.kind === "number" && box.value !== "" ? box.valueAsNumber
    : box.value));
  return { parts: [box, list && element("datalist", { id: list })], show: (value) => { box.value = value; } };
}

function check(field, id, values, changed) {
  const box = element("input", { id, type: "checkbox", onchange: () => changed(field, box.checked) });
  box.checked = values[field.name];
  return { parts: [box], show: (value) => { box.checked = value; } };
}

const KINDS = { slider, choice, check, number: written, text: written, search: written, area: written };

/**
 * The controls of `groups`. They change `values` in place, then call `onChange`.
 * @param {string} tab @param {Group[]} groups @param {Object} values @param {() => void} onChange
 */
export function form(tab, groups, values, onChange) {
  const made = [];
  const refresh = () => {
    made.forEach(({ row, field }) => { row.hidden = field.when ? !field.when(values) : false; });
    sections.forEach((section) => { section.hidden = [...section.querySelectorAll(".field")].every((row) =>
      row.hidden); });
  };
  const changed = (field, value) => {
    values[field.name] = value;
    refresh();
    onChange(field.name);
  };
  const rowOf = (field) => {
    const id = `${tab}-${field.name}`;
    const { parts, show } = KINDS[field.kind](field, id, values, changed);
    const label = element("label", { for: id }, field.label);
    const help = field.help && element("small", { id: `${id}-help` }, field.help);
    if (help) parts[0].setAttribute("aria-describedby", `${id}-help`);
    const row = element("div", { class: `field ${field.kind}` },
      ...(field.kind === "check" ? [...parts, label] : [label, ...parts]), help);
    made.push({ row, field, show });
    return row;
  };
  const sections = groups.map(({ title, fields, folded }) => (folded
    ? element("details", { class: "group" }, element("summary", {}, title), ...fields.map(rowOf))
    : element("fieldset", {}, element("legend", {}, title), ...fields.map(rowOf))));
  const top = element("form", { class: "controls", "aria-label": "Settings",
    onsubmit: (event) => event.preventDefault() }, ...sections);
  refresh();
  return {
    element: top,
    /** Shows the current values. */
    show: () => { made.forEach(({ field, show }) => show(values[field.name])); refresh(); },
    /** Fills the list of a search field. @param {string} name @param {string[][]} options */
    offer: (name, options) => {
      const list = top.querySelector(`#${tab}-${name}-list`);
      list.replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
    },
  };
}
