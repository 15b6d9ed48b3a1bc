import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { lastSearchFile } from '../config.ts'

/** The address of a hit. */
export interface RememberedHit {
  readonly url: string
  /** The machine of a file that is on another machine. */
  readonly machine?: string | undefined
}

/** Remembers the hits of a search, in the order in which they are numbered. Only this user can read the file. */
export function rememberHits(hits: readonly RememberedHit[]): void {
  const file = lastSearchFile()
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify({ hits })}\n`, { mode: 0o600 })
  } catch {
    // A search that cannot be remembered is still answered.
  }
}

/** The hits of the last search; undefined if none is remembered. */
export function readLastHits(): readonly RememberedHit[] | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(lastSearchFile(), 'utf8'))
    const hits = typeof stored === 'object' && stored !== null && 'hits' in stored ? stored.hits : undefined
    return Array.isArray(hits) && hits.every(isHit) ? hits : undefined
  } catch {
    return undefined
  }
}

function isHit(value: unknown): value is RememberedHit {
  if (typeof value !== 'object' || value === null) return false
  const { url, machine } = value as Partial<Record<keyof RememberedHit, unknown>>
  return typeof url === 'string' && (machine === undefined || typeof machine === 'string')
}
