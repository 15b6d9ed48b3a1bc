import { type Answer, openSite, page, type Site } from '../sites/site.ts'
import { CONTINENTAL, MERIDIAN, OTHER_GRAMMARS, TAGESBOTE, withGermanName } from './grammars.ts'
import { createNewsSite, type NewsInput, type NewsSite, type SiteCountry } from './news-site.ts'
import { createRandom, shuffle } from './news-text.ts'

/** The size of a site, and its differences from others of its kind. */
export type SiteSize = Partial<Pick<NewsInput, 'articlesPerHub' | 'articlesPerSection' | 'days' | 'seed' | 'today'>>

/** Countries that every newspaper links to from its front page. */
const LARGE_COUNTRIES = [
  'US',
  'GB',
  'FR',
  'DE',
  'CN',
  'IN',
  'RU',
  'JP',
  'BR',
  'UA',
  'IL',
  'TR',
  'ZA',
  'NG',
  'MX',
  'CA',
  'AU',
  'IT',
  'ES',
  'EG',
]

/** A site, and the hubs that it lacks. */
export interface MadeSite extends NewsSite {
  /** Paths of the hubs that should exist: those that its lists link to, and those that its pattern implies. */
  readonly missing: readonly string[]
}

/**
 * A newspaper with a hub for all countries except some, a few of which its own list still links to. Teams of the sport pages have addresses
 * with countries in them too, but there are only five.
 */
export function createMeridian(countries: readonly SiteCountry[], missingCount: number, size: SiteSize = {}): MadeSite {
  const { seed = 'meridian' } = size
  const random = createRandom(seed)
  // Countries whose names have only one spelling, so that the address of the hub is certain.
  const plain = countries.filter(
    ({ code, name }) => /^[A-Z][a-z]+$/.test(name) && !LARGE_COUNTRIES.includes(code) && !(code in { MM: 1, SZ: 1 }),
  )
  const withoutHub = shuffle(random, plain).slice(0, missingCount)
  const stillListed = withoutHub.slice(0, 3)
  const hubs = byImportance(
    random,
    countries.filter((country) => !withoutHub.includes(country)),
  )
  const teams = ['brazil', 'argentina', 'germany', 'france', 'spain'].map((slug) => `/sport/teams/${slug}`)
  const news = createNewsSite({
    grammar: MERIDIAN,
    countries: hubs,
    dead: stillListed,
    articlesPerHub: [1, 2],
    articlesPerSection: 14,
    today: startOfToday(),
    ...size,
    seed,
    more: Object.fromEntries(teams.map((path) => [path, (pages) => pages.links(`Team ${path}`, teams)])),
    moreLinks: { sport: teams },
    redirects: { '/world/united-states': '/world/usa', '/world/united-kingdom': '/world/uk' },
  })
  return { ...news, missing: withoutHub.map((country) => MERIDIAN.hub(MERIDIAN.slugOf(country))) }
}

/**
 * A newspaper with hubs for forty countries, whose lists link to five more. Eight of its hubs are in no list: only other hubs and articles
 * link to them.
 */
export function createContinental(countries: readonly SiteCountry[], size: SiteSize = {}): MadeSite {
  const { seed = 'continental' } = size
  const random = createRandom(seed)
  const others = shuffle(
    random,
    countries.filter(({ code }) => !LARGE_COUNTRIES.includes(code)),
  )
  const large = countries.filter(({ code }) => LARGE_COUNTRIES.includes(code))
  const dead = others.slice(0, 5)
  const hubs = byImportance(random, [...large, ...others.slice(5, 25)])
  const news = createNewsSite({
    grammar: CONTINENTAL,
    countries: hubs,
    dead,
    unlisted: hubs.slice(-8),
    articlesPerHub: [2, 4],
    articlesPerSection: 10,
    inNavigation: 12,
    today: startOfToday(),
    ...size,
    seed,
  })
  return { ...news, missing: [...news.truth.dead.values()] }
}

/** A newspaper in German with hubs for sixty countries, all of which it lists. */
export function createTagesbote(countries: readonly SiteCountry[], size: SiteSize = {}): MadeSite {
  const { seed = 'tagesbote' } = size
  const random = createRandom(seed)
  // Only countries with names of one word, because newspapers do not use longer official names.
  const known = countries.map(withGermanName).filter(({ name }) => /^[\p{L}-]+$/u.test(name))
  const hubs = byImportance(random, shuffle(random, known).slice(0, 60))
  const news = createNewsSite({
    grammar: TAGESBOTE,
    countries: hubs,
    articlesPerHub: [1, 1],
    articlesPerSection: 8,
    today: startOfToday(),
    ...size,
    seed,
  })
  return { ...news, missing: [] }
}

/** A small newspaper with another address grammar: 40 hubs, and three listed hubs that are missing. */
export function createOther(countries: readonly SiteCountry[], name: string): MadeSite {
  const random = createRandom(name)
  const grammar = OTHER_GRAMMARS[name]
  if (grammar === undefined) throw new Error(`there is no grammar named ${name}`)
  const others = shuffle(
    random,
    countries.filter(({ code }) => !LARGE_COUNTRIES.includes(code)),
  )
  const large = countries.filter(({ code }) => LARGE_COUNTRIES.includes(code))
  const news = createNewsSite({
    grammar,
    countries: byImportance(random, [...large, ...others.slice(3, 23)]),
    dead: others.slice(0, 3),
    articlesPerHub: [1, 1],
    articlesPerSection: 2,
    inNavigation: 12,
    today: startOfToday(),
    seed: name,
  })
  return { ...news, missing: [...news.truth.dead.values()] }
}

/** Serves documentation without places, although some of its words are also names of places. */
export function openManual(): Promise<Site> {
  const guides = ['install', 'java', 'jersey', 'configure', 'deploy', 'monitor', 'upgrade', 'troubleshoot']
  const classes = ['client', 'server', 'turkey', 'session', 'cache', 'queue', 'worker', 'timer']
  const paths = [...guides.map((name) => `/guide/${name}`), ...classes.map((name) => `/api/${name}`)]
  const answers: Record<string, Answer> = { '/': page('Manual', ['/guide', '/api', ...paths]) }
  answers['/guide'] = page('Guide', paths.slice(0, guides.length))
  answers['/api'] = page('Reference', paths.slice(guides.length))
  for (const path of paths) answers[path] = page(`About ${path}`, ['/', '/guide', '/api'])
  return openSite(answers)
}

/** Large countries first, the others in a fixed random order. */
function byImportance(random: () => number, countries: readonly SiteCountry[]): SiteCountry[] {
  const large = LARGE_COUNTRIES.flatMap((code) => countries.find((country) => country.code === code) ?? [])
  return [
    ...large,
    ...shuffle(
      random,
      countries.filter(({ code }) => !LARGE_COUNTRIES.includes(code)),
    ),
  ]
}

function startOfToday(): Date {
  return new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
}
