import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { SourceItem, SourceList } from '../api.ts'
import { now } from '../clock.ts'
import { writeAgo, writeCount, writeMoment } from '../format.ts'
import { Pill, type Tone } from '../pill.tsx'
import { type Refusal, request } from '../request.ts'
import { CoverageLine } from './coverage-bar.tsx'
import { SourceActions } from './source-actions.tsx'
import { useFollowing } from './use-following.ts'

/** How a source stands, in its colour. */
export const STATUS_TONES: Readonly<Record<SourceItem['status'], Tone>> = {
  PENDING: 'quiet',
  CRAWLING: 'info',
  INDEXED: 'good',
  UPDATING: 'info',
  ERROR: 'bad',
}

/** All sources of the library. */
export function Sources(): JSX.Element {
  const items = useSignal<readonly SourceItem[] | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const read = async () => {
    const answer = await request<SourceList>('/api/sources')
    if ('value' in answer) items.value = answer.value.items
    refusal.value = 'refusal' in answer ? answer.refusal : null
  }
  useFollowing(read)
  return (
    <>
      <div class="head">
        <h1>Sources</h1>
        {items.value === null ? null : <span class="quiet">{writeCount(items.value.length)} in the library</span>}
      </div>
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
      {items.value?.length === 0 ? (
        <div class="panel empty">
          <p>The library is empty.</p>
          <p>
            <a href="#/">Start a crawl</a> to fill it.
          </p>
        </div>
      ) : null}
      {items.value === null || items.value.length === 0 ? null : (
        <div class="box">
          <table class="cards">
            <thead>
              <tr>
                <th scope="col">Source</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Pages
                </th>
                <th scope="col" class="number">
                  Chunks
                </th>
                <th scope="col">Coverage</th>
                <th scope="col">Last crawl</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.value.map((item) => (
                <SourceRow key={item.id} item={item} onChange={() => void read()} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function SourceRow({ item, onChange }: { readonly item: SourceItem; readonly onChange: () => void }): JSX.Element {
  const { id, name, version, url, status, pages, chunks, balance, lastCrawledAt } = item
  const at = lastCrawledAt === null ? null : Date.parse(lastCrawledAt)
  return (
    <tr data-source={id}>
      <td class="address">
        <a href={`#/sources/${encodeURIComponent(id)}`}>
          <b>{name}</b>
          {version === null ? '' : ` ${version}`}
        </a>
        <small class="cut">{url}</small>
      </td>
      <td data-label="Status">
        <Pill word={status.toLowerCase()} tone={STATUS_TONES[status]} />
      </td>
      <td class="number" data-label="Pages">
        {writeCount(pages)}
      </td>
      <td class="number" data-label="Chunks">
        {writeCount(chunks)}
      </td>
      <td class="wide" data-label="Coverage">
        <CoverageLine balance={balance} />
      </td>
      <td class="time" data-label="Last crawl" title={at === null ? '' : writeMoment(at)}>
        {at === null ? 'never' : <Freshness at={at} />}
      </td>
      <td class="wide actions">
        <SourceActions item={item} onChange={onChange} />
      </td>
    </tr>
  )
}

const DAY = 86_400_000

/** How long ago it was crawled; the dot turns with the days. */
export function Freshness({ at }: { readonly at: number }): JSX.Element {
  const age = now.value - at
  const tone = age < 2 * DAY ? 'good' : age < 30 * DAY ? 'warn' : 'bad'
  return (
    <>
      <span class={`dot dot-${tone}`} aria-hidden="true" />
      {writeAgo(at, now.value)}
    </>
  )
}
