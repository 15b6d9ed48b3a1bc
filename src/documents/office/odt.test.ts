import { expect, test } from 'vitest'
import { archive, convertWith, markdownOf, readSample } from '../../../test/documents/convert.ts'
import { odt } from '../../../test/documents/written.ts'
import { convertDocx } from './docx.ts'
import { convertOdt } from './odt.ts'

test('an OpenDocument file gives the same text as the Word document from the same source', async () => {
  const converted = await convertWith(convertOdt, readSample('guide.odt'))
  expect(converted).toMatchObject({
    title: 'Lighthouse Guide',
    author: 'Noor Haddad',
    language: 'en-GB',
    modifiedAt: '2026-03-04T09:30:00',
  })
  expect(await markdownOf(convertOdt, readSample('guide.odt'))).toBe(
    await markdownOf(convertDocx, readSample('guide.docx')),
  )
})

test('converts lists whose items have several paragraphs or their own numbers', async () => {
  const styles =
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="4"/></text:list-style>'
  const body =
    '<text:list text:style-name="N"><text:list-item><text:p>a</text:p><text:p>b</text:p></text:list-item><text:list-item text:start-value="9"><text:p>c</text:p></text:list-item></text:list>'
  expect(await markdownOf(convertOdt, odt(body, styles))).toBe('4. a\n\n   b\n\n9) c\n')
})

test('recognizes headings by a style or a derived style', async () => {
  const style = (name: string, more: string) => `<style:style style:name="${name}" style:family="paragraph" ${more}/>`
  const styles = [
    style('Heading_20_2', 'style:default-outline-level="2"'),
    style('P1', 'style:parent-style-name="Heading_20_2"'),
    style('P2', 'style:parent-style-name="P1" style:default-outline-level=""'),
  ].join('')
  const body = ['Heading_20_2', 'P1', 'P2'].map((name) => `<text:p text:style-name="${name}">${name}</text:p>`).join('')
  expect(await markdownOf(convertOdt, odt(body, styles))).toBe('## Heading_20_2\n\n## P1\n\nP2\n')
})

test('converts spaces, frames and image descriptions, and drops hidden text and the table of contents', async () => {
  const body = `<text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d <text:span>  e</text:span></text:p>
    <text:section text:display="none"><text:p>hidden</text:p></text:section>
    <text:table-of-content><text:index-body><text:p>Contents</text:p></text:index-body></text:table-of-content>
    <draw:frame><draw:text-box><text:p>framed</text:p></draw:text-box></draw:frame>
    <text:p><draw:frame><draw:image xlink:href="a.png"/><svg:desc>A wave</svg:desc></draw:frame></text:p>`
  expect(await markdownOf(convertOdt, odt(body))).toBe('a b c  \nd e\n\nframed\n\nA wave\n')
})

test('explains why a document has no page', async () => {
  const locked = archive({
    'META-INF/manifest.xml':
      '<m:manifest><m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>',
    'content.xml': 'unreadable',
  })
  expect(await convertWith(convertOdt, locked)).toEqual({
    type: 'refused',
    reason: 'encrypted',
    detail: 'it is encrypted with a password',
  })
  expect(await convertWith(convertOdt, archive({ a: '' }))).toMatchObject({
    reason: 'damaged',
    detail: 'it has no document in it',
  })
  expect(await convertWith(convertOdt, odt('<text:p/>'))).toMatchObject({ reason: 'empty' })
  expect(await convertWith(convertOdt, readSample('guide.odt').subarray(0, 9000))).toMatchObject({ reason: 'damaged' })
})

test('a cell that is repeated too often is written 256 times', async () => {
  const body =
    '<table:table><table:table-row><table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p></table:table-cell></table:table-row></table:table>'
  const converted = await convertWith(convertOdt, odt(body))
  expect(converted.type === 'document' ? converted.body.text.match(/<td>/g)?.length : 0).toBe(256)
})

test('a first table row in a table heading style becomes the header', async () => {
  const styles = '<style:style style:name="Table_20_Heading" style:family="paragraph"/>'
  const row = (style: string, ...texts: string[]) =>
    `<table:table-row>${texts.map((text) => `<table:table-cell><text:p text:style-name="${style}">${text}</text:p></table:table-cell>`).join('')}</table:table-row>`
  const body = `<table:table>${row('Table_20_Heading', 'a', 'b')}${row('Standard', '1', '2')}</table:table>`
  expect(await markdownOf(convertOdt, odt(body, styles))).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n')
})
