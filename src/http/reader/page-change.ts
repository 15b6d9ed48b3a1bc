import { html } from 'hono/html'
import type { Change } from '../../core/changes/change.ts'
import { countOf } from '../../core/text/count.ts'
import type { PageChange } from '../../library/changes/compare-page.ts'
import { KIND_TITLES } from '../../library/changes/write-changes.ts'
import { clipShowable, type Html, type Part } from '../pages/parts.ts'

/** Changed sections that are shown; the page itself has the rest. */
const MAX_SECTIONS = 20

/** What the last crawl changed on a page, folded. `lineHref` gives the address of a line of the page. */
export function writePageChange(change: PageChange | null, lineHref: (line: number) => string): Part {
  if (change === null) return ''
  const { sections, lines } = change
  const what = sections.length === 0 ? '' : `: ${countOf(sections.length, 'section')}`
  const rest = sections.length - MAX_SECTIONS
  return html`<details class="page-change"><summary>Changed in the last crawl${what}</summary>${
    sections.length === 0
      ? writeDiff(lines)
      : html`<ul>${sections.slice(0, MAX_SECTIONS).map((section) => writeSection(section, lineHref))}</ul>`
  }${rest > 0 ? html`<p class="quiet">and ${countOf(rest, 'more section')}</p>` : ''}</details>`
}

function writeSection(section: Change, lineHref: (line: number) => string): Html {
  const { kind, name, newName, path, line, isOldPage, lines } = section
  const title = newName === null ? name : `${name} → ${newName}`
  const place =
    name === path
      ? ''
      : isOldPage
        ? html`: ${clipShowable(title)}`
        : html`: <a href="${lineHref(line)}">${clipShowable(title)}</a>`
  return html`<li>${KIND_TITLES[kind]}${place}${writeDiff(lines)}</li>`
}

function writeDiff(lines: readonly string[]): Part {
  if (lines.length === 0) return ''
  const rows = lines.map((line) =>
    line.startsWith('- ') ? html`<del>${clipShowable(line)}</del>\n` : html`<ins>${clipShowable(line)}</ins>\n`,
  )
  return html`<pre tabindex="0">${rows}</pre>`
}
