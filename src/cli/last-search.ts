import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { lastSearchFile } from '../config.ts'

/** Remembers the addresses of the hits of a search, in the order in which they are numbered. Only this user can read the file. */
export function rememberHits(urls: readonly string[]): void {
  const file = lastSearchFile()
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${JSON.stringify({ hits: urls })}\n`, { mode: 0o600 })
  } catch {
    // A search that cannot be remembered is still answered.
  }
}

/** The addresses of the hits of the last search; undefined if none is remembered. */
export function readLastHits(): readonly string[] | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(lastSearchFile(), 'utf8'))
    const hits = typeof stored === 'object' && stored !== null && 'hits' in stored ? stored.hits : undefined
    return Array.isArray(hits) && hits.every((hit) => typeof hit === 'string') ? hits : undefined
  } catch {
    return undefined
  }
}
