import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseTreeUrl } from '../../src/core/url/parse-tree-url.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { prepareStart } from '../../src/library/crawl/prepare-start.ts'
import { parseCrawlRequest } from '../../src/library/jobs/crawl-request.ts'
import type { Library } from '../../src/library/library.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { treeSettings } from '../../src/library/source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { openTestLibrary, runCrawl } from '../sites/crawl.ts'
import { createTempFolder, packFiles } from './archive-fixture.ts'
import { createRepository } from './git-fixture.ts'

/** A library that describes packages without contacting a registry. */
async function openLibraryWithPackages(version: string): Promise<Library> {
  const library = await openTestLibrary()
  const { trees } = library
  if (trees === undefined) throw new Error('this library reads no trees')
  const describe: typeof trees.describe = async (address, options) => {
    const isPackage = address.startsWith('pkg:')
    return isPackage ? { url: address, name: '@towers/lamp', version } : trees.describe(address, options)
  }
  return { ...library, trees: { ...trees, describe } }
}

/** Settings of a tree. */
interface TreeSettings {
  readonly ref?: string
  readonly path?: string
}

test.each<[string, TreeSettings, object]>([
  ['git@github.com:o/lamp.git', {}, { url: 'git+ssh://git@github.com/o/lamp.git', name: 'lamp', version: null }],
  ['https://github.com/o/lamp.git', { ref: 'v2.1' }, { name: 'lamp', version: 'v2.1' }],
  ['https://github.com/o/lamp.git', { ref: 'main', path: 'docs' }, { name: 'lamp', version: null }],
  ['https://example.com/v1/manual.tar.gz', {}, { url: 'https://example.com/v1/manual.tar.gz', name: 'manual.tar.gz' }],
  ['npm:@towers/lamp@1.2.0', {}, { url: 'pkg:npm/%40towers/lamp@1.2.0', name: 'towers/lamp', version: '1.2.0' }],
  // The newest version changes over time, so the source has no fixed version.
  ['npm:@towers/lamp', {}, { url: 'pkg:npm/%40towers/lamp', name: 'towers/lamp', version: null }],
  ['npm:@towers/lamp@^1', {}, { url: 'pkg:npm/%40towers/lamp@%5E1', version: null }],
])('every client can add %s, and the source is named after it', async (url, { ref = null, path = null }, expected) => {
  const library = await openLibraryWithPackages('1.2.0')
  const settings = { tree: { ref, path }, crawlType: 'history', render: 'chromium', seeds: ['x'] } as const
  const { source, found, options } = await prepareSource(library, { url, settings })
  expect({ ...source, found, options }).toMatchObject({ ...expected, found: 'new', options: {} })
  // Settings about crawling sites do not apply to files.
  expect(source.settings).toMatchObject({ tree: { ref, path }, crawlType: 'docs', render: 'http', seeds: [] })
  await expect(prepareSource(library, { url, settings })).resolves.toMatchObject({ source, found: 'interrupted' })
})

test.each<[string, TreeSettings, object]>([
  [
    'https://github.com/o/lamp',
    {},
    { url: 'git+https://github.com/o/lamp.git', settings: { tree: { ref: null, path: null } } },
  ],
  ['o/lamp', {}, { url: 'git+https://github.com/o/lamp.git', name: 'lamp' }],
  ['github.com/o/lamp/tree/main/docs', {}, { settings: { tree: { ref: 'main', path: 'docs' } } }],
  [
    'github.com/o/lamp/tree/main/docs',
    { ref: 'v2.1' },
    { version: 'v2.1', settings: { tree: { ref: 'v2.1', path: 'docs' } } },
  ],
  ['https://www.npmjs.com/package/@towers/lamp/v/1.2.0', {}, { url: 'pkg:npm/%40towers/lamp@1.2.0', version: '1.2.0' }],
])('the page %s means the repository or package, for every client', async (url, tree, expected) => {
  const library = await openLibraryWithPackages('1.2.0')
  const { source } = await prepareSource(library, { url, settings: treeSettings(tree) })
  expect(source).toMatchObject(expected)
  if (tree.ref !== undefined) return
  const { source: started } = await prepareStart(await openLibraryWithPackages('1.2.0'), { url, scope: {} })
  expect(started).toMatchObject(expected)
})

test('pages of a code host are crawled only if that is asked for', async () => {
  const library = await openTestLibrary()
  for (const url of ['https://github.com/o', 'github.com/o/lamp/wiki', 'https://gitlab.com/explore']) {
    await expect(prepareSource(library, { url })).rejects.toMatchObject({ code: 'URL_INVALID' })
    await expect(prepareStart(library, { url, scope: {} })).rejects.toThrow('names no repository')
  }
  expect(await library.store.listSources()).toEqual([])
  const { source } = await prepareSource(library, { url: 'https://github.com/o/lamp/wiki', as: 'site' })
  expect(source.url).toBe('https://github.com/o/lamp/wiki')
  // A source that starts at such a page keeps it.
  const known = await prepareStart(library, { url: 'https://github.com/o/lamp/wiki', scope: {} })
  expect(known).toMatchObject({ source: { id: source.id }, input: { kind: 'recrawl' } })
})

test('only the owner can add a tree of this machine', async () => {
  const library = await openTestLibrary()
  const { url } = createRepository({ 'a.md': 'a' })
  const archive = packFiles(join(createTempFolder(), 'lamp.zip'), { 'a.md': 'a' })
  for (const address of [url, `file://${archive}`, archive]) {
    await expect(prepareSource(library, { url: address })).rejects.toMatchObject({ code: 'URL_INVALID' })
    await expect(prepareStart(library, { url: address, scope: {} })).rejects.toMatchObject({ code: 'URL_INVALID' })
    expect(() => parseCrawlRequest({ startUrl: address }, { libraryPath: 'x' })).toThrow('cannot be crawled')
  }
  expect(await library.store.listSources()).toEqual([])
  const { source } = await prepareSource(library, { url: `file://${archive}`, isOwnFolder: true })
  expect(source).toMatchObject({ name: 'lamp.zip', url: `file://${archive}` })
})

test.each<[string, TreeSettings, string]>([
  ['git+https://s3cret@github.com/o/lamp', {}, 'URL_INVALID'],
  ['https://me:s3cret@example.com/manual.zip', {}, 'URL_INVALID'],
  ['ssh://git:s3cret@example.com/lamp', {}, 'URL_INVALID'],
  ['https://example.com/manual.zip', { ref: 'main' }, 'USAGE'],
  ['https://example.com/docs/', { ref: 'main' }, 'USAGE'],
  ['https://example.com/docs/', { path: 'docs' }, 'USAGE'],
  ['https://github.com/o/lamp.git', { ref: '--upload-pack=x' }, 'USAGE'],
  ['https://github.com/o/lamp.git', { path: 'docs/../docs' }, 'USAGE'],
  ['https://github.com/o/lamp.git', { path: 'a\0b' }, 'USAGE'],
  ['https://example.com/manual.zip', { path: 'docs\\guide' }, 'USAGE'],
  ['https://example.com/manual.zip?X-Amz-Signature=s3cret', {}, 'URL_INVALID'],
  ['https://example.com/manual.zip?private_token=s3cret', {}, 'URL_INVALID'],
  ['pypi:two words', {}, 'URL_INVALID'],
])(
  '%s with the settings %j is refused, and the error repeats no password',
  async (url, { ref = null, path = null }, code) => {
    const library = await openTestLibrary()
    const refused = await prepareSource(library, { url, settings: { tree: { ref, path } } }).catch(
      (error: Error) => error,
    )
    expect(refused).toMatchObject({ code })
    expect(JSON.stringify(refused) + String(refused)).not.toContain('s3cret')
    expect(await library.store.listSources()).toEqual([])
  },
)

test('a wrong tree setting can be corrected', async () => {
  const library = await openTestLibrary()
  const repository = createRepository({ 'docs/a.md': '# A\n\na\n' })
  const prepare = (ref: string, path: string | null = null) => {
    return prepareSource(library, { url: repository.url, isOwnFolder: true, settings: { tree: { ref, path } } })
  }
  await expect(prepare('mian')).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  const settings = { tree: { ref: 'mian', path: null } }
  // Adds the source without a check, like a remote repository, which is only read when it is crawled.
  const first = await addSource(library, { url: repository.url, isOwnFolder: true, settings })
  expect((await prepare('main')).source).toMatchObject({ settings: { tree: { ref: 'main' } } })
  expect(await library.store.listSources()).toHaveLength(1)
  await library.store.removeSource((await library.store.listSources())[0]?.id ?? '')
  await library.store.addSource(first)
  await expect(runCrawl(library, first, { kind: 'add' }, '')).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  expect(await reportSource(library, first)).toMatchObject({ status: 'ERROR' })
  const second = await prepare('main', 'docs')
  expect(second).toMatchObject({ found: 'failed', source: { settings: { tree: { ref: 'main', path: 'docs' } } } })
  expect((await runCrawl(library, second.source, { kind: 'add' }, '')).summary).toMatchObject({ indexed: 1 })
})

test('an interrupted repository does not resume for a page of another folder', async () => {
  const library = await openTestLibrary()
  const page = (folder: string) => ({ url: `https://github.com/o/lamp/tree/main/${folder}` })
  const { source, meaning } = await prepareSource(library, page('docs'))
  expect(meaning).toBe('repository github.com/o/lamp, folder docs, at main')
  const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
  const times = { startedAt: 1, heartbeatAt: 1, endedAt: null }
  const id = '0b7c9d5e-0000-4000-8000-000000000001'
  const crawl: Crawl = {
    id,
    sourceId: source.id,
    kind: 'add',
    state: 'running',
    options,
    runner: null,
    ...times,
    summary: null,
  }
  await library.store.beginCrawl(crawl, 60_000)
  await expect(prepareSource(library, page('guide'))).rejects.toMatchObject({
    code: 'SOURCE_EXISTS',
    message: 'there is already a source lamp, which is not read completely yet and has folder docs at main',
  })
  expect(await prepareSource(library, page('docs'))).toMatchObject({ found: 'interrupted', source: { id: source.id } })
  expect(await prepareSource(library, { url: 'o/lamp' })).toMatchObject({ found: 'interrupted' })
})

test('a start that is a tree stays one source when it is added again, and all of its folders are read', async () => {
  const library = await openTestLibrary()
  const url = 'https://example.com/v1/manual.tar.gz'
  const first = await prepareStart(library, { url: `${url}#x`, scope: { maxPages: 9 }, crawlType: 'basic' })
  expect(first.source).toMatchObject({ url, scope: { maxDepth: null, maxPages: null } })
  expect(first.input).toEqual({ kind: 'add', scope: { maxPages: 9 } })
  const again = await prepareStart(library, { url, scope: {}, render: 'chromium', crawlType: 'intelligent' })
  expect(again).toEqual({ source: first.source, input: { kind: 'recrawl', scope: {} } })
  for (const startUrl of [url, 'npm:lamp', 'git@github.com:o/lamp.git']) {
    expect(parseCrawlRequest({ startUrl }, { libraryPath: 'x' })).toMatchObject({ url: parseTreeUrl(startUrl) })
  }
  const shorthand = { 'o/lamp': 'git+https://github.com/o/lamp.git', 'npm install lamp': 'pkg:npm/lamp' }
  for (const [startUrl, expected] of Object.entries(shorthand)) {
    expect(parseCrawlRequest({ startUrl }, { libraryPath: 'x' })).toMatchObject({ url: expected })
  }
})
