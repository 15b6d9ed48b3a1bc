import { gzipSync } from 'node:zlib'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { type Answer, type AnswerParts, openSite, page, redirect, sitemap, text } from '../sites/site.ts'

/** For each fault of a site, the share of page requests that it affects. */
export interface FaultRates {
  /** The response takes 0.2 to 2 s. */
  readonly slow?: number
  /** Status 500. */
  readonly error?: number
  /** Status 503 with a Retry-After of one second. */
  readonly busy?: number
  /** Status 429 without Retry-After. */
  readonly limited?: number
  /** The connection is reset. */
  readonly reset?: number
  /** No response before the client times out. */
  readonly silent?: number
}

/** Options of a faulty site. */
export interface FaultySiteOptions {
  readonly address: string
  /** Number of pages; a multiple of 20. */
  readonly size: number
  /** Length of each of the two large pages. */
  readonly largeBytes: number
  readonly faultRates: FaultRates
  /** The Crawl-delay of the site. @default none */
  readonly crawlDelayMs?: number
}

/** A real web site on loopback with constantly changing faults. */
export interface FaultySite {
  readonly origin: string
  /** Number of requests that the site has received. */
  countRequests(): number
  /** Arrival times of these requests in milliseconds since 1970, sorted. */
  arrivalTimes(): number[]
  /** Lets pages change, appear and vanish. */
  changePages(): void
  /** Ends all faults. */
  clearFaults(): void
  /** Paths of the pages that exist now, sorted. */
  paths(): string[]
  close(): Promise<void>
}

/** Pages in a section. */
const SECTION_SIZE = 20
/** Every tenth page appears and disappears, never so many at once that the loss gate would keep them. */
const EPHEMERAL_EVERY = 10
const LARGE_PAGES = 2
/** Longer than the timeout for the first byte. */
const SILENT_MS = 12_000

const WORDS =
  'amber birch cedar delta ember fjord grove heron inlet juniper kelp lichen marsh nectar otter pebble quartz reed sedge thistle umber violet willow yarrow'.split(
    ' ',
  )

/** Opens a faulty site. A fault depends only on the address, the path and the number of earlier requests for the path. */
export async function openFaultySite(options: FaultySiteOptions): Promise<FaultySite> {
  const { address, size, largeBytes, faultRates, crawlDelayMs } = options
  const site = await openSite({}, { address })
  const pages = Array.from({ length: size }, (_, i) => ({
    path: i < LARGE_PAGES ? `/large/${i}` : `/section/${Math.floor(i / SECTION_SIZE)}/${wordAt(address, i)}-${i}`,
    isLarge: i < LARGE_PAGES,
    isEphemeral: i % EPHEMERAL_EVERY === EPHEMERAL_EVERY - 1,
    isPresent: true,
    version: 0,
    requestCount: 0,
  }))
  type SitePage = (typeof pages)[number]
  const sections = Array.from({ length: Math.ceil(size / SECTION_SIZE) }, (_, i) => `/section/${i}`)
  const pagesOf = (i: number) => pages.slice(i * SECTION_SIZE, (i + 1) * SECTION_SIZE)
  const present = () => pages.filter(({ isPresent }) => isPresent)
  let areFaultsCleared = false
  let changeCount = 0
  const clearedTimes: number[] = []

  const answer = (sitePage: SitePage, write: () => string | AnswerParts): Answer => {
    return (request) => {
      const chance = draw(address, sitePage.path, sitePage.requestCount++)
      const fault = areFaultsCleared ? undefined : pickFault(faultRates, chance)
      if (fault === 'reset') request.socket.resetAndDestroy()
      const delayMs = fault === 'silent' ? SILENT_MS : fault === 'slow' ? 200 + 1800 * draw(chance) : 0
      const failure = fault === undefined ? undefined : FAILURES[fault]
      const content = failure ?? (sitePage.isPresent ? write() : { status: 404, body: 'not found' })
      const parts = typeof content === 'string' ? { body: content } : content
      return delayMs === 0 ? parts : { ...parts, delayMs }
    }
  }
  const writePage = (sitePage: SitePage, i: number): string | AnswerParts => {
    const paragraphs = writeText(`${sitePage.path} ${sitePage.version}`, sitePage.isLarge ? largeBytes : 3000)
    const title = `About ${wordAt(sitePage.path)} ${wordAt(sitePage.path, 'second')}`
    const body = page(title, [sections[Math.floor(i / SECTION_SIZE)] ?? '/']).replace('<ul>', `${paragraphs}<ul>`)
    if (i % 3 !== 0) return body
    return { headers: { 'content-encoding': 'gzip' }, body: gzipSync(body, { level: 1 }) }
  }
  /** Renders each version of a page once, so that the site is not the bottleneck. */
  const writer = (sitePage: SitePage, i: number) => {
    let [version, written]: [number, string | AnswerParts] = [0, writePage(sitePage, i)]
    return () => {
      if (version !== sitePage.version) [version, written] = [sitePage.version, writePage(sitePage, i)]
      return written
    }
  }

  pages.forEach((sitePage, i) => {
    site.pages.set(sitePage.path, answer(sitePage, writer(sitePage, i)))
    // Earlier addresses of pages, which redirect.
    if (i % SECTION_SIZE === 5) site.pages.set(`/old/${i}`, redirect(sitePage.path))
  })
  sections.forEach((path, i) => {
    const links = () => pagesOf(i).flatMap((sitePage) => (sitePage.isPresent ? [sitePage.path] : []))
    site.pages.set(path, () => page(`Section ${wordAt(path)}`, [...links(), `/old/${i * SECTION_SIZE + 5}`, '/']))
  })
  site.pages.set('/', page('Home', sections))
  const crawlDelay = crawlDelayMs === undefined ? '' : `Crawl-delay: ${crawlDelayMs / 1000}\n`
  site.pages.set('/robots.txt', text(`User-agent: *\nDisallow: /private\n${crawlDelay}`))
  site.pages.set('/sitemap.xml', () => sitemap(present().map(({ path }) => `${site.origin}${path}`)))

  return {
    origin: site.origin,
    countRequests: () => clearedTimes.length + site.requests.length,
    arrivalTimes: () => [...clearedTimes, ...site.requests.map(({ at }) => at)].sort((a, b) => a - b),
    changePages() {
      changeCount++
      for (const sitePage of pages) {
        if (draw(address, sitePage.path, changeCount, 'change') < (sitePage.isLarge ? 0.5 : 0.1)) sitePage.version++
        if (sitePage.isEphemeral && draw(address, sitePage.path, changeCount, 'vanish') < 0.2) {
          sitePage.isPresent = !sitePage.isPresent
        }
      }
      for (const { at } of site.requests) clearedTimes.push(at)
      site.clearRequests()
    },
    clearFaults() {
      areFaultsCleared = true
    },
    paths: () => ['/', ...sections, ...present().map(({ path }) => path)].sort(compareUtf8),
    close: () => site.close(),
  }
}

const FAILURES: Readonly<Partial<Record<keyof FaultRates, AnswerParts>>> = {
  error: { status: 500, body: 'an error' },
  busy: { status: 503, headers: { 'retry-after': '1' }, body: 'busy' },
  limited: { status: 429, body: 'too many requests' },
}

function pickFault(faultRates: FaultRates, chance: number): keyof FaultRates | undefined {
  let sum = 0
  for (const [name, share] of Object.entries(faultRates)) {
    sum += share
    if (chance < sum) return name as keyof FaultRates
  }
  return undefined
}

/** Paragraphs of words that no other page has in this order. */
function writeText(seed: string, bytes: number): string {
  const paragraphs: string[] = []
  let state = hashOf(seed)
  for (let length = 0; length < bytes; ) {
    const words = Array.from({ length: 60 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return WORDS[(state >>> 16) % WORDS.length]
    })
    const paragraph = `<p>${words.join(' ')}.</p>\n`
    paragraphs.push(paragraph)
    length += paragraph.length
  }
  return paragraphs.join('')
}

function wordAt(...parts: readonly (string | number)[]): string {
  return WORDS[Math.floor(draw(...parts) * WORDS.length)] ?? ''
}

/** A deterministic pseudo-random number from 0 up to 1 for the given parts. */
function draw(...parts: readonly (string | number)[]): number {
  return hashOf(parts.join(' ')) / 2 ** 32
}

function hashOf(seed: string): number {
  let hash = 2_166_136_261
  for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 16_777_619)
  // Without these steps, the last characters would change only the last bits.
  hash = Math.imul(hash ^ (hash >>> 16), 2_246_822_507)
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909)
  return (hash ^ (hash >>> 16)) >>> 0
}
