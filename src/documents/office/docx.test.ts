import { describe, expect, test } from 'vitest'
import { archive, convertWith, markdownOf, readSample } from '../../../test/documents/convert.ts'
import { docx, docxParagraph as p, relation, relations } from '../../../test/documents/written.ts'
import { convertDocx } from './docx.ts'

test('converts a document written by LibreOffice', async () => {
  const converted = await convertWith(convertDocx, readSample('guide.docx'))
  expect(converted).toMatchObject({
    type: 'document',
    title: 'Lighthouse Guide',
    author: 'Noor Haddad',
    language: 'en-GB',
    modifiedAt: '2026-03-04T09:30:00Z',
  })
  expect(await markdownOf(convertDocx, readSample('guide.docx'))).toBe(`# Lighthouse Guide

A lighthouse shows **where land begins** and *how to pass it*. Its manual is kept by the [society of keepers](https://lights.example/keepers).[^1]

## The lamp

The lamp is lit at dusk and put out at dawn. Set the brightness with \`lamp --level\`.

### Colours

- White, for the open sea
- Red, for danger
  - rocks
  - shoals
- Green, for the harbour

#### Lighting it

1. Trim the wick.
2. Open the valve.
   1. Half a turn first.
   2. Then the rest.
3. Light it.

## The log

Every night is written down in a table.

| Night | Weather | Ships |
| --- | --- | --- |
| Monday | Fog | 3 |
| Monday | Clear | 17 |
| Tuesday | Storm, no watch | Storm, no watch |

### Reading it by machine

This prints all nights with fog:

\`\`\`
for night in log:
    if night.weather == "fog":
        print(night)
\`\`\`

The tower is drawn below.

Drawing of the tower from the sea

Žluťoučký kůň, Größe und 灯台 are words as well.

[^1]: Founded in 1871, dissolved twice.
`)
})

describe('convertDocx', () => {
  test('recognizes headings by their styles, with their list numbers', async () => {
    const styles = `<w:styles>
      <w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style>
      <w:style w:styleId="Mine"><w:name w:val="My part"/><w:basedOn w:val="H2"/></w:style>
      <w:style w:styleId="H2"><w:name w:val="Heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr></w:style>
      <w:style w:styleId="T1"><w:name w:val="toc 1"/></w:style>
      <w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style></w:styles>`
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
    const style = (name: string) => `<w:pStyle w:val="${name}"/>`
    const body =
      p('Contents', style('T1')) +
      p('One', style('H1')) +
      p('Part', style('Mine')) +
      p('Second part', style('Mine')) +
      p('Four', style('H1')) +
      p('Anew', style('Mine')) +
      p('By hand', '<w:outlineLvl w:val="2"/>') +
      p('Text', style('Loop'))
    const bytes = docx(body, { 'word/styles.xml': styles, 'word/numbering.xml': numbering })
    expect((await markdownOf(convertDocx, bytes)).trim().split('\n\n')).toEqual([
      '# I. One',
      '## I.a Part',
      '## I.b Second part',
      '# II. Four',
      '## II.a Anew',
      '### By hand',
      'Text',
    ])
  })

  test('lists continue counting after other content', async () => {
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="8"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`
    const item = (id: number) => `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${id}"/></w:numPr>`
    const body = p('three', item(7)) + p('between') + p('four', item(7)) + p('one', item(8)) + p('no list', item(9))
    expect(await markdownOf(convertDocx, docx(body, { 'word/numbering.xml': numbering }))).toBe(
      '3. three\n\nbetween\n\n4. four\n\n1) one\n\nno list\n',
    )
  })

  test('converts both kinds of links, breaks and tabs, and drops hidden and deleted text', async () => {
    const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const body = `<w:p>
      <w:hyperlink r:id="l"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:tab/></w:r>
      ${field('begin')}<w:r><w:instrText> HYPERLINK "https://b.example/" </w:instrText></w:r>${field('separate')}<w:r><w:t>field</w:t></w:r>${field('end')}
      <w:hyperlink w:anchor="x"><w:r><w:t> inside</w:t></w:r></w:hyperlink>
      <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>
      <w:ins><w:r><w:br/><w:t>added</w:t></w:r></w:ins><w:r><w:rPr><w:b w:val="0"/><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r>
      <w:r><w:pict><v:shape><w:txbxContent>${p('framed')}</w:txbxContent></v:shape></w:pict></w:r></w:p>`
    expect(await markdownOf(convertDocx, docx(body))).toBe(
      '[link](https://a.example/) [field](https://b.example/) inside  \nadded^2\n\nframed\n',
    )
  })

  test('a note that refers to itself is written once', async () => {
    const note =
      '<w:footnote w:id="2"><w:p><w:r><w:t>note</w:t><w:footnoteReference w:id="2"/></w:r></w:p></w:footnote>'
    const body = '<w:p><w:r><w:t>text</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    expect(
      await markdownOf(convertDocx, docx(body, { 'word/footnotes.xml': `<w:footnotes>${note}</w:footnotes>` })),
    ).toBe('text[^1]\n\n[^1]: note\n')
  })
})

describe('convertDocx with hostile documents', () => {
  const refusalOf = async (bytes: Uint8Array) => {
    const converted = await convertWith(convertDocx, bytes)
    return converted.type === 'refused' ? `${converted.reason}: ${converted.detail}` : converted.type
  }

  test('does not resolve entities, internal or external', async () => {
    const external =
      '<!DOCTYPE w:document [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document><w:body><w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body></w:document>'
    expect(await refusalOf(docx('', { 'word/document.xml': external }))).toBe(
      'damaged: it defines entities of its own, which are not resolved',
    )
    const laughs = `<!DOCTYPE w:styles [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(100)}">]><w:styles>&b;</w:styles>`
    expect(await refusalOf(docx(p('x'), { 'word/styles.xml': laughs }))).toMatch(/^damaged: it defines entities/)
  })

  test('ignores relations that lead out of the package', async () => {
    const elsewhere = relations(
      relation('s', 'styles', 'http://127.0.0.1:1/styles.xml', 'External'),
      relation('n', 'numbering', '../../../../etc/passwd'),
    )
    expect(await markdownOf(convertDocx, docx(p('text'), { 'word/_rels/document.xml.rels': elsewhere }))).toBe('text\n')
  })

  test('refuses elements nested too deeply, and reads text in deeply nested tables', async () => {
    expect(await refusalOf(docx('<w:sdt>'.repeat(1000)))).toMatch(/^too-large: its elements are nested/)
    const table = (inner: string) => `<w:tbl><w:tr><w:tc>${inner}</w:tc></w:tr></w:tbl>`
    let nested = p('deep')
    for (let i = 0; i < 60; i++) nested = table(nested)
    expect(await markdownOf(convertDocx, docx(nested))).toBe('deep\n')
  })

  test('refuses truncated, empty, outdated and encrypted files, and other formats', async () => {
    const whole = readSample('guide.docx')
    expect(await refusalOf(whole.subarray(0, 6000))).toBe('damaged: it is not a zip archive')
    expect(await refusalOf(new TextEncoder().encode('%PDF-1.7'))).toBe('damaged: it is not a zip archive')
    expect(await refusalOf(archive({ 'word/document.xml': '<a/>' }))).toBe('damaged: it has no document in it')
    expect(await refusalOf(docx(p(' ')))).toBe('empty: there is no text in it')
    const older = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1000)])
    expect(await refusalOf(older)).toBe('not-text: its format is older than Office 2007 and cannot be read')
    expect(await refusalOf(Buffer.concat([older, Buffer.from('EncryptedPackage', 'utf16le')]))).toBe(
      'encrypted: it is encrypted with a password',
    )
  })
})

test('a first table row in a table heading style becomes the header', async () => {
  const styles = '<w:styles><w:style w:styleId="T"><w:name w:val="Table Heading"/></w:style></w:styles>'
  const row = (...cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join('')}</w:tr>`
  const headerCells = ['a', 'b'].map((text) => p(text, '<w:pStyle w:val="T"/>'))
  const body = `<w:tbl>${row(...headerCells)}${row(p('1'), p('2'))}</w:tbl>`
  expect(await markdownOf(convertDocx, docx(body, { 'word/styles.xml': styles }))).toBe(
    '| a | b |\n| --- | --- |\n| 1 | 2 |\n',
  )
})
