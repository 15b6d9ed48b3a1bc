import { distanceOf, type FingerprintBits } from './fingerprint.ts'

/** A page among others that it may be related to. */
export interface KinPage {
  /** Null for one without words. */
  readonly bits: FingerprintBits | null
  /** The short code of its language; null where it is not known. */
  readonly language: string | null
  /** The same for pages that name each other as translations. */
  readonly family: string | null
  readonly sourceId: string
  /** The name of its source: the same for all versions. */
  readonly name: string
  /** Where it stands in its source, whatever language it is in. */
  readonly place: string
}

/** Reasons to group pages. */
export interface Kinships {
  /** For saying nearly the same. */
  readonly byText: boolean
  /** For being translations of each other. */
  readonly byLanguage: boolean
}

/**
 * Pages that differ in so few of 64 bits say the same but for details, wherever they stand: of 853 such pairs among the pages of LLVM 15
 * all but one have nine of ten runs of words in common, and no two pages of Python 3.11 are nearer than 15.
 */
export const NEAR = 3

/**
 * The same place in another version of the same documentation may differ in more: with a fifth of its words replaced a page differs from
 * itself in more of them 1 to 3 times in 100 (8 with 25 words). Of the 331 pages that LLVM 14 and 15 have in common the 3 that do are
 * written anew; two pages that have nothing to do with each other differ in fewer 2 times in 1,000.
 */
export const NEAR_VERSIONS = 20

/** How two pages are related: as the same in another language, in another version, or in another place. */
export type Kinship = 'translation' | 'version' | 'copy'

/** How two pages are related; undefined where they are not, or are not put together for it. */
export function kinshipOf(a: KinPage, b: KinPage, { byText, byLanguage }: Kinships): Kinship | undefined {
  const isTranslated = a.language !== b.language && a.language !== null && b.language !== null
  if (isTranslated) return byLanguage && areTranslations(a, b) ? 'translation' : undefined
  return byText ? kinshipOfTexts(a, b) : undefined
}

function areTranslations(a: KinPage, b: KinPage): boolean {
  if (a.family !== null && a.family === b.family) return true
  return a.sourceId === b.sourceId && a.place === b.place
}

function kinshipOfTexts(a: KinPage, b: KinPage): Kinship | undefined {
  // The place comes last, because it has to be computed.
  const areVersions = a.sourceId !== b.sourceId && a.name === b.name && a.place === b.place
  if (a.bits === null || b.bits === null) return undefined
  const distance = distanceOf(a.bits, b.bits)
  // A few words are found in many places: they are the same where nothing differs and they stand in the same place.
  if (a.bits.isShort || b.bits.isShort) {
    return areVersions && a.bits.isShort === b.bits.isShort && distance === 0 ? 'version' : undefined
  }
  if (areVersions && distance <= NEAR_VERSIONS) return 'version'
  return distance <= NEAR ? 'copy' : undefined
}
