import { element } from "./elements.js";
export const LOG = [];
export const logTab = () => ({ controls: element("div"), results: element("div"), start() {}, show() {} });
