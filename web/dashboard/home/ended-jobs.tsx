import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import { writeSpan } from '../../../src/core/text/duration.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { QueueItem, QueueList } from '../api.ts'
import { now } from '../clock.ts'
import { endedCount } from '../live.ts'
import { request } from '../request.ts'
import { sources } from '../sources/source-list.ts'
import { shortenProblem, writeVersion } from '../sources/source-state.ts'
import { TableHead } from '../table-head.tsx'
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

/** The columns of the table. */
const COLUMNS = [
  ['Result'],
  ['Crawl'],
  ['New or changed', 'number'],
  ['Unchanged', 'number'],
  ['Errors', 'number'],
  ['Not read', 'number'],
  ['Took'],
  ['When'],
  ['Details', 'unseen'],
] as const

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
          <TableHead columns={COLUMNS} />
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
  const { id, url, status, unread, startedAt, endedAt, saved, unchanged, errors, problem, sourceId } = item
  const source = sources.value?.find((candidate) => candidate.id === sourceId)
  const [from, to] = [startedAt, endedAt].map((text) => (text === null ? null : Date.parse(text)))
  const counts = { 'New or changed': saved, Unchanged: unchanged, Errors: errors, 'Not read': unread }
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
        {source === undefined ? (
          url
        ) : (
          <a href={hrefOf(source)} title={url}>
            {source.name}
            {writeVersion(source)}
          </a>
        )}
        {problem ? <small class="problem">{shortenProblem(problem)}</small> : null}
      </td>
      {Object.entries(counts).map(([label, count]) => (
        <td key={label} class={count === 0 ? 'number quiet' : 'number'} data-label={label}>
          {writeNumber(count)}
        </td>
      ))}
      <td data-label="Took">{from == null || to == null ? '' : writeSpan(to - from)}</td>
      <td class="time" data-label="When" title={to == null ? '' : writeMoment(to)}>
        {to == null ? '' : writeAgo(to, now.value)}
      </td>
      <td data-label="">
        <a href={`/queues/${encodeURIComponent(id)}/ssr`}>
          Details<span class="unseen"> of the crawl of {url}</span>
        </a>
      </td>
    </tr>
  )
}
