import { messageOf, PharosError } from '../core/errors.ts'
import type { Library } from '../library/library.ts'
import { labelOf, type Source } from '../library/source.ts'
import type { PackExporter, WrittenPack } from './ports.ts'

/** An export of a pack: waiting, running or finished. */
export interface PackExport {
  readonly id: string
  readonly sourceId: string
  readonly isCompact: boolean
  /** The name of the source, with its version if it has one. */
  readonly source: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  readonly startedAt: number
  readonly endedAt: number | null
  readonly pack: WrittenPack | null
  /** Why it failed. */
  readonly error: string | null
}

/** Exports packs in the background, one at a time. */
export interface PackExports {
  /** Starts an export, or returns an unfinished one of the same kind. Throws `JOBS_FULL` when too many are unfinished. */
  start(library: Library, source: Source, isCompact: boolean): PackExport
  find(id: string): PackExport | undefined
  close(): Promise<void>
}

/** Number of exports above which the oldest finished ones are forgotten. */
const MAX_KEPT = 100
/** Maximum number of running and waiting exports. */
const MAX_OPEN = 20

/** Creates the background exporter, which remembers its results while the server runs. */
export function createPackExports(exportPack: PackExporter): PackExports {
  const exports = new Map<string, PackExport>()
  const stop = new AbortController()
  let work: Promise<void> = Promise.resolve()

  const run = async (library: Library, source: Source, packExport: PackExport): Promise<void> => {
    const change = (changes: Partial<PackExport>) => exports.set(packExport.id, { ...packExport, ...changes })
    change({ state: 'running' })
    try {
      stop.signal.throwIfAborted()
      const pack = await exportPack(library, { source, isCompact: packExport.isCompact, signal: stop.signal })
      change({ state: 'done', pack, endedAt: library.clock.now() })
    } catch (error) {
      const why = messageOf(error)
      change({ state: 'failed', error: why, endedAt: library.clock.now() })
    }
  }
  return {
    start(library, source, isCompact) {
      const unfinished = [...exports.values()].filter(({ endedAt }) => endedAt === null)
      const same = unfinished.find((other) => other.sourceId === source.id && other.isCompact === isCompact)
      if (same !== undefined) return same
      if (unfinished.length >= MAX_OPEN) {
        const what = `${unfinished.length} packs are being written`
        throw new PharosError('JOBS_FULL', { count: unfinished.length, what, rule: 'are allowed at once' })
      }
      const packExport: PackExport = {
        id: library.newId(),
        sourceId: source.id,
        isCompact,
        source: labelOf(source),
        state: unfinished.length === 0 ? 'running' : 'waiting',
        startedAt: library.clock.now(),
        endedAt: null,
        pack: null,
        error: null,
      }
      exports.set(packExport.id, packExport)
      for (const { id, endedAt } of exports.values()) {
        if (exports.size <= MAX_KEPT) break
        if (endedAt !== null) exports.delete(id)
      }
      work = work.then(() => run(library, source, packExport))
      return packExport
    },
    find: (id) => exports.get(id),
    async close() {
      stop.abort(new PharosError('INTERRUPTED'))
      await work
    },
  }
}
