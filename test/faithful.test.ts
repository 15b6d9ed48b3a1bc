import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { extractPage } from '../src/core/extract/extract-page.ts'
import {
  type Content,
  type DocGenerator,
  hasContent,
  isAddedWord,
  missingWords,
  readHtml,
  readMarkdown,
} from './faithful/reference.ts'

/*
 * Checks that the Markdown of a documentation page contains all words, code blocks and table rows of its main content, and almost
 * nothing else. The Sphinx and DocBook pages of the corpus are always checked. TEST_LONG adds the pages of seven large sites from Debian
 * packages.
 */

const here = dirname(fileURLToPath(import.meta.url))
const isLong = process.env['TEST_LONG'] !== undefined

interface Site {
  /** Name of the Debian package. */
  readonly title: string
  readonly folder: string
  readonly generator: DocGenerator
}

const SITES: readonly Site[] = [
  { title: 'python3.11-doc', folder: '/usr/share/doc/python3.11/html', generator: 'sphinx' },
  { title: 'postgresql-doc-15', folder: '/usr/share/doc/postgresql-doc-15/html', generator: 'docbook' },
  { title: 'rust-doc', folder: '/usr/share/doc/rust-doc/html/book', generator: 'mdbook' },
  { title: 'rust-doc', folder: '/usr/share/doc/rust-doc/html/alloc', generator: 'rustdoc' },
  { title: 'openjdk-17-doc', folder: '/usr/share/doc/openjdk-17-doc/api/java.base/java/util', generator: 'javadoc' },
  { title: 'apache2-doc', folder: '/usr/share/doc/apache2-doc/manual', generator: 'apache' },
  { title: 'libglib2.0-doc', folder: '/usr/share/gtk-doc/html', generator: 'gtk-doc' },
]

/** Differences between a page and its Markdown; empty when nothing is lost or added. */
function compare(html: string, generator: DocGenerator, url: string): string[] {
  const extraction = extractPage({ url, body: html })
  if (extraction.type !== 'page') return [`no page: ${extraction.reason} (${extraction.detail})`]
  const { markdown } = extraction.page
  const shown = readHtml(html, generator)
  const written = readMarkdown(markdown)
  const lost = missingWords(shown.words, written.words)
  const added = missingWords(written.words, shown.words).filter((word) => !isAddedWord(word))
  return [
    ...(lost.length > 0 ? [`${lost.length} words lost: ${lost.slice(0, 12).join(' ')}`] : []),
    ...(added.length > shown.repeated ? [`${added.length} words added: ${added.slice(0, 12).join(' ')}`] : []),
    // The markup of the other generators does not always distinguish code and tables from other content.
    ...(generator === 'sphinx' || generator === 'docbook'
      ? [...lostCode(shown, written), ...lostRows(shown, written)]
      : []),
    ...(markdown.includes('¶') ? ['a mark of a permalink'] : []),
  ]
}

function lostCode(shown: Content, written: Content): string[] {
  const blocks = new Map<string, number>()
  for (const code of written.code) blocks.set(code, (blocks.get(code) ?? 0) + 1)
  const lost = shown.code.filter((code) => {
    const count = blocks.get(code) ?? 0
    blocks.set(code, count - 1)
    return code !== '' && count <= 0
  })
  return lost.length > 0 ? [`${lost.length} blocks of code changed: ${JSON.stringify(lost[0]?.slice(0, 200))}`] : []
}

function lostRows(shown: Content, written: Content): string[] {
  const remaining = [...written.rows]
  const lost = shown.rows.filter((row) => {
    const at = remaining.findIndex((other) => missingWords(row, other).length === 0)
    if (at >= 0) remaining.splice(at, 1)
    return at < 0 && !written.heads.some((head) => missingWords(row, head).length === 0)
  })
  return lost.length > 0 ? [`${lost.length} rows lost: ${lost[0]?.slice(0, 20).join(' ')}`] : []
}

/** Text of a page in the encoding that it declares. */
function decode(bytes: Buffer): string {
  const [, encoding = 'utf-8'] = /charset=["']?([\w-]+)/.exec(bytes.toString('latin1').slice(0, 1024)) ?? []
  return new TextDecoder(encoding).decode(bytes)
}

describe('pages of the corpus', () => {
  const folder = join(here, 'pages')
  const cases = readdirSync(folder).filter((name) => /^(?:sphinx|docbook)/.test(name) && !name.endsWith('-hidden'))

  test('there are more than five pages', () => expect(cases.length).toBeGreaterThan(5))

  test.each(cases)('the Markdown of %s loses nothing', (name) => {
    const html = readFileSync(join(folder, name, 'input.html'), 'utf8')
    const generator = name.startsWith('sphinx') ? 'sphinx' : 'docbook'
    expect(compare(html, generator, 'https://docs.example/page.html')).toEqual([])
  })
})

test.each(isLong ? SITES : [])(
  'no page of $title made by $generator loses content',
  { timeout: 600_000 },
  ({ title, folder, generator }) => {
    if (!existsSync(folder)) throw new Error(`the pages are not installed; run apt-get install ${title}`)
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
    let count = 0
    const problems = pages.flatMap((name) => {
      const html = decode(readFileSync(join(folder, name)))
      // Redirects and frames have no content.
      if (!hasContent(html, generator)) return []
      count++
      return compare(html, generator, `https://docs.example/${name}`).map((problem) => `${name}: ${problem}`)
    })
    expect(problems).toEqual([])
    expect(count).toBeGreaterThan(200)
  },
)
