import { expect, test } from 'vitest'
import { findAnchor, withAnchor } from '../../retrieval/anchored-url.ts'
import { extractPage } from '../extract-page.ts'
import { pharosDocument } from './pharos-document.ts'

const HEAD = '<html><head><title>Manual</title></head><body><article>'

function extractDocument(body: string) {
  const snapshot = { url: 'file:///docs/manual.pdf', body: `${HEAD}${body}</article></body></html>` }
  const extraction = extractPage(snapshot, { generator: pharosDocument })
  if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
  return extraction.page
}

test('keeps all of a document, even parts that a web site would put around its content', () => {
  const nav = '<ul><li><a href="https://a.example/">Home</a></li><li><a href="https://b.example/">Sign in</a></li></ul>'
  const body = `<h1>Manual</h1><div class="sidebar"><p>Share this page. All rights reserved.</p>${nav}</div><p>End.</p>`
  expect(extractDocument(body)).toMatchObject({
    generator: 'pharos-document',
    markdown:
      '# Manual\n\nShare this page. All rights reserved.\n\n- [Home](https://a.example/)\n- [Sign in](https://b.example/)\n\nEnd.\n',
  })
})

test('a page cannot claim to be a converted document', () => {
  const body =
    '<meta name="generator" content="pharos-document"><title>Sign in</title><form><input type="password"></form>'
  expect(extractPage({ url: 'https://a.example/', body })).toMatchObject({ type: 'no-page', reason: 'login' })
})

test('accepts a document of a few words', () => {
  expect(extractDocument('<p>Yes.</p>').markdown).toBe('Yes.\n')
})

const PAGES = `<div data-mark="page=1"></div><h1>Manual</h1><p>One.</p>
<div data-mark="page=2"></div><p>Two.</p><h2>Part</h2><p>Still two.</p>
<ul><li>a</li><li><div data-mark="page=3"></div>b</li></ul>
<div data-mark="page=4"></div><table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>
<h2 id="named">Named</h2><p>Four.</p><p data-mark="page=5">Five.</p><div data-mark="page=6"></div>`

test('gives each line the fragment of the document page that it is on', () => {
  const { markdown, sections } = extractDocument(PAGES)
  const lines = markdown.split('\n')
  const fragments = lines.flatMap((line, i) =>
    line === ''
      ? []
      : [`${line} ${withAnchor('file:///m.pdf', findAnchor(sections, i + 1)).slice('file:///m.pdf'.length)}`],
  )
  expect(fragments).toEqual([
    '# Manual #page=1',
    'One. #page=1',
    'Two. #page=2',
    '## Part #page=2',
    'Still two. #page=2',
    '- a #page=2',
    '- b #page=3',
    '| x | y | #page=4',
    '| --- | --- | #page=4',
    '| 1 | 2 | #page=4',
    '## Named #named',
    'Four. #named',
    'Five. #page=5',
  ])
})

test('a web page cannot set fragments with data-mark', () => {
  const body =
    '<h1>A title</h1><p>Words enough to be some content of a page.</p><p data-mark="page=9">More of them, as said.</p>'
  const extraction = extractPage({ url: 'https://a.example/', body })
  expect(JSON.stringify(extraction)).not.toContain('page=9')
})
