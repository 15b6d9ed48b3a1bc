import * as fs from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import {
  docx,
  docxParagraph,
  epub,
  odt,
  pdf,
  pdfLines,
  pdfPages,
  pptx,
  pptxParagraph,
  pptxShape,
  pptxSlide,
  xlsx,
} from '../documents/written.ts'
import { createTempFolder, type Files, packFiles, writeFiles } from './archive-fixture.ts'
import { createRepository } from './git-fixture.ts'
import { createTreeFixture, expectSamePages, type TreeFixture } from './library-fixture.ts'
import { openRegistry, type Registry } from './registry-fixture.ts'

/*
 * Recrawls after a single change: only the changed page is split again. Archives are tested in archive.test.ts, repositories in
 * repository.test.ts and folders in test/sites/folder.test.ts. This file tests packages of every registry, documents of every format, and
 * documents with several pages.
 */

let tempFolder = ''

beforeEach(() => {
  tempFolder = createTempFolder()
})

/** Changes a tree, recrawls it, and expects that only the pages at `paths` are split again. */
async function expectChanged(
  { crawl, readContent }: TreeFixture,
  paths: readonly string[],
  change: () => void,
): Promise<void> {
  const before = await readContent()
  change()
  const { end, indexed, unchanged, removed } = (await crawl({ kind: 'recrawl' })).summary
  const after = await readContent()
  const changed = [...after.rows.values()].filter(({ key, changedAt }) => changedAt !== before.rows.get(key)?.changedAt)
  expect(changed.map(({ key }) => key)).toEqual(paths.toSorted(compareUtf8))
  expect({ end, indexed, unchanged, removed }).toEqual({
    end: 'completed',
    indexed: paths.length,
    unchanged: before.pages.size - paths.length,
    removed: 0,
  })
  expectSamePages(before, after, ...paths)
  for (const path of paths) expect(after.pages.get(path)?.markdown, path).toContain('dawn')
}

/** Documents of every format with a given word. */
const DOCUMENTS: Readonly<Record<string, (word: string) => string | Uint8Array>> = {
  'lamp.md': (word) => `# Lamp\n\nLit at ${word}.\n`,
  'lamp.html': (word) => `<title>Lamp</title><main><h1>Lamp</h1><p>It is lit at ${word} by the keeper.</p></main>`,
  'lamp.txt': (word) => `Lit at ${word}.\n`,
  'lamp.py': (word) => `def light():\n    return '${word}'\n`,
  'lamp.pdf': (word) => pdf(pdfPages(pdfLines(`Lit at ${word}.`))),
  'lamp.docx': (word) => docx(docxParagraph(`Lit at ${word}.`)),
  'lamp.pptx': (word) => pptx(pptxSlide(pptxShape('', pptxParagraph(`Lit at ${word}.`)))),
  'lamp.xlsx': (word) => xlsx(`<sheetData><row r="1"><c r="A1" t="str"><v>${word}</v></c></row></sheetData>`),
  'lamp.odt': (word) => odt(`<text:p>Lit at ${word}.</text:p>`),
  'lamp.rtf': (word) => `{\\rtf1 Lit at ${word}.\\par}`,
  'lamp.ipynb': (word) => JSON.stringify({ cells: [{ cell_type: 'markdown', source: `Lit at ${word}.` }] }),
  'lamp.rst': (word) => `Lamp\n====\n\nLit at ${word}.\n`,
  'lamp.adoc': (word) => `= Lamp\n\nLit at ${word}.\n`,
  'lamp.org': (word) => `* Lamp\n\nLit at ${word}.\n`,
  'lamp.mdx': (word) => `export const x = 1\n\n# Lamp\n\nLit at ${word}.\n`,
  'lamp.csv': (word) => `what,when\nlamp,${word}\n`,
  'man1/lamp.1': (word) => `.TH LAMP 1\n.SH NAME\nlamp \\- is lit at ${word}\n`,
}

/** Files with several pages, the first or second of which contains the word. */
const MULTI_PAGE_FILES: Readonly<Record<string, (word: string) => string | Uint8Array>> = {
  'book.epub': (word) => epub({ 'a.xhtml': `<p>Lit at ${word}.</p>`, 'b.xhtml': '<p>Out at noon.</p>' }),
  'api.json': (word) => JSON.stringify(describeApi(word)),
  'api.yaml': (word) =>
    `openapi: 3.0.0\ninfo: {title: More lamps, version: '1'}\npaths:\n  /lamps:\n    get: {description: 'Lit at ${word}', responses: {}}\n    post: {summary: Adds another, responses: {}}\n`,
}

const CHANGED_PARTS = ['book.epub#a.xhtml', 'api.json#get-lamps', 'api.yaml#get-lamps']

function describeApi(word: string): unknown {
  const get = { description: `Lit at ${word}`, responses: {} }
  const paths = {
    '/lamps': { get, post: { summary: 'Adds one', responses: {} } },
    '/keepers': { get: { responses: {} } },
  }
  return { openapi: '3.0.0', info: { title: 'Lamps', version: '1' }, paths }
}

const ALL = { ...DOCUMENTS, ...MULTI_PAGE_FILES }

/** The content of a file. No two files have the same content, because only one of them would be kept. */
function writeFile(path: string, word: string): string | Uint8Array {
  return ALL[path]?.(`${word} in ${path}`) ?? ''
}

function filesOf(paths: readonly string[], word: string): Files {
  return Object.fromEntries(paths.map((path) => [path, writeFile(path, word)]))
}

const PAGES = [...Object.keys(DOCUMENTS), ...CHANGED_PARTS]

function fileOf(page: string): string {
  return page.replace(/#.*$/, '')
}

describe('documents of every format', () => {
  const changedPages = ['lamp.docx', ...CHANGED_PARTS]
  const first = filesOf(['lamp.md', 'lamp.odt', 'lamp.rst', ...changedPages.map(fileOf)], 'dusk')
  const second = { ...first, ...filesOf(changedPages.map(fileOf), 'dawn') }

  test('are split again in a folder only if they changed', async () => {
    writeFiles(tempFolder, filesOf(Object.keys(ALL), 'dusk'))
    const fixture = await createTreeFixture(pathToFileURL(tempFolder).href)
    expect((await fixture.crawl()).summary).toMatchObject({ end: 'completed', failed: 0 })
    // First every other page, then the remaining ones.
    for (const half of [0, 1]) {
      const pages = PAGES.filter((_, i) => i % 2 === half)
      await expectChanged(fixture, pages, () => writeFiles(tempFolder, filesOf(pages.map(fileOf), 'dawn')))
    }
  })

  test.each(['zip', 'tar.gz', 'tar.zst'])('are split again in an archive only if they changed: %s', async (kind) => {
    const archive = packFiles(join(tempFolder, `all.${kind}`), first)
    const fixture = await createTreeFixture(pathToFileURL(archive).href)
    await fixture.crawl()
    await expectChanged(fixture, changedPages, () => packFiles(archive, second))
  })

  test('are split again in a repository only if they changed', async () => {
    const repository = createRepository(first)
    const fixture = await createTreeFixture(repository.url)
    await fixture.crawl()
    await expectChanged(fixture, changedPages, () => repository.commit(second))
  })
})

describe('a file with several pages', () => {
  const names = Array.from({ length: 10 }, (_, i) => `api-${i}.json`)
  // No two pages have the same text.
  const files: Files = Object.fromEntries(
    names.map((name) => [
      name,
      JSON.stringify(describeApi(name)).replaceAll('Adds one', `Adds to ${name}`).replaceAll('keepers', name),
    ]),
  )
  const bytes = Object.values(files).reduce((sum, content) => sum + content.length, 0)

  test.each(['folder', 'archive'])(
    'is read and converted once for all of its pages, in this kind of tree: %s',
    async (kind) => {
      if (kind === 'folder') writeFiles(tempFolder, files)
      const fixture = await createTreeFixture(
        pathToFileURL(kind === 'folder' ? tempFolder : packFiles(`${tempFolder}/a.zip`, files)).href,
      )
      const first = (await fixture.crawl()).summary
      expect({ ...first, conversions: fixture.conversions() }).toMatchObject({ indexed: 40, bytes, conversions: 10 })
      const second = (await fixture.crawl({ kind: 'recrawl' })).summary
      expect({ ...second, conversions: fixture.conversions() }).toMatchObject({ unchanged: 40, conversions: 10 })
    },
  )
})

/** The published files of a version, below the folder that its registry uses. */
function packageFiles(folder: string, word: string): Files {
  return {
    [`${folder}README.md`]: `# Lamp\n\nLit at ${word}.\n`,
    [`${folder}docs/guide.md`]: '# Guide\n\nFill it.\n',
    [`${folder}docs/api.rst`]: 'Interface\n=========\n\nCall it.\n',
  }
}

type Publish = (registry: Registry, version: string, word: string) => void

const pack = (name: string, files: Files): Buffer => fs.readFileSync(packFiles(join(tempFolder, name), files))

/** Packages by address: how a version is published, and the page that changes. */
const PACKAGES: Readonly<Record<string, readonly [Publish, string]>> = {
  'pkg:npm/lamp': [
    (registry, version, word) => registry.publishNpm('lamp', version, pack('a.tgz', packageFiles('package/', word))),
    'README.md',
  ],
  'pkg:pypi/lamp': [
    (registry, version, word) => {
      const sources = pack('a.tar.gz', packageFiles(`lamp-${version}/`, word))
      registry.publishPypi('lamp', version, { [`lamp-${version}.tar.gz`]: sources })
    },
    'README.md',
  ],
  'pkg:cargo/lamp': [
    (registry, version, word) => {
      registry.publishCrate('lamp', version, pack('a.tar.gz', packageFiles(`lamp-${version}/`, word)))
    },
    'README.md',
  ],
  'pkg:maven/org.tower/lamp': [
    (registry, version, word) => {
      const sources = pack('a.zip', {
        'org/tower/Lamp.java': `/** Lit at ${word}. */\npublic class Lamp {}\n`,
        'org/tower/Oil.java': '/** Burns. */\npublic class Oil {}\n',
      })
      registry.publishMaven('org.tower', 'lamp', version, { sources })
    },
    'org/tower/Lamp.java',
  ],
}

test.each(Object.entries(PACKAGES))(
  'only the changed page of a package is split again after a new version, %s',
  async (url, [publish, page]) => {
    const registry = await openRegistry()
    publish(registry, '1.0.0', 'dusk')
    const fixture = await createTreeFixture(url, registry.registries)
    expect((await fixture.crawl()).summary).toMatchObject({ end: 'completed', failed: 0, problem: null })
    await expectChanged(fixture, [page], () => publish(registry, '1.1.0', 'dawn'))
  },
)
