import type { ChunkProfile } from '../../core/chunk/profiles.ts'
import { PharosError } from '../../core/errors.ts'
import type { CrawlControl } from '../../crawl/control.ts'
import { crawl } from '../../crawl/crawl.ts'
import type { CrawlEvent, CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { CrawlPlanner } from '../../crawl/planner.ts'
import type { Rendering } from '../../crawl/ports.ts'
import type { MilestoneMemory } from '../../crawl/progress-milestones.ts'
import type { CrawlPorts, CrawlRun } from '../../crawl/run.ts'
import { NO_HELP } from '../../crawl/sharing.ts'
import { readClassified } from '../classified-reader.ts'
import { isFolder, type OpenFolder } from '../folder.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import type { Crawl, CrawlRunOptions } from '../store.ts'
import { resolveScope } from './add-source.ts'
import { indexFolder } from './index-folder.ts'
import { openRendering } from './open-rendering.ts'
import { keepMilestones, planCrawl, refuseUnprepared } from './plan-crawl.ts'
import { hasSignOfLife } from './source-status.ts'

/** What is asked of one crawl. */
export interface CrawlInput extends Partial<CrawlRunOptions> {
  readonly kind: CrawlKind
  /** Fields sent to the origin of the start; never stored. */
  readonly headers?: Readonly<Record<string, string>>
  /** Leaves an interrupted crawl of the source as it is and begins a new one. @default false */
  readonly isFresh?: boolean
  /** How its pages are read, from now on: the source keeps it. @default as it keeps it */
  readonly render?: Rendering
  /** How its pages are cut, from now on: those that have not changed stay as they are, unless all are read again. @default as it keeps it */
  readonly chunks?: ChunkProfile
  /** What may be asked of it while it runs, besides to stop. */
  readonly control?: CrawlControl
  /** A runner that has lost its crawl to this one, whether it knows that or not. */
  readonly goneRunner?: string
}

const DEFAULT_OPTIONS: CrawlRunOptions = {
  full: false,
  acceptLoss: false,
  discover: false,
  maxAgeMs: 0,
  maxAgeMsOf: {},
  scope: {},
}

/** Crawls a source. An interrupted crawl of it goes on as it began, unless something else is asked for. */
export async function* crawlSource(
  library: Library,
  known: Source,
  input: CrawlInput,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { store, clock, runner, limits } = library
  const { settings: kept } = known
  const { kind, headers = {}, isFresh = false, control, goneRunner, ...asking } = input
  const { render = kept.render, chunks = kept.chunks, ...given } = asking
  const source: Source = { ...known, settings: { ...kept, render, chunks } }
  const now = clock.now()
  const asked: Crawl = {
    id: library.newId(),
    sourceId: source.id,
    kind,
    state: 'running',
    options: { ...DEFAULT_OPTIONS, ...given },
    runner: runner.id,
    startedAt: now,
    heartbeatAt: now,
    endedAt: null,
    summary: null,
  }
  // Checked before anything is written.
  if (input.render !== undefined && isFolder(source)) {
    throw new PharosError('USAGE', { problem: `render is for web sites, and ${labelOf(source)} is on this machine` })
  }
  resolveScope(source.scope, asked.options.scope)
  const folder = isFolder(source) ? await openFolder(library, source) : undefined
  const rendering = folder === undefined ? await openRendering(library, render, headers) : {}
  if (render === 'chromium') await rendering.renderer?.prepare()
  const [last] = await store.listCrawls(source.id, 1)
  const interrupted = isFresh ? undefined : findInterrupted(last, asked)
  // A process that was killed says nothing any more; that it is gone need not be waited for.
  const isGone = (id: string) => id === goneRunner || runner.isGone(id)
  const isLeft = last?.state === 'running' && last.runner !== null && isGone(last.runner)
  const gone = isLeft ? (last.runner ?? undefined) : undefined
  const isAlive = last?.state === 'running' && !isLeft && hasSignOfLife(last, now, limits.aliveMs)
  if (last !== undefined && !isAlive) refuseToForget(last, source, kind)
  await refuseUnprepared(library, source, asked)
  const begun = await store.beginCrawl(asked, limits.aliveMs, interrupted?.id, gone)
  if (render !== kept.render || chunks !== kept.chunks)
    await store.updateSource(source.id, { settings: source.settings })
  const run = createRun(library, source, begun, { headers, isResumed: begun.id !== asked.id })
  const planner: CrawlPlanner | undefined = folder === undefined ? await planCrawl(library, source, begun) : undefined
  const milestones: MilestoneMemory | undefined = keepMilestones(library, begun)
  // A cap and a plan are one process's own, and nobody else is told the fields that are sent.
  const isAlone = folder !== undefined || planner !== undefined || run.scope.maxPages !== null
  const sharing = isAlone || Object.keys(headers).length > 0 ? {} : shareThrough(library, begun.id)
  let isEnded = false
  const ports = {
    ...library,
    ...rendering,
    readPage: readClassified(library, chunks),
    ledger: store,
    planner,
    milestones,
    control,
    ...sharing,
    moveSite: (siteUrl: string) => store.updateSource(source.id, { siteUrl }, begun.id),
    touch: () => store.touchCrawl(begun.id, clock.now(), runner.id),
    end: async (summary: CrawlSummary) => {
      await store.endCrawl(begun.id, summary, clock.now(), runner.id)
      isEnded = true
    },
  }
  try {
    if (folder === undefined) yield* crawl(run, ports, signal)
    else {
      const folderRun = { ...run, lastPlace: last?.summary?.place }
      yield* indexFolder(folderRun, { ...ports, folder, listRows: store.listRows.bind(store) }, signal)
    }
  } finally {
    // Something broke, which is the news then: the next one need not wait for a sign of life.
    if (!isEnded) await store.endCrawl(begun.id, null, clock.now(), runner.id).catch(() => undefined)
  }
}

/** Lets other processes take part in a crawl, where a library is made for that. */
function shareThrough({ store, runner }: Library, id: string): Pick<CrawlPorts, 'share' | 'readHelp'> {
  if (store.shareCrawl === undefined) return {}
  return {
    share: (shared) => store.shareCrawl?.(id, shared, runner.id) ?? Promise.resolve(),
    readHelp: () => store.readHelp?.(id) ?? Promise.resolve(NO_HELP),
  }
}

/** Opens the folder that a source is. One that is not there any more is told at once, and nothing is written. */
function openFolder({ folders }: Library, source: Source): Promise<OpenFolder> {
  if (folders === undefined) {
    throw new PharosError('USAGE', { problem: `${labelOf(source)} is a folder, and folders cannot be read here` })
  }
  return folders.open(source.url, source.settings.chunks)
}

/**
 * What is known is not asked again while a crawl that was to find out what there is has been interrupted: what it still had to
 * visit would be taken for its own, and nobody would go on with it.
 */
function refuseToForget(last: Crawl, source: Source, kind: CrawlKind): void {
  const isUnfinished = last.state === 'running' || last.state === 'cancelled'
  if (!isUnfinished || !isSearching(last.kind) || isSearching(kind)) return
  throw new PharosError('CRAWL_UNFINISHED', { source: labelOf(source), kind: last.kind })
}

/** Whether a crawl is to find out what there is, not only what became of what is known. */
function isSearching(kind: CrawlKind): boolean {
  return kind === 'add' || kind === 'recrawl'
}

/** The last crawl of a source, if it did not come to an end and nothing else is asked for than what it was to do. */
function findInterrupted(last: Crawl | undefined, asked: Crawl): Crawl | undefined {
  const isUnfinished = last?.state === 'running' || last?.state === 'cancelled'
  if (last === undefined || !isUnfinished) return undefined
  const isSameKind = last.kind === asked.kind || (last.kind === 'add' && asked.kind === 'recrawl')
  const isDefault = JSON.stringify(asked.options) === JSON.stringify(DEFAULT_OPTIONS)
  const isSame = JSON.stringify(asked.options) === JSON.stringify(last.options)
  return isSameKind && (isDefault || isSame) ? last : undefined
}

/** What a crawl of a source is to do. */
export function createRun(
  library: Library,
  source: Source,
  { id, kind, options }: Crawl,
  { headers, isResumed }: Pick<CrawlRun, 'headers' | 'isResumed'>,
): CrawlRun {
  const { crawlType: usual, chunks: _, ...settings } = source.settings
  const crawlType = options.crawlType ?? usual
  const scope = resolveScope(source.scope, options.scope)
  const { full, acceptLoss, discover, maxAgeMs, maxAgeMsOf } = options
  return {
    crawlId: id,
    sourceId: source.id,
    kind,
    isResumed,
    startUrl: source.url,
    siteUrl: source.siteUrl,
    ...settings,
    scope,
    isScopeChanged: JSON.stringify(scope) !== JSON.stringify(source.scope) || crawlType !== usual,
    usesLlmsTxt: crawlType === 'docs',
    usesSitemaps: crawlType !== 'basic',
    followsLinks: crawlType !== 'sitemap-only' && settings.llmsFull !== 'only',
    full,
    acceptLoss,
    discover,
    maxAgeMs,
    maxAgeMsOf,
    headers,
    limits: library.limits,
  }
}
