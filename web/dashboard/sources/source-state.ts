import { labelOfCode } from '../../../src/core/address-labels.ts'
import { withoutCodes } from '../../../src/core/note-title.ts'
import { writeSentence } from '../../../src/core/text/capitalize.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlItem, SourceItem } from '../api.ts'

/** The state of a source, for display. */
export interface SourceState {
  readonly word: string
  readonly tone: Tone
  /** A character that tells states apart without their colours. */
  readonly mark: string
  /** Sentences with details; null if there are none. */
  readonly note: string | null
  /** Whether a crawl of the source runs or is queued; the server would reject a second one. */
  readonly isBusy: boolean
  /** Whether pages are missing that a button can fetch. */
  readonly needsAttention: boolean
}

/** A crawl that the user can start. */
export interface SourceAction {
  /** `resume` ends the pauses of hosts. */
  readonly verb: 'recrawl' | 'refresh' | 'retry' | 'resume'
  readonly label: string
  readonly title: string
  /** Whether to end the pauses of hosts before. @default false */
  readonly endsPauses?: boolean
  /** The body of the request. */
  readonly body?: Readonly<Record<string, unknown>>
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

const QUIET = { note: null, isBusy: true, needsAttention: false } as const

/** Describes the state of a source. A crawl that is queued or starting is not in the library yet, so the jobs are checked too. */
export function describeSourceState(item: SourceItem, jobs: readonly CrawlItem[]): SourceState {
  const { status, isRunning, isInterrupted, partial, widerScope, documentation, balance } = item
  if (isRunning) return { ...QUIET, word: status === 'UPDATING' ? 'updating' : 'crawling', tone: 'info', mark: '⟳' }
  const job = jobs.find((candidate) => isJobOf(candidate, item))
  if (job?.status === 'queued') return { ...QUIET, word: 'queued', tone: 'quiet', mark: '…' }
  if (job !== undefined) return { ...QUIET, word: 'starting', tone: 'info', mark: '⟳' }
  if (partial !== null && (isInterrupted || status === 'INDEXED')) return describePartial(item, partial)
  if (status === 'ERROR') {
    return { ...describeFailure(item), tone: 'bad', mark: '✕', isBusy: false, needsAttention: true }
  }
  const advice = widerScope?.advice ?? (documentation[0] && `add ${documentation[0]}`)
  const failed = balance.failed === 0 ? null : `${countOf(balance.failed, 'address')} could not be read.`
  const deep = describeDepthLimit(item)
  const first = advice === undefined ? (deep ?? failed) : writeSentence(advice)
  const note = [first, ...listFaults(item)].filter((sentence) => sentence !== null).join(' ') || null
  if (status === 'PENDING') {
    return { word: 'never crawled', tone: 'quiet', mark: '○', note, isBusy: false, needsAttention: true }
  }
  // Whoever set a depth limit knows it, so it needs no attention.
  if (deep !== null) return { ...QUIET, word: 'depth limit', tone: 'limit', mark: '◧', note, isBusy: false }
  const idle = { note, isBusy: false, needsAttention: advice !== undefined }
  if (widerScope !== null) return { ...idle, word: 'narrow scope', tone: 'warn', mark: '◧' }
  return { ...idle, word: 'complete', tone: advice === undefined ? 'good' : 'warn', mark: '✓' }
}

/** What a depth limit left out. */
function describeDepthLimit({ reasons }: SourceItem): string | null {
  const deep = reasons['skipped/max-depth'] ?? 0
  if (deep === 0) return null
  return `${countOf(deep, 'known address')} beyond the depth limit not read. A recrawl with a larger depth limit includes them.`
}

/** What was wrong with the lists of the site in the last crawl, as sentences. */
function listFaults({ crawl }: SourceItem): string[] {
  return (crawl?.summary?.listFaults ?? []).map((fault) => writeSentence(`list ${fault}`))
}

/** Whether a job crawls a source; two versions can have the same start address. */
function isJobOf(job: CrawlItem, { id, url }: SourceItem): boolean {
  return job.sourceId === null ? job.url === url : job.sourceId === id
}

/** Describes a source with missing pages: cut off by a page limit, interrupted, or with addresses that failed. */
function describePartial(item: SourceItem, partial: NonNullable<SourceItem['partial']>): SourceState {
  const { unread, pending, failed, cap } = partial
  const limit = cap === null ? 'A page limit' : `The page limit of ${writeNumber(cap)}`
  const deep = describeDepthLimit(item)
  const sentences = [
    ...(unread > 0 ? [`${limit} was reached: ${countOf(unread, 'known address')} not read.`] : []),
    ...(item.isInterrupted || pending > 0 ? [writeInterruption(item, pending)] : []),
    ...(failed > 0 ? [`${countOf(failed, 'address')} could not be read.`] : []),
    ...(deep === null ? [] : [deep]),
    ...listFaults(item),
  ]
  const isCapped = unread > 0
  const word = isCapped ? 'page limit' : 'partial'
  const note = sentences.join(' ')
  return {
    word,
    tone: isCapped ? 'limit' : 'warn',
    mark: isCapped ? '◧' : '◔',
    note,
    isBusy: false,
    needsAttention: true,
  }
}

function writeInterruption(item: SourceItem, pending: number): string {
  const what = isImported(item) ? 'The import stopped before its end' : 'The last crawl stopped before its end'
  const left = pending === 0 ? '' : `: ${countOf(pending, 'address')} left`
  return `${what}${left}.${isImported(item) ? ' Import it again.' : ''}`
}

function describeFailure({ crawl }: SourceItem): Pick<SourceState, 'word' | 'note'> {
  const problem = crawl?.summary?.problem ?? null
  if (crawl?.state !== 'gate') return { word: 'failed', note: problem === null ? null : shortenProblem(problem) }
  return { word: 'held back', note: problem === null ? null : `${writeSentence(problem)} Nothing was removed.` }
}

/** Shortens a failure message to its detail, because its row already shows the rest. */
export function shortenProblem(problem: string): string {
  const { code, detail } =
    /^(?:nothing could be indexed: )?\S+: (?:failed|skipped) \((?<code>[a-z-]+), (?:render \w+, )?(?<detail>.+)\)$/s.exec(
      problem,
    )?.groups ?? {}
  if (code === undefined) return writeSentence(withoutCodes(problem))
  return `Nothing was read: ${code.startsWith('robots-') ? `${labelOfCode(code)} says “${detail}”` : detail}.`
}

/** The action that completes a source; undefined if nothing is missing. */
export function findRemedy(item: SourceItem): SourceAction | undefined {
  if (isImported(item)) return undefined
  const { partial, status, reasons, settings, isInterrupted } = item
  if (partial !== null && partial.unread > 0) {
    return {
      verb: 'recrawl',
      label: 'Continue without limit',
      title: 'Read the known addresses that the page limit left out, and what they lead to',
      body: { scope: { maxPages: null } },
    }
  }
  if (partial !== null && (isInterrupted || partial.pending > 0)) {
    const verb = (['refresh', 'retry'] as const).find((name) => partial.complete[0]?.path.endsWith(`/${name}`))
    return { verb: verb ?? 'recrawl', label: 'Continue', title: 'Continue where the last crawl stopped' }
  }
  if ((reasons['failed/needs-rendering'] ?? 0) > 0 && settings.render === 'http') {
    const title = 'Run the scripts of pages that are empty without them'
    return { verb: 'recrawl', label: 'Recrawl with a browser', title, body: { render: 'auto' } }
  }
  if (partial !== null && partial.failed > 0) {
    return { verb: 'retry', label: 'Retry', title: `Retry the failed addresses (${partial.failed})` }
  }
  if (status === 'ERROR') return { verb: 'recrawl', label: 'Try again', title: 'Crawl it again' }
  return status === 'PENDING' ? { verb: 'recrawl', label: 'Crawl', title: 'Crawl it for the first time' } : undefined
}

/** The action that ends the pause of a host: its crawl goes on, or a new one requests what is left. */
export function findResumption(item: SourceItem, isBusy: boolean): SourceAction | undefined {
  if (isImported(item)) return undefined
  const title = 'End the pause, and request the host again now'
  if (isBusy) return { verb: 'resume', label: 'Continue now', title }
  const remedy = findRemedy(item)
  const verb = remedy === undefined || remedy.body !== undefined ? 'retry' : remedy.verb
  return { verb, label: 'Retry now', title, endsPauses: true }
}

/** Further actions that apply to a source. */
export function listActions(item: SourceItem): readonly SourceAction[] {
  if (isImported(item)) return []
  const { failed, indexed, unchanged } = item.balance
  const remedy = findRemedy(item)
  const all: readonly SourceAction[] = [
    { verb: 'recrawl', label: 'Recrawl', title: 'Follow all links again' },
    ...(indexed + unchanged > 0
      ? [{ verb: 'refresh', label: 'Refresh', title: 'Request known pages only' } as const]
      : []),
    ...(failed > 0
      ? [{ verb: 'retry', label: 'Retry', title: `Retry the failed addresses (${failed})` } as const]
      : []),
  ]
  return all.filter(({ verb }) => verb !== remedy?.verb || remedy.body !== undefined)
}
