import { InstallError } from '../../install/install-error.ts'
import { normalizeName, type PlaceName, type PlaceRecord } from '../analysis/place.ts'
import { COUNTRY_DEMONYMS, COUNTRY_NAMES, EU_MEMBERS } from './extra-names.ts'
import { createDisplayName, createName, UNKNOWN_FACTS } from './names.ts'
import { POPULATIONS } from './populations.ts'

/** A common and an official name. */
interface NameForms {
  readonly common: string
  readonly official: string
}

/** The fields of a world-countries entry that are used. */
interface CountryEntry {
  readonly name: NameForms & { readonly native: Readonly<Record<string, NameForms>> }
  readonly cca2: string
  readonly cca3: string
  readonly ccn3: string
  readonly cioc: string
  readonly independent: boolean | null
  readonly capital: readonly string[]
  readonly altSpellings: readonly string[]
  readonly region: string
  readonly subregion: string
  readonly languages: Readonly<Record<string, string>>
  readonly translations: Readonly<Record<string, NameForms>>
  readonly latlng: readonly number[]
  readonly tld: readonly string[]
  readonly demonyms?: Readonly<Record<string, { readonly f: string; readonly m: string }>>
}

/** Languages whose country names are read from the data of Node.js: those of many newspapers, in all large scripts. */
const LANGUAGES =
  'en de fr es pt it nl sv da nb fi is pl cs sk hu ro bg sr hr sl mk sq uk ru be el tr az kk uz ky mn ka hy he ar fa ur ps hi bn pa gu mr ta te kn ml si ne th lo km my ko ja zh-Hans zh-Hant vi id ms fil sw am af et lv lt ca eu gl ga cy'.split(
    ' ',
  )

/** Parts of the world by their names in world-countries, with the UN M.49 codes by which their names are looked up. */
const AREA_CODES: Readonly<Record<string, string>> = {
  Africa: '002',
  Americas: '019',
  Asia: '142',
  Europe: '150',
  Oceania: '009',
  'Northern Africa': '015',
  'Western Africa': '011',
  'Middle Africa': '017',
  'Eastern Africa': '014',
  'Southern Africa': '018',
  'North America': '021',
  'Central America': '013',
  Caribbean: '029',
  'South America': '005',
  'Central Asia': '143',
  'Eastern Asia': '030',
  'South-Eastern Asia': '035',
  'Southern Asia': '034',
  'Western Asia': '145',
  'Eastern Europe': '151',
  'Northern Europe': '154',
  'Southern Europe': '039',
  'Western Europe': '155',
  'Australia and New Zealand': '053',
  Melanesia: '054',
  Micronesia: '057',
  Polynesia: '061',
}

/** Spellings in the data that mean something else, or are not names of the country. */
const MISLEADING_SPELLINGS: ReadonlySet<string> = new Set(
  'Island|Mann|Mannin|Mexicanos|Portuguesa|Prathet|Thai|Togolese|Lao|Saudi|the Abode of Peace|Emirates|Pleasant Island|Guiana'.split(
    '|',
  ),
)

/** Reads the parts of the world and the European Union, then the countries in them. */
export function* readCountries(text: string): Generator<PlaceRecord> {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries) || !entries.every(isEntry))
    throw new InstallError('the countries file has an unexpected format')
  // Newspapers use the short forms: `США`, `UK`.
  const displays = LANGUAGES.flatMap((lang) =>
    (['long', 'short'] as const).map((style) => ({
      lang,
      names: new Intl.DisplayNames(lang, { type: 'region', style }),
    })),
  )
  const localizedNames = (code: string): PlaceName[] =>
    displays.flatMap(({ lang, names }) => {
      // `Myanmar (Burma)`: the part in brackets is another name, or a remark.
      const name = names.of(code)?.replace(/(?<!\s)\s*[(（][^(（)）]*[)）]/u, '')
      return name === undefined || name === '' || name === code ? [] : [createName(name, lang, 'common')]
    })
  const continents = new Set(entries.map(({ region }) => region))
  for (const area of continents) yield areaRecord(area, [], localizedNames)
  const subregions = new Map(entries.map(({ region, subregion }) => [subregion, region]))
  for (const [area, continent] of subregions) if (area !== '') yield areaRecord(area, [continent], localizedNames)
  yield {
    ...areaRecord('European Union', ['Europe'], () => localizedNames('EU')),
    ref: 'area:eu',
  }
  for (const entry of entries) yield toRecord(entry, localizedNames(entry.cca2))
}

function isEntry(value: unknown): value is CountryEntry {
  if (typeof value !== 'object' || value === null) return false
  return 'cca2' in value && 'name' in value && 'translations' in value && 'latlng' in value && 'region' in value
}

/** `area:western-africa` */
function areaRef(name: string): string {
  return `area:${normalizeName(name).replaceAll(' ', '-')}`
}

function areaRecord(
  area: string,
  parents: readonly string[],
  localizedNames: (code: string) => readonly PlaceName[],
): PlaceRecord {
  const code = AREA_CODES[area]
  const displayName = area === 'Antarctic' ? 'Antarctic region' : area
  const others = code === undefined && area !== 'European Union' ? [] : localizedNames(code ?? 'EU')
  return {
    ref: areaRef(area),
    kind: 'supranational',
    ...UNKNOWN_FACTS,
    names: distinct([
      createDisplayName(displayName, 'en'),
      ...others,
      ...(area === 'European Union' ? [createName('EU', 'en', 'abbrev'), createName('E.U.', 'en', 'abbrev')] : []),
    ]),
    parents: parents.map((parent) => ({ ref: areaRef(parent), relation: 'member_of' })),
    externalIds: code === undefined ? [] : [{ source: 'm49', id: code }],
  }
}

function toRecord(country: CountryEntry, localizedNames: readonly PlaceName[]): PlaceRecord {
  const { cca2, ccn3, cca3, capital, tld, languages, independent, region, subregion } = country
  const [lat = null, lng = null] = country.latlng
  const area = areaRef(subregion === '' ? region : subregion)
  return {
    ref: `iso:${cca2}`,
    kind: 'country',
    ...UNKNOWN_FACTS,
    countryCode: cca2,
    population: POPULATIONS.get(cca2) ?? null,
    lat,
    lng,
    extra: { capital, tld, languages: Object.keys(languages).map(languageTagOf), independent, population: 'rounded' },
    names: distinct(namesOf(country, localizedNames)),
    parents: [
      { ref: area, relation: 'member_of' },
      ...(EU_MEMBERS.has(cca2) ? [{ ref: 'area:eu', relation: 'member_of' } as const] : []),
    ],
    externalIds: [
      { source: 'iso3166-alpha3', id: cca3 },
      ...(ccn3 === '' ? [] : [{ source: 'iso3166-numeric', id: ccn3 }]),
    ],
  }
}

/** The names of a country, display name first. */
function namesOf(country: CountryEntry, localizedNames: readonly PlaceName[]): PlaceName[] {
  const { name, cca2, cca3, cioc, altSpellings, translations, demonyms = {} } = country
  const native = Object.entries(name.native)
  const translated = Object.entries(translations)
  const extraNames = COUNTRY_NAMES[cca2] ?? []
  return [
    createDisplayName(name.common, 'en'),
    createName(name.official, 'en', 'official'),
    ...extraNames.map((text) => createName(text, 'en', /^[A-Z.]+$/.test(text) ? 'abbrev' : 'alias')),
    ...[cca2, cca3, cioc].filter((code) => code !== '').map((code) => createName(code, null, 'abbrev')),
    ...native.map(([lang, { common }]) => createName(common, languageTagOf(lang), 'endonym')),
    ...native.map(([lang, { official }]) => createName(official, languageTagOf(lang), 'official')),
    ...translated.map(([lang, { common }]) => createName(common, languageTagOf(lang), 'exonym')),
    ...translated.map(([lang, { official }]) => createName(official, languageTagOf(lang), 'official')),
    ...localizedNames.map((name): PlaceName => ({ ...name, kind: name.lang === 'en' ? 'alias' : 'exonym' })),
    ...altSpellings
      // The data also lists phonetic spellings.
      .filter((text) => text !== cca2 && !MISLEADING_SPELLINGS.has(text) && !/[ʁɛɔɡ]/u.test(text))
      .map((text) => createName(text, null, /^[A-Z.]+$/.test(text) ? 'abbrev' : 'alias')),
    ...Object.entries(demonyms).flatMap(([lang, { f, m }]) =>
      [m, f].filter((text) => text !== '').map((text) => createName(text, languageTagOf(lang), 'demonym')),
    ),
    ...(COUNTRY_DEMONYMS[cca2] ?? []).map((text) => createName(text, 'en', 'demonym')),
  ]
}

/**
 * Keeps each spelling once per language, and only in English if it is the same there: `Angola` is the same in forty languages. Demonyms are
 * separate from names.
 */
function distinct(names: readonly PlaceName[]): PlaceName[] {
  const seen = new Set<string>()
  return names.filter(({ name, lang, kind }) => {
    const form = `${normalizeName(name)}\n${kind === 'demonym'}`
    const key = `${form}\n${lang}`
    if (name.trim() === '' || seen.has(`${form}\nen`) || seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** `deu` → `de` */
function languageTagOf(lang: string): string {
  return Intl.getCanonicalLocales(lang)[0] ?? lang
}
