import type { ChunkProfile } from '../../core/chunk/profiles.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { mergeFields } from '../../core/header-fields.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import { type TreeKind, treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlControl } from '../../crawl/control.ts'
import { crawl } from '../../crawl/crawl.ts'
import type { CrawlEvent, CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { CrawlPlanner } from '../../crawl/planning/planner.ts'
import type { Rendering } from '../../crawl/ports.ts'
import type { CrawlPorts } from '../../crawl/run.ts'
import { NO_COUNTS } from '../../crawl/sharing.ts'
import { readRows } from '../copy/read-rows.ts'
import { createImportTree, type ImportTree } from '../import/import-tree.ts'
import { indexTree } from '../import/index-tree.ts'
import { findImport } from '../import/refuse-imported.ts'
import { type Library, machineOf, type SourceLookup, type SourceState } from '../library.ts'
import { adviseAllowance } from '../ports/download.ts'
import type { Crawl, CrawlRunOptions, Store } from '../ports/store.ts'
import { isTree, type OpenTree, type TreeOptions } from '../ports/tree.ts'
import { scheduleAfterCrawl } from '../refresh/schedule.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source, SourceChange, SourceSettings } from '../source.ts'
import { findOtherMachine } from '../sources/other-machine.ts'
import { listStoredRegistries } from '../sources/package-origin.ts'
import { hasRecentHeartbeat } from '../sources/source-status.ts'
import { resolveScope } from './add-source.ts'
import { createClassifyingReader } from './classifying-reader.ts'
import { createRun, DEFAULT_OPTIONS, findInterrupted, isDiscovering, restartInterrupted } from './create-run.ts'
import { needsHeaders } from './needs-headers.ts'
import { openRendering } from './open-rendering.ts'
import { createMilestoneMemory, planCrawl, refuseUnprepared } from './plan-crawl.ts'

/** Options of one crawl. */
export interface CrawlInput extends Partial<CrawlRunOptions> {
  readonly kind: CrawlKind
  /** Headers sent only to the origin of the start; never stored. */
  readonly headers?: Readonly<Record<string, string>>
  /** Starts a new crawl even if an interrupted one could be resumed. @default false */
  readonly isFresh?: boolean
  /** Rendering mode, stored with the source for later crawls. @default as stored */
  readonly render?: Rendering
  /** Chunk profile, stored with the source. Unchanged pages keep their chunks unless all pages are read again. @default as stored */
  readonly chunks?: ChunkProfile
  /** Commands for a running crawl, apart from stopping. */
  readonly control?: CrawlControl
  /**
   * For a folder already read in full: paths that may have changed; nothing else is checked. Throws `CRAWL_UNFINISHED` if that cannot give
   * a correct result. @default everything is checked
   */
  readonly focus?: readonly string[]
  /** Pages removed by recent runs, which count towards the loss gate. @default 0 */
  readonly lostBefore?: number
  /** Id of the runner that had the crawl before. It counts as ended, even if its process still runs. */
  readonly goneRunner?: string
  /** For a package: the registries to ask, and the digests of its lock file. Never stored. @default the stored registry, no digests */
  readonly origin?: Pick<TreeOptions, 'registries' | 'hashes'>
  /** Content of an imported source, which cannot be read from anywhere else. */
  readonly imported?: ImportTree
}

/** Crawls a source. Resumes an interrupted crawl with its own options, unless the request differs. */
export async function* crawlSource(
  library: Library,
  known: Source,
  given: CrawlInput,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { clock, runner } = library
  const input = await withImport(library, known, given)
  const { settings: storedSettings } = known
  const { kind, render = storedSettings.render, chunks = storedSettings.chunks } = input
  const source: Source = { ...known, settings: { ...storedSettings, render, chunks } }
  const now = clock.now()
  const requested: Crawl = {
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
  // Validation precedes all writes.
  if (input.render !== undefined && isTree(source)) {
    throw usageError(`render is only for web sites, and ${writeLabel(source)} is not one`)
  }
  resolveScope(source.scope, requested.options.scope)
  if (!isTree(source)) {
    for (const url of [source.url, source.siteUrl]) library.siteHeaders?.require(url)
    await refuseUnreachable(library, source)
  }
  const tree =
    input.imported ?? (isTree(source) ? await openOrRecord(library, source, requested, input, signal) : undefined)
  try {
    yield* crawlOpened(library, { source, storedSettings, requested, input, tree }, signal)
  } finally {
    await tree?.close()
  }
}

/**
 * Throws if the address of a known site must not be connected to, because every request would fail. Either the owner has not allowed it, or
 * its name now resolves to a private address.
 */
async function refuseUnreachable(
  { store, checkAddress }: Pick<Library, 'checkAddress' | 'store'>,
  { id, url, siteUrl }: Source,
): Promise<void> {
  if (checkAddress === undefined || (await store.listCrawls(id, 1)).length === 0) return
  for (const address of new Set([url, siteUrl])) {
    const refusal = await checkAddress(address)
    if (refusal?.reason !== 'address-refused') continue
    const { reason, detail, rule } = refusal
    throw new PharosError('CRAWL_START_FAILED', {
      problem: `${address}: ${reason}, ${detail}; nothing was changed`,
      advice: rule === null ? 'crawl the site under another host name' : adviseAllowance(rule),
      reason,
    })
  }
}

/** Adds the stored import to the input of a crawl that resumes an interrupted import. */
async function withImport(
  library: Pick<Library, 'clock' | 'imports' | 'sha256'>,
  source: Source,
  input: CrawlInput,
): Promise<CrawlInput> {
  if (input.imported !== undefined) return input
  const pending = await findImport(library, source, input.kind)
  return pending === undefined ? input : { ...input, scope: {}, imported: await createImportTree(library, pending) }
}

/** Options stored with the crawl, for a process that resumes it. */
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
    origin,
    imported,
    ...given
  } = input
  return { ...DEFAULT_OPTIONS, ...given, ...(focus === undefined ? {} : { isFocused: true }) }
}

/** A requested crawl with its source. */
interface RequestedCrawl {
  readonly source: Source
  /** Settings of the source before this crawl. */
  readonly storedSettings: SourceSettings
  readonly requested: Crawl
  readonly input: CrawlInput
  readonly tree: OpenTree | undefined
}

async function* crawlOpened(
  library: Library,
  { source, storedSettings, requested, input, tree }: RequestedCrawl,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { store, clock, runner, limits } = library
  const { kind, headers = {}, isFresh = false, control, goneRunner } = input
  const { render, chunks } = source.settings
  const now = requested.startedAt
  const [last] = await store.listCrawls(source.id, 1)
  const interrupted = isFresh ? undefined : findInterrupted(last, requested)
  const { scope } = (interrupted ?? requested).options
  const hasHeaders = tree === undefined && (await needsHeaders(library, source, { headers, scope }))
  const rendering = tree === undefined ? await openRendering(library, render, hasHeaders) : {}
  if (render === 'chromium') await rendering.renderer?.prepare()
  const toBegin = tree === undefined ? requested : restartInterrupted(requested, interrupted)
  // A runner known to have ended needs no heartbeat timeout.
  const isGone = (id: string) => id === goneRunner || runner.isGone(id)
  const isAbandoned = last?.state === 'running' && last.runner !== null && isGone(last.runner)
  const gone = isAbandoned ? (last.runner ?? undefined) : undefined
  const isAlive = last?.state === 'running' && !isAbandoned && hasRecentHeartbeat(last, now, limits.aliveMs)
  if (last !== undefined && !isAlive) refuseUnfinishedDiscovery(last, source, kind)
  if (input.focus !== undefined && !isAlive) refuseFocus(last, source, tree)
  await refuseUnprepared(library, source, toBegin)
  const begun = await store.beginCrawl(toBegin, limits.aliveMs, tree === undefined ? interrupted?.id : undefined, gone)
  const begin = (settings: SourceSettings) => noteOrigin({ ...settings, render, chunks }, tree)
  if (JSON.stringify(begin(storedSettings)) !== JSON.stringify(storedSettings))
    await store.updateSource(source.id, ({ settings }) => ({ settings: begin(settings) }))
  const run = createRun(library, source, begun, { headers, isResumed: interrupted !== undefined })
  const planner: CrawlPlanner | undefined = tree === undefined ? await planCrawl(library, source, begun) : undefined
  // Crawls with a page cap, a plan or request headers stay in one process: caps and plans are local, and other processes may lack the headers.
  const isLocal = tree !== undefined || planner !== undefined || run.scope.maxPages !== null || hasHeaders
  let isEnded = false
  const ports = {
    ...library,
    ...rendering,
    readPage: createClassifyingReader(library, chunks),
    ledger: store,
    planner,
    milestones: createMilestoneMemory(library, source, begun),
    control,
    ...(isLocal ? {} : shareThrough(library, begun.id)),
    moveSite: (siteUrl: string) => store.updateSource(source.id, { siteUrl }, begun.id),
    touch: () => store.touchCrawl(begun.id, clock.now(), runner.id),
    end: async (summary: CrawlSummary) => {
      const changeSource = (stored: Source): SourceChange => ({
        ...(summary.end === 'completed' ? notePackage(stored, tree) : {}),
        ...scheduleAfterCrawl(stored, begun, summary, clock.now()),
      })
      if (input.focus === undefined) await store.updateSource(source.id, changeSource, begun.id)
      await store.endCrawl(begun.id, summary, clock.now(), runner.id)
      isEnded = true
      if (input.imported !== undefined && summary.end === 'completed') {
        // A leftover import is harmless, because it equals the stored pages.
        await library.imports?.forget(source.id).catch(() => undefined)
      }
    },
  }
  try {
    // If the import cannot be stored, nothing else is written.
    if (input.imported !== undefined) await library.imports?.keep(source.id, input.imported.chunkImport)
    if (tree === undefined) yield* crawl(run, ports, signal)
    else {
      const { focus, lostBefore } = input
      const treeRun = {
        ...run,
        lastFolderId: last?.summary?.place,
        fullSince: interrupted?.startedAt,
        focus,
        lostBefore,
      }
      yield* indexTree(treeRun, { ...ports, tree, listRows: store.listRows.bind(store) }, signal)
    }
  } finally {
    // After an unexpected error, closes the crawl so that the next one need not wait for the heartbeat timeout.
    if (!isEnded) await store.endCrawl(begun.id, null, clock.now(), runner.id).catch(() => undefined)
  }
}

/**
 * Notes the registry of a package before its first page, so that a crawl that resumes this one asks the same. The digest of another archive
 * is dropped, because the pages no longer come from it alone.
 */
function noteOrigin(settings: SourceSettings, tree: OpenTree | undefined): SourceSettings {
  const { registry = settings.registry, archive } = tree ?? settings
  const { archive: known, ...others } = settings
  return {
    ...others,
    ...(registry !== undefined && { registry }),
    ...(known !== undefined && known === archive && { archive: known }),
  }
}

/** Notes the facts of the package that was read in the settings of a source. Nothing changes if they are the known ones. */
function notePackage({ version, settings }: Source, tree: OpenTree | undefined): SourceChange {
  if (tree === undefined || treeKindOf(tree.url) !== 'package') return {}
  const { readVersion, packagePage: _page, archive: _digest, documentation = [], ...others } = settings
  const newVersion = tree.version === (readVersion ?? version) ? readVersion : tree.version
  const links = tree.documentation ?? documentation
  const noted: SourceSettings = {
    ...others,
    ...(newVersion !== undefined && { readVersion: newVersion }),
    ...(tree.packagePage !== undefined && { packagePage: tree.packagePage }),
    ...(tree.archive !== undefined && { archive: tree.archive }),
    ...(links.length > 0 && { documentation: links }),
  }
  return JSON.stringify(noted) === JSON.stringify(settings) ? {} : { settings: noted }
}

/** Lets other processes take part in a crawl, if the store supports it. */
function shareThrough(
  { store, runner }: Pick<Library, 'runner' | 'store'>,
  id: string,
): Pick<CrawlPorts, 'share' | 'readJoinedCounts'> {
  if (store.shareCrawl === undefined) return {}
  return {
    share: (shared) => store.shareCrawl?.(id, shared, runner.id) ?? Promise.resolve(),
    readJoinedCounts: () => store.readHelperCounts?.(id) ?? Promise.resolve(NO_COUNTS),
  }
}

/** Reads all ledger rows of a source. */
async function listRows(store: Store, sourceId: string): Promise<LedgerRow[]> {
  const all: LedgerRow[] = []
  for await (const rows of readRows(store, sourceId)) all.push(...rows)
  return all
}

/** How to pass tokens to trees that take no headers. */
const TOKEN_ADVICE: Readonly<Partial<Record<TreeKind, string>>> = {
  package: '; use the setting registryTokens for the token of a registry',
  repository: '; use the setting gitTokens for the token of a host',
}

/** Opens the tree of a source. If it is missing or unreadable, a failed crawl is recorded for later status requests. */
async function openOrRecord(
  library: SourceLookup & Pick<Library, 'siteHeaders'>,
  source: Source,
  requested: Crawl,
  input: CrawlInput,
  signal: AbortSignal,
): Promise<OpenTree> {
  try {
    return await openTree(library, source, input, signal)
  } catch (error) {
    const isSourceError = error instanceof PharosError && error.code.startsWith('SOURCE_')
    // A failure to record the error matters less than the error itself.
    if (isSourceError && input.focus === undefined) {
      await recordFailure(library, requested, error).catch(() => undefined)
    }
    throw error
  }
}

async function recordFailure(
  { store, clock, runner, limits }: SourceState,
  requested: Crawl,
  error: Error,
): Promise<void> {
  const [last] = await store.listCrawls(requested.sourceId, 1)
  // Skips recording if a crawl can still be resumed, or if the same problem is already recorded.
  if (last?.state === 'running' || last?.state === 'cancelled' || last?.summary?.problem === error.message) return
  const ledger = await store.countLedger(requested.sourceId)
  const place = last?.summary?.place
  await store.beginCrawl(requested, limits.aliveMs)
  const summary: CrawlSummary = {
    ...{ crawlId: requested.id, kind: requested.kind, end: 'failed', ledger, problem: error.message },
    ...{ visited: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, removed: 0, withheld: 0, newInRefresh: 0 },
    ...{ cappedAt: null, parked: [], incomplete: null, overflow: 0, bytes: 0, requests: 0, uselessReason: null },
    elapsedMs: clock.now() - requested.startedAt,
    ...(place === undefined ? {} : { place }),
  }
  await store.endCrawl(requested.id, summary, clock.now(), runner.id)
}

/** Throws if the tree is on another machine, because the same path on this machine holds something else. */
function refuseOtherMachine(library: Pick<Library, 'runner'>, source: Source): void {
  const machine = findOtherMachine(library, source)
  if (machine === undefined) return
  const machines = `it is on the machine ${machine}, and this is ${machineOf(library.runner)}`
  const problem = `${machines}; crawl it there, or remove it and add it here`
  throw usageError(`${source.url} cannot be read: ${problem}`)
}

/** Opens the tree of a source. */
function openTree(
  library: Pick<Library, 'runner' | 'siteHeaders' | 'store' | 'trees'>,
  source: Source,
  { headers = {}, full = false, scope = {}, origin = { registries: listStoredRegistries(source) } }: CrawlInput,
  signal: AbortSignal,
): Promise<OpenTree> {
  const { trees, store, siteHeaders } = library
  if (trees === undefined) {
    throw usageError(`${writeLabel(source)} is not a web site, and only web sites can be read here`)
  }
  refuseOtherMachine(library, source)
  const kind = treeKindOf(source.url)
  const isDownload = kind === 'archive' && !isFileUrl(source.url)
  if (Object.keys(headers).length > 0 && !isDownload) {
    const advice = kind === undefined ? '' : (TOKEN_ADVICE[kind] ?? '')
    const problem = `header is only for web sites and archives on the web, and ${writeLabel(source)} is neither${advice}`
    throw usageError(problem)
  }
  const { chunks: profile, tree, installedAt, types } = source.settings
  const isRepeat = kind === 'package' && !full && Object.keys(scope).length === 0
  const lastRows = isRepeat ? { readLastRows: () => listRows(store, source.id) } : {}
  const downloadHeaders = isDownload ? mergeFields(siteHeaders?.require(source.url), headers) : {}
  const found = { installedAt, types, ...origin }
  return trees.open(source.url, { profile, ...tree, ...found, headers: downloadHeaders, ...lastRows, signal })
}

/**
 * Throws if a refresh or retry follows an interrupted add or recrawl, because it would take over that crawl's pending addresses and its
 * discovery would never be completed.
 */
function refuseUnfinishedDiscovery(last: Crawl, source: Source, kind: CrawlKind): void {
  const isUnfinished = last.state === 'running' || last.state === 'cancelled'
  if (!isUnfinished || !isDiscovering(last.kind) || isDiscovering(kind)) return
  throw new PharosError('CRAWL_UNFINISHED', { source: writeLabel(source), kind: last.kind })
}

/** Throws unless the last run has ended and was over the same folder, because only then a partial run gives a correct result. */
function refuseFocus(last: Crawl | undefined, source: Source, tree: OpenTree | undefined): void {
  const hasEnded = last !== undefined && last.state !== 'running' && last.state !== 'cancelled'
  if (hasEnded && tree !== undefined && last.summary?.place === tree.folderId) return
  throw new PharosError('CRAWL_UNFINISHED', { source: writeLabel(source), kind: last?.kind ?? 'add' })
}
