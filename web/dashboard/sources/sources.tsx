import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { writeNumber, writePercent } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment, writeSpan } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { SourceItem, SourceList } from '../api.ts'
import { now } from '../clock.ts'
import { libraryOutage } from '../library-outage.ts'
import { liveJobs } from '../live.ts'
import { type Refusal, request } from '../request.ts'
import { replaceQuery } from '../route.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { CoverageLine } from './coverage-bar.tsx'
import { LazyAddSource } from './lazy-add-source.tsx'
import { SourceActions } from './source-actions.tsx'
import { describeSourceState, writeVersion } from './source-state.ts'

/** All sources of the library. */
export function Sources(): JSX.Element {
  const items = useSignal<readonly SourceItem[] | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const read = async () => {
    const answer = await request<SourceList>('/api/sources')
    if ('value' in answer) items.value = answer.value.items
    refusal.value = 'refusal' in answer ? answer.refusal : null
  }
  useLiveRefresh(read)
  return (
    <>
      <div class="head">
        <h1>Sources</h1>
        {items.value === null ? null : <span class="quiet">{writeNumber(items.value.length)} in the library</span>}
        <span class="spring" />
        <button type="button" onClick={() => replaceQuery({ add: '1' })}>
          Add a source
        </button>
      </div>
      <LazyAddSource onAdded={() => void read()} />
      {refusal.value === null || libraryOutage.value !== null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
      {items.value?.length === 0 ? (
        <div class="panel empty">
          <p>The library is empty.</p>
          <p>
            <button type="button" class="link" onClick={() => replaceQuery({ add: '1' })}>
              Add a source
            </button>{' '}
            to fill it.
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
  const { id, name, url, pages, chunks, meaning, balance, reasons, lastCrawledAt } = item
  const sourceState = describeSourceState(
    item,
    liveJobs.value.map((job) => job.item.value),
  )
  const at = lastCrawledAt === null ? null : Date.parse(lastCrawledAt)
  return (
    <tr data-source={id}>
      <td class="address">
        <a href={`#/sources/${encodeURIComponent(id)}`}>
          <b>{name}</b>
          {writeVersion(item)}
        </a>
        <small class="cut">{url}</small>
      </td>
      <td class="wide stand" data-label="Status">
        <Pill word={sourceState.word} tone={sourceState.tone} />
        {sourceState.note === null ? null : <small class={`note note-${sourceState.tone}`}>{sourceState.note}</small>}
      </td>
      <td class="number" data-label="Pages">
        {writeNumber(pages)}
      </td>
      <td class="number" data-label="Chunks">
        {writeNumber(chunks)}
        {meaning === null || meaning === 1 ? null : <small class="note">{`embedded ${writePercent(meaning)}`}</small>}
      </td>
      <td class="wide" data-label="Coverage">
        <CoverageLine balance={balance} reasons={reasons} />
      </td>
      <td class="time" data-label="Last crawl" title={at === null ? '' : writeMoment(at)}>
        {at === null ? 'never' : <Freshness at={at} tone={sourceState.tone} />}
        <NextCrawl item={item} isBusy={sourceState.isBusy} />
      </td>
      <td class="wide actions">
        <SourceActions item={item} isBusy={sourceState.isBusy} onChange={onChange} />
      </td>
    </tr>
  )
}

const DAY_MS = 86_400_000

/** The age of the last crawl. The dot changes colour with age, and immediately after a failed crawl. */
export function Freshness({ at, tone: stateTone }: { readonly at: number; readonly tone: Tone }): JSX.Element {
  const age = now.value - at
  const tone =
    stateTone === 'bad' || stateTone === 'warn'
      ? stateTone
      : age < 2 * DAY_MS
        ? 'good'
        : age < 30 * DAY_MS
          ? 'warn'
          : 'bad'
  return (
    <>
      <span class={`dot dot-${tone}`} aria-hidden="true" />
      {writeAgo(at, now.value)}
    </>
  )
}

/** When the source is crawled again by itself. After a failure, the title of the element is the reason. */
export function NextCrawl({
  item,
  isBusy,
}: {
  readonly item: SourceItem
  readonly isBusy: boolean
}): JSX.Element | null {
  const { refresh } = item
  if (refresh === null || isBusy) return null
  const { attempts, problem } = refresh
  const at = Date.parse(refresh.nextAt)
  const [left] = writeSpan(at - now.value).split(' ')
  const failure = problem === null ? '' : 'refresh failed, '
  return (
    <small class={attempts === 0 ? 'note' : 'note note-warn'} title={problem ?? writeMoment(at)}>
      {`${failure}${attempts === 0 ? 'next' : 'again'} in ${left}`}
    </small>
  )
}
