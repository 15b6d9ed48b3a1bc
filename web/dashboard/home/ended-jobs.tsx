import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment, writeSpan } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlDetail, CrawlItem, QueueItem, QueueList, SourceItem } from '../api.ts'
import { now } from '../clock.ts'
import { endedCount, liveJobs } from '../live.ts'
import { request } from '../request.ts'
import { ActionButton } from '../sources/action-button.tsx'
import { sources } from '../sources/source-list.ts'
import { describeSourceState, findRemedy } from '../sources/source-state.ts'

const TONES: Readonly<Record<QueueItem['status'], Tone>> = {
  queued: 'quiet',
  running: 'info',
  done: 'good',
  failed: 'bad',
  stopped: 'warn',
  cancelled: 'warn',
}

const MARKS: Readonly<Record<QueueItem['status'], string>> = {
  queued: '…',
  running: '⟳',
  done: '✓',
  failed: '✕',
  stopped: '■',
  cancelled: '■',
}

const MAX_SHOWN = 10

/** The jobs that ended last, with their results. */
export function EndedJobs(): JSX.Element | null {
  const items = useSignal<readonly QueueItem[]>([])
  const jobs = liveJobs.value.map((job) => job.item.value)
  useSignalEffect(() => {
    endedCount.value
    void request<QueueList>(`/api/queues?limit=${MAX_SHOWN * 2}`).then((answer) => {
      if ('value' in answer)
        items.value = answer.value.items.filter(({ endedAt }) => endedAt !== null).slice(0, MAX_SHOWN)
    })
  })
  if (items.value.length === 0) return null
  return (
    <section aria-label="Recent crawls">
      <h2>Recent crawls</h2>
      <div class="box">
        <table>
          <thead>
            <tr>
              <th scope="col">Result</th>
              <th scope="col">Crawl</th>
              <th scope="col" class="number">
                Saved
              </th>
              <th scope="col" class="number">
                Unchanged
              </th>
              <th scope="col" class="number">
                Errors
              </th>
              <th scope="col" class="number">
                Not read
              </th>
              <th scope="col">Took</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {items.value.map((item) => (
              <EndedJob key={item.id} item={item} source={findSource(item, items.value, jobs)} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="small">
        <a href="/queues/ssr">All crawls</a>
      </p>
    </section>
  )
}

/** The source that a crawl left incomplete; only for its last crawl, and while no other one runs. */
function findSource(
  { id, url }: QueueItem,
  items: readonly QueueItem[],
  jobs: readonly CrawlItem[],
): SourceItem | undefined {
  const isLast = items.find((item) => item.url === url)?.id === id
  const found = isLast ? sources.value?.find((source) => source.url === url) : undefined
  return found === undefined || describeSourceState(found, jobs).isBusy ? undefined : found
}

/** An ended job, with the source that it left incomplete. */
interface EndedJobInput {
  readonly item: QueueItem
  readonly source: SourceItem | undefined
}

function EndedJob({ item, source }: EndedJobInput): JSX.Element {
  const { id, url, status, startedAt, endedAt } = item
  const detail = useSignal<CrawlDetail | null>(null)
  useEffect(() => {
    void request<CrawlDetail>(`/api/crawls/${encodeURIComponent(id)}`).then((answer) => {
      if ('value' in answer) detail.value = answer.value
    })
  }, [id])
  const { metrics, lastProgress, problem, sourceId } = detail.value ?? {}
  const remedy = source === undefined ? undefined : findRemedy(source)
  const [from, to] = [startedAt, endedAt].map((text) => (text === null ? null : Date.parse(text)))
  const count = (value: number | undefined) => (value === undefined ? '' : writeNumber(value))
  return (
    <tr data-ended={id}>
      <td data-label="Result">
        {status === 'done' && (metrics?.unread ?? 0) > 0 ? (
          <Pill word="page limit" tone="limit" mark="◧" />
        ) : (
          <Pill word={status} tone={TONES[status]} mark={MARKS[status]} />
        )}
      </td>
      <td class="address">
        <a href={sourceId ? `#/sources/${encodeURIComponent(sourceId)}` : `/queues/${encodeURIComponent(id)}/ssr`}>
          {url}
        </a>{' '}
        <a class="quiet small" href={`/queues/${encodeURIComponent(id)}/ssr`}>
          queue
        </a>
        {problem ? <small class="problem">{problem}</small> : null}
        {remedy !== undefined && source !== undefined ? (
          <ActionButton id={source.id} action={remedy} class="compact" />
        ) : null}
      </td>
      <td class="number" data-label="Saved">
        {count(metrics?.saved)}
      </td>
      <td class="number" data-label="Unchanged">
        {count(lastProgress?.unchanged)}
      </td>
      <td class="number" data-label="Errors">
        {count(metrics?.errors)}
      </td>
      <td class="number" data-label="Not read">
        {count(metrics?.unread)}
      </td>
      <td data-label="Took">{from == null || to == null ? '' : writeSpan(to - from)}</td>
      <td class="time" data-label="When" title={to == null ? '' : writeMoment(to)}>
        {to == null ? '' : writeAgo(to, now.value)}
      </td>
    </tr>
  )
}
