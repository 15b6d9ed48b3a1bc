import { messageOf, PharosError } from '../../core/errors.ts'
import { doInTurns } from '../in-turns.ts'
import type { Library } from '../library.ts'
import { checkImport } from '../parse-import.ts'
import type { Store } from '../store.ts'
import { beginEmbedding } from './embed-arrivals.ts'
import { isEarlierSpace } from './embed-library.ts'
import { type ImportOptions, type ImportResult, runImport, takeUpImport } from './import-chunks.ts'

/** What an import came to that was sent to a server. */
export interface GivenResult extends ImportResult {
  /** Whether its vectors were made before anything was changed. */
  readonly isEmbedded: boolean
  /** Why not, in words, where the library has vectors and nobody declined them. */
  readonly notice: string | null
}

/** Of so many chunks vectors are made while somebody waits, unless more are asked for. */
const MOST_EMBEDDED = 2000

/** Libraries that something is being imported into: what was sent is held in memory until it is done. */
const busy = new WeakSet<Store>()

/**
 * Checks and imports what was sent, with others in between. Refused with `IMPORT_RUNNING` while another one is under way. Vectors are made
 * first where the library has some of the model that is there. The signal ends it only as long as nothing was changed: from then on it is
 * done to its end, whoever still waits for it.
 */
export async function importGiven(
  library: Library,
  value: unknown,
  options: ImportOptions & { readonly what?: string } = {},
): Promise<GivenResult> {
  const { store, clock } = library
  const { what, signal, ...asked } = options
  if (busy.has(store)) throw new PharosError('IMPORT_RUNNING')
  busy.add(store)
  try {
    const given = await doInTurns(checkImport(value, what), clock, signal)
    const obstacle = asked.embed === undefined ? await findObstacle(library, given.chunks.length) : null
    const embed = asked.embed ?? obstacle === null
    const taken = await takeUpImport(library, given, { ...asked, embed, ...(signal === undefined ? {} : { signal }) })
    const result = await runImport(library, taken)
    // A server continues, also with pages that did not change. Each search says what is wrong with the model.
    if (asked.embed !== false) await beginEmbedding(library, result.source).catch(() => undefined)
    return { ...result, isEmbedded: embed, notice: obstacle || null }
  } finally {
    busy.delete(store)
  }
}

/** What keeps vectors from being made first, in words; empty where there are none at all, and null for nothing. */
async function findObstacle({ vectors, openEmbedder, embedsNew }: Library, chunks: number): Promise<string | null> {
  const space = await vectors?.readSpace()
  if (space === undefined || embedsNew === false) return ''
  const later = 'its vectors were not made first, and are missing until it is embedded'
  if (chunks > MOST_EMBEDDED) return `${later}: it has more than ${MOST_EMBEDDED} chunks, so ask for it with embed`
  try {
    const embedder = await openEmbedder?.()
    if (embedder === undefined) return `${later}: there is no model`
    const isUsable = embedder.space.fingerprint === space.fingerprint || isEarlierSpace(embedder, space)
    return isUsable ? null : `${later}: the library has those of another model`
  } catch (error) {
    return `${later}: ${messageOf(error)}`
  }
}
