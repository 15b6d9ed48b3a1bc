import type { Library } from '../library/library.ts'
import { labelOf, type Source } from '../library/source.ts'
import type { PackExporter, WrittenPack } from './ports.ts'

/** A pack that is being written, or was. */
export interface PackExport {
  readonly id: string
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly state: 'running' | 'done' | 'failed'
  readonly startedAt: number
  readonly endedAt: number | null
  readonly pack: WrittenPack | null
  /** Why it failed. */
  readonly error: string | null
}

/** Writes packs in the background. */
export interface PackExports {
  start(library: Library, source: Source, isCompact: boolean): PackExport
  find(id: string): PackExport | undefined
  close(): Promise<void>
}

/** So many are remembered. */
const MAX_KEPT = 100

/** Makes what writes packs in the background, and remembers what came of it while the server runs. */
export function createPackExports(exportPack: PackExporter): PackExports {
  const exports = new Map<string, PackExport>()
  const work = new Set<Promise<void>>()
  const stop = new AbortController()

  const run = async (library: Library, source: Source, isCompact: boolean, begun: PackExport): Promise<void> => {
    const end = (change: Pick<PackExport, 'state' | 'pack' | 'error'>) => {
      exports.set(begun.id, { ...begun, ...change, endedAt: library.clock.now() })
    }
    try {
      const pack = await exportPack(library, { source, isCompact, signal: stop.signal })
      end({ state: 'done', pack, error: null })
    } catch (error) {
      end({ state: 'failed', pack: null, error: error instanceof Error ? error.message : String(error) })
    }
  }
  return {
    start(library, source, isCompact) {
      const begun: PackExport = {
        id: library.newId(),
        source: labelOf(source),
        state: 'running',
        startedAt: library.clock.now(),
        endedAt: null,
        pack: null,
        error: null,
      }
      exports.set(begun.id, begun)
      for (const id of exports.keys()) {
        if (exports.size <= MAX_KEPT) break
        if (exports.get(id)?.state !== 'running') exports.delete(id)
      }
      const writing = run(library, source, isCompact, begun).finally(() => work.delete(writing))
      work.add(writing)
      return begun
    },
    find: (id) => exports.get(id),
    async close() {
      stop.abort()
      await Promise.all(work)
    },
  }
}
