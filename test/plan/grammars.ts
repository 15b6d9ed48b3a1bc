import type { NewsGrammar, SiteCountry } from './news-site.ts'
import { slugify } from './news-site.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Countries that newspapers name differently from official lists. */
const NEWSPAPER_SLUGS: Readonly<Record<string, string>> = {
  US: 'usa',
  GB: 'uk',
  CZ: 'czech-republic',
  CD: 'democratic-republic-of-the-congo',
  MM: 'burma',
  SZ: 'swaziland',
  CI: 'cote-divoire',
  TL: 'east-timor',
  TR: 'turkey',
}

/** `/world/{country}` and `/politics/2026/nov/12/{slug}`: every path begins with a section. */
export const MERIDIAN: NewsGrammar = {
  title: 'The Meridian',
  language: 'en',
  sections: [
    ['world', 'World'],
    ['politics', 'Politics'],
    ['business', 'Business'],
    ['sport', 'Sport'],
    ['culture', 'Culture'],
    ['science', 'Science'],
    ['technology', 'Technology'],
    ['opinion', 'Opinion'],
  ].map(([slug = '', label = '']) => ({ slug, label })),
  tags: ['energy', 'elections', 'trade', 'floods', 'harvest', 'railways', 'schools', 'unions', 'wind', 'pensions'],
  section: (slug) => `/${slug}`,
  hub: (slug) => `/world/${slug}`,
  article: ({ section, date, slug }) =>
    `/${section}/${date.getUTCFullYear()}/${MONTHS[date.getUTCMonth()]}/${pad(date.getUTCDate())}/${slug}`,
  tag: (slug) => `/tag/${slug}`,
  index: '/world/countries',
  page: (path, n) => `${path}?page=${n}`,
  slugOf: (country) => NEWSPAPER_SLUGS[country.code] ?? slugify(country.name),
  hasSchema: true,
  hasNeighbours: false,
  words: {
    countries: 'All countries',
    next: 'Next',
    tags: 'Topic',
    mostRead: 'Most read',
  },
}

/** `/nations/{country}.html` and `/stories/20261112-{slug}.html`: every page is a file. */
export const CONTINENTAL: NewsGrammar = {
  ...MERIDIAN,
  title: 'Continental Post',
  sections: [
    ['international', 'International'],
    ['economy', 'Economy'],
    ['society', 'Society'],
    ['arts', 'Arts'],
    ['weather', 'Weather'],
  ].map(([slug = '', label = '']) => ({ slug, label })),
  tags: ['budget', 'coast', 'film', 'grain', 'labour', 'storms'],
  section: (slug) => `/section/${slug}/`,
  hub: (slug) => `/nations/${slug}.html`,
  article: ({ date, slug }) => `/stories/${date.toISOString().slice(0, 10).replaceAll('-', '')}-${slug}.html`,
  tag: (slug) => `/topics/${slug}.html`,
  index: '/nations/',
  page: (path, n) => `${path.replace(/\.html$/, '/')}page/${n}/`,
  slugOf: (country) => slugify(country.name),
  hasSchema: false,
  hasNeighbours: true,
}

const GERMAN_NAMES = new Intl.DisplayNames('de', { type: 'region' })

/** `/ausland/{land}/` in German, umlauts written out, and articles that carry a number instead of a date. */
export const TAGESBOTE: NewsGrammar = {
  ...MERIDIAN,
  title: 'Der Tagesbote',
  language: 'de',
  sections: [
    ['ausland', 'Ausland'],
    ['politik', 'Politik'],
    ['wirtschaft', 'Wirtschaft'],
    ['kultur', 'Kultur'],
  ].map(([slug = '', label = '']) => ({ slug, label })),
  tags: ['haushalt', 'ernte', 'bahn', 'rente'],
  section: (slug) => `/${slug}/`,
  hub: (slug) => `/ausland/${slug}/`,
  article: ({ section, slug, number }) => `/${section}/artikel/${slug}-a${number}.html`,
  tag: (slug) => `/thema/${slug}/`,
  index: '/laender/',
  page: (path, n) => `${path}seite/${n}/`,
  slugOf: (country) => slugify(expandUmlauts(GERMAN_NAMES.of(country.code) ?? country.name)),
  words: {
    countries: 'Alle Länder',
    next: 'Weiter',
    tags: 'Thema',
    mostRead: 'Meistgelesen',
  },
}

const SPANISH_NAMES = new Intl.DisplayNames('es', { type: 'region' })
const plainSlug = (country: SiteCountry) => slugify(country.name)

/** Other address grammars, by a special trait of their hub addresses. */
export const OTHER_GRAMMARS: Readonly<Record<string, NewsGrammar>> = {
  codes: {
    ...CONTINENTAL,
    hub: (slug) => `/c/${slug}/`,
    slugOf: ({ code }) => code.toLowerCase(),
    index: '/c/',
  },
  topics: { ...MERIDIAN, hub: (slug) => `/topics/${slug}-news`, slugOf: plainSlug, index: '/topics' },
  'a language first': {
    ...MERIDIAN,
    section: (slug) => `/en/${slug}/`,
    hub: (slug) => `/en/countries/${slug}/`,
    tag: (slug) => `/en/topics/${slug}/`,
    article: ({ section, number, slug }) => `/en/${section}/${number}/${slug}/`,
    slugOf: plainSlug,
    index: '/en/countries/',
  },
  'Spanish words': {
    ...MERIDIAN,
    section: (slug) => (slug === 'world' ? '/internacional/' : `/${slug}/`),
    hub: (slug) => `/internacional/${slug}/`,
    article: ({ section, number, slug }) => `/${section}/noticias/${slug}-${number}`,
    slugOf: ({ code, name }) => slugify(SPANISH_NAMES.of(code) ?? name),
    index: '/paises/',
  },
  'nothing before them': { ...MERIDIAN, hub: (slug) => `/${slug}`, slugOf: plainSlug, index: '/countries' },
  'capitals and underscores': {
    ...MERIDIAN,
    hub: (slug) => `/wiki/Portal_${slug}`,
    slugOf: ({ name }) =>
      name
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .replace(/[^A-Za-z]+/g, '_'),
    index: '/wiki/Portals',
  },
}

/** `Österreich` → `Oesterreich`, as in German addresses. */
function expandUmlauts(name: string): string {
  const letters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ß: 'ss' }
  return name.replace(/[äöüÄÖÜß]/g, (letter) => letters[letter] ?? letter)
}

/** A country with its German name. */
export function withGermanName(country: SiteCountry): SiteCountry {
  return { ...country, name: GERMAN_NAMES.of(country.code) ?? country.name }
}

function pad(n: number): string {
  return String(n).padStart(2, '0')
}
