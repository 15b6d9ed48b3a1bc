/** The style of rendered Markdown, in the reader and in the hits of a search. Its colors are tokens of the pages. */
export const RENDERED_STYLE = `.rendered { line-height: 1.6; overflow-wrap: break-word; }
.rendered > :first-child { margin-top: 0; }
.rendered > :last-child { margin-bottom: 0; }
.rendered :is(p, ul, ol, blockquote, pre, .table) { max-width: none; margin: 0 0 0.75em; }
.rendered :is(h2, h3, h4, h5, h6) { margin: 1.4em 0 0.5em; line-height: 1.3; font-size: 1em; font-weight: 650; color: var(--text); }
.rendered .h1 { font-size: 1.3em; }
.rendered .h2 { font-size: 1.2em; }
.rendered .h3 { font-size: 1.08em; }
.rendered :is(ul, ol) { padding-left: 1.5em; list-style: revert; }
.rendered li { margin: 0.2em 0; }
.rendered li > :is(p, ul, ol):last-child { margin-bottom: 0.2em; }
.rendered a { overflow-wrap: anywhere; }
.rendered blockquote { padding-left: 1em; border-left: 3px solid var(--line); color: var(--text-2); }
.rendered .note { display: block; color: var(--text); }
.rendered hr { height: 1px; margin: 1.5em 0; border: 0; background: var(--line); }
.rendered :is(code, pre) { font-family: var(--mono); font-size: 0.875em; }
.rendered :not(pre) > code { padding: 0.1em 0.3em; background: var(--surface-2); border-radius: 4px; overflow-wrap: anywhere; }
.rendered pre { padding: 0.75em 1em; overflow-x: auto; line-height: 1.5; tab-size: 4; background: var(--surface-2); border-radius: var(--radius); white-space: pre; overflow-wrap: normal; }
.rendered pre code { font-size: inherit; }
.rendered .table { overflow-x: auto; overflow-wrap: break-word; }
.rendered .table :is(a, code) { overflow-wrap: break-word; }
.rendered table { width: auto; border-collapse: collapse; font-size: 0.9375em; line-height: 1.45; }
.rendered .table :is(th, td) { max-width: 36rem; padding: 0.35em 0.75em; text-align: left; vertical-align: top; border: 1px solid var(--line); white-space: normal; }
.rendered .table th { font-weight: 600; color: var(--text); background: var(--surface-2); }
.rendered .table :is(th, td).center { text-align: center; }
.rendered .table :is(th, td).right { text-align: right; }
.rendered .image { padding: 0 0.4em; font-size: 0.875em; border: 1px solid var(--line); border-radius: 4px; }
.rendered .image::before { content: "\\25a3\\a0"; color: var(--text-2); }
.rendered .html { white-space: pre-line; }
.rendered .footnote { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: 0.75em; font-size: 0.9375em; color: var(--text-2); }
.rendered .footnote > :not(.note-mark) { grid-column: 2; }
.rendered .note-mark { font-size: 0.875em; }
.rendered .note-mark::after { content: "."; }
.code-comment { color: var(--text-2); font-style: italic; }
.code-string, .code-added { color: var(--good); }
.code-number { color: var(--warn); }
.code-keyword { color: var(--accent); font-weight: 550; }
.code-call { color: var(--info); }
.code-tag, .code-removed { color: var(--bad); }
`

/** The style of the reader. */
export const READER_STYLE: string = `${RENDERED_STYLE}
main .head h1 { overflow-wrap: anywhere; }
.origin { margin: 0 0 var(--space-3); max-width: none; }
.page-actions { display: flex; flex-wrap: wrap; gap: var(--space-2); margin: var(--space-3) 0; }
.page-actions .button { display: inline-flex; align-items: center; min-height: 2rem; padding: 0 var(--space-3); font-weight: 500; font-size: var(--size-small); text-decoration: none; color: var(--text); background: var(--surface); border-color: var(--line); }
.page-actions .button:hover { border-color: var(--accent); color: var(--accent); }
.switch { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2); margin: var(--space-2) 0; font-size: var(--size-small); }
.switch > span { min-width: 4.5rem; }
.switch ul { display: flex; flex-wrap: wrap; gap: var(--space-1); margin: 0; padding: 0; list-style: none; }
.chip { display: inline-flex; align-items: center; min-height: 1.75rem; padding: 0 var(--space-3); font-size: var(--size-small); text-decoration: none; color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 1rem; }
.chip:hover { border-color: var(--accent); }
.chip[aria-current] { color: var(--accent); background: var(--accent-ground); border-color: var(--accent); font-weight: 550; }
.facts-line { font-size: var(--size-small); }
.page-change { margin: var(--space-3) 0; font-size: var(--size-small); }
.page-change summary { cursor: pointer; }
.page-change ul { margin: var(--space-2) 0; padding-left: var(--space-4); }
.page-change pre { margin: var(--space-1) 0 var(--space-2); padding: var(--space-2) var(--space-3); font-family: var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; background: var(--surface-2); border-radius: var(--radius); }
.page-change :is(del, ins) { text-decoration: none; }
.page-change del { color: var(--bad); }
.page-change ins { color: var(--good); }
.reader { margin-top: var(--space-4); }
.page { min-width: 0; padding: var(--space-6) var(--space-8); background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
.page > .rendered { max-width: 80ch; }
.page:not(:has(pre.file)) { max-width: calc(80ch + 2 * var(--space-8)); }
.page > .rendered:has(> pre.file) { max-width: none; }
.page > .pager { margin: 0 0 var(--space-4); }
.page > .rendered + .pager { margin: var(--space-6) 0 0; }
.page-outline { font-size: var(--size-small); }
.page-outline h2 { margin: 0 0 var(--space-2); font-size: var(--size-small); color: var(--text-2); }
.page-outline ul { margin: 0; padding: 0; list-style: none; }
.page-outline a { display: block; padding: 0.2rem 0 0.2rem var(--space-3); color: var(--text-2); text-decoration: none; border-left: 2px solid var(--line); }
.page-outline a:hover { color: var(--text); border-color: var(--accent); }
.page-outline .depth-1 a { padding-left: var(--space-6); }
.page-outline .depth-2 a { padding-left: calc(var(--space-8) + var(--space-1)); }
.rendered .title { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.rendered :is(:target, [id]) { scroll-margin-top: var(--space-4); }
.rendered :is(p, h2, h3, h4, h5, h6) { position: relative; }
.rendered .line-link { position: absolute; right: calc(100% + 0.4rem); top: 0; padding: 0 0.2rem; font: var(--size-tiny)/1.9 var(--mono); color: var(--text-2); text-decoration: none; opacity: 0; }
.rendered .line-link::before { content: attr(data-line); }
.rendered :is(p, h2, h3, h4, h5, h6):hover > .line-link, .rendered .line-link:hover { opacity: 1; }
.rendered .in-passage { background: var(--accent-ground); }
.rendered :is(p, h2, h3, h4, h5, h6, li).in-passage { box-shadow: -0.5rem 0 0 var(--accent-ground), 0.5rem 0 0 var(--accent-ground), calc(-0.5rem - 3px) 0 0 var(--accent); }
.rendered { isolation: isolate; }
.rendered .in-passage + :is(p, h2, h3, h4, h5, h6, li).in-passage { position: relative; }
.rendered .in-passage + :is(p, h2, h3, h4, h5, h6, li).in-passage::before { content: ""; position: absolute; z-index: -1; right: -0.5rem; bottom: 100%; left: calc(-0.5rem - 3px); height: 1.5rem; background: var(--accent-ground); border-left: 3px solid var(--accent); }
.rendered li .in-passage { box-shadow: none; }
.rendered tr.in-passage td:first-child { box-shadow: inset 3px 0 0 var(--accent); }
.rendered p:target, .rendered :is(h2, h3, h4, h5, h6, li, tr):target { background: var(--accent-ground); }
.rendered .line { display: inline-block; min-width: 100%; }
.rendered .line:target { background: var(--accent-ground); box-shadow: -1em 0 0 var(--accent-ground); }
.rendered .line.in-passage { box-shadow: -1em 0 0 var(--accent-ground); }
.rendered pre.file { padding-left: 0; }
.rendered .line-number { display: inline-block; width: 4.5em; margin-right: 1em; padding-right: 0.75em; text-align: right; text-decoration: none; color: var(--text-2); user-select: none; border-right: 1px solid var(--line); }
.rendered .line-number::before { content: attr(data-line); }
.rendered .line-number:hover { color: var(--accent); }
@media (min-width: 64rem) {
  .with-outline { display: grid; grid-template-columns: minmax(0, 1fr) minmax(15rem, 20rem); gap: var(--space-6); align-items: start; }
  .with-outline .page-outline { order: 2; position: sticky; top: var(--space-4); max-height: calc(100vh - var(--space-8)); overflow-y: auto; }
}
@media (max-width: 63.99rem) {
  .page-outline { max-height: 11rem; margin-bottom: var(--space-4); padding: var(--space-3); overflow-y: auto; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
}
@media (max-width: 48rem) {
  .page { padding: var(--space-4); }
  .rendered .line-link { display: none; }
}
@media print { .page-outline, .page-actions, .switch { display: none; } .page { border: 0; box-shadow: none; } }
`
