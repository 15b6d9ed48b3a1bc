import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findChunk } from '../../src/library/search/find-chunk.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { findSource } from '../../src/library/sources/find-source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { runCrawl, statesOf } from '../sites/crawl.ts'
import { createTempFolder } from './archive-fixture.ts'
import { createRepository, listLeftoverRepositories, openGitServer } from './git-fixture.ts'
import { createTreeFixture, expectSamePages } from './library-fixture.ts'

const FILES = {
  'README.md': '# Lamp\n\nLights the tower.\n',
  'docs/guide.md': '# Guide\n\nFirst of all.\n\n## Fill\n\nPour the whale oil in at dusk.\n',
  'docs/old.md': '# Old\n\nNobody needs this.\n',
  'src/lamp.py': `# Keeps the tower lit.\n\n\ndef ignite():\n    """Strikes a match."""\n    return True\n`,
  'build/out.md': '# Made\n',
}

/** Number of files. With TEST_LONG, there are as many as in large documentation. */
const MANY = process.env['TEST_LONG'] === undefined ? 300 : 10_000

describe('a repository in a library', () => {
  test('is indexed at its commit, and at a new commit only changed files are split again', async () => {
    const repository = createRepository(FILES)
    const inner = createRepository({ 'a.md': 'a' })
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.folder, 'inner')
    fs.symlinkSync('README.md', join(repository.folder, 'link.md'))
    const first = repository.commit({})
    const { library, source, crawl, readContent } = await createTreeFixture(repository.url)
    expect(source).toMatchObject({ url: repository.url, name: 'lamp' })
    const firstCrawl = await crawl()
    expect(firstCrawl.summary).toMatchObject({ end: 'completed', indexed: 5, problem: null })
    expect(statesOf(firstCrawl)).toEqual({
      'README.md': 'indexed',
      'docs/guide.md': 'indexed',
      'docs/old.md': 'indexed',
      'src/lamp.py': 'indexed',
      '.gitmodules': 'indexed',
      'build/': 'skipped excluded',
      'link.md': 'skipped excluded',
      inner: 'skipped excluded',
    })
    expect(await explainUrl(library, source, 'inner')).toMatchObject({ row: { pattern: 'a repository in it' } })

    const before = await readContent()
    const second = repository.commit({ 'docs/guide.md': '# Guide\n\nAll of it is new.\n', 'docs/old.md': undefined })
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'completed', indexed: 1, unchanged: 3, removed: 1 })
    expectSamePages(before, await readContent(), 'docs/guide.md', 'docs/old.md')
    // Only changed files were read. Unchanged pages are cited at the new commit, because the old one may be deleted.
    expect(summary.bytes).toBe(Buffer.byteLength('# Guide\n\nAll of it is new.\n'))
    const addressOf = (commit: string, path: string) => `${repository.url}@${commit}!/${path}`
    expect((await findPage(library, { url: 'docs/guide.md' })).url).toBe(addressOf(second, 'docs/guide.md'))
    expect((await findPage(library, { url: addressOf(first, 'README.md') })).url).toBe(addressOf(second, 'README.md'))
    expect((await crawl({ kind: 'refresh' })).summary).toMatchObject({ end: 'completed', unchanged: 4, bytes: 0 })
    expect((await crawl({ kind: 'retry' })).summary).toMatchObject({ end: 'completed', visited: 0 })
  })

  test('is cited by sections of documents and by lines of code', async () => {
    const repository = createRepository(FILES)
    const commit = repository.git('rev-parse', 'HEAD')
    const { library, source, crawl } = await createTreeFixture(repository.url)
    await crawl()
    const cite = async (query: string) => (await searchLibrary(library, { query })).passages[0]?.url
    const start = `${repository.url}@${commit}!/`
    expect(await cite('whale oil dusk')).toBe(`${start}docs/guide.md#guide`)
    expect(await cite('strikes a match')).toBe(`${start}src/lamp.py#L1-L6`)
    const page = await findPage(library, { url: `${start}src/lamp.py#L4` })
    const last = page.chunks.at(-1)
    const { url } = await findChunk(library, `${source.name}/${last?.id ?? ''}`)
    expect(url).toBe(`${start}src/lamp.py#L${last?.startLine}-L${last?.endLine}`)
  })

  test('has links that lead to files at the commit, and a new commit does not change unchanged pages', async () => {
    const repository = createRepository({
      'README.md': '# Lamp\n\nThe [fuel guide](docs/fuel.rst#oil) tells of whale oil.\n\n![Tower](img/tower.png)\n',
      'docs/fuel.rst': 'Fuel\n====\n\nSee `the readme <../README.md>`_ before lighting anything.\n',
    })
    const { library, crawl } = await createTreeFixture(repository.url)
    await crawl()
    const start = `${repository.url}@${repository.git('rev-parse', 'HEAD')}!/`
    const { passages } = await searchLibrary(library, { query: 'fuel guide whale oil' })
    expect(passages[0]?.text).toContain(`[fuel guide](${start}docs/fuel.rst#oil)`)
    expect(passages[0]?.text).toContain(`![Tower](${start}img/tower.png)`)
    const page = await findPage(library, { url: 'docs/fuel.rst' })
    expect(page.markdown).toContain(`[the readme](${start}README.md)`)
    const chunk = await findChunk(library, page.chunks[0]?.id ?? '')
    expect(chunk.chunk.content).toContain(`(${start}README.md)`)
    expect((await library.store.readPageText(page.sourceId, page.key))?.markdown).toContain('(../README.md)')
    repository.commit({ 'src/lamp.py': 'lit = True\n' })
    expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ indexed: 1, unchanged: 2 })
  })

  test('is read from another machine at a tag, below a folder and by patterns, and its clone is removed', async () => {
    const repository = createRepository(FILES)
    repository.git('tag', 'v1.0')
    repository.commit({ 'docs/guide.md': '# Guide\n\nLater.\n' })
    const server = await openGitServer(join(repository.folder, '..'))
    const { library, source, crawl } = await createTreeFixture(`${server.origin}/lamp/.git`, undefined, ['127.0.0.1'], {
      settings: { tree: { ref: 'v1.0', path: 'docs' } },
      scope: { block: ['/old.*'] },
    })
    expect(source).toMatchObject({ url: `git+${server.origin}/lamp/.git`, name: 'lamp' })
    const firstCrawl = await crawl()
    expect(firstCrawl.summary).toMatchObject({ end: 'completed', indexed: 1 })
    expect(statesOf(firstCrawl)).toEqual({ 'guide.md': 'indexed', 'old.md': 'skipped blocked' })
    const commit = repository.git('rev-parse', 'v1.0')
    const page = await findPage(library, { url: `${source.url}@${commit}!/docs/guide.md` })
    expect(page.markdown).toContain('whale oil')
    expect((await findPage(library, { url: 'docs/guide.md', source: source.id })).key).toBe('guide.md')
    expect((await findSource(library, `${server.origin}/lamp/.git`)).id).toBe(source.id)
    expect(listLeftoverRepositories()).toEqual([])
    // A missing repository proves nothing about its files.
    server.answer = (_, response) => void response.writeHead(404).end()
    await expect(crawl({ kind: 'recrawl' })).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    expect((await findPage(library, { url: 'docs/guide.md', source: source.id })).key).toBe('guide.md')
    // A repeated failure is recorded once, the report shows it, and the page stays.
    await expect(crawl({ kind: 'recrawl' })).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    expect(await reportSource(library, source)).toMatchObject({
      ...{
        status: 'ERROR',
        pages: 1,
        crawl: { state: 'failed', summary: { problem: expect.stringContaining('not found') } },
      },
    })
    expect(await library.store.listCrawls(source.id, 9)).toHaveLength(2)
  })

  test('loses no pages if another repository takes its path', async () => {
    const repository = createRepository({
      'a.md': '# A\n\nOurs.\n',
      'b.md': '# B\n\nOurs.\n',
      'c.md': '# C\n\nOurs.\n',
    })
    const { library, source, crawl } = await createTreeFixture(repository.url)
    await crawl()
    const other = createRepository({ 'a.md': '# A\n\nTheirs.\n' })
    fs.renameSync(repository.folder, `${repository.folder}.away`)
    fs.renameSync(other.folder, repository.folder)
    expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'gate', removed: 0, withheld: 2 })
    // The same path on another machine is a different repository.
    const elsewhere = { ...source, settings: { ...source.settings, machine: 'tower-2' } }
    await expect(runCrawl(library, elsewhere, { kind: 'recrawl' }, '')).rejects.toMatchObject({
      details: { problem: expect.stringContaining('it is on the machine tower-2') },
    })
  })

  test('is read file by file even if it has many files, and not at all if nothing changed', async () => {
    const files = Array.from(
      { length: MANY },
      (_, i) => [`d${i % 100}/p${i}.md`, `# Page ${i}\n\nTide ${i}.\n`] as const,
    )
    const repository = createRepository(Object.fromEntries(files))
    const { crawl } = await createTreeFixture(repository.url)
    expect((await crawl()).summary).toMatchObject({ end: 'completed', indexed: MANY })
    expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'completed', unchanged: MANY, bytes: 0 })
  })

  test('is refused if the folder is not a repository', async () => {
    const folder = createTempFolder()
    const { crawl } = await createTreeFixture(`git+file://${folder}`)
    await expect(crawl()).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  })
})
