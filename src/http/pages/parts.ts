import { html, raw } from 'hono/html'
import { labelOfCode } from '../../core/address-labels.ts'
import { MILESTONE_TITLES, PROBLEM_TITLES } from '../../core/note-title.ts'
import { writeNumber } from '../../core/text/count.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { isWebPageUrl } from '../../core/url/tree-url.ts'

/** Markup in which all foreign text is already escaped. */
export type Html = ReturnType<typeof html>

/** Anything that can be embedded in a page. */
export type Part = Html | string | number | null | readonly Part[]

/** Foreign text, escaped. Control and bidirectional characters are replaced, so that one address cannot look like another. */
export function writeText(text: string, field = ''): Html {
  return html`<span class="text" data-field="${field}">${clipShowable(text)}</span>`
}

/** The text that {@link writeText} shows, as a plain string for attributes. */
export function clipShowable(text: string): string {
  const clipped = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text
  return sanitizeText(clipped)
}

/** Maximum length of one text, so that no site can blow up a page. */
const MAX_TEXT_CHARS = 2000

/** An address that a browser can open as a link without referrer; anything else as text. */
export function writeOutsideLink(url: string): Html {
  if (!isWebPageUrl(url) || !URL.canParse(url)) return writeText(url)
  return html`<a class="text" href="${url}" rel="noopener noreferrer nofollow">${clipShowable(url)}</a>`
}

/** Whether a text is an http(s) URL. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

/** An address, linked to its details page. */
export function writeAddress(url: string): Html {
  return html`<a class="text" href="${addressHref(url)}" data-field="url">${clipShowable(url)}</a>`
}

/** The details page of an address. */
function addressHref(url: string): string {
  return `/url?url=${encodeURIComponent(url)}`
}

/** The page of a place. */
export function placeHref(id: number): string {
  return `/gazetteer/place/${id}`
}

/** A place, linked to its page. */
export function writePlaceLink({ id, name }: { readonly id: number; readonly name: string }): Html {
  return html`<a class="text" href="${placeHref(id)}">${clipShowable(name)}</a>`
}

/** A host, linked to its hubs. */
export function writeHostLink(host: string): Html {
  return html`<a class="text" href="${writeHref('/hubs', { host })}">${clipShowable(host)}</a>`
}

/** A share as a percentage: `87 %` */
export function writePercent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** A machine-readable timestamp; the script shows how long ago it was, or with `exact` the local date and time. */
export function writeMoment(at: number | null, field = 'at', look: 'ago' | 'exact' = 'ago'): Html {
  if (at === null) return html`<time data-field="${field}"></time>`
  const iso = new Date(at).toISOString()
  return html`<time data-field="${field}"${look === 'exact' ? raw(' data-exact') : ''} datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

/** Colors of status words; other words are gray. */
const TONES: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'info' | 'limit'>> = {
  running: 'info',
  done: 'good',
  'page limit': 'limit',
  failed: 'bad',
  stopped: 'warn',
  cancelled: 'warn',
  enqueued: 'info',
  retry: 'warn',
  drop: 'warn',
  warn: 'warn',
  info: 'info',
  indexed: 'good',
  unchanged: 'good',
  gone: 'warn',
  completed: 'good',
  confirmed: 'good',
  missing: 'warn',
  article: 'good',
  nav: 'info',
  positive: 'good',
  negative: 'warn',
}

/** A status word in its color. `field` names the event field that the script writes here. */
export function writePill(word: string, field = ''): Html {
  return html`<span class="${pillClass(word)}" data-field="${field}">${labelOfCode(word)}</span>`
}

/** Whether a detail says nothing but the status: `the server answered 503` */
export function repeatsStatus(detail: string, status: number | null): boolean {
  return status !== null && /^(?:the server )?answered \d+$/.test(detail) && detail.endsWith(` ${status}`)
}

function pillClass(word: string): string {
  const tone = TONES[word]
  return tone === undefined ? 'pill' : `pill pill-${tone}`
}

/** The CSS classes of status words, for the script: `{"done":"pill pill-good"}` */
export function writePillClasses(): string {
  return JSON.stringify(Object.fromEntries(Object.keys(TONES).map((word) => [word, pillClass(word)])))
}

/** The details of a message in words: `pages 12, articles 3`. Lists and nested details are left out. */
export function writeDetails(details: Readonly<Record<string, unknown>> | null): Html {
  const words = Object.entries(details ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [`${splitName(name)} ${typeof value === 'number' ? writeNumber(value) : value}`],
  )
  return html`<small data-field="details">${words.length === 0 ? '' : writeText(words.join(', '))}</small>`
}

/** `totalPages` → `total pages` */
export function splitName(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** The titles of kinds whose names say too little, for the script: `{"page-cap":"Page limit reached"}` */
export function writeTitles(): string {
  return JSON.stringify({ ...PROBLEM_TITLES, ...MILESTONE_TITLES })
}

/** A column of a table. */
export interface Column {
  readonly label: string
  /** The style of its cells: `number`, `time`, `word`, `address`, `wide`, and `minor` for what a phone does not show. */
  readonly look?: string
}

/** A table that becomes a list of cards on narrow screens. */
export interface TableInput {
  /** The caption, for screen readers. */
  readonly caption: Part
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** Shown when there are no rows. */
  readonly empty: Part
  /** The events that the script adds as rows on top, with the template of a row. */
  readonly live?: { readonly event: string; readonly blank: Row; readonly most: number }
}

/** A row of a table: its cells in the order of the columns. */
export interface Row {
  readonly cells: readonly Part[]
  /** The id by which the script finds the row. */
  readonly id?: string
}

/** Renders a table. Its ARIA roles are explicit, because browsers drop them when CSS lays out the cells as cards. */
export function writeTable({ caption, columns, rows, empty, live }: TableInput): Html {
  const body = rows.map((row) => writeRow(columns, row))
  const isBlank = rows.length === 0
  const table = html`<div class="box"${isBlank && live !== undefined ? html` hidden` : ''} data-box>
<table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col" class="${column.look ?? ''}">${column.label}</th>`)}</tr></thead>
<tbody role="rowgroup"${live === undefined ? '' : html` data-live="${live.event}" data-most="${live.most}"`}>${body}</tbody>
</table>
</div>`
  const emptyPanel = html`<div class="panel empty" data-empty>${empty}</div>`
  const template =
    live === undefined ? '' : html`<template data-row="${live.event}">${writeRow(columns, live.blank)}</template>`
  if (isBlank && live === undefined) return emptyPanel
  return html`${table}${isBlank ? emptyPanel : ''}${template}`
}

function writeRow(columns: readonly Column[], { cells, id }: Row): Html {
  const parts = columns.map(
    ({ label, look }, i) => html`<td role="cell" class="${look ?? ''}" data-label="${label}">${cells[i] ?? ''}</td>`,
  )
  return html`<tr role="row"${id === undefined ? '' : html` data-id="${id}"`}>${parts}</tr>`
}

/** A list of facts, without those that have no value. `pairs` places two facts side by side on wide screens. */
export function writeFacts(facts: readonly (readonly [string, Part])[], look: 'list' | 'pairs' = 'list'): Html {
  const shownFacts = facts.filter(([, value]) => value !== null && value !== '')
  return html`<dl class="facts ${look}">${shownFacts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

/** Counters that the script updates: label, event field and value. */
export function writeCounters(counters: readonly (readonly [label: string, name: string, value: number])[]): Html {
  return html`<dl class="counters">${counters.map(
    ([label, name, value]) => html`<div><dt>${label}</dt><dd data-counter="${name}">${writeNumber(value)}</dd></div>`,
  )}</dl>`
}

/** Links to the neighboring parts of a list; null at its ends. */
export interface PagerLinks {
  readonly latest: string
  readonly newer: string | null
  readonly older: string | null
}

/** The pager of a list, unless all of it is shown. A long list has a second one at its end. */
export function writePager({ latest, newer, older }: PagerLinks, place: 'top' | 'end' = 'end'): Html | '' {
  if (newer === null && older === null) return ''
  return html`<nav class="pager" aria-label="Pages of this list${place === 'top' ? '' : ', at its end'}"><a href="${latest}">Latest</a>${writeStep(newer, '← Newer', 'prev')}${writeStep(older, 'Older →', 'next')}</nav>`
}

/** A link to a neighboring part of a list; without an address only its label. */
function writeStep(href: string | null, label: string, rel: string): Html {
  return href === null ? html`<span class="off">${label}</span>` : html`<a href="${href}" rel="${rel}">${label}</a>`
}

/** The shown part of a list of known length. */
export interface PagesInput {
  readonly path: string
  readonly query: Readonly<Record<string, string | number | undefined>>
  readonly offset: number
  readonly limit: number
  readonly total: number
}

/** The pager of a list of known length; empty when the list fits on one page. */
export function writePages({ path, query, offset, limit, total }: PagesInput): Html | '' {
  if (offset === 0 && total <= limit) return ''
  const hrefOf = (at: number) => writeHref(path, { ...query, offset: at === 0 ? undefined : at })
  const before = offset === 0 ? null : hrefOf(Math.max(0, offset - limit))
  const after = offset + limit < total ? hrefOf(offset + limit) : null
  const first = Math.min(offset + 1, total)
  return html`<nav class="pager" aria-label="Pages of this list">${writeStep(before, '← Previous', 'prev')}${writeStep(after, 'Next →', 'next')}<span class="quiet">${writeNumber(first)}–${writeNumber(Math.min(offset + limit, total))} of ${writeNumber(total)}</span></nav>`
}

/** A path with its non-empty query parameters. */
export function writeHref(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`
}

/** Filters that are rarely needed, folded unless one of them is in use. */
export function writeMoreFilters(fields: readonly Part[], isOpen: boolean): Html {
  return html`<details class="more-filters"${isOpen ? html` open` : ''}><summary>More filters</summary><div>${fields}</div></details>`
}

/** The filters and the pager above a list. */
export function writeControls(filters: Html, links: PagerLinks): Html {
  return html`<div class="controls">${filters}${writePager(links, 'top')}</div>`
}

/** A form that filters a list. */
export function writeFilters(path: string, fields: readonly Part[], label = 'Filters'): Html {
  return html`<form class="filters" method="get" action="${path}" role="search" aria-label="${label}">${fields}<button type="submit">Show</button><a class="reset" href="${path}">Reset</a></form>`
}

/** A form that asks for an address. */
export function writeAddressForm(path: string, url: string): Html {
  const field = html`<label>Address<input type="text" name="url" value="${url}" required autocomplete="off"></label>`
  return writeFilters(path, [field])
}

/** A text field. */
export function writeField(
  label: string,
  name: string,
  value: string | number | undefined,
  type: 'text' | 'number' | 'date' = 'text',
): Html {
  return html`<label>${label}<input type="${type}" name="${name}" value="${value ?? ''}" autocomplete="off"></label>`
}

/** A select field whose first option means no filter. */
export function writeChoice(
  label: string,
  name: string,
  value: string | undefined,
  choices: readonly string[],
  none = 'any',
  labelOf: (choice: string) => string = labelOfCode,
): Html {
  const options = choices.map(
    (choice) => html`<option value="${choice}"${choice === value ? html` selected` : ''}>${labelOf(choice)}</option>`,
  )
  return html`<label>${label}<select name="${name}"><option value="">${none}</option>${options}</select></label>`
}
