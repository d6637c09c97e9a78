import { element } from "./elements.js";
export const GPU = [];
export const gpuTab = () => ({ controls: element("div"), results: element("div"), start() {}, show() {} });
