import { PharosError, usageError } from '../../core/errors.ts'
import { writeImportUrl } from '../../core/url/tree-url.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { isHeavyLoss } from '../../crawl/finish.ts'
import { readRows } from '../copy/read-rows.ts'
import { addSource, checkLabel, parseStart } from '../crawl/add-source.ts'
import { type CrawlInput, crawlSource } from '../crawl/crawl-source.ts'
import { createNoteLogger } from '../crawl/log-notes.ts'
import { embedImport, type ReadyVectors } from '../embed/embed-import.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import { createImportTree, type ImportTree } from './import-tree.ts'
import type { ChunkImport } from './parse-import.ts'

/** Options of an import. */
export interface ImportOptions {
  /** Name of the source. @default its name in the previous import, or host and path of its address */
  readonly name?: string | undefined
  /** Version of the documented product; each version is a separate source. */
  readonly version?: string | undefined
  /** Removes pages missing from the import, however many. @default false */
  readonly acceptLoss?: boolean | undefined
  /** Embeds the chunks first, so that a failure changes nothing. @default false */
  readonly embed?: boolean | undefined
  /** Called with the number of vectors made so far. */
  readonly onEmbedded?: (chunks: number) => void
  readonly signal?: AbortSignal
}

/** Result of an import. */
export interface ImportResult {
  readonly source: Source
  readonly summary: CrawlSummary
}

/** The source of an import, and the input of the run that writes it. */
export interface PreparedImport {
  readonly source: Source
  readonly input: CrawlInput
  /** Writes the vectors once their chunks are stored. */
  readonly keepVectors: () => Promise<void>
}

/**
 * Imports chunks made by another program, unchanged. They replace an earlier import of the same address, name and version: unchanged pages
 * stay, missing pages are removed. Rejects with `CRAWL_LOSS` before any write if too many pages would be removed without consent.
 */
export async function importChunks(
  library: Library,
  given: ChunkImport,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return runImport(library, await prepareImport(library, given, options), options.signal)
}

/** Writes a prepared import. */
export async function runImport(
  library: Library,
  { source, input, keepVectors }: PreparedImport,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportResult> {
  const logNotes = createNoteLogger(library, source)
  let summary: CrawlSummary | undefined
  for await (const event of crawlSource(library, source, input, signal)) {
    await logNotes(event)
    if (event.type === 'ended') summary = event.summary
  }
  if (summary === undefined) throw new PharosError('INTERNAL', { problem: 'the import ended without a result' })
  if (summary.end !== 'completed') throw failureOf(library, source, summary)
  await keepVectors()
  return { source, summary }
}

/** Creates the source of an import, or finds the one to replace, and makes its vectors before any page is written. */
export async function prepareImport(
  library: Library,
  given: ChunkImport,
  options: ImportOptions = {},
): Promise<PreparedImport> {
  const { name, version, acceptLoss = false, embed = false } = options
  const tree = await createImportTree(library, given, options.signal)
  const known = await findImported(library, given.sourceUrl, { name, version })
  const storedVersions =
    known === undefined ? new Map<string, string | null>() : await readStoredVersions(library, known)
  if (!acceptLoss) refuseLoss(library, storedVersions, tree)
  // A name conflict must be reported before vectors are made, which can take hours.
  const source = known ?? (await addSource(library, { url: given.sourceUrl, isImported: true, name, version }))
  const making = embed ? makeVectors(library, tree, storedVersions, options) : undefined
  const vectors = await making?.catch(async (error: unknown) => {
    // A failed import leaves no source behind.
    if (known === undefined) await library.store.removeSource(source.id)
    throw error
  })
  // An interrupted import may have had other content, so it is never resumed here.
  const input = { kind: known === undefined ? 'add' : 'recrawl', isFresh: true, acceptLoss, imported: tree } as const
  return { source, input, keepVectors: async () => vectors?.keep(source.id) }
}

function makeVectors(
  library: Pick<Library, 'hasEmbeddingService' | 'openEmbedder' | 'sha256' | 'vectors'>,
  tree: ImportTree,
  storedVersions: ReadonlyMap<string, string | null>,
  { signal, onEmbedded }: ImportOptions,
): Promise<ReadyVectors> {
  return embedImport(library, tree, (key, version) => storedVersions.get(key) === version, {
    ...withoutUndefined({ signal, onProgress: onEmbedded }),
  })
}

/** Finds the source of an earlier import of an address. */
async function findImported(
  { store }: Pick<Library, 'store'>,
  sourceUrl: string,
  { name, version }: Pick<ImportOptions, 'name' | 'version'>,
): Promise<Source | undefined> {
  const url = writeImportUrl(parseStart(sourceUrl).href)
  const wantedVersion = version === undefined ? null : checkLabel('version', version)
  const wantedName = name === undefined ? undefined : checkLabel('name', name)
  const sources = await store.listSources()
  const matches = sources.filter((source) => {
    if (source.url !== url || source.version !== wantedVersion) return false
    return wantedName === undefined || source.name === wantedName
  })
  if (matches.length > 1) {
    const problem = `${matches.map(labelOf).join(', ')} were imported for ${sourceUrl}: choose one by name`
    throw usageError(problem)
  }
  return matches[0]
}

/** Maps the stored pages of a source to their imported versions. */
async function readStoredVersions(
  { store }: Pick<Library, 'store'>,
  { id }: Source,
): Promise<Map<string, string | null>> {
  const storedVersions = new Map<string, string | null>()
  for await (const rows of readRows(store, id)) {
    for (const { key, etag, hasPage } of rows) if (hasPage) storedVersions.set(key, etag)
  }
  return storedVersions
}

/** Throws before any write if too many pages would be removed, because the import may be truncated. */
function refuseLoss(
  { limits }: Pick<Library, 'limits'>,
  storedVersions: ReadonlyMap<string, string | null>,
  { pages }: ImportTree,
): void {
  const lost = [...storedVersions.keys()].filter((key) => !pages.has(key)).length
  // No stored page is in the import, so it is probably something else.
  const isOtherContent = storedVersions.size > 0 && lost === storedVersions.size
  if (isOtherContent || isHeavyLoss(limits, lost, storedVersions.size)) {
    throw new PharosError('CRAWL_LOSS', { removable: lost, pages: storedVersions.size })
  }
}

function failureOf({ store }: Pick<Library, 'store'>, source: Source, summary: CrawlSummary): PharosError {
  const { end, problem, withheld, ledger } = summary
  if (end === 'cancelled') return new PharosError('INTERRUPTED')
  const { indexed, unchanged } = ledger.states
  // The loss was checked before, so another process has imported the same source meanwhile.
  if (end === 'gate') return new PharosError('CRAWL_LOSS', { removable: withheld, pages: indexed + unchanged })
  const advice = `\`pharos status ${labelOf(source)}\` shows what is stored of it in ${store.location}`
  return new PharosError('CRAWL_START_FAILED', { problem: problem ?? 'no reason was given', advice })
}
