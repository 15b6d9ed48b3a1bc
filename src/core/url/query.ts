import { decodePart } from './decode-part.ts'

/** Whether a query, as in `URL.search`, has a pair that only tracks a reader. */
export function hasSuperfluous(search: string): boolean {
  return splitQuery(search).some(isSuperfluous)
}

/** The query of an address, as in `URL.search`, without its superfluous and empty pairs; the others keep order and spelling. */
export function dropSuperfluous(search: string): string {
  const kept = splitQuery(search).filter((pair) => !isSuperfluous(pair))
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
const SUPERFLUOUS: ReadonlySet<string> = new Set(
  `gclid fbclid msclkid dclid gs_l spref ito guccounter filterkeyevents ocid oc
  gbraid wbraid yclid twclid ttclid igshid srsltid mkt_tok mc_cid mc_eid _ga _gl _hsenc _hsmi`.split(/\s+/),
)

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

function isSuperfluous(pair: string): boolean {
  const equals = pair.indexOf('=')
  const name = nameOf(pair)
  if (DECISIVE.has(name)) return false
  if (SUPERFLUOUS.has(name) || SUPERFLUOUS_FAMILY.test(name)) return true
  return equals >= 0 && SUPERFLUOUS_VALUE.test(decodePart(pair.slice(equals + 1)))
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
