import * as fs from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { findPage } from '../../src/library/search/find-page.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { describeAddress } from '../../src/library/sources/describe-address.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { closeLater } from '../close-later.ts'
import { statesOf } from '../sites/crawl.ts'
import { openSite } from '../sites/site.ts'
import { createTempFolder, EXTENSIONS, listLeftoverArchives, packFiles, run } from './archive-fixture.ts'
import { createTreeFixture, expectSamePages } from './library-fixture.ts'
import { openRegistry } from './registry-fixture.ts'

let tempFolder = ''

beforeEach(() => {
  tempFolder = createTempFolder()
})

const FILES = {
  'tower/readme.md': '# Tower\n\nLight the lamp at dusk.\n',
  'tower/fog.md': '# Fog\n\nSound the horn.\n',
  'tower/lamp.py': 'def ignite():\n    """Lights the lamp."""\n    return True\n',
  'tower/old.md': '# Old\n\nNobody needs this.\n',
  'tower/.gitignore': '*.log\n',
  'tower/x.log': 'x\n',
}

const CHANGED = {
  'tower/readme.md': FILES['tower/readme.md'],
  'tower/fog.md': '# Fog\n\nSound the horn twice.\n',
  'tower/lamp.py': FILES['tower/lamp.py'],
  'tower/new.md': '# New\n\nA second lamp.\n',
  'tower/.gitignore': '*.log\n',
}

describe('an archive of files that repeat each other', () => {
  test('the run counts the same pages and duplicates as the ledger', async () => {
    const same = '# Setting\n\nThe same text in every folder.\n'
    // The file that keeps the content is deeper, so it is read last. It is preferred to names with a question mark.
    const files = [...Array.from({ length: 20 }, (_, i) => `lamp-${i}?.md`), 'deep/lamp.md']
    const archive = packFiles(join(tempFolder, 'same.zip'), Object.fromEntries(files.map((path) => [path, same])))
    const { crawl } = await createTreeFixture(pathToFileURL(archive).href)
    const { summary } = await crawl()
    expect(summary.ledger.states).toMatchObject({ indexed: 1, skipped: 20 })
    expect(summary).toMatchObject({ visited: 21, indexed: 1, skipped: 20 })
  })
})

describe.each(EXTENSIONS)('an archive in a library, %s', (extension) => {
  test('is indexed file by file, and after a change only changed files are split again', async () => {
    const archive = packFiles(join(tempFolder, `tower.${extension}`), FILES, (folder) => {
      fs.symlinkSync('/etc/passwd', join(folder, 'tower/passwd.md'))
    })
    const { library, source, crawl, readContent } = await createTreeFixture(pathToFileURL(archive).href)
    expect(source.name).toBe(`tower.${extension}`)
    const first = await crawl()
    expect(first.summary).toMatchObject({ end: 'completed', indexed: 5, skipped: 0, problem: null })
    expect(statesOf(first)).toEqual({
      'tower/readme.md': 'indexed',
      'tower/fog.md': 'indexed',
      'tower/lamp.py': 'indexed',
      'tower/old.md': 'indexed',
      'tower/.gitignore': 'indexed',
      'tower/x.log': 'skipped ignored',
      'tower/passwd.md': 'skipped excluded',
    })
    const url = `${source.url}!/tower/fog.md`
    const [hit] = await searchHits(library.store, { query: 'horn', limit: 1 })
    expect(hit?.url).toBe(url)
    expect((await findPage(library, { url })).title).toBe('Fog')
    expect((await findPage(library, { url: 'tower/fog.md', source: source.name })).title).toBe('Fog')
    expect(await explainUrl(library, source, `${source.url}!/tower/passwd.md`)).toMatchObject({
      row: { reason: 'excluded', pattern: 'symbolic links' },
    })
    const { known, unknown } = await describeAddress(library, url)
    expect(known).toMatchObject([{ source: { id: source.id }, row: { key: 'tower/fog.md', url } }])
    expect(unknown).toBeNull()
    expect((await describeAddress(library, `${source.url}!/tower/mist.md`)).known).toEqual([])
    expect((await describeAddress(library, 'https://docs.example/fog.md')).known).toEqual([])

    const before = await readContent()
    const again = await crawl({ kind: 'recrawl' })
    expect(again.summary).toMatchObject({ end: 'completed', indexed: 0, unchanged: 5, removed: 0 })
    expectSamePages(before, await readContent())

    packFiles(archive, CHANGED)
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'completed', indexed: 2, unchanged: 3, removed: 1 })
    const after = await readContent()
    expectSamePages(before, after, 'tower/fog.md', 'tower/new.md', 'tower/old.md')
    expect(after.pages.has('tower/old.md')).toBe(false)
    expect(listLeftoverArchives()).toEqual([])
  })
})

test('an archive keeps its pages in its next version, although its top folder has another name', async () => {
  const archive = join(tempFolder, 'latest.zip')
  const pack = (version: string, files: Readonly<Record<string, string>>) => {
    packFiles(
      archive,
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`manual-${version}/${path}`, text])),
    )
  }
  const files = { 'a.md': '# A\n\nAs ever.\n', 'docs/b.md': '# B\n\nSame too.\n', 'c.md': '# C\n\nOne.\n' }
  pack('1.0', files)
  const { library, source, crawl, readContent } = await createTreeFixture(pathToFileURL(archive).href)
  await crawl()
  const before = await readContent()
  pack('1.1', { ...files, 'c.md': '# C\n\nTwo.\n' })
  const { summary } = await crawl({ kind: 'recrawl' })
  expect(summary).toMatchObject({ end: 'completed', indexed: 1, unchanged: 2, removed: 0 })
  expectSamePages(before, await readContent(), 'c.md')
  // The page is cited at its current address, and found by its earlier one.
  const url = `${source.url}!/manual-1.1/docs/b.md`
  for (const address of [url, url.replace('1.1', '1.0'), 'docs/b.md']) {
    expect(await findPage(library, { url: address, source: source.name })).toMatchObject({ key: 'docs/b.md', url })
  }
  // None of the old files exists any more. New files are indexed nevertheless, because an archive that opens is not a missing disk.
  pack('2.0', { 'x.md': '# X\n\nAll of it is new.\n' })
  expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'gate', indexed: 1, withheld: 3 })
  const accepted = await crawl({ kind: 'recrawl', acceptLoss: true })
  expect(accepted.summary).toMatchObject({ end: 'completed', removed: 3 })
})

test('a file of an archive that can no longer be read keeps its page', async () => {
  const archive = packFiles(join(tempFolder, 'x.zip'), { 'a.md': '# A\n\nOne.\n', 'b.md': '# B\n\nTwo.\n' })
  const { crawl, readContent } = await createTreeFixture(pathToFileURL(archive).href)
  await crawl()
  const before = await readContent()
  const folder = createTempFolder()
  fs.writeFileSync(join(folder, 'b.md'), '# B\n\nThree.\n')
  run(folder, 'zip', '-q', '-P', 'secret', archive, 'b.md')
  const { summary } = await crawl({ kind: 'recrawl' })
  expect(summary).toMatchObject({ end: 'completed', unchanged: 1, failed: 1, removed: 0 })
  expectSamePages(before, await readContent())
})

test('an archive that becomes damaged loses no page', async () => {
  const archive = packFiles(join(tempFolder, 'tower.tar.gz'), FILES)
  const { crawl, readContent } = await createTreeFixture(pathToFileURL(archive).href)
  await crawl()
  const before = await readContent()
  fs.truncateSync(archive, 100)
  await expect(crawl({ kind: 'recrawl' })).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  fs.rmSync(archive)
  await expect(crawl({ kind: 'recrawl' })).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  expectSamePages(before, await readContent())
})

test('an archive on the web is downloaded, and read again only if it changed', async () => {
  const pack = (files: typeof FILES | typeof CHANGED) => {
    return {
      body: fs.readFileSync(packFiles(join(tempFolder, 'tower.tgz'), files)),
      headers: { 'content-type': 'application/gzip' },
    }
  }
  const site = await openSite({
    '/v1/tower.tgz': { status: 302, headers: { location: '/tower.tgz' } },
    '/tower.tgz': pack(FILES),
  })
  closeLater(() => site.close())
  const url = `${site.origin}/v1/tower.tgz`
  const { library, crawl, readContent } = await createTreeFixture(url, undefined, ['127.0.0.1'])
  expect((await crawl()).summary).toMatchObject({ end: 'completed', indexed: 5 })
  expect((await findPage(library, { url: `${url}!/tower/fog.md` })).title).toBe('Fog')
  const before = await readContent()
  const again = await crawl({ kind: 'recrawl' })
  expect(again.summary).toMatchObject({ unchanged: 5, bytes: 0 })
  site.pages.set('/tower.tgz', pack(CHANGED))
  expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ indexed: 2, unchanged: 3, removed: 1 })
  expectSamePages(before, await readContent(), 'tower/fog.md', 'tower/new.md', 'tower/old.md')
  const refused = await createTreeFixture(url)
  await expect(refused.crawl()).rejects.toMatchObject({ details: { problem: '127.0.0.1 is not a public address' } })
  expect(listLeftoverArchives()).toEqual([])
})

test('a package is indexed in its newest version, and the next version replaces it file by file', async () => {
  const registry = await openRegistry()
  const pack = (version: string, files: Readonly<Record<string, string>>) => {
    const packed = Object.fromEntries(Object.entries(files).map(([path, text]) => [`lamp-${version}/${path}`, text]))
    const archive = packFiles(join(tempFolder, `lamp-${version}.tar.gz`), packed)
    registry.publishPypi('lamp', version, { [`lamp-${version}.tar.gz`]: fs.readFileSync(archive) })
  }
  const files = {
    'README.md': '# Lamp\n\nLights the tower.\n\nSee [the guide](docs/guide.md).\n',
    'lamp.py': FILES['tower/lamp.py'],
    'docs/guide.md': '# Guide\n\nFill it.\n',
  }
  pack('1.0', files)
  const { library, source, crawl, readContent } = await createTreeFixture('pkg:pypi/lamp', registry.registries)
  expect((await crawl()).summary).toMatchObject({ end: 'completed', indexed: 3, problem: null })
  const [hit] = await searchHits(library.store, { query: 'ignite', limit: 1 })
  expect(hit).toMatchObject({ url: 'pkg:pypi/lamp!/lamp.py', chunk: { symbol: 'ignite' } })
  expect((await findPage(library, { url: `${source.url}!/docs/guide.md` })).title).toBe('Guide')
  const before = await readContent()
  pack('1.1', { ...files, 'docs/guide.md': '# Guide\n\nFill it every morning.\n' })
  expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'completed', indexed: 1, unchanged: 2 })
  expectSamePages(before, await readContent(), 'docs/guide.md')
})
