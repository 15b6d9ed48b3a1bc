import type { OfficeNotes } from './office-blocks.ts'
import { runsOf, writeRuns } from './pdf-line.ts'
import type { DocumentMetrics, RowFacts } from './pdf-metrics.ts'

/** The footnotes of one page, and their references in its text. */
export class PageNotes {
  readonly #notes = new Map<string, string>()
  readonly #marks = new Map<string, string>()
  readonly #rows = new Set<RowFacts>()
  readonly #all: OfficeNotes
  readonly #anchor: string

  constructor(rows: readonly RowFacts[], survey: DocumentMetrics, all: OfficeNotes) {
    this.#all = all
    this.#anchor = `page=${rows[0]?.row.page ?? 1}`
    const labels = new Set(rows.filter(({ row }) => row.size > SMALL * survey.bodySize).flatMap(listLabels))
    let label: string | undefined
    for (const facts of labels.size === 0 ? [] : rows) {
      if (facts.row.size > SMALL * survey.bodySize) {
        label = undefined
        continue
      }
      const own = /^\d{1,3}/.exec(facts.text)?.[0]
      if (own !== undefined && labels.has(own) && !this.#notes.has(own)) label = own
      if (label === undefined) continue
      this.#rows.add(facts)
      this.#notes.set(label, joinNote(this.#notes.get(label) ?? '', writeNoteRow(facts, label === own ? own : '')))
    }
  }

  /** Whether a row is part of a note. */
  has(row: RowFacts): boolean {
    return this.#rows.has(row)
  }

  /** The reference for a superscript label; undefined when no note has it. */
  mark(label: string): string | undefined {
    const note = this.#notes.get(label)
    if (note === undefined) return undefined
    const mark = this.#marks.get(label) ?? this.#all.add(`<p>${note}</p>`, this.#anchor)
    this.#marks.set(label, mark)
    return mark
  }
}

/** Notes are smaller than the text by at least this factor. */
const SMALL = 0.93

function listLabels({ row }: RowFacts): string[] {
  return row.cells
    .flatMap((cell) => runsOf(cell, row.baseline, row.size))
    .filter(({ text, isRaised }) => isRaised && /^\s*\d{1,3}\s*$/.test(text))
    .map(({ text }) => text.trim())
}

function writeNoteRow({ row }: RowFacts, label: string): string {
  const html = row.cells
    .map((cell) => writeRuns(runsOf(cell, row.baseline, row.size).map((run) => ({ ...run, isRaised: false }))))
    .join(' ')
  return label === '' ? html : html.replace(label, '').trimStart()
}

function joinNote(before: string, next: string): string {
  if (before === '') return next
  return /\p{L}-$/u.test(before) && /^\p{Ll}/u.test(next) ? before.slice(0, -1) + next : `${before} ${next}`
}
