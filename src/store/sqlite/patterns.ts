import type { LearnedPattern } from '../../plan/plan-memory.ts'
import { parseStored } from '../common/damage.ts'
import type { Database } from './database.ts'

/** The shapes of addresses that were learnt of hosts. */
export interface Patterns {
  /** Those of a host, the most frequent first. */
  list(host: string): LearnedPattern[]
  /** Replaces those of a host, inside the transaction of the caller. */
  replace(host: string, patterns: readonly LearnedPattern[], now: number): void
}

/** Prepares what is asked about patterns. */
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
    // Written below.
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
