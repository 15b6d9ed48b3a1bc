import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { HubCoverage, NoteEvent, NoteList } from '../api.ts'
import { Figures } from '../figures.tsx'
import { request, writeQuery } from '../request.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'

/** The host, and where its findings are shown. */
interface UnderstandingInput {
  readonly host: string
  /** `part` is for use inside another panel. */
  readonly variant: 'part' | 'panel'
  /** Missing hubs that a running crawl has reported; the stored count is updated when the crawl ends. */
  readonly reportedMissing?: number
}

/** The findings of all crawls of a host, for a host that has any: its hubs, the hubs that are missing, and its address patterns. */
export function SiteFindings({ host, variant, reportedMissing = 0 }: UnderstandingInput): JSX.Element | null {
  const coverage = useSignal<HubCoverage | null>(null)
  const milestones = useSignal<readonly NoteEvent[]>([])
  useLiveRefresh(async () => {
    const [found, reached] = await Promise.all([
      request<HubCoverage>(`/api/hubs/coverage${writeQuery({ host })}`),
      request<NoteList>(`/api/milestones${writeQuery({ scope: host, limit: 100 })}`),
    ])
    if ('value' in found) coverage.value = found.value
    if ('value' in reached) milestones.value = reached.value.items
  })
  const { value } = coverage
  if (value === null) return null
  // Patterns are stored at the end of a crawl; until then the milestones have them.
  const patterns = value.patterns.length > 0 ? value.patterns.length : countPatterns(milestones.value)
  const hasData = value.hubs + patterns + value.missingCount > 0
  if (!hasData) return null
  const counts = { hubs: value.hubs, missing: Math.max(value.missingCount, reportedMissing), patterns }
  return (
    <section class={`understanding ${variant === 'part' ? '' : 'panel'}`} aria-label={`Findings about ${host}`}>
      {variant === 'part' ? <h4>Findings about {host}</h4> : <h2>Findings about {host}</h2>}
      {/* Only news sites have hubs of countries: for other sites a share of all countries means nothing. */}
      {value.hubs > 0 ? <Countries coverage={value} /> : null}
      <HubFigures counts={counts} milestones={milestones.value} />
      <Links host={host} />
    </section>
  )
}

/** The countries that have a hub, as a share of all countries in the gazetteer. */
function Countries({ coverage: { countries, countriesCovered } }: { readonly coverage: HubCoverage }): JSX.Element {
  if (countries === 0) {
    return (
      <p class="quiet small">
        No countries are known yet: <code>pharos gazetteer import</code> imports them.
      </p>
    )
  }
  const percent = Math.floor((countriesCovered * 100) / countries)
  const words = `${writeNumber(countriesCovered)} of ${writeNumber(countries)} countries have a hub (${percent} %)`
  return (
    <div class="countries">
      <div class="coverage-line" role="img" aria-label={words}>
        <span class="seg seg-indexed" style={{ flexGrow: countriesCovered }} />
        <span class="rest" style={{ flexGrow: countries - countriesCovered }} />
      </div>
      <p class="small">{words}</p>
    </div>
  )
}

/** The numbers of hubs, missing hubs and patterns. */
interface FiguresInput {
  readonly counts: { readonly hubs: number; readonly missing: number; readonly patterns: number }
  /** Newest first. */
  readonly milestones: readonly NoteEvent[]
}

function HubFigures({ counts: { hubs, missing, patterns }, milestones }: FiguresInput): JSX.Element {
  const seeds = milestones.find(({ kind }) => kind === 'seeds-prepared' || kind === 'hubs-seeded')?.details?.['count']
  return (
    <Figures
      of={[
        ['hubs confirmed', writeNumber(hubs)],
        ['expected hubs missing', writeNumber(missing), missing > 0 ? 'bad' : ''],
        ['patterns learned', writeNumber(patterns)],
        ...(typeof seeds === 'number' ? [['guesses tried first', writeNumber(seeds)] as const] : []),
      ]}
    />
  )
}

/** How many patterns the last crawl reported in a milestone. */
function countPatterns(milestones: readonly NoteEvent[]): number {
  const reported = milestones.find(({ kind }) => kind === 'patterns-learned')?.details?.['patterns']
  return Array.isArray(reported) ? reported.length : 0
}

function Links({ host }: Pick<UnderstandingInput, 'host'>): JSX.Element {
  return (
    <p class="small understanding-links">
      <a href={`/hubs${writeQuery({ host })}`}>Hubs and patterns</a>
      <a href={`/problems/ssr${writeQuery({ kind: 'missing-hub', scope: host })}`}>Missing hubs</a>
      <a href={`/gazetteer${writeQuery({ host })}`}>Places on a map</a>
    </p>
  )
}
