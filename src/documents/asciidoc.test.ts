import { expect, test } from 'vitest'
import { showDocument } from '../../test/document-markdown.ts'
import { convertAsciidoc } from './asciidoc.ts'

const show = async (...lines: string[]) => (await showDocument(convertAsciidoc, lines.join('\n'))).markdown.trim()

test('reads the header and the sections of a document', async () => {
  const text =
    '= The Guide\nAda Lovelace <ada@example.org>\nv1.0, 2024-05-01\n:toc:\n:sectnums:\n\nBegin.\n\n== First part\n\n=== Inside\n\nText.'
  const { about, markdown, sections } = await showDocument(convertAsciidoc, text)
  expect(about).toEqual({ title: 'The Guide', author: 'Ada Lovelace', language: null, modifiedAt: '2024-05-01' })
  expect(markdown).toBe('# The Guide\n\nBegin.\n\n## First part\n\n### Inside\n\nText.\n')
  expect(sections[0]?.children[0]?.anchor).toBe('_first_part')
})

test('converts admonitions, code, tables and description lists', async () => {
  expect(await show('NOTE: Mind.')).toBe('> [!NOTE]\n> Mind.')
  expect(await show('[WARNING]', '.Careful', '====', 'Two', '', '* things', '====')).toBe(
    '> [!WARNING]\n> **Careful**\n>\n> Two\n>\n> - things',
  )
  expect(await show('.a.rb', '[source,ruby]', '----', 'puts 1 # <1>', '----', '<1> Prints')).toBe(
    '**a.rb**\n\n```ruby\nputs 1 # (1)\n```\n\n1. Prints',
  )
  expect(await show('[%header]', '|===', '|A |B', '|1 |`x`', '|===')).toBe('| A | B |\n| --- | --- |\n| 1 | `x` |')
  expect(await show('[horizontal]', 'CPU:: The brain')).toBe('**CPU**\n\nThe brain')
  expect(await show('* [x] done', '* [ ] open')).toBe('- [x] done\n- [ ] open')
})

test('converts links, cross references, footnotes and formulas', async () => {
  expect(await show('See xref:other.adoc#part[it], link:a/b.txt[file] and <<Here>>.', '', '== Here')).toBe(
    'See [it](https://docs.example/other.adoc#part), [file](https://docs.example/a/b.txt) and [Here](https://docs.example/#_here).\n\n## Here',
  )
  expect(await show('Text.footnote:[The note.]')).toBe('Text.[^1]\n\n[^1]: The note.')
  expect(await show('stem:[x^2] and latexmath:[\\alpha]')).toBe('`x^2` and $\\alpha$')
})

test('reads no file, runs nothing, and passthrough content cannot close the page', async () => {
  expect(await show('include::/etc/passwd[]')).toBe('[/etc/passwd](https://docs.example/etc/passwd)')
  const passed = ['++++', '<script>alert(1)</script></article><b>raw</b>', '++++', '', 'After.']
  expect(await show(...passed)).toBe('**raw**\n\nAfter.')
  expect(await show('link:javascript:alert(1)[run]')).not.toContain('](javascript')
})

test.each([
  ['sections', '== Title\n\n'.repeat(4000)],
  ['a paragraph', '*a '.repeat(20_000)],
  ['attributes', `:a: ${'x'.repeat(4000)}\n:b: {a}{a}\n\n${'{b} '.repeat(6000)}`],
])('refuses input that would take the parser very long: %s', async (name, text) => {
  await expect(show(text)).rejects.toThrow(name)
})

test('reads long code blocks', async () => {
  const code = 'x = 1\n'.repeat(10_000)
  expect(await show('----', code, '----', '', 'End.')).toContain('x = 1\n```\n\nEnd.')
})

test('the current time is not part of the output', async () => {
  const names = ['localdate', 'localyear', 'localtime', 'localdatetime', 'docdate', 'docyear', 'doctime', 'docdatetime']
  expect(await show(...names.map((name) => `{${name}}`))).toBe(names.map((name) => `{${name}}`).join(' '))
  expect(await show(':docdate: 2024-05-01', '', '{docdate}')).toBe('2024-05-01')
})
