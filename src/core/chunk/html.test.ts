import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { cutHtml } from './html.ts'
import type { ChunkSizes, Piece } from './piece.ts'

const ROOMY = { targetChars: 4000, maxChars: 8000 }

function cut(text: string, sizes: ChunkSizes = ROOMY): Piece[] {
  return cutHtml(text, sizes)
}

function contents(text: string, sizes: ChunkSizes = ROOMY): string[] {
  return cut(text, sizes).map((piece) => piece.content)
}

describe('headings', () => {
  test('cut a minified page as they cut any other', () => {
    const minified = '<h1>One</h1><p>text</p><h2>Two</h2><p>more</p><h2>Three</h2>'
    expect(cut(minified)).toEqual([
      { startLine: 1, endLine: 1, content: 'One\ntext', headingPath: ['One'] },
      { startLine: 1, endLine: 1, content: 'Two\nmore', headingPath: ['One', 'Two'] },
      { startLine: 1, endLine: 1, content: 'Three', headingPath: ['One', 'Three'] },
    ])
  })

  test('may take several lines, and hold markup and line breaks', () => {
    expect(cut('<p>\nintro\n</p>\n<h1\n  class="x">\n  The <em>first</em><br>\n  title\n</h1>\ntext\n')).toEqual([
      { startLine: 2, endLine: 2, content: 'intro', headingPath: [] },
      { startLine: 6, endLine: 9, content: 'The first title\ntext', headingPath: ['The first title'] },
    ])
  })

  test('are nested by level', () => {
    expect(cut('<h1>A</h1><h3>B</h3><h3>C</h3><h2>D</h2>').map((piece) => piece.headingPath)).toEqual([
      ['A'],
      ['A', 'B'],
      ['A', 'C'],
      ['A', 'D'],
    ])
  })

  test('headings that are never closed end with the next block', () => {
    expect(cut('<h1>A<p>text<h2>B<div>more')).toEqual([
      { startLine: 1, endLine: 1, content: 'A\ntext', headingPath: ['A'] },
      { startLine: 1, endLine: 1, content: 'B\nmore', headingPath: ['A', 'B'] },
    ])
  })

  test('headings without text do not count', () => {
    expect(cut('<h1></h1><h2/><p>text</p>')).toEqual([{ startLine: 1, endLine: 1, content: 'text', headingPath: [] }])
  })
})

describe('text', () => {
  test.each([
    ['<p>a <b>b</b><i>c</i> d</p>', 'a bc d'],
    ['<p>a</p>b<div>c<div>d</div></div>', 'a\nb\nc\nd'],
    ['a<br>b<br/>c', 'a\nb\nc'],
    ['<ul><li>one<li>two</ul>', 'one\ntwo'],
    ['<p>  much\n\t space&nbsp;&nbsp; here </p>', 'much space here'],
    ['<p>1 &lt; 2 &amp;&amp; caf&eacute; &#x1F600; &amp;lt;</p>', '1 < 2 && café 😀 &lt;'],
    ['<p>1 < 2 and 3<4</p>', '1 < 2 and 3<4'],
    ['<img src="a.png" alt="A &amp; B"> text', 'A & B text'],
    ['<textarea>a <b></textarea>', 'a <b>'],
    ['<p>unclosed <b>bold <i>both', 'unclosed bold both'],
    ['</p></div></h1>text', 'text'],
    ['<dl><dt>||</dt><dd>or |</dd></dl>', '||\nor |'],
    ['<P>UPPER</P><SCRIPT>x</SCRIPT>', 'UPPER'],
  ])('the text of %j is %j', (html, expected) => {
    expect(contents(html)).toEqual([expected])
  })

  test.each([
    ['<script>var a = "<p>no</p>"</script><p>kept</p>', 'kept'],
    ['<p>before</p><script>\nx\n</script><p>after</p>', 'before\nafter'],
    ['<style>p { color: red }</style>kept', 'kept'],
    ['<template><p>hidden<template>x</template></p></template>kept', 'kept'],
    ['<template/>kept', 'kept'],
    ['<!-- <p>hidden</p> -->kept<!---->', 'kept'],
    ['<!doctype html><?xml version="1.0"?>kept', 'kept'],
    ['<title>Title</title><noscript>kept</noscript>', 'Title\nkept'],
  ])('the hidden text in %j is left out', (html, expected) => {
    expect(contents(html)).toEqual([expected])
  })

  test.each(['Prev', 'NEXT', 'show more', '1', '404'])('drops %j alone in a paragraph as pager text', (noise) => {
    expect(contents(`<p>a</p><p> ${noise} </p><p>b</p>`)).toEqual(['a\nb'])
    expect(contents(`<h1>${noise}</h1>`)).toEqual([noise])
    expect(contents(`<p>${noise}!</p>`)).toEqual([`${noise}!`])
  })

  test.each([
    '<table><tr><td>80</td></tr><tr><td><p>443</p></td></tr></table>',
    '<ul><li>80</li><li>443</ul>',
    '<dl><dt>80</dt><dd>443</dd></dl>',
  ])('keeps the numbers in %j', (html) => {
    expect(contents(html)).toEqual(['80\n443'])
    expect(contents(`${html}<p>1</p>`)).toEqual(['80\n443'])
  })

  test('a number of four digits counts as a year, not as a page number', () => {
    expect(contents('<p>2025</p>')).toEqual(['2025'])
  })
})

describe('tables', () => {
  test('have one line per row, with a bar between cells', () => {
    expect(contents('<table><tr><th>a</th><th>b</th></tr><tr><td>x<td>y</table>')).toEqual(['a | b\nx | y'])
  })

  test('keep an empty cell between two others', () => {
    expect(contents('<tr><td></td><td>a</td><td> </td><td>b</td><td></td></tr>')).toEqual(['a | | b'])
  })
})

describe('preformatted text', () => {
  test('keeps its lines, its indentation and its blank lines', () => {
    expect(cut('<p>a</p>\n<pre>\n  if <b>x</b>:\n\n    y\n</pre>\n<p>b</p>')).toEqual([
      { startLine: 1, endLine: 7, content: 'a\n\n  if x:\n\n    y\nb', headingPath: [] },
    ])
  })

  test('starts at its first line with content', () => {
    expect(cut('<pre>\n\n\n a</pre>')).toEqual([{ startLine: 4, endLine: 4, content: 'a', headingPath: [] }])
  })

  test.each(['\r\n', '\r'])('may have lines that end in %j', (end) => {
    expect(cut(['<pre>a', 'b</pre>', '<p>c'].join(end))).toEqual([
      { startLine: 1, endLine: 3, content: 'a\nb\nc', headingPath: [] },
    ])
  })
})

describe('the cap', () => {
  test('is kept by cutting between lines', () => {
    expect(cut('<p>aaaa\n<p>bbbb\n<p>cccc', { targetChars: 9, maxChars: 9 })).toEqual([
      { startLine: 1, endLine: 2, content: 'aaaa\nbbbb', headingPath: [] },
      { startLine: 3, endLine: 3, content: 'cccc', headingPath: [] },
    ])
  })

  test('is kept by slicing a line that does not fit', () => {
    expect(contents('<p>abcdefghij', { targetChars: 4, maxChars: 4 })).toEqual(['abcd', 'efgh', 'ij'])
  })

  test('leaves a heading with the beginning of its text', () => {
    const sizes = { targetChars: 4, maxChars: 9 }
    expect(contents('<h1>T</h1><p>abcdefghij', sizes)).toEqual(['T\nabcdefg', 'hij'])
    expect(contents('<h1>Title</h1><p>abcdefghij', sizes)).toEqual(['Title', 'abcdefghi', 'j'])
  })
})

test.each(['', '<p></p>', '<script>x</script>', '<!-- x -->', '\n\n'])('%j has no pieces', (html) => {
  expect(cut(html)).toEqual([])
})

test.each([
  ['tags', '<div>'.repeat(200_000)],
  ['angles', '<'.repeat(200_000)],
  ['comments', '<!--'.repeat(100_000)],
  ['ampersands', '&'.repeat(200_000)],
  ['cells', '<td>'.repeat(200_000)],
  ['spaces', `<p>${' '.repeat(500_000)}x`],
])('finishes quickly on hundreds of thousands of %s', (_, html) => {
  const ms = cpuMsOf(() => {
    for (const { content } of cut(html)) expect(content.length).toBeLessThanOrEqual(8000)
  })
  expect(ms).toBeLessThan(5000)
})

describe('malformed or foreign markup', () => {
  test.each([
    ['after a style closed in SVG', '<svg><style/><text>in svg</text></svg><p>after</p>', 'in svg\nafter'],
    ['after a script closed in SVG', '<svg><script href="x"/></svg><p>after</p>', 'after'],
    ['after a style in SVG', '<svg><style>a > b {}</style><text>in</text></svg>', 'in'],
    ['in a CDATA section', '<svg><text><![CDATA[a < b]]></text></svg>', 'a < b'],
    ['in a template without end', '<p>a</p><template><p>b</p><script>x</script><p>c</p>', 'a\nb\nc'],
    ['in a script without end', '<p>a</p><script>b()<p>c</p>', 'a\nb()\nc'],
    ['in a comment without end', '<p>a</p><!-- b <p>c</p>', 'a\nb\nc'],
    ['in two comments without end', '<p>a</p><!--b<!--c\n<p>d</p>', 'a\nb\nc\n<p>d</p>'],
    ['in a tag without end', '<p>a</p><a href="b>c</a><p>d</p>', 'a\na href="b>c\nd'],
  ])('keeps the text %s', (_, text, expected) => {
    expect(contents(text)).toEqual([expected])
  })

  test('pieces that are parsed a second time keep their line numbers', () => {
    expect(cut('<p>a</p>\n<!-- b\n<h1>c</h1>\nd\n<!-- e\nf').map((piece) => [piece.startLine, piece.endLine])).toEqual([
      [1, 2],
      [3, 6],
    ])
  })

  test('a script in HTML inside SVG is dropped, and so is a tag cut off by the end of the file', () => {
    expect(contents('<svg><p>a</p><script>if (a<b) "</p>"</script><p>b</p><img src="x')).toEqual(['a\nb'])
    expect(contents('<svg><foreignObject><script>a<b</script>c</foreignObject><style/>d</svg>')).toEqual(['c\nd'])
  })

  test('is parsed in linear time when comments and templates are unclosed', () => {
    expect(contents('<!--'.repeat(200_000)).join('').length).toBeGreaterThan(700_000)
    expect(contents('<template>'.repeat(100_000)).join('').length).toBeGreaterThan(0)
  })
})
