import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LIBRARY_SIZES } from '../../src/core/chunk/profiles.ts'
import type { Chunk } from '../../src/core/model.ts'
import { splitLines } from '../../src/core/text/lines.ts'
import { chunkFolder } from '../../src/ingest/chunk-folder.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { chunkSource } from '../../src/library/import/chunk-source.ts'
import type { TreeEntry, TreeReader } from '../../src/library/ports/tree.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import type { Source } from '../../src/library/source.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { findSource } from '../../src/library/sources/find-source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { openNodeGrammars } from '../node-grammars.ts'
import { createCrawlFixture, runCrawl, statesOf } from './crawl.ts'

let root = ''
const opened: OpenLibrary[] = []

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-folder-')))
})

afterEach(async () => {
  for (const library of opened.splice(0)) await library.close()
  fs.rmSync(root, { recursive: true, force: true })
})

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), content)
  }
}

function remove(...paths: string[]): void {
  for (const path of paths) fs.rmSync(join(root, path), { recursive: true })
}

const STORES = ['sqlite', 'memory'] as const

async function open(kind: (typeof STORES)[number]): Promise<OpenLibrary> {
  const library = await openLibrary({
    path: ':memory:',
    version: '0.0.0',
    maxFileBytes: 100_000,
    openGrammars: () => openNodeGrammars([]),
  })
  opened.push(library)
  return kind === 'sqlite' ? library : { ...library, store: createMemoryStore() }
}

/** Records the folder as a source. */
async function add(library: OpenLibrary, input: Partial<Parameters<typeof addSource>[1]> = {}): Promise<Source> {
  return addSource(library, { url: `${pathToFileURL(root)}/`, isOwnFolder: true, ...input })
}

const HELLO = 'export function sayHello(name: string): string {\n  return greet(name)\n}\n'

const FOLDER = {
  'readme.md': '---\ntitle: The Tower\n---\n\n# Tower\n\nLight the lamp at dusk.\n\n## Oil\n\nFill it every morning.\n',
  'guide/fog.md': '# Fog\n\nSound the horn.\n',
  'tides.html':
    '<title>Tides</title><meta name="robots" content="noindex"><main><h1>Tides</h1><p>The tide turns twice a day, and nobody can stop it.</p></main>',
  'src/hello.ts': HELLO,
  'src/lamp.py': '\n\nclass Lamp:\n    def ignite(self):\n        return True\n',
  'data.json': '{"harbour": {"depth": 12}}',
  'notes.txt': 'Line one\n\nLine three  \n',
} as const

describe.each(STORES)('a folder in a library, %s', (kind) => {
  test('is indexed file by file, each under its path and with the chunk fields of its type', async () => {
    const library = await open(kind)
    write(FOLDER)
    const source = await add(library)
    const crawled = await runCrawl(library, source, { kind: 'add' }, '')
    expect(statesOf(crawled)).toEqual(Object.fromEntries(Object.keys(FOLDER).map((path) => [path, 'indexed'])))
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 7, requests: 0, problem: null })
    expect(source.name).toBe(root.slice(root.lastIndexOf('/') + 1))

    const titles = await readEach(library, source, ({ page }) => page.title)
    expect(titles).toEqual({
      'readme.md': 'The Tower',
      'guide/fog.md': 'Fog',
      'tides.html': 'Tides',
      'src/hello.ts': 'hello.ts',
      'src/lamp.py': 'lamp.py',
      'data.json': 'data.json',
      'notes.txt': 'notes.txt',
    })
    const chunks = await listChunks(library, source)
    expect(chunks.find(({ path }) => path === 'src/hello.ts')).toMatchObject({
      symbol: 'sayHello',
      kind: 'java_script',
    })
    expect(chunks.find(({ path }) => path === 'src/lamp.py')).toMatchObject({ symbol: 'Lamp', startLine: 3 })
    expect(chunks.find(({ content }) => content.includes('Fill it'))?.headingPath).toEqual(['Tower', 'Oil'])
    const [hit] = await searchHits(library.store, { query: 'sayHello', limit: 1 })
    expect(hit?.url).toBe(`${pathToFileURL(root)}/src/hello.ts`)
    const search = (path: string) => searchHits(library.store, { query: 'the', limit: 9, filter: { path } })
    for (const path of ['guide', '/guide/', 'guide/**']) {
      expect((await search(path)).map(({ chunk }) => chunk.path)).toEqual(['guide/fog.md'])
    }
    expect(await search(root)).toEqual([])
  })

  test('keeps code and text exactly as in the files, and gives chunks the same ids as a pack', async () => {
    const library = await open(kind)
    write(FOLDER)
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    for (const path of ['src/hello.ts', 'src/lamp.py', 'data.json', 'notes.txt', 'guide/fog.md'] as const) {
      const page = await library.store.readPage(source.id, path)
      expect(page?.page.markdown).toBe(FOLDER[path])
    }
    const chunks = await listChunks(library, source)
    for (const { path, startLine, endLine, content, kind: kindOfChunk } of chunks) {
      const lines = splitLines((await library.store.readPage(source.id, path))?.page.markdown ?? '')
      const text = lines.slice(startLine - 1, endLine).join('\n')
      if (kindOfChunk !== 'json') expect(text.trim(), path).toContain(content.trim())
    }
    const grammars = await openNodeGrammars(['typescript', 'python'])
    const packed = await chunkFolder(root, { ...LIBRARY_SIZES, grammars })
    const ids = new Set(packed.files.flatMap((file) => file.chunks.map(({ id }) => id)))
    const isSame = ({ path }: Chunk) => path !== 'readme.md' && path !== 'tides.html'
    for (const chunk of chunks.filter(isSame)) expect(ids.has(chunk.id), chunk.path).toBe(true)
  })

  test('records everything that is left out, with its rule', async () => {
    const library = await open(kind)
    write({
      'a.md': '# A\n\na\n',
      'copy/a.md': '# A\n\na\n',
      '.gitignore': '*.log\n/private/\n',
      'trace.log': 'x',
      'private/key.md': 'x',
      'node_modules/x/index.js': 'x',
      'photo.PNG': 'x',
      'book.pdf': 'x',
      'blob.dat': new Uint8Array([1, 0, 2]),
      'latin.txt': new Uint8Array([0x66, 0xfc, 0x72]),
      'bytes.txt': new Uint8Array([0x66, 0xfc, 0x72, 0x01, 0xff]),
      'large.txt': 'x'.repeat(100_001),
      'empty.md': '\n',
      '.env': 'KEY=x\n',
      '.env.example': 'KEY=\n',
      '.aws/credentials': '[default]\n',
      'settings.yml': 'password: "correct-horse-battery"\n',
      'login.md': '# Login\n\nSend `password = "correct-horse-battery"`.\n',
    })
    fs.symlinkSync('a.md', join(root, 'link.md'))
    // Two names decode to the same text, because one of them is not valid UTF-8. Only the file that can be opened counts.
    write({ 'bad\u{fffd}.md': '# Odd name\n\nx\n' })
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from('bad\xff.md', 'latin1')]), 'x')
    const crawled = await runCrawl(library, await add(library), { kind: 'add' }, '')
    const outcomes = [...crawled.rows].map(([path, { state, reason, pattern, target }]) => {
      return [path, [state, reason, pattern, target].filter((part) => part !== null).join(' ')]
    })
    expect((await findPage(library, { url: crawled.rows.get('latin.txt')?.url ?? '' })).markdown).toBe('für')
    expect(Object.fromEntries(outcomes)).toEqual({
      'a.md': 'indexed',
      'copy/a.md': 'skipped duplicate a.md',
      '.gitignore': 'indexed',
      'trace.log': 'skipped ignored *.log',
      'private/': 'skipped ignored /private/',
      'node_modules/': 'skipped excluded node_modules',
      'photo.PNG': 'skipped not-text *.png',
      'book.pdf': 'skipped damaged',
      'blob.dat': 'skipped not-text binary content',
      'latin.txt': 'indexed',
      'bytes.txt': 'skipped not-text not valid UTF-8',
      'large.txt': 'skipped too-large maxFileBytes',
      'empty.md': 'skipped empty',
      '.env': 'skipped secret .env',
      '.env.example': 'indexed',
      '.aws/credentials': 'skipped secret credentials',
      'settings.yml': 'skipped secret line 1 looks like a password or key',
      'login.md': 'indexed',
      'link.md': 'skipped excluded symbolic links',
      'bad\u{fffd}.md': 'indexed',
    })
  })

  test('changes only the pages of changed files', async () => {
    const library = await open(kind)
    write({
      ...FOLDER,
      'old.md': '# Old\n\nGone soon.\n',
      'same/a.md': '# Twice\n\nThe same.\n',
      'z.md': '# Twice\n\nThe same.\n',
    })
    const source = await add(library)
    const first = await runCrawl(library, source, { kind: 'add' }, '')
    expect(first.rows.get('same/a.md')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: 'z.md' })
    const before = await listChunks(library, source)
    const changedBefore = await readEach(library, source, ({ changedAt }) => changedAt)

    const idle = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(idle.summary).toMatchObject({ indexed: 0, unchanged: 9, failed: 0, removed: 0 })
    expect(await listChunks(library, source)).toEqual(before)

    write({
      'guide/fog.md': '# Fog\n\nRing the bell.\n',
      'new.md': '# New\n\nJust written.\n',
      '.gitignore': 'data.json\n',
    })
    fs.renameSync(join(root, 'src/lamp.py'), join(root, 'src/lantern.py'))
    remove('old.md', 'z.md')
    const again = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(again.summary).toMatchObject({ end: 'completed', failed: 0, removed: 4 })
    expect(statesOf(again)).toEqual({
      'readme.md': 'unchanged',
      'guide/fog.md': 'indexed',
      'tides.html': 'unchanged',
      'src/hello.ts': 'unchanged',
      'src/lamp.py': 'gone not-found',
      'src/lantern.py': 'indexed',
      'data.json': 'skipped ignored',
      'notes.txt': 'unchanged',
      'old.md': 'gone not-found',
      'same/a.md': 'indexed',
      'z.md': 'gone not-found',
      'new.md': 'indexed',
      '.gitignore': 'indexed',
    })
    const unchanged = ['readme.md', 'tides.html', 'src/hello.ts', 'notes.txt']
    const isUnchanged = ({ path }: Chunk) => unchanged.includes(path)
    const after = await listChunks(library, source)
    expect(after.filter(isUnchanged)).toEqual(before.filter(isUnchanged))
    expect(after.some(({ path }) => path === 'old.md' || path === 'data.json')).toBe(false)
    const changedAfter = await readEach(library, source, ({ changedAt }) => changedAt)
    for (const path of unchanged) expect(changedAfter[path]).toBe(changedBefore[path])
    expect(await searchHits(library.store, { query: 'horn', limit: 5 })).toEqual([])
  })

  test('is read again completely by a full recrawl', async () => {
    const library = await open(kind)
    write({ 'a.md': '# A\n\na\n', 'b.ts': HELLO })
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    const before = await listChunks(library, source)
    const { summary } = await runCrawl(library, source, { kind: 'recrawl', full: true }, '')
    expect(summary).toMatchObject({ indexed: 2, unchanged: 0 })
    expect(await listChunks(library, source)).toEqual(before)
  })

  test('loses no more pages than the loss gate allows', async () => {
    const library = await open(kind)
    const names = Array.from({ length: 40 }, (_, i) => `p${i}.md`)
    write(Object.fromEntries(names.map((name) => [name, `# ${name}\n\nText of ${name}.\n`])))
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    remove(...names.slice(0, 21))
    const stopped = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(stopped.summary).toMatchObject({ end: 'gate', removed: 0, withheld: 21 })
    expect((await library.store.countContent(source.id)).pages).toBe(40)
    const accepted = await runCrawl(library, source, { kind: 'recrawl', acceptLoss: true }, '')
    expect(accepted.summary).toMatchObject({ end: 'completed', removed: 21, unchanged: 19 })
    expect((await library.store.countContent(source.id)).pages).toBe(19)
  })

  test('loses no page when it is missing or suddenly empty', async () => {
    const library = await open(kind)
    write({ 'docs/a.md': '# A\n\na\n', 'docs/b.md': '# B\n\nb\n' })
    const source = await add(library, { url: `${pathToFileURL(join(root, 'docs'))}/` })
    await runCrawl(library, source, { kind: 'add' }, '')
    remove('docs/a.md', 'docs/b.md')
    const { summary } = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(summary).toMatchObject({ end: 'failed', uselessReason: 'empty', removed: 0 })
    expect(summary.problem).toBe(`${source.url} contains no files to read`)
    expect((await library.store.findRow(source.id, 'a.md'))?.state).toBe('indexed')
    remove('docs')
    await expect(runCrawl(library, source, { kind: 'recrawl' }, '')).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
    expect((await library.store.countContent(source.id)).pages).toBe(2)
    expect((await library.store.listCrawls(source.id, 9)).map(({ state }) => state)).toEqual([
      'failed',
      'failed',
      'completed',
    ])
  })

  test('loses no page when none of its files exists any more, even if it held few', async () => {
    const library = await open(kind)
    write({ 'docs/a.md': '# A\n\na\n', 'docs/b.md': '# B\n\nb\n' })
    const source = await add(library, { url: `${pathToFileURL(join(root, 'docs'))}/` })
    await runCrawl(library, source, { kind: 'add' }, '')
    const before = await listChunks(library, source)
    // Simulates the mount point of a disk that is not mounted.
    fs.renameSync(join(root, 'docs'), join(root, 'disk'))
    write({ 'docs/.gitkeep': '', 'docs/readme.txt': 'The disk goes here.' })
    const stopped = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(stopped.summary).toMatchObject({ end: 'gate', removed: 0, withheld: 2, visited: 0 })
    expect(stopped.summary.problem).toBe('none of the files of 2 pages exists any more')
    expect(statesOf(stopped)).toEqual({ 'a.md': 'indexed', 'b.md': 'indexed' })
    expect(await listChunks(library, source)).toEqual(before)
    remove('docs')
    fs.renameSync(join(root, 'disk'), join(root, 'docs'))
    expect((await runCrawl(library, source, { kind: 'recrawl' }, '')).summary).toMatchObject({ unchanged: 2 })
    remove('docs/a.md', 'docs/b.md')
    write({ 'docs/c.md': '# C\n\nc\n' })
    const accepted = await runCrawl(library, source, { kind: 'recrawl', acceptLoss: true }, '')
    expect(accepted.summary).toMatchObject({ end: 'completed', removed: 2, indexed: 1 })
  })

  test('keeps its pages, however few, when a different folder at its path lacks more than half of the files', async () => {
    const library = await open(kind)
    const names = ['a.md', 'b.md', 'c.md', 'd.md', 'e.md']
    const texts = names.map((name) => [`docs/${name}`, `# ${name}\n\nText of ${name}.\n`] as const)
    write(Object.fromEntries(texts))
    const source = await add(library, { url: `${pathToFileURL(join(root, 'docs'))}/` })
    await runCrawl(library, source, { kind: 'add' }, '')
    fs.renameSync(join(root, 'docs'), join(root, 'disk'))
    write(Object.fromEntries(texts.slice(0, 2)))
    const stopped = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(stopped.summary).toMatchObject({ end: 'gate', removed: 0, withheld: 3 })
    // A second recrawl stops too, because a stopped recrawl does not record the new folder as the known one.
    expect((await runCrawl(library, source, { kind: 'recrawl' }, '')).summary.end).toBe('gate')
    remove('docs')
    fs.renameSync(join(root, 'disk'), join(root, 'docs'))
    expect((await runCrawl(library, source, { kind: 'recrawl' }, '')).summary).toMatchObject({ unchanged: 5 })
    // The same small folder may lose two pages or half of its pages, whichever is more.
    remove('docs/d.md', 'docs/e.md')
    const same = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(same.summary).toMatchObject({ end: 'completed', removed: 2 })
  })

  test('keeps the page of a file that became too large, and indexes the file when it is smaller again', async () => {
    const library = await open(kind)
    write({ 'a.md': '# A\n\na\n', 'log.txt': 'A short line.\n' })
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    write({ 'log.txt': 'A short line.\n'.repeat(10_000) })
    const grown = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(statesOf(grown)).toEqual({ 'a.md': 'unchanged', 'log.txt': 'failed too-large' })
    expect(grown.rows.get('log.txt')).toMatchObject({ hasPage: true, detail: '140000 bytes, more than 100000' })
    expect(grown.summary).toMatchObject({ end: 'completed', failed: 1, removed: 0 })
    expect(await searchHits(library.store, { query: 'short', limit: 5 })).toHaveLength(1)
    write({ 'log.txt': 'A shorter line.\n' })
    const shrunk = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(statesOf(shrunk)).toEqual({ 'a.md': 'unchanged', 'log.txt': 'indexed' })
  })

  test('skips no page for reasons that apply only to web responses', async () => {
    const library = await open(kind)
    const form =
      '<form action="/login"><input name="user"><input type="password" name="pass"><button>Sign in</button></form>'
    write({
      'login.html': `<title>Sign in</title><main><h1>Sign in</h1><p>Please log in to continue.</p>${form}</main>`,
      'missing.html': '<title>404 Not Found</title><main><h1>404</h1><p>Page not found.</p></main>',
      'missing.md': '404: Not Found\n',
      'robot.html':
        '<title>Just a moment...</title><main><h1>Checking your browser</h1><p>Verify you are human.</p><div id="cf-challenge" class="cf-turnstile"></div></main>',
    })
    const crawled = await runCrawl(library, await add(library), { kind: 'add' }, '')
    expect(statesOf(crawled)).toEqual({
      'login.html': 'indexed',
      'missing.html': 'indexed',
      'missing.md': 'indexed',
      'robot.html': 'indexed',
    })
  })

  test('keeps the pages of a subfolder that is temporarily unreadable', async () => {
    const library = await open(kind)
    write({ 'a.md': '# A\n\na\n', 'closed/b.md': '# B\n\nb\n', 'closed/c.md': '# C\n\nc\n', 'd.md': '# D\n\nd\n' })
    write({ 'closed/never.md': '# Never\n\nread\n' })
    const source = await add(library)
    await runCrawl(withFailure(library, 'closed/never.md'), source, { kind: 'add' }, '')
    remove('closed', 'd.md')
    const closed: TreeEntry = { type: 'unreadable', path: 'closed/' }
    const crawled = await runCrawl(withEntry(library, closed), source, { kind: 'recrawl' }, '')
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 1, failed: 3 })
    expect(statesOf(crawled)).toEqual({
      'a.md': 'unchanged',
      'closed/': 'failed unreadable',
      'closed/b.md': 'failed unreadable',
      'closed/c.md': 'failed unreadable',
      'closed/never.md': 'failed unreadable',
      'd.md': 'gone not-found',
    })
    expect((await library.store.countContent(source.id)).pages).toBe(3)
    write({ 'closed/b.md': '# B\n\nb\n' })
    const later = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(statesOf(later)).toMatchObject({
      'closed/': 'gone unlinked',
      'closed/b.md': 'unchanged',
      'closed/c.md': 'gone not-found',
      'closed/never.md': 'gone unlinked',
    })
  })

  test('a refresh checks known files only, and finds new ones with the discover option', async () => {
    const library = await open(kind)
    const twice = '# Twice\n\nThe same.\n'
    write({ 'a.md': '# A\n\na\n', 'b.md': '# B\n\nb\n', 'empty.md': '', 'twice.md': twice, 'x/twice.md': twice })
    const source = await add(library)
    const first = await runCrawl(library, source, { kind: 'add' }, '')
    expect(statesOf(first)).toMatchObject({ 'twice.md': 'indexed', 'x/twice.md': 'skipped duplicate' })
    write({ 'a.md': '# A\n\nother\n', 'c.md': '# C\n\nc\n' })
    remove('b.md', 'twice.md')
    const known = await runCrawl(library, source, { kind: 'refresh' }, '')
    const commonStates = { 'b.md': 'gone not-found', 'empty.md': 'skipped empty', 'twice.md': 'gone not-found' }
    expect(statesOf(known)).toEqual({
      ...commonStates,
      'a.md': 'indexed',
      'c.md': 'skipped new-in-refresh',
      'x/twice.md': 'indexed',
    })
    expect(known.summary).toMatchObject({ newInRefresh: 1, removed: 2 })
    const more = await runCrawl(library, source, { kind: 'refresh', discover: true }, '')
    expect(statesOf(more)).toEqual({
      ...commonStates,
      'a.md': 'unchanged',
      'c.md': 'indexed',
      'x/twice.md': 'unchanged',
    })
  })

  test('a retry reads only the files that failed', async () => {
    const library = await open(kind)
    write({ 'a.md': '# A\n\na\n', 'b/c.md': '# C\n\nc\n', 'gone.md': '# Gone\n\ng\n' })
    const source = await add(library)
    const failing = withFailure(library, 'b/c.md')
    expect(statesOf(await runCrawl(failing, source, { kind: 'add' }, ''))).toMatchObject({
      'b/c.md': 'failed unreadable',
    })
    write({ 'new.md': '# New\n\nnew\n', 'a.md': '# A\n\nother\n' })
    remove('gone.md')
    const tried = await runCrawl(library, source, { kind: 'retry' }, '')
    expect(statesOf(tried)).toEqual({ 'a.md': 'indexed', 'b/c.md': 'indexed', 'gone.md': 'indexed' })
    expect(tried.summary).toMatchObject({ visited: 1, indexed: 1 })
  })

  test('can be narrowed by patterns, a depth limit and a page cap', async () => {
    const library = await open(kind)
    write({ 'a.md': '# A\n\na\n', 'b/b.md': '# B\n\nb\n', 'b/c/c.md': '# C\n\nc\n', 'draft/d.md': 'd', 'e.txt': 'e' })
    const scope = { allow: ['*.md'], block: ['/draft/**'], maxDepth: 1 }
    const source = await add(library, { scope })
    const crawled = await runCrawl(library, source, { kind: 'add' }, '')
    expect(statesOf(crawled)).toEqual({
      'a.md': 'indexed',
      'b/b.md': 'indexed',
      'b/c/c.md': 'skipped max-depth',
      'draft/d.md': 'skipped blocked',
      'e.txt': 'skipped not-allowed',
    })
    const narrow = await runCrawl(library, source, { kind: 'recrawl', scope: { block: ['/b/**'] } }, '')
    // Pages that only this run excludes stay as they are.
    expect(narrow.rows.get('b/b.md')).toMatchObject({ state: 'indexed', hasPage: true })
    const other = await add(library, { name: 'capped', scope: { maxPages: 2 } })
    const capped = await runCrawl(library, other, { kind: 'add' }, '')
    expect(capped.summary).toMatchObject({ cappedAt: 2, indexed: 2 })
    expect(capped.summary.ledger.reasons['skipped/page-cap']).toBe(3)
    // A removed file no longer counts as left out by the cap, because raising the cap would not help.
    const [gone = ''] = [...capped.rows].find(([, { reason }]) => reason === 'page-cap') ?? []
    remove(gone)
    const completed = await runCrawl(library, other, { kind: 'recrawl', scope: { maxPages: 9 } }, '')
    expect(completed.summary.ledger.reasons).not.toHaveProperty('skipped/page-cap')
    expect(completed.rows.get(gone)).toMatchObject({ state: 'skipped', reason: 'unlinked' })
  })

  test('an interrupted run resumes, and two runs cannot index the folder at the same time', async () => {
    const library = await open(kind)
    const names = Array.from({ length: 200 }, (_, i) => `d${i % 7}/p${i}.md`)
    write(Object.fromEntries(names.map((name) => [name, `# ${name}\n\nText of ${name}.\n`])))
    const source = await add(library)
    const stop = new AbortController()
    const begun = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<void>()
    const watched = withReadHook(library, async (count) => {
      begun.resolve()
      if (count === 100) await refused.promise
      if (count === 100) stop.abort(new Error('enough'))
    })
    const running = runCrawl(watched, source, { kind: 'add' }, '', stop.signal)
    await begun.promise
    await expect(runCrawl(library, source, { kind: 'add' }, '')).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
    refused.resolve()
    const stopped = await running
    expect(stopped.summary).toMatchObject({ end: 'cancelled', problem: 'enough' })
    expect(stopped.summary.indexed).toBeLessThan(200)
    const { indexed } = stopped.summary.ledger.states
    const rest = await runCrawl(library, source, { kind: 'add' }, '')
    expect(rest.summary).toMatchObject({ end: 'completed', indexed: 200 - indexed })
    expect(rest.events[0]).toMatchObject({ type: 'started', isResumed: true })
    const other = await open(kind)
    const whole = await add(other)
    await runCrawl(other, whole, { kind: 'add' }, '')
    const idsOf = (chunks: readonly Chunk[]) => chunks.map(({ id }) => id)
    expect(idsOf(await listChunks(library, source))).toEqual(idsOf(await listChunks(other, whole)))
  })

  test('an interrupted recrawl resumes, and reads a file for a second time only if the file has changed', async () => {
    const library = await open(kind)
    const names = Array.from({ length: 20 }, (_, i) => `p${String(i).padStart(2, '0')}.md`)
    write(Object.fromEntries(names.map((name) => [name, `# ${name}\n\nText of ${name}.\n`])))
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    const stop = new AbortController()
    const watched = withReadHook(library, async (count) => {
      if (count === 15) stop.abort(new Error('enough'))
    })
    const stopped = await runCrawl(watched, source, { kind: 'recrawl', full: true }, '', stop.signal)
    const { indexed } = stopped.summary
    expect(indexed).toBeGreaterThan(0)
    expect(indexed).toBeLessThan(20)
    const read = names.find((name) => stopped.rows.get(name)?.state === 'indexed') ?? ''
    write({ [read]: '# Edited\n\nThe lamp is electric now.\n' })
    const rest = await runCrawl(library, source, { kind: 'recrawl' }, '')
    expect(rest.events[0]).toMatchObject({ type: 'started', isResumed: true, kind: 'recrawl' })
    expect(rest.summary.end).toBe('completed')
    expect(rest.summary.indexed).toBeGreaterThan(20 - indexed)
    expect(rest.summary.unchanged).toBeGreaterThan(0)
    expect((await findPage(library, { url: rest.rows.get(read)?.url ?? '' })).title).toBe('Edited')
  })

  test('can be a single file', async () => {
    const library = await open(kind)
    write({ 'a b#1.md': '# A\n\na\n', 'other.md': 'x' })
    const { url } = (await library.trees?.open(pathToFileURL(join(root, 'a b#1.md')).href)) ?? {}
    const source = await add(library, { url: url ?? '' })
    const crawled = await runCrawl(library, source, { kind: 'add' }, '')
    expect(statesOf(crawled)).toEqual({ 'a b#1.md': 'indexed' })
    expect(crawled.rows.get('a b#1.md')?.url).toBe(source.url)
    expect(source.name).toBe('a b#1.md')
    expect((await findPage(library, { url: source.url })).title).toBe('A')
  })

  test('is found by name, path or address, and its files by address, absolute path or relative path', async () => {
    const library = await open(kind)
    write({ ...FOLDER, 'wéird #?%.md': '# Weird\n\nw\n', '.gitignore': '/tmp/' })
    fs.mkdirSync(join(root, 'tmp'))
    const source = await add(library, { name: 'docs' })
    await runCrawl(library, source, { kind: 'add' }, '')
    for (const text of ['docs', root, `${root}/`, `file://${root}`, source.url, join(root, 'src/..')]) {
      expect((await findSource(library, text)).id).toBe(source.id)
    }
    await expect(findSource(library, join(root, 'src'))).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
    const weird = [...(await runCrawl(library, source, { kind: 'recrawl' }, '')).rows.values()]
    const { url } = weird.find(({ key }) => key.startsWith('w')) ?? { url: '' }
    for (const text of [url, `${url}#weird`, join(root, 'wéird #?%.md'), 'wéird #?%.md']) {
      expect((await findPage(library, { url: text, source: 'docs' })).key, text).toBe('wéird #?%.md')
      expect((await explainUrl(library, source, text)).row?.state, text).toBe('unchanged')
    }
    const inside = await explainUrl(library, source, 'tmp/deep/x.md')
    expect(inside.row).toMatchObject({ key: 'tmp/', reason: 'ignored', pattern: '/tmp/' })
    expect((await explainUrl(library, source, 'never.md')).row).toBeNull()
    await expect(explainUrl(library, source, '/etc/passwd')).rejects.toThrow('/etc/passwd is not in file:')
    await expect(explainUrl(library, source, '../../etc/passwd')).rejects.toThrow('is not in file:')
  })

  test('can be packed from the library, with code split as code and documents as Markdown', async () => {
    const library = await open(kind)
    const api = { openapi: '3.1.0', info: { title: 'Tides' }, paths: { '/a': { get: { operationId: 'list' } } } }
    write({ ...FOLDER, 'watch.rst': 'Watch\n=====\n\nNobody sleeps.\n', 'api.json': JSON.stringify(api) })
    const source = await add(library)
    await runCrawl(library, source, { kind: 'add' }, '')
    remove('src')
    const files = await chunkSource(library, source)
    const hello = files.find(({ file }) => file.path === 'src/hello.ts')
    expect(hello).toMatchObject({ file: { kind: 'java_script', lineCount: 3 }, chunks: [{ symbol: 'sayHello' }] })
    expect(files.find(({ file }) => file.path === 'tides.html')?.chunks[0]?.content).toContain('# Tides')
    for (const [path, heading] of [
      ['watch.rst', 'Watch'],
      ['api.json#list', 'list'],
    ]) {
      const made = files.find(({ file }) => file.path === path)
      expect(made).toMatchObject({ file: { kind: 'markdown' }, chunks: [{ headingPath: [heading] }] })
    }
  })
})

describe('folders as sources', () => {
  test('only the owner can add a folder: a file address from another client is refused', async () => {
    const library = await open('sqlite')
    write({ 'a.md': '# A\n\na\n' })
    const url = `${pathToFileURL(root)}/`
    await expect(addSource(library, { url })).rejects.toThrow('its scheme is file')
    await expect(prepareSource(library, { url })).rejects.toThrow('its scheme is file')
    const { trees: _, ...without } = library
    await expect(addSource(without, { url, isOwnFolder: true })).rejects.toThrow('its scheme is file')
    await expect(addSource(library, { url: 'https://a.example/', settings: { seeds: [url] } })).rejects.toThrow(
      'scheme',
    )
    expect(await library.store.listSources()).toEqual([])
  })

  test('a website cannot make a crawl read a local file by a link, a redirect or llms.txt', async () => {
    write({ 'secret.md': '# Secret\n\ns\n' })
    const link = pathToFileURL(join(root, 'secret.md')).href
    const { crawl, library, source } = await createCrawlFixture({
      '/': `<title>T</title><main><p>Some text, <a href="${link}">a link</a>, <a href="/moved">another</a>.</p></main>`,
      '/moved': { status: 302, headers: { location: link } },
      '/llms.txt': `# T\n\n- [Secret](${link})\n`,
    })
    const crawled = await crawl()
    expect(crawled.rows.get('/')?.state).toBe('indexed')
    for (const row of crawled.rows.values()) if (row.url.startsWith('file:')) expect(row.state).toBe('skipped')
    expect(crawled.rows.get('/moved')?.hasPage).toBe(false)
    expect((await library.store.countContent(source.id)).pages).toBe(1)
  })
})

test('a second folder with the name of an existing source is refused', async () => {
  const library = await open('sqlite')
  write({ 'one/docs/a.md': '# A\n\na\n', 'two/docs/b.md': '# B\n\nb\n' })
  const [one, two] = ['one/docs', 'two/docs'].map((path) => `${pathToFileURL(join(root, path))}/`)
  await prepareSource(library, { url: one ?? '', isOwnFolder: true })
  const other = prepareSource(library, { url: two ?? '', isOwnFolder: true })
  await expect(other).rejects.toMatchObject({ code: 'SOURCE_EXISTS', details: { source: 'docs' } })
  expect((await prepareSource(library, { url: one ?? '', isOwnFolder: true })).found).toBe('interrupted')
})

/**
 * Random changes. There are few paths and even fewer contents, so files often have equal contents, and renames often overwrite another
 * file.
 */
const CHANGE = fc.oneof(
  fc.record({
    type: fc.constant('write' as const),
    path: fc.integer({ min: 0, max: 7 }),
    text: fc.integer({ min: 0, max: 4 }),
  }),
  fc.record({ type: fc.constant('remove' as const), path: fc.integer({ min: 0, max: 7 }) }),
  fc.record({
    type: fc.constant('move' as const),
    path: fc.integer({ min: 0, max: 7 }),
    to: fc.integer({ min: 0, max: 7 }),
  }),
  fc.record({ type: fc.constant('ignore' as const), path: fc.integer({ min: 0, max: 7 }) }),
)
const PATHS = ['a.md', 'b.md', 'c/a.md', 'c/b.md', 'c/d/e.md', 'z.txt', 'y.py', 'x.html']
const TEXTS = [
  '# One\n\nfirst\n',
  '# Two\n\nsecond\n',
  '<p>A paragraph that is long enough to be read.</p>\n',
  '',
  'x = 1\n',
]

test.each(STORES)(
  'a folder that is kept up to date equals a newly added one, whatever changes, %s',
  async (kind) => {
    const step = fc.record({
      changes: fc.array(CHANGE, { maxLength: 6 }),
      kind: fc.constantFrom('recrawl' as const, 'refresh' as const),
      stopAfter: fc.option(fc.integer({ min: 1, max: 6 })),
    })
    const steps = fc.array(step, { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        remove(...fs.readdirSync(root))
        write({ 'keep.md': '# Keep\n\nkept\n' })
        const library = await open(kind)
        const source = await add(library)
        await runCrawl(library, source, { kind: 'add' }, '')
        for (const { changes, kind: crawlKind, stopAfter } of all) {
          for (const change of changes) apply(change)
          const stop = new AbortController()
          const watched = withReadHook(library, async (count) => {
            if (count === stopAfter) stop.abort(new Error('enough'))
          })
          const input = { kind: crawlKind, discover: true, acceptLoss: true }
          await runCrawl(watched, source, input, '', stop.signal)
          if (stop.signal.aborted) await runCrawl(library, source, input, '')
        }
        await runCrawl(library, source, { kind: 'recrawl', acceptLoss: true }, '')
        const fresh = await open(kind)
        const other = await add(fresh)
        await runCrawl(fresh, other, { kind: 'add' }, '')
        expect(await readEach(library, source, ({ page }) => page)).toEqual(
          await readEach(fresh, other, ({ page }) => page),
        )
        expect(await listChunks(library, source)).toEqual(await listChunks(fresh, other))
        for (const one of opened.splice(0)) await one.close()
      }),
      {
        numRuns: process.env['TEST_LONG'] === undefined ? 6 : 500,
        examples: [[EMPTIED], [COPIED_AGAIN]],
      },
    )
  },
  600_000,
)

/** A file becomes empty, and the next run is stopped at the first file that it reads. */
const EMPTIED = [
  { changes: [{ type: 'write' as const, path: 0, text: 0 }], kind: 'recrawl' as const, stopAfter: null },
  { changes: [{ type: 'write' as const, path: 0, text: 3 }], kind: 'recrawl' as const, stopAfter: 1 },
]

/** A file with two copies, of which one is new when the file is removed. */
const COPIED_AGAIN = [
  {
    changes: [
      { type: 'write' as const, path: 0, text: 4 },
      { type: 'write' as const, path: 1, text: 4 },
    ],
    kind: 'recrawl' as const,
    stopAfter: null,
  },
  {
    changes: [
      { type: 'write' as const, path: 2, text: 4 },
      { type: 'remove' as const, path: 0 },
    ],
    kind: 'refresh' as const,
    stopAfter: null,
  },
]

type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never

function apply(change: Change): void {
  const path = PATHS[change.path] ?? ''
  const fullPath = join(root, path)
  if (change.type === 'write') write({ [path]: TEXTS[change.text] ?? '' })
  else if (change.type === 'ignore') fs.appendFileSync(join(root, '.gitignore'), `/${path}\n`)
  else if (!fs.existsSync(fullPath)) return
  else if (change.type === 'remove') fs.rmSync(fullPath)
  else {
    const to = join(root, PATHS[change.to] ?? '')
    fs.mkdirSync(dirname(to), { recursive: true })
    fs.renameSync(fullPath, to)
  }
}

async function listChunks(library: OpenLibrary, source: Source): Promise<Chunk[]> {
  const found: Chunk[] = []
  for await (const { key } of library.store.listPages(source.id)) {
    const text = await library.store.readPageText(source.id, key)
    for (const { id } of text?.chunks ?? []) {
      const stored = await library.store.readChunk(source.id, id)
      if (stored !== undefined) found.push(stored.chunk)
    }
  }
  return found
}

type Stored = Awaited<ReturnType<OpenLibrary['store']['readPage']>> & {}

async function readEach<T>(
  library: OpenLibrary,
  source: Source,
  take: (page: Stored) => T,
): Promise<Record<string, T>> {
  const found: Record<string, T> = {}
  for await (const page of library.store.listPages(source.id)) found[page.key] = take(page)
  return found
}

type Folder = Awaited<ReturnType<TreeReader['open']>>

/** The library with its folders replaced by the results of `change`. */
function withFolder(library: OpenLibrary, change: (folder: Folder) => Folder): OpenLibrary {
  const { trees } = library
  if (trees === undefined) throw new Error('the library reads no folders')
  return { ...library, trees: { ...trees, open: async (address) => change(await trees.open(address)) } }
}

/** Adds an entry to the folder. Tests use it to simulate a permission error, because the superuser ignores file permissions. */
function withEntry(library: OpenLibrary, entry: TreeEntry): OpenLibrary {
  return withFolder(library, (folder) => ({
    ...folder,
    async *walk(signal) {
      yield* folder.walk(signal)
      yield entry
    },
  }))
}

function withFailure(library: OpenLibrary, path: string): OpenLibrary {
  return withFolder(library, (folder) => ({
    ...folder,
    async read(file, known) {
      if (file.path === path) return { type: 'failed', reason: 'unreadable', detail: 'cannot be read (EACCES)' }
      return folder.read(file, known)
    },
  }))
}

function withReadHook(library: OpenLibrary, onRead: (count: number) => Promise<void>): OpenLibrary {
  let count = 0
  return withFolder(library, (folder) => ({
    ...folder,
    async read(file, known) {
      await onRead(++count)
      return folder.read(file, known)
    },
  }))
}
