import type { LearnedPattern } from '../../../library/ports/findings.ts'
import type { Sql } from '../../../store/postgres/database/database.ts'

/** The learned URL patterns of a host, most frequent first. */
export async function listPatterns(sql: Sql, host: string): Promise<LearnedPattern[]> {
  const found = await sql.all<Omit<LearnedPattern, 'examples'> & { examples: string }>(
    `SELECT pattern, role, seen, hits, misses, confidence, examples FROM url_patterns WHERE host = $1
     ORDER BY seen DESC, pattern`,
    [host],
  )
  // The JSON is written below.
  return found.map(({ examples, ...pattern }) => ({ ...pattern, examples: JSON.parse(examples) as string[] }))
}

/** Replaces the patterns of a host inside the caller's transaction. */
export async function replacePatterns(
  sql: Sql,
  host: string,
  patterns: readonly LearnedPattern[],
  now: number,
): Promise<void> {
  await sql.run('DELETE FROM url_patterns WHERE host = $1', [host])
  for (const { pattern, role, seen, hits, misses, confidence, examples } of patterns) {
    await sql.run(
      `INSERT INTO url_patterns (host, pattern, role, seen, hits, misses, confidence, examples, learned_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (host, digest_of(pattern)) DO UPDATE SET role = excluded.role, seen = excluded.seen, hits = excluded.hits,
         misses = excluded.misses, confidence = excluded.confidence, examples = excluded.examples,
         learned_at = excluded.learned_at`,
      [host, pattern, role, seen, hits, misses, confidence, JSON.stringify(examples), now],
    )
  }
}
