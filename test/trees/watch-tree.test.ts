import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/crawl/ports.ts'
import { addSource } from '../../src/library/operations/add-source.ts'
import { reportSource } from '../../src/library/operations/source-status.ts'
import { type WatchEvent, type WatchInput, watchTree } from '../../src/library/operations/watch-tree.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { locateLibrary } from '../library-place.ts'
import { openNodeGrammars } from '../node-grammars.ts'

/** Speed of the clock. */
const SPEED = 20
/** Slower clock, for tests in which several events must happen within a minute on a busy machine. */
const SLOWER = 4

/** A faster clock, on which pauses of seconds take milliseconds. */
function createFastClock({ sleep }: Clock, speed: number): Clock {
  const start = Date.now()
  return { now: () => start + (Date.now() - start) * speed, sleep: (ms, signal) => sleep(ms / speed, signal) }
}

type Told = Exclude<WatchEvent, { readonly type: 'progress' }>
type TypeOf = Told['type']

/** A folder that is watched. */
interface WatchStage {
  readonly root: string
  readonly library: OpenLibrary
  readonly source: Source
  write(files: Readonly<Record<string, string>>): void
  /** Writes files at one moment of the clock, so that the watcher gets all events before time advances, even on a busy machine. */
  writeAtOnce(files: Readonly<Record<string, string>>): Promise<void>
  /** Waits for the next event of a type, and returns all events since the last call. */
  until<T extends TypeOf>(type: T, path?: string): Promise<readonly Told[]>
  stop(): Promise<void>
  /** Starts to watch again. */
  start(input?: WatchInput): void
  pages(): Promise<Record<string, number>>
}

interface StageInput extends WatchInput {
  readonly maxPages?: number
  readonly speed?: number
}

async function stageWatch(
  files: Readonly<Record<string, string>>,
  { maxPages, speed = SPEED, ...input }: StageInput = {},
): Promise<WatchStage> {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-watch-')))
  closeLater(() => fs.rmSync(root, { recursive: true, force: true }))
  const opened = await openLibrary({
    path: await locateLibrary(':memory:'),
    version: '0.0.0',
    openGrammars: () => openNodeGrammars([]),
  })
  closeLater(() => opened.close())
  const clock = createFastClock(opened.clock, speed)
  let heldAt: number | undefined
  const library = { ...opened, clock: { ...clock, now: () => heldAt ?? clock.now() } }
  const write: WatchStage['write'] = (some) => {
    for (const [path, content] of Object.entries(some)) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true })
      fs.writeFileSync(join(root, path), content)
    }
  }
  const writeAtOnce: WatchStage['writeAtOnce'] = async (some) => {
    const missing = new Set(Object.keys(some))
    heldAt = clock.now()
    await new Promise<void>((resolve) => {
      // The system notifies all watchers of a folder in the order of events.
      const watcher = fs.watch(root, (_, name) => {
        missing.delete(name ?? '')
        if (missing.size > 0) return
        watcher.close()
        setImmediate(resolve)
      })
      write(some)
    })
    heldAt = undefined
  }
  write(files)
  const scope = maxPages === undefined ? {} : { maxPages }
  const source = await addSource(library, { url: `${pathToFileURL(root)}/`, isOwnFolder: true, scope })
  let events: Told[] = []
  let told: () => void = () => undefined
  let stop = new AbortController()
  let work: Promise<void> = Promise.resolve()
  let failure: { readonly error: unknown } | undefined
  const start: WatchStage['start'] = (given = { kind: 'add' }) => {
    stop = new AbortController()
    const { signal } = stop
    const follow = async () => {
      for await (const event of watchTree(library, source, given, signal)) {
        if (event.type !== 'progress') events.push(event)
        told()
      }
    }
    work = follow().catch((error: unknown) => {
      failure = { error }
      told()
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
        const found = events.findIndex((event) => event.type === type && (path === undefined || isOf(event, path)))
        if (found >= 0) {
          const seen = events.slice(0, found + 1)
          events = events.slice(found + 1)
          return seen
        }
        await new Promise<void>((resolve) => {
          told = resolve
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

function isOf(event: Told, path: string): boolean {
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
    const stage = await stageWatch(FILES)
    const [first] = (await stage.until('caught-up')).slice(-1)
    expect(first).toMatchObject({ isFirst: true, folders: 2, polling: null, summary: { indexed: 3 } })
    const before = await stage.pages()
    stage.write({ 'a.md': '# A\n\nChanged.\n', 'n/m/d.md': '# D\n\nNew.\n' })
    fs.rmSync(join(stage.root, 'b.md'))
    const events: Told[] = []
    while (events.filter(({ type }) => type !== 'settled').length < 3) events.push(...(await stage.until('settled')))
    expect(events).toContainEqual({ type: 'indexed', path: 'a.md', chunks: 1, cause: 'modified' })
    expect(events).toContainEqual({ type: 'indexed', path: 'n/m/d.md', chunks: 1, cause: 'created' })
    expect(events).toContainEqual({ type: 'removed', path: 'b.md', cause: 'modified' })
    const after = await stage.pages()
    expect(Object.keys(after)).toEqual(['a.md', 'n/m/d.md', 's/c.md'])
    expect(after['s/c.md']).toBe(before['s/c.md'])
    expect(after['a.md']).toBeGreaterThan(before['a.md'] ?? 0)
    // Files in a new folder are followed too.
    stage.write({ 'n/m/e.md': '# E\n\nLater.\n' })
    await stage.until('indexed', 'n/m/e.md')
    await stage.until('settled')
    expect(await reportSource(stage.library, stage.source)).toMatchObject({ status: 'INDEXED', pages: 4 })
  })

  test('starts no run for changes that do not concern the library', async () => {
    const stage = await stageWatch({ ...FILES, '.gitignore': '*.log\n' })
    await stage.until('caught-up')
    const crawls = () => stage.library.store.listCrawls(stage.source.id, 100)
    stage.write({ 'x.log': 'a line\n', 'node_modules/p/readme.md': '# P\n', 'draft.md~': '' })
    fs.rmSync(join(stage.root, 'draft.md~'))
    await stage.library.clock.sleep(2500)
    expect(await crawls()).toHaveLength(1)
    stage.write({ 'a.md': '# A\n\nAnother.\n' })
    await stage.until('settled')
    expect((await crawls()).map(({ kind, options }) => [kind, options.isFocused])).toEqual([
      ['refresh', true],
      ['add', undefined],
    ])
  })

  test('is caught up with at the next start, and whenever an ignore file changes', async () => {
    const stage = await stageWatch(FILES)
    await stage.until('caught-up')
    await stage.stop()
    stage.write({ 'a.md': '# A\n\nWhile nobody watched.\n', 'new.md': '# New\n' })
    fs.rmSync(join(stage.root, 'b.md'))
    stage.start({})
    const [caught] = (await stage.until('caught-up')).slice(-1)
    expect(caught).toMatchObject({ isFirst: true, summary: { kind: 'recrawl', indexed: 2, unchanged: 1, removed: 1 } })
    stage.write({ '.gitignore': 's/\n' })
    const [again] = (await stage.until('caught-up')).slice(-1)
    expect(again).toMatchObject({ isFirst: false, folders: 1, summary: { removed: 1 } })
    fs.rmSync(join(stage.root, '.gitignore'))
    await stage.until('caught-up')
    expect(Object.keys(await stage.pages())).toEqual(['a.md', 'new.md', 's/c.md'])
  })

  test('reports an unreadable file, keeps its page, retries, and reports its recovery', async () => {
    const stage = await stageWatch({ ...FILES, 'n.ipynb': NOTEBOOK })
    await stage.until('caught-up')
    stage.write({ 'n.ipynb': NOTEBOOK.slice(0, 60), 'bad.ipynb': '{"nbformat"' })
    const failed = await stage.until('failed', 'n.ipynb')
    expect(failed.at(-1)).toMatchObject({ reason: 'damaged', cause: 'modified', retries: 0, retryMs: 5000 })
    expect(Object.keys(await stage.pages())).toContain('n.ipynb')
    const retried = await stage.until('failed', 'n.ipynb')
    expect(retried.at(-1)).toMatchObject({ cause: 'retry', retries: 1, retryMs: 30_000 })
    stage.write({ 'n.ipynb': NOTEBOOK.replace('lamps', 'oil') })
    const healed = await stage.until('healed', 'n.ipynb')
    expect(healed.at(-1)).toMatchObject({ isGone: false, retries: 1 })
    fs.rmSync(join(stage.root, 'bad.ipynb'))
    expect((await stage.until('healed', 'bad.ipynb')).at(-1)).toMatchObject({ isGone: true })
    expect(Object.keys(await stage.pages())).toEqual(['a.md', 'b.md', 'n.ipynb', 's/c.md'])
  })

  test('increases the retry delay of an unreadable file, however often the whole folder is scanned', async () => {
    const stage = await stageWatch({ ...FILES, 'bad.ipynb': '{' }, { maxPages: 50 })
    const first = await stage.until('failed', 'bad.ipynb')
    expect(first.at(-1)).toMatchObject({ cause: 'startup', retries: 0, retryMs: 5000 })
    await stage.until('caught-up')
    expect((await stage.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ cause: 'retry', retries: 1 })
    await stage.until('caught-up')
    stage.write({ '.gitignore': '*.log\n' })
    const early = (await stage.until('failed', 'bad.ipynb')).at(-1)
    expect(early).toMatchObject({ cause: 'catch-up', retries: 1 })
    await stage.until('caught-up')
    expect((await stage.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ cause: 'retry', retries: 2 })
    stage.write({ 'bad.ipynb': '{{' })
    await stage.until('caught-up')
    expect((await stage.until('failed', 'bad.ipynb')).at(-1)).toMatchObject({ retries: 0, retryMs: 5000 })
  })

  test('keeps its pages while it is missing, and catches up when it is back', async () => {
    const stage = await stageWatch(FILES)
    await stage.until('caught-up')
    fs.renameSync(stage.root, `${stage.root}-away`)
    closeLater(() => fs.rmSync(`${stage.root}-away`, { recursive: true, force: true }))
    await stage.until('away')
    fs.writeFileSync(join(`${stage.root}-away`, 'd.md'), '# D\n')
    expect(Object.keys(await stage.pages())).toHaveLength(3)
    fs.renameSync(`${stage.root}-away`, stage.root)
    await stage.until('back')
    const [caught] = (await stage.until('caught-up')).slice(-1)
    expect(caught).toMatchObject({ summary: { indexed: 1, removed: 0 } })
    stage.write({ 'e.md': '# E\n' })
    await stage.until('indexed', 'e.md')
  })

  test('keeps its pages and reports it when many files disappear, and continues', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const stage = await stageWatch({ ...FILES, ...many })
    await stage.until('caught-up')
    fs.rmSync(join(stage.root, 'm'), { recursive: true })
    expect((await stage.until('withheld')).at(-1)).toMatchObject({ pages: 40 })
    expect(Object.keys(await stage.pages())).toHaveLength(43)
    stage.write({ 'a.md': '# A\n\nGoes on.\n' })
    await stage.until('indexed', 'a.md')
  })

  test('keeps the remaining pages when many files disappear gradually, despite full scans and other changes', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const stage = await stageWatch({ ...FILES, ...many }, { speed: SLOWER })
    await stage.until('caught-up')
    const lose = (from: number) => {
      for (let i = from; i < from + 15; i++) fs.rmSync(join(stage.root, `m/${i}.md`))
    }
    lose(0)
    stage.write({ '.gitignore': '*.log\n', 'a.md': '# A\n\nChanged.\n', 'b.md': '# B\n\nChanged too.\n' })
    expect((await stage.until('caught-up')).at(-1)).toMatchObject({ summary: { removed: 15, indexed: 3 } })
    lose(15)
    stage.write({ '.gitignore': '*.tmp\n' })
    expect((await stage.until('withheld')).at(-1)).toMatchObject({ pages: 15 })
    expect(Object.keys(await stage.pages())).toHaveLength(29)
  })

  test('loses no page when many files are moved, and the loss gate counts later losses from zero', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`]))
    const stage = await stageWatch({ ...FILES, ...many }, { speed: SLOWER })
    await stage.until('caught-up')
    fs.renameSync(join(stage.root, 'm'), join(stage.root, 'n'))
    expect((await stage.until('settled')).at(-1)).toMatchObject({ summary: { removed: 40, moved: 40 } })
    for (let i = 0; i < 15; i++) fs.rmSync(join(stage.root, `n/${i}.md`))
    // New files do not compensate for deleted ones.
    stage.write(Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`x/${i}.md`, `# New ${i}\n`])))
    expect((await stage.until('settled')).at(-1)).toMatchObject({ summary: { removed: 15, indexed: 15 } })
    for (let i = 15; i < 25; i++) fs.rmSync(join(stage.root, `n/${i}.md`))
    expect((await stage.until('withheld')).at(-1)).toMatchObject({ pages: 10 })
  })

  test('waits while another run of it is under way, and forgets nothing', async () => {
    const stage = await stageWatch(FILES)
    await stage.until('caught-up')
    const { store, clock, limits } = stage.library
    const now = clock.now()
    const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
    const other = { id: stage.library.newId(), sourceId: stage.source.id, kind: 'recrawl', state: 'running' } as const
    const times = { startedAt: now, heartbeatAt: now, endedAt: null, summary: null }
    await store.beginCrawl({ ...other, options, runner: 'another', ...times }, limits.aliveMs)
    stage.write({ 'a.md': '# A\n\nMeanwhile.\n' })
    await stage.until('waiting')
    await store.endCrawl(other.id, null, clock.now())
    // The watcher also completes the unfinished work of the other run, because it scans everything.
    const caught = await stage.until('caught-up')
    expect(caught.map(({ type }) => type)).toContain('indexed')
  })

  test('can be empty at first', async () => {
    const stage = await stageWatch({})
    await stage.until('vain')
    stage.write({ 'first.md': '# First\n' })
    await stage.until('indexed', 'first.md')
    stage.write({ 'second.md': '# Second\n' })
    await stage.until('indexed', 'second.md')
  })

  test('can be polled at an interval', async () => {
    const stage = await stageWatch(FILES, { pollMs: 30 })
    const [first] = (await stage.until('caught-up')).slice(-1)
    expect(first).toMatchObject({ folders: 0, polling: { everyMs: 30 } })
    stage.write({ 's/n/d.md': '# D\n\nNew.\n' })
    fs.rmSync(join(stage.root, 'b.md'))
    await expect.poll(async () => Object.keys(await stage.pages())).toEqual(['a.md', 's/c.md', 's/n/d.md'])
  })

  test('is scanned as a whole when more than 100 files change at once', async () => {
    const stage = await stageWatch(FILES)
    await stage.until('caught-up')
    await stage.writeAtOnce(
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}.txt`, `Number ${i} of many.\n`])),
    )
    const [caught] = (await stage.until('caught-up')).slice(-1)
    expect(caught).toMatchObject({ isFirst: false, summary: { indexed: 101, unchanged: 3 } })
  })
})
