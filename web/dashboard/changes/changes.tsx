import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { ExternalLink, PageLink } from '../external-link.tsx'
import { type Refusal, request, writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'

/** A change in words. */
interface ChangeEntry {
  readonly title: string
  readonly url: string
  /** Id of the source that has the page; null if it is no longer stored. */
  readonly sourceId: string | null
  readonly lines: readonly string[]
}

/** The answer of `/api/changes`. */
interface ChangesAnswer {
  readonly from: string
  readonly to: string
  readonly crawl: { readonly startedAt: string | null } | null
  readonly parts: readonly {
    readonly title: string
    readonly entries: readonly ChangeEntry[]
    readonly more: string | null
  }[]
  readonly notices: readonly string[]
}

/** What changed between two versions of a source, or in its last crawl. */
export function Changes(): JSX.Element {
  const { query } = route.value
  const [source, from, to] = ['source', 'from', 'to'].map((name) => query.get(name) ?? '')
  const answer = useSignal<ChangesAnswer | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  useEffect(() => {
    if (source === '') return
    const stop = new AbortController()
    answer.value = null
    const parameters = writeQuery({ source: source || null, from: from || null, to: to || null })
    void request<ChangesAnswer>(`/api/changes${parameters}`, { signal: stop.signal }).then((found) => {
      if (stop.signal.aborted) return
      answer.value = 'value' in found ? found.value : null
      refusal.value = 'refusal' in found ? found.refusal : null
    })
    return () => stop.abort()
  }, [source, from, to])
  if (source === '') return <NoSource />
  return (
    <>
      <div class="head">
        <h1>Changes in {source}</h1>
      </div>
      <Versions from={from ?? ''} to={to ?? ''} />
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
      {answer.value === null ? (
        refusal.value === null && <p class="quiet">Comparing all pages…</p>
      ) : (
        <Comparison answer={answer.value} />
      )}
    </>
  )
}

/** Shown when the address names no source. */
function NoSource(): JSX.Element {
  return (
    <>
      <div class="head">
        <h1>Changes</h1>
      </div>
      <div class="panel empty">
        <p>
          Choose one of the <a href="#/sources">sources</a>: its page links to what changed in it.
        </p>
      </div>
    </>
  )
}

/** The versions to compare. They are optional: a source without other versions is compared with its state before its last crawl. */
function Versions({ from, to }: { readonly from: string; readonly to: string }): JSX.Element {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const fields = new FormData(event.currentTarget)
    replaceQuery({ from: String(fields.get('from') ?? '').trim(), to: String(fields.get('to') ?? '').trim() })
  }
  return (
    <form class="filters" onSubmit={submit}>
      <label>
        From version <input name="from" defaultValue={from} placeholder="the one before" />
      </label>{' '}
      <label>
        To version <input name="to" defaultValue={to} placeholder="the newest" />
      </label>{' '}
      <button type="submit">Compare</button>
    </form>
  )
}

function Comparison({ answer: { from, to, crawl, parts, notices } }: { readonly answer: ChangesAnswer }): JSX.Element {
  const compared = crawl === null ? `${from} → ${to}` : `Last crawl of ${to}`
  return (
    <>
      <p class="quiet small" aria-live="polite">
        {compared}
        {parts.length === 0 ? ': nothing changed' : ''}
      </p>
      {notices.map((notice) => (
        <p class="quiet small" key={notice}>
          {notice}
        </p>
      ))}
      {parts.map(({ title, entries, more }) => (
        <section class="panel changes" aria-label={title} key={title}>
          <h2>{title}</h2>
          <ul>
            {entries.map((entry) => (
              <Entry key={entry.title + entry.url} entry={entry} />
            ))}
          </ul>
          {more === null ? null : <p class="quiet small">{more}</p>}
        </section>
      ))}
    </>
  )
}

function Entry({ entry: { title, url, sourceId, lines } }: { readonly entry: ChangeEntry }): JSX.Element {
  return (
    <li>
      <b>{title}</b>{' '}
      {sourceId === null ? (
        <ExternalLink url={url} class="cut small" />
      ) : (
        <PageLink url={url} source={sourceId} class="cut small" />
      )}
      {lines.length === 0 ? null : <pre class="small">{lines.join('\n')}</pre>}
    </li>
  )
}
