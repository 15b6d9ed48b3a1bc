import { createChunkTests } from '../core/retrieval/chunk-filter.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { ChunkFilter, StoredChunk } from '../library/ports/store.ts'

/** A condition on the payload or the id of a point. */
export type QdrantCondition =
  | { readonly key: string; readonly match: { readonly value: string | number | boolean } }
  | { readonly key: string; readonly match: { readonly any: readonly string[] } }
  | { readonly has_id: readonly string[] }
  | { readonly is_empty: { readonly key: string } }

/** Selects points. */
export interface QdrantFilter {
  readonly must?: readonly QdrantCondition[]
  readonly must_not?: readonly QdrantCondition[]
}

/** A chunk filter in the form of Qdrant, and the conditions that Qdrant cannot check. */
export interface SplitFilter {
  readonly filter: QdrantFilter
  /** Conditions that are checked on the chunks Qdrant finds; undefined when there are none. */
  readonly postFilter: ((stored: StoredChunk) => boolean) | undefined
}

/** A condition that a payload field equals a value or contains it. */
export function matchValue(key: string, value: string | number | boolean): QdrantCondition {
  return { key, match: { value } }
}

/** Matches the points of a URL that belong to no library; a library manages its own points. */
export function matchUrl(url: string): QdrantCondition[] {
  return [matchValue('source_url', url), { is_empty: { key: 'library_id' } }]
}

/** Matches the points of a library. */
export function matchLibrary(library: string): QdrantFilter {
  return { must: [matchValue('library_id', library)] }
}

/** The points of a library to search. */
export interface SearchScope {
  readonly library: string
  /** Fingerprint of the vector space. */
  readonly fingerprint: string
  readonly sourceIds: readonly string[]
}

/**
 * Splits a filter. Qdrant checks sources, kind, content type, language and whether a chunk defines symbols. Paths, headings and symbol
 * prefixes cannot be compared as values, so the caller checks them.
 */
export function splitFilter({ library, fingerprint, sourceIds }: SearchScope, filter: ChunkFilter): SplitFilter {
  const { path, kind, heading, symbol, contentType, language } = filter
  const must = [
    matchValue('library_id', library),
    matchValue('vector_space', fingerprint),
    { key: 'source_id', match: { any: sourceIds } },
    ...(kind === undefined ? [] : [matchValue('kind', kind)]),
    ...(contentType === undefined ? [] : [matchValue('content_type', contentType)]),
    ...(language === undefined ? [] : [matchValue('languages', language.toLowerCase())]),
    ...(symbol === undefined ? [] : [matchValue('has_symbols', true)]),
  ]
  const { page: testPage, chunk: testChunk } = createChunkTests({
    ...withoutUndefined({ path, heading, symbol }),
  })
  if (testPage === undefined && testChunk === undefined) return { filter: { must }, postFilter: undefined }
  const check = ({ url, chunk }: StoredChunk): boolean =>
    (testPage?.({ url, key: chunk.path, language: null }) ?? true) && (testChunk?.(chunk) ?? true)
  return { filter: { must }, postFilter: check }
}

/** A language tag and all its parents, in lower case, so that `en` finds `en-GB`. */
export function languagesOf(language: string | null): string[] {
  if (language === null) return []
  const text = language.toLowerCase()
  const ends = [...text.matchAll(/-/g)].map(({ index }) => index)
  return [...ends, text.length].map((end) => text.slice(0, end))
}
