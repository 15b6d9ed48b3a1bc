import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeSourceLines } from '../../src/cli/text/status-text.ts'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import { openDownloads } from '../../src/fetch/download.ts'
import { customRegistryOrigins } from '../../src/ingest/registries.ts'
import type { TreeReaderOptions } from '../../src/ingest/tree-reader.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { versionOf } from '../../src/library/source.ts'
import { findVersion } from '../../src/library/sources/find-version.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { writeListed } from '../../src/mcp/source-list.ts'
import {
  createTempFolder,
  type Files,
  listLeftoverArchives,
  listTree,
  openReader,
  openTree,
  packFiles,
  run,
  writeFiles,
} from './archive-fixture.ts'
import { createTreeFixture, expectSamePages } from './library-fixture.ts'
import { openRegistry, type Registry } from './registry-fixture.ts'

let tempFolder = ''
let registry: Registry

beforeEach(async () => {
  tempFolder = createTempFolder()
  registry = await openRegistry()
})

/** Options with registries that the owner configured, at a private address that no other setting allows. */
function options(): Partial<TreeReaderOptions> {
  const { registries } = registry
  const origins = customRegistryOrigins(registries)
  return {
    registries,
    openDownloads: async () => openDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins }),
  }
}

const open = (address: string) => openTree(address, options())
const UNKNOWN = { version: null, stamp: null }

/** The tarball that npm makes of a package. */
function packNpm(name: string, files: Files): Buffer {
  const folder = createTempFolder()
  writeFiles(folder, { 'package.json': JSON.stringify({ name, version: '1.0.0' }), ...files })
  run(folder, 'npm', 'pack', '--ignore-scripts', '--offline', '--loglevel=error', '--pack-destination', tempFolder)
  const [file = ''] = fs.readdirSync(tempFolder)
  return fs.readFileSync(join(tempFolder, file))
}

function pack(name: string, files: Files): Buffer {
  return fs.readFileSync(packFiles(join(tempFolder, name), files))
}

describe('a package of npm', () => {
  const FILES = {
    'README.md': '# Lamp\n\nLights the tower.\n',
    'dist/index.d.ts': '/** Lights the lamp. */\nexport declare function ignite(oil: number): boolean\n',
    'dist/index.js': 'exports.ignite = () => true\n',
    'dist/index.min.js': 'exports.ignite=()=>!0',
    'test/lamp.d.ts': 'export {}\n',
  }

  test('contains prose and type declarations of its npm archive, in the newest or the named version', async () => {
    const tarball = packNpm('@tower/lamp', FILES)
    registry.publishNpm('@tower/lamp', '1.0.0', tarball)
    registry.publishNpm('@tower/lamp', '1.2.0', tarball)
    registry.publishNpm('@tower/lamp', '2.0.0-rc.1', tarball, ['next'])
    const tree = await open('pkg:npm/@tower/lamp')
    expect(tree).toMatchObject({ url: 'pkg:npm/%40tower/lamp', name: '@tower/lamp', version: '1.2.0' })
    expect(await listTree(tree)).toEqual({
      'README.md': 'file',
      'dist/index.d.ts': 'file',
      'dist/index.js': 'excluded neither documentation nor an interface',
      'dist/index.min.js': 'excluded minified or bundled code',
      'package.json': 'excluded neither documentation nor an interface',
      'test/': 'excluded tests',
    })
    const url = 'pkg:npm/%40tower/lamp!/dist/index.d.ts'
    const read = await tree.read({ path: 'dist/index.d.ts', part: null }, UNKNOWN)
    expect(read).toMatchObject({ record: { page: { url }, chunks: [{ symbol: 'ignite' }] } })
    const versions = { '%5E1.0.0': '1.2.0', next: '2.0.0-rc.1', '1.0.0': '1.0.0', '1.0': '1.0.0', latest: '1.2.0' }
    for (const [wanted, version] of Object.entries(versions)) {
      expect(await open(`pkg:npm/%40tower/lamp@${wanted}`)).toMatchObject({ version })
    }
    await expect(open('pkg:npm/%40tower/lamp@9')).rejects.toMatchObject({
      details: { problem: 'its registry has no version 9; the newest is 1.2.0' },
    })
    await expect(open('pkg:npm/nothing')).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
    expect(registry.requestedPaths).toContain('/npm/@tower%2flamp')
  })

  test('is described without downloading its archive', async () => {
    registry.publishNpm('lamp', '1.0.0', pack('1.tgz', { 'package/README.md': '# Lamp\n' }))
    const reader = openReader(options())
    expect(reader.addressOf('npm:lamp@^1')).toBe('pkg:npm/lamp@%5E1')
    expect(await reader.describe('pkg:npm/lamp@%5E1')).toEqual({
      url: 'pkg:npm/lamp@%5E1',
      name: 'lamp',
      version: '1.0.0',
      registry: registry.registries.npm.replace(/\/$/, ''),
      archive: expect.stringMatching(/^sha512-[0-9a-f]{128}$/),
    })
    expect(registry.requestedPaths).toEqual(['/npm/lamp'])
  })

  test('a file of the same archive is not read again; in another archive, an equal file is unchanged', async () => {
    const readme = { 'package/README.md': FILES['README.md'] }
    registry.publishNpm('lamp', '1.0.0', pack('1.tgz', readme))
    const tree = await open('pkg:npm/lamp')
    const read = await tree.read({ path: 'README.md', part: null }, UNKNOWN)
    if (read.type !== 'page') throw new Error(read.type)
    const { version, stamp } = read
    expect(await tree.read({ path: 'README.md', part: null }, { version, stamp })).toMatchObject({
      type: 'unchanged',
      bytes: 0,
    })
    registry.publishNpm('lamp', '1.1.0', pack('2.tgz', { ...readme, 'package/index.d.ts': 'export {}\n' }))
    const next = await open('pkg:npm/lamp')
    expect(await next.read({ path: 'README.md', part: null }, { version, stamp })).toMatchObject({
      type: 'unchanged',
      bytes: 26,
    })
  })

  test('is refused if its archive differs from the checksum of the registry, and leaves nothing behind', async () => {
    registry.publishNpm('lamp', '1.0.0', pack('1.tgz', { 'package/README.md': '# Lamp\n' }))
    registry.tamper('.tgz')
    await expect(open('pkg:npm/lamp')).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      details: { problem: 'its archive does not have the sha512 that the registry states' },
    })
    expect(listLeftoverArchives()).toEqual([])
  })
})

test('a package of PyPI consists of its source distribution with documentation, or of its wheel', async () => {
  const files = {
    'README.rst': 'Lamp\n====\n\nLights the tower.\n',
    'src/lamp/core.py': 'def ignite(oil):\n    """Lights the lamp."""\n    return True\n',
    'tests/test_core.py': 'def test(): pass\n',
    'setup.py': 'import setuptools\n',
  }
  const sources = Object.fromEntries(Object.entries(files).map(([path, text]) => [`lamp-1.0/${path}`, text]))
  const wheel = pack('lamp.zip', {
    'lamp/core.py': files['src/lamp/core.py'],
    'lamp-1.0.dist-info/METADATA': 'Name: lamp\n',
  })
  registry.publishPypi('lamp', '1.0', {
    'lamp-1.0-py3-none-any.whl': wheel,
    'lamp-1.0.tar.gz': pack('l.tar.gz', sources),
  })
  const tree = await open('pkg:pypi/lamp')
  expect(tree.version).toBe('1.0')
  expect(await listTree(tree)).toEqual({
    'README.rst': 'file',
    'src/lamp/core.py': 'file',
    'tests/': 'excluded tests',
    'setup.py': 'excluded not for readers',
  })
  const read = await tree.read({ path: 'src/lamp/core.py', part: null }, UNKNOWN)
  expect(read).toMatchObject({ record: { chunks: [{ symbol: 'ignite' }] } })

  registry.publishPypi('only-wheel', '2.0', { 'only_wheel-2.0-py3-none-any.whl': wheel })
  expect(await listTree(await open('pkg:pypi/only-wheel@2.0'))).toMatchObject({ 'lamp/core.py': 'file' })
  await expect(open('pkg:pypi/lamp@3.0')).rejects.toMatchObject({
    details: { problem: 'its registry has no version 3.0' },
  })
  registry.tamper('.tar.gz')
  await expect(open('pkg:pypi/lamp')).rejects.toMatchObject({
    details: { problem: 'its archive does not have the sha256 that the registry states' },
  })
})

test('a crate consists of its prose and sources, from the address in the index', async () => {
  const crate = (version: string) => {
    const folder = `lamp-rs-${version}`
    const files = {
      'README.md': '# Lamp\n',
      'src/lib.rs': '/// Lights it.\npub fn ignite() {}\n',
      'Cargo.toml': '',
      'benches/b.rs': '',
    }
    return pack(
      `${version}.tar.gz`,
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text])),
    )
  }
  registry.publishCrate('lamp-rs', '0.9.0', crate('0.9.0'))
  registry.publishCrate('lamp-rs', '0.10.0', crate('0.10.0'))
  registry.publishCrate('lamp-rs', '0.11.0', crate('0.11.0'), true)
  registry.publishCrate('lamp-rs', '1.0.0-beta.1', crate('1.0.0-beta.1'))
  const tree = await open('pkg:cargo/lamp-rs')
  expect(tree.version).toBe('0.10.0')
  expect(await listTree(tree)).toEqual({
    'README.md': 'file',
    'src/lib.rs': 'file',
    'Cargo.toml': 'excluded neither documentation nor an interface',
    'benches/': 'excluded benchmarks',
  })
  expect(registry.requestedPaths.slice(-4)).toEqual([
    '/index/config.json',
    '/index/la/mp/lamp-rs',
    '/api/v1/crates/lamp-rs/0.10.0/download',
    '/static/lamp-rs-0.10.0.crate',
  ])
  // A yanked version resolves only when it is pinned exactly.
  expect(await open('pkg:cargo/lamp-rs@0.11.0')).toMatchObject({ version: '0.11.0' })
  await expect(open('pkg:cargo/lamp-rs@7.0.0')).rejects.toMatchObject({
    details: { problem: 'its registry has no version 7.0.0; the newest is 0.10.0' },
  })
})

test('a Maven artifact consists of its sources, or of its Javadoc if there are none', async () => {
  const sources = pack('s.zip', {
    'org/tower/Lamp.java': '/** A lamp. */\npublic class Lamp {}\n',
    'META-INF/MANIFEST.MF': 'x',
  })
  const javadoc = pack('d.zip', {
    'org/tower/Lamp.html': '<main><h1>Class Lamp</h1><p>A lamp that lights the tower at dusk, every day.</p></main>',
    'index-all.html': '<p>all</p>',
  })
  registry.publishMaven('org.tower', 'lamp', '1.0', { sources, javadoc })
  registry.publishMaven('org.tower', 'lamp', '1.1', { javadoc })
  const tree = await open('pkg:maven/org.tower/lamp@1.0')
  expect(tree).toMatchObject({ name: 'org.tower:lamp', version: '1.0', url: 'pkg:maven/org.tower/lamp@1.0' })
  expect(await listTree(tree)).toEqual({ 'org/tower/Lamp.java': 'file', 'META-INF/': 'excluded not for readers' })
  const newest = await open('pkg:maven/org.tower/lamp')
  expect(newest.version).toBe('1.1')
  expect(await listTree(newest)).toEqual({ 'org/tower/Lamp.html': 'file', 'index-all.html': 'excluded lists of links' })
  expect(await newest.read({ path: 'org/tower/Lamp.html', part: null }, UNKNOWN)).toMatchObject({ type: 'page' })
  await expect(open('pkg:maven/org.tower/lamp@2.0')).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  registry.tamper('-sources.jar')
  await expect(open('pkg:maven/org.tower/lamp@1.0')).rejects.toMatchObject({
    details: { problem: 'its archive does not have the sha1 that the registry states' },
  })
})

test('the version that was read is reported for a package without a fixed version', async () => {
  registry.publishNpm('lamp', '1.0.0', packNpm('lamp', { 'README.md': '# Lamp\n' }))
  const { library, source, crawl } = await createTreeFixture('pkg:npm/lamp', registry.registries)
  await crawl()
  const [read = source] = await library.store.listSources()
  expect([read.version, versionOf(read)]).toEqual([null, '1.0.0'])
  const report = await reportSource(library, read)
  expect(writeSourceLines([report], 0)).toEqual([expect.stringContaining('1.0.0 read, ')])
  expect(writeListed({ ...report, types: { prose: 0, code: 0 } })).toContain(' (1.0.0 read) — ')
  // When the newest version is requested, this source counts as 1.0.0, the version that was read.
  await addSource(library, { url: 'pkg:npm/lamp@0.9.0', name: read.name, version: '0.9.0' })
  expect(await findVersion(library, { name: read.name })).toMatchObject({
    best: { version: '1.0.0' },
    hasUnversioned: false,
  })
  const other = prepareSource(library, { url: 'pkg:npm/lamp@%5E1', name: read.name })
  await expect(other).rejects.toThrow(`there is already a source ${read.name}, which is pkg:npm/lamp`)
})

test('the error for a missing package names the registry', async () => {
  for (const [address, title] of [
    ['pkg:npm/%40tower/nothing', '@tower/nothing'],
    ['pkg:pypi/nothing', 'nothing'],
    ['pkg:cargo/nothing', 'nothing'],
    ['pkg:maven/org.tower/nothing', 'org.tower:nothing'],
  ] as const) {
    await expect(open(address)).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
      entry: { advice: expect.stringMatching(new RegExp(`^127[.\\d:]+ has no package ${title};`)) },
    })
  }
})

test('an unconfigured registry at a private address is not contacted', async () => {
  registry.publishNpm('lamp', '1.0.0', pack('lamp.tgz', { 'package/README.md': '# Lamp\n' }))
  const openNone = async () => openDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins: [] })
  const opened = openTree('pkg:npm/lamp', { registries: registry.registries, openDownloads: openNone })
  await expect(opened).rejects.toMatchObject({ details: { problem: '127.0.0.1 is not a public address' } })
  expect(registry.requestedPaths).toEqual([])
  // The advice suggests allowing the host name if its address is private, and the IP address if it is non-public for another reason.
  for (const [address, rule] of [
    ['10.0.0.7', 'lamps.example'],
    ['203.0.113.7', '203.0.113.7'],
  ] as const) {
    const resolve = async () => [address]
    const openFar = async () =>
      openDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins: [], resolve })
    const registries = { ...registry.registries, npm: 'https://lamps.example/' }
    await expect(openTree('pkg:npm/lamp', { registries, openDownloads: openFar })).rejects.toMatchObject({
      message: 'pkg:npm/lamp cannot be used: lamps.example leads to an address that is not public',
      entry: { advice: expect.stringMatching(new RegExp(`it is at ${address}.*--allow-private=${rule},`)) },
    })
  }
})

test('a version that was read is not downloaded again, except in a full recrawl', async () => {
  const readme = '# Lamp\n\nSee [the guide](docs/guide.md).\n'
  registry.publishNpm('lamp', '1.0.0', packNpm('lamp', { 'README.md': readme, 'test/a.d.ts': 'export {}\n' }))
  const { library, crawl, readContent } = await createTreeFixture('pkg:npm/lamp', registry.registries)
  expect((await crawl()).summary).toMatchObject({ end: 'completed', indexed: 1 })
  const before = await readContent()
  const countDownloads = () => registry.requestedPaths.filter((path) => path.endsWith('.tgz')).length
  expect(countDownloads()).toBe(1)
  for (const kind of ['recrawl', 'refresh'] as const) {
    expect((await crawl({ kind })).summary).toMatchObject({ end: 'completed', unchanged: 1, removed: 0, bytes: 0 })
  }
  expect(countDownloads()).toBe(1)
  expectSamePages(before, await readContent())
  // The page shows its relative links as addresses of files in the package. The stored text keeps them relative.
  const page = await findPage(library, { url: 'README.md' })
  expect(page.markdown).toContain('[the guide](pkg:npm/lamp!/docs/guide.md)')
  expect((await library.store.readPageText(page.sourceId, page.key))?.markdown).toBe(readme)

  expect((await crawl({ kind: 'recrawl', full: true })).summary).toMatchObject({ end: 'completed', indexed: 1 })
  registry.publishNpm('lamp', '1.1.0', packNpm('lamp', { 'README.md': '# Lamp\n\nAll new.\n' }))
  expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'completed', indexed: 1 })
  expect(countDownloads()).toBe(3)
})

describe('the digests of a lock file', () => {
  const hashOf = (algorithm: string, bytes: Uint8Array) => {
    return `${algorithm}-${createHash(algorithm).update(bytes).digest('hex')}`
  }
  const openLocked = (address: string, ...hashes: readonly string[]) => openTree(address, options(), { hashes })
  const other = Buffer.from('another archive')

  test('must have that of an npm archive, also by another algorithm than that of the registry', async () => {
    const tarball = pack('lamp.tgz', { 'package/README.md': '# Lamp\n' })
    registry.publishNpm('lamp', '1.0.0', tarball)
    for (const algorithm of ['sha512', 'sha256', 'sha1']) {
      const tree = await openLocked('pkg:npm/lamp@1.0.0', hashOf(algorithm, other), hashOf(algorithm, tarball))
      expect(await listTree(tree)).toEqual({ 'README.md': 'file' })
      await expect(openLocked('pkg:npm/lamp@1.0.0', hashOf(algorithm, other))).rejects.toMatchObject({
        code: 'SOURCE_UNREADABLE',
        details: { problem: `its archive does not have the ${algorithm} that the lock file states` },
      })
    }
  })

  test('choose the archive of a package of PyPI, and refuse all others', async () => {
    const sdist = pack('lamp.tar.gz', { 'lamp-1.0/README.md': '# Lamp\n' })
    const wheel = pack('lamp.whl.zip', { 'lamp/__init__.py': 'def light(): pass\n' })
    registry.publishPypi('lamp', '1.0', { 'lamp-1.0.tar.gz': sdist, 'lamp-1.0-py3-none-any.whl': wheel })
    const simple = { ...options(), registries: { ...registry.registries, pypi: `simple+${registry.simpleIndex}` } }
    for (const found of [options(), simple]) {
      const openFound = (hash: string) => openTree('pkg:pypi/lamp@1.0', found, { hashes: [hash] })
      expect(await listTree(await openFound(hashOf('sha256', sdist)))).toEqual({ 'README.md': 'file' })
      expect(await listTree(await openFound(hashOf('sha256', wheel)))).toEqual({ 'lamp/__init__.py': 'file' })
      await expect(openFound(hashOf('sha256', other))).rejects.toThrow('the sha256 that the lock file states')
    }
  })

  test('must have that of a crate', async () => {
    const crate = pack('lamp.crate.tgz', { 'lamp-1.0.0/README.md': '# Lamp\n' })
    registry.publishCrate('lamp', '1.0.0', crate)
    expect(await openLocked('pkg:cargo/lamp@1.0.0', hashOf('sha256', crate))).toMatchObject({ version: '1.0.0' })
    const refused = openLocked('pkg:cargo/lamp@1.0.0', hashOf('sha256', other))
    await expect(refused).rejects.toThrow('the sha256 that the lock file states')
  })
})
