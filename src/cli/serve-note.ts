import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { folderOf } from '../config.ts'
import { isPostgres } from '../core/url/postgres-address.ts'
import { thisRunner } from '../jobs/runner.ts'

/** What a running server tells of itself, in a file beside its library, or in the folder of its database, that only its owner may read. */
export interface ServeNote {
  /** `http://127.0.0.1:41000` */
  readonly origin: string
  readonly pid: number
  /** The process, told apart from others that had its number. */
  readonly runner: string
  /** Where the token is that it demands; null when it demands none, or got it otherwise. */
  readonly tokenFile: string | null
}

/** How long a server that may be there is waited for. */
const PATIENCE_MS = 3000

/** Where the server of a library says where it is. Two names of one library lead to the same place. */
function placeOf(library: string): string {
  return isPostgres(library) ? join(folderOf(library), 'server.json') : `${resolveLinks(library)}.server.json`
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It is not there yet; its folder may be.
    return dirname(path) === path ? path : join(resolveLinks(dirname(path)), basename(path))
  }
}

/** Finds the server that runs on a library; undefined when there is none any more. */
export async function findServer(library: string): Promise<ServeNote | undefined> {
  const note = readNote(library)
  // In a container that was started again, this process may have the very name of the one before.
  if (note === undefined || note.runner === thisRunner.id || thisRunner.isGone(note.runner)) return undefined
  return (await isAnswering(note.origin)) ? note : undefined
}

/** Writes where the server of a library is; returns what takes it away again, or undefined where there is such a note already. */
export function writeNote(library: string, note: Pick<ServeNote, 'origin' | 'tokenFile'>): (() => void) | undefined {
  const text = JSON.stringify({ ...note, pid: process.pid, runner: thisRunner.id })
  try {
    if (isPostgres(library)) mkdirSync(folderOf(library), { recursive: true, mode: 0o700 })
    writeFileSync(placeOf(library), `${text}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  return () => removeOwn(library)
}

/** Takes away what a server left that is gone, unless another one has written there since. */
export function removeStale(library: string, stale: string | undefined): void {
  if (readNoteText(library) === stale) rmSync(placeOf(library), { force: true })
}

/** Another server may have taken the place of this one, if its machine slept long enough. */
function removeOwn(library: string): void {
  if (readNote(library)?.runner === thisRunner.id) rmSync(placeOf(library), { force: true })
}

/** What stands in the note of a library; undefined where there is none. */
export function readNoteText(library: string): string | undefined {
  try {
    return readFileSync(placeOf(library), 'utf8')
  } catch {
    return undefined
  }
}

function readNote(library: string): ServeNote | undefined {
  try {
    const note: unknown = JSON.parse(readNoteText(library) ?? '')
    return isNote(note) ? note : undefined
  } catch {
    // There is none, or one that was cut short: nobody can be reached by it.
    return undefined
  }
}

function isNote(value: unknown): value is ServeNote {
  if (typeof value !== 'object' || value === null) return false
  const { origin, pid, runner, tokenFile } = value as Partial<Record<keyof ServeNote, unknown>>
  const isReachable = typeof origin === 'string' && /^https?:/.test(URL.parse(origin)?.protocol ?? '')
  const hasToken = tokenFile === null || typeof tokenFile === 'string'
  return isReachable && typeof pid === 'number' && typeof runner === 'string' && hasToken
}

/** Whatever it answers, somebody is there: one that demands a token answers those who have none, too. */
async function isAnswering(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    await response.body?.cancel()
    return true
  } catch (error) {
    // One that is too busy to answer is there.
    return error instanceof Error && error.name === 'TimeoutError'
  }
}
