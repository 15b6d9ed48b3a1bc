import { FRAME_CSS } from './frame.ts'

/** The style sheet of the server-rendered pages. */
export const PAGE_STYLE: string = `${FRAME_CSS}
.controls { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: end; gap: var(--space-3) var(--space-6); margin: var(--space-4) 0 var(--space-3); }
.controls .pager { margin: 0; }
.controls .filters { margin: 0; }
.stack label { display: grid; gap: var(--space-1); font-size: var(--size-small); color: var(--text-2); }
.filters .check { display: flex; align-items: center; min-height: 2.25rem; }
input[type="number"] { width: 6rem; }
.more-filters { flex: 1 1 100%; order: 1; }
.more-filters > div { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-3); align-items: end; margin-top: var(--space-2); }
.filters .reset { display: inline-flex; align-items: center; min-height: 2.25rem; }
.filters input[type="text"] { width: 11rem; }
.filters input[name="url"] { width: 34rem; }
.stack { display: grid; gap: var(--space-4); max-width: 24rem; margin-top: var(--space-4); }

pre { margin: var(--space-2) 0; padding: var(--space-3); overflow-x: auto; font: var(--size-small)/1.45 var(--mono); background: var(--surface-2); border-radius: var(--radius); overflow-wrap: normal; }
details.panel { margin: var(--space-2) 0; padding: var(--space-3) var(--space-4); }
details.panel[open] > summary { margin-bottom: var(--space-3); }
main h3 { margin: var(--space-4) 0 var(--space-1); }

.panel > :first-child { margin-top: 0; }
.panel > :last-child { margin-bottom: 0; }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: var(--space-1) var(--space-4); margin: var(--space-2) 0; }
.facts dt { color: var(--text-2); }
.facts dd { margin: 0; min-width: 0; }
@media (min-width: 64rem) { .facts.pairs { grid-template-columns: minmax(7rem, max-content) 1fr minmax(7rem, max-content) 1fr; } }
th, td { vertical-align: top; }
td { max-width: 34rem; }
table:not([role]) td { overflow-wrap: break-word; }
td.number { font-variant-numeric: tabular-nums; }
td.address { min-width: 14rem; }
td details > summary { font-size: 0.92em; }
td small { display: block; }
tr.fresh { animation: fresh 3s ease-out; }
@keyframes fresh { from { background: var(--accent-ground); } }
.text { unicode-bidi: isolate; white-space: pre-wrap; }
td > .pill { vertical-align: 1px; }
.pager { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2); margin: var(--space-3) 0; }
.pager a, .pager span.off { min-height: 2.25rem; display: inline-flex; align-items: center; padding: 0 var(--space-3); border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); text-decoration: none; }
.pager a:hover { border-color: var(--accent); }
.pager span.off { color: var(--text-2); background: none; border-style: dashed; }
.bar { display: block; width: 100%; min-width: 8rem; height: 0.6rem; border-radius: 0.3rem; background: var(--surface-2); }
.bar .held { fill: var(--chart-2); }
.bar .skipped { fill: var(--chart-5); }
.bar .failed { fill: var(--chart-4); }
.bar .open { fill: var(--chart-1); }
.key { display: flex; flex-wrap: wrap; gap: var(--space-1) var(--space-4); margin: var(--space-2) 0; padding: 0; list-style: none; font-size: var(--size-small); color: var(--text-2); }
.key svg { display: inline-block; width: 0.7rem; min-width: 0; height: 0.7rem; margin-right: var(--space-1); border-radius: 2px; vertical-align: -0.05rem; }
.filters:not(:has(input:not([type="checkbox"], [value=""]), input[checked], option[selected]:not(:first-child))) > .reset { display: none; }
.map { margin: var(--space-4) 0; }
.map.small { max-width: 44rem; }
.map svg { display: block; width: 100%; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
.map .land { fill: var(--line); }
.map .borders { fill: none; stroke: var(--surface); stroke-width: 3; }
.map .dot { fill: var(--chart-1); fill-opacity: 0.7; stroke: var(--surface); stroke-width: 3; }
.map .ring { fill: none; stroke: var(--chart-1); stroke-width: 8; }
.map .area { fill: var(--chart-1); }
.map .shade-1 { fill-opacity: 0.3; }
.map .shade-2 { fill-opacity: 0.5; }
.map .shade-3 { fill-opacity: 0.75; }
.map a:hover .area { fill: var(--chart-3); fill-opacity: 1; }
.map figcaption { margin-top: var(--space-1); font-size: var(--size-small); color: var(--text-2); }
.start { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-3) var(--space-6); }
.start .filters { margin-top: var(--space-3); }
.progress { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-3); }
progress { flex: 1 1 12rem; }
p.bad { color: var(--bad); }
p.bad:empty { display: none; }
.try pre { max-height: 24rem; overflow: auto; white-space: pre-wrap; }
.try-body { flex: 1 1 100%; }
.try textarea { width: 100%; padding: var(--space-2); font-family: var(--mono); font-size: var(--size-small); }
details.panel > summary { width: auto; color: var(--text); }
summary > code { font-weight: 550; }
.what { font-weight: 600; }
.outline { margin: var(--space-2) 0; padding-left: 1.4rem; }
.outline li { padding: 0.1rem 0; }
nav.panel .outline { display: flex; flex-wrap: wrap; gap: 0 var(--space-4); padding: 0; list-style: none; }

@media (max-width: 48rem) {
  :is(.filters, .more-filters > div) > label { flex: 1 1 8rem; }
  :is(.filters, .more-filters > div) > label:not(.check) > :is(input, select) { width: 100%; }
  .facts { grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: var(--space-1) var(--space-3); font-size: var(--size-small); }
  .filters input[name="url"] { width: 100%; }
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
  [role="table"] td:is(.minor, :empty, :has(> :only-child:empty)) { display: none; }
}
@media print { .top, .sub, .filters, .pager { display: none; } }
`
