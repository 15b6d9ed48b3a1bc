import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { writeNumber } from '../../../src/core/text/count.ts'
import type { SystemHealth } from '../../../src/http/ports.ts'
import { libraryOutage } from '../library-outage.ts'
import { connection } from '../live.ts'
import { request } from '../request.ts'
import { sources } from '../sources/source-list.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'

/** Less free disk space than this may end a crawl. */
const LOW_DISK_BYTES = 2 * 1024 ** 3

/** The size of the library, and the health of the machine. */
export function Totals(): JSX.Element {
  const health = useSignal<SystemHealth | null>(null)
  useLiveRefresh(async () => {
    const answer = await request<SystemHealth>('/api/system-health')
    if ('value' in answer) health.value = answer.value
  })
  const items = sources.value
  const sum = (count: 'pages' | 'chunks') =>
    items === null ? '–' : writeNumber(items.reduce((total, item) => total + item[count], 0))
  const size = health.value?.dbSizeBytes ?? null
  const totals: readonly (readonly [label: string, value: string, href?: string])[] = [
    ['Sources', items === null ? '–' : writeNumber(items.length), '#/sources'],
    ['Pages', sum('pages'), '/urls?state=indexed'],
    ['Passages', sum('chunks'), '#/search'],
    ['Size', size === null ? '–' : writeBytes(size)],
  ]
  return (
    <>
      <dl class="counters totals">
        {totals.map(([label, value, href]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{href === undefined ? value : <a href={href}>{value}</a>}</dd>
          </div>
        ))}
      </dl>
      <Health health={health.value} />
    </>
  )
}

function Health({ health }: { readonly health: SystemHealth | null }): JSX.Element {
  const isLow = health !== null && health.freeDiskBytes !== null && health.freeDiskBytes < LOW_DISK_BYTES
  const isDown = connection.value === 'lost' || libraryOutage.value !== null
  const [tone, word] = isDown
    ? ['bad', connection.value === 'lost' ? 'Server offline' : 'Library unavailable']
    : isLow
      ? ['warn', 'Little disk space is left']
      : ['good', 'Healthy']
  const facts =
    health === null
      ? []
      : [
          `server CPU ${Math.round(health.cpu.percent)} %`,
          `memory ${writeBytes(health.memory.rss)}`,
          ...(health.freeDiskBytes === null ? [] : [`${writeBytes(health.freeDiskBytes)} of disk free`]),
        ]
  return (
    <p class="health small quiet">
      <span class={`dot dot-${tone}`} aria-hidden="true" />
      {[word, ...facts].join(' · ')}
    </p>
  )
}
