import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { readPastedAddress } from '../../core/url/pasted-address.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { REACHES, type Reach } from '../../core/url/scope.ts'
import { withScheme } from '../../core/url/with-scheme.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import { parseRemoteTree, parseStart } from '../crawl/add-source.ts'
import { DEFAULT_LIMITS } from '../crawl/prepare-start.ts'
import { CRAWL_TYPES, type CrawlType, hasPlan, RENDERINGS, type Rendering } from '../source.ts'
import type { CrawlRequest } from './dispatcher.ts'

/** Duration in the format of the HTTP API: a whole number with s, m, h or d; without a unit, seconds. */
export const DURATION_PATTERN: RegExp = /^\d{1,9}[smhd]?$/

const freshness = z
  .union([
    z.string().trim().regex(DURATION_PATTERN, 'expected a duration such as 90s, 6h or 7d'),
    z.int().min(0).transform(String),
  ])
  .optional()
const count = (min: number, max: number) =>
  z
    .union([
      z.int().min(min).max(max),
      z
        .string()
        .trim()
        .regex(/^\d{1,15}$/, 'expected a whole number')
        .transform(Number),
    ])
    .pipe(z.int().min(min).max(max))
    .optional()
const flag = z.boolean().optional()

/** Schema of planner options. Absent options stay absent, as the type requires. */
export const plannerSchema: z.ZodType<PlannerOptions> = z
  .object({
    hubMaxPages: z.int().min(1).max(1_000_000),
    hubMaxDays: z.int().min(1).max(36_500),
    maxSeeds: z.int().min(1).max(100_000),
    targetHosts: z.array(z.string().max(253)).max(1000),
    verbosity: z.int().min(0).max(3),
  })
  .partial() as z.ZodType<PlannerOptions>

/** Schema of the rendering mode. */
export const renderSchema: z.ZodType<Rendering> = z
  .enum(RENDERINGS)
  .describe(
    'How pages are read: http without a browser, auto with a browser if a page needs one, chromium always with a browser, crawl4ai by the Crawl4AI service. Later crawls of the source keep this value.',
  )

/** Body of `POST /api/crawl`. The API contract defines all fields that are not marked as extensions. */
export interface CrawlBody {
  readonly startUrl?: string | undefined
  readonly crawlType?: CrawlType | undefined
  /** Extension: how pages are rendered. */
  readonly render?: Rendering | undefined
  /** Extension: scope of the crawl. */
  readonly scope?: Reach | undefined
  /** Extension: puts the crawl in the queue instead of refusing it when the crawl limit is reached. */
  readonly queue?: boolean | undefined
  readonly depth?: number | undefined
  readonly maxPages?: number | undefined
  /** `crawlType` overrides `useSitemap` and `sitemapOnly`. */
  readonly useSitemap?: boolean | undefined
  readonly sitemapOnly?: boolean | undefined
  readonly concurrency?: number | undefined
  readonly maxQueue?: number | undefined
  readonly requestTimeoutMs?: number | undefined
  readonly fastStart?: boolean | undefined
  readonly preferCache?: boolean | undefined
  readonly slow?: boolean | undefined
  readonly allowQueryUrls?: boolean | undefined
  readonly pacerJitterMinMs?: number | undefined
  readonly pacerJitterMaxMs?: number | undefined
  readonly dbPath?: string | undefined
  /** `refetchIfOlderThan` and `maxAge` set the same refetch window; `refetchIfOlderThan` takes precedence. */
  readonly refetchIfOlderThan?: string | undefined
  readonly maxAge?: string | undefined
  readonly refetchArticleIfOlderThan?: string | undefined
  readonly refetchHubIfOlderThan?: string | undefined
  /** Planner options. */
  readonly hubMaxPages?: number | undefined
  readonly hubMaxDays?: number | undefined
  readonly intMaxSeeds?: number | undefined
  readonly intTargetHosts?: readonly string[] | undefined
  readonly plannerVerbosity?: number | undefined
  /** Extension: starts even if too little is known about the site. */
  readonly force?: boolean | undefined
}

/** Schema of {@link CrawlBody}. Unknown fields are ignored, and so is `mode`. */
export const crawlBodySchema: z.ZodType<CrawlBody> = z.object({
  startUrl: z
    .string()
    .trim()
    .min(1)
    .max(2000)
    .optional()
    .describe('Start of the crawl: an http or https address, an archive, a repository or a package.'),
  crawlType: z
    .enum(CRAWL_TYPES)
    .optional()
    .describe(
      'Where addresses come from. intelligent plans what to visit; history is refused until enough is known about the site. The fields that begin with hub, int and planner apply to these two types only. GET /api/crawl-types lists all types.',
    ),
  render: renderSchema.optional(),
  scope: z
    .enum(REACHES)
    .optional()
    .describe('How far the crawl may go from its start: below its path, on its host, or on all hosts of its domain.'),
  queue: flag.describe('Queues the crawl instead of answering 409 when the crawl limit is reached.'),
  depth: count(0, 1000).describe(
    'Maximum link depth from the start, for this crawl only. Pages beyond it stay in the library. Default for a site: 2.',
  ),
  maxPages: count(1, 100_000_000).describe('Page limit, for this crawl only. Default: none.'),
  useSitemap: flag.describe('Whether sitemaps are read. Ignored if crawlType is given.'),
  sitemapOnly: flag.describe('Takes addresses from sitemaps only. Ignored if crawlType is given.'),
  concurrency: count(1, 256).describe('Maximum number of concurrent requests; the server may allow fewer.'),
  maxQueue: count(1, 100_000_000).describe('Accepted and ignored: the queue is on disk and has no limit.'),
  requestTimeoutMs: count(1, 600_000).describe('Timeout of one request, in milliseconds.'),
  fastStart: flag.describe('Accepted and ignored: every start is fast.'),
  preferCache: flag.describe(
    'true uses stored pages, however old they are; false requests every page. Ignored if refetchIfOlderThan is given.',
  ),
  slow: flag.describe('Leaves at least a second between two requests to a host.'),
  allowQueryUrls: flag.describe('Keeps tracking and display parameters in addresses.'),
  pacerJitterMinMs: count(0, 60_000).describe(
    'Minimum jitter added to the pause between two requests to a host, on this machine too, in milliseconds.',
  ),
  pacerJitterMaxMs: count(0, 60_000).describe(
    'Maximum jitter added to the pause between two requests to a host, on this machine too, in milliseconds.',
  ),
  dbPath: z
    .string()
    .trim()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'Another library for this crawl: the name of a .db, .sqlite or .sqlite3 file beside the library of the server.',
    ),
  refetchIfOlderThan: freshness.describe(
    'Pages that were checked within this time are not requested again: 90s, 30m, 6h, 7d, or seconds.',
  ),
  maxAge: freshness.describe('Same as refetchIfOlderThan, which takes precedence if both are given.'),
  refetchArticleIfOlderThan: freshness.describe('Same as refetchIfOlderThan, but only for articles.'),
  refetchHubIfOlderThan: freshness.describe(
    'Same as refetchIfOlderThan, but only for hubs: pages that mainly lead to others.',
  ),
  hubMaxPages: count(1, 1_000_000).describe('With a plan: page limit for each hub.'),
  hubMaxDays: count(1, 36_500).describe('With a plan: skips pages whose address has an older date.'),
  intMaxSeeds: count(1, 100_000).describe('With a plan: limit of guessed addresses.'),
  intTargetHosts: z
    .union([
      z.array(z.string().max(253)).max(1000),
      z
        .string()
        .max(300_000)
        .transform((text) => text.split(',')),
    ])
    .transform((hosts) => hosts.map((host) => host.trim().toLowerCase()).filter((host) => host !== ''))
    .pipe(
      z
        .array(
          z
            .string()
            .max(253)
            .regex(/^[^\s,/]+$/, 'expected the name of a host'),
        )
        .max(1000),
    )
    .optional()
    .describe('Plans only for hosts whose names end with one of these: a list, or separated by commas.'),
  mode: z.unknown().optional().describe('Accepted and ignored.'),
  plannerVerbosity: count(0, 3).describe('How much the plan logs: 0 nothing, 3 everything.'),
  force: flag.describe('Starts a history crawl even if too little is known about the site.'),
})

/** Defaults for fields that a body omits. */
export interface CrawlRequestDefaults {
  /** Start address if the body has none; if empty or undefined, such a body is refused. */
  readonly defaultStartUrl?: string | undefined
  /** Library of the server, safe to display. */
  readonly libraryPath: string
}

/** Parses the body of `POST /api/crawl` and writes the command-line arguments of the crawl process. */
export function parseCrawlRequest(
  body: unknown,
  { defaultStartUrl = '', libraryPath }: CrawlRequestDefaults,
): CrawlRequest {
  const { success, data, error } = crawlBodySchema.safeParse(body ?? {})
  if (!success) throw usageError(describeFirstIssue(error))
  const start = data.startUrl ?? defaultStartUrl
  if (start === '') throw usageError('startUrl: expected an address, got none')
  const address = expandShorthand(start)
  const tree = parseRemoteTree(address)
  const href = tree ?? parseStart(address).href
  const { pacerJitterMinMs: minMs = 0, pacerJitterMaxMs: maxMs = minMs } = data
  if (minMs > maxMs) {
    throw usageError(`pacerJitterMinMs: ${minMs} is more than pacerJitterMaxMs, ${maxMs}`)
  }
  const depth = data.depth ?? (tree === undefined ? DEFAULT_LIMITS.maxDepth : undefined)
  return { url: href, args: [href, ...writeFlags({ ...data, depth }, libraryPath)] }
}

function describeFirstIssue(error: z.ZodError): string {
  const [issue] = error.issues
  return `${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'it is invalid'}`
}

/** Converts a body to flags written as `--flag=value`, so that no value can be mistaken for a flag. */
function writeFlags(body: CrawlBody, libraryPath: string): string[] {
  const { crawlType, maxPages, intTargetHosts } = body
  const values: readonly (readonly [flag: string, value: string | number | undefined])[] = [
    [
      'crawl-type',
      crawlType ?? (body.useSitemap === true && body.sitemapOnly !== true ? 'basic-with-sitemap' : undefined),
    ],
    ['render', body.render],
    ['scope', body.scope],
    ['depth', body.depth],
    ['max-pages', maxPages],
    ['sitemap-max', maxPages],
    ['concurrency', body.concurrency],
    ['max-queue', body.maxQueue],
    ['request-timeout-ms', body.requestTimeoutMs],
    ['pacer-jitter-min-ms', body.pacerJitterMinMs],
    ['pacer-jitter-max-ms', body.pacerJitterMaxMs],
    ['db', checkPath(body.dbPath, libraryPath)],
    ['max-age', body.refetchIfOlderThan ?? body.maxAge],
    ['refetch-article-if-older-than', body.refetchArticleIfOlderThan],
    ['refetch-hub-if-older-than', body.refetchHubIfOlderThan],
    ...(hasPlan(crawlType)
      ? ([
          ['hub-max-pages', body.hubMaxPages],
          ['hub-max-days', body.hubMaxDays],
          ['int-max-seeds', body.intMaxSeeds],
          [
            'int-target-hosts',
            intTargetHosts === undefined || intTargetHosts.length === 0 ? undefined : intTargetHosts.join(','),
          ],
          ['planner-verbosity', body.plannerVerbosity],
        ] as const)
      : []),
  ]
  const switches: readonly (readonly [flag: string, isOn: boolean])[] = [
    // `crawlType` overrides these flags.
    ['sitemap-only', crawlType === undefined && body.sitemapOnly === true],
    ['no-sitemap', crawlType === undefined && body.sitemapOnly !== true && body.useSitemap === false],
    ['fast-start', body.fastStart === true],
    ['prefer-cache', body.preferCache === true],
    ['no-prefer-cache', body.preferCache === false],
    ['slow', body.slow === true],
    ['allow-query-urls', body.allowQueryUrls === true],
    ['force', body.force === true],
  ]
  return [
    ...values.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...switches.flatMap(([name, isOn]) => (isOn ? [`--${name}`] : [])),
  ]
}

/** File names that a request may use as a library. */
const LIBRARY_NAME = /^[\w][\w.-]*\.(?:db|sqlite3?)$/

/** Allows only the server's own library or one in the same folder, because an HTTP client must not choose arbitrary files. */
function checkPath(path: string | undefined, libraryPath: string): string | undefined {
  if (path === undefined) return undefined
  if (isPostgres(libraryPath)) {
    // The process already has this connection address.
    if (path === libraryPath) return undefined
    throw usageError('dbPath: this server uses only its own library in PostgreSQL')
  }
  if (path === libraryPath) return path
  const folder = libraryPath.slice(0, Math.max(libraryPath.lastIndexOf('/'), libraryPath.lastIndexOf('\\')) + 1)
  const name = path.startsWith(folder) ? path.slice(folder.length) : path
  if (!LIBRARY_NAME.test(name)) {
    const problem = `dbPath: expected a file such as other.db beside the library of this server, got ${JSON.stringify(path)}`
    throw usageError(problem)
  }
  return folder + name
}

/** Replaces `owner/name` and the like, which are no addresses, by what they mean. Pages keep the branch and folder that they name. */
function expandShorthand(start: string): string {
  return URL.canParse(withScheme(start)) ? start : readPastedAddress(start).url
}
