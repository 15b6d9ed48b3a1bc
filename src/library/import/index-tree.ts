import { PathSelection } from '../../core/folder/path-selection.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import { type FoundAddress, isRead, type LedgerRow, type Refusal } from '../../crawl/ledger.ts'
import { countedSince, uncountSkipped } from '../../crawl/run-counts.ts'
import { Supervisor } from '../../crawl/supervise.ts'
import { readRows, readRowsAt } from '../copy/read-rows.ts'
import { ActiveTree, createFoundAddress, type KnownContainer, type TreePorts, type TreeRun } from './active-tree.ts'
import { finishFolder } from './finish-tree.ts'
import { possibleContainers } from './tree-survey.ts'
import { visitAll } from './visit-files.ts'

/**
 * Indexes the files of a folder and emits the events of a crawl. Every file has a ledger row with state and reason. Unchanged files are not
 * read again; pages of files that a walk proves missing are removed.
 */
export async function* indexTree(
  run: TreeRun,
  ports: TreePorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const supervisor = new Supervisor(run, ports, signal)
  const listRows: TreePorts['listRows'] = (...args) => supervisor.storeRetry.retryRead(() => ports.listRows(...args))
  const active = new ActiveTree(run, { ...supervisor.ports, listRows }, supervisor)
  yield* supervisor.run(active, visitEverything, finishFolder)
}

/** Walks the folder, then visits every file due. */
async function visitEverything(active: ActiveTree): Promise<void> {
  const { run, survey } = active
  if (run.focus !== undefined) return visitFocus(active, run.focus)
  await active.walk()
  // An empty folder may be the mount point of a missing disk, so it proves nothing.
  if (survey.files === 0) return
  const known: MutableKnownKeys = { pages: new Set(), failed: new Set() }
  await noteRows(active, known, readRows(active.ports, run.sourceId))
  active.missing = countMissing(active, known)
  if (active.missing > 0) return
  // Lost pages are settled first, so that a moved file is not treated as a duplicate of its old path.
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFoundAddresses(active, known))
  await visitAll(active, run.scope.maxPages)
  while (!active.signal.aborted && (await requeueOrphans(active))) await visitAll(active, null)
}

/** Checks only what may have changed. The caller has verified that the folder is the same. */
async function visitFocus(active: ActiveTree, paths: readonly string[]): Promise<void> {
  const known: MutableKnownKeys = { pages: new Set(), failed: new Set() }
  const { ports, run } = active
  const { listRows, ledger } = ports
  const store = { listRows, findRow: ledger.findRow.bind(ledger) }
  for (const path of new PathSelection(paths).paths) {
    await noteRows(active, known, readRowsAt(store, run.sourceId, path))
  }
  await active.walk(new PathSelection(paths))
  // A key that looks like a page of a changed file may be a file with `#` in its name.
  await active.walkMissing([...known.pages, ...known.failed])
  await active.offer(listLost(active, known))
  await visitAll(active, null)
  await active.offer(listFoundAddresses(active, known))
  await visitAll(active, null)
  while (!active.signal.aborted && (await requeueOrphans(active))) {
    // They may be outside the focus.
    for await (const rows of readRows(store, run.sourceId, { state: 'pending' })) {
      await active.walkMissing(rows.map(({ key }) => key))
    }
    await visitAll(active, null)
  }
}

/** Keys of rows with a page, and of failed rows. */
interface KnownKeys {
  readonly pages: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

interface MutableKnownKeys extends KnownKeys {
  readonly pages: Set<string>
  readonly failed: Set<string>
}

async function noteRows(
  { signal, containers }: ActiveTree,
  known: MutableKnownKeys,
  batches: AsyncIterable<readonly LedgerRow[]>,
): Promise<void> {
  for await (const rows of batches) {
    signal.throwIfAborted()
    for (const { key, state, hasPage } of rows) {
      if (hasPage) known.pages.add(key)
      if (state === 'failed') known.failed.add(key)
    }
    noteContainers(containers, rows)
  }
}

/**
 * Collects container files with their pages. The row of a container precedes those of its pages. A container with an unread page is left
 * out, so that it is read again.
 */
function noteContainers(containers: Map<string, KnownContainer>, rows: readonly LedgerRow[]): void {
  for (const row of rows) {
    const { key, state, reason, etag, lastModified } = row
    if (reason === 'container') containers.set(key, { version: etag, stamp: lastModified, parts: [] })
    if (state === 'gone') continue
    const file = possibleContainers(key).find((path) => containers.has(path))
    if (file === undefined) continue
    if (isRead(row)) containers.get(file)?.parts.push(key)
    else containers.delete(file)
  }
}

/**
 * Returns the number of pages if none of their files exists, because the folder may be the mount point of a missing disk. Returns 0
 * otherwise, or if the owner accepts the loss.
 */
function countMissing({ run, ports, survey }: ActiveTree, { pages }: KnownKeys): number {
  if (run.acceptLoss || run.kind === 'retry') return 0
  const kind = treeKindOf(ports.tree.url)
  // These trees cannot lose single files: if they open, they are complete.
  if (kind === 'archive' || kind === 'package' || kind === 'repository') return 0
  return [...pages].every((path) => survey.stateOf(path) === 'nothing') ? pages.size : 0
}

/** Lists pages whose path is no longer a file to read. Pages of files outside the scope stay. */
function listLost(active: ActiveTree, { pages }: KnownKeys): FoundAddress[] {
  if (active.run.kind === 'retry') return []
  return [...pages]
    .filter((path) => active.survey.stateOf(path) !== 'file')
    .map((path) => createFoundAddress(active, path, null))
}

/** Lists the addresses that the run must visit or skip. Pages of container files are taken from the known pages. */
function listFoundAddresses(active: ActiveTree, { pages, failed }: KnownKeys): FoundAddress[] {
  const { kind, discover, focus } = active.run
  if (kind === 'retry') return [...failed].map((path) => createFoundAddress(active, path, null))
  const parts = [...pages].filter((key) => (active.survey.findFile(key)?.part ?? null) !== null)
  return [...active.survey.paths(), ...parts].flatMap((path) => {
    const state = active.survey.stateOf(path)
    const refused = typeof state === 'object' ? state : state === 'file' ? active.judge(path) : null
    if (kind !== 'refresh' || focus !== undefined || pages.has(path)) return [createFoundAddress(active, path, refused)]
    const newRefusal: Refusal | null = discover ? null : { reason: 'new-in-refresh', pattern: null, target: null }
    return [{ ...createFoundAddress(active, path, refused ?? newRefusal), isNewOnly: true }]
  })
}

/**
 * Queues duplicates again if the path with their content has other content now or is about to be removed. Returns whether there were any.
 */
async function requeueOrphans(active: ActiveTree): Promise<boolean> {
  const { run, ports } = active
  const since = countedSince(active)
  const { requeued, settled } = await ports.ledger.requeueOrphanedAliases(run.sourceId, run.crawlId, since)
  uncountSkipped(active, settled)
  return requeued > 0
}
