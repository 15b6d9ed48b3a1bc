import type { Chunk } from '../model.ts'

/** Where a definition states its signature. */
export interface Definition {
  /** Line of the file, from 1. */
  readonly line: number
  /** The beginning of that line. */
  readonly text: string
}

const MAX_CHARS = 400

/** Finds the first line that names the chunk's symbol; comments and decorators may precede it. */
export function findDefinition(chunk: Chunk): Definition | undefined {
  if (chunk.symbol === null || chunk.kind === 'json') return undefined
  const { content } = chunk
  const at = content.indexOf(chunk.symbol.slice(chunk.symbol.lastIndexOf('.') + 1))
  if (at < 0) return undefined
  const start = content.lastIndexOf('\n', at) + 1
  const end = content.indexOf('\n', at)
  return {
    line: chunk.startLine + content.slice(0, at).split(/\r\n?|\n/).length - 1,
    text: content.slice(start, end < 0 ? undefined : end).slice(0, MAX_CHARS),
  }
}
