import type { EffectiveConfig } from '../config.ts'
import { type ErrorCode, PharosError } from '../core/errors.ts'
import type { Log } from '../http/ports.ts'
import type { JobLog } from '../library/job-log.ts'
import type { OpenLibrary } from '../open-library.ts'
import { workInBackground } from './background.ts'
import { openConfigured } from './library.ts'

/** The library of a server, which stays up while it cannot be opened. */
export interface ServedLibrary {
  /** Opens it, unless it is open; tried again with later calls until it can be. */
  open(): Promise<OpenLibrary>
  jobLog(): Promise<JobLog>
  close(): Promise<void>
}

/** What may be better a moment later, without anybody giving another path or program. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['LIBRARY_FULL', 'LIBRARY_LOCKED', 'LIBRARY_READ_ONLY'])

/** A library that could not be opened is not tried again before this: a try may hold up everything else for a while. */
const RETRY_MS = 1000

/** Prepares the library of a server. What will never be a library of this program is refused at once. */
export async function serveLibrary(config: EffectiveConfig, log: Log): Promise<ServedLibrary> {
  const stop = new AbortController()
  let opened: Promise<OpenLibrary> | undefined
  let background: Promise<void> | undefined
  let failure: { readonly error: unknown; readonly at: number } | undefined

  const start = async (): Promise<OpenLibrary> => {
    const library = await openConfigured(config)
    // What goes wrong there is told by every search that misses its work.
    background = workInBackground(library, stop.signal).catch(() => undefined)
    return library
  }
  const open = (): Promise<OpenLibrary> => {
    if (stop.signal.aborted) return Promise.reject(new PharosError('INTERRUPTED'))
    if (failure !== undefined && performance.now() - failure.at < RETRY_MS) return Promise.reject(failure.error)
    opened ??= start().catch((error: unknown) => {
      opened = undefined
      failure = { error, at: performance.now() }
      throw error
    })
    return opened
  }
  await open().catch((error: unknown) => {
    if (!(error instanceof PharosError) || !PASSING.has(error.code)) throw error
    log.warn(`${error.message}; tried again with every request`)
  })
  return {
    open,
    jobLog: async () => (await open()).jobLog,
    async close() {
      stop.abort(new PharosError('INTERRUPTED'))
      await background
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}
