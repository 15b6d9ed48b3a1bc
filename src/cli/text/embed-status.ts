import type { EffectiveConfig } from '../../config.ts'
import { messageOf, PharosError } from '../../core/errors.ts'
import type { Library } from '../../library/library.ts'
import { isInSync, readCopyState, type VectorCopyState, writeCopyState } from '../../library/ports/vector-copy.ts'
import type { RefusedChunk, VectorSpace } from '../../library/ports/vectors.ts'
import { labelOf, type Source } from '../../library/source.ts'
import { withTimeout } from '../../library/with-timeout.ts'
import type { Config, SettingName } from '../../settings/settings.ts'
import { createHint, type Hint, printableLabel, sourceRecord, withLibrary } from '../library.ts'
import { EMBEDDER_SETTINGS } from '../options/search-settings.ts'
import { countOf, printableLine, type Terminal, writeNumber } from '../terminal.ts'

/** Settings of the embedder and of the copy of the vectors. */
export const EMBED_SETTINGS: readonly SettingName[] = ['embedThreads', ...EMBEDDER_SETTINGS]

/** Timeout for loading the built-in model. */
const LOAD_TIMEOUT_MS = 60_000
/** Timeout for the response of an embedding service. */
const RESPONSE_TIMEOUT_MS = 5000
/** Timeout for the response of the service that has the copy of the vectors. */
const COPY_TIMEOUT_MS = 3000

/** Number of refused chunks listed in text output. */
const MAX_LISTED = 10
/** Number of refused chunks listed in JSON output: in practice all. */
const MAX_LISTED_JSON = 1_000_000

/** Reports which embedder is in use and whether it works, the progress of each source, and the refused chunks. */
export async function showEmbedStatus(config: EffectiveConfig, terminal: Terminal): Promise<void> {
  await withLibrary(config, async (library) => {
    const { vectors } = library
    const model = await checkModel(library, config.values)
    const stored = (await vectors?.readSpace()) ?? null
    const sources = await listCoverage(library)
    const refused = (await vectors?.listRefused(terminal.isJson ? MAX_LISTED_JSON : MAX_LISTED)) ?? []
    const copy = await checkCopy(library)
    const facts = { model, stored, sources, refused, copy, hint: createHint(config) }
    terminal.answer(writeStatus(facts), {
      model: modelRecord(model),
      vectors: stored === null ? null : spaceRecord(stored),
      is_comparable: model.space !== null && stored !== null && model.space.fingerprint === stored.fingerprint,
      sources: sources.map(({ source, ...counts }) => ({
        ...sourceRecord(source),
        ...counts,
        missing: missingOf(counts),
      })),
      refused: refused.map(({ sourceId, chunkId, problem }) => ({ source_id: sourceId, chunk_id: chunkId, problem })),
      copy: copy === null ? null : copyRecord(copy),
    })
  })
}

/** The built-in or configured embedder. */
interface ModelStatus {
  /** Null if there is no embedder, or if it does not respond. */
  readonly space: VectorSpace | null
  /** The error of the embedder; null if it works or there is none. */
  readonly problem: string | null
  /** Null for the built-in model. */
  readonly service: { readonly type: string; readonly endpoint: string } | null
}

/** Opens the embedder and embeds a test text. */
async function checkModel({ openEmbedder }: Pick<Library, 'openEmbedder'>, values: Config): Promise<ModelStatus> {
  const { embedder: type, embedEndpoint } = values
  const service = type === 'built-in' ? null : { type, endpoint: withoutCredentials(embedEndpoint) }
  let space: VectorSpace | null = null
  try {
    await withTimeout(service === null ? LOAD_TIMEOUT_MS : RESPONSE_TIMEOUT_MS, undefined, async (signal) => {
      const embedder = await openEmbedder?.()
      if (embedder === undefined) return
      space = embedder.space
      await embedder.embed(['a text'], signal, 'query')
    })
    return { space, problem: null, service }
  } catch (error) {
    // The error is the result, so it is reported and not thrown.
    return { space, problem: problemOf(error), service }
  }
}

/** The error message without the name of the service. */
function problemOf(error: unknown): string {
  if (error instanceof PharosError && error.code === 'SERVICE_UNUSABLE') return String(error.details['problem'])
  return messageOf(error)
}

/** Removes the user name and password from an address. */
function withoutCredentials(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}

/** The copy of the vectors in another service, such as Qdrant. */
interface VectorCopyStatus {
  readonly location: string
  /** Null if the copy does not respond or there are no vectors. */
  readonly state: VectorCopyState | null
  /** Why the copy does not respond; null if it does. */
  readonly problem: string | null
}

/** Reads the state of the copy; null if the library has no copy. */
async function checkCopy({
  vectors,
  vectorCopy,
}: Pick<Library, 'vectorCopy' | 'vectors'>): Promise<VectorCopyStatus | null> {
  if (vectors === undefined || vectorCopy === undefined) return null
  const { location } = vectorCopy
  try {
    const state = await withTimeout(COPY_TIMEOUT_MS, undefined, (signal) => readCopyState(vectors, vectorCopy, signal))
    return { location, state: state ?? null, problem: null }
  } catch (error) {
    return { location, state: null, problem: problemOf(error) }
  }
}

function writeCopy({ location, state, problem }: VectorCopyStatus, hint: Hint): string {
  const place = printableLine(location)
  if (problem !== null) return `${place}, which is not reachable: ${printableLine(problem)}`
  if (state === null) return place
  return `${place}, ${writeCopyState(state)}${isInSync(state) ? '' : `, behind: ${hint('embed', 'sync')}`}`
}

function copyRecord({ location, state, problem }: VectorCopyStatus): Record<string, unknown> {
  const counts = state === null ? {} : { ...state, is_in_step: isInSync(state) }
  return { location, ...counts, problem }
}

interface Counts {
  readonly embedded: number
  readonly refused: number
  readonly chunks: number
}

interface Coverage extends Counts {
  readonly source: Source
}

async function listCoverage({ store, vectors }: Pick<Library, 'store' | 'vectors'>): Promise<Coverage[]> {
  const coverage: Coverage[] = []
  for (const source of await store.listSources()) {
    const counts = (await vectors?.count([source.id])) ?? { embedded: 0, refused: 0, chunks: 0 }
    coverage.push({ source, ...counts })
  }
  return coverage
}

function missingOf({ embedded, refused, chunks }: Counts): number {
  return Math.max(0, chunks - embedded - refused)
}

interface StatusFacts {
  readonly model: ModelStatus
  readonly stored: VectorSpace | null
  readonly sources: readonly Coverage[]
  readonly refused: readonly RefusedChunk[]
  readonly copy: VectorCopyStatus | null
  readonly hint: Hint
}

function writeStatus({ model, stored, sources, refused, copy, hint }: StatusFacts): string {
  const labels = new Map(sources.map(({ source }) => [source.id, labelOf(source)]))
  const refusedCount = sources.reduce((sum, counts) => sum + counts.refused, 0)
  const unlisted = refusedCount - refused.length
  const more = unlisted > 0 ? [`  and ${writeNumber(unlisted)} more: --json lists all`] : []
  return [
    `model: ${writeModel(model)}`,
    `vectors: ${writeVectors(model, stored, hint)}`,
    ...sources.map(writeCoverage),
    ...(copy === null ? [] : [`copy: ${writeCopy(copy, hint)}`]),
    ...(refused.length === 0
      ? []
      : [`not embedded (searchable by words only); try again with: ${hint('embed', 'run', '--retry-refused')}`]),
    ...refused.map(({ sourceId, chunkId, problem }) => {
      return printableLine(`  ${labels.get(sourceId) ?? sourceId}/${chunkId.slice(0, 12)}: ${problem}`)
    }),
    ...more,
  ].join('\n')
}

function writeModel({ space, problem, service }: ModelStatus): string {
  const problemText = problem === null ? '' : `; ${printableLine(problem)}`
  if (space === null) {
    const place = service === null ? 'the built-in model' : printableLine(`${service.type} at ${service.endpoint}`)
    return `${place} cannot be used: ${printableLine(problem ?? 'it does not answer')}`
  }
  const place = service === null ? 'built in' : `by ${printableLine(`${service.type} at ${service.endpoint}`)}`
  return `${printableLine(space.model)}, ${space.dimensions} dimensions, ${place}${problemText}`
}

function writeVectors({ space, service }: ModelStatus, stored: VectorSpace | null, hint: Hint): string {
  if (stored === null) return `none yet${space === null ? '' : `: ${hint('embed', 'run')}`}`
  const made = `of ${stored.model}, ${stored.dimensions} dimensions`
  if (space === null || space.fingerprint === stored.fingerprint) return made
  const which = service === null ? 'the built-in model' : 'the model that is configured'
  const other = service === null ? '; or name the service that made them with --embedder and --embed-endpoint' : ''
  return `${made}, which ${which} cannot use; replace them with: ${hint('embed', 'run', '--replace')}${other}`
}

function writeCoverage({ source, ...counts }: Coverage): string {
  const { embedded, refused, chunks } = counts
  const refusedText = refused === 0 ? '' : `, ${writeNumber(refused)} refused`
  return `  ${printableLabel(source)}: ${writeNumber(embedded)} of ${countOf(chunks, 'chunk')}${refusedText}`
}

function modelRecord({ space, problem, service }: ModelStatus): Record<string, unknown> | null {
  if (space === null && problem === null) return null
  const place = service === null ? { service: null } : { service: service.type, endpoint: service.endpoint }
  return { ...place, ...(space === null ? {} : spaceRecord(space)), problem }
}

/** A vector space as JSON. */
function spaceRecord({ model, fingerprint, dimensions }: VectorSpace): Record<string, unknown> {
  return { name: model, fingerprint, dimensions }
}
