import type { JSX } from 'preact'
import type { Chunk } from '../../../src/core/model.ts'
import { splitLines } from '../../../src/core/text/lines.ts'
import { MarkedText } from '../../shared/marked-text.tsx'

/** The fields of a chunk that are displayed. */
export type LinedChunk = Pick<Chunk, 'content' | 'kind' | 'startLine' | 'endLine'>

interface LinesInput {
  readonly chunk: LinedChunk
  readonly terms: readonly string[]
  readonly id?: string
}

/** Kinds whose chunks contain text derived from the lines of the file, not the lines themselves. */
const DERIVED_KINDS = new Set(['html', 'json', 'image'])

/** Maximum number of blank lines shown after a chunk. */
const MAX_BLANK_LINES = 50

/** The text of a chunk with line numbers. */
export function ChunkLines({ chunk, terms, id }: LinesInput): JSX.Element {
  const lines = linesOf(chunk)
  const start = isDerived(chunk) ? 1 : chunk.startLine
  const digits = String(start + lines.length).length
  return (
    <ol
      class="panel lines"
      id={id}
      start={start}
      style={{ paddingLeft: `${digits + 3}ch` }}
      aria-label={isDerived(chunk) ? 'Text' : 'Text, with the lines of the file'}
    >
      {lines.map((line, i) => (
        <li key={i}>
          <MarkedText text={line} terms={terms} />
        </li>
      ))}
    </ol>
  )
}

/** `line 3`, `lines 3–10` */
export function writeLines({ startLine, endLine }: Pick<Chunk, 'startLine' | 'endLine'>): string {
  return startLine === endLine ? `line ${startLine}` : `lines ${startLine}–${endLine}`
}

function isDerived({ kind }: LinedChunk): boolean {
  return DERIVED_KINDS.has(kind)
}

/** Adds the blank lines up to the next chunk. They belong to the line range of this chunk, but its text omits them. */
function linesOf(chunk: LinedChunk): string[] {
  const lines = splitLines(chunk.content)
  const missing = isDerived(chunk) ? 0 : chunk.endLine - chunk.startLine + 1 - lines.length
  return missing > 0 ? [...lines, ...Array<string>(Math.min(missing, MAX_BLANK_LINES)).fill('')] : lines
}
