import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/crawl/ports.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { type WatchEvent, type WatchInput, watchTree } from '../../src/library/import/watch-tree.ts'
import type { Source } from '../../src/library/source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { locateLibrary } from '../library-location.ts'
import { openNodeGrammars } from '../node-grammars.ts'
import { createTempFolder } from './archive-fixture.ts'

/** Factor by which the clock is faster than real time. */
const SPEED = 20
/** Smaller factor, for tests in which several events must happen within a minute of the clock on a busy machine. */
const SLOWER = 4

/** A faster clock, on which pauses of seconds take milliseconds. */
function createFastClock({ sleep }: Clock, speed: number): Clock {
  const start = Date.now()
  return { now: () => start + (Date.now() - start) * speed, sleep: (ms, signal) => sleep(ms / speed, signal) }
}

type ReportedEvent = Exclude<WatchEvent, { readonly type: 'progress' }>
type EventType = ReportedEvent['type']

/** A folder that is watched. */
interface WatchFixture {
  readonly root: string
  readonly library: OpenLibrary
  readonly source: Source
  write(files: Readonly<Record<string, string>>): void
  /** Writes files at one moment of the clock, so that the watcher gets all events before time advances, even on a busy machine. */
  writeAtOnce(files: Readonly<Record<string, string>>): Promise<void>
  /** Waits for the next event of a type, about `path` if it is given, and returns all events since the last call. */
  until<T extends EventType>(type: T, path?: string): Promise<readonly ReportedEvent[]>
  stop(): Promise<void>
  /** Starts to watch again. */
  start(input?: WatchInput): void
  /** Time of the last change of each stored page, by path. */
  pages(): Promise<Record<string, number>>
}

interface FixtureInput extends WatchInput {
  readonly maxPages?: number
  readonly speed?: number
}

async function createWatchFixture(
  files: Readonly<Record<string, string>>,
  { maxPages, speed = SPEED, ...input }: FixtureInput = {},
): Promise<WatchFixture> {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-watch-')))
  closeLater(() => fs.rmSync(root, { recursive: true, force: true }))
  const opened = await openLibrary({
    path: await locateLibrary(':memory:'),
    version: '0.0.0',
    openGrammars: () => openNodeGrammars([]),
  })
  closeLater(() => opened.close())
  const clock = createFastClock(opened.clock, speed)
  let frozenAt: number | undefined
  const library = { ...opened, clock: { ...clock, now: () => frozenAt ?? clock.now() } }
  const write: WatchFixture['write'] = (newFiles) => {
    for (const [path, content] of Object.entries(newFiles)) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true })
      fs.writeFileSync(join(root, path), content)
    }
  }
  const writeAtOnce: WatchFixture['writeAtOnce'] = async (newFiles) => {
    const missing = new Set(Object.keys(newFiles))
    frozenAt = clock.now()
    await new Promise<void>((resolve) => {
      // The system notifies all watchers of a folder in the order of events.
      const watcher = fs.watch(root, (_, name) => {
        missing.delete(name ?? '')
        if (missing.size > 0) return
        watcher.close()
        setImmediate(resolve)
      })
      write(newFiles)
    })
    frozenAt = undefined
  }
  write(files)
  const scope = maxPages === undefined ? {} : { maxPages }
  const source = await addSource(library, { url: `${pathToFileURL(root)}/`, isOwnFolder: true, scope })
  let events: ReportedEvent[] = []
  let wake: () => void = () => undefined
  let stop = new AbortController()
  let work: Promise<void> = Promise.resolve()
  let failure: { readonly error: unknown } | undefined
  const start: WatchFixture['start'] = (watchInput = { kind: 'add' }) => {
    stop = new AbortController()
    const { signal } = stop
    const follow = async () => {
      for await (const event of watchTree(library, source, watchInput, signal)) {
        if (event.type !== 'progress') events.push(event)
        wake()
      }
    }
    work = follow().catch((error: unknown) => {
      failure = { error }
      wake()
    })
  }
  const end = async () => {
    stop.abort()
    await work
  }
  closeLater(end)
  start({ kind: 'add', ...input })
  return {
    ...{ root, library, source, write, writeAtOnce, start, stop: end },
    async until(type, path) {
      for (;;) {
        if (failure !== undefined) throw failure.error
        const found = events.findIndex((event) => event.type === type && (path === undefined || isAbout(event, path)))
        if (found >= 0) {
          const seen = events.slice(0, found + 1)
          events = events.slice(found + 1)
          return seen
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    async pages() {
      const found: Record<string, number> = {}
      for await (const { key, changedAt } of library.store.listPages(source.id)) found[key] = changedAt
      return found
    },
  }
}

function isAbout(event: ReportedEvent, path: string): boolean {
  return 'path' in event && event.path === path
}

const FILES = { 'a.md': '# A\n\nOne.\n', 'b.md': '# B\n\nTwo.\n', 's/c.md': '# C\n\nThree.\n' }
const NOTEBOOK = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {},
  cells: [{ cell_type: 'markdown', metadata: {}, source: '# Notes on lamps' }],
})

describe('a watched folder', () => {
  test('is indexed, and then followed file by file, without touching unchanged files', async () => {
    const fixture = await createWatchFixture(FILES)
    const [first] = (await fixture.until('caught-up')).slice(-1)
    expect(first).toMatchObject({ isFirst: true, folders: 2, polling: null, summary: { indexed: 3 } })
    const before = await fixture.pages()
    fixture.write({ 'a.md': '# A\n\nChanged.\n', 'n/m/d.md': '# D\n\nNew.\n' })
    fs.rmSync(join(fixture.root, 'b.md'))
    const events: ReportedEvent[] = []
    while (events.filter(({ type }) => type !== 'settled').length < 3) events.push(...(await fixture.until('settled')))
    expect(events).toContainEqual({ type: 'indexed', path: 'a.md', chunks: 1, cause: 'modified' })
    expect(events).toContainEqual({ type: 'indexed', path: 'n/m/d.md', chunks: 1, cause: 'created' })
    expect(events).toContainEqual({ type: 'removed', path: 'b.md', cause: 'modified' })
    const after = await fixture.pages()
    expect(Object.keys(after)).toEqual(['a.md', 'n/m/d.md', 's/c.md'])
    expect(after['s/c.md']).toBe(before['s/c.md'])
    expect(after['a.md']).toBeGreaterThan(before['a.md'] ?? 0)
    // Files in a new folder are followed too.
    fixture.write({ 'n/m/e.md': '# E\n\nLater.\n' })
    await fixture.until('indexed', 'n/m/e.md')
    await fixture.until('settled')
    expect(await reportSource(fixture.library, fixture.source)).toMatchObject({ status: 'INDEXED', pages: 4 })
  })

  test('starts no run for changes that do not concern the library', async () => {
    const fixture = await createWatchFixture({ ...FILES, '.gitignore': '*.log\n' })
    await fixture.until('caught-up')
    const crawls = () => fixture.library.store.listCrawls(fixture.source.id, 100)
    fixture.write({ 'x.log': 'a line\n', 'node_modules/p/readme.md': '# P\n', 'draft.md~': '' })
    fs.rmSync(join(fixture.root, 'draft.md~'))
    await fixture.library.clock.sleep(2500)
    expect(await crawls()).toHaveLength(1)
    fixture.write({ 'a.md': '# A\n\nAnother.\n' })
    await fixture.until('settled')
    expect((await crawls()).map(({ kind, options }) => [kind, options.isFocused])).toEqual([
      ['refresh', true],
      ['add', undefined],
    ])
  })

  test('is scanned as a whole at the next start, and whenever an ignore file changes', async () => {
    const fixture = await createWatchFixture(FILES)
    await fixture.until('caught-up')
    await fixture.stop()
    fixture.write({ 'a.md': '# A\n\nWhile nobody watched.\n', 'new.md': '# New\n' })
    fs.rmSync(join(fixture.root, 'b.md'))
    fixture.start({})
    const [latest] = (await fixture.until('caught-up')).slice(-1)
    expect(latest).toMatchObject({ isFirst: true, summary: { kind: 'recrawl', indexed: 2, unchanged: 1, removed: 1 } })
    fixture.write({ '.gitignore': 's/\n' })
    const [again] = (await fixture.until('caught-up')).slice(-1)
    expect(again).toMatchObject({ isFirst: false, folders: 1, summary: { removed: 1 } })
    fs.rmSync(join(fixture.root, '.gitignore'))
    await fixture.until('caught-up')
    expect(Object.keys(await fixture.pages())).toEqual(['a.md', 'new.md', 's/c.md'])
  })

  test('reports an unreadable file, keeps its page, retries, and reports its recovery', async () => {
    const fixture = await createWatchFixture({ ...FILES, 'n.ipynb': NOTEBOOK })
    await fixture.until('caught-up')
    fixture.write({ 'n.ipynb': NOTEBOOK.slice(0, 60), 'bad.ipynb': '{"nbformat"' })
    const failed = await fixture.until('failed', 'n.ipynb')
    expect(failed.at(-1)).toMatchObject({ reason: 'damaged', cause: 'modified', retries: 0, retryMs: 5000 })
    expect(Object.keys(await fixture.pages())).toContain('n.ipynb')
    const retried = await fixture.until('failed', 'n.ipynb')
    expect(retried.at(-1)).toMatchObject({ cause: 'retry', retries: 1, retryMs: 30_000 })
    fixture.write({ 'n.ipynb': NOTEBOOK.replace('lamps', 'oil') })
    const healed = await fixture.until('healed', 'n.ipynb')
    expect(healed.at(-1)).toMatchObject({ isGone: false, retries: 1 })
    fs.rmSync(join(fixture.root, 'bad.ipynb'))
    expect((await fixture.until('healed', 'bad.ipynb')).at(-1)).toMatchObject({ isGone: true })
    expect(Object.keys(await fixture.pages())).toEqual(['a.md', 'b.md', 'n.ipynb', 's/c.md'])
  })

  test('increases the retry delay of an unreadable file, however often the whole folder is scanned', async () => {
    const fixture = await createWatchFixture({ ...FILES, 'bad.ipynb': '{' }, { maxPages: 50 })
    const first = await fixture.until('failed', 'bad.ipynb')
    expect(first.at(-1)).toMatchObject({ cause: 'startup', retries: 0, retryMs: 5000 })
    await fixture.until('caught-up')
    expect((await fixture.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ cause: 'retry', retries: 1 })
    await fixture.until('caught-up')
    fixture.write({ '.gitignore': '*.log\n' })
    const early = (await fixture.until('failed', 'bad.ipynb')).at(-1)
    expect(early).toMatchObject({ cause: 'catch-up', retries: 1 })
    await fixture.until('caught-up')
    expect((await fixture.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ cause: 'retry', retries: 2 })
    fixture.write({ 'bad.ipynb': '{{' })
    await fixture.until('caught-up')
    expect((await fixture.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ retries: 0, retryMs: 5000 })
  })

  test('keeps its pages while it is missing, and catches up when it is back', async () => {
    const fixture = await createWatchFixture(FILES)
    await fixture.until('caught-up')
    fs.renameSync(fixture.root, `${fixture.root}-away`)
    closeLater(() => fs.rmSync(`${fixture.root}-away`, { recursive: true, force: true }))
    await fixture.until('away')
    fs.writeFileSync(join(`${fixture.root}-away`, 'd.md'), '# D\n')
    expect(Object.keys(await fixture.pages())).toHaveLength(3)
    fs.renameSync(`${fixture.root}-away`, fixture.root)
    await fixture.until('back')
    const [latest] = (await fixture.until('caught-up')).slice(-1)
    expect(latest).toMatchObject({ summary: { indexed: 1, removed: 0 } })
    fixture.write({ 'e.md': '# E\n' })
    await fixture.until('indexed', 'e.md')
  })

  test('keeps its pages when many files disappear, reports the loss, and continues', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const fixture = await createWatchFixture({ ...FILES, ...many })
    await fixture.until('caught-up')
    // Files that are deleted one by one may arrive in several events; a moved folder is one event.
    fs.renameSync(join(fixture.root, 'm'), join(createTempFolder(), 'm'))
    expect((await fixture.until('withheld')).at(-1)).toMatchObject({ pages: 40 })
    expect(Object.keys(await fixture.pages())).toHaveLength(43)
    fixture.write({ 'a.md': '# A\n\nGoes on.\n' })
    await fixture.until('indexed', 'a.md')
  })

  test('keeps the remaining pages when many files disappear gradually, despite full scans and other changes', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const fixture = await createWatchFixture({ ...FILES, ...many }, { speed: SLOWER })
    await fixture.until('caught-up')
    const deleteFiles = (from: number) => {
      for (let i = from; i < from + 15; i++) fs.rmSync(join(fixture.root, `m/${i}.md`))
    }
    deleteFiles(0)
    fixture.write({ '.gitignore': '*.log\n', 'a.md': '# A\n\nChanged.\n', 'b.md': '# B\n\nChanged too.\n' })
    expect((await fixture.until('caught-up')).at(-1)).toMatchObject({ summary: { removed: 15, indexed: 3 } })
    deleteFiles(15)
    fixture.write({ '.gitignore': '*.tmp\n' })
    expect((await fixture.until('withheld')).at(-1)).toMatchObject({ pages: 15 })
    expect(Object.keys(await fixture.pages())).toHaveLength(29)
  })

  test('loses no page when many files are moved, and the loss gate counts later losses from zero', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const fixture = await createWatchFixture({ ...FILES, ...many }, { speed: SLOWER })
    await fixture.until('caught-up')
    fs.renameSync(join(fixture.root, 'm'), join(fixture.root, 'n'))
    expect((await fixture.until('settled')).at(-1)).toMatchObject({ summary: { removed: 40, moved: 40 } })
    for (let i = 0; i < 15; i++) fs.rmSync(join(fixture.root, `n/${i}.md`))
    // New files do not compensate for deleted ones.
    fixture.write(Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`x/${i}.md`, `# New ${i}\n`])))
    expect((await fixture.until('settled')).at(-1)).toMatchObject({ summary: { removed: 15, indexed: 15 } })
    for (let i = 15; i < 25; i++) fs.rmSync(join(fixture.root, `n/${i}.md`))
    expect((await fixture.until('withheld')).at(-1)).toMatchObject({ pages: 10 })
  })

  test('waits while another run of the same source is under way, and misses no change', async () => {
    const fixture = await createWatchFixture(FILES)
    await fixture.until('caught-up')
    const { store, clock, limits, newId } = fixture.library
    const now = clock.now()
    const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
    const other = { id: newId(), sourceId: fixture.source.id, kind: 'recrawl', state: 'running' } as const
    const times = { startedAt: now, heartbeatAt: now, endedAt: null, summary: null }
    await store.beginCrawl({ ...other, options, runner: 'another', ...times }, limits.aliveMs)
    fixture.write({ 'a.md': '# A\n\nMeanwhile.\n' })
    await fixture.until('waiting')
    await store.endCrawl(other.id, null, clock.now())
    // The watcher also completes the unfinished work of the other run, because it scans everything.
    const events = await fixture.until('caught-up')
    expect(events.map(({ type }) => type)).toContain('indexed')
  })

  test('can be empty at first', async () => {
    const fixture = await createWatchFixture({})
    await fixture.until('vain')
    fixture.write({ 'first.md': '# First\n' })
    await fixture.until('indexed', 'first.md')
    fixture.write({ 'second.md': '# Second\n' })
    await fixture.until('indexed', 'second.md')
  })

  test('can be polled at an interval', async () => {
    const fixture = await createWatchFixture(FILES, { pollMs: 30 })
    const [first] = (await fixture.until('caught-up')).slice(-1)
    expect(first).toMatchObject({ folders: 0, polling: { everyMs: 30 } })
    fixture.write({ 's/n/d.md': '# D\n\nNew.\n' })
    fs.rmSync(join(fixture.root, 'b.md'))
    await expect.poll(async () => Object.keys(await fixture.pages())).toEqual(['a.md', 's/c.md', 's/n/d.md'])
  })

  test('is scanned as a whole when more than 100 files change at once', async () => {
    const fixture = await createWatchFixture(FILES)
    await fixture.until('caught-up')
    await fixture.writeAtOnce(
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}.txt`, `Number ${i} of many.\n`])),
    )
    const [latest] = (await fixture.until('caught-up')).slice(-1)
    expect(latest).toMatchObject({ isFirst: false, summary: { indexed: 101, unchanged: 3 } })
  })
})
