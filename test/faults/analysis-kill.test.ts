import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { analyseLibrary } from '../../src/library/operations/analyse-library.ts'
import { openLibrary } from '../../src/open-library.ts'
import { type AnalysisDump, readAnalysisDump } from '../analysis/analysis-dump.ts'
import { importPlaces } from '../analysis/some-places.ts'
import { storeNews } from '../analysis/stored-news.ts'
import { type Child, startNode } from '../sites/children.ts'
import { isLong } from './bounded.ts'

/* Analysis runs over a library that are killed at random moments. */

const PAGES = isLong ? 3000 : 300
const KILLS = isLong ? 20 : 2
/** Small, so that there are many moments to be killed at. */
const BATCH = isLong ? 5 : 1
const CHILD = fileURLToPath(new URL('../analysis/run-child.ts', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'pharos-analysis-'))
const filled = join(folder, 'filled.db')
/** The result of a run that is not killed. */
let whole: AnalysisDump

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
  whole = readAnalysisDump(path)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Kills a process after the given number of steps, or lets it end. */
async function killAfter(child: Child, steps: number): Promise<void> {
  // The process may end earlier.
  await child.waitForEvents('progress', steps).catch(() => undefined)
  child.process.kill('SIGKILL')
  await child.ended
}

/** Kills a run repeatedly. Returns undefined if the run ended earlier, because the machine was busy. */
async function breakOff(path: string, moments: readonly number[]): Promise<'broken' | undefined> {
  copyFileSync(filled, path)
  for (const [kill, steps] of moments.entries()) {
    const child = startNode([CHILD, path, String(BATCH)])
    await killAfter(child, steps)
    expect(child.lines[0]).toMatchObject({ type: 'started', isResumed: kill > 0 })
    const [run] = readAnalysisDump(path)['runs'] ?? []
    if ((run as { readonly status: string }).status === 'completed') return undefined
    expect(run).toMatchObject({ status: 'running' })
  }
  return 'broken'
}

test(`a run that is killed ${KILLS} times resumes, and gives the same result as an undisturbed one`, {
  timeout: 300_000,
}, async () => {
  const path = join(folder, 'killed.db')
  const share = PAGES / BATCH / (KILLS + 1)
  const moments = Array.from({ length: KILLS }, () => 1 + Math.floor(Math.random() * share))
  for (let tries = 1; (await breakOff(path, moments)) === undefined; tries++) expect(tries).toBeLessThan(5)
  const last = startNode([CHILD, path, String(BATCH)])
  const { code, stderr } = await last.ended
  const told = `killed after ${moments} steps`
  expect({ code, stderr }, told).toEqual({ code: 0, stderr: '' })
  expect(last.lines[0], told).toMatchObject({ type: 'started', isResumed: true })
  const left = readAnalysisDump(path)
  for (const [name, rows] of Object.entries(whole)) expect(left[name], `${told}: ${name}`).toEqual(rows)
  expect(left['pages']).toHaveLength(PAGES)
  expect(left['places']?.length).toBeGreaterThan(PAGES)
  expect(left['hubs']?.length).toBeGreaterThan(0)
  expect(left['milestones']?.length).toBeGreaterThan(0)
})
