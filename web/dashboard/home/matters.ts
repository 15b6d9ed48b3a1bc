import { writeAgo, writeClockTime, writeMoment } from '../../shared/format.ts'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlItem, SourceItem } from '../api.ts'
import { describeSourceState, findRemedy, findResumption, type SourceAction } from '../sources/source-state.ts'

/** Something that a person should decide or know. */
export interface Matter {
  readonly key: string
  readonly item: SourceItem
  readonly word: string
  readonly tone: Tone
  readonly mark: string
  readonly text: string
  /** The exact time, for the title of the text. */
  readonly moment?: string
  readonly action: SourceAction | undefined
  /** Where the details are. */
  readonly link: { readonly href: string; readonly label: string } | undefined
}

/** The page of a source. */
export function hrefOf({ id }: Pick<SourceItem, 'id'>, query = ''): string {
  return `#/sources/${encodeURIComponent(id)}${query}`
}

/** Lists what is wrong with a source; nothing while it is crawled, because that may fix it. */
export function listMatters(item: SourceItem, jobs: readonly CrawlItem[], at: number): readonly Matter[] {
  const state = describeSourceState(item, jobs)
  const later = state.isBusy ? ' The crawl goes on by itself then.' : ''
  const { waiting, refresh, balance } = item
  const paused = waiting
    .filter(({ until }) => Date.parse(until) > at)
    .map(({ host, until }): Matter => {
      const untilMs = Date.parse(until)
      return {
        key: `${item.id} ${host}`,
        item,
        ...{ word: 'paused', tone: 'warn', mark: '⏸' },
        text: `${host} is paused until ${writeClockTime(untilMs)}, because it failed or asked to slow down.${later}`,
        moment: writeMoment(untilMs),
        action: findResumption(item, state.isBusy),
        link: { href: `/domains?host=${encodeURIComponent(host)}`, label: 'Show host' },
      }
    })
  if (state.isBusy) return paused
  const missing: Matter[] = state.needsAttention
    ? [
        {
          key: item.id,
          item,
          word: state.word,
          tone: state.tone,
          mark: state.mark,
          text: state.note ?? (state.word === 'failed' ? 'The last crawl failed.' : 'No page was read yet.'),
          action: findRemedy(item),
          link: balance.failed > 0 ? { href: hrefOf(item, '?state=failed'), label: 'Show addresses' } : undefined,
        },
      ]
    : []
  return [...missing, ...listDue(item, refresh, at), ...paused]
}

/** How long after its time a refresh may start without being late. */
const GRACE_MS = 2 * 60_000

/** A refresh that failed, or that is due and did not start. */
function listDue(item: SourceItem, refresh: SourceItem['refresh'], at: number): readonly Matter[] {
  if (refresh === null) return []
  const dueAt = Date.parse(refresh.nextAt)
  const isLate = dueAt + GRACE_MS < at
  if (!isLate && refresh.problem === null) return []
  const text =
    refresh.problem === null
      ? `should have been refreshed ${writeAgo(dueAt, at)}.`
      : `could not be refreshed: ${refresh.problem}.`
  const action = { verb: 'refresh', label: 'Refresh now', title: 'Request known pages again' } as const
  return [
    {
      key: `${item.id} due`,
      item,
      ...{ word: 'due', tone: 'warn', mark: '◷' },
      text,
      moment: writeMoment(dueAt),
      action,
      link: undefined,
    },
  ]
}
