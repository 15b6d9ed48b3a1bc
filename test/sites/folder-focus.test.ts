import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import { MAX_FOCUSED_RUNS } from '../../src/library/ports/store.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { isLong } from '../faults/bounded.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { openNodeGrammars } from '../node-grammars.ts'
import { type Crawled, runCrawl, statesOf } from './crawl.ts'

/** A folder that a library has indexed. */
interface FolderStage {
  readonly root: string
  readonly library: OpenLibrary
  readonly source: Source
  write(files: Readonly<Record<string, string>>): void
  remove(...paths: string[]): void
  run(input: Partial<CrawlInput>): Promise<Crawled>
  focus(...paths: string[]): Promise<Crawled>
}

const STORES = ['sqlite', 'memory'] as const

function createFolder(): string {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-focus-')))
  closeLater(() => fs.rmSync(root, { recursive: true, force: true }))
  return root
}

async function stageFolder(
  kind: (typeof STORES)[number],
  files: Readonly<Record<string, string>>,
  root: string = createFolder(),
): Promise<FolderStage> {
  const opened = await openLibrary({ path: ':memory:', version: '0.0.0', openGrammars: () => openNodeGrammars([]) })
  closeLater(() => opened.close())
  const library = kind === 'sqlite' ? opened : { ...opened, store: createMemoryStore() }
  const write: FolderStage['write'] = (some) => {
    for (const [path, content] of Object.entries(some)) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true })
      fs.writeFileSync(join(root, path), content)
    }
  }
  write(files)
  const source = await addSource(library, { url: `${pathToFileURL(root)}/`, isOwnFolder: true })
  await runCrawl(library, source, { kind: 'add' }, source.url)
  const run: FolderStage['run'] = (input) => runCrawl(library, source, { kind: 'recrawl', ...input }, source.url)
  return {
    ...{ root, library, source, write, run },
    remove: (...paths) => {
      for (const path of paths) fs.rmSync(join(root, path), { recursive: true })
    },
    focus: (...focus) => run({ kind: 'refresh', discover: true, focus }),
  }
}

/** Hash and time of the last change of each page. */
async function readPages({ library, source }: FolderStage): Promise<Record<string, { hash: string; at: number }>> {
  const found: Record<string, { hash: string; at: number }> = {}
  for await (const { key, page, changedAt } of library.store.listPages(source.id)) {
    found[key] = { hash: page.contentHash, at: changedAt }
  }
  return found
}

const FILES = {
  'a.md': '# A\n\nThe first.\n',
  'b.md': '# B\n\nThe second.\n',
  's/c.md': '# C\n\nThe third.\n',
  's/t/d.md': '# D\n\nThe fourth.\n',
}

const API = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'Lamps', version: '1' },
  paths: {
    '/lamps': { get: { operationId: 'listLamps', summary: 'Lists lamps', responses: { 200: { description: 'all' } } } },
  },
})

describe.each(STORES)('a focused refresh of a folder, %s', (kind) => {
  test('settles new, changed and deleted files among the named paths, and touches nothing else', async () => {
    const stage = await stageFolder(kind, FILES)
    const before = await readPages(stage)
    stage.write({ 'a.md': '# A\n\nChanged.\n', 'n/e.md': '# E\n\nNew.\n', 'b.md': '# B\n\nNot named.\n' })
    stage.remove('s/t')
    const { summary, events } = await stage.focus('a.md', 'n', 's/t')
    expect(summary).toMatchObject({ end: 'completed', indexed: 2, unchanged: 0, removed: 1, visited: 3 })
    expect(events.filter(({ type }) => type === 'settled')).toHaveLength(3)
    const after = await readPages(stage)
    expect(Object.keys(after)).toEqual(['a.md', 'b.md', 'n/e.md', 's/c.md'])
    expect([after['b.md'], after['s/c.md']]).toEqual([before['b.md'], before['s/c.md']])
    expect((await stage.run({})).summary).toMatchObject({ end: 'completed', indexed: 1, removed: 0 })
  })

  test('applies ignore files of parent folders, and skips tool folders and symbolic links', async () => {
    const stage = await stageFolder(kind, { ...FILES, '.gitignore': '*.tmp.md\n' })
    stage.write({ 's/x.tmp.md': '# X\n', 'node_modules/p/readme.md': '# P\n', 'a.md': '# A\n\nStill here.\n' })
    fs.symlinkSync('/etc/hostname', join(stage.root, 'host.md'))
    const crawled = await stage.focus('s/x.tmp.md', 'node_modules/p/readme.md', 'host.md', 'a.md')
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 1 })
    const states = statesOf(crawled)
    expect(states).toMatchObject({ 's/x.tmp.md': 'skipped ignored', 'node_modules/': 'skipped excluded' })
    expect(states).toMatchObject({ 'host.md': 'skipped excluded' })
    expect(Object.keys(await readPages(stage))).not.toContain('node_modules/p/readme.md')
  })

  test('the loss gate keeps the pages of many deleted files, even if several batches deleted them', async () => {
    const many = Array.from({ length: 60 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`] as const)
    const stage = await stageFolder(kind, { ...FILES, ...Object.fromEntries(many) })
    const [first, second] = [many.slice(0, 15), many.slice(15, 30)].map((some) => some.map(([path]) => path))
    stage.remove(...(first ?? []))
    expect((await stage.focus(...(first ?? []))).summary).toMatchObject({ end: 'completed', removed: 15 })
    stage.remove(...(second ?? []))
    const input = { kind: 'refresh', discover: true, focus: second ?? [], lostBefore: 15 } as const
    expect((await stage.run(input)).summary).toMatchObject({ end: 'gate', removed: 0, withheld: 15 })
    expect(Object.keys(await readPages(stage))).toHaveLength(49)
    expect((await stage.run({ acceptLoss: true })).summary).toMatchObject({ end: 'completed', removed: 15 })
  })

  test('renaming a subfolder loses no page', async () => {
    const many = Array.from({ length: 40 }, (_, i) => [`m/${i}.md`, `# ${i}\n\nNumber ${i}.\n`] as const)
    const stage = await stageFolder(kind, { ...FILES, ...Object.fromEntries(many) })
    fs.renameSync(join(stage.root, 'm'), join(stage.root, 'n'))
    expect((await stage.focus('m', 'n')).summary).toMatchObject({ end: 'completed', indexed: 40, removed: 40 })
    expect(Object.keys(await readPages(stage)).filter((key) => key.startsWith('n/'))).toHaveLength(40)
  })

  test('the loss gate keeps all pages when no file is left', async () => {
    const stage = await stageFolder(kind, FILES)
    stage.remove('a.md', 'b.md', 's')
    expect((await stage.focus('a.md', 'b.md', 's')).summary).toMatchObject({ end: 'gate', withheld: 4, removed: 0 })
    expect(Object.keys(await readPages(stage))).toHaveLength(4)
  })

  test('is refused until a full run if the path holds another folder or a run was interrupted', async () => {
    const stage = await stageFolder(kind, FILES)
    const refused = expect.objectContaining({ code: 'CRAWL_UNFINISHED' })
    fs.cpSync(stage.root, `${stage.root}-2`, { recursive: true })
    closeLater(() => fs.rmSync(`${stage.root}-2`, { recursive: true, force: true }))
    fs.renameSync(stage.root, `${stage.root}-1`)
    closeLater(() => fs.rmSync(`${stage.root}-1`, { recursive: true, force: true }))
    fs.renameSync(`${stage.root}-2`, stage.root)
    await expect(stage.focus('a.md')).rejects.toEqual(refused)
    expect((await stage.run({})).summary).toMatchObject({ end: 'completed' })
    expect((await stage.focus('a.md')).summary).toMatchObject({ end: 'completed' })
    const stop = new AbortController()
    stop.abort(new PharosError('INTERRUPTED'))
    await runCrawl(stage.library, stage.source, { kind: 'recrawl', focus: ['a.md'] }, '', stop.signal)
    await expect(stage.focus('a.md')).rejects.toEqual(refused)
    // A full run does not resume a focused run.
    const { summary, events } = await stage.run({})
    expect(events[0]).toMatchObject({ type: 'started', isResumed: false })
    expect(summary).toMatchObject({ end: 'completed', kind: 'recrawl', unchanged: 4 })
  })

  test('only the latest focused runs stay in the history, besides all other runs', async () => {
    const stage = await stageFolder(kind, FILES)
    for (let i = 0; i < MAX_FOCUSED_RUNS + 5; i++) await stage.focus('a.md')
    const crawls = await stage.library.store.listCrawls(stage.source.id, 1000)
    expect(crawls.filter(({ options }) => options.isFocused === true)).toHaveLength(MAX_FOCUSED_RUNS)
    expect(crawls.at(-1)?.kind).toBe('add')
  })
})

test('a file whose name looks like a part of another file stays when the other file changes', async () => {
  const stage = await stageFolder('sqlite', {
    ...FILES,
    'api.json': API,
    'api.json#note.md': '# Note\n\nOn the API.\n',
  })
  const before = Object.keys(await readPages(stage))
  expect(before).toContain('api.json#note.md')
  expect(before.length).toBeGreaterThan(5)
  stage.write({ 'api.json': API.replaceAll('listLamps', 'allLamps') })
  const { summary } = await stage.focus('api.json')
  expect(summary).toMatchObject({ end: 'completed' })
  const after = Object.keys(await readPages(stage))
  expect(after).toContain('api.json#note.md')
  expect(after).toEqual(Object.keys(await readPages(await stageFolder('sqlite', {}, stage.root))))
})

describe('duplicates outside the focus that take the place of a page', () => {
  test('are read by their name, although it looks like a part of another file', async () => {
    const stage = await stageFolder('sqlite', { 'u/d.md': '# Two\n\nText two.\n', 'u/d.md#x': '# Two\n\nText two.\n' })
    expect(Object.keys(await readPages(stage))).toEqual(['u/d.md'])
    stage.write({ 'u/d.md': '# One\n\nText one.\n' })
    const crawled = await stage.focus('u/d.md')
    expect(statesOf(crawled)).toEqual({ 'u/d.md': 'indexed', 'u/d.md#x': 'indexed' })
  })

  test('are read from their file if they are parts of one', async () => {
    const stage = await stageFolder('sqlite', { ...FILES, 'api.json': API, 's/copy.json': API })
    const before = Object.keys(await readPages(stage))
    const parts = before.filter((key) => key.startsWith('api.json#'))
    expect(parts.length).toBeGreaterThan(0)
    stage.remove('api.json')
    const crawled = await stage.focus('api.json')
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: parts.length })
    const after = Object.keys(await readPages(stage))
    expect(after).toEqual(Object.keys(await readPages(await stageFolder('sqlite', {}, stage.root))))
    expect(new Set(after)).toEqual(new Set(before.map((key) => key.replace(/^api\.json/, 's/copy.json'))))
  })

  test('are left out if they, or the file of which they are parts, are ignored by now', async () => {
    const stage = await stageFolder('sqlite', {
      ...FILES,
      's/same.md': FILES['a.md'],
      'api.json': API,
      's/copy.json': API,
    })
    stage.write({ '.gitignore': 's/same.md\ns/copy.json\n' })
    stage.remove('a.md', 'api.json')
    const states = statesOf(await stage.focus('a.md', 'api.json'))
    expect(states).toMatchObject({ 'a.md': 'gone not-found', 's/same.md': 'skipped ignored' })
    const copies = Object.entries(states).filter(([key]) => key.startsWith('s/copy.json#'))
    expect(new Set(copies.map(([, state]) => state))).toEqual(new Set(['skipped ignored']))
  })

  test('do not bring the content of a folder whose name precedes their `#`', async () => {
    const stage = await stageFolder('sqlite', { ...FILES, 's/n.md': '# N\n\nNew.\n', 's#/a.md': FILES['a.md'] })
    stage.remove('a.md')
    const { events, summary } = await stage.focus('a.md')
    expect(summary).toMatchObject({ end: 'completed', visited: 2, indexed: 1, removed: 1 })
    expect(events.filter(({ type }) => type === 'begun')).toHaveLength(2)
    stage.write({ 's#/a.md': '# A\n\nChanged.\n' })
    expect((await stage.focus('s#/a.md')).summary).toMatchObject({ end: 'completed', visited: 1, indexed: 1 })
  })
})

test('a document that becomes damaged keeps its page', async () => {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [{ cell_type: 'markdown', metadata: {}, source: '# Notes' }],
  }
  const stage = await stageFolder('sqlite', { ...FILES, 'n.ipynb': JSON.stringify(notebook) })
  expect(Object.keys(await readPages(stage))).toContain('n.ipynb')
  stage.write({ 'n.ipynb': '{"nbformat": 4, "cells": [{"cell_ty' })
  const crawled = await stage.focus('n.ipynb')
  expect([crawled.summary.removed, statesOf(crawled)['n.ipynb']]).toEqual([0, 'failed damaged'])
  expect(Object.keys(await readPages(stage))).toContain('n.ipynb')
})

const PATHS = ['a.md', 'b.md', 's/a.md', 's/t/c.md', 's/t#x.md', 'u/d.md', 'u/d.md#x', 'u/e.txt', 'c', 'c/f.md']
const TEXTS = ['# One\n\nText one.\n', '# Two\n\nText two.\n', '# Three\n\nText three.\n']
/** Documents with several pages, some of which are the same in both. Converting them takes a second for each folder, so they need a long run. */
const DOCUMENT_PATHS = isLong ? ['api.json', 's/api.json', 's#/api.json'] : []
const DOCUMENTS = [API, API.replaceAll('listLamps', 'allLamps')]
const CHANGE = fc.oneof(
  ...DOCUMENT_PATHS.map((path) =>
    fc.record({ type: fc.constant('write' as const), path: fc.constant(path), text: fc.constantFrom(...DOCUMENTS) }),
  ),
  fc.record({ type: fc.constant('write' as const), path: fc.constantFrom(...PATHS), text: fc.constantFrom(...TEXTS) }),
  fc.record({
    type: fc.constant('remove' as const),
    path: fc.constantFrom(...PATHS, ...DOCUMENT_PATHS, 's', 's/t', 'u', 'c'),
  }),
  fc.record({
    type: fc.constant('move' as const),
    path: fc.constantFrom('s', 'u', 'a.md'),
    to: fc.constantFrom('v', 'u/w'),
  }),
)

test('consecutive focused runs give the same library as a full run', async () => {
  const steps = fc.array(fc.array(CHANGE, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(steps, async (batches) => {
      const focused = await stageFolder('sqlite', { 'keep.md': '# Keep\n\nStays.\n', 's/a.md': TEXTS[0] ?? '' })
      const full = await stageFolder('sqlite', {}, focused.root)
      for (const batch of batches) {
        const touched = batch.flatMap((change) => apply(focused.root, change))
        const input = { kind: 'refresh', discover: true, acceptLoss: true } as const
        expect((await focused.run({ ...input, focus: touched })).summary.end).toBe('completed')
        expect((await full.run({ acceptLoss: true })).summary.end).toBe('completed')
        expect(await hashesOf(focused)).toEqual(await hashesOf(full))
      }
    }),
    { numRuns: isLong ? 100 : 15 },
  )
})

/** The hashes of all pages. Paths are left out, because any of several files with the same text can be the page. */
async function hashesOf(stage: FolderStage): Promise<string[]> {
  return Object.values(await readPages(stage))
    .map(({ hash }) => hash)
    .sort()
}

type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never

/** Changes a folder and returns the touched paths, or none if the change is not possible. */
function apply(root: string, change: Change): string[] {
  const fullPath = join(root, change.path)
  try {
    if (change.type === 'remove') {
      fs.rmSync(fullPath, { recursive: true })
      return [change.path]
    }
    if (change.type === 'move') {
      fs.mkdirSync(dirname(join(root, change.to)), { recursive: true })
      fs.renameSync(fullPath, join(root, change.to))
      return [change.path, change.to]
    }
    fs.mkdirSync(dirname(fullPath), { recursive: true })
    fs.writeFileSync(fullPath, change.text)
    return [change.path]
  } catch {
    return []
  }
}
