import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { HubCoverage, NoteEvent, NoteList, PatternItem } from '../api.ts'
import { now } from '../clock.ts'
import { ExternalLink } from '../external-link.tsx'
import { request, writeQuery } from '../request.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { PatternTable } from './pattern-table.tsx'

/** The host, and how much detail to show. */
interface UnderstandingInput {
  readonly host: string
  /** `part` and `short` leave out details, and show nothing for a host without data. `part` is for use inside another panel. */
  readonly variant: 'part' | 'short' | 'whole'
  /** Missing hubs that a running crawl has reported; the stored count is updated when the crawl ends. */
  readonly reportedMissing?: number
}

const MAX_SHOWN_MISSING = 12

/** The findings of all crawls of a host: its address patterns, its hubs, and the hubs that are missing. */
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
  const patterns = value.patterns.length > 0 ? value.patterns : readPatterns(milestones.value)
  const hasData = value.hubs + patterns.length + value.missing.length > 0
  if (!hasData && variant !== 'whole') return null
  const counts = { hubs: value.hubs, missing: Math.max(value.missingCount, reportedMissing), patterns: patterns.length }
  return (
    <section class={`understanding ${variant === 'part' ? '' : 'panel'}`} aria-label={`Findings about ${host}`}>
      <h4>Findings about {host}</h4>
      <Countries coverage={value} />
      <Figures counts={counts} milestones={milestones.value} />
      {variant === 'whole' && hasData ? (
        <>
          <ReachedMilestones milestones={milestones.value} />
          <Missing coverage={value} host={host} />
          <PatternTable patterns={patterns} />
        </>
      ) : null}
      <Links host={host} variant={variant} />
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

function Figures({ counts: { hubs, missing, patterns }, milestones }: FiguresInput): JSX.Element {
  const seeds = milestones.find(({ kind }) => kind === 'seeds-prepared' || kind === 'hubs-seeded')?.details?.['count']
  const figures: readonly (readonly [label: string, count: number, tone?: string])[] = [
    ['hubs confirmed', hubs],
    ['hubs missing', missing, missing > 0 ? 'bad' : ''],
    ['patterns learned', patterns],
    ...(typeof seeds === 'number' ? [['guesses tried first', seeds] as const] : []),
  ]
  return (
    <dl class="figures">
      {figures.map(([label, count, tone]) => (
        <div key={label} class={tone ?? ''}>
          <dt>{label}</dt>
          <dd>{writeNumber(count)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The patterns that the last crawl reported in a milestone. */
function readPatterns(milestones: readonly NoteEvent[]): readonly PatternItem[] {
  const reported = milestones.find(({ kind }) => kind === 'patterns-learned')?.details?.['patterns']
  if (!Array.isArray(reported)) return []
  // The milestone does not include the results of guessed addresses, so hits and misses start at 0.
  const items = reported as readonly Pick<PatternItem, 'pattern' | 'role' | 'seen' | 'confidence'>[]
  return items.map((item) => ({ hits: 0, misses: 0, examples: [], ...item }))
}

/** Each kind of milestone once, with its most recent occurrence. */
function ReachedMilestones({ milestones }: Pick<FiguresInput, 'milestones'>): JSX.Element | null {
  if (milestones.length === 0) return null
  const latest = milestones.filter(({ kind }, i) => milestones.findIndex((other) => other.kind === kind) === i)
  return (
    <div class="notes">
      <h4>Milestones</h4>
      <ul>
        {latest.map(({ kind, message, ts }) => (
          <li key={kind}>
            <Pill word={kind} tone="good" />
            <span class="note-text">{message}</span>
            {ts ? (
              <span class="quiet number" title={writeMoment(Date.parse(ts))}>
                {writeAgo(Date.parse(ts), now.value)}
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Missing({ coverage, host }: { readonly coverage: HubCoverage; readonly host: string }): JSX.Element | null {
  const { missing, missingCount } = coverage
  if (missing.length === 0) return null
  return (
    <div class="missing">
      <h4>Missing hubs</h4>
      <ul>
        {missing.slice(0, MAX_SHOWN_MISSING).map(({ url, placeSlug }) => (
          <li key={url}>
            <ExternalLink url={url} words={placeSlug ?? ''} />
          </li>
        ))}
        {missingCount > MAX_SHOWN_MISSING ? (
          <li>
            <a href={`/hubs${writeQuery({ host })}`}>and {countOf(missingCount - MAX_SHOWN_MISSING, 'other')}</a>
          </li>
        ) : null}
      </ul>
    </div>
  )
}

function Links({ host, variant }: Pick<UnderstandingInput, 'host' | 'variant'>): JSX.Element {
  return (
    <p class="small understanding-links">
      {variant !== 'whole' ? <a href={`#/places${writeQuery({ host })}`}>Patterns and map</a> : null}
      <a href={`/hubs${writeQuery({ host })}`}>Hubs</a>
      <a href={`/problems/ssr${writeQuery({ kind: 'missing-hub', scope: host })}`}>Missing hubs</a>
      <a href={`/gazetteer${writeQuery({ host })}`}>Gazetteer</a>
    </p>
  )
}
