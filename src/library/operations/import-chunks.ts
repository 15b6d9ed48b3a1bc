import { PharosError } from '../../core/errors.ts'
import { writeImportUrl } from '../../core/url/tree-url.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { isHeavyLoss } from '../../crawl/finish.ts'
import { createImportTree, type ImportTree } from '../import-tree.ts'
import type { Library } from '../library.ts'
import type { ChunkImport } from '../parse-import.ts'
import { readRows } from '../read-rows.ts'
import { labelOf, type Source } from '../source.ts'
import { addSource, checkLabel, parseStart } from './add-source.ts'
import { type CrawlInput, crawlSource } from './crawl-source.ts'
import { embedImport, type ReadyVectors } from './embed-import.ts'
import { createNoteKeeper } from './keep-notes.ts'

/** How something is imported. */
export interface ImportOptions {
  /** What to call it. @default what it was called when it was imported before, or host and path of its address */
  readonly name?: string | undefined
  /** Version of what it documents: each is a source of its own. */
  readonly version?: string | undefined
  /** Removes pages that are not in it any more, however many they are. @default false */
  readonly acceptLoss?: boolean | undefined
  /** Makes its vectors first: where that fails, nothing is changed. @default false */
  readonly embed?: boolean | undefined
  /** Told how many vectors were made so far. */
  readonly onEmbedded?: (chunks: number) => void
  readonly signal?: AbortSignal
}

/** What an import came to. */
export interface ImportResult {
  readonly source: Source
  readonly summary: CrawlSummary
}

/** A source that is to be made of an import, and what is asked of the run that does it. */
export interface TakenImport {
  readonly source: Source
  readonly input: CrawlInput
  /** Puts the vectors that were made beside their chunks, once these are there. */
  readonly keepVectors: () => Promise<void>
}

/**
 * Imports chunks that somebody else has cut, as they are: they take the place of what was imported for the same address, name and version
 * before. Pages that did not change stay as they are, those that are not in it any more go. Rejects with `CRAWL_LOSS`, before anything is
 * written, where these are too many and nobody consented.
 */
export async function importChunks(
  library: Library,
  given: ChunkImport,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return runImport(library, await takeUpImport(library, given, options), options.signal)
}

/** Writes what was taken up. */
export async function runImport(
  library: Library,
  { source, input, keepVectors }: TakenImport,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportResult> {
  const keep = createNoteKeeper(library, source)
  let summary: CrawlSummary | undefined
  for await (const event of crawlSource(library, source, input, signal)) {
    await keep(event)
    if (event.type === 'ended') summary = event.summary
  }
  if (summary === undefined) throw new PharosError('INTERNAL', { problem: 'the import ended without saying so' })
  if (summary.end !== 'completed') throw failureOf(library, source, summary)
  await keepVectors()
  return { source, summary }
}

/** Records the source of an import, or finds the one that it is to replace, and makes its vectors before anything of it is written. */
export async function takeUpImport(
  library: Library,
  given: ChunkImport,
  options: ImportOptions = {},
): Promise<TakenImport> {
  const { name, version, acceptLoss = false, embed = false } = options
  const tree = await createImportTree(library, given, options.signal)
  const known = await findImported(library, given.sourceUrl, { name, version })
  const held = known === undefined ? new Map<string, string | null>() : await listHeld(library, known)
  if (!acceptLoss) refuseLoss(library, held, tree)
  // One whose name is taken is refused before its vectors are made, which can take hours.
  const source = known ?? (await addSource(library, { url: given.sourceUrl, isImported: true, name, version }))
  const making = embed ? makeVectors(library, tree, held, options) : undefined
  const vectors = await making?.catch(async (error: unknown) => {
    // What was refused leaves nothing behind.
    if (known === undefined) await library.store.removeSource(source.id)
    throw error
  })
  // An import that was interrupted may have been another one: what it left to be done is not gone on with.
  const input = { kind: known === undefined ? 'add' : 'recrawl', isFresh: true, acceptLoss, imported: tree } as const
  return { source, input, keepVectors: async () => vectors?.keep(source.id) }
}

function makeVectors(
  library: Library,
  tree: ImportTree,
  held: ReadonlyMap<string, string | null>,
  { signal, onEmbedded }: ImportOptions,
): Promise<ReadyVectors> {
  return embedImport(library, tree, (key, version) => held.get(key) === version, {
    ...(signal === undefined ? {} : { signal }),
    ...(onEmbedded === undefined ? {} : { onProgress: onEmbedded }),
  })
}

/** The source that was imported for an address before. */
async function findImported(
  { store }: Library,
  sourceUrl: string,
  { name, version }: Pick<ImportOptions, 'name' | 'version'>,
): Promise<Source | undefined> {
  const url = writeImportUrl(parseStart(sourceUrl).href)
  const label = version === undefined ? null : checkLabel('version', version)
  const called = name === undefined ? undefined : checkLabel('name', name)
  const same = (await store.listSources()).filter((source) => source.url === url && source.version === label)
  const meant = called === undefined ? same : same.filter((source) => source.name === called)
  if (meant.length > 1) {
    const problem = `${meant.map(labelOf).join(', ')} were imported for ${sourceUrl}: say which by its name`
    throw new PharosError('USAGE', { problem })
  }
  return meant[0]
}

/** The pages that are held of a source, each with what was imported of it. */
async function listHeld({ store }: Library, { id }: Source): Promise<Map<string, string | null>> {
  const held = new Map<string, string | null>()
  for await (const rows of readRows(store, id)) {
    for (const { key, etag, hasPage } of rows) if (hasPage) held.set(key, etag)
  }
  return held
}

/** An import of half a file would remove the other half: that is asked before anything is written. */
function refuseLoss({ limits }: Library, held: ReadonlyMap<string, string | null>, { pages }: ImportTree): void {
  const lost = [...held.keys()].filter((key) => !pages.has(key)).length
  // None of its pages is in there: it is something else.
  const isOther = held.size > 0 && lost === held.size
  if (isOther || isHeavyLoss(limits, lost, held.size)) {
    throw new PharosError('CRAWL_LOSS', { removable: lost, pages: held.size })
  }
}

function failureOf({ store }: Library, source: Source, summary: CrawlSummary): PharosError {
  const { end, problem, withheld, ledger } = summary
  if (end === 'cancelled') return new PharosError('INTERRUPTED')
  const { indexed, unchanged } = ledger.states
  // Somebody else imported the same meanwhile.
  if (end === 'gate') return new PharosError('CRAWL_LOSS', { removable: withheld, pages: indexed + unchanged })
  const advice = `\`pharos status ${labelOf(source)}\` tells what there is of it in ${store.location}`
  return new PharosError('CRAWL_START_FAILED', { problem: problem ?? 'no reason was given', advice })
}
