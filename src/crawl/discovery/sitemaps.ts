import { isGzip } from '../../core/archive/is-gzip.ts'
import { resolveHttp } from '../../core/extract/resolve.ts'
import type { Snapshot } from '../../core/model.ts'
import { type SitemapEntry, SitemapReader } from '../../core/sitemap/sitemap.ts'
import { siteHostOf } from '../../core/url/key.ts'
import { isDefinitive, isProvenMissing, type Resource, type ResourceFetcher } from '../resource.ts'

/** Limits of a sitemap search. */
export interface SitemapLimits {
  /** Maximum number of admitted page addresses. @default 200,000 */
  readonly maxEntries?: number
  /** Maximum number of page addresses, admitted or not. @default 2,000,000 */
  readonly maxRead?: number
  /** Maximum number of requested files. @default 1,000 */
  readonly maxFiles?: number
  /** Maximum depth of nested indexes. @default 5 */
  readonly maxDepth?: number
  /** Maximum unpacked size of a file. @default 50 MB */
  readonly maxBytes?: number
}

/** Options of a sitemap search. */
export interface SitemapsOptions {
  /** Any address of the site. */
  readonly siteUrl: string
  /** The sitemaps that robots.txt names. */
  readonly fromRobots: readonly string[]
  readonly fetchResource: ResourceFetcher
  /** Whether an address belongs to the source. @default accepts all */
  readonly admits?: (url: string) => boolean
  readonly limits?: SitemapLimits
  readonly signal?: AbortSignal | undefined
}

/** A page that a sitemap lists, or the final report. */
export type SitemapItem =
  | {
      readonly type: 'page'
      readonly url: string
      /** The date as written in the file. */
      readonly lastModified: string | null
      /** Address of the file. */
      readonly foundOn: string
    }
  | { readonly type: 'report'; readonly report: SitemapReport }

/** A sitemap that was not read, or only in part. */
export interface SitemapFailure {
  readonly url: string
  readonly detail: string
  /** Whether the result is final: the file is missing, is not a sitemap, or must not be read. Otherwise the file may name more pages. */
  readonly isAnswered: boolean
}

/** Result of reading the sitemaps of a site. */
export interface SitemapReport {
  /** Files that could be read, with the number of entries taken from each. */
  readonly read: readonly { readonly url: string; readonly entries: number }[]
  /**
   * Files that could not be read completely, with the reason. Missing guessed files are left out. Limited to the maximum number of files.
   */
  readonly failed: readonly SitemapFailure[]
  /** Files whose content is known: read completely, or missing (404, 410). A redirected file is included with both addresses. */
  readonly settled: ReadonlySet<string>
  /**
   * Files that returned something other than a sitemap, or refused access, guessed ones included. They may still name the same pages as
   * before.
   */
  readonly doubtful: readonly { readonly url: string; readonly detail: string }[]
  readonly pages: number
  /** The limit that ended the search early. */
  readonly cappedBy: 'entries' | 'files' | null
}

interface QueuedFile {
  readonly url: string
  readonly depth: number
  /** Whether the address is a guess, so that a missing file is no failure. */
  readonly isGuess: boolean
}

/**
 * Reads the sitemaps of a site: those in robots.txt, `/sitemap.xml` and, if no page was found, `/sitemap_index.xml`; indexes with
 * everything below them. Each file is read once. A file on another host is read only if robots.txt names it, or if it is on the host of the
 * index that names it.
 *
 * Yields every page as it is read, and a report at the end. Throws if the signal is aborted, but never because of the content of a file.
 */
export async function* readSitemaps(options: SitemapsOptions): AsyncGenerator<SitemapItem, void, void> {
  const walk = new SitemapWalk(options)
  yield* walk.readAll()
  yield { type: 'report', report: walk.report }
}

type SitemapPage = Extract<SitemapItem, { type: 'page' }>
type FoundResource = Extract<Resource, { type: 'found' }>

class SitemapWalk {
  readonly #options: SitemapsOptions
  readonly #limits: Required<SitemapLimits>
  readonly #robotsUrls: readonly string[]
  /** Files that were requested. */
  readonly #seen = new Set<string>()
  /** Files that an index has named. */
  readonly #listed = new Set<string>()
  readonly #read: { url: string; entries: number }[] = []
  readonly #failed: SitemapFailure[] = []
  readonly #settled = new Set<string>()
  readonly #doubtful: { url: string; detail: string }[] = []
  #pages = 0
  #admitted = 0
  #files = 0
  #cappedBy: SitemapReport['cappedBy'] = null

  constructor(options: SitemapsOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#robotsUrls = options.fromRobots.flatMap((url) => resolveHttp(url, options.siteUrl) ?? [])
  }

  get report(): SitemapReport {
    const [read, failed, settled, doubtful] = [this.#read, this.#failed, this.#settled, this.#doubtful]
    return { read, failed, settled, doubtful, pages: this.#pages, cappedBy: this.#cappedBy }
  }

  async *readAll(): AsyncGenerator<SitemapPage, void, void> {
    const { siteUrl } = this.#options
    const stages: QueuedFile[][] = [
      this.#robotsUrls.map((url) => ({ url, depth: 0, isGuess: false })),
      [{ url: new URL('/sitemap.xml', siteUrl).href, depth: 0, isGuess: true }],
      [{ url: new URL('/sitemap_index.xml', siteUrl).href, depth: 0, isGuess: true }],
    ]
    for (const [stage, queue] of stages.entries()) {
      if (stage === 2 && this.#pages > 0) break
      for (let next = 0; next < queue.length && this.#cappedBy === null; next++) {
        const file = queue[next]
        if (file === undefined || this.#seen.has(file.url)) continue
        if (this.#files === this.#limits.maxFiles) {
          this.#cappedBy = 'files'
          break
        }
        this.#files++
        this.#seen.add(file.url)
        const resource = await this.#fetch(file)
        if (resource !== undefined) yield* this.#readFile(file, resource, queue)
      }
    }
  }

  /** Fetches a file, and records why there is none. */
  async #fetch(file: QueuedFile): Promise<FoundResource | undefined> {
    const { fetchResource, signal } = this.#options
    const resource = await fetchResource(file.url, { maxBytes: this.#limits.maxBytes, signal })
    if (resource.type === 'unchanged')
      throw new TypeError(`${file.url} was reported as unchanged, but the request had no validators`)
    if (resource.type === 'missing') {
      if (isProvenMissing(resource)) this.#settled.add(file.url)
      else this.#doubtful.push({ url: file.url, detail: `status ${resource.status}` })
      if (!file.isGuess) this.#fail(file.url, `status ${resource.status}`, true)
      return undefined
    }
    if (resource.type === 'failed') {
      const detail = `${resource.reason}: ${resource.detail}`
      if (isDefinitive(resource)) this.#doubtful.push({ url: file.url, detail })
      this.#fail(file.url, detail, isDefinitive(resource))
      return undefined
    }
    this.#seen.add(resource.url)
    return resource
  }

  /** Yields the pages of a file, and queues the files that it names. */
  async *#readFile(
    file: QueuedFile,
    { url, snapshot }: FoundResource,
    queue: QueuedFile[],
  ): AsyncGenerator<SitemapPage, void, void> {
    const { admits = () => true, signal } = this.#options
    const { maxEntries, maxRead, maxBytes } = this.#limits
    const reader = new SitemapReader(url, { maxEntries: Number.MAX_SAFE_INTEGER })
    let entries = 0
    let problem: string | undefined
    reading: for await (const piece of readEntries(snapshot, reader, maxBytes)) {
      signal?.throwIfAborted()
      if (piece.type === 'problem') {
        problem = piece.detail
        continue
      }
      for (const entry of piece.entries) {
        if (entry.type === 'sitemap') {
          entries++
          this.#queueNested(entry.url, file, url, queue)
          continue
        }
        const isAdmitted = admits(entry.url)
        if (this.#pages === maxRead || (isAdmitted && this.#admitted === maxEntries)) {
          this.#cappedBy = 'entries'
          break reading
        }
        this.#pages++
        if (isAdmitted) this.#admitted++
        entries++
        yield { type: 'page', url: entry.url, lastModified: entry.lastModified, foundOn: url }
      }
    }
    const isNotSitemap = problem === undefined && reader.kind === 'none'
    if (problem !== undefined) this.#fail(file.url, problem, false)
    else if (isNotSitemap && !file.isGuess) this.#fail(file.url, 'not a sitemap', true)
    if (isNotSitemap) this.#doubtful.push({ url: file.url, detail: 'not a sitemap' })
    else if (problem === undefined) this.#settled.add(file.url).add(url)
    if (reader.kind !== 'none') this.#read.push({ url: file.url, entries })
  }

  #queueNested(url: string, parent: QueuedFile, parentUrl: string, queue: QueuedFile[]): void {
    if (this.#listed.has(url)) return
    this.#listed.add(url)
    const refusal = this.#refuseNested(url, parent, parentUrl)
    if (refusal !== undefined) this.#fail(url, refusal, true)
    // One more than the limit is enough to detect that files are left out.
    else if (queue.length <= this.#limits.maxFiles) queue.push({ url, depth: parent.depth + 1, isGuess: false })
  }

  #refuseNested(url: string, parent: QueuedFile, parentUrl: string): string | undefined {
    const { maxDepth } = this.#limits
    if (parent.depth >= maxDepth) return `nested in more than ${maxDepth} indexes`
    const host = siteHostOf(url)
    const hosts = [this.#options.siteUrl, parentUrl].map(siteHostOf)
    return hosts.includes(host) || this.#robotsUrls.includes(url)
      ? undefined
      : 'on another host, and not named in robots.txt'
  }

  #fail(url: string, detail: string, isAnswered: boolean): void {
    if (this.#failed.length < this.#limits.maxFiles) this.#failed.push({ url, detail, isAnswered })
  }
}

const DEFAULT_LIMITS = { maxEntries: 200_000, maxRead: 2_000_000, maxFiles: 1000, maxDepth: 5, maxBytes: 50_000_000 }

type Piece =
  | { readonly type: 'entries'; readonly entries: readonly SitemapEntry[] }
  | { readonly type: 'problem'; readonly detail: string }

async function* readEntries(snapshot: Snapshot, reader: SitemapReader, maxBytes: number): AsyncGenerator<Piece> {
  try {
    for await (const text of readText(snapshot, maxBytes)) yield { type: 'entries', entries: reader.write(text) }
  } catch (error) {
    // Broken files are common; entries before the damage count.
    if (!(error instanceof UnreadableError)) throw error
    yield { type: 'problem', detail: error.message }
  }
  yield { type: 'entries', entries: reader.end() }
}

/** A file cannot be read completely; the message says why. */
class UnreadableError extends Error {}

const SLICE_LENGTH = 64 * 1024

async function* readText({ body, headers }: Snapshot, maxBytes: number): AsyncGenerator<string> {
  if (typeof body === 'string') {
    for (let i = 0; i < body.length; i += SLICE_LENGTH) yield body.slice(i, i + SLICE_LENGTH)
    return
  }
  let decoder: TextDecoder | undefined
  let size = 0
  for await (const bytes of isGzip(body) ? unpack(body) : slices(body)) {
    size += bytes.length
    if (size > maxBytes) throw new UnreadableError(`larger than ${maxBytes} bytes`)
    decoder ??= new TextDecoder(encodingOf(bytes, headers?.['content-type'] ?? ''))
    yield decoder.decode(bytes, { stream: true })
  }
  const end = decoder?.decode() ?? ''
  if (end !== '') yield end
}

function* slices(body: Uint8Array): Generator<Uint8Array> {
  for (let i = 0; i < body.length; i += SLICE_LENGTH) yield body.subarray(i, i + SLICE_LENGTH)
}

async function* unpack(body: Uint8Array): AsyncGenerator<Uint8Array> {
  const gzip = new DecompressionStream('gzip')
  const writer = gzip.writable.getWriter()
  const reader = gzip.readable.getReader()
  const writing = (async () => {
    for (const slice of slices(body)) await writer.write(new Uint8Array(slice))
    await writer.close()
  })()
  // The reader below reports the same error.
  writing.catch(() => {})
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new UnreadableError('the archive is damaged', { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    // Stops the writer too when only a part was read. After damage there is nothing left to stop.
    await reader.cancel().catch(() => {})
  }
}

/** Encoding of a file: from its byte order mark, its XML declaration or its Content-Type; otherwise UTF-8. */
function encodingOf(bytes: Uint8Array, contentType: string): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const beginning = String.fromCharCode(...bytes.subarray(0, 200))
  const label =
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+)/.exec(beginning)?.[1] ??
    /charset=["']?([\w-]+)/i.exec(contentType)?.[1]
  try {
    return new TextDecoder(label ?? 'utf-8').encoding
  } catch (error) {
    // An unknown label is ignored.
    if (error instanceof RangeError) return 'utf-8'
    throw error
  }
}
