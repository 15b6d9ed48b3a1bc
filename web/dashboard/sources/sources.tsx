import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { writeNumber, writePercent } from '../../../src/core/text/count.ts'
import { writeSpan } from '../../../src/core/text/duration.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { CrawlDetail, SourceItem } from '../api.ts'
import { now } from '../clock.ts'
import { libraryOutage } from '../library-outage.ts'
import { endedCount, liveItems } from '../live.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { request } from '../request.ts'
import { replaceQuery } from '../route.ts'
import { TableHead } from '../table-head.tsx'
import { useLiveRefresh } from '../use-live-refresh.ts'
import type { StartedCrawl } from './add-source.tsx'
import { CoverageLine } from './coverage-bar.tsx'
import { LazyAddSource } from './lazy-add-source.tsx'
import { SourceActions } from './source-actions.tsx'
import { readSources, sources, sourcesRefusal } from './source-list.ts'
import { describeSourceState, writeVersion } from './source-state.ts'

/** The columns of the table. */
const COLUMNS = [
  ['Source'],
  ['Status'],
  ['Pages', 'number'],
  ['Passages', 'number'],
  ['Coverage'],
  ['Last crawl'],
  ['Actions', 'unseen'],
] as const

/** All sources of the library. */
export function Sources(): JSX.Element {
  const started = useSignal<StartedCrawl | null>(null)
  useLiveRefresh(readSources)
  return (
    <>
      <div class="head">
        <h1>Sources</h1>
        {sources.value === null ? null : <span class="quiet">{writeNumber(sources.value.length)} in the library</span>}
        <span class="spring" />
        <button type="button" class="primary" onClick={() => replaceQuery({ add: '1' })}>
          Add a source
        </button>
      </div>
      <LazyAddSource
        onAdded={(crawl) => {
          started.value = crawl
          void readSources()
        }}
      />
      <AddFailure started={started} />
      {libraryOutage.value === null ? <RefusalNote refusal={sourcesRefusal.value} /> : null}
      {sources.value?.length === 0 ? (
        <div class="panel empty">
          <p>
            The library is empty.{' '}
            <button type="button" class="link" onClick={() => replaceQuery({ add: '1' })}>
              Add a source
            </button>{' '}
            to fill it.
          </p>
        </div>
      ) : null}
      {sources.value === null && sourcesRefusal.value === null ? (
        <p class="quiet" role="status">
          Loading…
        </p>
      ) : null}
      {sources.value === null || sources.value.length === 0 ? null : (
        <div class="box dense">
          <table class="cards">
            <TableHead columns={COLUMNS} />
            <tbody>
              {sources.value.map((item) => (
                <SourceRow key={item.id} item={item} onChange={() => void readSources()} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

/** Says why a source that was just added was not kept: no page of it could be read. */
function AddFailure({ started }: { readonly started: Signal<StartedCrawl | null> }): JSX.Element | null {
  const problem = useSignal<string | null>(null)
  useSignalEffect(() => {
    endedCount.value
    const crawl = started.value
    problem.value = null
    if (crawl !== null) void findProblem(crawl).then((found) => (problem.value = found))
  })
  if (started.value === null || problem.value === null) return null
  return (
    <div class="panel notice bad" role="alert">
      <p>
        <b>{started.value.source.url}</b> was not added, because no page could be read: {problem.value}
      </p>
      <button type="button" onClick={() => replaceQuery({ add: '1' })}>
        Change and try again
      </button>
    </div>
  )
}

/** Why the crawl of a new source failed, if the source is gone; null while it runs, and after a success. */
async function findProblem({ jobId, source }: StartedCrawl): Promise<string | null> {
  const answer = await request<CrawlDetail>(`/api/crawls/${encodeURIComponent(jobId)}`)
  if (!('value' in answer) || answer.value.problem === null) return null
  await readSources()
  return sources.peek()?.some(({ id }) => id === source.id) ? null : answer.value.problem
}

function SourceRow({ item, onChange }: { readonly item: SourceItem; readonly onChange: () => void }): JSX.Element {
  const { id, name, url, pages, chunks, meaning, balance, reasons, lastCrawledAt } = item
  const sourceState = describeSourceState(item, liveItems.value)
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
        <Pill word={sourceState.word} tone={sourceState.tone} mark={sourceState.mark} />
        {sourceState.note === null ? null : (
          <small class={`note note-${sourceState.tone}`} title={sourceState.note}>
            {sourceState.note}
          </small>
        )}
      </td>
      <td class="number" data-label="Pages">
        {writeNumber(pages)}
      </td>
      <td class="number" data-label="Passages">
        {writeNumber(chunks)}
        {meaning === null || meaning === 1 ? null : (
          <small class="note" title={EMBEDDED_TITLE}>{`${writePercent(meaning)} embedded`}</small>
        )}
      </td>
      <td class="wide" data-label="Coverage">
        <CoverageLine id={id} balance={balance} reasons={reasons} />
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

/** Explains the share of embedded passages. */
export const EMBEDDED_TITLE = 'Passages that a search can find by their meaning; all others are found by their words'

const DAY_MS = 86_400_000

/** The age of the last crawl. The dot changes colour with age, and immediately after a failed crawl. */
export function Freshness({ at, tone: stateTone }: { readonly at: number; readonly tone: Tone }): JSX.Element {
  const age = now.value - at
  const tone = stateTone === 'bad' ? stateTone : age < 2 * DAY_MS ? 'good' : age < 30 * DAY_MS ? 'warn' : 'bad'
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
