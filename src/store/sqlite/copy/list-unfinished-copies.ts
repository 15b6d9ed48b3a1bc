import { inspect } from '../database/database.ts'

/**
 * Locations of libraries whose copy into this file is active or was interrupted. The file is only read; a locked or unreadable file gives
 * an empty list.
 */
export function listUnfinishedCopies(path: string): string[] {
  try {
    const select = `SELECT plan ->> 'place' FROM arrivals WHERE ended_at IS NULL ORDER BY began_at`
    return inspect(path, (db) => db.prepare<[], string>(select).pluck().all())
  } catch {
    return []
  }
}
