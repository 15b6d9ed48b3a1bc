import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchHits } from '../../src/library/search/hits.ts'
import { type Child, expectCompleted, startChild } from '../sites/children.ts'
import type { ChildOptions } from '../sites/crawl-child.ts'
import { createFixtureOn, createLibraryPath, type Dump, readDump, readUninterrupted } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { openSite, type Site } from '../sites/site.ts'
import { resumeCrawl } from './resume-crawl.ts'

const LONG = process.env['TEST_LONG'] !== undefined
const SIZE = LONG ? 300 : 18
const KILLS = LONG ? 50 : 1
const POWER_LOSSES = LONG ? 10 : 1
/** A fast clock, so that the tests do not wait for retry pauses. */
const QUICK: ChildOptions = { speed: 10, since: Date.now() }

let site: Site
/** The result of an uninterrupted crawl. */
let whole: Dump
/** Duration of an uninterrupted crawl in milliseconds. */
let wholeMs: number

beforeAll(async () => {
  site = await openSite(messySite(SIZE))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  whole = await readUninterrupted(site, {}, false)
  const began = performance.now()
  await expectCompleted(crawl(await createLibraryPath()))
  wholeMs = performance.now() - began
})

afterAll(() => site.close())

function crawl(path: string, options: ChildOptions = QUICK): Child {
  return startChild('crawl', path, `${site.origin}/`, JSON.stringify(options))
}

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL')
  await child.ended
}

/** Resumes an interrupted crawl, and expects the result of an uninterrupted one. */
async function expectSameEnd(path: string, interrupted: Child): Promise<void> {
  // The process may be killed between the end of its crawl and the line that reports it.
  const isOver = interrupted.lines.some(({ type }) => type === 'ended') || hasCompletedCrawl(path)
  const { summary, events } = await resumeCrawl(path, site, QUICK)
  expect(summary.end).toBe('completed')
  const dump = await readDump(path, site.origin)
  expect(dump.pages).toEqual(whole.pages)
  // After a completed crawl, `resumeCrawl` runs a further crawl, whose rows differ.
  if (isOver) return
  expect(dump.rows).toEqual(whole.rows)
  const hasBegun = interrupted.lines.some(({ type }) => type === 'started')
  if (hasBegun) expect(events[0]).toMatchObject({ type: 'started', isResumed: true })
}

function hasCompletedCrawl(path: string): boolean {
  if (!existsSync(path)) return false
  const db = new Sqlite(path)
  try {
    // After a power loss, even the tables may be missing.
    if (db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'crawls'`).get() === undefined) return false
    return db.prepare(`SELECT 1 FROM crawls WHERE state = 'completed'`).get() !== undefined
  } finally {
    db.close()
  }
}

describe('a killed process', { timeout: LONG ? 300_000 : 60_000 }, () => {
  // The title contains the random moment, so that a failure report names it.
  const moments = Array.from({ length: KILLS }, () => Math.random())
  test.each(moments)('loses nothing when it is killed after %f of its time', async (moment) => {
    const path = await createLibraryPath()
    const child = crawl(path)
    await sleep(moment * wholeMs)
    await kill(child)
    await expectSameEnd(path, child)
  })

  test('gives the same result after many kills', async () => {
    const path = await createLibraryPath()
    let child = crawl(path)
    for (let i = 0; i < (LONG ? 20 : 2); i++) {
      await child.waitForEvents('settled', 3)
      await kill(child)
      child = crawl(path)
    }
    await kill(child)
    await expectSameEnd(path, child)
  })

  test('leaves a usable library when it is killed during its start', async () => {
    const path = await createLibraryPath()
    const began = performance.now()
    const first = crawl(path)
    await first.waitForEvents('started')
    const startMs = performance.now() - began
    await kill(first)
    for (let i = 0; i < (LONG ? 20 : 2); i++) {
      const child = crawl(path)
      await sleep(startMs * (0.7 + 0.3 * Math.random()))
      await kill(child)
    }
    await expectSameEnd(path, first)
  })
})

describe('a process that is killed while it removes a source', () => {
  test.each(Array.from({ length: LONG ? 20 : 1 }, () => Math.random()))(
    'leaves the source complete or invisible, and the next process finishes the removal (%f)',
    async (moment) => {
      const { path, library, source, ...fixture } = await createFixtureOn(site, '/', {}, { concurrency: 4 })
      await fixture.crawl()
      const before = await fixture.readContent()
      const child = startChild('remove', path, source.url)
      await child.waitForEvents('removing')
      await sleep(moment * 20)
      await kill(child)
      const sources = await library.store.listSources()
      if (sources.length > 0) expect(await fixture.readContent()).toEqual(before)
      else expect(await searchHits(library.store, { query: 'grebe', limit: 10 })).toEqual([])
      await library.store.removeSource(source.id)
      const db = new Sqlite(path, { readonly: true })
      const tables = [
        'sources',
        'ledger',
        'pages',
        'links',
        'chunks',
        'index_segments',
        'index_blocks',
        'crawls',
        'host_counts',
        'url_aliases',
      ]
      const counts = tables.map((table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
      db.close()
      expect(counts).toEqual(tables.map(() => 0))
    },
  )
})

describe('a power loss', () => {
  test.each(Array.from({ length: POWER_LOSSES }, () => Math.random()))(
    'leaves a library whose crawl can be resumed, with %f of the log on disk',
    async (share) => {
      const path = await createLibraryPath()
      const image = await createLibraryPath()
      const child = crawl(path)
      await child.waitForEvents('settled', 3 + Math.floor(Math.random() * SIZE))
      child.process.kill('SIGSTOP')
      await waitUntilStopped(child)
      const isOver = child.lines.some(({ type }) => type === 'ended')
      expect(isOver).toBe(false)
      copyFileSync(path, image)
      expect(existsSync(`${path}-wal`)).toBe(true)
      // The unwritten part of the log is lost, and its place contains random bytes.
      const log = readFileSync(`${path}-wal`)
      const written = log.subarray(0, Math.floor(log.length * share))
      const garbage = Buffer.from(Array.from({ length: 5000 }, () => Math.floor(Math.random() * 256)))
      writeFileSync(`${image}-wal`, Buffer.concat([written, garbage]))
      await kill(child)
      // Even the record that the crawl started may be lost.
      await expectSameEnd(image, { ...child, lines: [] })
    },
  )
})

describe('a frozen process', () => {
  const options: ChildOptions = { limits: { leaseMs: 1000, aliveMs: 1500 } }

  test('continues normally although its leases have expired', async () => {
    const path = await createLibraryPath()
    const child = crawl(path, options)
    await child.waitForEvents('settled', 5)
    child.process.kill('SIGSTOP')
    await sleep(2500)
    child.process.kill('SIGCONT')
    await expectCompleted(child)
    await expect(readDump(path, site.origin)).resolves.toEqual(whole)
  })

  test('leaves its crawl to another process that has taken it over', async () => {
    const path = await createLibraryPath()
    const first = crawl(path, options)
    await first.waitForEvents('settled', 5)
    first.process.kill('SIGSTOP')
    await waitUntilStopped(first)
    await sleep(1600)
    const second = crawl(path, options)
    await expectCompleted(second)
    expect(second.lines[0]).toMatchObject({ type: 'started', isResumed: true })
    const before = await readDump(path, site.origin)
    expect(before).toEqual(whole)
    const lineCount = first.lines.length
    first.process.kill('SIGCONT')
    await expect(first.ended).resolves.toMatchObject({ code: 0, stderr: '' })
    expect(await readDump(path, site.origin)).toEqual(before)
    // The visits of the frozen process no longer belonged to it.
    const late = first.lines.slice(lineCount).filter(({ type }) => type === 'settled')
    expect(late).toEqual([])
  })
})

test('all pages of a server that disappears and returns are read', async () => {
  const path = await createLibraryPath()
  const port = Number(new URL(site.origin).port)
  const child = crawl(path, { speed: 25 })
  await child.waitForEvents('settled', 8)
  await site.close()
  try {
    await sleep(1000)
  } finally {
    const pages = Object.fromEntries(site.pages)
    site = await openSite(pages, { port })
  }
  await expectCompleted(child)
  expect(child.lines.filter(({ type }) => type === 'retry').length).toBeGreaterThan(3)
  await expect(readDump(path, site.origin)).resolves.toEqual(whole)
})

/** Resolves when a process is really stopped by SIGSTOP. */
async function waitUntilStopped({ process: { pid } }: Child): Promise<void> {
  for (;;) {
    const [, state] = /^\d+ \(.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    if (state === 'T') return
    await sleep(5)
  }
}
