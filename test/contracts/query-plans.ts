import type { Database } from '../../src/store/sqlite/database/database.ts'

/** Records the statements prepared on a connection from now on, and gives their SQLite query plans. */
export function recordPlans(db: Database): {
  /** Steps that scan a whole table, or that sort rows that an index should return in order. */
  listFullScans(): string[]
  /** All steps of the statements that match. */
  listSteps(pattern: RegExp): string[]
} {
  const statements = new Set<string>()
  const prepare = db.prepare.bind(db)
  // The method can be replaced, because no other code uses this connection.
  Object.assign(db, {
    prepare: (sql: string) => {
      statements.add(sql)
      return prepare(sql)
    },
  })
  const explain = (sql: string): string[] => {
    const statement = prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    // A plan does not depend on the values.
    const values = new Map([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]))
    const unnamed = sql.match(/\?/g)?.map(() => null) ?? []
    return statement.all(...(values.size > 0 ? [Object.fromEntries(values)] : unnamed)).map(({ detail }) => detail)
  }
  return {
    listSteps: (pattern) => [...statements].filter((sql) => pattern.test(sql)).flatMap(explain),
    listFullScans: () =>
      // Tables that triggers maintain are small, so scanning them is fine.
      [...statements]
        .filter((sql) => /\b(?:ledger|queue_events|crawl_\w+)\b/.test(sql))
        .flatMap((sql) =>
          explain(sql)
            .filter((step) => isFullScan(step, sql))
            .map((step) => `${step}: ${sql}`),
        ),
  }
}

/** Scans of tables that can be large, by their names and by their aliases in queries. */
const LARGE_SCAN = /^SCAN (?:queue_events|e|crawl_problems|crawl_milestones|crawl_jobs|j|ledger|l|page_analyses|a)\b/

function isFullScan(step: string, sql: string): boolean {
  if (/TEMP B-TREE/.test(step)) return true
  // A query without conditions and with a limit reads only the first rows of an index.
  const isCutShort = !/\bWHERE\b/.test(sql) && /\bLIMIT \?$/.test(sql)
  // The number of jobs is limited, so scanning an index of jobs is fine.
  const isOfJobs = /^SCAN crawl_jobs USING /.test(step)
  return LARGE_SCAN.test(step) && !isCutShort && !isOfJobs
}
