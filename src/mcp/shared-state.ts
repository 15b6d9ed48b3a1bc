import { PharosError } from '../core/errors.ts'
import type { Jobs } from '../library/ports/jobs.ts'
import { createPackExports, type PackExports } from './pack-exports.ts'
import type { ClosableLibrary, McpPorts, McpProject } from './ports.ts'
import type { ToolSet } from './tool-set.ts'

/** Everything that the servers of one process share: the library, opened on first use, and its background work. */
export interface SharedState {
  readonly library: () => Promise<ClosableLibrary>
  readonly jobs: () => Promise<Jobs>
  readonly packs: PackExports | undefined
  /** Whether the tools that write or fetch are left out, so that no text may mention them. */
  readonly isReadOnly: boolean
  readonly toolSet: ToolSet
  /** The project that the agent works in. */
  readonly project: McpProject | undefined
  /** Stops background work, and closes everything that was opened. */
  close(): Promise<void>
}

/** Creates the shared state. Nothing is opened. */
export function createSharedState(ports: McpPorts): SharedState {
  const stop = new AbortController()
  const { toolSet = 'all' } = ports
  const packs = ports.exportPack === undefined || toolSet === 'ask' ? undefined : createPackExports(ports.exportPack)
  let opened: Promise<ClosableLibrary> | undefined
  let jobs: Promise<Jobs> | undefined
  /** The library to which the current jobs belong. */
  let jobsOf: ClosableLibrary | undefined
  let background: Promise<void> | undefined

  const open = async (): Promise<ClosableLibrary> => {
    const library = await ports.openLibrary()
    // Failures of background work are ignored here, because every search that lacks its result reports them.
    background = ports.startBackground?.(library, stop.signal).catch(() => undefined)
    return library
  }
  const library = (): Promise<ClosableLibrary> => {
    if (stop.signal.aborted) return Promise.reject(new PharosError('INTERRUPTED'))
    // The owner of a lent library may have replaced it, so each call asks the owner.
    if (ports.isLent === true) return ports.openLibrary()
    opened ??= open().catch((error: unknown) => {
      // The next call retries, because the problem may be fixed by then.
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    library,
    jobs: async () => {
      const current = await library()
      if (current !== jobsOf) jobs = undefined
      jobsOf = current
      jobs ??= ports.openJobs(current).catch((error: unknown) => {
        jobs = undefined
        throw error
      })
      return jobs
    },
    packs,
    isReadOnly: ports.isReadOnly ?? false,
    toolSet,
    project: ports.project,
    async close() {
      stop.abort(new PharosError('INTERRUPTED'))
      await (await jobs?.catch(() => undefined))?.close()
      await packs?.close()
      await background
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}
