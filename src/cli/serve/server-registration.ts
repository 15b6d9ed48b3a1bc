import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { libraryDataFolder } from '../../config.ts'
import { messageOf, PharosError } from '../../core/errors.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { Log } from '../../http/ports.ts'
import { thisRunner } from '../../processes/runner.ts'
import type { Config } from '../../settings/settings.ts'
import { shownLibrary } from '../library.ts'
import type { ListeningServer } from './listen.ts'

/** How to reach a running server. Stored beside a library file, or in the local data folder of a database; readable only by its owner. */
export interface ServerRegistration {
  /** `http://127.0.0.1:41000` */
  readonly origin: string
  readonly pid: number
  /** Identifies the process even if its pid is reused. */
  readonly runner: string
  /** The file with the required token; null if no token is required, or if the token did not come from a file. */
  readonly tokenFile: string | null
}

/** Timeout for the response of a server. */
const RESPONSE_TIMEOUT_MS = 3000

/** The path of the registration. All names of a library, such as symbolic links, lead to the same path. */
function registrationPath(library: string): string {
  return isPostgres(library) ? join(libraryDataFolder(library), 'server.json') : `${resolveLinks(library)}.server.json`
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // The file does not exist yet, but its folder may.
    return dirname(path) === path ? path : join(resolveLinks(dirname(path)), basename(path))
  }
}

/** Finds the running server of a library; undefined if there is none. */
export async function findServer(library: string): Promise<ServerRegistration | undefined> {
  const registration = readRegistration(library)
  if (registration === undefined) return undefined
  // In a restarted container this process can have the same id as the previous one.
  if (registration.runner === thisRunner.id || thisRunner.isGone(registration.runner)) return undefined
  return (await isAnswering(registration.origin)) ? registration : undefined
}

/** Writes the registration of a server. Returns a function that removes it, or undefined if one already exists. */
export function writeRegistration(
  library: string,
  registration: Pick<ServerRegistration, 'origin' | 'tokenFile'>,
): (() => void) | undefined {
  const text = JSON.stringify({ ...registration, pid: process.pid, runner: thisRunner.id })
  try {
    if (isPostgres(library)) mkdirSync(libraryDataFolder(library), { recursive: true, mode: 0o700 })
    writeFileSync(registrationPath(library), `${text}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  return () => removeOwnRegistration(library)
}

/** Removes the registration of a server that is gone, unless its text is no longer `staleText` because another server replaced it. */
export function removeStaleRegistration(library: string, staleText: string | undefined): void {
  if (readRegistrationText(library) === staleText) rmSync(registrationPath(library), { force: true })
}

/** Removes the registration of this server, unless another server has replaced it, for example while the machine was asleep. */
function removeOwnRegistration(library: string): void {
  if (readRegistration(library)?.runner === thisRunner.id) rmSync(registrationPath(library), { force: true })
}

/** The text of the registration of a library; undefined if there is none. */
export function readRegistrationText(library: string): string | undefined {
  try {
    return readFileSync(registrationPath(library), 'utf8')
  } catch {
    return undefined
  }
}

function readRegistration(library: string): ServerRegistration | undefined {
  try {
    const registration: unknown = JSON.parse(readRegistrationText(library) ?? '')
    return isRegistration(registration) ? registration : undefined
  } catch {
    // The registration is missing or truncated, so no server can be found through it.
    return undefined
  }
}

function isRegistration(value: unknown): value is ServerRegistration {
  if (typeof value !== 'object' || value === null) return false
  const { origin, pid, runner, tokenFile } = value as Partial<Record<keyof ServerRegistration, unknown>>
  const hasHttpOrigin = typeof origin === 'string' && /^https?:/.test(URL.parse(origin)?.protocol ?? '')
  const hasValidTokenFile = tokenFile === null || typeof tokenFile === 'string'
  return hasHttpOrigin && typeof pid === 'number' && typeof runner === 'string' && hasValidTokenFile
}

/** Whether a server is running. Any response proves that, even one that demands a token. */
async function isAnswering(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health`, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) })
    await response.body?.cancel()
    return true
  } catch (error) {
    // A server that is too busy to respond is running.
    return error instanceof Error && error.name === 'TimeoutError'
  }
}

/** Writes the registration by which commands find this server. Returns a function that removes it. */
export async function registerServer(values: Config, { origin }: ListeningServer, log: Log): Promise<() => void> {
  const registration = { origin, tokenFile: values.tokenFile || null }
  try {
    return writeRegistration(values.library, registration) ?? (await replaceStaleRegistration(values, registration))
  } catch (error) {
    if (error instanceof PharosError) throw error
    // The folder may not be writable at the moment; the server runs anyway.
    log.warn(`commands will not find this server: ${messageOf(error)}`)
    return () => undefined
  }
}

/** Replaces the registration of a server that is gone. */
async function replaceStaleRegistration(
  values: Config,
  registration: Parameters<typeof writeRegistration>[1],
): Promise<() => void> {
  const { library } = values
  const stale = readRegistrationText(library)
  const other = await findServer(library)
  // Commands find the first server of the database, which serves them as well.
  if (other !== undefined && isPostgres(library)) return () => undefined
  if (other !== undefined) throw runningError(shownLibrary(values), other)
  removeStaleRegistration(library, stale)
  const release = writeRegistration(library, registration)
  if (release === undefined) throw new Error('another server started at the same time')
  return release
}

export function runningError(library: string, { origin, pid }: ServerRegistration): PharosError {
  return new PharosError('SERVER_RUNNING', { library, origin, pid })
}
