import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { NO_COUNTS } from '../../crawl/sharing.ts'
import { addSource } from '../../library/crawl/add-source.ts'
import type { Crawl } from '../../library/ports/store.ts'
import type { Source } from '../../library/source.ts'
import { type OpenLibrary, openLibrary } from '../../open-library.ts'
import { endKilledCrawl } from '../../processes/end-killed-crawl.ts'
import { runnerIdOf } from '../../processes/runner.ts'
import { findCrawlResult, hostsPerCrawl } from './worker-setup.ts'

let folder: string
let library: OpenLibrary
let source: Source

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-work-'))
  library = await openLibrary({ path: join(folder, 'library.db'), version: '0' })
  source = await addSource(library, { url: 'https://site.example/' })
})

afterEach(async () => {
  await library.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a crawl under the id of a process. */
function begin(id: string, runner: string): Promise<Crawl> {
  const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
  const now = library.clock.now()
  const crawl: Crawl = {
    ...{ id, sourceId: source.id, kind: 'add', state: 'running', options, runner, startedAt: now, heartbeatAt: now },
    ...{ endedAt: null, summary: null },
  }
  return library.store.beginCrawl(crawl, 60_000)
}

async function summarize(id: string, end: CrawlSummary['end'], parked: CrawlSummary['parked'] = []) {
  const ledger = await library.store.countLedger(source.id)
  const summary: CrawlSummary = {
    ...{
      ...NO_COUNTS,
      crawlId: id,
      kind: 'add',
      end,
      ledger,
      visited: 3,
      removed: 0,
      withheld: 7,
      cappedAt: null,
      parked,
    },
    ...{ incomplete: null, elapsedMs: 1, problem: null, uselessReason: null },
  }
  await library.store.endCrawl(id, summary, library.clock.now())
}

test('the result of an ended crawl is found, with the problem that its own process would report', async () => {
  const config = readConfig()
  const find = (id: string) => findCrawlResult(config, library, source.id, id)
  expect(await find('c0')).toBeUndefined()
  await begin('c1', 'somebody')
  expect(await find('c1')).toBeUndefined()
  await summarize('c1', 'cancelled')
  expect(await find('c1')).toBeUndefined()
  for (const [id, end, parked, problem] of [
    ['c2', 'completed', [], null],
    ['c3', 'completed', [{ host: 'site.example', detail: 'slow' }], expect.stringContaining('site.example')],
    ['c4', 'gate', [], expect.stringContaining('7')],
  ] as const) {
    await begin(id, 'somebody')
    await summarize(id, end, parked)
    expect(await find(id)).toMatchObject({ problem, summary: { visited: 3 } })
  }
})

test('ends the crawl of a killed process, but not one that another process has resumed', async () => {
  const killedProcess = { pid: 4_194_305, began: null }
  await begin('c1', 'another')
  await endKilledCrawl(library, source.id, 'c1', killedProcess)
  expect(await library.store.listRunning()).toHaveLength(1)
  await summarize('c1', 'completed')
  await begin('c2', runnerIdOf(killedProcess.pid))
  await endKilledCrawl(library, source.id, 'c2', killedProcess)
  expect(await library.store.listRunning()).toEqual([])
})

test('the crawls of a worker share its limit of concurrent hosts', () => {
  const { values } = readConfig()
  expect(hostsPerCrawl({ ...values, hosts: 7, maxCrawls: 2 })).toBe(3)
  expect(hostsPerCrawl({ ...values, hosts: 1, maxCrawls: 4 })).toBe(1)
})
