import { TOKENS_CSS } from './tokens.ts'

/** The stylesheet of the server-rendered pages. */
export const PAGE_STYLE: string = `${TOKENS_CSS}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: var(--size)/1.5 var(--font);
  overflow-wrap: anywhere;
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: var(--space-6) 0 var(--space-2); font-size: 1.0625rem; }
p { margin: var(--space-2) 0; max-width: 75ch; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:not(:hover) { text-decoration-thickness: 1px; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); }
code, .mono { font-family: var(--mono); font-size: 0.9em; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
.quiet { color: var(--text-2); }
.skip { position: absolute; left: var(--space-4); top: -4rem; z-index: 2; padding: var(--space-2) var(--space-4);
  background: var(--accent); color: var(--on-accent); border-radius: 0 0 var(--radius) var(--radius); }
.skip:focus { top: 0; }

.top { background: var(--surface); border-bottom: 1px solid var(--line); }
.top-row, main, .foot { max-width: 82rem; margin: 0 auto; padding: 0 var(--space-4); }
.top-row { display: flex; align-items: center; gap: var(--space-6); min-height: 3rem; }
.brand { font-weight: 650; color: var(--text); text-decoration: none; }
.top nav { min-width: 0; flex: 1; }
.top ul { display: flex; gap: var(--space-1); margin: 0; padding: 0; list-style: none; overflow-x: auto; scrollbar-width: none; }
.top li { flex: none; }
.top nav a { display: block; padding: 0.7rem var(--space-2); color: var(--text-2); text-decoration: none; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--text); }
.top nav a:focus-visible { outline-offset: -3px; }
.top nav a[aria-current] { color: var(--text); border-color: var(--accent); font-weight: 550; }
main { padding-top: var(--space-6); padding-bottom: var(--space-8); }
.head { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--space-1) var(--space-4); margin-bottom: var(--space-2); }
.live { display: inline-flex; align-items: center; gap: var(--space-2); font-size: var(--size-small); color: var(--text-2); }
.live:empty { display: none; }
.live::before { content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--chart-5); }
.live[data-state="on"]::before { background: var(--chart-2); }
.foot { padding-bottom: var(--space-6); font-size: var(--size-small); color: var(--text-2); }

.controls { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: end; gap: var(--space-3) var(--space-6); margin: var(--space-4) 0 var(--space-3); }
.controls .pager { margin: 0; }
.filters { display: flex; flex-wrap: wrap; gap: var(--space-3); align-items: end; }
.filters label, .stack label { display: grid; gap: var(--space-1); font-size: var(--size-small); color: var(--text-2); }
.filters .check { display: flex; align-items: center; min-height: 2.25rem; }
input:not([type="checkbox"]), select {
  min-height: 2.25rem; min-width: 0; max-width: 100%; padding: 0 var(--space-2); font: inherit; font-size: var(--size); color: var(--text);
  background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius);
}
input[type="checkbox"] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--accent); }
input[type="number"] { width: 6rem; }
button, .button {
  min-height: 2.25rem; padding: 0 var(--space-4); font: inherit; font-weight: 550; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: var(--radius);
}
button:hover { filter: brightness(1.08); }
.filters .reset { display: inline-flex; align-items: center; min-height: 2.25rem; }
.filters input[type="text"] { width: 11rem; }
.filters input[name="url"] { width: 34rem; }
.stack { display: grid; gap: var(--space-4); max-width: 24rem; margin-top: var(--space-4); }

pre { margin: var(--space-2) 0; padding: var(--space-3); overflow-x: auto; font: 0.8125rem/1.45 var(--mono); background: var(--surface-2); border-radius: var(--radius); overflow-wrap: normal; }
summary { cursor: pointer; }
details.panel { margin: var(--space-2) 0; padding: var(--space-3) var(--space-4); }
details.panel[open] > summary { margin-bottom: var(--space-3); }
h3 { margin: var(--space-4) 0 var(--space-1); font-size: var(--size); }

.panel { margin: var(--space-4) 0; padding: var(--space-4); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
.panel > :first-child { margin-top: 0; }
.panel > :last-child { margin-bottom: 0; }
.notice { border-left: 4px solid var(--info); }
.notice.bad { border-left-color: var(--bad); }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: var(--space-1) var(--space-4); margin: var(--space-2) 0; }
.facts dt { color: var(--text-2); }
.facts dd { margin: 0; min-width: 0; }
@media (min-width: 64rem) { .facts.pairs { grid-template-columns: minmax(7rem, max-content) 1fr minmax(7rem, max-content) 1fr; } }
.counters { display: flex; flex-wrap: wrap; gap: var(--space-2); margin: var(--space-4) 0; padding: 0; }
.counters > div { flex: 1 1 7rem; padding: var(--space-2) var(--space-3); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
.counters dt { font-size: var(--size-small); color: var(--text-2); }
.counters dd { margin: 0; font-size: var(--size-large); font-variant-numeric: tabular-nums; }

.box { overflow-x: auto; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
table { width: 100%; border-collapse: collapse; font-size: var(--size-small); line-height: 1.4; }
caption { padding: var(--space-2) var(--space-3); text-align: left; color: var(--text-2); border-bottom: 1px solid var(--line); }
th, td { padding: 0.4rem var(--space-3); text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 550; color: var(--text-2); background: var(--surface-2); white-space: nowrap; }
tbody tr:last-child > td { border-bottom: 0; }
tbody tr:hover { background: var(--surface-2); }
td { max-width: 34rem; }
table:not([role]) td { overflow-wrap: break-word; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.time, td.word { white-space: nowrap; }
td.address { min-width: 14rem; }
td details > summary { font-size: 0.92em; }
td small, .detail { display: block; color: var(--text-2); font-size: 0.92em; }
tr.fresh { animation: fresh 3s ease-out; }
@keyframes fresh { from { background: var(--accent-ground); } }
.text { unicode-bidi: isolate; white-space: pre-wrap; }
.empty { padding: var(--space-6) var(--space-4); text-align: center; color: var(--text-2); }
.empty p { margin: 0 auto var(--space-1); }

td > .pill { vertical-align: 1px; }
.pill { display: inline-block; padding: 0 0.5rem; border-radius: 1rem; font-size: 0.75rem; line-height: 1.2rem; font-weight: 550; white-space: nowrap;
  color: var(--quiet); background: var(--quiet-ground); }
.pill-good { color: var(--good); background: var(--good-ground); }
.pill-warn { color: var(--warn); background: var(--warn-ground); }
.pill-bad { color: var(--bad); background: var(--bad-ground); }
.pill-info { color: var(--info); background: var(--info-ground); }

.pager { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2); margin: var(--space-3) 0; }
.pager a, .pager span.off { min-height: 2.25rem; display: inline-flex; align-items: center; padding: 0 var(--space-3); border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); text-decoration: none; }
.pager a:hover { border-color: var(--accent); }
.pager span.off { color: var(--text-2); opacity: 0.6; }
.bar { display: block; width: 100%; min-width: 8rem; height: 0.6rem; border-radius: 0.3rem; background: var(--surface-2); }
.bar .held { fill: var(--chart-2); }
.bar .skipped { fill: var(--chart-5); }
.bar .failed { fill: var(--chart-4); }
.bar .open { fill: var(--chart-1); }
.key { display: flex; flex-wrap: wrap; gap: var(--space-1) var(--space-4); margin: var(--space-2) 0; padding: 0; list-style: none; font-size: var(--size-small); color: var(--text-2); }
.key svg { display: inline-block; width: 0.7rem; min-width: 0; height: 0.7rem; margin-right: var(--space-1); border-radius: 2px; vertical-align: -0.05rem; }
.map { margin: var(--space-4) 0; }
.map.small { max-width: 44rem; }
.map svg { display: block; width: 100%; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
.map .land { fill: var(--line); }
.map .borders { fill: none; stroke: var(--surface); stroke-width: 3; }
.map .dot { fill: var(--chart-1); fill-opacity: 0.55; stroke: var(--surface); stroke-width: 3; }
.map a:hover .dot { fill: var(--chart-3); fill-opacity: 0.9; }
.map figcaption { margin-top: var(--space-1); font-size: var(--size-small); color: var(--text-2); }
.start { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-3) var(--space-6); }
.start .filters { margin-top: var(--space-3); }
.progress { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-3); }
progress { flex: 1 1 12rem; height: 0.6rem; accent-color: var(--chart-2); }
p.bad { color: var(--bad); }
p.bad:empty { display: none; }
.outline { margin: var(--space-2) 0; padding-left: 1.4rem; }
.outline li { padding: 0.1rem 0; }

@media (max-width: 48rem) {
  .top-row { flex-wrap: wrap; gap: 0 var(--space-4); padding-top: var(--space-2); }
  .top nav { flex-basis: 100%; }
  .top ul { margin: 0 calc(-1 * var(--space-4)); padding: 0 var(--space-2); mask-image: linear-gradient(to right, #000 calc(100% - 2.5rem), transparent); }
  .top ul::after { content: ""; flex: none; width: 2rem; }
  main { padding-top: var(--space-4); }
  .filters > label { flex: 1 1 8rem; }
  .filters > label:not(.check) > :is(input, select) { width: 100%; }
  .facts { grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: var(--space-1) var(--space-3); font-size: 0.875rem; }
  .filters input[name="url"] { width: 100%; }
  .counters > div { flex-basis: 5.5rem; }
  .box:has(> [role="table"]) { background: none; border: 0; box-shadow: none; overflow: visible; }
  [role="table"], [role="table"] > :is(tbody, caption) { display: block; }
  [role="table"] > caption { padding: 0 0 var(--space-2); border: 0; }
  [role="table"] > thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  [role="table"] tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--space-1) var(--space-4); margin-bottom: var(--space-2); padding: var(--space-3);
    background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
  [role="table"] td { display: block; max-width: 100%; min-width: 0; padding: 0; border: 0; text-align: left; white-space: normal; }
  [role="table"] td.address { flex-basis: 100%; order: -1; }
  [role="table"] td.wide { flex-basis: 100%; order: 1; }
  td[data-label]:not(.address, .wide, :has(> .pill:only-child))::before { content: attr(data-label) " "; color: var(--text-2); }
  [role="table"] td:is(:empty, :has(> :only-child:empty)) { display: none; }
}
@media (prefers-reduced-motion: reduce) { tr.fresh { animation: none; } }
@media print { .top, .filters, .pager { display: none; } }
`
