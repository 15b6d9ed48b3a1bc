import { distanceOf, type FingerprintBits } from './fingerprint.ts'

/** A page, with the facts that relate it to others. */
export interface ComparablePage {
  /** Null for a page without words. */
  readonly bits: FingerprintBits | null
  /** The short code of its language; null if unknown. */
  readonly language: string | null
  /** Equal for pages that name each other as translations. */
  readonly family: string | null
  readonly sourceId: string
  /** The name of its source, which is the same for all versions. */
  readonly name: string
  /** Its place in its source, independent of its language. */
  readonly place: string
}

/** Reasons to group pages. */
export interface RelationOptions {
  /** Whether pages with nearly the same text count. */
  readonly byText: boolean
  /** Whether translations count. */
  readonly byLanguage: boolean
}

/**
 * Pages that differ in at most this many of 64 bits are equal except for details, in any place: of 853 such pairs among the pages of LLVM
 * 15 all but one share nine of ten runs of words, and no two pages of Python 3.11 are nearer than 15.
 */
export const MAX_COPY_DISTANCE = 3

/**
 * The same place in another version of the same documentation may differ in more bits: with a fifth of its words replaced, a page exceeds
 * this limit 1 to 3 times in 100 (8 times if it has only 25 words). Of the 331 common pages of LLVM 14 and 15 the 3 that exceed it were
 * rewritten; two unrelated pages stay below it 2 times in 1,000.
 */
export const MAX_VERSION_DISTANCE = 20

/** How two pages are related: as the same page in another language, in another version, or in another place. */
export type PageRelation = 'translation' | 'version' | 'copy'

/** How two pages are related; undefined if they are not, or if that kind of relation is not requested. */
export function findRelation(
  a: ComparablePage,
  b: ComparablePage,
  { byText, byLanguage }: RelationOptions,
): PageRelation | undefined {
  const languagesDiffer = a.language !== b.language && a.language !== null && b.language !== null
  if (languagesDiffer) return byLanguage && areTranslations(a, b) ? 'translation' : undefined
  return byText ? findTextRelation(a, b) : undefined
}

function areTranslations(a: ComparablePage, b: ComparablePage): boolean {
  if (a.family !== null && a.family === b.family) return true
  return a.sourceId === b.sourceId && a.place === b.place
}

function findTextRelation(a: ComparablePage, b: ComparablePage): PageRelation | undefined {
  // The place comes last, because it has to be computed.
  const areVersions = a.sourceId !== b.sourceId && a.name === b.name && a.place === b.place
  if (a.bits === null || b.bits === null) return undefined
  const distance = distanceOf(a.bits, b.bits)
  // A few words occur in many places, so short pages are related only if they are equal and in the same place.
  if (a.bits.isShort || b.bits.isShort) {
    return areVersions && a.bits.isShort === b.bits.isShort && distance === 0 ? 'version' : undefined
  }
  if (areVersions && distance <= MAX_VERSION_DISTANCE) return 'version'
  return distance <= MAX_COPY_DISTANCE ? 'copy' : undefined
}
