import { appendFileSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, vi } from 'vitest'
import { PROGRAM, type Workshop } from '../e2e/program.ts'

/* Runs of the program that have to end well, in time and in bounded memory. */

/** Full sizes are tried; otherwise a form that fits into a short run. */
export const isLong: boolean = process.env['TEST_LONG'] !== undefined

/** Names a file for the figures of every run. */
const reportFile = process.env['TEST_REPORT']

/** Generous: hangs are what is looked for. */
const SECONDS = 60

/** The program is stopped first, so that what failed is what is said. */
export function allowTime(): void {
  vi.setConfig({ testTimeout: 2 * SECONDS * 1000 })
}

/** Runs the program, holds it to its bounds and returns what it printed. */
export async function runBounded(shop: Workshop, args: readonly string[], maxRssMb: number): Promise<string> {
  shop.write({
    'measure.mjs': `import { writeFileSync } from 'node:fs'
      process.on('exit', () => writeFileSync(process.env.USAGE_FILE, JSON.stringify(process.resourceUsage())))`,
  })
  const measure = ['--import', pathToFileURL(shop.path('measure.mjs')).href]
  const started = performance.now()
  const run = shop.start(process.execPath, [...measure, PROGRAM, ...args], { USAGE_FILE: shop.path('usage') })
  const timer = setTimeout(() => run.child.kill('SIGKILL'), SECONDS * 1000)
  const { code, signal, stdout, stderr } = await run.ended
  clearTimeout(timer)
  const seconds = (performance.now() - started) / 1000
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' })
  // What `process.resourceUsage` gave.
  const usage = JSON.parse(readFileSync(shop.path('usage'), 'utf8')) as NodeJS.ResourceUsage
  const rss = usage.maxRSS / 1024
  const cpu = (usage.userCPUTime + usage.systemCPUTime) / 1e6
  report([`${seconds.toFixed(1)} s`, `${cpu.toFixed(1)} cpu-s`, `${rss.toFixed(0)} MB`])
  expect(rss).toBeLessThan(maxRssMb)
  return stdout
}

/** Writes figures of the running test into the file for them, if one is wanted. */
export function report(figures: readonly string[]): void {
  if (reportFile === undefined) return
  appendFileSync(reportFile, `${figures.join('\t')}\t${expect.getState().currentTestName}\n`)
}
