import { renameSync } from 'node:fs'
import { inject } from 'vitest'
import { isPostgres } from '../src/core/url/postgres-address.ts'
import { isLong } from './faults/bounded.ts'
import { createLibrary, renameDatabase } from './postgres/databases.ts'

/** Whether libraries are kept in PostgreSQL. Provided by the project of tests that starts one, and by no other. */
export const isOnPostgres: boolean = (inject('postgres') as string | undefined) !== undefined

/**
 * How often a test does the same: at full length, in a short run, and in a short run on PostgreSQL, where it has to show that the store
 * holds to what the same test shows of crawls at its usual length beside it.
 */
export function chooseLength<T>(full: T, usual: T, onPostgres: T): T {
  if (isLong) return full
  return isOnPostgres ? onPostgres : usual
}

const made = new Map<string, string>()

/**
 * Where a test keeps its library: at the path it has for it, or, where the tests are run on PostgreSQL, in a database that stands for this
 * path. Those in memory are never the same.
 */
export async function placeLibrary(path: string): Promise<string> {
  if (!isOnPostgres || isPostgres(path)) return path
  const place = made.get(path) ?? (await createLibrary())
  if (path !== ':memory:') made.set(path, place)
  return place
}

/** Takes a library away that nobody has open. */
export async function hideLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(nameOf(place), `${nameOf(place)}_away`)
  renameSync(place, `${place}.away`)
}

/** Brings it back. */
export async function showLibrary(place: string): Promise<void> {
  if (isPostgres(place)) return renameDatabase(`${nameOf(place)}_away`, nameOf(place))
  renameSync(`${place}.away`, place)
}

function nameOf(address: string): string {
  return /\/(\w+)\?/.exec(address)?.[1] ?? ''
}
