import { decodePart } from './decode-part.ts'
/** The effect of a query on the content of an address. */
export type QueryClass = 'none' | 'essential' | 'uncertain' | 'superfluous'

/**
 * Classifies the query of an address: `essential` when a key selects content or the path is that of a search, `uncertain` when a key may
 * select content, `superfluous` when every key only tracks a reader.
 */
export function classifyQuery(url: URL): QueryClass {
  const classes = splitQuery(url.search).map(classifyPair)
  if (classes.length === 0) return 'none'
  if (classes.includes('essential') || SEARCH_PATH.test(url.pathname)) return 'essential'
  return classes.includes('uncertain') ? 'uncertain' : 'superfluous'
}

/** The query of an address, as in `URL.search`, without its superfluous and empty pairs; the others keep order and spelling. */
export function dropSuperfluous(search: string): string {
  const kept = splitQuery(search).filter((pair) => classifyPair(pair) !== 'superfluous')
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/**
 * Splits a query, as in `URL.search`, into `kept`, the query without display keys, and `displayPairs`, the pairs of each display
 * key, each preceded by `&`.
 */
export function splitDisplay(search: string): {
  readonly kept: string
  readonly displayPairs: ReadonlyMap<string, string>
} {
  const pairs = splitQuery(search)
  const displayPairs = new Map<string, string>()
  const kept = pairs.filter((pair) => {
    const name = nameOf(pair)
    if (!DISPLAY.has(name)) return true
    displayPairs.set(name, `${displayPairs.get(name) ?? ''}&${pair}`)
    return false
  })
  return { kept: kept.length === 0 ? '' : `?${kept.join('&')}`, displayPairs }
}

/** An address without the superfluous part of its query; a fragment stays. */
export function stripSuperfluousQuery(url: string): string {
  const [address = ''] = url.split('#', 1)
  const start = address.indexOf('?')
  if (start < 0) return url
  return address.slice(0, start) + dropSuperfluous(address.slice(start)) + url.slice(address.length)
}

/** Keys that only track a reader. Names are compared without regard to case. */
const SUPERFLUOUS: ReadonlySet<string> = new Set([
  'gclid',
  'fbclid',
  'msclkid',
  'dclid',
  'gs_l',
  'spref',
  'ito',
  'guccounter',
  'filterkeyevents',
  'ocid',
  'oc',
])

/** Display keys: most sites use them for tracking or layout, some to select content. Only the content of pages can decide. */
const DISPLAY: ReadonlySet<string> = new Set([
  'refresh',
  'ref',
  'referrer',
  'variant',
  'output',
  'sort',
  'from',
  'platform',
  'view',
])

/** Families of superfluous keys: `utm_source`, `CMP`, `cmpid`, `CMP_TU`, `gaa_at`, `WT.mc_id`. */
const SUPERFLUOUS_FAMILY = /^(?:utm_|cmp(?:id)?(?:$|[_-])|gaa_|wt\.)/

/** Values that are a campaign id or a position in a page. They make any key superfluous, except the keys in `DECISIVE`. */
const SUPERFLUOUS_VALUE = /^(?:with:block-|cmpid=)/i

/** Keys that select content, with any value. */
const DECISIVE: ReadonlySet<string> = new Set(['q', 'query', 'search', 'keyword', 'keywords', 'id'])

/** Keys that select content, unless their value is superfluous: `page=with:block-1` is a position in a page. */
const ESSENTIAL: ReadonlySet<string> = new Set(['page', 'offset', 'start', 'section', 'topic', 'category'])

/** A path with a word for searching: `/search`, `/site-search/`, `/find.php`, not `/research`. */
const SEARCH_PATH = /(?:^|[^a-z0-9])(?:search|find|lookup)(?![a-z0-9])/i

function classifyPair(pair: string): Exclude<QueryClass, 'none'> {
  const equals = pair.indexOf('=')
  const name = nameOf(pair)
  if (DECISIVE.has(name)) return 'essential'
  if (SUPERFLUOUS.has(name) || SUPERFLUOUS_FAMILY.test(name)) return 'superfluous'
  if (equals >= 0 && SUPERFLUOUS_VALUE.test(decodePart(pair.slice(equals + 1)))) return 'superfluous'
  return ESSENTIAL.has(name) ? 'essential' : 'uncertain'
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return decodePart(equals < 0 ? pair : pair.slice(0, equals)).toLowerCase()
}

/** The pairs of a query as in `URL.search`, without empty ones. */
export function splitQuery(search: string): string[] {
  if (search === '') return []
  return search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
}
