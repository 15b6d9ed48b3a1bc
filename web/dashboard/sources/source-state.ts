import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlItem, SourceItem } from '../api.ts'

/** The state of a source, for display. */
export interface SourceState {
  readonly word: string
  readonly tone: Tone
  /** Further details; null if there are none. */
  readonly note: string | null
  /** Whether a crawl of the source runs or is queued; the server would reject a second one. */
  readonly isBusy: boolean
}

/** Whether a source was imported, which means that it cannot be crawled, only imported again. */
export function isImported({ url }: Pick<SourceItem, 'url'>): boolean {
  return url.startsWith('import+')
}

/** The version of a source, and the version that was read if it differs. */
export function writeVersion({ version, settings: { readVersion } }: SourceItem): string {
  const read = readVersion === undefined || readVersion === version ? '' : ` (${readVersion} read)`
  return `${version === null ? '' : ` ${version}`}${read}`
}

/** Describes the state of a source. A crawl that is queued or starting is not in the library yet, so the jobs are checked too. */
export function describeSourceState(item: SourceItem, jobs: readonly CrawlItem[]): SourceState {
  const { status, isRunning, isInterrupted, partial, widerScope, documentation, balance, url } = item
  if (isRunning) return { word: status.toLowerCase(), tone: 'info', note: null, isBusy: true }
  const job = jobs.find((candidate) => candidate.url === url)
  if (job?.status === 'queued') return { word: 'queued', tone: 'quiet', note: 'waiting in the queue', isBusy: true }
  if (job !== undefined) return { word: 'starting', tone: 'info', note: null, isBusy: true }
  if (partial !== null && (isInterrupted || status === 'INDEXED')) {
    return { word: 'PARTIAL', tone: 'warn', note: writePartial(item, partial), isBusy: false }
  }
  if (status === 'ERROR') return { ...describeFailure(item), tone: 'bad', isBusy: false }
  const advice = widerScope?.advice ?? (documentation[0] && `add ${documentation[0]}`)
  const note = advice ?? (balance.failed === 0 ? null : `${countOf(balance.failed, 'address')} failed`)
  if (status === 'PENDING') return { word: 'never crawled', tone: 'quiet', note, isBusy: false }
  return { word: 'indexed', tone: advice === undefined ? 'good' : 'warn', note, isBusy: false }
}

/** Describes the missing pages of a source, and names the button that completes it. */
function writePartial(item: SourceItem, { message, complete }: NonNullable<SourceItem['partial']>): string {
  const words = message.replace(/^PARTIAL: /, '')
  if (isImported(item)) return `${words} – import it again`
  const [first] = complete
  if (first?.body.scope !== undefined)
    return `${words} – “Read more” reads up to ${writeNumber(first.body.scope.maxPages)} pages`
  return `${words} – ${first?.path.endsWith('/retry') === true ? 'Retry requests them again' : 'press Recrawl to continue'}`
}

function describeFailure({ crawl }: SourceItem): Pick<SourceState, 'word' | 'note'> {
  const problem = crawl?.summary?.problem ?? null
  if (crawl?.state !== 'gate') return { word: 'failed', note: problem === null ? null : shorten(problem) }
  return { word: 'held back', note: problem === null ? null : `${problem}; nothing was removed` }
}

/** Shortens a failure message to its detail, because the row of the source already shows the rest. */
function shorten(problem: string): string {
  const { detail } = /^\S+: failed \([a-z-]+, (?:render \w+, )?(?<detail>.+)\)$/s.exec(problem)?.groups ?? {}
  return detail === undefined ? problem : `nothing was read: ${detail}`
}
