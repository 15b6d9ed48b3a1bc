/** What a place can be. */
export const PLACE_KINDS = ['country', 'region', 'city', 'poi', 'supranational'] as const

/** One of {@link PLACE_KINDS}. */
export type PlaceKind = (typeof PLACE_KINDS)[number]

/** What a name of a place can be. */
export const NAME_KINDS = ['endonym', 'exonym', 'alias', 'abbrev', 'official', 'common', 'demonym'] as const

/** One of {@link NAME_KINDS}. */
export type NameKind = (typeof NAME_KINDS)[number]

/** How one place can lie in another. */
export const PLACE_RELATIONS = ['admin_parent', 'contains', 'member_of'] as const

/** One of {@link PLACE_RELATIONS}. */
export type PlaceRelation = (typeof PLACE_RELATIONS)[number]

/** What is known of a place besides its names. */
export interface PlaceFacts {
  readonly kind: PlaceKind
  /** ISO 3166-1 alpha-2, in capitals. */
  readonly countryCode: string | null
  /** Codes of the divisions it lies in, as GeoNames has them. */
  readonly adm1Code: string | null
  readonly adm2Code: string | null
  readonly population: number | null
  /** As the IANA names it. */
  readonly timezone: string | null
  readonly lat: number | null
  readonly lng: number | null
  /** West, south, east, north. */
  readonly bbox: readonly [number, number, number, number] | null
  readonly status: 'current' | 'historical'
  /** ISO 8601, as exactly as it is known. */
  readonly validFrom: string | null
  readonly validTo: string | null
  /** What a source tells besides, as JSON can hold it. */
  readonly extra: Readonly<Record<string, unknown>> | null
}

/** A place as the gazetteer keeps it. */
export interface Place extends PlaceFacts {
  readonly id: number
  /** The name it is shown by: the common one, in English where it has one. */
  readonly name: string
  /** Name of the source that told of it first. */
  readonly source: string
}

/** One name of a place. */
export interface PlaceName {
  readonly name: string
  /** BCP 47; null where it is not known, or any. */
  readonly lang: string | null
  readonly kind: NameKind
  readonly isPreferred: boolean
  readonly isOfficial: boolean
}

/** A place as a file of data has it, known by its reference instead of a number. */
export interface PlaceRecord extends PlaceFacts {
  /** `geonames:2988507`, `iso:FR`, or anything that stays the same: importing it again changes the same place. */
  readonly ref: string
  /** At least one; the first that is preferred is the one it is shown by. */
  readonly names: readonly PlaceName[]
  /** Places it lies in, by their references; those that are not there are left out. */
  readonly parents: readonly { readonly ref: string; readonly relation: PlaceRelation }[]
  /** What it is called elsewhere. */
  readonly externalIds: readonly { readonly source: string; readonly id: string }[]
}

/**
 * A name as it is compared: compatible forms made one, lower case, single spaces, no dots or apostrophes, and without
 * the marks that are often left out: accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic. Vowel signs of
 * Indic scripts, Thai and others and the voice marks of kana are letters in all but name, and stay.
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

/** A name as addresses have it: the words of its normal form, joined by hyphens. */
export function slugOf(name: string): string {
  return normalizeName(name).replaceAll(' ', '-')
}

/** Nothing to do but to lower it: most words of most texts. */
const PLAIN_NAME = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/

/** Letters that no decomposition makes one, though writers and addresses do. */
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
