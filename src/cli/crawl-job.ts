import type { Command } from 'commander'
import { z } from 'zod'
import type { EffectiveConfig } from '../config.ts'
import { CHUNK_PROFILES } from '../core/chunk/profiles.ts'
import { messageOf, PharosError, usageError } from '../core/errors.ts'
import { parseDuration } from '../core/text/duration.ts'
import { REACHES, type Reach } from '../core/url/scope.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import { CRAWL_KINDS, type CrawlKind, type PauseCause } from '../crawl/events.ts'
import type { CrawlInput } from '../library/crawl/crawl-source.ts'
import { pauseCauseAfter } from '../library/crawl/pause-cause.ts'
import type { StartInput } from '../library/crawl/prepare-start.ts'
import { withdrawAfterFailure } from '../library/crawl/withdraw-source.ts'
import { DURATION_PATTERN, plannerSchema } from '../library/jobs/crawl-request.ts'
import { TRIAL_FLAG } from '../library/jobs/source-request.ts'
import type { Library } from '../library/library.ts'
import { noteRefreshProblem } from '../library/refresh/claim-due.ts'
import { SCHEDULED_FLAG } from '../library/refresh/keep-refreshing.ts'
import { CRAWL_TYPES, type CrawlType, RENDERINGS } from '../library/source.ts'
import { findSource } from '../library/sources/find-source.ts'
import type { OpenLibrary } from '../open-library.ts'
import type { CrawlAssignment } from '../processes/crawl-process.ts'
import type { Config } from '../settings/settings.ts'
import { findFailure } from './crawl-failure.ts'
import { interruptible } from './interrupt.ts'
import { addLibraryOptions, createHintFor, openConfiguredLibrary, READ_SETTINGS, withLibrary } from './library.ts'
import { configOf, oneOf, wholeNumber } from './options/options.ts'
import { addPlannerOptions, type PlannerFlags, plannerOf } from './options/planner-options.ts'
import { addRenderOption, type RenderFlags } from './options/render-option.ts'
import { retryUntilReachable } from './retry-until-reachable.ts'

/** The job of a process that crawls for a server. */
export interface CrawlJob {
  readonly config: EffectiveConfig
  /** Minimum delay between two requests to any host, including this machine. */
  readonly minDelayMs: number
  /** Id of the process whose crawl this one takes over. */
  readonly goneRunner?: string
  /** Whether the schedule of the source has started this crawl. */
  readonly isScheduled?: boolean
  /** Whether a new source is removed if this crawl reads no page of it. */
  readonly isTrial?: boolean
  /** What to crawl: a start address, an existing source, or a crawl of another process to take part in. */
  readonly target:
    | { readonly type: 'start'; readonly input: StartInput }
    | { readonly type: 'source'; readonly source: string; readonly input: CrawlInput }
    | { readonly type: 'join'; readonly crawl: string }
}

interface JobFlags extends PlannerFlags, RenderFlags {
  readonly goneRunner?: string
  readonly scheduled?: boolean
  readonly trial?: boolean
  readonly join?: string
  readonly source?: string
  readonly kind?: CrawlKind
  readonly options?: string
  readonly crawlType?: CrawlType
  readonly sitemap: boolean
  readonly sitemapOnly?: boolean
  readonly sitemapMax?: number
  readonly scope?: Reach
  readonly depth?: number
  readonly maxPages?: number
  readonly maxDownloads?: number
  readonly refetchIfOlderThan?: number
  readonly refetchArticleIfOlderThan?: number
  readonly refetchHubIfOlderThan?: number
  readonly requestTimeoutMs?: number
  readonly rateLimitMs?: number
  readonly pacerJitterMinMs?: number
  readonly pacerJitterMaxMs?: number
  readonly db?: string
  readonly slow?: boolean
  readonly preferCache?: boolean
  readonly allowQueryUrls?: boolean
}

/** `pharos crawl-job`, which servers start for each crawl. Not meant for users. */
export function addCrawlJob(program: Command): void {
  const command = addJobOptions(program.command('crawl-job', { hidden: true }))
  command.action((url: string | undefined) => {
    const { goneRunner, scheduled: isScheduled = false, trial: isTrial = false } = command.opts<JobFlags>()
    return runJob({
      ...readJob(command, url),
      isScheduled,
      isTrial,
      ...(goneRunner === undefined ? {} : { goneRunner }),
    })
  })
}

/** Adds the options of a crawl job. */
export function addJobOptions(command: Command): Command {
  const count = (flag: string, minimum = 0) => wholeNumber(flag, minimum)
  command
    .description('crawl for a server: prints frames, reads PAUSE, RESUME and CONCURRENCY')
    .argument('[url]', 'where to start')
    .option('--job-id <uuid>', 'the job that this process runs')
    .option('--gone-runner <id>', 'the process whose crawl this one takes over')
    .option(SCHEDULED_FLAG, 'the schedule of the source started this crawl')
    .option(TRIAL_FLAG, 'remove the source if this first crawl reads no page of it')
    .option('--join <uuid>', 'take part in this crawl, which another process has begun')
    .option('--source <id>', 'crawl this source instead of a start address')
    .option('--kind <kind>', `kind of the crawl: ${CRAWL_KINDS.join(', ')}`, oneOf('--kind', CRAWL_KINDS))
    .option('--options <json>', 'options for the crawl of a source')
    .option(
      '--crawl-type <type>',
      `where to look for pages: ${CRAWL_TYPES.join(', ')}`,
      oneOf('--crawl-type', CRAWL_TYPES),
    )
    .option('--no-sitemap', 'follow links only')
    .option('--sitemap-only', 'read sitemaps only')
    .option('--sitemap-max <count>', 'maximum number of addresses from sitemaps', count('--sitemap-max', 1))
    .option('--scope <reach>', `how far from the start: ${REACHES.join(', ')}`, oneOf('--scope', REACHES))
    .option('--depth <links>', 'maximum links from the start, for this crawl only (default: 2)', count('--depth'))
    .option('--max-pages <count>', 'maximum number of pages', count('--max-pages', 1))
    .option('--max-downloads <count>', 'the same as --max-pages', count('--max-downloads', 1))
    .option('--refetch-if-older-than <time>', 'the same as --max-age', freshness('--refetch-if-older-than'))
    .option('--refetch-article-if-older-than <time>', 'for articles', freshness('--refetch-article-if-older-than'))
    .option('--refetch-hub-if-older-than <time>', 'for hubs', freshness('--refetch-hub-if-older-than'))
    .option('--max-queue <count>', 'no effect: the queue is on disk and has no limit', count('--max-queue', 1))
    .option('--request-timeout-ms <ms>', 'timeout of a response', count('--request-timeout-ms', 1))
    .option('--rate-limit-ms <ms>', 'minimum delay between two requests to a host', count('--rate-limit-ms'))
    .option('--pacer-jitter-min-ms <ms>', 'minimum jitter of a delay', count('--pacer-jitter-min-ms'))
    .option('--pacer-jitter-max-ms <ms>', 'maximum jitter of a delay', count('--pacer-jitter-max-ms'))
    .option('--db <path>', 'another library')
    .option('--slow', 'leave at least a second between two requests to a host, on this machine too')
    .option('--fast-start', 'no effect: every start is fast')
    .option('--prefer-cache', 'use stored pages, however old')
    .option('--no-prefer-cache', 'fetch every page')
    .option('--allow-query-urls', 'keep tracking and display parameters in addresses')
  return addLibraryOptions(addPlannerOptions(addRenderOption(command, 'kept for later crawls')), [
    'maxAge',
    ...READ_SETTINGS,
  ])
}

/** Parses the options of a crawl job. */
export function readJob(command: Command, url: string | undefined): CrawlJob {
  const flags = command.opts<JobFlags>()
  const config = withFlags(configOf(command), flags)
  const minDelayMs = minDelayOf(flags)
  if ([url, flags.source, flags.join].filter((value) => value !== undefined).length !== 1) {
    throw usageError('expected either an address, --source or --join')
  }
  if (flags.join !== undefined) return { config, minDelayMs, target: { type: 'join', crawl: flags.join } }
  if (flags.source !== undefined) {
    const input = { maxAgeMs: config.values.maxAge, ...parseOptions(flags.options), kind: flags.kind ?? 'recrawl' }
    return { config, minDelayMs, target: { type: 'source', source: flags.source, input } }
  }
  const maxPages = flags.maxPages ?? flags.maxDownloads
  const input: StartInput = {
    url: url ?? '',
    scope: {
      ...withoutUndefined({ reach: flags.scope, maxDepth: flags.depth, maxPages }),
      ...(flags.allowQueryUrls === true ? { allowQueryUrls: true } : {}),
    },
    crawlType: typeOf(flags),
    render: flags.render,
    maxAgeMs: maxAgeOf(config, flags),
    maxAgeMsOf: {
      ...withoutUndefined({ article: flags.refetchArticleIfOlderThan, hub: flags.refetchHubIfOlderThan }),
    },
    ...plannerOf(flags),
  }
  return { config, minDelayMs, target: { type: 'start', input } }
}

/** The minimum delay between two requests to any host, including this machine. Jitter needs a delay that it extends. */
function minDelayOf({ rateLimitMs = 0, slow = false, pacerJitterMinMs = 0, pacerJitterMaxMs = 0 }: JobFlags): number {
  return Math.max(rateLimitMs, slow ? SLOW_DELAY_MS : 0, Math.min(1, Math.max(pacerJitterMinMs, pacerJitterMaxMs)))
}

/** The effective settings, overridden by flags that apply to one crawl only. */
function withFlags(config: EffectiveConfig, flags: JobFlags): EffectiveConfig {
  const { values } = config
  const requestInterval = Math.max(minDelayOf(flags), values.requestInterval)
  const jitterMin = flags.pacerJitterMinMs ?? Math.min(values.jitterMin, flags.pacerJitterMaxMs ?? values.jitterMin)
  const timeout = flags.requestTimeoutMs ?? values.answerTimeout
  const changed: Partial<Config> = {
    library: flags.db ?? values.library,
    requestInterval,
    startInterval: Math.max(requestInterval, values.startInterval),
    jitterMin,
    jitterMax: Math.max(jitterMin, flags.pacerJitterMaxMs ?? values.jitterMax),
    answerTimeout: timeout,
    firstByteTimeout: Math.min(values.firstByteTimeout, timeout),
    maxSitemapEntries: flags.sitemapMax ?? values.maxSitemapEntries,
  }
  return { ...config, values: { ...values, ...changed } }
}

/** Grace period after the end of a crawl for its output to be read. */
const OUTPUT_GRACE_MS = 2000
const SLOW_DELAY_MS = 1000

/** An explicit crawl type overrides the sitemap flags. */
function typeOf({ crawlType, sitemapOnly, sitemap }: JobFlags): CrawlType | undefined {
  if (crawlType !== undefined) return crawlType
  if (sitemapOnly === true) return 'sitemap-only'
  return sitemap ? undefined : 'basic'
}

/** An explicit freshness window overrides `--prefer-cache`. */
function maxAgeOf({ values, origins }: EffectiveConfig, { refetchIfOlderThan, preferCache }: JobFlags): number {
  if (refetchIfOlderThan !== undefined) return refetchIfOlderThan
  if (origins.maxAge === 'flag' || preferCache === undefined) return values.maxAge
  return preferCache ? Number.MAX_SAFE_INTEGER : 0
}

/** Parses a freshness window in the format of the API. */
function freshness(flag: string): (text: string) => number {
  return (text) => {
    const ms = DURATION_PATTERN.test(text) ? parseDuration(text) : undefined
    if (ms !== undefined) return ms
    throw usageError(`${flag}: expected 90, 90s, 15m, 6h or 7d, got ${JSON.stringify(text)}`)
  }
}

const globs = z.array(z.string())
const limit = z.int().min(0).nullable()

/** The options for crawling an existing source. */
const Options = z
  .object({
    full: z.boolean(),
    acceptLoss: z.boolean(),
    discover: z.boolean(),
    isFresh: z.boolean(),
    maxAgeMs: z.number().min(0),
    maxAgeMsOf: z.object({ article: z.number(), hub: z.number(), unknown: z.number() }).partial(),
    crawlType: z.enum(CRAWL_TYPES),
    render: z.enum(RENDERINGS),
    chunks: z.enum(CHUNK_PROFILES),
    force: z.boolean(),
    planner: plannerSchema,
    scope: z
      .object({
        reach: z.enum(REACHES),
        allow: globs,
        block: globs,
        maxDepth: limit,
        maxPages: limit,
        useDefaultExcludes: z.boolean(),
        allowQueryUrls: z.boolean(),
        trapGuards: z.boolean(),
      })
      .partial(),
  })
  .partial()

function parseOptions(json = '{}'): Omit<CrawlInput, 'kind'> {
  try {
    // The cast is safe: options that were not given are absent rather than undefined, as the type requires.
    return Options.parse(JSON.parse(json)) as Omit<CrawlInput, 'kind'>
  } catch (cause) {
    throw new PharosError('USAGE', { problem: `--options: expected crawl options as JSON, got ${json}` }, { cause })
  }
}

async function runJob(job: CrawlJob): Promise<void> {
  const { config, minDelayMs } = job
  const running = interruptible((signal) => {
    // An unreachable library is expected to come back, and the worker that runs this job waits for it too.
    const retryingUntilReachable = <T>(work: () => Promise<T>) =>
      retryUntilReachable({ info: writeToStderr, warn: writeToStderr }, signal, work)
    const open = async () => {
      const library = await retryingUntilReachable(() => openConfiguredLibrary(config))
      return { ...library, limits: { ...library.limits, loopbackIntervalMs: minDelayMs } }
    }
    const work = (library: OpenLibrary) => {
      const crawling = runCrawl(job, library, signal, retryingUntilReachable)
      return crawling.catch((error: unknown) => noteFailedRefresh(job, library, signal, error))
    }
    return withLibrary(config, work, [], open)
  })
  await running.finally(() => {
    // Exits even if the parent does not read the remaining output.
    setTimeout(() => process.exit(), OUTPUT_GRACE_MS).unref()
  })
}

/** Shows the users of a source why its scheduled refresh failed, even if it failed before its crawl began. */
async function noteFailedRefresh(
  { target, isScheduled }: CrawlJob,
  library: Pick<Library, 'store'>,
  signal: AbortSignal,
  error: unknown,
): Promise<never> {
  if (isScheduled === true && target.type === 'source' && !signal.aborted) {
    // The failure itself matters more than its note.
    await noteRefreshProblem(library, target.source, messageOf(error)).catch(() => undefined)
  }
  throw error
}

function writeToStderr(message: string): void {
  process.stderr.write(`${message}\n`)
}

async function runCrawl(
  { config, target, goneRunner, isTrial = false }: CrawlJob,
  library: OpenLibrary,
  signal: AbortSignal,
  retryingUntilReachable: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { runCrawlProcess } = await import('../processes/crawl-process.ts')
  let pausedBy: PauseCause | undefined
  const crawling = runCrawlProcess({
    library,
    resolveCrawl: async () => {
      const assignment = await resolveCrawl(library, target)
      if ('joined' in assignment || goneRunner === undefined) return assignment
      return { source: assignment.source, input: { ...assignment.input, goneRunner } }
    },
    onEvent: (event) => {
      pausedBy = pauseCauseAfter(event, pausedBy)
    },
    stdin: process.stdin,
    stdout: process.stdout,
    signal,
  })
  const {
    source,
    summary,
    signal: stopSignal,
  } = await crawling.catch(async (error: unknown) => {
    if (isTrial && target.type === 'source') {
      // A library that cannot be reached must not hide the error of the crawl.
      const source = await findSource(library, target.source).catch(() => undefined)
      if (source) await withdrawAfterFailure(library, source, target.input.kind, error).catch(() => undefined)
    }
    throw error
  })
  // The process that started the crawl reports its result; helpers do not.
  if (target.type === 'join') return
  const { pages } = await retryingUntilReachable(() => library.store.countContent(source.id))
  const hint = await createHintFor(config, source)
  const failure = findFailure({ library, signal: stopSignal }, { source, summary, pages }, pausedBy, hint)
  if (failure === undefined) return
  // A start form adds a source that the user has not seen yet. Pages that need a browser have a button that reads them.
  const isKept = summary.uselessReason === 'needs-rendering' || !(isTrial || target.type === 'start')
  if (!isKept) await withdrawAfterFailure(library, source, summary.kind, failure).catch(() => undefined)
  throw failure
}

/** Resolves the source to crawl and the options. */
async function resolveCrawl(library: Library, target: CrawlJob['target']): Promise<CrawlAssignment> {
  if (target.type === 'join') {
    const { findJoinable } = await import('../library/crawl/join-crawl.ts')
    return findJoinable(library, target.crawl)
  }
  if (target.type === 'source') return { source: await findSource(library, target.source), input: target.input }
  const { prepareStart } = await import('../library/crawl/prepare-start.ts')
  return prepareStart(library, target.input)
}
