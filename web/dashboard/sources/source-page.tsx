import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { OUT_OF_SCOPE_REASONS } from '../../../src/core/address-labels.ts'
import { countOf, writePercent } from '../../../src/core/text/count.ts'
import { writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { SourceItem } from '../api.ts'
import { ExternalLink } from '../external-link.tsx'
import { endedCount, liveItems } from '../live.ts'
import { type Refusal, request } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { SiteFindings } from '../understanding/site-findings.tsx'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { countOfFilter, readCoverage, sumOf } from './coverage.ts'
import { Coverage } from './coverage-bar.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { NeedsBrowser } from './needs-browser.tsx'
import { Schedule } from './schedule.tsx'
import { SourceActions } from './source-actions.tsx'
import { describeSourceState, writeVersion } from './source-state.ts'
import { EMBEDDED_TITLE, Freshness, NextCrawl } from './sources.tsx'
import { UrlFilters } from './url-filters.tsx'
import { UrlTable } from './url-table.tsx'

/** One source, with the states of its addresses and the reasons. */
export function SourcePage({ id }: { readonly id: string }): JSX.Element {
  const item = useSignal<SourceItem | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const read = async () => {
    const answer = await request<SourceItem>(`/api/sources/${encodeURIComponent(id)}`)
    if ('value' in answer) item.value = answer.value
    refusal.value = 'refusal' in answer ? answer.refusal : null
  }
  useLiveRefresh(read)
  if (refusal.value !== null && item.value === null) {
    return (
      <div class="panel empty">
        <p>{refusal.value.message}</p>
        <p>
          <a href="#/sources">All sources</a>
        </p>
      </div>
    )
  }
  return item.value === null ? (
    <>
      <p class="crumbs">
        <a href="#/sources">Sources</a> /
      </p>
      <div class="head">
        <h1>Source</h1>
      </div>
      <p class="quiet" role="status">
        Loading…
      </p>
    </>
  ) : (
    <SourceDetails item={item.value} onChange={() => void read()} />
  )
}

/** Describes a source that is not a web site: its kind, and the commit or version that was read. */
function TreeFacts({ item: { kind, settings, commit } }: { readonly item: SourceItem }): JSX.Element | null {
  if (kind === 'site') return null
  const { ref = null, path = null } = settings.tree ?? {}
  return (
    <>
      <span>{KIND_WORDS[kind]}</span>
      {path === null ? null : <span>in {path}</span>}
      {ref === null ? null : <span>at {ref}</span>}
      {commit === null || commit === undefined ? null : <code title={commit}>{commit.slice(0, 10)}</code>}
    </>
  )
}

const KIND_WORDS: Readonly<Record<Exclude<SourceItem['kind'], 'site'>, string>> = {
  folder: 'folder',
  archive: 'archive',
  repository: 'git repository',
  package: 'package',
  import: 'imported chunks',
}

/** Removes the prefix that all addresses of the source share. */
function shorten({ kind, url, commit }: SourceItem, address: string): string {
  if (typeof commit === 'string' && address.includes(commit)) {
    return address.slice(address.indexOf(commit) + commit.length).replace(/^(?:!|\/item)(?=\/)/, '')
  }
  const start = kind === 'site' ? new URL(url).origin : kind === 'folder' ? url.replace(/\/$/, '') : `${url}!`
  return address.startsWith(`${start}/`) ? address.slice(start.length) : address
}

function SourceDetails({ item, onChange }: { readonly item: SourceItem; readonly onChange: () => void }): JSX.Element {
  const { id, kind, name, url, pages, chunks, meaning, balance, reasons, lastCrawledAt } = item
  const sourceState = describeSourceState(item, liveItems.value)
  useEffect(() => {
    document.title = `${item.label} · Pharos`
  }, [item.label])
  const { query } = route.value
  const [state, reason, text, explained] = ['state', 'reason', 'text', 'explain'].map(
    (key) => query.get(key) ?? '',
  ) as [string, string, string, string]
  const at = lastCrawledAt === null ? null : Date.parse(lastCrawledAt)
  const outsideCount = sumOf(readCoverage(balance, reasons).outOfScope)
  // A page can have any number of such links, so they are listed on demand.
  const hasOutside = query.has('outside') || OUT_OF_SCOPE_REASONS.includes(reason)
  const isWithoutOutside = !hasOutside && reason === '' && (state === '' || state === 'skipped')
  const count = countOfFilter(balance, reasons, { state, reason }) - (isWithoutOutside ? outsideCount : 0)
  return (
    <>
      <p class="crumbs">
        <a href="#/sources">Sources</a> / {name}
      </p>
      <div class="head">
        <h1>
          {name}
          {writeVersion(item)}
        </h1>
        <Pill word={sourceState.word} tone={sourceState.tone} mark={sourceState.mark} />
        <span class="spring" />
        <SourceActions
          item={item}
          isBusy={sourceState.isBusy}
          isPage
          onChange={onChange}
          onRemoved={() => {
            location.hash = '#/sources'
          }}
        />
      </div>
      {sourceState.note === null ? null : <p class={`small note note-${sourceState.tone}`}>{sourceState.note}</p>}
      <NeedsBrowser item={item} />
      <p class="quiet small source-facts">
        <ExternalLink url={url} />
        <TreeFacts item={item} />
        <span>{countOf(pages, 'page')}</span>
        <span>{countOf(chunks, 'passage')}</span>
        {meaning === null ? null : <span title={EMBEDDED_TITLE}>{writePercent(meaning)} embedded</span>}
        <span title={at === null ? '' : writeMoment(at)}>
          {at === null ? (
            'never crawled'
          ) : (
            <>
              last crawl <Freshness at={at} tone={sourceState.tone} />
            </>
          )}
        </span>
        <Schedule item={item} onChange={onChange} />
        <NextCrawl item={item} isBusy={sourceState.isBusy} />
        <a href={`#/search?source=${encodeURIComponent(item.label)}`}>search this source</a>
        <a href={`#/duplicates?source=${encodeURIComponent(name)}`}>duplicates</a>
        <a href={`#/changes?source=${encodeURIComponent(name)}`}>changes</a>
      </p>
      <section class="panel" aria-label="Coverage">
        <Coverage
          balance={balance}
          reasons={reasons}
          chosen={{ state, reason }}
          onChoose={(nextState, nextReason) => replaceQuery({ state: nextState, reason: nextReason, explain: '' })}
        />
      </section>
      {kind === 'site' ? <SiteFindings host={new URL(url).host} variant="panel" /> : null}
      <section aria-label="Addresses" class={explained === '' ? 'split' : 'split open'}>
        <div class="split-main">
          <UrlFilters {...{ reasons, state, reason, text, outsideCount, hasOutside }} />
          <UrlTable
            // Reloads the rows only when a crawl ends, because rows that move are hard to read.
            key={endedCount.value}
            source={id}
            // While a crawl runs, the counts change, so they are not used.
            count={text !== '' || item.isRunning ? null : count}
            hasOutside={hasOutside}
            shorten={(address) => shorten(item, address)}
            state={state}
            reason={reason}
            text={text}
            chosen={explained}
            onChoose={(address) => replaceQuery({ explain: address === explained ? '' : address })}
          />
        </div>
        {explained === '' ? null : <ExplainPanel key={explained} source={id} url={explained} />}
      </section>
    </>
  )
}
