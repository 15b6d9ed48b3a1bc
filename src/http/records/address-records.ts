import { labelOfCode } from '../../core/address-labels.ts'
import { writeNoteTitle } from '../../core/note-title.ts'
import { isoOf, isoOrNull } from '../../core/text/iso-time.ts'
import { suggest } from '../../core/text/nearest.ts'
import type { AddressEntry } from '../../library/ports/addresses.ts'
import type { StoredHub } from '../../library/ports/findings.ts'
import { labelOf } from '../../library/source.ts'
import type {
  AddressDescription,
  KnownAddress,
  OtherAddress,
  UnknownAddress,
} from '../../library/sources/describe-address.ts'
import { DISCOVERY_WORDS, STATE_WORDS, writeReason } from '../../library/sources/ledger-words.ts'
import { rowRecord } from './source-records.ts'

/** An address in a list. */
export function entryRecord(entry: AddressEntry): Record<string, unknown> {
  const { url, host, state, reason, status, sourceId, at, title, wordCount } = entry
  return { url, host, ts: isoOf(at), state, reason, status, sourceId, title, wordCount }
}

/** An address with all its details. */
export function detailRecord(entry: AddressEntry): Record<string, unknown> {
  const { at, firstSeenAt, checkedAt, changedAt, ...rest } = entry
  return {
    ...rest,
    id: entry.title === null ? null : bodyId(entry),
    ts: isoOf(at),
    firstSeenAt: isoOf(firstSeenAt),
    checkedAt: isoOrNull(checkedAt),
    changedAt: isoOrNull(changedAt),
    combined_hint: entry.classification,
    combined_confidence: entry.confidence,
  }
}

/** The id under which clients request the stored text of a page. */
export function bodyId({ sourceId, key }: Pick<AddressEntry, 'sourceId' | 'key'>): string {
  return `${sourceId}/${key}`
}

/** The history of an address that at least one source has seen. */
export function addressHistoryRecord(description: AddressDescription): Record<string, unknown> {
  const { hub, verdict, problems, known } = description
  const analyses = known.flatMap(({ storedAnalysis }) => storedAnalysis ?? [])
  // An analyzed page says more than a page that is only classified.
  const stored = analyses.find(({ analysedAt }) => analysedAt !== null) ?? analyses[0] ?? null
  return {
    story: listAddressEvents(description).map(({ at, ...rest }) => ({ ts: isoOf(at), ...rest })),
    sources: known.map(knownRecord),
    ...analysisRecord(stored),
    hub: hub === null ? null : hubRecord(hub),
    verdict: verdict === null ? null : { ...verdict, checkedAt: isoOf(verdict.checkedAt) },
    problems: problems.map(({ at, ...problem }) => ({ ts: isoOf(at), ...problem })),
  }
}

/** A hub page of a place. */
export function hubRecord({ firstSeenAt, lastSeenAt, ...rest }: StoredHub): Record<string, unknown> {
  return { ...rest, firstSeenAt: isoOf(firstSeenAt), lastSeenAt: isoOf(lastSeenAt) }
}

/** The classification and analysis of the content at an address. */
function analysisRecord(stored: KnownAddress['storedAnalysis']): Record<string, unknown> {
  return {
    classification: stored?.classification ?? null,
    analysis: stored?.analysis ?? null,
    analysedAt: isoOrNull(stored?.analysedAt ?? null),
  }
}

function knownRecord({ source, row, target, aliases, refusal, storedAnalysis }: KnownAddress): Record<string, unknown> {
  return {
    source: { id: source.id, name: source.name, version: source.version },
    row: rowRecord(row),
    target: target === null ? null : rowRecord(target),
    aliases: aliases.map(aliasRecord),
    refusal,
    ...analysisRecord(storedAnalysis),
    words: {
      state: STATE_WORDS[row.state],
      reason: row.reason === null ? null : writeReason({ ...row, reason: row.reason }),
      discovery: DISCOVERY_WORDS[row.discovery],
    },
  }
}

function aliasRecord({ other, isThere, row, kind, ...alias }: OtherAddress): Record<string, unknown> {
  const { url, aliasUrl, classification, reason, checkedAt, metadata } = alias
  return {
    url: other,
    from: url,
    to: aliasUrl,
    classification,
    reason,
    exists: isThere,
    state: row?.state ?? null,
    status: row?.status ?? null,
    kind,
    title: metadata?.title ?? null,
    checkedAt: isoOrNull(checkedAt ?? null),
  }
}

/** Something that happened to an address. */
export interface AddressEvent {
  readonly at: number
  readonly event: 'found' | 'asked' | 'changed' | 'analysed' | 'hub' | 'verdict' | 'problem'
  /** A description for people. */
  readonly text: string
  /** A related address. */
  readonly url: string | null
}

/** Lists the events of an address, oldest first. */
export function listAddressEvents({ known, hub, verdict, problems }: AddressDescription): readonly AddressEvent[] {
  const events: AddressEvent[] = known.flatMap((address) => listSourceEvents(address, known.length > 1))
  if (hub !== null) {
    events.push({ at: hub.firstSeenAt, event: 'hub', text: 'was first seen as a hub', url: null })
  }
  if (verdict !== null) {
    const { checkedAt: at, origin, state, pattern } = verdict
    const text = `${origin === 'guessed' ? 'was guessed by a plan' : 'was named by the site'} as a hub of ${pattern}, and is ${state}`
    events.push({ at, event: 'verdict', text, url: null })
  }
  for (const { at, kind, message } of problems) {
    events.push({
      at,
      event: 'problem',
      text: `was reported as “${writeNoteTitle(kind)}”${message === null ? '' : `: ${message}`}`,
      url: null,
    })
  }
  return events.toSorted((a, b) => a.at - b.at)
}

/** Lists the events of an address in one source, and names the source when several sources know the address. */
function listSourceEvents(
  { source, row, target, storedAnalysis }: KnownAddress,
  namesSource: boolean,
): readonly AddressEvent[] {
  const forSource = namesSource ? ` for ${labelOf(source)}` : ''
  const { status, reason, pattern, state } = row
  const why = reason === null ? STATE_WORDS[state] : writeReason({ reason, pattern })
  const events: AddressEvent[] = [
    {
      at: row.firstSeenAt,
      event: 'found',
      text: `was found for ${labelOf(source)} ${DISCOVERY_WORDS[row.discovery]}`,
      url: row.foundOn,
    },
  ]
  if (row.changedAt !== null)
    events.push({ at: row.changedAt, event: 'changed', text: `had new content${forSource}`, url: null })
  if (row.checkedAt !== null) {
    const text = `was last requested${forSource}${status === null ? '' : `, answered ${status}`}: ${why}`
    events.push({ at: row.checkedAt, event: 'asked', text, url: target?.url ?? null })
  }
  if (storedAnalysis !== null && storedAnalysis.analysedAt !== null) {
    const { kind, confidence } = storedAnalysis.classification
    const text = `was analysed${forSource}: ${labelOfCode(kind)}, ${Math.round(confidence * 100)} % sure`
    events.push({ at: storedAnalysis.analysedAt, event: 'analysed', text, url: null })
  }
  return events
}

/** Explains why no source has seen an address. */
export function describeMissing({ nearest, scopeResults }: UnknownAddress): {
  readonly known: string
  readonly nearest: string
} {
  const reasons = scopeResults.map(({ source, explanation: { refusal, incomplete } }) => {
    const why =
      refusal !== null
        ? writeReason(refusal)
        : incomplete === null
          ? 'no crawled page links to it'
          : `its last crawl did not see everything: ${incomplete}`
    return `${labelOf(source)} has not seen it, ${why}`
  })
  return {
    known: reasons.length === 0 ? '' : `: ${reasons.join('; ')}`,
    nearest: suggest(nearest ?? undefined),
  }
}
