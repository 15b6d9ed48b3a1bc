import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { analyseLibrary } from '../../src/places/runs/analyse-library.ts'
import { type AnalysisDump, readAnalysisDump } from '../analysis/analysis-dump.ts'
import { importPlaces } from '../analysis/some-places.ts'
import { storeNews } from '../analysis/stored-news.ts'
import { type Child, startNode } from '../sites/children.ts'
import { isLong } from './bounded.ts'

/* Analysis runs over a library that are killed at random moments. */

const PAGES = isLong ? 3000 : 300
const KILLS = isLong ? 20 : 2
/** Small batches, so that a run can be killed at many moments. */
const BATCH = isLong ? 5 : 1
const CHILD = fileURLToPath(new URL('../analysis/run-child.ts', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'pharos-analysis-'))
const filled = join(folder, 'filled.db')
/** The result of a run that is not killed. */
let undisturbed: AnalysisDump

beforeAll(async () => {
  const library = await openLibrary({ path: filled, version: '0' })
  await storeNews(library.store, { articles: PAGES - 15 })
  await importPlaces(library.gazetteer)
  await library.close()
  const path = join(folder, 'whole.db')
  copyFileSync(filled, path)
  const copy = await openLibrary({ path, version: '0' })
  // The batch size must not affect the result.
  for await (const _ of analyseLibrary(copy, { batch: 64 }));
  await copy.close()
  undisturbed = readAnalysisDump(path)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Kills a process after the given number of steps, unless it ends earlier. */
async function killAfter(child: Child, steps: number): Promise<void> {
  // Waiting fails if the process ends earlier.
  await child.waitForEvents('progress', steps).catch(() => undefined)
  child.process.kill('SIGKILL')
  await child.ended
}

/** Kills a run repeatedly. Returns undefined if the run ended earlier, because the machine was busy. */
async function killRepeatedly(path: string, moments: readonly number[]): Promise<'killed' | undefined> {
  copyFileSync(filled, path)
  for (const [kill, steps] of moments.entries()) {
    const child = startNode([CHILD, path, String(BATCH)])
    await killAfter(child, steps)
    expect(child.lines[0]).toMatchObject({ type: 'started', isResumed: kill > 0 })
    const [run] = readAnalysisDump(path)['runs'] ?? []
    if ((run as { readonly status: string }).status === 'completed') return undefined
    expect(run).toMatchObject({ status: 'running' })
  }
  return 'killed'
}

test(`an analysis that is killed ${KILLS} times resumes, and gives the same result as an undisturbed one`, {
  timeout: 300_000,
}, async () => {
  const path = join(folder, 'killed.db')
  const maxSteps = PAGES / BATCH / (KILLS + 1)
  const moments = Array.from({ length: KILLS }, () => 1 + Math.floor(Math.random() * maxSteps))
  for (let tries = 1; (await killRepeatedly(path, moments)) === undefined; tries++) expect(tries).toBeLessThan(5)
  const last = startNode([CHILD, path, String(BATCH)])
  const { code, stderr } = await last.ended
  const context = `killed after ${moments} steps`
  expect({ code, stderr }, context).toEqual({ code: 0, stderr: '' })
  expect(last.lines[0], context).toMatchObject({ type: 'started', isResumed: true })
  const resumed = readAnalysisDump(path)
  for (const [name, rows] of Object.entries(undisturbed)) expect(resumed[name], `${context}: ${name}`).toEqual(rows)
  expect(resumed['pages']).toHaveLength(PAGES)
  expect(resumed['places']?.length).toBeGreaterThan(PAGES)
  expect(resumed['hubs']?.length).toBeGreaterThan(0)
  expect(resumed['milestones']?.length).toBeGreaterThan(0)
})
