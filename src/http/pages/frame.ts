import { TOKENS_CSS } from './tokens.ts'

/**
 * The style that all pages share: tokens, type, bar, panels, controls and tables. The server sends it with its pages, and the build puts it
 * in front of the style sheets of the dashboard and the local page.
 */
export const FRAME_CSS: string = `${TOKENS_CSS}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: var(--size)/1.5 var(--font); overflow-wrap: anywhere; }
h1 { margin: 0; font-size: var(--size-h1); line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: var(--space-6) 0 var(--space-2); font-size: var(--size-h2); line-height: 1.3; }
h3 { margin: 0; font-size: var(--size-h3); line-height: 1.35; }
h4 { margin: 0 0 var(--space-1); font-size: var(--size-small); font-weight: 600; color: var(--text-2); }
p { margin: var(--space-2) 0; max-width: 75ch; }
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); }
a:hover { text-decoration-color: currentColor; }
/* Every row of a table has links, so lines below all of them would say nothing. */
:is(td, th) a:not(:hover, .rendered *) { text-decoration: none; }
code, .mono { font-family: var(--mono); font-size: 0.9em; }
mark { padding: 0 0.1em; border-radius: 2px; background: var(--mark); color: var(--text); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
[hidden] { display: none !important; }
.quiet { color: var(--text-2); }
.small { font-size: var(--size-small); }
.number { font-variant-numeric: tabular-nums; }
.cut { display: block; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.spring { flex: 1; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: var(--space-4); top: -4rem; z-index: 5; padding: var(--space-2) var(--space-4);
  background: var(--accent); color: var(--on-accent); border-radius: 0 0 var(--radius) var(--radius); }
.skip:focus { top: 0; }

.top { position: sticky; top: 0; z-index: 3; background: var(--surface); border-bottom: 1px solid var(--line); }
.top-row, .sub, main { max-width: var(--page); margin: 0 auto; padding: 0 var(--space-4); }
.top-row { display: flex; align-items: center; gap: var(--space-4); min-height: 3rem; }
.brand { display: inline-flex; align-items: center; gap: var(--space-2); font-weight: 650; letter-spacing: -0.01em; color: var(--text); text-decoration: none; }
.brand::before { content: ""; width: 0.5rem; height: 1.05rem; background: linear-gradient(var(--chart-3) 0 28%, var(--accent) 28%); clip-path: polygon(15% 0, 85% 0, 100% 100%, 0 100%); }
.top nav { flex: 1; min-width: 0; }
:is(.top, .sub) ul { display: flex; gap: var(--space-1); margin: 0; padding: 0; overflow-x: auto; list-style: none; scrollbar-width: none; }
:is(.top, .sub) li { flex: none; }
:is(.top nav, .sub) a { display: block; padding: 0.7rem var(--space-2); color: var(--text-2); text-decoration: none; border-bottom: 2px solid transparent; }
:is(.top nav, .sub) a:hover { color: var(--text); }
:is(.top nav, .sub) a:focus-visible { outline-offset: -3px; }
:is(.top nav, .sub) a[aria-current] { color: var(--text); border-color: var(--accent); font-weight: 550; }
.sub { padding-top: var(--space-2); }
.sub ul { border-bottom: 1px solid var(--line); }
.sub a { padding: var(--space-2); font-size: var(--size-small); }
.tools { display: flex; flex: none; align-items: center; gap: var(--space-2); }
.tools > a { color: var(--text-2); font-size: var(--size-small); text-decoration: none; }
.tools > a:hover { color: var(--text); text-decoration: underline; }
.tools form { margin: 0; }
kbd { padding: 0 0.3em; font: 0.9em var(--mono); border: 1px solid var(--line); border-radius: 3px; background: var(--surface); }
button.ask-button { display: inline-flex; flex: none; gap: var(--space-2); align-items: center; min-height: 2rem; font-weight: 400; color: var(--text-2); background: var(--ground); }
button.theme { min-width: 6rem; min-height: 2rem; padding: 0 var(--space-2); color: var(--text-2); border-color: transparent; }
main { padding-top: var(--space-6); padding-bottom: var(--space-8); }
main:focus { outline: none; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-1) var(--space-4); margin-bottom: var(--space-3); }

.panel { margin: var(--space-3) 0; padding: var(--space-4); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
.notice { border-left: 4px solid var(--info); }
.notice.bad { border-left-color: var(--bad); }
.empty { padding: var(--space-6) var(--space-4); text-align: center; color: var(--text-2); }
.empty p { margin: 0 auto var(--space-1); }
.pill { display: inline-block; max-width: 100%; padding: 0 0.5rem; overflow: clip; border-radius: 1rem; font-size: var(--size-tiny); line-height: 1.35rem; font-weight: 550;
  text-overflow: ellipsis; white-space: nowrap; vertical-align: baseline; color: var(--quiet); background: var(--quiet-ground); }
.pill-good { color: var(--good); background: var(--good-ground); }
.pill-warn { color: var(--warn); background: var(--warn-ground); }
.pill-limit { color: var(--warn); background: none; box-shadow: inset 0 0 0 1px currentColor; }
.pill-bad { color: var(--bad); background: var(--bad-ground); }
.pill-info { color: var(--info); background: var(--info-ground); }
.live { display: inline-flex; align-items: center; gap: var(--space-2); font-size: var(--size-small); color: var(--text-2); }
.live:empty { display: none; }
.live::before { content: ""; flex: none; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--chart-5); }
.live:is([data-state="on"], [data-state="open"])::before { background: var(--chart-2); }
.live[data-state="lost"] { color: var(--bad); }
.live[data-state="lost"]::before { background: var(--chart-4); }
.counters { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: var(--space-2); margin: var(--space-3) 0; padding: 0; }
.counters > div { padding: var(--space-3) var(--space-4); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
.counters dt { font-size: var(--size-small); color: var(--text-2); }
.counters dd { margin: 0; font-size: var(--size-figure); line-height: 1.3; font-variant-numeric: tabular-nums; }

input:not([type="checkbox"]), select, textarea { min-width: 0; max-width: 100%; min-height: var(--control); padding: 0 var(--space-2); font: inherit; font-size: var(--size); color: var(--text);
  background: var(--surface); border: 1px solid var(--field); border-radius: var(--radius); }
::placeholder { color: var(--text-2); opacity: 1; }
input[type="checkbox"] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--accent); }
button, a.button { min-height: var(--control); padding: 0 var(--space-3); font: inherit; font-size: var(--size-small); font-weight: 550; white-space: nowrap; cursor: pointer;
  color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
a.button { display: inline-flex; align-items: center; text-decoration: none; }
:is(button, a.button):hover:not(:disabled) { border-color: var(--accent); }
button:disabled { cursor: default; opacity: 0.55; }
:is(button, a.button).primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
:is(button, a.button).primary:hover:not(:disabled) { filter: brightness(1.08); }
.filters { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-3); align-items: end; margin: var(--space-3) 0 var(--space-2); }
.filters label { display: grid; gap: var(--space-1); min-width: 0; font-size: var(--size-small); color: var(--text-2); }
summary { width: fit-content; cursor: pointer; color: var(--text-2); }
summary:hover { color: var(--text); }
progress { width: 9rem; height: 0.5rem; overflow: hidden; appearance: none; background: var(--surface-2); border: 0; border-radius: 0.25rem; }
progress::-webkit-progress-bar { background: var(--surface-2); }
progress::-webkit-progress-value { background: var(--chart-1); }
progress::-moz-progress-bar { background: var(--chart-1); }

.box { overflow-x: auto; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
table { width: 100%; border-collapse: collapse; font-size: var(--size-small); line-height: 1.4; }
caption { padding: var(--space-2) var(--space-3); text-align: left; color: var(--text-2); border-bottom: 1px solid var(--line); }
th, td { padding: 0.45rem var(--space-3); text-align: left; border-bottom: 1px solid var(--line); }
th { font-weight: 550; color: var(--text-2); background: var(--surface-2); white-space: nowrap; }
tbody tr:last-child > td { border-bottom: 0; }
tbody tr:hover { background: color-mix(in srgb, var(--surface-2) 55%, transparent); }
td.number, th.number { text-align: right; white-space: nowrap; }
td.time, td.word { white-space: nowrap; }
td small { color: var(--text-2); font-size: 0.92em; }
noscript { display: block; max-width: var(--page); margin: 0 auto; padding: var(--space-6) var(--space-4); }

@media (max-width: 48rem) {
  .ask-button::before { content: "Search"; }
  .ask-button > * { display: none; }
  .brand { flex: 1; }
  /* The main navigation is at the thumb, so that one bar of tabs is above the content. */
  .top nav { position: fixed; inset: auto 0 0; z-index: 3; background: var(--surface); border-top: 1px solid var(--line); }
  .top nav ul { justify-content: space-around; gap: 0; }
  .top nav a { padding: 0.8rem var(--space-1); font-size: var(--size-tiny); border: 0; border-top: 2px solid transparent; margin-top: -1px; }
  .sub { padding-top: 0; background: var(--surface); }
  .sub ul { gap: 0; margin: 0 calc(-1 * var(--space-4)); padding: 0 var(--space-2); }
  /* A page that is a search has its own field. */
  body:has(.search-form) .ask-button { display: none; }
  .sub a { padding: var(--space-2) 0.35rem; }
  button.theme { min-width: var(--control); }
  .theme-word { display: none; }
  main { padding-top: var(--space-4); padding-bottom: 5rem; }
  .counters { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .counters > div { padding: var(--space-2) var(--space-3); }
}
/* A low window or a large zoom leaves no space for a sticky bar. */
@media (max-height: 30rem) { .top, .top nav { position: static; } }
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important; } }
`
