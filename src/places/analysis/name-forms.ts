import type { PlaceKind } from '../../library/ports/findings.ts'
import { SCRIPT_UNSPACED, tokenize } from './match-tokens.ts'
import { type NameKind, normalizeName } from './place.ts'

/** A place with its names, as input of an index. */
export interface IndexedPlace {
  readonly id: number
  readonly kind: PlaceKind
  readonly name: string
  readonly countryCode: string | null
  readonly adm1Code: string | null
  readonly population: number | null
  /** Whether it is the capital of its country, which is meant more often than its population suggests. */
  readonly isCapital?: boolean
  readonly names: readonly {
    readonly name: string
    readonly lang: string | null
    readonly kind: NameKind
    readonly isPreferred: boolean
  }[]
}

/** The data of a name that an index needs. */
export interface NameForm {
  readonly normalized: string
  /** Its first word, as tokenized in texts. */
  readonly first: string
  /** Whether its script has no spaces. */
  readonly isUnspaced: boolean
  /** Number of its words in a text. */
  readonly wordCount: number
}

/** The form of a name in an index. */
export function parseName(name: string): NameForm {
  const normalized = normalizeName(name)
  // Half of all names are plain Latin words, which need no tokenizer.
  if (PLAIN_WORDS.test(name)) {
    const words = normalized.split(' ')
    return { normalized, first: words[0] ?? '', isUnspaced: false, wordCount: words.length }
  }
  const tokens = tokenize(name)
  const first = tokens[0]
  return {
    normalized,
    first: first?.word ?? '',
    isUnspaced: first?.script === SCRIPT_UNSPACED,
    wordCount: tokens.length,
  }
}

/** Plain Latin words. Their length limit is below that of the tokenizer, so that the tokenizer would give the same words. */
const PLAIN_WORDS = /^[A-Za-z0-9]{1,40}(?: [A-Za-z0-9]{1,40})*$/

/**
 * The alternate names of cities include airport codes and machine transliterations. Texts do not use them, and many are words of other
 * languages.
 */
export function isNoise(place: IndexedPlace, name: string, kind: NameKind, isPreferred: boolean): boolean {
  if (place.kind !== 'city' || isPreferred || kind !== 'alias') return false
  return /^[A-Z]{1,4}$/.test(name) || /^[a-z]/.test(name) || name.length < 2 || LANGUAGE_NAMES.has(name)
}

/** Names of languages in their own language, which the data wrongly lists as names of places. */
const LANGUAGE_NAMES = new Set(
  '日本語 中文 한국어 हिन्दी العربية עברית فارسی Русский Українська Български Српски Ελληνικά ไทย தமிழ் বাংলা ქართული Հայերեն Deutsch English Français Español Português Italiano Nederlands Polski Svenska Türkçe Čeština Magyar Suomi Dansk Norsk Română'.split(
    ' ',
  ),
)

const DIVISION_WORD =
  'oblast|krai|kray|republic|province|region|governorate|prefecture|state|district|voivodeship|county|department|canton|emirate|municipality|parish'
const DIVISION_AFTER = new RegExp(`^(.{3,}?) (?:${DIVISION_WORD})'?$`, 'iu')
const DIVISION_BEFORE = new RegExp(
  `^(?:${DIVISION_WORD}|free state|free and hanseatic city) of (?:the )?(.{3,})$`,
  'iu',
)

/**
 * Variants of a name: without its article, without an addition in brackets or after a comma, without the word for the kind of place, and
 * with `St` for `Saint`.
 */
export function derivedNames(kind: PlaceKind, name: string): readonly string[] {
  const derived: string[] = []
  const withoutArticle = /^the (.{4,})$/iu.exec(name)?.[1]
  if (withoutArticle !== undefined) derived.push(withoutArticle)
  const saint = /^(?:saint|st\.?)[ -](.+)$/iu.exec(name)?.[1]
  if (saint !== undefined) derived.push(`Saint ${saint}`, `St ${saint}`)
  // `Άγκυρα (Ankyra)`
  const withoutBrackets = /^(.{2,}?)(?<!\s)\s*\([^()]*\)$/u.exec(name)?.[1]
  if (withoutBrackets !== undefined) derived.push(withoutBrackets)
  // `Cocos (Keeling) Islands`
  else if (name.includes('(')) derived.push(name.replace(/[()]/g, ''))
  // `Washington, D.C.`
  const beforeComma = /^(.{3,}?), .+$/u.exec(name)?.[1]
  if (beforeComma !== undefined) derived.push(beforeComma)
  if (kind === 'region') {
    const bare = DIVISION_AFTER.exec(name)?.[1] ?? DIVISION_BEFORE.exec(name)?.[1]
    if (bare !== undefined) derived.push(bare)
  }
  return derived
}

/** Words that addresses may use for a country, likeliest first. */
export function slugsOf(place: IndexedPlace): readonly string[] {
  const slugs = new Set<string>()
  const addSlug = (name: string): void => {
    const slug = slugFormOf(name)
    if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) && slug.length > 1) slugs.add(slug)
  }
  const english = place.names.filter(({ lang }) => lang === null || lang === 'en' || lang.startsWith('en-'))
  addSlug(place.name)
  if (/^the /i.test(place.name)) addSlug(place.name.slice(4))
  for (const kind of ['common', 'alias', 'exonym', 'endonym', 'abbrev', 'official'] as const) {
    const names = english.filter((name) => name.kind === kind).map(({ name }) => name)
    if (kind === 'abbrev') {
      addSlug(place.countryCode ?? '')
      names.sort((a, b) => slugFormOf(a).length - slugFormOf(b).length)
    }
    for (const name of names) addSlug(name)
  }
  if (place.name.includes(' and ')) addSlug(place.name.replaceAll(' and ', ' '))
  for (const { name, kind } of place.names) if (kind === 'endonym') addSlug(name)
  return [...slugs]
}

function slugFormOf(name: string): string {
  return normalizeName(name).replace(/[()&]/g, ' ').trim().replace(/ +/g, '-')
}
