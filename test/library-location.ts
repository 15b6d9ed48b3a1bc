import { renameSync } from 'node:fs'
import { inject } from 'vitest'
import { isPostgres } from '../src/core/url/postgres-address.ts'
import { isLong } from './faults/bounded.ts'
import { createLibrary, renameDatabase } from './postgres/databases.ts'

/** Whether libraries are in PostgreSQL. Only the test project that starts a PostgreSQL server provides this value. */
export const isOnPostgres: boolean = (inject('postgres') as string | undefined) !== undefined

/**
 * Chooses the amount of work of a test: for a long run, for a short run, or for a short run on PostgreSQL. The last amount may be the
 * smallest, because the same test runs with the usual amount on SQLite.
 */
export function chooseRepetitions<T>(full: T, usual: T, onPostgres: T): T {
  if (isLong) return full
  return isOnPostgres ? onPostgres : usual
}

const databaseByPath = new Map<string, string>()

/**
 * The location of a test's library: its path, or on PostgreSQL the database for that path. Libraries in memory are always separate.
 */
export async function locateLibrary(path: string): Promise<string> {
  if (!isOnPostgres || isPostgres(path)) return path
  const location = databaseByPath.get(path) ?? (await createLibrary())
  if (path !== ':memory:') databaseByPath.set(path, location)
  return location
}

/** Makes a closed library unavailable. */
export async function hideLibrary(location: string): Promise<void> {
  if (isPostgres(location)) return renameDatabase(nameOf(location), `${nameOf(location)}_away`)
  renameSync(location, `${location}.away`)
}

/** Makes the library available again. */
export async function showLibrary(location: string): Promise<void> {
  if (isPostgres(location)) return renameDatabase(`${nameOf(location)}_away`, nameOf(location))
  renameSync(`${location}.away`, location)
}

function nameOf(address: string): string {
  return /\/(\w+)\?/.exec(address)?.[1] ?? ''
}
