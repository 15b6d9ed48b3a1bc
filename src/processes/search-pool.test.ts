import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readConfig } from '../config.ts'
import type { Library } from '../library/library.ts'
import { searchLibrary } from '../library/search/search-library.ts'
import { openLibrary } from '../open-library.ts'
import { openSearchPool } from './search-pool.ts'

async function openPool() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pool-'))
  const path = join(folder, 'library.db')
  const library = await openLibrary({ path, version: '0.0.0' })
  const { values } = readConfig({ environment: {}, flags: { library: path } })
  let canSearchHere = true
  const pool = openSearchPool({
    // Without a store a search in this thread fails, which proves that the threads answered.
    open: async () => (canSearchHere ? library : { ...library, store: undefined as unknown as Library['store'] }),
    program: new URL('../cli/serve/search-worker.ts', import.meta.url),
    data: { values },
    size: 2,
  })
  onTestFinished(async () => {
    await pool.close()
    await library.close()
    rmSync(folder, { recursive: true })
  })
  const requireThreads = async () => {
    await vi.waitFor(() => expect(pool.readyCount).toBe(2), { timeout: 20_000 })
    canSearchHere = false
  }
  return { library, pool, requireThreads }
}

test('threads return the same answers and the same errors as this thread', async () => {
  const { library, pool, requireThreads } = await openPool()
  const input = { query: 'anything at all' }
  const own = await searchLibrary(library, input)
  expect(await pool.search(input)).toEqual(own)
  await requireThreads()
  const answers = await Promise.all(Array.from({ length: 8 }, () => pool.search(input)))
  for (const answer of answers) expect(answer).toEqual(own)
  await expect(pool.search({ query: 'x', limit: 0 })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('expected limit to be a whole number'),
  })
  await expect(pool.search({ query: 'x', sources: ['nobody'] })).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
  expect(await pool.listDuplicates({})).toMatchObject({ groups: [], groupCount: 0, compared: 0 })
  await expect(pool.listDuplicates({ source: 'nobody' })).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
})

test('comparisons run one at a time in a thread, and only a few wait', async () => {
  const { pool, requireThreads } = await openPool()
  await pool.search({ query: 'anything at all' })
  await requireThreads()
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => pool.compareVersions({ source: 'nobody' })))
  const codes = results.map((one) => one.status === 'rejected' && one.reason.code)
  expect(codes).toEqual([...Array(8).fill('SOURCE_UNKNOWN'), 'COMPARISONS_FULL', 'COMPARISONS_FULL'])
  await expect(pool.compareVersions({ source: 'nobody' })).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
})

test('threads end when they are idle, but not while one of them works', async () => {
  const isReleased = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    import { parentPort, workerData } from 'node:worker_threads'
    parentPort.on('message', ({ number, task }) => {
      const timer = setInterval(() => {
        if (workerData[0] === 0) return
        clearInterval(timer)
        parentPort.postMessage({ type: 'answer', number, answer: task })
      }, 5)
    })
    parentPort.postMessage({ type: 'ready' })`
  const pool = openSearchPool({
    // A comparison in this thread fails.
    open: async () => ({}) as Library,
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    data: isReleased,
    size: 1,
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(async () => {
    vi.useRealTimers()
    await pool.close()
  })
  const answer = pool.compareVersions({ source: 'docs' })
  while (pool.readyCount === 0) await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(180_000)
  expect(pool.readyCount).toBe(1)
  Atomics.store(isReleased, 0, 1)
  expect(await answer).toBe('changes')
  vi.advanceTimersByTime(60_000)
  expect(pool.readyCount).toBe(0)
})

test('duplicates are listed in a thread that is still starting', async () => {
  const { pool } = await openPool()
  expect(pool.readyCount).toBe(0)
  expect(await pool.listDuplicates({})).toMatchObject({ groups: [], groupCount: 0 })
  expect(pool.readyCount).toBeGreaterThan(0)
})

test('threads that cannot open the library cause one warning, and are not restarted for a while', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pool-'))
  const library = await openLibrary({ path: join(folder, 'library.db'), version: '0.0.0' })
  const warnings: string[] = []
  const program = new URL('../cli/serve/search-worker.ts', import.meta.url)
  // A folder is not a library.
  const { values } = readConfig({ environment: {}, flags: { library: folder } })
  const warn = (message: string) => void warnings.push(message)
  const pool = openSearchPool({ open: async () => library, program, data: { values }, size: 2, warn })
  onTestFinished(async () => {
    await pool.close()
    await library.close()
    rmSync(folder, { recursive: true })
  })
  const input = { query: 'anything' }
  const own = await searchLibrary(library, input)
  await vi.waitFor(
    async () => {
      expect(await pool.search(input)).toEqual(own)
      expect(warnings).toHaveLength(1)
    },
    { timeout: 20_000 },
  )
  for (let i = 0; i < 3; i++) expect(await pool.search(input)).toEqual(own)
  expect(pool.readyCount).toBe(0)
  expect(warnings).toEqual([expect.stringContaining('searches run on the main thread')])
})

test('a closed pool answers in this thread', async () => {
  const { library, pool } = await openPool()
  await pool.close()
  const input = { query: 'anything' }
  expect(await pool.search(input)).toEqual(await searchLibrary(library, input))
})
