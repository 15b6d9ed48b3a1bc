import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { WorkerItem } from '../../../src/http/records/worker-records.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { WorkerList } from '../api.ts'
import { now } from '../clock.ts'
import { connection } from '../live.ts'
import { request } from '../request.ts'
import { TableHead } from '../table-head.tsx'

/** Poll interval for the list of workers. */
const POLL_INTERVAL_MS = 2000

const TONES: Readonly<Record<WorkerItem['state'], Tone>> = { working: 'good', draining: 'warn', lost: 'bad' }

/** The columns of the table. */
const COLUMNS = [
  ['State'],
  ['Worker'],
  ['Crawls'],
  ['Hosts held', 'number'],
  ['Visits/s', 'number'],
  ['Visits', 'number'],
  ['Data', 'number'],
] as const

/** The workers that take crawls from the queue of a library in PostgreSQL. */
export function WorkersPanel(): JSX.Element | null {
  const list = useSignal<WorkerList | null>(null)
  const pollTick = useComputed(() => Math.floor(now.value / POLL_INTERVAL_MS))
  const isLost = useComputed(() => connection.value === 'lost')
  useSignalEffect(() => {
    pollTick.value
    if (isLost.value) return
    void request<WorkerList>('/api/workers').then((answer) => {
      // While the library is unavailable, the last known list stays on screen.
      if ('value' in answer && answer.value.isShared) list.value = answer.value
    })
  })
  if (list.value === null) return null
  const { items, slots, leases } = list.value
  return (
    <section aria-label="Workers">
      <h2>Workers</h2>
      {items.length > 0 ? <WorkerTable items={items} /> : null}
      {slots === 0 ? (
        <div class="panel empty">
          <p>
            No worker takes crawls from the queue. Start one: <code>pharos worker</code>
          </p>
        </div>
      ) : (
        <p class="quiet small">
          The workers run up to {countOf(slots, 'crawl')} at once and now hold {countOf(leases, 'host')}.
        </p>
      )}
    </section>
  )
}

function WorkerTable({ items }: { readonly items: readonly WorkerItem[] }): JSX.Element {
  return (
    <div class="box">
      <table>
        <TableHead columns={COLUMNS} />
        <tbody>
          {items.map((item) => (
            <Worker key={item.id} item={item} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Worker({ item }: { readonly item: WorkerItem }): JSX.Element {
  const { id, name, isServer, state, jobs, helps, slots, leases, visits, visitsPerSec, bytes } = item
  return (
    <tr data-worker={id}>
      <td data-label="State">
        <Pill word={state} tone={TONES[state]} />
      </td>
      <td class="address">
        {name} {isServer ? <small class="quiet">server</small> : null}
      </td>
      <td class="wide" data-label="Crawls">
        {jobs.length} of {slots}
        {jobs.map((job) => (
          <Job key={job.id} job={job} />
        ))}
        {helps.map((job) => (
          <Job key={job.id} job={job} word="helps with " />
        ))}
      </td>
      <td class="number" data-label="Hosts held">
        {writeNumber(leases)}
      </td>
      <td class="number" data-label="Visits/s">
        {visitsPerSec.toFixed(1)}
      </td>
      <td class="number" data-label="Visits">
        {writeNumber(visits)}
      </td>
      <td class="number" data-label="Data">
        {writeBytes(bytes)}
      </td>
    </tr>
  )
}

function Job({ job, word = '' }: { readonly job: WorkerItem['jobs'][number]; readonly word?: string }): JSX.Element {
  const { id, url } = job
  return (
    <small class="worker-job">
      {word}
      <a href={`/queues/${encodeURIComponent(id)}/ssr`}>{url ?? id}</a>
    </small>
  )
}
