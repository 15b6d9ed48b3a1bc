import { PharosError } from '../../core/errors.ts'
import { mergeFields } from '../../core/header-fields.ts'
import type { NoPageReason, Page, Snapshot } from '../../core/model.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { keyOrText, urlKey } from '../../core/url/key.ts'
import { Pacer } from '../../crawl/hosts/pacer.ts'
import { RobotsRules } from '../../crawl/hosts/robots-rules.ts'
import { isUnsent, type SendPermit } from '../../crawl/hosts/send-permit.ts'
import { PageDefect } from '../../crawl/page-defect.ts'
import type { Clock, Fetcher, FetchOutcome, FetchRequest, Renderer, Rendering } from '../../crawl/ports.ts'
import { type ReadResponseResult, readResponse } from '../../crawl/read-response.ts'
import { createResourceFetcher, type RobotsDecision } from '../../crawl/resource.ts'
import type { Library } from '../library.ts'
import { adviseAllowance, hostRuleOf } from '../ports/download.ts'
import { parseStart } from './add-source.ts'
import { openRendering } from './open-rendering.ts'

/** Options for fetching one address. */
export interface FetchUrlOptions {
  /** Headers sent only to the origin of the address. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether robots.txt applies. @default true */
  readonly obeysRobots?: boolean
  /** Whether redirects are followed. @default true */
  readonly followsRedirects?: boolean
  /** Rendering mode. @default http */
  readonly render?: Rendering
  /** Maximum number of attempts after network or server errors. @default 1 */
  readonly attempts?: number
  readonly signal: AbortSignal
}

/** A fetched page. */
export interface FetchedPage {
  readonly page: Page
  /** HTTP status of the response. */
  readonly status: number
  /** Whether the page was rendered in a browser. */
  readonly isRendered: boolean
}

/** Fetches addresses, one by one or concurrently, with shared robots rules and pacing. */
export type UrlFetcher = (text: string, options: FetchUrlOptions) => Promise<FetchedPage>

/** Fetches and reads one address. Stores only the pacing of its host. */
export async function fetchUrl(library: Library, text: string, options: FetchUrlOptions): Promise<Page> {
  return (await createUrlFetcher(library)(text, options)).page
}

/** Creates a fetcher that stores only the pacing of hosts. */
export function createUrlFetcher(library: Library): UrlFetcher {
  const { store, clock, random, limits, siteHeaders } = library
  const pacer = new Pacer({ ledger: store, clock, random, limits })
  const paced = (fetcher: Fetcher) => pacedFetcher(fetcher, clock, pacer)
  const robots = new RobotsRules({
    fetchResource: createResourceFetcher({
      fetcher: paced(library.fetcher),
      pacer,
      headersFor: (url) => siteHeaders?.find(url) ?? {},
    }),
    ledger: store,
    clock,
    setDelay: pacer.hosts.setDelay,
    // The site owner may have changed robots.txt since it was stored.
    rereadsRefusals: true,
  })
  return async (text, options) => {
    const { headers = {}, obeysRobots = true, followsRedirects = true, attempts = 1, render = 'http', signal } = options
    const start = parseStart(text)
    const startHeaders = mergeFields(siteHeaders?.require(start.href), headers)
    const { renderer, pageFetcher = library.fetcher } = await openRendering(
      library,
      render,
      Object.keys(startHeaders).length > 0,
    )
    let url = start.href
    let failures = 0
    for (let hops = 0; hops <= limits.redirects; ) {
      await refuseDuringBackoff(library, url)
      if (obeysRobots) {
        const permission = await robots.judge(url, signal)
        if (!permission.allowed)
          throw createFetchError(url, permission.reason, describeRefusal(permission, clock.now()))
      }
      const permit = await pacer.takeTurn(new URL(url).host, signal)
      if (permit === 'parked') await refuseDuringBackoff(library, url)
      const isSameOrigin = new URL(url).origin === start.origin
      const request = { url, signal, headers: isSameOrigin ? startHeaders : mergeFields(siteHeaders?.require(url)) }
      const outcome = await paced(pageFetcher).fetch(request, permit === 'parked' ? undefined : permit)
      if (outcome.type === 'failed' && outcome.isTransient && ++failures < attempts) {
        if ((await readBackoffMs(library, url)) <= MAX_WAIT_MS) continue
      }
      const answer = await readOutcome(library, request, outcome, { renderer, isAlways: render === 'chromium' })
      if (answer.type === 'read') return answer.fetched
      if (!followsRedirects) throw createFetchError(url, 'redirect', `it redirects to ${answer.target}`)
      url = answer.target
      hops++
      if (urlKey(url) === undefined)
        throw createFetchError(url, 'scheme', 'it redirects to an address that is not http or https')
    }
    throw createFetchError(text, 'redirect-loop', `more than ${limits.redirects} redirects`)
  }
}

function describeRefusal(
  { reason, pattern, readAt }: Extract<RobotsDecision, { allowed: false }>,
  now: number,
): string {
  if (reason !== 'robots-disallow' || readAt === undefined) return pattern ?? 'this address may not be reached'
  const age = now - readAt < 1000 ? 'just now' : `${writeDuration(now - readAt)} ago`
  return `robots.txt (read ${age}) disallows it${pattern === null ? '' : `: ${pattern}`}`
}

/** Throws if the host is in a long back-off. A single fetch waits only for the normal pause of its host. */
async function refuseDuringBackoff(library: Pick<Library, 'clock' | 'store'>, url: string): Promise<void> {
  const ms = await readBackoffMs(library, url)
  if (ms <= MAX_WAIT_MS) return
  const seconds = Math.ceil(ms / 1000)
  throw createFetchError(
    url,
    'host-parked',
    `its host failed or asked for a pause; it is paused for ${seconds} more seconds`,
  )
}

/** Remaining back-off of the host in milliseconds. */
async function readBackoffMs({ store, clock }: Pick<Library, 'clock' | 'store'>, url: string): Promise<number> {
  const now = clock.now()
  return (await store.readClock(new URL(url).host, now)).heldUntil - now
}

const MAX_WAIT_MS = 10_000

/** Reports the outcome of each fetch to the pacer. */
function pacedFetcher(fetcher: Fetcher, clock: Clock, pacer: Pacer) {
  return {
    async fetch(request: FetchRequest, permit: SendPermit | undefined): Promise<FetchOutcome> {
      const { outcome, sentAt } =
        permit === undefined
          ? { sentAt: clock.now(), outcome: await fetcher.fetch(request) }
          : await pacer.send(permit, fetcher, request)
      if (!isUnsent(outcome)) await pacer.health.noteOutcome(request.url, outcome, sentAt)
      return outcome
    },
  }
}

/** Result of an outcome: a page, or a redirect target. */
type Answer =
  | { readonly type: 'read'; readonly fetched: FetchedPage }
  | { readonly type: 'moved'; readonly target: string }

interface PageRendering {
  readonly renderer: Renderer | undefined
  /** Renders every document, not only those that are empty without scripts. */
  readonly isAlways: boolean
}

async function readOutcome(
  library: Pick<Library, 'readPage'>,
  request: FetchRequest,
  outcome: FetchOutcome,
  rendering: PageRendering,
): Promise<Answer> {
  const { url } = request
  switch (outcome.type) {
    case 'moved':
      return outcome
    case 'fetched': {
      const { snapshot } = outcome
      const read = await readSnapshot(library, request, snapshot, rendering)
      if (read.type === 'moved') return read
      if (read.type === 'defect') throw createFetchError(url, 'page-defect', read.detail)
      if (read.type === 'failed') throw createFetchError(url, read.reason, read.detail)
      const { extraction, isRendered } = read
      if (extraction.type === 'page') {
        const { page } = extraction
        return { type: 'read', fetched: { page, status: snapshot.status ?? 200, isRendered } }
      }
      const isShell = extraction.reason === 'needs_rendering'
      // A page that stays empty after rendering counts as empty.
      const isBlank = isShell && isRendered
      throw new PharosError('PAGE_REFUSED', {
        source: url,
        reason: isBlank ? 'empty' : extraction.reason.replaceAll('_', '-'),
        detail: isBlank ? 'it shows no text, even after rendering' : extraction.detail,
        advice: isShell && !isBlank ? RENDER_ADVICE : (DOCUMENT_ADVICE[extraction.reason] ?? LOOK_ADVICE),
      })
    }
    case 'gone':
      throw createFetchError(url, 'not-found', `answered ${outcome.status}`)
    case 'refused':
    case 'failed':
      throw createFetchError(url, outcome.reason, outcome.detail)
    default:
      throw createFetchError(url, 'bad-answer', 'answered 304 to an unconditional request')
  }
}

/** Reads a document, rendered if necessary. */
function readSnapshot(
  { readPage }: Pick<Library, 'readPage'>,
  { url, headers = {}, signal }: FetchRequest,
  snapshot: Snapshot,
  { renderer, isAlways }: PageRendering,
): Promise<ReadResponseResult> {
  const request = { headers, ...(signal === undefined ? {} : { signal }) }
  return readResponse(snapshot, {
    render:
      renderer &&
      (async (document) => {
        // `prepare` throws if there is no browser, because a single fetch must report that.
        await renderer.prepare()
        return renderer.render(document, request)
      }),
    isAlwaysRendered: isAlways,
    keyOf: urlKey,
    async read(document, options) {
      try {
        return await readPage(document, keyOrText(url), options)
      } catch (error) {
        if (error instanceof PageDefect) return `the page ${error.message}`
        throw error
      }
    },
  })
}

const LOOK_ADVICE = 'open it in a browser to see what it shows; `pharos extract --debug` tells more about a saved page'
const RENDER_ADVICE = 'it is empty until its scripts have run: read it with --render auto, which needs a browser'

/** Advice for documents that cannot be converted. */
const DOCUMENT_ADVICE: Readonly<Partial<Record<NoPageReason, string>>> = {
  encrypted: 'save a copy without a password, then read the copy with `pharos extract`',
  damaged: 'open it in the program that made it, and save it again',
  too_large: 'split it into smaller documents',
}

/** Advice by reason. */
const ADVICE: Readonly<Record<string, string>> = {
  'service-failed': 'check the Crawl4AI service and its log, then try again',
  'robots-disallow': 'if you have permission to read it, add --ignore-robots',
  'robots-unreachable': 'try again later, or add --ignore-robots',
  'too-large': 'raise --max-page-bytes',
  'not-found': 'check the address',
  network: 'check the spelling of the host, the port, and whether this machine is online',
  redirect: 'fetch that address instead, or allow redirects',
  'http-client-error': 'if it needs a login, give one with --header or the setting siteHeaders',
}

function createFetchError(url: string, reason: string, detail: string): PharosError {
  const advice =
    reason === 'address-refused'
      ? adviseAllowance(hostRuleOf(url))
      : (ADVICE[reason] ?? 'try again later, or open it in a browser')
  const words = detail.replace(/\b(\d{4,15}) bytes\b/, (_, bytes: string) => writeBytes(Number(bytes)))
  return new PharosError('FETCH_FAILED', { url, reason, problem: `${reason}, ${words}`, advice })
}
