import type { LearnedPattern } from '../../../library/ports/findings.ts'
import { parseStored } from '../../../store/common/damage.ts'
import type { Database } from '../../../store/sqlite/database/database.ts'

/** The learned URL patterns of hosts. */
export interface Patterns {
  /** The patterns of a host, most frequent first. */
  list(host: string): LearnedPattern[]
  /** Replaces the patterns of a host inside the caller's transaction. */
  replace(host: string, patterns: readonly LearnedPattern[], now: number): void
}

/** Creates the pattern queries. */
export function createPatterns(db: Database): Patterns {
  const select = db.prepare<[string], Omit<LearnedPattern, 'examples'> & { examples: string }>(
    `SELECT pattern, role, seen, hits, misses, confidence, examples FROM url_patterns WHERE host = ?
     ORDER BY seen DESC, pattern`,
  )
  const remove = db.prepare<[string]>('DELETE FROM url_patterns WHERE host = ?')
  const insert = db.prepare<[Omit<LearnedPattern, 'examples'> & { host: string; examples: string; now: number }]>(
    `INSERT OR REPLACE INTO url_patterns (host, pattern, role, seen, hits, misses, confidence, examples, learned_at)
     VALUES (@host, @pattern, @role, @seen, @hits, @misses, @confidence, @examples, @now)`,
  )
  return {
    // The JSON was written by `replace`.
    list: (host) =>
      select.all(host).map(({ examples, ...found }) => ({ ...found, examples: parseStored<string[]>(examples) })),
    replace: (host, patterns, now) => {
      remove.run(host)
      for (const pattern of patterns) {
        insert.run({ ...pattern, host, examples: JSON.stringify(pattern.examples), now })
      }
    },
  }
}
