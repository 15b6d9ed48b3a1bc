import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { extractPage } from '../src/core/extract/extract-page.ts'
import { isAddedWord, readMarkdown, vocabularyOf } from './faithful/reference.ts'

/*
 * Pages of real generators, and the Markdown that a careful reader expects of each. See pages/README.md. After an intended change,
 * `UPDATE_GOLDEN=1 npm test -- test/pages.test.ts` writes the Markdown again; review the difference.
 */
const PAGES = join(import.meta.dirname, 'pages')

/** Generators that are not recognized, because their pages have no mark of them or because knowing them would not help. */
const UNRECOGNIZED = new Set(['hugo', 'jekyll', 'pelican', 'pod2html'])

const cases = (await readdir(PAGES, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

const generatorOf = (name: string) => name.split('-')[0] ?? ''

describe('pages of real generators', () => {
  test.each(cases)('%s becomes the expected Markdown', async (name) => {
    const body = await readFile(join(PAGES, name, 'input.html'), 'utf8')
    const extraction = extractPage({ url: `https://example.org/docs/${name}.html`, body })
    if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
    const { generator, markdown } = extraction.page
    expect(generator).toBe(UNRECOGNIZED.has(generatorOf(name)) ? null : generatorOf(name))
    const expected = join(PAGES, name, 'expected.md')
    if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(expected, markdown)
    expect(markdown).toBe(await readFile(expected, 'utf8'))
  })

  test('have no invisible text and no permalink marks in their expected Markdown', async () => {
    for (const name of cases) {
      const expected = await readFile(join(PAGES, name, 'expected.md'), 'utf8')
      expect(expected, name).not.toMatch(/INVISIBLE|¶/)
    }
  })

  test.each(cases)('the expected Markdown of %s contains only text of the page', async (name) => {
    const vocabulary = vocabularyOf(await readFile(join(PAGES, name, 'input.html'), 'utf8'))
    const { words } = readMarkdown(await readFile(join(PAGES, name, 'expected.md'), 'utf8'))
    expect(words.filter((word) => !vocabulary.has(word) && !isAddedWord(word))).toEqual([])
  })

  test('cover many generators', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60)
    expect(new Set(cases.map(generatorOf)).size).toBeGreaterThanOrEqual(15)
  })
})
