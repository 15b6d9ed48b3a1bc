import { expect, test } from 'vitest'
import {
  isCodeStyle,
  isFixedWidth,
  OfficeNotes,
  writeBlocks,
  writeLink,
  writeRun,
  writeTable,
} from './office-blocks.ts'

test('nests list items by level, and continues their numbers', () => {
  const item = (level: number, number: number | null, html: string) => ({ type: 'item', level, number, html }) as const
  expect(writeBlocks([item(0, null, 'a'), item(2, 1, 'b'), item(1, 2, 'c'), item(0, null, 'd'), item(0, 5, 'e')])).toBe(
    '<ul><li>a<ol start="1"><li>b</li><li>c</li></ol></li><li>d</li></ul><ol start="5"><li>e</li></ol>',
  )
  expect(
    writeBlocks([item(0, 1, 'a'), { type: 'more', html: 'b' }, item(0, 2, 'c'), { type: 'more', html: 'd' }]),
  ).toBe('<ol start="1"><li>a<p>b</p></li><li>c<p>d</p></li></ol>')
})

test('joins lines of code into one block, and drops empty blocks', () => {
  const code = (text: string) => ({ type: 'code', text }) as const
  expect(
    writeBlocks([code(''), code('a <b'), code(''), code('  c'), code(''), { type: 'paragraph', html: ' <b> </b>' }]),
  ).toBe('<pre><code>a &lt;b\n\n  c</code></pre>')
})

test('a mark is written before the block that it applies to', () => {
  const mark = (anchor: string) => ({ type: 'mark', anchor }) as const
  expect(
    writeBlocks([
      mark('page=1'),
      { type: 'item', level: 0, number: null, html: 'a' },
      mark('page=2'),
      mark('page=3'),
      { type: 'item', level: 0, number: null, html: 'b' },
      mark('page=4'),
      { type: 'code', text: 'c' },
      mark('page=5'),
    ]),
  ).toBe(
    '<ul><li><div data-mark="page=1"></div>a</li><li><div data-mark="page=3"></div>b</li></ul><div data-mark="page=4"></div><pre><code>c</code></pre>',
  )
})

test('text is escaped and cannot become markup', () => {
  expect(writeRun('<script>\n"', { bold: true, code: true })).toBe(
    '<strong><code>&lt;script&gt;<br>&quot;</code></strong>',
  )
  expect(writeLink('x', 'https://a.example/"><b>')).toBe('<a href="https://a.example/&quot;&gt;&lt;b&gt;">x</a>')
  expect(writeLink('x', 'javascript:alert(1)')).toBe('x')
  expect(writeBlocks([{ type: 'heading', level: 9, html: 'a', id: '"b' }])).toBe('<h6 id="&quot;b">a</h6>')
})

test('long tables are truncated with a note', () => {
  const rows = Array.from({ length: 10_003 }, (_, i) => ({
    cells: [{ html: `${i}`, columns: 1, rows: 1 }],
    isHeader: false,
  }))
  expect(writeTable(rows).slice(-80)).toContain('<td>9999</td></tr></table><p>3 further rows are left out.</p>')
  expect(writeTable([{ cells: [{ html: '<p> </p>', columns: 1, rows: 1 }], isHeader: false }])).toBe('')
})

test('notes and their references link to each other', () => {
  const notes = new OfficeNotes()
  expect(notes.add('<p>n</p>', 'page=2')).toBe('<sup><a role="doc-noteref" href="#note-1">1</a></sup>')
  expect(notes.write()).toBe('<div data-mark="page=2"></div><aside role="doc-footnote" id="note-1"><p>n</p></aside>')
})

test('refuses text beyond the limit', () => {
  const html = 'a'.repeat(5_000_000)
  expect(() => writeBlocks(Array.from({ length: 5 }, () => ({ type: 'paragraph', html })))).toThrow(
    /more than 20000000 characters/,
  )
})

test.each([
  ['Liberation Mono', true],
  ['DejaVuSansMono-Bold', true],
  ['ABCDEF+CMTT10', true],
  ['Courier New', true],
  ['Monotype Corsiva', false],
  ['Times New Roman', false],
  ['CMR10', false],
])('the font %s is fixed-width: %s', (font, expected) => {
  expect(isFixedWidth(font)).toBe(expected)
})

test('recognizes code styles by name', () => {
  expect(['HTML Preformatted', 'Source Code', 'Codex', 'Body Text'].map(isCodeStyle)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
