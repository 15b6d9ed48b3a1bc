import type { Extraction } from '../../core/model.ts'
import type { Visit } from '../ledger.ts'
import type { Reason } from '../ledger-reasons.ts'
import type { FetchOutcome } from '../ports.ts'
import { hasAllLinks, listLinks } from '../read-page.ts'
import type { PageResponse, ReadResponseResult } from '../read-response.ts'
import type { Alias, PageRecord } from '../settlement.ts'
import {
  type ConcludingCrawl,
  type Conclusion,
  concludeFailure,
  concludeMiss,
  concludeMove,
} from './conclude-outcome.ts'
import type { VisitResponse } from './fetch-visit.ts'
import type { FoundLinks } from './html-links.ts'
import { findCanonicalAddress, findLinks, linkContextOf, NO_FINDS, withFinds } from './page-links.ts'

/** A response that was read, and the links that it lacks if it was Markdown. */
export interface ReadVisit {
  readonly answer: VisitResponse
  readonly outcome: Extract<FetchOutcome, { type: 'fetched' }>
  readonly read: PageResponse
  /** Whether a service fetched the page: then the response is what the browser of the service shows. */
  readonly isByService: boolean
  readonly html: FoundLinks
  /** Whether the response is Markdown without links, so that only the HTML shows new ones. */
  readonly needsHtml: boolean
}

/** Decides what a response that was read means for a visit. */
export async function concludePage(
  crawl: ConcludingCrawl,
  visit: Visit,
  { answer, outcome, read, isByService, html, needsHtml }: ReadVisit,
): Promise<Conclusion> {
  const { run, site } = crawl
  const status = outcome.snapshot.status ?? 200
  const { extraction } = read
  const record = read.record === null ? null : withLinks(read.record, html.links)
  const isRendered = read.isRendered || isByService
  const isFollowing = run.followsLinks
  if (extraction.type === 'no-page' || record === null) {
    const verdict = await concludeNoPage(crawl, visit, { extraction, isRendered }, status)
    return read.isShell ? { ...verdict, isShell: true } : verdict
  }

  const { page } = record
  site.notePage(visit.key)
  site.noteContent(visit, { text: page.markdown, links: record.links })
  const links = isFollowing ? withFinds(findLinks(crawl, visit, page, record.links), html) : NO_FINDS
  // A page from a service does not tell whether the plain response is empty.
  const shell = isByService ? {} : { isShell: read.isShell }
  const conclusion: Conclusion = { state: 'skipped', status, ...shell, links: record.links, ...links }
  if (!page.robots.index) return { ...conclusion, reason: 'noindex', isProvenGone: visit.hasPage }
  const canonicalAlias = visit.isFinal || answer.isVariant ? undefined : await findCanonicalAddress(crawl, visit, page)
  if (canonicalAlias !== undefined) {
    // The canonical address, which is read instead, must not be refused as another form of this one.
    const finds = links.finds.filter(({ key }) => key !== canonicalAlias.verdict.target)
    return withFinds({ ...conclusion, ...canonicalAlias.verdict, finds }, canonicalAlias)
  }
  const aliases: Alias[] = answer.isVariant
    ? [...links.aliases, { url: answer.url, aliasUrl: visit.url, classification: 'markdown-variant', reason: null }]
    : [...links.aliases]
  const isSame = visit.hasPage && visit.contentHash === page.contentHash && !run.full
  // Validators belong to stored content, so a response that stores nothing has none. A 304 for the Markdown would hide new links in the
  // HTML.
  const { etag, lastModified } = isRendered || needsHtml ? NO_VALIDATORS : outcome
  const reason: Reason | null = isFollowing && !hasAllLinks(record.links) ? 'too-many-links' : null
  const stored = { ...conclusion, reason, etag, lastModified, contentUrl: answer.url, record, aliases }
  const browserNote = isByService ? 'read by Crawl4AI' : isRendered ? 'read in a browser' : undefined
  const formatNote = read.format === undefined ? undefined : `read as ${read.format}`
  const notes = [browserNote ?? formatNote].filter((note) => note !== undefined)
  // Title, metadata and links may have changed although the content is the same.
  if (isSame) return { ...stored, state: 'unchanged', detail: ['same content', ...notes].join(', ') }
  return { ...stored, state: 'indexed', contentHash: page.contentHash, detail: notes[0] ?? null }
}

/** Decides what a response means that gave no document: it has a defect, its scripts redirect, or it could not be rendered. */
export async function concludeUnread(
  crawl: ConcludingCrawl,
  visit: Visit,
  read: Exclude<ReadResponseResult, { type: 'read' }>,
  status: number,
): Promise<Conclusion> {
  if (read.type === 'defect') return { state: 'failed', reason: 'page-defect', status, detail: read.detail }
  if (read.type === 'moved') return concludeMove(crawl, visit, { target: read.target, status, isPermanent: false })
  // The stored page stays if the browser failed or is missing: the unrendered response does not show the content.
  const verdict = await concludeFailure(crawl, visit, { ...read, status, retryAfterMs: null })
  return read.reason === 'needs-rendering' ? { ...verdict, pattern: `render ${crawl.run.render}` } : verdict
}

/** Adds further links to a page record. */
function withLinks(record: PageRecord, more: readonly string[]): PageRecord {
  return more.length === 0 ? record : { ...record, links: [...new Set([...record.links, ...more])] }
}

/** A page made from several responses, or by a browser, has no validators. */
const NO_VALIDATORS = { etag: null, lastModified: null } as const

/** Ledger reason and state for responses that are not a page; `failed` if a later request may succeed. */
const NO_PAGE: Readonly<
  Record<Extract<Extraction, { type: 'no-page' }>['reason'], readonly [Reason, 'failed' | 'skipped']>
> = {
  challenge: ['challenge', 'failed'],
  login: ['login', 'skipped'],
  soft_404: ['soft-404', 'failed'],
  needs_rendering: ['needs-rendering', 'failed'],
  redirect: ['redirect', 'skipped'],
  empty: ['empty', 'skipped'],
  not_text: ['not-text', 'skipped'],
  encrypted: ['encrypted', 'skipped'],
  damaged: ['damaged', 'skipped'],
  too_large: ['too-large', 'skipped'],
}

/** Reasons why a document cannot be read now. If an earlier crawl read it, the stored page stays. */
const UNREADABLE_REASONS: ReadonlySet<Reason> = new Set<Reason>(['encrypted', 'damaged', 'too-large'])

/** Whether a reason means that an address has no content, not only that it is withheld. */
function isEmptyReason(reason: Reason): boolean {
  return reason === 'empty' || reason === 'soft-404'
}

async function concludeNoPage(
  crawl: ConcludingCrawl,
  visit: Visit,
  { extraction, isRendered }: Pick<PageResponse, 'extraction' | 'isRendered'>,
  status: number,
): Promise<Conclusion> {
  const { run, site, offers } = crawl
  if (extraction.type === 'page') return { state: 'failed', reason: 'page-defect', status }
  if (extraction.reason === 'redirect' && extraction.target !== null) {
    return concludeMove(crawl, visit, { target: extraction.target, status, isPermanent: false })
  }
  // A browser that shows no text may have missed something: only an unrendered response proves that a page is empty.
  const isBlank = isRendered && (extraction.reason === 'empty' || extraction.reason === 'needs_rendering')
  if (isBlank)
    return { state: 'failed', reason: 'needs-rendering', status, detail: 'it shows no text, even after rendering' }
  const [reason, usualState] = NO_PAGE[extraction.reason]
  const state = visit.hasPage && UNREADABLE_REASONS.has(reason) ? 'failed' : usualState
  if (reason === 'soft-404' && offers.isGuess(visit)) return { ...concludeMiss(visit, 404), status }
  if (isEmptyReason(reason)) site.noteContent(visit, { text: '', links: listLinks(extraction.links) })
  const pattern = reason === 'needs-rendering' ? `render ${run.render}` : null
  const verdict: Conclusion = { state, reason, pattern, status, detail: extraction.detail }
  if (visit.hasLinks || !run.followsLinks) return verdict
  return withFinds(verdict, offers.judge(listLinks(extraction.links), linkContextOf(visit)))
}
