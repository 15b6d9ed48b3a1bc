import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { formatOf, isDocumentName } from './formats.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test.each([
  ['tar.1', '.\\" A comment\n.TH TAR 1\n', 'man page'],
  ['docs/lamp.3x', '.TH LAMP 3\n', 'man page'],
  ['man/man1/tar.1', 'no request at all', 'man page'],
  ['notes.1', 'Chapter one\n', undefined],
  ['guide.rst.txt', 'Title\n=====\n', 'reStructuredText'],
  ['guide.pdf.txt', 'Title\n', undefined],
  ['git-lamp.txt', 'git-lamp(1)\n===========\n\nNAME\n----\n\n[verse]\ngit lamp\n', 'AsciiDoc'],
  ['lamp.txt', '= Lamp\n\nSee link:other.html[the other].\n', 'AsciiDoc'],
  ['readme.txt', 'Lamp\n====\n\nSee https://example.com/ [1]\n', undefined],
  ['readme.txt', 'See xref:other[here].\n', undefined],
])('the format of %s with %j is %s', (path, text, name) => {
  expect(formatOf(path, bytes(text))?.name).toBe(name)
})

test('recognizes a compressed manual page by its content, but not a compressed log', () => {
  const page = gzipSync(`.TH LAMP 1\n${'lamp '.repeat(10_000)}`)
  expect(formatOf('lamp.1.gz', page)?.name).toBe('man page')
  expect(formatOf('lamp.1.gz', page.subarray(0, 60))?.name).toBe('man page')
  expect(formatOf('lamp.log.1.gz', gzipSync('12:00 lit\n'))).toBeUndefined()
  expect(formatOf('lamp.1.gz', bytes('not packed'))).toBeUndefined()
  expect(isDocumentName('man1/lamp.1.gz')).toBe(true)
  expect(isDocumentName('lamp.tar.gz')).toBe(false)
})
