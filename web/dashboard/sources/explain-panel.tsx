import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { patternLabel, STATE_LABELS } from '../../../src/core/address-labels.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { writeSpan } from '../../../src/core/text/duration.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import type { UrlExplanation } from '../api.ts'
import { now } from '../clock.ts'
import { ExternalLink, PageLink } from '../external-link.tsx'
import { RefusalNote } from '../refusal-note.tsx'
import { writeQuery } from '../request.ts'
import { replaceQuery } from '../route.ts'
import { useAnswer } from '../use-answer.ts'

/** Explains the ledger row of one address. */
export function ExplainPanel({ source, url }: { readonly source: string; readonly url: string }): JSX.Element {
  const { value: explanation, refusal } = useAnswer<UrlExplanation>(`/api/explain${writeQuery({ source, url })}`)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') replaceQuery({ explain: '' })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <aside class="panel explain" aria-label="Explanation of this address" aria-live="polite">
      <header>
        <h2>
          <ExternalLink url={explanation?.url ?? url} />
        </h2>
        <button type="button" aria-label="Close" onClick={() => replaceQuery({ explain: '' })}>
          ✕
        </button>
      </header>
      <RefusalNote refusal={refusal} />
      {explanation === null ? null : <ReadButton source={source} explanation={explanation} />}
      {explanation === null ? null : <AddressHistory explanation={explanation} />}
    </aside>
  )
}

/** Leads to the stored page of an address, which may be that of another address. */
function ReadButton({ source, explanation }: { readonly source: string; readonly explanation: UrlExplanation }) {
  const { row, target } = explanation
  const page = [row, target].find((one) => one?.hasPage === true)
  if (!page) return null
  return (
    <p>
      <PageLink class="button" source={source} url={page.url} words="Read this page" />
    </p>
  )
}

function AddressHistory({ explanation }: { readonly explanation: UrlExplanation }): JSX.Element {
  const { row, target, aliases, words, heldUntil, overflow } = explanation
  const heldMs = heldUntil === null ? 0 : Date.parse(heldUntil) - now.value
  const facts: readonly (readonly [name: string, value: ComponentChildren])[] = [
    [patternLabel(row?.reason ?? null), row?.pattern],
    ['Found', row === null ? null : <DiscoveryNote row={row} discovery={words.discovery} />],
    ['First seen', moment(row?.firstSeenAt)],
    ['Last answer', row === null ? null : writeAnswer(row)],
    ['Attempts', row === null || row.attempts === 0 ? null : `${row.attempts} since its last good answer`],
    [row?.hasPage ? 'Content checked' : 'Last requested', row === null ? null : (moment(row.checkedAt) ?? 'never')],
    ['Changed', moment(row?.changedAt)],
    [
      'Due',
      row?.dueAt && Date.parse(row.dueAt) > now.value ? `in ${writeSpan(Date.parse(row.dueAt) - now.value)}` : null,
    ],
    ['Library', row === null ? null : row.hasPage ? 'holds its content' : 'holds no content of it'],
    [
      target?.hasPage ? 'Content held by' : 'Leads to',
      target === null ? null : `${target.url} (${STATE_LABELS[target.state]})`,
    ],
    ['Waits', heldMs > 0 ? `its host is paused for ${writeSpan(heldMs + 999)}` : null],
    ['Also known as', aliases.map(({ url, aliasUrl }) => (url === explanation.url ? aliasUrl : url)).join(', ')],
    ['Now', describeScope(explanation)],
    ['Ledger full', row === null && overflow > 0 ? `${countOf(overflow, 'address')} left out of the last crawl` : null],
  ]
  return (
    <>
      <p class="verdict">
        {row === null ? (
          'Never seen in this source.'
        ) : (
          <>
            <b class="capital">{STATE_LABELS[row.state]}</b>: {words.reason ?? words.state}.
          </>
        )}
      </p>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null || value === undefined || value === '' ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </>
  )
}

/** Describes the decision of the current scope, if it differs from the recorded one. */
function describeScope({ row, refusal, incomplete, words }: UrlExplanation): string | null {
  if (refusal !== null) {
    return refusal.reason === row?.reason ? null : `the scope would refuse it: ${words.refusal ?? refusal.reason}`
  }
  if (row !== null) return null
  return incomplete === null
    ? 'the scope would accept it if a crawled page linked to it'
    : `the last crawl did not see everything: ${incomplete}`
}

type Row = NonNullable<UrlExplanation['row']>

function DiscoveryNote({ row, discovery }: { readonly row: Row; readonly discovery: string | null }): JSX.Element {
  const { foundOn, depth } = row
  return (
    <>
      {discovery ?? row.discovery}
      {foundOn === null ? null : <> on {foundOn}</>}
      {row.discovery === 'folder' ? null : `, ${countOf(depth, 'link')} from the start`}
    </>
  )
}

/** The status and the detail, unless the detail only repeats the status. */
function writeAnswer({ status, detail }: Row): string {
  return [status, detail === `answered ${status}` ? null : detail].filter(Boolean).join(', ')
}

function moment(at: string | null | undefined): string | null {
  if (at === null || at === undefined) return null
  return `${writeAgo(Date.parse(at), now.value)} (${writeMoment(Date.parse(at))})`
}
