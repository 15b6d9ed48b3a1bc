import { messageOf, PharosError } from '../../core/errors.ts'
import { runCooperatively } from '../cooperative-task.ts'
import { beginEmbedding } from '../embed/embed-during-crawl.ts'
import { isEarlierSpace } from '../embed/embed-library.ts'
import type { Library } from '../library.ts'
import type { Store } from '../ports/store.ts'
import { type ImportOptions, type ImportResult, prepareImport, runImport } from './import-chunks.ts'
import { checkImport } from './parse-import.ts'

/** Result of an import sent to a server. */
export interface ImportRequestResult extends ImportResult {
  /** Whether its vectors were made before any write. */
  readonly isEmbedded: boolean
  /** Why vectors were not made first, if the library has vectors and the caller did not decline them. */
  readonly notice: string | null
}

/** Maximum number of chunks embedded while the caller waits, unless the caller asks for more. */
const MAX_EMBEDDED_CHUNKS = 2000

/** Stores with an import in progress; only one at a time, because an import is held in memory. */
const importingStores = new WeakSet<Store>()

/**
 * Validates and imports a request body, yielding to other work. Throws `IMPORT_RUNNING` while another import is in progress. Vectors are
 * made first if the library has vectors of the current model. The signal aborts only before the first write; after that the import
 * completes even if the caller has disconnected.
 */
export async function importRequest(
  library: Library,
  value: unknown,
  options: ImportOptions & { readonly what?: string } = {},
): Promise<ImportRequestResult> {
  const { store, clock } = library
  const { what, signal, ...importOptions } = options
  if (importingStores.has(store)) throw new PharosError('IMPORT_RUNNING')
  importingStores.add(store)
  try {
    const given = await runCooperatively(checkImport(value, what), clock, signal)
    const obstacle = importOptions.embed === undefined ? await findObstacle(library, given.chunks.length) : null
    const embed = importOptions.embed ?? obstacle === null
    const prepared = await prepareImport(library, given, {
      ...importOptions,
      embed,
      ...(signal === undefined ? {} : { signal }),
    })
    const result = await runImport(library, prepared)
    // A failure is ignored: the server embeds the rest, including unchanged pages, and every search reports problems with the model.
    if (importOptions.embed !== false) await beginEmbedding(library, result.source).catch(() => undefined)
    return { ...result, isEmbedded: embed, notice: obstacle || null }
  } finally {
    importingStores.delete(store)
  }
}

/** Returns why vectors cannot be made first; an empty string if the library has no vectors, null if nothing prevents it. */
async function findObstacle(
  { vectors, openEmbedder, embedsNew }: Pick<Library, 'embedsNew' | 'openEmbedder' | 'vectors'>,
  chunks: number,
): Promise<string | null> {
  const space = await vectors?.readSpace()
  if (space === undefined || embedsNew === false) return ''
  const later = 'the import has no vectors yet, so search by meaning does not find it until it is embedded'
  if (chunks > MAX_EMBEDDED_CHUNKS)
    return `${later}: it has more than ${MAX_EMBEDDED_CHUNKS} chunks; set embed to true to embed it first`
  try {
    const embedder = await openEmbedder?.()
    if (embedder === undefined) return `${later}: there is no model`
    const isUsable = embedder.space.fingerprint === space.fingerprint || isEarlierSpace(embedder, space)
    return isUsable ? null : `${later}: the library has vectors of another model`
  } catch (error) {
    return `${later}: ${messageOf(error)}`
  }
}
