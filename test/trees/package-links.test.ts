import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { PUBLIC_REGISTRIES } from '../../src/core/url/package-url.ts'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import { openDownloads } from '../../src/fetch/download.ts'
import { customRegistryOrigins } from '../../src/ingest/registries.ts'
import type { TreeReaderOptions } from '../../src/ingest/tree-reader.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { writeCitation } from '../../src/library/search/display-text.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { findSource } from '../../src/library/sources/find-source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { runCrawl } from '../sites/crawl.ts'
import { createTempFolder, type Files, openTree, packFiles } from './archive-fixture.ts'
import { createTreeFixture } from './library-fixture.ts'
import { openRegistry, type Registry } from './registry-fixture.ts'

/* Tests what packages name besides their files: their documentation, and the web page of their version. */

let registry: Registry

beforeEach(async () => {
  registry = await openRegistry()
})

function pack(name: string, files: Files): Buffer {
  return fs.readFileSync(packFiles(join(createTempFolder(), name), files))
}

/** Options to read packages from the fixture; as public packages, their downloads are redirected to it. */
function options(isPublic = false): Partial<TreeReaderOptions> {
  const { registries } = registry
  const open = async () =>
    openDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins: customRegistryOrigins(registries) })
  if (!isPublic) return { registries, openDownloads: open }
  return {
    registries: PUBLIC_REGISTRIES,
    openDownloads: async () => {
      const opened = await open()
      return {
        ...opened,
        registry: (request) =>
          opened.registry({ ...request, url: request.url.replace(PUBLIC_REGISTRIES.npm, registries.npm) }),
      }
    },
  }
}

const NPM = (homepage: string): Files => ({
  'package/README.md': '# Lamp\n\nLights the tower at dusk.\n',
  'package/package.json': JSON.stringify({ name: 'lamp', version: '1.0.0', homepage }),
})

test('a package names its documentation, whatever its registry', async () => {
  registry.publishNpm('lamp', '1.0.0', pack('1.tgz', NPM('https://lamp.example/#readme')))
  expect(await openTree('pkg:npm/lamp', options())).toMatchObject({ documentation: ['https://lamp.example/'] })

  const sdist = { 'lamp-1.0.tar.gz': pack('lamp-1.0.tar.gz', { 'lamp-1.0/README.md': '# Lamp\n' }) }
  const links = {
    Homepage: 'https://lamp.example/',
    Documentation: 'https://lamp.example/docs/',
    Issues: 'https://x.example/',
  }
  registry.publishPypi('lamp', '1.0', sdist, { project_urls: links, home_page: '' })
  expect(await openTree('pkg:pypi/lamp', options())).toMatchObject({
    documentation: ['https://lamp.example/docs/', 'https://lamp.example/'],
  })

  const manifest =
    '[package]\nname = "lamp-rs"\nhomepage = "https://lamp.example/"\ndocumentation = "https://docs.rs/lamp-rs"\n'
  const crate = pack('1.tar.gz', { 'lamp-rs-1.0.0/README.md': '# Lamp\n', 'lamp-rs-1.0.0/Cargo.toml': manifest })
  registry.publishCrate('lamp-rs', '1.0.0', crate)
  expect(await openTree('pkg:cargo/lamp-rs', options())).toMatchObject({ documentation: ['https://lamp.example/'] })

  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><!-- <url>https://no.example/</url> -->
    <licenses><license><url>https://licence.example/</url></license></licenses><packaging/>
    <url>https://lamp.example/java/</url></project>`
  const sources = pack('s.zip', { 'org/tower/Lamp.java': '/** A lamp. */\npublic class Lamp {}\n' })
  registry.publishMaven('org.tower', 'lamp', '1.0', { sources }, pom)
  expect(await openTree('pkg:maven/org.tower/lamp', options())).toMatchObject({
    documentation: ['https://lamp.example/java/'],
  })
})

test('a package with broken metadata is read without links', async () => {
  const files = { ...NPM(''), 'package/package.json': '{' }
  registry.publishNpm('lamp', '1.0.0', pack('1.tgz', files))
  expect(await openTree('pkg:npm/lamp', options())).toMatchObject({ documentation: [] })
})

test('only a package from the public registry has a web page', async () => {
  registry.publishNpm('lamp', '1.0.0', pack('1.tgz', NPM('')))
  expect(await openTree('pkg:npm/lamp', options())).not.toHaveProperty('packagePage')
  expect(await openTree('pkg:npm/lamp', options(true))).toMatchObject({
    packagePage: 'https://www.npmjs.com/package/lamp/v/1.0.0',
  })
})

test('the documentation of a package with one short page is offered until it is added', async () => {
  registry.publishNpm('lamp', '1.0.0', pack('1.tgz', NPM('https://lamp.example/')))
  const { library, source, crawl } = await createTreeFixture('pkg:npm/lamp', registry.registries)
  expect((await reportSource(library, source)).documentation).toEqual([])
  await crawl()
  const report = async () => reportSource(library, await findSource(library, source.id))
  expect((await report()).documentation).toEqual(['https://lamp.example/'])
  // An unchanged package is not downloaded again, and keeps what is known about it.
  await runCrawl(library, await findSource(library, source.id), { kind: 'recrawl' }, '')
  expect((await report()).documentation).toEqual(['https://lamp.example/'])
  await addSource(library, { url: 'https://lamp.example' })
  expect((await report()).documentation).toEqual([])
})

test('a package with more text offers nothing', async () => {
  const guide = { 'package/docs/guide.md': '# Guide\n\nFill the lamp with oil.\n' }
  registry.publishNpm('lamp', '1.0.0', pack('1.tgz', { ...NPM('https://lamp.example/'), ...guide }))
  const { library, source, crawl } = await createTreeFixture('pkg:npm/lamp', registry.registries)
  await crawl()
  expect((await reportSource(library, await findSource(library, source.id))).documentation).toEqual([])
})

test('a citation names the version that was read, and the page of a public package', async () => {
  registry.publishNpm('lamp', '1.2.0', pack('1.tgz', NPM('')))
  const { library, source, crawl } = await createTreeFixture('pkg:npm/lamp', registry.registries)
  await crawl()
  const cite = async () => {
    const [passage] = (await searchLibrary(library, { query: 'what lights the tower' })).passages
    if (passage === undefined) throw new Error('nothing found')
    const { version, packagePage } = passage
    return { version, packagePage, text: writeCitation(passage) }
  }
  expect(await cite()).toEqual({
    version: '1.2.0',
    packagePage: undefined,
    text: expect.stringMatching(
      /^"Lamp" — pkg:npm\/lamp!\/README\.md#lamp \(chunk lamp\/\w+, lines 1-3\) — version 1\.2\.0$/,
    ),
  })
  const { settings } = await findSource(library, source.id)
  const packagePage = 'https://www.npmjs.com/package/lamp/v/1.2.0'
  await library.store.updateSource(source.id, { settings: { ...settings, packagePage } })
  expect(await cite()).toMatchObject({ packagePage, text: expect.stringContaining(` — version 1.2.0, ${packagePage}`) })
})
