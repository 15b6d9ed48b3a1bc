import type { GazetteerSummary, PlaceArticle } from '../library/gazetteer.ts'
import type { KeptHub } from '../library/place-hubs.ts'
import type { HttpPorts } from './ports.ts'
import { withUnderstanding } from './store-access.ts'
import { isoOf } from './time.ts'

/** A page on which a place was found. */
export function articleRecord({ firstSeenAt, ...rest }: PlaceArticle): Record<string, unknown> {
  return { ...rest, firstSeenAt: isoOf(firstSeenAt) }
}

/** A page that leads to what is about a place. */
export function hubRecord({ firstSeenAt, lastSeenAt, ...rest }: KeptHub): Record<string, unknown> {
  return { ...rest, firstSeenAt: isoOf(firstSeenAt), lastSeenAt: isoOf(lastSeenAt) }
}

/** What a gazetteer without anything holds. */
const NO_SUMMARY: GazetteerSummary = {
  countries: 0,
  regions: 0,
  cities: 0,
  others: 0,
  names: 0,
  sources: [],
  revision: '',
}

/** How long figures are good, in milliseconds: counting a million names takes a while. */
const GOOD_MS = 60_000

const summaries = new WeakMap<HttpPorts, { readonly at: number; readonly summary: GazetteerSummary }>()

/** How much the gazetteer holds: counted once a minute at most, and again as soon as something was imported. */
export function readSummary(ports: HttpPorts): Promise<GazetteerSummary> {
  return withUnderstanding(
    ports,
    async ({ gazetteer }) => {
      const kept = summaries.get(ports)
      const revision = await gazetteer.revision()
      if (kept !== undefined && performance.now() - kept.at < GOOD_MS && kept.summary.revision === revision) {
        return kept.summary
      }
      const summary = await gazetteer.summary()
      summaries.set(ports, { at: performance.now(), summary })
      return summary
    },
    () => NO_SUMMARY,
  )
}
