import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../core/text/order.ts'
import { compareRows } from './compare-rows.ts'
import { isSameRow, replaceNul, resetRunningRows, shiftRows } from './copy-rows.ts'
import { type Cell, COPY_TABLES, type CopyRow, type CopyTable, withoutIdColumn } from './table-columns.ts'

/** A table of names with values. */
const TABLE: CopyTable = {
  name: 'things',
  label: 'thing',
  group: 'content',
  ownership: 'own',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'fact', type: 'whole' },
  ],
  key: ['name'],
  batchSize: 3,
}

const things = fc.dictionary(fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(2), { maxKeys: 20 })

async function* inBatches(facts: Readonly<Record<string, number>>, size: number): AsyncGenerator<CopyRow[]> {
  const rows: CopyRow[] = Object.entries(facts).sort(([a], [b]) => compareUtf8(a, b))
  for (let done = 0; done < rows.length; done += size) yield rows.slice(done, done + size)
}

describe('compareRows', () => {
  test('returns the changes that turn the target into the origin', async () => {
    await fc.assert(
      fc.asyncProperty(
        things,
        things,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 7 }),
        async (origin, target, originSize, targetSize) => {
          const result = new Map(Object.entries(target))
          let same = 0
          const [originRows, targetRows] = [inBatches(origin, originSize), inBatches(target, targetSize)]
          for await (const compared of compareRows(TABLE, originRows, targetRows)) {
            same += compared.same.length
            for (const [name] of compared.removed) expect(result.delete(String(name))).toBe(true)
            for (const [name, fact] of compared.added) {
              expect(result.has(String(name))).toBe(false)
              result.set(String(name), Number(fact))
            }
            for (const [name, fact] of compared.changed) {
              expect(result.get(String(name))).not.toBe(fact)
              result.set(String(name), Number(fact))
            }
          }
          expect(result).toEqual(new Map(Object.entries(origin)))
          expect(same).toBe(
            Object.entries(origin).filter(([name, fact]) => Object.hasOwn(target, name) && target[name] === fact)
              .length,
          )
        },
      ),
    )
  })
})

describe('rows of a copy', () => {
  const tableOf = (name: string) => COPY_TABLES.find((table) => table.name === name) ?? TABLE

  test('shiftRows shifts ids and can reverse that; 0 and null stay', () => {
    const table = tableOf('crawl_ids')
    const rows: CopyRow[] = [
      [5, 'a', 2],
      [0, 'b', null],
    ]
    const offsets = { crawl_ids: 100, sources: 10 }
    const shifted = shiftRows(table, rows, offsets)
    expect(shifted).toEqual([
      [105, 'a', 12],
      [0, 'b', null],
    ])
    expect(shiftRows(table, shifted, offsets, -1)).toEqual(rows)
    expect(shiftRows(table, rows, {})).toBe(rows)
  })

  test('isSameRow compares bytes by content', () => {
    expect(isSameRow(['a', Uint8Array.of(1, 2)], ['a', Uint8Array.of(1, 2)])).toBe(true)
    expect(isSameRow(['a', Uint8Array.of(1, 2)], ['a', Uint8Array.of(1, 3)])).toBe(false)
    expect(isSameRow([null], [0])).toBe(false)
  })

  test('replaceNul replaces NUL characters', () => {
    expect(replaceNul([['a\0b', 1, null]])).toEqual([['a\u{fffd}b', 1, null]])
  })

  test('resetRunningRows resets leases, open jobs and running analyses', () => {
    const resetRow = (name: string, given: Readonly<Record<string, Cell>>) => {
      const table = tableOf(name)
      const [row = []] = resetRunningRows(table, [table.columns.map((column) => given[column.name] ?? null)])
      return Object.fromEntries(table.columns.map((column, position) => [column.name, row[position]]))
    }
    expect(resetRow('ledger', { state: 'leased' })).toMatchObject({ state: 'pending' })
    expect(resetRow('ledger', { state: 'failed' })).toMatchObject({ state: 'failed' })
    const [queued, running] = [
      { status: 'queued', created_at: 1 },
      { status: 'running', created_at: 1, started_at: 2 },
    ]
    expect(resetRow('crawl_jobs', queued)).toMatchObject({ status: 'cancelled', ended_at: 1 })
    expect(resetRow('crawl_jobs', running)).toMatchObject({ status: 'stopped', ended_at: 2 })
    expect(resetRow('crawl_jobs', { ...running, last_event_at: 3 })).toMatchObject({
      ended_at: 3,
      problem: expect.any(String),
    })
    expect(resetRow('crawl_jobs', { status: 'done', ended_at: 7 })).toMatchObject({ ended_at: 7, problem: null })
    expect(resetRow('analysis_runs', { status: 'running', heartbeat_at: 4 })).toMatchObject({
      status: 'cancelled',
      ended_at: 4,
    })
  })

  test('withoutIdColumn removes only ids that merely define the order', () => {
    expect(withoutIdColumn(tableOf('crawl_jobs')).columns.map(({ name }) => name)).not.toContain('number')
    expect(withoutIdColumn(tableOf('ledger'))).toEqual(tableOf('ledger'))
  })
})
