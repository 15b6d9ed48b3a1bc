import type { Anchors } from '../markup.ts'
import type { PageWriter } from './page-writer.ts'
import type { RoffLine, RoffReader } from './roff.ts'
import { plainRuns, type Run, type TextReader, writeRuns } from './text.ts'

/** Metadata from the first macros of a page. */
export interface PageFacts {
  name: string
  section: string
  date: string
}

/** The parts that macros use to write a page. */
export interface MacroContext {
  readonly reader: RoffReader
  readonly text: TextReader
  readonly flow: PageWriter
  readonly anchors: Anchors
  readonly facts: PageFacts
}

/** Writes the lines of a page with one of the two macro sets. */
export interface MacroSet {
  readonly isKnown: (name: string) => boolean
  readonly write: (line: RoffLine) => void
}

/** Adds runs of text to a page. */
export function addRuns(flow: PageWriter, runs: readonly Run[], isJoined: boolean): void {
  flow.text(writeRuns(runs), plainRuns(runs), isJoined)
}

/** Writes a heading from the text of a macro. */
export function addHeading({ flow, text, anchors }: MacroContext, level: number, source: string): void {
  text.reset()
  const { runs } = text.read(source)
  text.reset()
  const title = plainRuns(runs).trim()
  // Headings need no bold text.
  const html = writeRuns(runs.map((run) => ({ ...run, font: 'R' }))).trim()
  if (title !== '') flow.heading(level, html, anchors.create(title))
}
