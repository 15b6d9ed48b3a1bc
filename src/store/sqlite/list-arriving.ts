import { openForLook } from './database.ts'

/**
 * Where libraries are that were being copied into the one in a file when that was broken off, or still is. The file is only read; of one
 * that others keep locked, or that cannot be read, nothing is said.
 */
export function listArriving(path: string): string[] {
  try {
    const db = openForLook(path)
    try {
      const open = `SELECT plan ->> 'place' FROM arrivals WHERE ended_at IS NULL ORDER BY began_at`
      return db.prepare<[], string>(open).pluck().all()
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}
