import { compareUtf8 } from '../../src/core/text/order.ts'
import type { Sql } from '../../src/store/postgres/database/database.ts'

interface Step {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly Step[]
}

/** Records all statements from now on, and gives their generic query plans, independent of parameter values. */
export function recordPlans(sql: Sql): {
  readonly sql: Sql
  /** How many statements were run. */
  count(): number
  /** Steps that scan a whole growing table. */
  listFullScans(): Promise<string[]>
  /** Indexes that are used. */
  listIndexes(): Promise<string[]>
} {
  const statements: string[] = []
  const record = (text: string): string => {
    statements.push(text)
    return text
  }
  const listSteps = async (): Promise<{ text: string; step: Step }[]> => {
    const steps: { text: string; step: Step }[] = []
    for (const text of new Set(statements)) {
      for (const step of await explain(sql, text)) steps.push({ text, step })
    }
    return steps
  }
  return {
    sql: {
      all: (text, values) => sql.all(record(text), values),
      get: (text, values) => sql.get(record(text), values),
      run: (text, values) => sql.run(record(text), values),
      readBytes: (text) => sql.readBytes(record(text)),
    },
    count: () => statements.length,
    listFullScans: async () =>
      (await listSteps())
        .filter(({ step }) => step['Node Type'] === 'Seq Scan' && GROWING_TABLES.test(step['Relation Name'] ?? ''))
        .map(({ step, text }) => `${step['Relation Name']}: ${text}`),
    listIndexes: async () =>
      [...new Set((await listSteps()).flatMap(({ step }) => step['Index Name'] ?? []))].sort(compareUtf8),
  }
}

const GROWING_TABLES = /^(?:ledger|links|url_aliases|hosts|open_hosts)$/

/** The steps of the generic plan of a statement, which the server uses once a statement has run several times. */
async function explain(sql: Sql, text: string): Promise<Step[]> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const name = `plan_${planCount++}`
  await sql.run('SET LOCAL plan_cache_mode TO force_generic_plan')
  await sql.run(`PREPARE ${name} AS ${text}`)
  const values = count === 0 ? '' : `(${Array(count).fill('NULL').join(', ')})`
  const found = await sql.get<{ 'QUERY PLAN': readonly { readonly Plan: Step }[] }>(
    `EXPLAIN (FORMAT JSON) EXECUTE ${name}${values}`,
  )
  return (found?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => flatten(Plan))
}

let planCount = 0

function flatten(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(flatten)]
}
