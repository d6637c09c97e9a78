# SPDX-License-Identifier: Apache-2.0
"""The style sheet of report.html: light and dark, a side column of contents on wide screens, and print."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d1f21; --soft: #5b6066; --page: #fff; --card: #f6f7f8; --line: #d9dce0;
  --shade: #0003; --link: #1a5a96; --pass: #d9efe4; --pass-ink: #0b4a30; --fail: #8f1d1d; --fail-ink: #fff;
  --finding: #ffe9b8;
  --finding-ink: #573b00; --shown: #e9ebed; --shown-ink: #3a3f44; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e8; --soft: #a2a9b0; --page: #16181b; --card: #1f2327; --line: #383e45; --shade: #000a;
  --link: #82bdf2;
    --pass: #123f2b; --pass-ink: #b7ecd0; --fail: #b3322f; --fail-ink: #fff; --finding: #503a08;
    --finding-ink: #ffe2a0; --shown: #2d3238; --shown-ink: #c9ced3; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; font: 16px/1.5 "DejaVu Sans", Verdana, sans-serif; color: var(--ink); background: var(--page); }
.page { max-width: 82rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
main, header { min-width: 0; } main > :first-child { margin-top: 1.6rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .8rem; padding-bottom: .3rem;
  border-bottom: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2.4rem 0 .3rem; overflow-wrap: anywhere; }
h4 { font-size: .95rem; margin: 1.4rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
.verdict { font-size: 1.15rem; font-weight: bold; line-height: 1.4; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
.soft, figcaption { color: var(--soft); font-size: .85rem; }
code { overflow-wrap: anywhere; font-size: .85em; }
pre { font-size: .82rem; line-height: 1.4; }

nav { font-size: .85rem; margin: 1.2rem 0 0; padding: .8rem 1rem; background: var(--card); border-radius: .5rem; }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { margin: .15rem 0; }
nav li li { display: inline-block; margin: 0 .9rem .1rem 0; } nav li ul { margin: 0 0 .5rem .1rem; }
nav .paper { font-weight: bold; }
@media (min-width: 70rem) {
  .page { display: grid; grid-template: auto 1fr / 15rem minmax(0, 1fr); gap: 0 2.5rem; }
  header { grid-area: 1 / 2; } main { grid-area: 2 / 2; }
  nav { grid-area: 1 / 1 / 3; position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem);
    overflow-y: auto; margin: 0; }
  nav li li { margin-right: .5rem; min-width: 3.6rem; } }

.tiles { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1.2rem 0; padding: 0; list-style: none; }
.tiles li { flex: 1 1 7rem; padding: .6rem .9rem; border-radius: .5rem; }
.tiles strong { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }

/* The shadows at the sides show that a table goes on there. */
.wide { overflow-x: auto; margin: .6rem 0 1rem; background: linear-gradient(to right, var(--page) 40%, transparent),
    linear-gradient(to left, var(--page) 40%, transparent) 100% 0, linear-gradient(to right, var(--shade), transparent),
    linear-gradient(to left, var(--shade), transparent) 100% 0;
  background-repeat: no-repeat; background-size: 2.5rem 100%, 2.5rem 100%, .8rem 100%, .8rem 100%;
  background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; font-size: .82rem; line-height: 1.35; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; }
tbody tr:hover { background: var(--card); }
.number { text-align: right; font-variant-numeric: tabular-nums; } .brief, td.number { white-space: nowrap; }
  th.name { text-align: right; }
.note { min-width: 16rem; color: var(--soft); }
.findings { margin: .3rem 0; padding-left: 1.1rem; font-size: .88rem; max-width: 60rem; }
.findings li { margin: .25rem 0; }
.range { color: var(--soft); font-size: .85em; white-space: nowrap; }
.chip { display: inline-block; padding: 0 .45em; border-radius: .8em; font-weight: bold; white-space: nowrap; }
h3 .chip { font-size: .72em; font-weight: normal; vertical-align: .1em; margin-left: .35em; }
.pass { background: var(--pass); color: var(--pass-ink); } .fail { background: var(--fail); color: var(--fail-ink); }
.finding { background: var(--finding); color: var(--finding-ink); }
.none { background: var(--card); color: var(--soft); }
.shown { background: var(--shown); color: var(--shown-ink); }

details { margin: .6rem 0; } summary { cursor: pointer; color: var(--link); font-size: .88rem; }
/* Below three quarters of its size a drawing cannot be read: a narrow screen scrolls it. */
figure { margin: 1.2rem 0; } figure img { width: var(--natural); max-width: 100%;
  min-width: calc(.75 * var(--natural)); height: auto; background: #fff; border-radius: .4rem; padding: .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; font-size: .88rem; max-width: 46rem; }
dt { font-weight: bold; } dd { margin: 0; color: var(--soft); }
@media (max-width: 40rem) { body { font-size: 15px; } nav li ul { display: none; } .page { padding: 1rem .8rem 3rem; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; } .tiles li { flex-basis: 40%; } h2 { margin-top: 2.2rem; } }
@media print {
  :root { --ink: #000; --soft: #444; --page: #fff; --card: #fff; --line: #bbb; --link: #000; --pass: #d9efe4;
    --pass-ink: #0b4a30; --finding: #ffe9b8; --finding-ink: #573b00; --shown: #eee; --shown-ink: #333;
    --fail: #8f1d1d; --fail-ink: #fff; }
  body { font-size: 9.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .page { display: block; max-width: none; padding: 0; } nav { display: none; } .wide { overflow: visible;
  background: none; }
  table { font-size: 7.5pt; } th, td { padding: .1rem .3rem; } .note { min-width: 0; }
  h2, h3, h4, thead { break-after: avoid; } figure, tr { break-inside: avoid; } figure img { min-width: 0; } }
"""
