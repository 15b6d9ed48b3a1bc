import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import type { Snapshot } from '../core/model.ts'
import type { RenderOutcome } from '../crawl/ports.ts'
import { type Booth, emptyBooth } from './chromium-booth.ts'
import { answerWithin } from './chromium-deadline.ts'
import { Documents, withoutHash } from './chromium-document.ts'
import { LOOK, type Look, type Serialized, writeSerializer } from './chromium-scripts.ts'
import { Traffic } from './chromium-traffic.ts'

/** How one page is rendered. */
export interface VisitOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Outcome of a page, and whether its booth can be reused. */
export interface Visited {
  readonly outcome: RenderOutcome
  readonly isSound: boolean
}

/** Interval between two checks of a page. */
const LOOK_MS = 40

/**
 * Checks of a page that loads nothing but keeps changing or waiting for timers, until the changes count as endless, such as a clock. They
 * take three seconds, and longer on a busy page or machine, so that the result does not depend on its speed.
 */
const PATIENT_LOOKS = 60

/** Number of times that new requests may reset {@link PATIENT_LOOKS}, so that a page that sends requests for ever still ends. */
const FRESH_STARTS = 20

/** Timeout for reading a loaded page; one that takes longer hangs. */
const READ_MS = 3000

/** Renders a snapshot in a booth. Rejects when the signal is aborted, or when the page crashes or hangs; the booth is then unusable. */
export async function visitPage(booth: Booth, snapshot: Snapshot, options: VisitOptions): Promise<Visited> {
  const traffic = new Traffic(booth.session)
  const documents = new Documents(booth, snapshot, options.headers)
  const ended = whenEnded(booth, options.signal)
  try {
    const outcome = await Promise.race([render(booth, snapshot, options, traffic, documents), ended.promise])
    // The outcome is final, whether or not the booth can be cleared.
    const emptied = await answerWithin(emptyBooth(booth, snapshot.url), READ_MS).catch(() => false)
    return { outcome, isSound: emptied === true }
  } finally {
    for (const watch of [traffic, documents, ended]) watch.stop()
  }
}

/** The process of the page does not respond. */
export class PageHung extends Error {}

/** The process of the page died. */
export class PageCrashed extends Error {}

function whenEnded(
  { page }: Booth,
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
  { session, frameId }: Booth,
  snapshot: Snapshot,
  { timeoutMs, maxBytes }: VisitOptions,
  traffic: Traffic,
  documents: Documents,
): Promise<RenderOutcome> {
  const deadline = performance.now() + timeoutMs
  await inTime(documents.start(), timeoutMs)
  await inTime(session.send('Page.navigate', { url: snapshot.url }), timeoutMs)
  const isStable = await settle(session, traffic, documents, deadline)
  const { executionContextId } = await inTime(session.send('Page.createIsolatedWorld', { frameId }), READ_MS)
  const read = (await inTime(evaluate(session, writeSerializer(maxBytes), executionContextId), READ_MS)) as Serialized
  return judge(read, snapshot, { maxBytes, isStable, leftFor: documents.leftFor, timeoutMs })
}

/** Waits until the page is quiet. Returns false when the deadline passes first. */
async function settle(session: CDPSession, traffic: Traffic, documents: Documents, deadline: number): Promise<boolean> {
  let before = ''
  let looks = 0
  let known = 0
  let freshStarts = 0
  while (documents.leftFor === undefined && looks < PATIENT_LOOKS) {
    await sleep(LOOK_MS)
    const left = deadline - performance.now()
    if (left <= 0) return false
    const requests = traffic.count
    const look = await answerWithin(lookAt(session), left)
    if (look === undefined) return false
    const isLoading = !look.isLoaded || traffic.pending > 0 || traffic.count !== requests
    // A request may start and end between two checks, so the counter decides, not whether one is in progress now.
    const isFresh = traffic.count !== known && ++freshStarts <= FRESH_STARTS
    known = traffic.count
    looks = isLoading || isFresh ? 0 : looks + 1
    const now = `${look.changes} ${traffic.count}`
    if (!isLoading && now === before && look.due === 0) return true
    before = now
  }
  return true
}

/** Reads the state of a page. A page that is just reloading counts as not loaded. */
async function lookAt(session: CDPSession): Promise<Look> {
  try {
    return (await evaluate(session, LOOK)) as Look
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

async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const answer = await answerWithin(work, timeoutMs)
  if (answer === undefined) throw new PageHung('the page hangs')
  return answer
}

interface Judged {
  readonly maxBytes: number
  readonly isStable: boolean
  readonly leftFor: string | undefined
  readonly timeoutMs: number
}

function judge({ html, isEmpty, url }: Serialized, snapshot: Snapshot, judged: Judged): RenderOutcome {
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
