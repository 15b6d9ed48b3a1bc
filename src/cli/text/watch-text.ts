import { basename, join } from 'node:path'
import { writeDuration } from '../../core/text/duration.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import type { FailureLine } from '../../ingest/failure-log.ts'
import type { WatchEvent } from '../../library/import/watch-tree.ts'
import { labelOf, type Source } from '../../library/source.ts'
import { REASON_WORDS, type Reason } from '../../library/sources/ledger-words.ts'
import { type Hint, printableLabel } from '../library.ts'
import { countOf, printableLine, writeNumber } from '../terminal.ts'

/** The events of a watch that are reported, all except progress. */
type ReportedEvent = Exclude<WatchEvent, { readonly type: 'progress' }>

/** A line, and whether it is printed with `--verbose` only. */
interface Line {
  readonly text: string
  readonly isDetail: boolean
}

/** Formats an event as text; undefined for `settled`, because the changes of its batch are reported one by one. */
export function writeWatchEvent(event: ReportedEvent, source: Source, hint: Hint): Line | undefined {
  const text = writeEvent(event, source, hint)
  // For a scan of the whole folder, only the totals and the failures are reported without `--verbose`.
  const isFromFullScan = 'cause' in event && (event.cause === 'startup' || event.cause === 'catch-up')
  const isDetail = event.type === 'unchanged' || (isFromFullScan && event.type !== 'failed')
  return text === undefined ? undefined : { text: printableLine(text), isDetail }
}

function writeEvent(event: ReportedEvent, source: Source, hint: Hint): string | undefined {
  switch (event.type) {
    case 'caught-up':
      return writeCaughtUp(event, source)
    case 'indexed':
      return `${event.cause === 'created' ? 'added' : 'updated'} ${event.path} (${countOf(event.chunks, 'chunk')})`
    case 'unchanged':
      return `unchanged ${event.path}`
    case 'skipped':
      return `left out ${event.path}: ${describe(event.reason, event.detail)}`
    case 'removed':
      return `removed ${event.path}`
    case 'failed': {
      const next = event.retryMs === null ? 'retry when it changes' : `retry in ${writeDuration(event.retryMs)}`
      return `failed ${event.path}: ${describe(event.reason, event.detail)}; ${next}`
    }
    case 'healed':
      return event.isGone
        ? `${event.path}, which failed before, is gone`
        : `${event.path}, which failed before, was read`
    case 'withheld': {
      const accept = hint('recrawl', labelOf(source), '--accept-loss')
      return `${event.problem ?? 'too many pages are gone'}; they are kept in the library. To remove them: ${accept}`
    }
    case 'vain':
      return `${event.problem ?? 'nothing was read'}; the pages in the library are kept`
    case 'settled':
      return undefined
    case 'away':
      return `${event.problem}: its pages in the library are kept; waiting for the folder`
    case 'back':
      return `the folder of ${printableLabel(source)} is available again`
    case 'waiting':
      return `${event.problem}: waiting`
  }
}

function writeCaughtUp(event: Extract<WatchEvent, { type: 'caught-up' }>, source: Source): string {
  const { summary, folders, polling, isFirst } = event
  const { indexed, unchanged, removed, failed } = summary
  const counts = [
    `${writeNumber(indexed)} read`,
    `${writeNumber(unchanged)} unchanged`,
    ...(removed === 0 ? [] : [`${writeNumber(removed)} removed`]),
    ...(failed === 0 ? [] : [`${writeNumber(failed)} failed`]),
  ].join(', ')
  const how =
    polling === null
      ? `watching ${countOf(folders, 'folder')}`
      : `polling it every ${writeDuration(polling.everyMs)}, because ${polling.problem}`
  if (isFirst) return `${printableLabel(source)}: ${counts}; ${how}`
  return `checked all files: ${counts}${polling === null ? '' : `; ${how}`}`
}

function describe(reason: Reason | null, detail: string | null): string {
  const words = reason === null ? [] : [REASON_WORDS[reason]]
  return [...words, ...(detail === null ? [] : [detail])].join(': ')
}

/** Formats an event as JSON. */
export function watchRecord(event: ReportedEvent, source: Source): Record<string, unknown> {
  const { type, ...facts } = event
  const commonFields = { event: type, source: labelOf(source) }
  switch (event.type) {
    case 'caught-up':
    case 'settled': {
      const { indexed, unchanged, skipped, failed, removed, withheld, elapsedMs } = event.summary
      const counts = { indexed, unchanged, skipped, failed, removed, withheld, elapsed_ms: elapsedMs }
      if (event.type === 'settled') return { ...commonFields, ...counts }
      const { folders, polling, isFirst } = event
      const poll = polling === null ? null : { every_ms: polling.everyMs, problem: polling.problem }
      return { ...commonFields, is_first: isFirst, ...counts, folders, polling: poll }
    }
    case 'failed': {
      const { path, reason, detail, cause, retries, retryMs } = event
      return { ...commonFields, path, reason, detail, cause, retries, retry_ms: retryMs }
    }
    case 'healed':
      return { ...commonFields, path: event.path, is_gone: event.isGone, retries: event.retries }
    default:
      return { ...commonFields, ...facts }
  }
}

/** The line of an event in the failure log; undefined for events that are not logged. */
export function failureLine(event: WatchEvent, folder: string, now: number): FailureLine | undefined {
  if (event.type !== 'failed' && event.type !== 'healed') return undefined
  const { path, retries } = event
  const fileFields = {
    file_path: join(folder, path),
    file_name: basename(path),
    timestamp: isoOrNull(now) ?? '',
  }
  if (event.type === 'healed') {
    const event_type = event.isGone ? 'deleted' : 'resolved'
    return { ...fileFields, event_type, error_type: null, error_message: null, retry_count: retries }
  }
  const { cause, reason, detail } = event
  const error_message = describe(reason, detail)
  return { ...fileFields, event_type: cause, error_type: reason, error_message, retry_count: retries }
}

/** Counts the results of a watch. */
export class WatchCounts {
  #read = 0
  #removed = 0
  readonly #failing = new Set<string>()

  add(event: WatchEvent): void {
    if (event.type === 'caught-up' || event.type === 'settled') {
      this.#read += event.summary.indexed
      this.#removed += event.summary.removed
    }
    if (event.type === 'failed') this.#failing.add(event.path)
    if (event.type === 'healed') this.#failing.delete(event.path)
  }

  write(label: string): string {
    const failing = this.#failing.size === 0 ? '' : `, ${countOf(this.#failing.size, 'file')} could not be read`
    return `${label}: stopped watching; ${countOf(this.#read, 'page')} read, ${writeNumber(this.#removed)} removed${failing}`
  }

  record(): Record<string, unknown> {
    return { read: this.#read, removed: this.#removed, failing: this.#failing.size }
  }
}
