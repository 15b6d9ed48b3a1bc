import type { PageClass } from '../../core/model.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { isoOrNull, writeTime } from '../../core/text/iso-time.ts'
import type { LedgerRow, Refusal } from '../../crawl/ledger.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import type { Alias } from '../../crawl/settlement.ts'
import type { StoredAnalysis } from '../../library/ports/findings.ts'
import { isTree } from '../../library/ports/tree.ts'
import { isDocumentation, type Source } from '../../library/source.ts'
import type { Explanation } from '../../library/sources/explain.ts'
import { DISCOVERY_WORDS, STATE_WORDS, writeReason, writeRule } from '../../library/sources/ledger-words.ts'
import { type Hint, printableLabel } from '../library.ts'
import { countOf, printableLine } from '../terminal.ts'
import { renderAdvice } from './advice.ts'
import { writeDetail } from './summary.ts'

/** Writes the history of an address as text. `stored` is the analysis of its page, if there is one. */
export function writeExplanation(
  explanation: Explanation,
  source: Source,
  hint: Hint,
  now: number,
  stored: StoredAnalysis | null = null,
): string {
  const { url, row, target, other, aliases } = explanation
  // The ledger has addresses without an ignored query or session id, so the row belongs to the stripped address.
  const strippedPart = STRIPPED_WORDS[explanation.refusal?.reason ?? '']
  const isStripped = strippedPart !== undefined
  const refusal = isStripped ? null : explanation.refusal
  const lines =
    row === null
      ? [
          `Never seen in ${printableLabel(source)}.`,
          ...(isTree(source) ? [] : [writeScopeDecision(refusal, explainAbsence(explanation))]),
          ...(other === null ? [] : [`Known: ${other.url} (${stateOf(other)})`]),
        ]
      : [
          ...writeRow(row, now),
          ...writeVersion(source),
          ...(stored?.analysis === null && isDocumentation(source) ? [] : writeAnalysis(stored)),
          ...(target === null ? [] : [writeTarget(target)]),
        ]
  const strippedLines = isStripped ? [`Known without its ${strippedPart} as ${row?.url ?? explanation.key}`] : []
  const aliasLines = aliases.map((alias) => `Alias: ${writeAlias(alias, url)}`)
  const scopeLines =
    row !== null && isOutdated(row, refusal)
      ? [`Now: ${writeScopeDecision(refusal, 'it is waiting in the queue')}`]
      : []
  const held = explanation.heldUntil
  const waitLines = held !== null && isUnsettled(row) ? [`Waits: its host is paused until ${writeTime(held)}`] : []
  const { robotsReadAt } = explanation
  const robotsLines = robotsReadAt === null ? [] : [`robots.txt: last read ${writeMoment(robotsReadAt, now)}`]
  const failureLines = explanation.lastProblem === null ? [] : [`Last crawl: failed, ${explanation.lastProblem}`]
  const refusalLines = writeLastRefusal(explanation)
  const adviceLines = adviceFor(row, source, hint).map((text) => `Try: ${text}`)
  const details = [
    ...robotsLines,
    ...refusalLines,
    ...adviceLines,
    ...failureLines,
    ...waitLines,
    ...aliasLines,
    ...scopeLines,
  ]
  return [url, ...strippedLines, ...lines, ...details].map(printableLine).join('\n')
}

/** `Last crawl: left as it was, blocked by /blog/** for that run only` */
function writeLastRefusal({ lastRefusal }: Explanation): string[] {
  if (lastRefusal === null) return []
  const { reason, pattern } = lastRefusal
  return [`Last crawl: left as it was, ${reason}${writeRule(reason, pattern)} for that run only`]
}

/** Advice for an address that was not read. */
function adviceFor(row: LedgerRow | null, source: Source, hint: Hint): string[] {
  if (row?.reason === 'needs-rendering') return [renderAdvice(source, hint)]
  if (row?.reason !== 'too-large') return []
  // A limit that is not in bytes is one of the document converter, which cannot be configured.
  if (!/\d bytes/.test(row.detail ?? '')) return ['split it into smaller documents']
  return [isTree(source) ? 'raise --max-file-bytes' : 'raise --max-page-bytes']
}

/** The version of the package that was read, unless the source already names it. */
function writeVersion({ version, settings: { readVersion } }: Source): string[] {
  return readVersion === undefined || readVersion === version ? [] : [`Version: ${readVersion} was read`]
}

function explainAbsence({ overflow, incomplete }: Explanation): string {
  if (incomplete !== null) return `the last crawl did not see everything: ${printableLine(incomplete)}`
  if (overflow === 0) return 'no crawled page links to it'
  return `it may be one of ${countOf(overflow, 'address')} that the last crawl had no room for (maxAddresses)`
}

function isUnsettled(row: LedgerRow | null): boolean {
  return row?.state === 'pending' || row?.state === 'leased'
}

/** The part that was stripped from an address, by reason. */
const STRIPPED_WORDS: Readonly<Record<string, string>> = { 'query-skip': 'query', 'session-id': 'session' }

function writeTarget(target: LedgerRow): string {
  return `${target.hasPage ? 'Content: held by' : 'Leads to:'} ${target.url} (${stateOf(target)})`
}

/** Overrides the description of the state for some reasons. */
const STATE_WORD_OVERRIDES: Readonly<Record<string, string>> = {
  unlinked: 'no longer kept',
  container: 'its pages are indexed separately',
}

function writeRow(row: LedgerRow, now: number): string[] {
  const { reason, pattern, discovery, foundOn, depth, attempts, status, detail, changedAt, dueAt } = row
  // A detail that only repeats the status is left out.
  const words = detail === null || detail === `answered ${status}` ? null : writeDetail(detail)
  const outcome = [status === null ? null : String(status), words].filter((part) => part !== null && part !== '')
  return [
    `State: ${stateOf(row)}, ${STATE_WORD_OVERRIDES[reason ?? ''] ?? STATE_WORDS[row.state]}`,
    ...(reason === null ? [] : [`Why: ${writeReason({ reason, pattern })}`]),
    ...(pattern === null || pattern === '' ? [] : [`Rule: ${pattern}`]),
    `Found: ${DISCOVERY_WORDS[discovery]}${foundOn === null ? '' : ` on ${foundOn}`}, ${discovery === 'folder' ? '' : `${countOf(depth, 'link')} from the start, `}${writeMoment(row.firstSeenAt, now)}`,
    ...(attempts === 0 ? [] : [`Attempts: ${attempts} since its last good answer`]),
    ...(outcome.length === 0 ? [] : [`Last answer: ${outcome.join(', ')}`]),
    ...(row.isShell ? ['Needs a browser: yes, it is empty until its scripts have run'] : []),
    ...writeChecked(row, now),
    ...(changedAt === null ? [] : [`Changed: ${writeMoment(changedAt, now)}`]),
    ...(dueAt !== null && dueAt > now ? [`Due: in ${writeDuration(dueAt - now)}`] : []),
    `Library: ${row.hasPage ? 'holds its content' : 'holds no content of it'}`,
  ]
}

/** `checkedAt` is when the content was last confirmed. A later request that failed has no recorded time. */
function writeChecked({ state, reason, hasPage, checkedAt }: LedgerRow, now: number): string[] {
  const wasRequested = reason === null || !UNREQUESTED_REASONS.has(reason)
  if (!hasPage) return checkedAt === null || !wasRequested ? [] : [`Last requested: ${writeMoment(checkedAt, now)}`]
  const moment = checkedAt === null ? 'never' : writeMoment(checkedAt, now)
  const hasFailedSince = state === 'failed' && wasRequested && reason !== 'host-parked'
  return [`Content checked: ${moment}`, ...(hasFailedSince ? ['Last request: after that, without success'] : [])]
}

/** Reasons that settle an address without a request. */
const UNREQUESTED_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'robots-disallow',
  'robots-unreachable',
  'address-refused',
  'covered',
  'same-content',
  'spelling',
])

function stateOf({ state, reason }: LedgerRow): string {
  return reason === null ? state : `${state} (${reason})`
}

function writeMoment(at: number, now: number): string {
  return `${writeTime(at)} (${now - at < 1000 ? 'just now' : `${writeDuration(Math.floor((now - at) / 1000) * 1000)} ago`})`
}

function writeAlias({ url, aliasUrl, classification, reason, exists }: Alias, askedUrl: string): string {
  const other = url === askedUrl ? aliasUrl : url
  // `exists` is about the alias, so it is only shown if the alias is the other address.
  const existence = other === aliasUrl && exists !== undefined ? `; ${EXISTENCE_WORDS[String(exists)]}` : ''
  return `${other} (${classification}${reason === null ? '' : `, ${reason}`}${existence})`
}

const EXISTENCE_WORDS: Readonly<Record<string, string>> = {
  true: 'exists',
  false: 'does not exist',
  null: 'not checked',
}

/** Maximum number of places listed; a page may be about hundreds. */
const MAX_PLACES = 8

/** Writes the results of the analysis of the page. */
function writeAnalysis(stored: StoredAnalysis | null): string[] {
  if (stored === null) return []
  const { kind, confidence } = stored.classification
  const places = listPlaces(stored)
  const more = places.length > MAX_PLACES ? `, and ${countOf(places.length - MAX_PLACES, 'other')}` : ''
  return [
    `Page: ${CLASS_WORDS[kind]}, ${Math.round(confidence * 100)} % sure`,
    ...(stored.analysis === null ? [] : [`Places: ${places.slice(0, MAX_PLACES).join(', ') || 'none'}${more}`]),
  ]
}

const CLASS_WORDS: Readonly<Record<PageClass, string>> = {
  article: 'an article',
  nav: 'navigation, mainly links to other pages',
  other: 'neither an article nor navigation',
}

/** The distinct places of a page, in stored order. */
function listPlaces({ analysis }: StoredAnalysis): string[] {
  return [...new Set(analysis?.findings.places.map(({ place }) => place))]
}

/** Whether the current scope gives a different reason than the recorded one. */
function isOutdated({ reason }: LedgerRow, refusal: Refusal | null): boolean {
  return refusal !== null && refusal.reason !== reason
}

function writeScopeDecision(refusal: Refusal | null, otherwise: string): string {
  if (refusal === null) return `The scope would let it through: ${otherwise}.`
  const rule = refusal.pattern === null || refusal.pattern === '' ? '' : ` (rule: ${refusal.pattern})`
  return `The scope would refuse it as ${refusal.reason}: ${writeReason(refusal)}${rule}.`
}

/** The explanation as JSON. */
export function explanationRecord(
  explanation: Explanation,
  stored: StoredAnalysis | null = null,
): Record<string, unknown> {
  const { url, key, row, target, aliases, refusal, lastRefusal, lastProblem } = explanation
  return {
    url,
    key,
    is_known: row !== null,
    row: row === null ? null : rowRecord(row),
    target: target === null ? null : rowRecord(target),
    aliases: aliases.map((alias) => ({
      url: alias.url,
      alias_url: alias.aliasUrl,
      classification: alias.classification,
      reason: alias.reason,
      exists: alias.exists ?? null,
    })),
    page_class: stored === null ? null : stored.classification.kind,
    places: stored === null || stored.analysis === null ? null : listPlaces(stored),
    refusal,
    last_crawl_refusal: lastRefusal,
    last_crawl_problem: lastProblem,
  }
}

function rowRecord(row: LedgerRow): Record<string, unknown> {
  return {
    url: row.url,
    key: row.key,
    state: row.state,
    reason: row.reason,
    pattern: row.pattern,
    target: row.target,
    depth: row.depth,
    found_on: row.foundOn,
    discovery: row.discovery,
    attempts: row.attempts,
    status: row.status,
    detail: row.detail,
    etag: row.etag,
    last_modified: row.lastModified,
    content_hash: row.contentHash,
    first_seen_at: isoOrNull(row.firstSeenAt),
    checked_at: isoOrNull(row.checkedAt),
    changed_at: isoOrNull(row.changedAt),
    due_at: isoOrNull(row.dueAt),
    crawl_id: row.crawlId,
    has_page: row.hasPage,
    is_shell: row.isShell,
  }
}
