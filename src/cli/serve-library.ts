import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { EffectiveConfig } from '../config.ts'
import { type ErrorCode, messageOf, PharosError } from '../core/errors.ts'
import { isPostgres } from '../core/url/postgres-address.ts'
import type { Log } from '../http/ports.ts'
import { createAlarm } from '../library/alarm.ts'
import type { JobLog } from '../library/job-log.ts'
import type { OpenLibrary } from '../open-library.ts'
import { createDamageError } from '../store/common/damage.ts'
import { workInBackground } from './background.ts'
import { openConfigured } from './library.ts'

/** The library of a server, which stays up while it cannot be opened. */
export interface ServedLibrary {
  /** Opens it, unless it is open; tried again with later calls until it can be. */
  open(): Promise<OpenLibrary>
  jobLog(): Promise<JobLog>
  /**
   * Resolves once the whole file was checked; rejects with the damage that was found. A library with damage is not used any more. A
   * large file takes long to check: it is waited for a moment only, and may be used until damage is found.
   */
  checked(): Promise<void>
  /** Has what works in the background look for new chunks now. */
  tend(): void
  close(): Promise<void>
}

/** What may be better a moment later, without anybody giving another path or program. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'LIBRARY_FULL',
  'LIBRARY_LOCKED',
  'LIBRARY_READ_ONLY',
  'LIBRARY_UNREACHABLE',
])

/** A library that could not be opened is not tried again before this: a try may hold up everything else for a while. */
const RETRY_MS = 1000
/** How often is looked whether the file is still the one that is open. */
const LOOK_MS = 1000
/** Whoever still reads from a file that was replaced has this long. */
const LEAVE_MS = 10_000
/** A write that meets one of another process is tried again without holding up whoever else is to be answered. */
const BUSY_MS = 5

/** A library as it was opened. */
interface Handle {
  readonly library: OpenLibrary
  /** Which file it is. */
  readonly file: string | undefined
  /** Resolves with the damage of the file, or undefined. */
  readonly checking: Promise<PharosError | undefined>
  tend(): void
  close(): Promise<void>
}

/**
 * Prepares the library of a server. What will never be a library of this program is refused at once. A file that is taken away or
 * replaced later is noticed: it cannot be used while it is gone, and what is there then is opened.
 */
export async function serveLibrary(config: EffectiveConfig, log: Log): Promise<ServedLibrary> {
  const path = config.values.library
  let isClosed = false
  let wasOpened = false
  let opened: Promise<Handle> | undefined
  let current: Handle | undefined
  /** The damage of the current file. */
  let damage: PharosError | undefined
  let lookedAt = 0
  let failure: { readonly error: unknown; readonly at: number } | undefined
  /** Those that were left and are not closed yet. */
  const left = new Set<Handle>()

  const start = async (): Promise<Handle> => {
    // The first time it may be made; later, making one would be in the way of whoever puts another in its place.
    if (wasOpened && fileOf(path) === undefined) {
      throw new PharosError('LIBRARY_MISSING', { library: path })
    }
    const library = await openConfigured(config, (text) => log.warn(text), { busyMs: BUSY_MS })
    wasOpened = true
    const handle = createHandle(library, fileOf(path), log, config)
    current = handle
    void handle.checking.then((found) => {
      if (current === handle) damage = found
    })
    return handle
  }
  const leaveReplaced = () => {
    if (current === undefined || performance.now() - lookedAt < LOOK_MS) return
    lookedAt = performance.now()
    if (fileOf(path) === current.file) return
    log.warn('the library was taken away or replaced while it was served; what is in its place is used from now on')
    const handle = current
    current = undefined
    damage = undefined
    opened = undefined
    left.add(handle)
    setTimeout(() => void close(handle), LEAVE_MS).unref()
  }
  const close = async (handle: Handle): Promise<void> => {
    if (!left.delete(handle)) return
    await handle.close().catch((error: unknown) => log.warn(`while closing: ${messageOf(error)}`))
  }
  const open = async (): Promise<OpenLibrary> => {
    if (isClosed) throw new PharosError('INTERRUPTED')
    leaveReplaced()
    if (damage !== undefined) throw damage
    if (failure !== undefined && performance.now() - failure.at < RETRY_MS) throw failure.error
    opened ??= start().catch((error: unknown) => {
      opened = undefined
      failure = { error, at: performance.now() }
      throw error
    })
    return (await opened).library
  }
  await open().catch((error: unknown) => {
    if (!(error instanceof PharosError) || !PASSING.has(error.code)) throw error
    log.warn(`${error.message}; tried again with every request`)
  })
  return {
    open,
    jobLog: async () => (await open()).jobLog,
    async checked() {
      await open()
      await Promise.race([current?.checking, sleep(CHECK_WAIT_MS, undefined, { ref: false })])
      await open()
    },
    tend: () => current?.tend(),
    async close() {
      isClosed = true
      const last = await opened?.catch(() => undefined)
      if (last !== undefined) left.add(last)
      await Promise.all([...left].map(close))
    },
  }
}

/** Whether all that takes long is left to workers. */
function leavesWork({ values }: EffectiveConfig): boolean {
  return isPostgres(values.library) && values.workers === 0
}

function createHandle(library: OpenLibrary, file: string | undefined, log: Log, config: EffectiveConfig): Handle {
  const path = config.values.library
  const isIdle = leavesWork(config)
  const checking = isPostgres(path) ? Promise.resolve(undefined) : checkInThread(path, log)
  const stop = new AbortController()
  const alarm = createAlarm()
  // What goes wrong there is told by every search that misses its work.
  const background = isIdle
    ? Promise.resolve()
    : workInBackground(library, stop.signal, { alarm, log }).catch(() => undefined)
  return {
    library,
    file,
    checking,
    tend: alarm.ring,
    async close() {
      stop.abort(new PharosError('INTERRUPTED'))
      await background
      await library.close()
    },
  }
}

/** Checks the pages of a file beside everything else. A check that fails itself says nothing about the file. */
async function checkInThread(path: string, log: Log): Promise<PharosError | undefined> {
  const thread = new Worker(CHECK, { workerData: path })
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

/** How long the answer that a library can be used waits for its check. Hundreds of megabytes take seconds. */
const CHECK_WAIT_MS = 2000

/** Beside this file, built or not. */
const CHECK = new URL(import.meta.url.replace(/serve-library(\.\w+)$/, 'check-worker$1'))

/** What tells the file at a path from others that were there; undefined when there is none. A database stays what it is. */
function fileOf(path: string): string | undefined {
  if (isPostgres(path)) return path
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}/${ino}`
  } catch {
    return undefined
  }
}
