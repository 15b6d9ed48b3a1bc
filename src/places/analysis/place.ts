import type { PlaceKind } from '../../library/ports/findings.ts'

/** All kinds of place names. */
export const NAME_KINDS = ['endonym', 'exonym', 'alias', 'abbrev', 'official', 'common', 'demonym'] as const

/** One of {@link NAME_KINDS}. */
export type NameKind = (typeof NAME_KINDS)[number]

/** All relations between places. */
export const PLACE_RELATIONS = ['admin_parent', 'contains', 'member_of'] as const

/** One of {@link PLACE_RELATIONS}. */
export type PlaceRelation = (typeof PLACE_RELATIONS)[number]

/** Facts about a place besides its names. */
export interface PlaceFacts {
  readonly kind: PlaceKind
  /** ISO 3166-1 alpha-2, in capitals. */
  readonly countryCode: string | null
  /** GeoNames codes of the divisions it lies in. */
  readonly adm1Code: string | null
  readonly adm2Code: string | null
  readonly population: number | null
  /** IANA time zone name. */
  readonly timezone: string | null
  readonly lat: number | null
  readonly lng: number | null
  /** West, south, east, north. */
  readonly bbox: readonly [number, number, number, number] | null
  readonly status: 'current' | 'historical'
  /** ISO 8601, as precise as known. */
  readonly validFrom: string | null
  readonly validTo: string | null
  /** Further data of the source, as JSON. */
  readonly extra: Readonly<Record<string, unknown>> | null
}

/** A place as the gazetteer stores it. */
export interface Place extends PlaceFacts {
  readonly id: number
  /** The display name: the common one, in English if available. */
  readonly name: string
  /** Name of the source that first listed it. */
  readonly source: string
}

/** One name of a place. */
export interface PlaceName {
  readonly name: string
  /** BCP 47; null if the language is unknown or the name is the same in all languages. */
  readonly lang: string | null
  readonly kind: NameKind
  readonly isPreferred: boolean
  readonly isOfficial: boolean
}

/** A place in a data file, identified by its reference instead of a number. */
export interface PlaceRecord extends PlaceFacts {
  /** `geonames:2988507`, `iso:FR`, or any stable text: importing it again updates the same place. */
  readonly ref: string
  /** At least one; the first preferred one is the display name. */
  readonly names: readonly PlaceName[]
  /** Places it lies in, by reference; unknown references are ignored. */
  readonly parents: readonly { readonly ref: string; readonly relation: PlaceRelation }[]
  /** Identifiers in other systems. */
  readonly externalIds: readonly { readonly source: string; readonly id: string }[]
}

/**
 * Normalizes a name for comparison: compatibility forms unified, lower case, single spaces, no dots or apostrophes, and without marks that
 * are often omitted: accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic. Vowel signs of Indic scripts, Thai and others, and
 * voice marks of kana, stay, because they act as letters.
 */
export function normalizeName(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toLowerCase()
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b-\u200f\u2060\ufeff]+/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[ßæœøłđðþıςىةیکە]/g, (letter) => SAME_LETTER[letter] ?? letter)
    .replace(/[.'’‘ʼʻ`´′"·・]/gu, '')
    .replace(/[\s\p{Pd}_/,]+/gu, ' ')
    .trim()
}

/** The slug of a name: the words of its normal form, joined by hyphens. */
export function slugOf(name: string): string {
  return normalizeName(name).replaceAll(' ', '-')
}

/** Matches names that only need lower-casing, as most words do. */
const PLAIN_NAME = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/

/** Letters that writers and addresses treat as the same, although Unicode does not decompose them. */
const SAME_LETTER: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  ى: 'ي',
  ة: 'ه',
  ی: 'ي',
  ک: 'ك',
  ە: 'ه',
}
