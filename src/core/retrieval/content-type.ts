import { FenceReader } from '../markdown/fences.ts'
import { type Chunk, KINDS, type Kind } from '../model.ts'
import { linkShareOf } from './link-share.ts'

/** Types of chunks, by the larger part of their text. */
export const CONTENT_TYPES = ['prose', 'code'] as const

/** One of {@link CONTENT_TYPES}. */
export type ContentType = (typeof CONTENT_TYPES)[number]

/** How many chunks are of each type. */
export type ContentTypeCounts = Readonly<Record<ContentType, number>>

const PROSE_KINDS: ReadonlySet<Kind> = new Set(['markdown', 'html', 'text', 'image', 'unknown'])

/** The type of a chunk: code if its file is source code or JSON, or if more than half of its text is in fences. */
export function contentTypeOf({ kind, content }: Pick<Chunk, 'kind' | 'content'>): ContentType {
  if (!PROSE_KINDS.has(kind)) return 'code'
  if (!content.includes('```') && !content.includes('~~~')) return 'prose'
  const fences = new FenceReader()
  // Characters, because a paragraph is one line, and fences are not part of the text.
  let balance = 0
  for (const line of content.split('\n')) {
    const part = fences.read(line)
    const { length } = line.trim()
    if (part === 'code') balance += length
    else if (part === undefined) balance -= length
  }
  return balance > 0 ? 'code' : 'prose'
}

/** Traits that an index keeps with a chunk, so that ranking and most filters need not read the chunk. */
export interface Traits {
  readonly kind: Kind
  readonly contentType: ContentType
  /** Whether the chunk defines a symbol. */
  readonly hasSymbols: boolean
  /** The share of link text, from 0 to 1. */
  readonly linkShare: number
}

/** Number of steps in which the share of links is stored. */
const SHARE_STEPS = 63

/** Writes the traits of a chunk as one small number. */
export function writeTraits(chunk: Pick<Chunk, 'kind' | 'content'>, hasSymbols: boolean): number {
  const { kind, content } = chunk
  const share = kind === 'markdown' || kind === 'html' ? Math.round(linkShareOf(content) * SHARE_STEPS) : 0
  const bits = (hasSymbols ? 2 : 0) + (contentTypeOf(chunk) === 'code' ? 1 : 0)
  return (KINDS.indexOf(kind) * (SHARE_STEPS + 1) + share) * 4 + bits
}

/** Parses the output of `writeTraits`. */
export function readTraits(traits: number): Traits {
  const kindAndShare = traits >> 2
  return {
    kind: KINDS[Math.floor(kindAndShare / (SHARE_STEPS + 1))] ?? 'unknown',
    contentType: (traits & 1) === 1 ? 'code' : 'prose',
    hasSymbols: (traits & 2) === 2,
    linkShare: (kindAndShare % (SHARE_STEPS + 1)) / SHARE_STEPS,
  }
}
