import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { type Database, openDatabase, writeTo } from '../../src/store/sqlite/database/database.ts'
import { createJobLog } from '../../src/store/sqlite/job-log.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { describeJobLog } from './job-log.contract.ts'
import { event, jobOf, KEEP_ALL, note } from './job-notes.ts'
import { recordPlans } from './query-plans.ts'
import { runScript } from './run-script.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-job-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newPath = () => join(folder, `${files++}.db`)

const STORES: Readonly<Record<string, () => Promise<LibraryStore>>> = {
  'the SQLite store': () => openSqliteStore(':memory:'),
  'the memory store': async () => createMemoryStore(),
}

describe.each(Object.entries(STORES))('the history of jobs in %s', (_name, open) => {
  describeJobLog(open)
})

describe('the history of jobs in SQLite', () => {
  test('can be written by several processes concurrently', async () => {
    const path = newPath()
    const store = await openSqliteStore(path)
    await store.jobLog.add(jobOf('shared'))
    expect(await Promise.all(['a', 'b'].map((name) => runScript('job-log-writer.ts', path, name)))).toEqual(['', ''])
    expect(await store.jobLog.find('shared')).toMatchObject({ events: 1000 })
    const events = await store.jobLog.listQueueEvents('shared', { limit: 2000 })
    expect(new Set(events.map(({ url }) => url)).size).toBe(1000)
    // Events that are appended together stay together, in their order.
    for (let i = 0; i < events.length; i += 5) {
      const [last, ...before] = events.slice(i, i + 5).map(({ url }) => Number(url.split('/')[2]))
      expect(before).toEqual([1, 2, 3, 4].map((steps) => (last ?? 0) - steps))
    }
    await store.close()
  })

  test('keeps no part of a write that did not fit on the disk', async () => {
    const { db, log } = openLog(newPath())
    await log.add(jobOf('a'))
    await log.append([event('a', '/first')])
    db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`)
    const many = Array.from({ length: 5000 }, (_, i) => event('a', `/${i}`))
    await expect(log.append([note('problem', 'a', 'p'), ...many])).rejects.toMatchObject({ code: 'LIBRARY_FULL' })
    expect((await log.listQueueEvents('a', { limit: 10 })).map(({ url }) => url)).toEqual(['/first'])
    expect(await log.listProblems({ limit: 10 })).toEqual([])
    expect(await log.find('a')).toMatchObject({ events: 1 })
    db.pragma('max_page_count = 1000000')
    await log.append(many)
    expect(await log.find('a')).toMatchObject({ events: 5001 })
    db.close()
  })

  test('keeps crawl types that a user changed or created, and restores missing ones', async () => {
    const path = newPath()
    const change = (sql: string) => {
      const db = openDatabase(path)
      db.exec(sql)
      db.close()
    }
    const list = async () => {
      const store = await openSqliteStore(path)
      const types = await store.jobLog.listTypes()
      await store.close()
      return types
    }
    const seeds = await list()
    expect(seeds).toHaveLength(6)
    // Simulates a library of an earlier version that knew fewer crawl types.
    change(
      `DELETE FROM crawl_types WHERE name <> 'basic'; UPDATE crawl_types SET declaration = '{"depth":1}', description = NULL;
       INSERT INTO crawl_types (name, description, declaration) VALUES ('own', 'Mine.', '{}')`,
    )
    expect(await list()).toEqual([
      { name: 'basic', description: '', declaration: { depth: 1 } },
      { name: 'own', description: 'Mine.', declaration: {} },
      ...seeds.filter(({ name }) => name !== 'basic'),
    ])
    change('DELETE FROM crawl_types')
    expect(await list()).toEqual(seeds)
  })

  test('is read and trimmed through indexes, without scanning whole tables', async () => {
    const { db, log } = openLog(newPath())
    const plans = recordPlans(db)
    const traced = createJobLog(db, (work) => writeTo(db, work))
    for (let i = 0; i < 40; i++) await log.add(jobOf(`job ${i}`, { status: 'done', endedAt: i, startedAt: i }))
    await log.add(jobOf('open'))
    db.exec(FILL)
    await log.append([event('job 3', '/last', { action: 'drop' })])
    for (const jobId of [undefined, 'job 3']) {
      for (const kind of [undefined, 'k']) {
        for (const scope of [undefined, 's']) {
          for (const page of [{}, { before: 50_000 }, { after: 50_000 }]) {
            const filter = Object.entries({ jobId, kind, scope, ...page }).filter(([, value]) => value !== undefined)
            await traced.listProblems({ limit: 5, ...Object.fromEntries(filter) })
            await traced.listMilestones({ limit: 5, ...Object.fromEntries(filter) })
          }
        }
      }
    }
    for (const action of [undefined, 'drop'] as const) {
      for (const page of [{}, { before: 50_000 }, { after: 50_000 }]) {
        await traced.listQueueEvents('job 3', { limit: 5, ...page, ...(action && { action }) })
      }
    }
    expect((await traced.listQueueEvents('job 3', { limit: 1, action: 'drop' }))[0]?.url).toBe('/last')
    await traced.list(10)
    await traced.listOpen()
    await traced.find('open')
    await traced.change('open', { problem: 'x' })
    await traced.append([event('open', '/')])
    const removed = await traced.trim({ eventsPerJob: 2000, events: 50_000, notes: 1000, eventsSince: 5, jobs: 31 })
    // Ten jobs are removed with their 2500 events and 500 problems each, and an additional event of one of them. Then 2000 events of each
    // of the other thirty jobs remain, and finally 50,000 events and 1000 problems overall.
    expect(removed).toBe(10 * (2500 + 500 + 1) + 1 + 30 * 500 + (60_001 - 50_000) + (15_000 - 1000))
    expect((await log.list(1)).total).toBe(31)
    expect(await log.trim(KEEP_ALL)).toBe(0)
    expect(plans.listFullScans()).toEqual([])
    // Without these indexes, the queries scan whole tables, so the plan check above is meaningful.
    for (const [index, table] of [
      ['crawl_problems_by_kind', 'crawl_problems'],
      ['crawl_milestones_by_scope', 'crawl_milestones'],
      ['queue_events_by_job', 'queue_events'],
    ]) {
      db.exec(`DROP INDEX ${index}`)
      if (table === 'queue_events') db.exec('DROP INDEX queue_events_by_action')
      expect(plans.listFullScans().filter((scan) => scan.startsWith(`SCAN ${table}`))).not.toEqual([])
    }
    db.close()
  })
})

/** Adds 2500 queue events and 500 problems for each of forty jobs. */
const FILL = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
  INSERT INTO queue_events (job_id, ts, action, url, depth, host, queue_size)
    SELECT 'job ' || (i % 40), i, iif(i % 3, 'enqueued', 'dequeued'), 'https://a.test/some/page/' || i, 1, 'a.test', i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
  INSERT INTO crawl_problems (job_id, ts, kind, scope) SELECT 'job ' || (i % 40), i, 'k', 's' FROM n;
`

function openLog(path: string): { readonly db: Database; readonly log: ReturnType<typeof createJobLog> } {
  const db = openDatabase(path)
  return { db, log: createJobLog(db, (work) => writeTo(db, work)) }
}
