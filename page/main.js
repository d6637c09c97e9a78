// SPDX-License-Identifier: Apache-2.0
// The page: its tabs, its address, its theme.
import { startProgram } from "./ask.js";
import { byId, tell } from "./elements.js";
import { EXPLORE, exploreTab } from "./explore.js";
import { GPU, gpuTab } from "./gpu.js";
import { LOG, logTab } from "./log.js";
import { fromAddress, tabOf, toAddress } from "./share.js";
import { defaultsOf } from "./fields.js";

const TABS = { explore: [EXPLORE, exploreTab], log: [LOG, logTab], gpu: [GPU, gpuTab] };
const ADDRESS_DELAY_MS = 300;

const made = {};
let shown = "explore";
let timer;

/** Writes the state into the address, with a delay, because browsers limit the rate. */
function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const address = toAddress(shown, TABS[shown][0], made[shown].values);
    try {
      if (address !== location.hash) history.replaceState(null, "", address);
    } catch {
      // In the frame of a notebook the page has no address.
    }
    made[shown].tab.linked();
  }, ADDRESS_DELAY_MS);
}

function show(name) {
  shown = name;
  for (const other of Object.keys(TABS)) {
    const selected = other === name;
    byId(`panel-${other}`).hidden = !selected;
    byId(`tab-${other}`).setAttribute("aria-selected", String(selected));
    byId(`tab-${other}`).tabIndex = selected ? 0 : -1;
  }
  made[name].tab.show();
}

function readAddress() {
  const name = Object.hasOwn(TABS, tabOf(location.hash)) ? tabOf(location.hash) : "explore";
  fromAddress(Object.hasOwn(TABS, tabOf(location.hash)) ? location.hash : "", TABS[name][0], made[name].values);
  show(name);
}

function wireTabs() {
  const names = Object.keys(TABS);
  for (const [at, name] of names.entries()) {
    byId(`tab-${name}`).addEventListener("click", () => { show(name); changed(); });
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = names[(at + step + names.length) % names.length];
      show(next);
      changed();
      byId(`tab-${next}`).focus();
    });
  }
}

/** Dark or light theme: that of the system until the user switches. */
function wireLook() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.look ?? (system.matches ? "dark" : "light")) === "dark";
  const label = () => { byId("look").textContent = dark() ? "Light" : "Dark"; };
  byId("look").addEventListener("click", () => { document.documentElement.dataset.look = dark() ? "light"
    : "dark"; label(); });
  system.addEventListener("change", label);
  label();
}

/** Scrolls to the answer as a link, a command line and Python. */
function wireShare() {
  byId("share").addEventListener("click", () => {
    const box = byId(`panel-${shown}`).querySelector(".share");
    if (box.hidden) { tell("Nothing to share yet: choose logs first."); return; }
    box.scrollIntoView({ block: "start" });
    box.querySelector("button").focus();
  });
}

/** A file dropped outside the areas for files is a log. The browser must not leave the page for it. */
function wireDrops() {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    show("log");
    made.log.tab.take([...event.dataTransfer.files]);
  });
}

const started = startProgram();
for (const [name, [groups, make]] of Object.entries(TABS)) {
  const values = defaultsOf(groups);
  const tab = make(values, changed);
  byId(`panel-${name}`).append(tab.answer, tab.controls, tab.results);
  made[name] = { values, tab };
}
wireTabs();
wireLook();
wireShare();
wireDrops();
readAddress();
addEventListener("hashchange", readAddress);
started.then(() => Object.values(made).forEach(({ tab }) => tab.start())).catch((error) => {
  byId(`panel-${shown}`).querySelector(".verdict").textContent = `The program did not start: ${error.message}`;
});
