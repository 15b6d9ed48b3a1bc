import { PharosError } from '../../core/errors.ts'
import type { Page } from '../../core/model.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { urlKey } from '../../core/url/key.ts'
import { Pacer } from '../../crawl/pacer.ts'
import type { Fetcher, FetchOutcome } from '../../crawl/ports.ts'
import { createResourceFetcher } from '../../crawl/resource.ts'
import { RobotsRules } from '../../crawl/robots-rules.ts'
import type { Library } from '../library.ts'
import { parseStart } from './add-source.ts'

/** How one address is fetched. */
export interface FetchUrlOptions {
  /** Fields sent to the origin of the address only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether robots.txt is asked. @default true */
  readonly obeysRobots?: boolean
  /** Whether it is read where it redirects to. @default true */
  readonly followsRedirects?: boolean
  readonly signal: AbortSignal
}

/** Fetches one address and reads it. Nothing is stored but the clock of its host. */
export async function fetchUrl(library: Library, text: string, options: FetchUrlOptions): Promise<Page> {
  const { store, clock, random, limits } = library
  const { headers = {}, obeysRobots = true, followsRedirects = true, signal } = options
  const asked = parseStart(text)
  const pacer = new Pacer({ ledger: store, clock, random, limits })
  const fetcher = pacedFetcher(library, pacer)
  const robots = new RobotsRules({
    fetchResource: createResourceFetcher({ fetcher, pacer }),
    ledger: store,
    clock,
    setDelay: pacer.setDelay,
  })
  let url = asked.href
  for (let hops = 0; hops <= limits.redirects; hops++) {
    await refuseHeld(library, url)
    if (obeysRobots) {
      const permission = await robots.judge(url, signal)
      if (!permission.allowed)
        throw refused(url, permission.reason, permission.pattern ?? 'this address may not be reached')
    }
    if ((await pacer.takeTurn(new URL(url).host, signal)) !== 'go') await refuseHeld(library, url)
    const isOwn = new URL(url).origin === asked.origin
    const outcome = await fetcher.fetch({ url, signal, headers: isOwn ? headers : {} })
    if (outcome.type !== 'moved') return readAnswer(library, url, outcome)
    if (!followsRedirects) throw refused(url, 'redirect', `it redirects to ${outcome.target}`)
    url = outcome.target
    if (urlKey(url) === undefined) throw refused(url, 'scheme', 'it redirects to something else than a web page')
  }
  throw refused(text, 'redirect-loop', `more than ${limits.redirects} redirects`)
}

/** Whoever asks for one page waits for the pause of its host, but not until a host that wants to be left alone is asked again. */
async function refuseHeld({ store, clock }: Library, url: string): Promise<void> {
  const now = clock.now()
  const { heldUntil } = await store.readClock(new URL(url).host, now)
  if (heldUntil - now <= MOST_WAIT_MS) return
  const seconds = Math.ceil((heldUntil - now) / 1000)
  throw refused(url, 'host-parked', `its host asked to be left alone or failed, and is for ${seconds} more seconds`)
}

const MOST_WAIT_MS = 10_000

/** What comes of each fetch sets the pace of its host. */
function pacedFetcher({ fetcher, clock }: Library, pacer: Pacer): Fetcher {
  return {
    async fetch(request) {
      const askedAt = clock.now()
      const outcome = await fetcher.fetch(request)
      await pacer.note(new URL(request.url).host, outcome, askedAt)
      return outcome
    },
  }
}

async function readAnswer(library: Library, url: string, outcome: FetchOutcome): Promise<Page> {
  switch (outcome.type) {
    case 'fetched': {
      const { extraction } = await library.readPage(outcome.snapshot, urlKey(url) ?? url)
      if (extraction.type === 'page') return extraction.page
      const advice = 'open it in a browser to see what it shows; `pharos extract --debug` tells more about a saved page'
      throw new PharosError('PAGE_REFUSED', {
        source: url,
        reason: extraction.reason.replaceAll('_', '-'),
        detail: extraction.detail,
        advice,
      })
    }
    case 'gone':
      throw refused(url, 'not-found', `answered ${outcome.status}`)
    case 'refused':
    case 'failed':
      throw refused(url, outcome.reason, outcome.detail)
    default:
      throw refused(url, 'bad-answer', 'answered that nothing changed')
  }
}

/** What can be done about a few of the reasons. */
const ADVICE: Readonly<Record<string, string>> = {
  'address-refused': 'a private address needs --allow-private, or allowPrivate in the configuration',
  'robots-disallow': 'if you may read it all the same, add --ignore-robots',
  'robots-unreachable': 'try again later, or add --ignore-robots',
  'too-large': 'raise --max-page-bytes',
  'not-found': 'check the address',
  redirect: 'ask for that address instead, or let redirects be followed',
  'http-client-error': 'if it needs a login, give one with --header',
}

function refused(url: string, reason: string, detail: string): PharosError {
  const advice = ADVICE[reason] ?? 'try again later, or open it in a browser'
  const words = detail.replace(/\b(\d{4,15}) bytes\b/, (_, bytes: string) => writeBytes(Number(bytes)))
  return new PharosError('FETCH_FAILED', { url, problem: `${reason}, ${words}`, advice })
}
