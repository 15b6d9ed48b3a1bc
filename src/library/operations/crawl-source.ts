import type { ChunkProfile } from '../../core/chunk/profiles.ts'
import { PharosError } from '../../core/errors.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import type { Scope } from '../../core/url/scope.ts'
import { type TreeKind, treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlControl } from '../../crawl/control.ts'
import { crawl } from '../../crawl/crawl.ts'
import type { CrawlEvent, CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { CrawlPlanner } from '../../crawl/planner.ts'
import type { Rendering } from '../../crawl/ports.ts'
import type { MilestoneMemory } from '../../crawl/progress-milestones.ts'
import type { CrawlPorts, CrawlRun } from '../../crawl/run.ts'
import { NO_HELP } from '../../crawl/sharing.ts'
import { readClassified } from '../classified-reader.ts'
import { adviseAllowance } from '../download.ts'
import { createImportTree, type ImportTree } from '../import-tree.ts'
import { type Library, machineOf } from '../library.ts'
import { readRows } from '../read-rows.ts'
import { findImport } from '../refuse-imported.ts'
import { labelOf, type Source, type SourceSettings } from '../source.ts'
import type { Crawl, CrawlRunOptions, Store } from '../store.ts'
import { isTree, type OpenTree } from '../tree.ts'
import { resolveScope } from './add-source.ts'
import { indexTree } from './index-tree.ts'
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
  /**
   * Of a folder that was read in full: the paths in it that may have changed. Nothing else is looked at. Refused with `CRAWL_UNFINISHED`
   * where that is not enough to know what became of it. @default everything is looked at
   */
  readonly focus?: readonly string[]
  /** Pages that runs shortly before have removed, which count for the loss gate too. @default 0 */
  readonly lostBefore?: number
  /** A runner that has lost its crawl to this one, whether it knows that or not. */
  readonly goneRunner?: string
  /** What is imported; nothing else can be read where that is what the source is made of. */
  readonly imported?: ImportTree
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
  given: CrawlInput,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { clock, runner } = library
  const input = await withImport(library, known, given)
  const { settings: kept } = known
  const { kind, render = kept.render, chunks = kept.chunks } = input
  const source: Source = { ...known, settings: { ...kept, render, chunks } }
  const now = clock.now()
  const asked: Crawl = {
    id: library.newId(),
    sourceId: source.id,
    kind,
    state: 'running',
    options: optionsOf(input),
    runner: runner.id,
    startedAt: now,
    heartbeatAt: now,
    endedAt: null,
    summary: null,
  }
  // Checked before anything is written.
  if (input.render !== undefined && isTree(source)) {
    throw new PharosError('USAGE', { problem: `render is for web sites, and ${labelOf(source)} is none` })
  }
  resolveScope(source.scope, asked.options.scope)
  if (!isTree(source)) await refuseUnreachable(library, source)
  const tree =
    input.imported ?? (isTree(source) ? await openOrRecord(library, source, asked, input, signal) : undefined)
  try {
    yield* crawlOpened(library, { source, kept, asked, input, tree }, signal)
  } finally {
    await tree?.close()
  }
}

/**
 * Refuses to crawl a known site again that may not be connected to: each of its addresses would fail. The owner has forgotten to
 * allow it, or its name leads to an address that is not public by now.
 */
async function refuseUnreachable({ store, checkAddress }: Library, { id, url, siteUrl }: Source): Promise<void> {
  if (checkAddress === undefined || (await store.listCrawls(id, 1)).length === 0) return
  for (const address of new Set([url, siteUrl])) {
    const refusal = await checkAddress(address)
    if (refusal?.reason !== 'address-refused') continue
    const { reason, detail, rule } = refusal
    throw new PharosError('CRAWL_START_FAILED', {
      problem: `${address}: ${reason}, ${detail}; nothing was changed`,
      advice: rule === null ? 'crawl it where its host has another name' : adviseAllowance(rule),
      reason,
    })
  }
}

/** The input of a crawl, with the stored part of an interrupted import, which continues unchanged. */
async function withImport(library: Library, source: Source, input: CrawlInput): Promise<CrawlInput> {
  if (input.imported !== undefined) return input
  const kept = await findImport(library, source, input.kind)
  return kept === undefined ? input : { ...input, scope: {}, imported: await createImportTree(library, kept) }
}

/** What is kept of what was asked, for whoever goes on with the crawl. */
function optionsOf(input: CrawlInput): CrawlRunOptions {
  const {
    kind: _,
    headers,
    isFresh,
    control,
    goneRunner,
    render,
    chunks,
    focus,
    lostBefore,
    imported,
    ...given
  } = input
  return { ...DEFAULT_OPTIONS, ...given, ...(focus === undefined ? {} : { isFocused: true }) }
}

/** A crawl that was asked for, and what it is of. */
interface AskedCrawl {
  readonly source: Source
  /** The settings of the source before this crawl. */
  readonly kept: SourceSettings
  readonly asked: Crawl
  readonly input: CrawlInput
  readonly tree: OpenTree | undefined
}

async function* crawlOpened(
  library: Library,
  { source, kept, asked: wanted, input, tree }: AskedCrawl,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { store, clock, runner, limits } = library
  const { kind, headers = {}, isFresh = false, control, goneRunner } = input
  const { render, chunks } = source.settings
  const now = wanted.startedAt
  const rendering = tree === undefined ? await openRendering(library, render, headers) : {}
  if (render === 'chromium') await rendering.renderer?.prepare()
  const [last] = await store.listCrawls(source.id, 1)
  const interrupted = isFresh ? undefined : findInterrupted(last, wanted)
  const asked = tree === undefined ? wanted : askAgain(wanted, interrupted)
  // A process that was killed says nothing any more; that it is gone need not be waited for.
  const isGone = (id: string) => id === goneRunner || runner.isGone(id)
  const isLeft = last?.state === 'running' && last.runner !== null && isGone(last.runner)
  const gone = isLeft ? (last.runner ?? undefined) : undefined
  const isAlive = last?.state === 'running' && !isLeft && hasSignOfLife(last, now, limits.aliveMs)
  if (last !== undefined && !isAlive) refuseToForget(last, source, kind)
  if (input.focus !== undefined && !isAlive) refuseFocus(last, source, tree)
  await refuseUnprepared(library, source, asked)
  const begun = await store.beginCrawl(asked, limits.aliveMs, tree === undefined ? interrupted?.id : undefined, gone)
  if (render !== kept.render || chunks !== kept.chunks)
    await store.updateSource(source.id, { settings: source.settings })
  const run = createRun(library, source, begun, { headers, isResumed: interrupted !== undefined })
  const planner: CrawlPlanner | undefined = tree === undefined ? await planCrawl(library, source, begun) : undefined
  const milestones: MilestoneMemory | undefined = keepMilestones(library, begun)
  // A cap and a plan are one process's own, and nobody else is told the fields that are sent.
  const isAlone = tree !== undefined || planner !== undefined || run.scope.maxPages !== null
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
      const readVersion = summary.end === 'completed' ? findReadVersion(source, tree) : undefined
      if (readVersion !== undefined)
        await store.updateSource(source.id, { settings: { ...source.settings, readVersion } }, begun.id)
      await store.endCrawl(begun.id, summary, clock.now(), runner.id)
      isEnded = true
      if (input.imported !== undefined && summary.end === 'completed') {
        // What is left of it does no harm: it is what there is.
        await library.imports?.forget(source.id).catch(() => undefined)
      }
    },
  }
  try {
    // Where it cannot be kept, nothing of it is written.
    if (input.imported !== undefined) await library.imports?.keep(source.id, input.imported.given)
    if (tree === undefined) yield* crawl(run, ports, signal)
    else {
      const { focus, lostBefore } = input
      const treeRun = { ...run, lastPlace: last?.summary?.place, fullSince: interrupted?.startedAt, focus, lostBefore }
      yield* indexTree(treeRun, { ...ports, tree, listRows: store.listRows.bind(store) }, signal)
    }
  } finally {
    // Something broke, which is the news then: the next one need not wait for a sign of life.
    if (!isEnded) await store.endCrawl(begun.id, null, clock.now(), runner.id).catch(() => undefined)
  }
}

/** Which version of a package was read, where that is news. */
function findReadVersion({ version, settings }: Source, tree: OpenTree | undefined): string | undefined {
  if (tree === undefined || treeKindOf(tree.url) !== 'package') return undefined
  return tree.version === (settings.readVersion ?? version) ? undefined : tree.version
}

/** Lets other processes take part in a crawl, where a library is made for that. */
function shareThrough({ store, runner }: Library, id: string): Pick<CrawlPorts, 'share' | 'readHelp'> {
  if (store.shareCrawl === undefined) return {}
  return {
    share: (shared) => store.shareCrawl?.(id, shared, runner.id) ?? Promise.resolve(),
    readHelp: () => store.readHelp?.(id) ?? Promise.resolve(NO_HELP),
  }
}

/** All that the ledger has of a source. */
async function listRows(store: Store, sourceId: string): Promise<LedgerRow[]> {
  const all: LedgerRow[] = []
  for await (const rows of readRows(store, sourceId)) all.push(...rows)
  return all
}

/** How tokens are given to what takes no fields. */
const TOKENS: Readonly<Partial<Record<TreeKind, string>>> = {
  package: '; name a variable that holds the token of a registry with registryTokens',
  repository: '; name a variable that holds the token of a host with gitTokens',
}

/** Opens the tree that a source is. One that is not there, or cannot be read, is kept as a crawl that failed, for whoever asks later. */
async function openOrRecord(
  library: Library,
  source: Source,
  asked: Crawl,
  input: CrawlInput,
  signal: AbortSignal,
): Promise<OpenTree> {
  try {
    return await openTree(library, source, input, signal)
  } catch (error) {
    const isOfSource = error instanceof PharosError && error.code.startsWith('SOURCE_')
    // That there was no room to write it down is no news beside it.
    if (isOfSource && input.focus === undefined) await recordFailure(library, asked, error).catch(() => undefined)
    throw error
  }
}

async function recordFailure({ store, clock, runner, limits }: Library, asked: Crawl, error: Error): Promise<void> {
  const [last] = await store.listCrawls(asked.sourceId, 1)
  // What was interrupted goes on another time, and what is known need not be said again.
  if (last?.state === 'running' || last?.state === 'cancelled' || last?.summary?.problem === error.message) return
  const ledger = await store.countLedger(asked.sourceId)
  const place = last?.summary?.place
  await store.beginCrawl(asked, limits.aliveMs)
  const summary: CrawlSummary = {
    ...{ crawlId: asked.id, kind: asked.kind, end: 'failed', ledger, problem: error.message },
    ...{ visited: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, removed: 0, withheld: 0, newInRefresh: 0 },
    ...{ cappedAt: null, parked: [], incomplete: null, overflow: 0, bytes: 0, requests: 0, vainReason: null },
    elapsedMs: clock.now() - asked.startedAt,
    ...(place === undefined ? {} : { place }),
  }
  await store.endCrawl(asked.id, summary, clock.now(), runner.id)
}

/** What is on another machine cannot be read here: what is at the same path of this one is something else. */
function refuseElsewhere({ runner }: Library, { url, settings: { machine } }: Source): void {
  const here = machineOf(runner)
  if (machine === undefined || machine === here) return
  const problem = `it is on the machine ${machine}, and this is ${here}; crawl it there, or remove it and add it here`
  throw new PharosError('USAGE', { problem: `${url} cannot be read: ${problem}` })
}

/** Opens the tree that a source is. */
function openTree(
  library: Library,
  source: Source,
  { headers = {}, full = false, scope = {} }: CrawlInput,
  signal: AbortSignal,
): Promise<OpenTree> {
  const { trees, store } = library
  if (trees === undefined) {
    throw new PharosError('USAGE', { problem: `${labelOf(source)} is no web site, and nothing else can be read here` })
  }
  refuseElsewhere(library, source)
  const kind = treeKindOf(source.url)
  if (Object.keys(headers).length > 0 && (kind !== 'archive' || isFileUrl(source.url))) {
    const advice = kind === undefined ? '' : (TOKENS[kind] ?? '')
    const problem = `header is for web sites and archives of the web, and ${labelOf(source)} is neither${advice}`
    throw new PharosError('USAGE', { problem })
  }
  const { chunks: profile, tree } = source.settings
  const isSame = kind === 'package' && !full && Object.keys(scope).length === 0
  const lastRead = isSame ? { lastRead: () => listRows(store, source.id) } : {}
  return trees.open(source.url, { profile, ...tree, headers, ...lastRead, signal })
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

/** A part says enough only of a folder that is the one that was read, and of which nothing is left to be done. */
function refuseFocus(last: Crawl | undefined, source: Source, tree: OpenTree | undefined): void {
  const isOver = last !== undefined && last.state !== 'running' && last.state !== 'cancelled'
  if (isOver && tree !== undefined && last.summary?.place === tree.place) return
  throw new PharosError('CRAWL_UNFINISHED', { source: labelOf(source), kind: last?.kind ?? 'add' })
}

/** Whether a crawl is to find out what there is, not only what became of what is known. */
function isSearching(kind: CrawlKind): boolean {
  return kind === 'add' || kind === 'recrawl'
}

/** The last crawl of a source, if it did not come to an end and nothing else is asked for than what it was to do. */
function findInterrupted(last: Crawl | undefined, asked: Crawl): Crawl | undefined {
  const isUnfinished = last?.state === 'running' || last?.state === 'cancelled'
  // What only a part was looked at for is done by whoever looks at everything.
  if (last === undefined || !isUnfinished || last.options.isFocused === true) return undefined
  const isSameKind = last.kind === asked.kind || (last.kind === 'add' && asked.kind === 'recrawl')
  const isDefault = JSON.stringify(asked.options) === JSON.stringify(DEFAULT_OPTIONS)
  const isSame = JSON.stringify(asked.options) === JSON.stringify(last.options)
  return isSameKind && (isDefault || isSame) ? last : undefined
}

/**
 * A tree may be another than when a run over it was interrupted: the next one looks at all of it again, and does what that was to do.
 * What has not changed since it was read is told by its stamp.
 */
function askAgain(asked: Crawl, interrupted: Crawl | undefined): Crawl {
  return interrupted === undefined ? asked : { ...asked, kind: interrupted.kind, options: interrupted.options }
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
    isScopeChanged: !isSameReach(scope, source.scope) || crawlType !== usual,
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

/** Whether two scopes take in the same addresses. A page limit that is reached says so itself, and one that is not changes nothing. */
function isSameReach(scope: Scope, other: Scope): boolean {
  return JSON.stringify({ ...scope, maxPages: null }) === JSON.stringify({ ...other, maxPages: null })
}
