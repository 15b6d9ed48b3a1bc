import type { Chunk } from '../model.ts'
import type { Pack } from './pack.ts'

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

/** A definition in a pack. */
export interface PackDefinition {
  readonly name: string
  readonly line: number
  readonly path: string
  readonly ref: string
}

/** The definitions in a chunk: its symbol and the members inside it. Keys of JSON are none. */
function definitionsIn(chunk: Chunk): Pick<PackDefinition, 'name' | 'line'>[] {
  const { symbol, kind, members = [], startLine } = chunk
  if (symbol === null || kind === 'json') return []
  return [{ name: symbol, line: findDefinition(chunk)?.line ?? startLine }, ...members]
}

/**
 * The definitions of a file, or of all files; one that spans several chunks is listed at the first of them. With a prefix, only those whose
 * name, or its part after the last dot, begins with it.
 */
export function listDefinitions(pack: Pick<Pack, 'chunks' | 'refs'>, path?: string, prefix = ''): PackDefinition[] {
  const found = new Map<string, PackDefinition>()
  for (const [i, chunk] of pack.chunks.entries()) {
    if (path !== undefined && chunk.path !== path) continue
    for (const { name, line } of definitionsIn(chunk)) {
      const key = `${chunk.path}\n${name}`
      const isWanted = name.startsWith(prefix) || name.slice(name.lastIndexOf('.') + 1).startsWith(prefix)
      if (isWanted && !found.has(key)) found.set(key, { name, line, path: chunk.path, ref: pack.refs[i] ?? '' })
    }
  }
  return [...found.values()]
}

/** Words before the name of a definition that is not called. */
const TYPE_WORD =
  /\b(?:class|interface|type|enum|namespace|module|struct|union|trait|impl|mod|record|package|typedef)\b/
/** What follows the name of a function: parameters, or a function as its value. */
const PARAMETERS = /^\s*(?:<[^<>()]*>\s*)?(?:\(|:?=\s*(?:async\b|function\b|\(|<|[\w$]+\s*=>))/

/** Whether the definition in a chunk is a function or method, as far as its text shows. */
export function isCallable({ symbol, content, ...chunk }: Chunk): boolean {
  const name = symbol?.slice(symbol.lastIndexOf('.') + 1) ?? ''
  const [before = ''] = findDefinition({ symbol, content, ...chunk })?.text.split(name, 1) ?? []
  const isFunction =
    /\b(?:def|function)\b/.test(before) || PARAMETERS.test(content.slice(content.indexOf(name) + name.length))
  return isFunction && !TYPE_WORD.test(before)
}
