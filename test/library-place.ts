import { renameSync } from 'node:fs'
import { inject } from 'vitest'
import { isPostgres } from '../src/core/url/postgres-address.ts'
import { isLong } from './faults/bounded.ts'
import { createLibrary, renameDatabase } from './postgres/databases.ts'

/** Whether libraries are in PostgreSQL. Provided only by the test project that starts one. */
export const isOnPostgres: boolean = (inject('postgres') as string | undefined) !== undefined

/**
 * Number of repetitions in a test: in a long run, in a short run, and in a short run on PostgreSQL, where it only has to show that the
 * store behaves like the one whose test beside it has the usual length.
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
  const place = databaseByPath.get(path) ?? (await createLibrary())
  if (path !== ':memory:') databaseByPath.set(path, place)
  return place
}

/** Makes a closed library unavailable. */
export async function hideLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(nameOf(place), `${nameOf(place)}_away`)
  renameSync(place, `${place}.away`)
}

/** Makes the library available again. */
export async function showLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(`${nameOf(place)}_away`, nameOf(place))
  renameSync(`${place}.away`, place)
}

function nameOf(address: string): string {
  return /\/(\w+)\?/.exec(address)?.[1] ?? ''
}
