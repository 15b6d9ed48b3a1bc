import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { EffectiveConfig } from '../../config.ts'
import { type ErrorCode, messageOf, PharosError } from '../../core/errors.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { Log } from '../../http/ports.ts'
import { workInBackground } from '../../library/embed/work-in-background.ts'
import type { JobLog } from '../../library/ports/job-log.ts'
import { createWakeableSleep } from '../../library/wakeable-sleep.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { createDamageError } from '../../store/common/damage.ts'
import { openConfiguredLibrary } from '../library.ts'

/** The library of a server, which keeps running while the library cannot be opened. */
export interface ServedLibrary {
  /** Opens the library if it is not open. After a failure, later calls try again. */
  open(): Promise<OpenLibrary>
  jobLog(): Promise<JobLog>
  /**
   * Waits for the check of the whole file, at most for CHECK_WAIT_MS, because the check of a large file takes long. Rejects if the file is
   * damaged. The library may be used until the check finds damage, and not after.
   */
  waitForCheck(): Promise<void>
  /** Makes the background work look for new chunks now. */
  wakeBackgroundWork(): void
  close(): Promise<void>
}

/** Errors that may go away without a change of the path or the program. */
const TRANSIENT_CODES: ReadonlySet<ErrorCode> = new Set([
  'LIBRARY_FULL',
  'LIBRARY_LOCKED',
  'LIBRARY_READ_ONLY',
  'LIBRARY_UNREACHABLE',
])

/** Cool-down after a failed attempt to open the library, because an attempt may block everything else for a while. */
const REOPEN_COOLDOWN_MS = 1000
/** Interval for checking whether the file at the path was replaced. */
const FILE_CHECK_INTERVAL_MS = 1000
/** Grace period for readers of a file that was replaced. */
const READER_GRACE_MS = 10_000
/** SQLite busy timeout. It is short, because waiting for the lock of another process blocks all requests; the write is retried instead. */
const BUSY_TIMEOUT_MS = 5

/** An open library with its background work. */
interface LibraryHandle {
  readonly library: OpenLibrary
  /** The identity of the file. */
  readonly file: string | undefined
  /** Resolves to the damage of the file, or to undefined. */
  readonly checking: Promise<PharosError | undefined>
  wakeBackgroundWork(): void
  close(): Promise<void>
}

/**
 * Prepares the library of a server. A path that can never be a library is rejected immediately. If the file is later removed or replaced,
 * the server notices: the library is unavailable while the file is missing, and the new file is opened.
 */
export async function serveLibrary(config: EffectiveConfig, log: Log): Promise<ServedLibrary> {
  const path = config.values.library
  let isClosed = false
  let wasOpened = false
  let opened: Promise<LibraryHandle> | undefined
  let current: LibraryHandle | undefined
  /** The damage of the current file. */
  let damage: PharosError | undefined
  let fileCheckedAt = 0
  let failure: { readonly error: unknown; readonly at: number } | undefined
  /** Handles of replaced files that are not closed yet. */
  const replacedHandles = new Set<LibraryHandle>()

  const openHandle = async (): Promise<LibraryHandle> => {
    // Only the first open may create the file; later it would conflict with a process that is replacing the file.
    if (wasOpened && readFileIdentity(path) === undefined) {
      throw new PharosError('LIBRARY_MISSING', { library: path })
    }
    const library = await openConfiguredLibrary(config, (text) => log.warn(text), { busyMs: BUSY_TIMEOUT_MS })
    wasOpened = true
    const handle = createHandle(library, readFileIdentity(path), log, config)
    current = handle
    void handle.checking.then((found) => {
      if (current === handle) damage = found
    })
    return handle
  }
  const dropReplacedFile = () => {
    if (current === undefined || performance.now() - fileCheckedAt < FILE_CHECK_INTERVAL_MS) return
    fileCheckedAt = performance.now()
    if (readFileIdentity(path) === current.file) return
    log.warn(
      'the library file was removed or replaced while the server was running; the server now uses the file at that path',
    )
    const handle = current
    current = undefined
    damage = undefined
    opened = undefined
    replacedHandles.add(handle)
    setTimeout(() => void close(handle), READER_GRACE_MS).unref()
  }
  const close = async (handle: LibraryHandle): Promise<void> => {
    if (!replacedHandles.delete(handle)) return
    await handle.close().catch((error: unknown) => log.warn(`while closing: ${messageOf(error)}`))
  }
  const open = async (): Promise<OpenLibrary> => {
    if (isClosed) throw new PharosError('INTERRUPTED')
    dropReplacedFile()
    if (damage !== undefined) throw damage
    if (failure !== undefined && performance.now() - failure.at < REOPEN_COOLDOWN_MS) throw failure.error
    opened ??= openHandle().catch((error: unknown) => {
      opened = undefined
      failure = { error, at: performance.now() }
      throw error
    })
    return (await opened).library
  }
  await open().catch((error: unknown) => {
    if (!(error instanceof PharosError) || !TRANSIENT_CODES.has(error.code)) throw error
    log.warn(`${error.message}; retrying with every request`)
  })
  return {
    open,
    jobLog: async () => (await open()).jobLog,
    async waitForCheck() {
      await open()
      await Promise.race([current?.checking, sleep(CHECK_WAIT_MS, undefined, { ref: false })])
      await open()
    },
    wakeBackgroundWork: () => current?.wakeBackgroundWork(),
    async close() {
      isClosed = true
      const last = await opened?.catch(() => undefined)
      if (last !== undefined) replacedHandles.add(last)
      await Promise.all([...replacedHandles].map(close))
    },
  }
}

/** Whether all long-running work is left to workers. */
function delegatesWork({ values }: EffectiveConfig): boolean {
  return isPostgres(values.library) && values.workers === 0
}

function createHandle(
  library: OpenLibrary,
  file: string | undefined,
  log: Log,
  config: EffectiveConfig,
): LibraryHandle {
  const path = config.values.library
  const hasNoWork = delegatesWork(config)
  const checking = isPostgres(path) ? Promise.resolve(undefined) : checkInThread(path, log)
  const stop = new AbortController()
  const wakeableSleep = createWakeableSleep()
  // Failures of the background work are visible in every search that lacks its results.
  const background = hasNoWork
    ? Promise.resolve()
    : workInBackground(library, stop.signal, { wakeableSleep, log }).catch(() => undefined)
  return {
    library,
    file,
    checking,
    wakeBackgroundWork: wakeableSleep.wake,
    async close() {
      stop.abort(new PharosError('INTERRUPTED'))
      await background
      await library.close()
    },
  }
}

/** Checks the pages of a file in a worker thread. If the check itself fails, nothing is known about the file. */
async function checkInThread(path: string, log: Log): Promise<PharosError | undefined> {
  const thread = new Worker(CHECK_WORKER_URL, { workerData: path })
  thread.unref()
  try {
    const ended = once(thread, 'exit').then(() => {
      throw new Error('the check ended without an answer')
    })
    const [found] = (await Promise.race([once(thread, 'message'), ended])) as [string | null]
    if (found === null) return undefined
    const damage = createDamageError(path, found)
    log.warn(`${damage.message}; ${damage.entry.advice}; restart the server unless another file takes its place`)
    return damage
  } catch (error) {
    log.warn(`the library was not checked for damage: ${messageOf(error)}`)
    return undefined
  }
}

/** How long a readiness response waits for the check. Hundreds of megabytes take seconds. */
const CHECK_WAIT_MS = 2000

/** The worker script is beside this file, with the same extension. */
const CHECK_WORKER_URL = new URL(import.meta.url.replace(/serve-library(\.\w+)$/, 'check-worker$1'))

/** Identifies the file at a path; undefined if there is none. A database has a fixed identity. */
function readFileIdentity(path: string): string | undefined {
  if (isPostgres(path)) return path
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}/${ino}`
  } catch {
    return undefined
  }
}
