import { type Chunk, KINDS, type Kind } from '../model.ts'

/** What the larger part of a chunk can be. */
export const CONTENT_TYPES = ['prose', 'code'] as const

/** One of {@link CONTENT_TYPES}. */
export type ContentType = (typeof CONTENT_TYPES)[number]

const PROSE_KINDS: ReadonlySet<Kind> = new Set(['markdown', 'html', 'text', 'image', 'unknown'])

const FENCE = /^ {0,8}(?:> ?)*(?:[-*+] {1,3})?(`{3,}|~{3,})/

/** Code is what a language of its own says, and prose of which more than half the lines are fenced. */
export function contentTypeOf({ kind, content }: Pick<Chunk, 'kind' | 'content'>): ContentType {
  if (!PROSE_KINDS.has(kind)) return 'code'
  if (!content.includes('```') && !content.includes('~~~')) return 'prose'
  let fence = ''
  let fenced = 0
  let lines = 0
  for (const line of content.split('\n')) {
    if (line.trim() === '') continue
    const [, marker] = FENCE.exec(line) ?? []
    const isEdge = marker !== undefined && (fence === '' || marker.startsWith(fence))
    if (isEdge) fence = fence === '' ? marker : ''
    lines++
    if (isEdge || fence !== '') fenced++
  }
  return fenced * 2 > lines ? 'code' : 'prose'
}

/** The kind and content type of a chunk as one small number, which an index keeps with it. */
export function traitsOf(chunk: Pick<Chunk, 'kind' | 'content'>): number {
  return KINDS.indexOf(chunk.kind) * 2 + (contentTypeOf(chunk) === 'code' ? 1 : 0)
}

/** What such a number says. */
export function readTraits(traits: number): { readonly kind: Kind; readonly contentType: ContentType } {
  return { kind: KINDS[traits >> 1] ?? 'unknown', contentType: traits % 2 === 1 ? 'code' : 'prose' }
}
