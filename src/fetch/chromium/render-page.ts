import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import type { Snapshot } from '../../core/model.ts'
import type { RenderOutcome } from '../../crawl/ports.ts'
import { withoutFragment } from '../without-fragment.ts'
import { type ChromiumContext, clearChromiumContext } from './context.ts'
import { withTimeout } from './deadline.ts'
import { RequestInterceptor } from './interceptor.ts'
import { type PageActivity, READ_ACTIVITY_SCRIPT, type SerializedPage, writeSerializer } from './scripts.ts'
import { Traffic } from './traffic.ts'

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
 * A page that loads nothing but keeps changing, such as a clock, is read as it is after this many checks. It is a count and not a time, so
 * that the result does not depend on the speed of the machine. The checks take about three seconds.
 */
const MAX_QUIET_POLLS = 60

/** How often new requests may restart the count of checks, so that rendering ends even if a page never stops sending requests. */
const MAX_POLL_RESETS = 20

/** Timeout for reading a loaded page. A page that takes longer hangs. */
const READ_TIMEOUT_MS = 3000

/** Renders a snapshot in a context. Rejects when the signal is aborted, or when the page crashes or hangs; the context is then unusable. */
export async function renderPage(
  context: ChromiumContext,
  snapshot: Snapshot,
  options: RenderPageOptions,
): Promise<PageRenderResult> {
  const traffic = new Traffic(context.session)
  const interceptor = new RequestInterceptor(context, snapshot, options.headers)
  const ended = watchForEnd(context, options.signal)
  try {
    const outcome = await Promise.race([render(context, snapshot, options, traffic, interceptor), ended.promise])
    // The outcome is final, whether or not the context can be cleared.
    const isCleared = await withTimeout(clearChromiumContext(context, snapshot.url), READ_TIMEOUT_MS).catch(() => false)
    return { outcome, isReusable: isCleared === true }
  } finally {
    for (const watcher of [traffic, interceptor, ended]) watcher.stop()
  }
}

/** The process of the page does not respond. */
export class PageHung extends Error {}

/** The process of the page died. */
export class PageCrashed extends Error {}

function watchForEnd(
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
  interceptor: RequestInterceptor,
): Promise<RenderOutcome> {
  const deadline = performance.now() + timeoutMs
  await withPageTimeout(interceptor.start(), timeoutMs)
  await withPageTimeout(session.send('Page.navigate', { url: snapshot.url }), timeoutMs)
  const isStable = await waitUntilQuiet(session, traffic, interceptor, deadline)
  const { executionContextId } = await withPageTimeout(
    session.send('Page.createIsolatedWorld', { frameId }),
    READ_TIMEOUT_MS,
  )
  const read = (await withPageTimeout(
    evaluate(session, writeSerializer(maxBytes), executionContextId),
    READ_TIMEOUT_MS,
  )) as SerializedPage
  const { navigationTarget } = interceptor
  return toOutcome(read, snapshot, { maxBytes, isStable, navigationTarget, timeoutMs })
}

/** Waits until the page is quiet, has changed for too many checks, or navigates away. Returns false when the deadline passes first. */
async function waitUntilQuiet(
  session: CDPSession,
  traffic: Traffic,
  interceptor: RequestInterceptor,
  deadline: number,
): Promise<boolean> {
  let lastState = ''
  let quietPolls = 0
  let lastRequestCount = 0
  let pollResets = 0
  while (interceptor.navigationTarget === undefined && quietPolls < MAX_QUIET_POLLS) {
    await sleep(POLL_INTERVAL_MS)
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) return false
    const requestCount = traffic.count
    const activity = await withTimeout(readActivity(session), remainingMs)
    if (activity === undefined) return false
    const isLoading = !activity.isLoaded || traffic.pending > 0 || traffic.count !== requestCount
    // A request may start and end between two checks, so this compares counts instead of looking for a request in progress.
    const resetsPolls = traffic.count !== lastRequestCount && ++pollResets <= MAX_POLL_RESETS
    lastRequestCount = traffic.count
    quietPolls = isLoading || resetsPolls ? 0 : quietPolls + 1
    const state = `${activity.changes} ${traffic.count}`
    if (!isLoading && state === lastState && activity.due === 0) return true
    lastState = state
  }
  return true
}

/** Reads the state of a page. A page that is reloading at that moment counts as not loaded. */
async function readActivity(session: CDPSession): Promise<PageActivity> {
  try {
    return (await evaluate(session, READ_ACTIVITY_SCRIPT)) as PageActivity
  } catch (error) {
    if (!/navigated|context|collected/.test(String(error))) throw error
    return { isLoaded: false, due: 0, changes: 0 }
  }
}

async function evaluate(session: CDPSession, expression: string, contextId?: number): Promise<unknown> {
  const target = contextId === undefined ? {} : { contextId }
  const { result } = await session.send('Runtime.evaluate', {
    expression,
    returnByValue: true,
    awaitPromise: true,
    ...target,
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
  readonly navigationTarget: string | undefined
  readonly timeoutMs: number
}

function toOutcome({ html, isEmpty, url }: SerializedPage, snapshot: Snapshot, facts: OutcomeFacts): RenderOutcome {
  const { maxBytes, isStable, navigationTarget, timeoutMs } = facts
  if (html === null || Buffer.byteLength(html) > maxBytes) {
    return {
      type: 'failed',
      reason: 'too-large',
      detail: `the rendered page has more than ${maxBytes} bytes`,
      isTransient: false,
    }
  }
  if (isEmpty && !isStable) {
    const detail = `the page showed no text within ${timeoutMs} ms`
    return { type: 'failed', reason: 'timeout', detail, isTransient: true }
  }
  const { status = 200, headers = {} } = snapshot
  return {
    type: 'rendered',
    snapshot: { url: withoutFragment(navigationTarget ?? url), body: html, status, headers: keepFields(headers) },
  }
}

/** Headers that say how a page may be used; the others were about the original bytes. */
const KEPT_FIELDS: readonly string[] = ['x-robots-tag', 'link', 'content-language', 'last-modified']

function keepFields(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => KEPT_FIELDS.includes(name))
  return { 'content-type': 'text/html; charset=utf-8', ...Object.fromEntries(kept) }
}
