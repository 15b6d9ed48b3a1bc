import type { OfficeNotes } from '../office/office-blocks.ts'
import { runsOf, writeRuns } from './line.ts'
import type { DocumentMetrics, RowFacts } from './metrics.ts'

/** The footnotes of one page, and their references in its text. */
export class PageNotes {
  readonly #notes = new Map<string, string>()
  readonly #marks = new Map<string, string>()
  readonly #rows = new Set<RowFacts>()
  readonly #documentNotes: OfficeNotes
  readonly #anchor: string

  constructor(rows: readonly RowFacts[], metrics: DocumentMetrics, documentNotes: OfficeNotes) {
    this.#documentNotes = documentNotes
    this.#anchor = `page=${rows[0]?.row.page ?? 1}`
    const labels = new Set(rows.filter(({ row }) => row.size > MAX_NOTE_SIZE * metrics.bodySize).flatMap(listLabels))
    let label: string | undefined
    for (const facts of labels.size === 0 ? [] : rows) {
      if (facts.row.size > MAX_NOTE_SIZE * metrics.bodySize) {
        label = undefined
        continue
      }
      const rowLabel = /^\d{1,3}/.exec(facts.text)?.[0]
      if (rowLabel !== undefined && labels.has(rowLabel) && !this.#notes.has(rowLabel)) label = rowLabel
      if (label === undefined) continue
      this.#rows.add(facts)
      const noteRow = writeNoteRow(facts, label === rowLabel ? rowLabel : '')
      this.#notes.set(label, joinNote(this.#notes.get(label) ?? '', noteRow))
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
    const mark = this.#marks.get(label) ?? this.#documentNotes.add(`<p>${note}</p>`, this.#anchor)
    this.#marks.set(label, mark)
    return mark
  }
}

/** Maximum letter height of notes, relative to the body text. */
const MAX_NOTE_SIZE = 0.93

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
