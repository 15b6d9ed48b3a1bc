import type { KnownCountry } from '../analysis/matcher.ts'
import { slugOf } from '../analysis/place.ts'
import type { PlaceNames, PlannerGazetteer, Spelling } from './place-names.ts'

/** The countries of a gazetteer, found by the words that addresses use for them. */
export interface CountryNames extends PlaceNames {
  /** The country that a word means. Two-letter words are codes and belong to {@link byCode}. */
  bySlug(word: string): KnownCountry | undefined
  /** The country with this two-letter code, in any case. */
  byCode(code: string): KnownCountry | undefined
}

/** Languages whose country names are available on every platform. */
const LANGUAGES =
  'en de fr es it pt nl pl ru sv da nb fi cs hu ro tr el uk ar fa he hi id ja ko th vi zh ca hr sk sr bg'.split(' ')
/** Limit of gazetteer slugs that are tried per country. */
const MAX_COUNTRY_SLUGS = 4

/** Reads the countries of a gazetteer. */
export function createCountryNames(places: PlannerGazetteer): CountryNames {
  const all = places.countries().toSorted((a, b) => b.population - a.population)
  const codes = new Map<string, KnownCountry>()
  const bySlug = new Map<string, KnownCountry>()
  const add = (word: string, country: KnownCountry) => {
    // A word may name different countries in different languages; the first one keeps it. Two Latin letters are a code, but two characters
    // of another script may be a name.
    const isName = word.length > 2 || word.charCodeAt(0) > 0x7f
    if (isName && !bySlug.has(word)) bySlug.set(word, country)
  }
  for (const country of all) if (country.countryCode !== null) codes.set(country.countryCode.toLowerCase(), country)
  for (const country of all) add(toLookupKey(country.name), country)
  for (const country of all) for (const slug of country.slugs) add(toLookupKey(slug), country)
  const languages = all.length === 0 ? [] : LANGUAGES.map(spellingsOf)
  // Spellings with unfolded letters need no entries, because lookups fold them into the same keys.
  for (const { write } of languages.flatMap(({ folded }) => folded)) {
    for (const country of all) add(write(country)?.replaceAll('-', '') ?? '', country)
  }
  const unitedKingdom = codes.get('gb')
  return {
    all,
    bySlug: (word) => bySlug.get(toLookupKey(word)),
    byCode: (code) => codes.get(code.toLowerCase()) ?? (code.toLowerCase() === 'uk' ? unitedKingdom : undefined),
    spellings:
      all.length === 0 ? [] : [...gazetteerSpellings(), ...languages.flatMap(({ folded, asIs }) => [...folded, asIs])],
  }
}

/** Reduces a name to its letters and digits, so that lookups ignore the separators between words. */
function toLookupKey(name: string): string {
  if (LETTERS.test(name)) return name
  const slug = LETTERS_AND_HYPHENS.test(name) ? name : slugOf(name)
  return slug.replace(/[^\p{L}\p{N}]+/gu, '')
}

const LETTERS = /^[a-z]+$/
const LETTERS_AND_HYPHENS = /^[a-z_-]+$/

/** A name as written in addresses, without punctuation. */
export function writeSlug(name: string): string {
  return slugOf(name)
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

function gazetteerSpellings(): Spelling[] {
  const ranks = Array.from({ length: MAX_COUNTRY_SLUGS }, (_, rank) => rank)
  return [
    { name: 'name', write: ({ name }) => writeSlug(name) },
    ...ranks.map((rank) => ({ name: `slug ${rank}`, write: ({ slugs }: KnownCountry) => slugs[rank] })),
    { name: 'code', write: ({ countryCode }) => countryCode?.toLowerCase() },
  ]
}

/** How names of a language become slugs: most sites fold accents, German ones write ü as ue, others keep the letters. */
function spellingsOf(language: string): { readonly folded: readonly Spelling[]; readonly asIs: Spelling } {
  const spelling = (name: string, slugify: (text: string) => string): Spelling => ({
    name,
    write: ({ countryCode }) => (countryCode === null ? undefined : slugIn(language, countryCode, name, slugify)),
  })
  return {
    folded: [
      spelling(language, writeSlug),
      ...(language === 'de' ? [spelling('de ue', (text) => writeSlug(expandUmlauts(text)))] : []),
    ],
    asIs: spelling(`${language} as it is`, (text) => text.toLowerCase().replaceAll(/[\s/]+/g, '-')),
  }
}

/** Cache of slugs by spelling and country code, because computing thousands of names is slow and they are the same for all sites. */
const slugCache = new Map<string, Map<string, string | undefined>>()
const displayNameCache = new Map<string, Intl.DisplayNames>()

function slugIn(
  language: string,
  code: string,
  spelling: string,
  slugify: (text: string) => string,
): string | undefined {
  const known = slugCache.get(spelling) ?? new Map<string, string | undefined>()
  slugCache.set(spelling, known)
  if (!known.has(code)) {
    const name = nameIn(language, code)
    known.set(code, name === undefined ? undefined : slugify(name))
  }
  return known.get(code)
}

function nameIn(language: string, code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code)) return undefined
  const display =
    displayNameCache.get(language) ?? new Intl.DisplayNames([language], { type: 'region', fallback: 'none' })
  displayNameCache.set(language, display)
  const name = display.of(code)
  return name === undefined ? undefined : clean(name)
}

/** `Myanmar (Burma)` → `Myanmar`, `Antigua & Barbuda` → `Antigua and Barbuda` */
function clean(name: string): string {
  return name
    .replace(/(?<!\s)\s*\([^()]*\)/g, '')
    .replace(/(?<!\s)\s*&\s*/g, ' and ')
    .replace(/(?<!\s)\s+-\s+/g, '-')
    .replaceAll('’', '')
    .trim()
}

function expandUmlauts(text: string): string {
  return text.replace(/[äöüÄÖÜ]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue' })[letter.toLowerCase()] ?? letter)
}
