import { describe, expect, test } from 'vitest'
import { createRateWindow } from '../../web/dashboard/home/rate-window.ts'
import { readCoverage, sumOf } from '../../web/dashboard/sources/coverage.ts'

/* Tests the figures that the dashboard computes from server data. */

const START = 1_000_000_000_000

describe('the rate of a crawl', () => {
  test('is right in its first seconds, and its chart covers 20 seconds to one hour of the crawl', () => {
    const rates = createRateWindow()
    rates.add(START, 0)
    rates.add(START + 500, 10)
    // Less than a second counts as a whole one: ten pages in half a second do not prove twenty a second.
    expect(rates.readCurrent(START + 500)).toBe(10)
    rates.add(START + 2000, 40)
    expect(rates.readCurrent(START + 2000)).toBe(20)
    const { seconds, rates: values } = rates.readSeries(START + 2000)
    expect(seconds).toHaveLength(21)
    expect(values.slice(-3)).toEqual([null, 20, 20])
    expect(rates.readSeries(START + 60_000).seconds).toHaveLength(61)
    const { seconds: tenMinutes } = rates.readSeries(START + 600_000)
    expect(tenMinutes.length).toBeLessThanOrEqual(121)
    expect((tenMinutes.at(-1) ?? 0) - (tenMinutes[0] ?? 0)).toBe(600)
    expect(rates.readSeries(START + 36_000_000).seconds[0]).toBe(START / 1000 + 36_000 - 3600)
  })

  test('begins with the samples that the server kept', () => {
    const rates = createRateWindow()
    rates.add(START + 60_000, 600)
    rates.addEarlier([
      { at: START, count: 0 },
      { at: START + 30_000, count: 300 },
      { at: START + 61_000, count: 610 },
    ])
    rates.add(START + 62_000, 620)
    expect(rates.readAverage(START + 62_000)).toBeCloseTo(10)
    expect(new Set(rates.readSeries(START + 60_000).rates.slice(2))).toEqual(new Set([10]))
  })

  test('stays for some seconds without a report before it drops to zero', () => {
    const rates = createRateWindow()
    rates.add(START, 0)
    rates.add(START + 5000, 100)
    expect(rates.readCurrent(START + 8000)).toBe(20)
    expect(rates.readSeries(START + 8000).rates.slice(-4)).toEqual([20, null, null, null])
    expect(rates.readCurrent(START + 12_000)).toBe(0)
    expect(rates.readSeries(START + 12_000).rates.at(-1)).toBe(0)
  })
})

describe('the coverage of a source', () => {
  test('counts only addresses in its scope, not other links of its pages', () => {
    const balance = { discovered: 30, indexed: 4, unchanged: 2, skipped: 21, failed: 2, gone: 0, pending: 1 }
    const reasons = { 'skipped/off-site': 15, 'skipped/out-of-scope': 2, 'skipped/duplicate': 1, 'failed/timeout': 2 }
    const { segments, outOfScope, total } = readCoverage(balance, reasons)
    expect(outOfScope).toEqual([
      { state: 'skipped', group: 'skipped', reason: 'off-site', count: 15 },
      { state: 'skipped', group: 'skipped', reason: 'out-of-scope', count: 2 },
    ])
    expect(segments.map(({ state, reason, count }) => `${state}/${reason} ${count}`)).toEqual([
      'indexed/ 4',
      'unchanged/ 2',
      'pending/ 1',
      'skipped/duplicate 1',
      'skipped/ 3',
      'failed/timeout 2',
    ])
    expect(total).toBe(13)
    expect(total + sumOf(outOfScope)).toBe(balance.discovered)
  })

  test('shows addresses beyond a limit of pages or depth apart from those left out for good', () => {
    const balance = { discovered: 12, indexed: 4, unchanged: 0, skipped: 8, failed: 0, gone: 0, pending: 0 }
    const reasons = { 'skipped/page-cap': 3, 'skipped/max-depth': 2, 'skipped/duplicate': 3 }
    expect(readCoverage(balance, reasons).segments.map(({ group, reason }) => `${group}/${reason}`)).toEqual([
      'indexed/',
      'unread/page-cap',
      'unread/max-depth',
      'skipped/duplicate',
    ])
  })
})
