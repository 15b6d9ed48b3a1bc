import type { Database } from '../../src/store/sqlite/database.ts'

/** Remembers what is prepared on a connection from now on, and tells how SQLite would do it. */
export function recordPlans(db: Database): {
  /** Steps that walk a whole table, or that sort what an index should have had in order. */
  listWalks(): string[]
  /** All steps of the statements that begin like this. */
  listSteps(beginning: RegExp): string[]
} {
  const seen = new Set<string>()
  const prepare = db.prepare.bind(db)
  // The connection is that of the test alone.
  Object.assign(db, {
    prepare: (sql: string) => {
      seen.add(sql)
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
    listSteps: (beginning) => [...seen].filter((sql) => beginning.test(sql)).flatMap(explain),
    listWalks: () =>
      // What is kept by triggers is small, whatever it counts.
      [...seen]
        .filter((sql) => /\b(?:ledger|queue_events|crawl_\w+)\b/.test(sql))
        .flatMap((sql) =>
          explain(sql)
            .filter((step) => isWalk(step, sql))
            .map((step) => `${step}: ${sql}`),
        ),
  }
}

/** Tables that grow without end, and what they are called in queries. */
const GROWING = /^SCAN (?:queue_events|e|crawl_problems|crawl_milestones|crawl_jobs|j|ledger|l|page_analyses|a)\b/

function isWalk(step: string, sql: string): boolean {
  if (/TEMP B-TREE/.test(step)) return true
  // The first of all rows, in an order they are in: it goes no further than those.
  const isCutShort = !/\bWHERE\b/.test(sql) && /\bLIMIT \?$/.test(sql)
  // There are never many jobs, and those of an index are fewer still.
  const isOfJobs = /^SCAN crawl_jobs USING /.test(step)
  return GROWING.test(step) && !isCutShort && !isOfJobs
}
