import { writeDuration } from '../../core/text/duration.ts'
import { urlKey } from '../../core/url/key.ts'
import type { CrawlEvent, PauseCause } from '../../crawl/events.ts'
import type { Clock } from '../../crawl/ports.ts'
import { describeTime } from '../../crawl/store-retry.ts'
import { isDocumentation, type Source } from '../../library/source.ts'
import { REASON_WORDS } from '../../library/sources/ledger-words.ts'
import { printableLabel } from '../library.ts'
import { countOf, printableLine, type Terminal } from '../terminal.ts'
import type { ProblemLines } from './problem-lines.ts'
import { type RateMeter, writeProgress, writeSettled } from './progress.ts'

/** The state needed to display the events of a crawl. */
export interface EventView {
  readonly source: Source
  /** The page limit; null for no limit. */
  readonly cap: number | null
  /** Whether this is the first crawl of the source. */
  readonly isFirst: boolean
  /** Whether the user asked for the messages of the plan. */
  readonly showsPlan: boolean
  readonly problems: ProblemLines
  /** The messages of the milestones shown so far. */
  readonly milestones: Set<string>
  readonly terminal: Terminal
  readonly rate: RateMeter
  readonly clock: Clock
  /** How long the crawl waits while the disk is full. */
  readonly fullMs: number
}

export function showEvent(event: CrawlEvent, view: EventView): void {
  const { source, cap, isFirst, terminal, rate } = view
  switch (event.type) {
    case 'started':
      if (event.isResumed) terminal.note(`resuming the interrupted crawl of ${printableLabel(source)}`)
      return
    case 'discovery':
      terminal.detail(
        printableLine(`${event.discovery} ${event.url}: ${event.detail}, ${countOf(event.found, 'address')} found`),
      )
      return
    case 'dropped': {
      // The user named this address with `--seed`, so a refusal must be reported.
      const isStripped = event.reason === 'query-skip' || event.reason === 'session-id'
      const isSeed = isFirst && !isStripped && isSeedOf(source, event.url)
      const note = `--seed ${event.url} will not be fetched: ${event.reason}, ${REASON_WORDS[event.reason]}`
      if (isSeed) terminal.note(printableLine(note))
      return
    }
    case 'settled':
      terminal.detail(writeSettled(event))
      return
    case 'paced':
      terminal.detail(
        printableLine(
          `${event.host} asks for ${event.askedMs / 1000} s between requests and gets ${event.intervalMs / 1000} s`,
        ),
      )
      return
    case 'held':
      showHold(event, view)
      return
    case 'parked':
      terminal.notice(printableLine(`${event.host} is skipped for the rest of this crawl: ${event.detail}`))
      return
    case 'paused':
      terminal.notice(
        printableLine(
          `paused: ${event.detail}; the crawl resumes ${RESUME_WORDS[event.cause]}${writeWaitLimit(event.cause, view)}`,
        ),
      )
      return
    case 'resumed':
      terminal.notice(`resumed after ${writeDuration(event.pausedMs)}`)
      return
    case 'milestone': {
      view.milestones.add(event.message)
      const line = printableLine(`milestone ${event.kind}: ${event.message}`)
      if (isDocumentation(source)) terminal.detail(line)
      else terminal.note(line)
      return
    }
    case 'problem':
      view.problems.print(event)
      return
    case 'plan': {
      // The plan repeats milestones in its own messages.
      if (view.milestones.has(event.message)) return
      const line = printableLine(`[plan] ${event.message}`)
      if (view.showsPlan) terminal.note(terminal.noteColors.dim(line))
      else terminal.detail(line)
      return
    }
    case 'progress': {
      const pagesPerSecond = rate.add(event.elapsedMs, event.indexed + event.unchanged)
      terminal.live(writeProgress(printableLabel(source), event, pagesPerSecond, cap))
    }
  }
}

/** Says when a wait for disk space ends in failure. */
function writeWaitLimit(cause: PauseCause, { fullMs }: EventView): string {
  return cause === 'disk-full' ? `, and stops after ${describeTime(fullMs)}` : ''
}

/** Minimum wait that is always printed as a line. Shorter waits are printed with `--verbose` only. */
const MIN_REPORTED_WAIT_MS = 10_000

function showHold(event: Extract<CrawlEvent, { type: 'held' }>, { terminal, clock }: EventView): void {
  const { host, untilMs, reason, strikes } = event
  const waitMs = untilMs - clock.now()
  const why = reason === null ? 'it is still paused since an earlier crawl' : REASON_WORDS[reason]
  const times = strikes > 1 ? `, ${strikes} times in a row` : ''
  const line = printableLine(
    `${host}: ${why}${times}; next request in ${writeDuration(Math.ceil(waitMs / 1000) * 1000)}`,
  )
  if (waitMs >= MIN_REPORTED_WAIT_MS) terminal.notice(line)
  else terminal.detail(line)
}

/** When a paused crawl resumes, by cause. */
const RESUME_WORDS: Readonly<Record<PauseCause, string>> = {
  'disk-full': 'when there is free disk space',
  locked: 'when the library is unlocked',
  unreachable: 'when the library answers again',
  'read-only': 'when the library is writable again',
  memory: 'when enough memory is free',
  requested: 'when it is told to resume',
}

function isSeedOf({ settings }: Source, url: string): boolean {
  return settings.seeds.length > 0 && settings.seeds.some((seed) => urlKey(seed) === urlKey(url))
}
