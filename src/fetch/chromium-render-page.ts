import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import type { Snapshot } from '../core/model.ts'
import type { RenderOutcome } from '../crawl/ports.ts'
import { type ChromiumContext, clearChromiumContext } from './chromium-context.ts'
import { withTimeout } from './chromium-deadline.ts'
import { RequestInterceptor, withoutHash } from './chromium-interceptor.ts'
import { type PageActivity, READ_ACTIVITY_SCRIPT, type SerializedPage, writeSerializer } from './chromium-scripts.ts'
import { Traffic } from './chromium-traffic.ts'

/** How one page is rendered. */
export interface RenderPageOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Outcome of a page, and whether its context can be reused. */
export interface PageRenderResult {
  readonly outcome: RenderOutcome
  readonly isReusable: boolean
}

/** Interval between two checks of a page. */
const POLL_INTERVAL_MS = 40

/**
 * Checks of a page that loads nothing but keeps changing or waiting for timers, until the changes count as endless, such as a clock. They
 * take three seconds, and longer on a busy page or machine, so that the result does not depend on its speed.
 */
const MAX_QUIET_POLLS = 60

/** Number of times that new requests may reset {@link MAX_QUIET_POLLS}, so that a page that sends requests for ever still ends. */
const MAX_POLL_RESETS = 20

/** Timeout for reading a loaded page; one that takes longer hangs. */
const READ_TIMEOUT_MS = 3000

/** Renders a snapshot in a context. Rejects when the signal is aborted, or when the page crashes or hangs; the context is then unusable. */
export async function renderPage(
  booth: ChromiumContext,
  snapshot: Snapshot,
  options: RenderPageOptions,
): Promise<PageRenderResult> {
  const traffic = new Traffic(booth.session)
  const documents = new RequestInterceptor(booth, snapshot, options.headers)
  const ended = whenEnded(booth, options.signal)
  try {
    const outcome = await Promise.race([render(booth, snapshot, options, traffic, documents), ended.promise])
    // The outcome is final, whether or not the context can be cleared.
    const emptied = await withTimeout(clearChromiumContext(booth, snapshot.url), READ_TIMEOUT_MS).catch(() => false)
    return { outcome, isReusable: emptied === true }
  } finally {
    for (const watch of [traffic, documents, ended]) watch.stop()
  }
}

/** The process of the page does not respond. */
export class PageHung extends Error {}

/** The process of the page died. */
export class PageCrashed extends Error {}

function whenEnded(
  { page }: ChromiumContext,
  signal: AbortSignal,
): { readonly promise: Promise<never>; readonly stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  const crash = (): void => reject(new PageCrashed('the page crashed'))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  page.once('crash', crash)
  const stop = (): void => {
    signal.removeEventListener('abort', abort)
    page.off('crash', crash)
  }
  return { promise, stop }
}

async function render(
  { session, frameId }: ChromiumContext,
  snapshot: Snapshot,
  { timeoutMs, maxBytes }: RenderPageOptions,
  traffic: Traffic,
  documents: RequestInterceptor,
): Promise<RenderOutcome> {
  const deadline = performance.now() + timeoutMs
  await withPageTimeout(documents.start(), timeoutMs)
  await withPageTimeout(session.send('Page.navigate', { url: snapshot.url }), timeoutMs)
  const isStable = await waitUntilQuiet(session, traffic, documents, deadline)
  const { executionContextId } = await withPageTimeout(
    session.send('Page.createIsolatedWorld', { frameId }),
    READ_TIMEOUT_MS,
  )
  const read = (await withPageTimeout(
    evaluate(session, writeSerializer(maxBytes), executionContextId),
    READ_TIMEOUT_MS,
  )) as SerializedPage
  return judge(read, snapshot, { maxBytes, isStable, leftFor: documents.navigationTarget, timeoutMs })
}

/** Waits until the page is quiet. Returns false when the deadline passes first. */
async function waitUntilQuiet(
  session: CDPSession,
  traffic: Traffic,
  documents: RequestInterceptor,
  deadline: number,
): Promise<boolean> {
  let before = ''
  let looks = 0
  let known = 0
  let freshStarts = 0
  while (documents.navigationTarget === undefined && looks < MAX_QUIET_POLLS) {
    await sleep(POLL_INTERVAL_MS)
    const left = deadline - performance.now()
    if (left <= 0) return false
    const requests = traffic.count
    const look = await withTimeout(readActivity(session), left)
    if (look === undefined) return false
    const isLoading = !look.isLoaded || traffic.pending > 0 || traffic.count !== requests
    // A request may start and end between two checks, so the counter decides, not whether one is in progress now.
    const isFresh = traffic.count !== known && ++freshStarts <= MAX_POLL_RESETS
    known = traffic.count
    looks = isLoading || isFresh ? 0 : looks + 1
    const now = `${look.changes} ${traffic.count}`
    if (!isLoading && now === before && look.due === 0) return true
    before = now
  }
  return true
}

/** Reads the state of a page. A page that is just reloading counts as not loaded. */
async function readActivity(session: CDPSession): Promise<PageActivity> {
  try {
    return (await evaluate(session, READ_ACTIVITY_SCRIPT)) as PageActivity
  } catch (error) {
    if (!/navigated|context|collected/.test(String(error))) throw error
    return { isLoaded: false, due: 0, changes: 0 }
  }
}

async function evaluate(session: CDPSession, expression: string, contextId?: number): Promise<unknown> {
  const where = contextId === undefined ? {} : { contextId }
  const { result } = await session.send('Runtime.evaluate', {
    expression,
    returnByValue: true,
    awaitPromise: true,
    ...where,
  })
  return result.value
}

async function withPageTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const answer = await withTimeout(work, timeoutMs)
  if (answer === undefined) throw new PageHung('the page hangs')
  return answer
}

interface OutcomeFacts {
  readonly maxBytes: number
  readonly isStable: boolean
  readonly leftFor: string | undefined
  readonly timeoutMs: number
}

function judge({ html, isEmpty, url }: SerializedPage, snapshot: Snapshot, judged: OutcomeFacts): RenderOutcome {
  const { maxBytes, isStable, leftFor, timeoutMs } = judged
  if (html === null || Buffer.byteLength(html) > maxBytes) {
    return {
      type: 'failed',
      reason: 'too-large',
      detail: `rendered, it has more than ${maxBytes} bytes`,
      isTransient: false,
    }
  }
  if (isEmpty && !isStable) {
    return { type: 'failed', reason: 'timeout', detail: `nothing was shown within ${timeoutMs} ms`, isTransient: true }
  }
  const { status = 200, headers = {} } = snapshot
  return {
    type: 'rendered',
    snapshot: { url: withoutHash(leftFor ?? url), body: html, status, headers: keepFields(headers) },
  }
}

/** Headers that say how a page may be used; the others were about the original bytes. */
const KEPT_FIELDS: readonly string[] = ['x-robots-tag', 'link', 'content-language', 'last-modified']

function keepFields(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => KEPT_FIELDS.includes(name))
  return { 'content-type': 'text/html; charset=utf-8', ...Object.fromEntries(kept) }
}
