import { z } from 'zod'
import { isoOf } from '../../core/text/iso-time.ts'
import type { HttpPorts } from '../../http/ports.ts'
import { PLACE_KINDS } from '../../library/ports/findings.ts'
import type { GazetteerSummary, PlaceArticle, PlaceMention } from '../ports/gazetteer.ts'
import { withAnalysisStores } from './place-stores.ts'

/** A place of the gazetteer. */
export const placeShape: z.ZodType = z.looseObject({
  id: z.int(),
  name: z.string(),
  kind: z.enum(PLACE_KINDS),
  countryCode: z.string().nullable(),
  adm1Code: z.string().nullable(),
  population: z.number().nullable(),
  lat: z.number().nullable(),
  lng: z.number().nullable(),
})

/** A page on which a place was found. */
export function articleRecord({ firstSeenAt, ...rest }: PlaceArticle): Record<string, unknown> {
  return { ...rest, firstSeenAt: isoOf(firstSeenAt) }
}

/** The summary of an empty gazetteer. */
const NO_SUMMARY: GazetteerSummary = {
  countries: 0,
  regions: 0,
  cities: 0,
  others: 0,
  names: 0,
  sources: [],
  revision: '',
}

/** How long the counts stay cached, in milliseconds. Counting a million names is slow. */
const SUMMARY_TTL_MS = 60_000

const summaries = new WeakMap<HttpPorts, { readonly at: number; readonly summary: GazetteerSummary }>()

/** The size of the gazetteer: counted at most once a minute, and again after an import. */
export function readSummary(ports: HttpPorts): Promise<GazetteerSummary> {
  return withAnalysisStores(
    ports,
    async ({ gazetteer }) => {
      const cached = summaries.get(ports)
      const revision = await gazetteer.revision()
      if (
        cached !== undefined &&
        performance.now() - cached.at < SUMMARY_TTL_MS &&
        cached.summary.revision === revision
      ) {
        return cached.summary
      }
      const summary = await gazetteer.summary()
      summaries.set(ports, { at: performance.now(), summary })
      return summary
    },
    () => NO_SUMMARY,
  )
}

/** How long a map stays cached, in milliseconds. Making a map aggregates all mentions of all pages. */
const MAP_TTL_MS = 10_000
const MAX_CACHED_MAPS = 50

interface CachedMap {
  readonly at: number
  /** The state of places and runs on which the map is based; a change invalidates the cache. */
  readonly stamp: string
  readonly mentions: readonly PlaceMention[]
}

const maps = new WeakMap<HttpPorts, Map<string, CachedMap>>()

/** The places that pages are about, most pages first. Cached for ten seconds, unless places or the latest run change earlier. */
export function readMentions(
  ports: HttpPorts,
  limit: number,
  host: string | undefined,
): Promise<readonly PlaceMention[]> {
  return withAnalysisStores<readonly PlaceMention[]>(
    ports,
    async ({ gazetteer, analyses }) => {
      const [run] = (await analyses.listRuns({ limit: 1, offset: 0 })).items
      const stamp = JSON.stringify([await gazetteer.revision(), run?.id, run?.status, run?.progress.pages])
      const cachedMaps = maps.get(ports) ?? new Map<string, CachedMap>()
      maps.set(ports, cachedMaps)
      const key = JSON.stringify([limit, host])
      const cached = cachedMaps.get(key)
      if (cached !== undefined && cached.stamp === stamp && performance.now() - cached.at < MAP_TTL_MS) {
        return cached.mentions
      }
      const mentions = await gazetteer.listMentions(limit, host)
      if (cachedMaps.size >= MAX_CACHED_MAPS) cachedMaps.clear()
      cachedMaps.set(key, { at: performance.now(), stamp, mentions })
      return mentions
    },
    () => [],
  )
}
