import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment, writeSpan } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlDetail, QueueItem, QueueList } from '../api.ts'
import { now } from '../clock.ts'
import { endedCount } from '../live.ts'
import { request } from '../request.ts'
import { sources } from '../sources/source-list.ts'
import { writeVersion } from '../sources/source-state.ts'
import { hrefOf } from './matters.ts'

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
      <div class="box dense">
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
              <EndedJob key={item.id} item={item} />
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

function EndedJob({ item }: { readonly item: QueueItem }): JSX.Element {
  const { id, url, status, unread, startedAt, endedAt } = item
  const detail = useSignal<CrawlDetail | null>(null)
  useEffect(() => {
    void request<CrawlDetail>(`/api/crawls/${encodeURIComponent(id)}`).then((answer) => {
      if ('value' in answer) detail.value = answer.value
    })
  }, [id])
  const { metrics, lastProgress, problem, sourceId } = detail.value ?? {}
  const source = sources.value?.find((candidate) => candidate.id === sourceId)
  const log = `/queues/${encodeURIComponent(id)}/ssr`
  const [from, to] = [startedAt, endedAt].map((text) => (text === null ? null : Date.parse(text)))
  const count = (value: number | undefined) => (value === undefined ? '' : writeNumber(value))
  return (
    <tr data-ended={id}>
      <td data-label="Result">
        {status === 'done' && unread > 0 ? (
          <Pill word="page limit" tone="limit" mark="◧" />
        ) : (
          <Pill word={status} tone={TONES[status]} mark={MARKS[status]} />
        )}
      </td>
      <td class="address">
        <a href={source === undefined ? log : hrefOf(source)}>
          {source === undefined ? url : `${source.name}${writeVersion(source)}`}
        </a>{' '}
        {source === undefined ? null : <small class="quiet">{url} </small>}
        <a class="quiet small" href={log}>
          log
        </a>
        {problem ? <small class="problem">{problem}</small> : null}
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
        {writeNumber(unread)}
      </td>
      <td data-label="Took">{from == null || to == null ? '' : writeSpan(to - from)}</td>
      <td class="time" data-label="When" title={to == null ? '' : writeMoment(to)}>
        {to == null ? '' : writeAgo(to, now.value)}
      </td>
    </tr>
  )
}
