import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import { writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import { ExternalLink, PageLink } from '../external-link.tsx'
import { RefusalNote } from '../refusal-note.tsx'
import { writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'

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
  readonly totals: Readonly<Record<string, number>>
  readonly parts: readonly {
    readonly title: string
    readonly entries: readonly ChangeEntry[]
    readonly more: string | null
  }[]
  readonly notices: readonly string[]
}

/** The limit of changes of a kind that the API accepts. */
const MAX_LISTED = '500'

/** The kinds of changes in words, and their tones. */
const KIND_WORDS: Readonly<Record<string, string>> = { text: 'changed texts', changed: 'changed signatures' }
const TONES: Readonly<Record<string, Tone>> = { removed: 'bad', deprecated: 'warn', renamed: 'warn', added: 'good' }

/** The classes of added and removed lines. */
const LINE_CLASSES: Readonly<Record<string, string>> = { '+': 'line-added', '-': 'line-removed' }

/** What changed between two versions of a source, or in its last crawl. */
export function Changes(): JSX.Element {
  const { query } = route.value
  const [source, from, to, limit] = ['source', 'from', 'to', 'limit'].map((name) => query.get(name) ?? '')
  const path = source === '' ? null : `/api/changes${writeQuery({ source, from, to, limit })}`
  const { value: answer, refusal } = useAnswer<ChangesAnswer>(path)
  if (source === '') return <NoSource />
  return (
    <>
      <div class="head">
        <h1>Changes in {source}</h1>
      </div>
      <Versions from={from ?? ''} to={to ?? ''} />
      <RefusalNote refusal={refusal} />
      {answer !== null ? <Comparison answer={answer} /> : refusal === null && <p class="quiet">Comparing all pages…</p>}
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

function Comparison({ answer }: { readonly answer: ChangesAnswer }): JSX.Element {
  const { from, to, crawl, parts, notices, totals } = answer
  const compared = crawl === null ? `${from} → ${to}` : `Last crawl of ${to}`
  const startedAt = Date.parse(crawl?.startedAt ?? '')
  return (
    <>
      <p class="result-facts small" aria-live="polite">
        <span class="quiet">
          {compared}
          {Number.isNaN(startedAt) ? '' : `, ${writeMoment(startedAt)}`}
        </span>
        {parts.length === 0 ? <span>Nothing changed.</span> : null}
        {Object.entries(totals).map(([kind, total]) => (
          <Pill key={kind} word={`${writeNumber(total)} ${KIND_WORDS[kind] ?? kind}`} tone={TONES[kind] ?? 'info'} />
        ))}
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
          {more === null ? null : (
            <p class="small">
              <button type="button" class="link" onClick={() => replaceQuery({ limit: MAX_LISTED })}>
                Show {more.replace(/^and /, '')}
              </button>
            </p>
          )}
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
        <PageLink url={url} source={sourceId} class="small" />
      )}
      {lines.length === 0 ? null : (
        <pre class="small">
          {lines.map((line, i) => (
            <span key={i} class={LINE_CLASSES[line.charAt(0)] ?? ''}>{`${line}\n`}</span>
          ))}
        </pre>
      )}
    </li>
  )
}
