import { describe, expect, test } from 'vitest'
import { convertWith, markdownOf, readSample } from '../../../test/documents/convert.ts'
import { convertDocx } from './docx.ts'
import { convertRtf } from './rtf.ts'

const rtf = (text: string) => Uint8Array.from(Buffer.from(`{\\rtf1\\ansi ${text}}`, 'latin1'))
const read = (text: string) => markdownOf(convertRtf, rtf(text))

test('an RTF file converts like its Word version, except for the table header and the image description', async () => {
  const converted = await convertWith(convertRtf, readSample('guide.rtf'))
  expect(converted).toMatchObject({
    title: 'Lighthouse Guide',
    author: 'Noor Haddad',
    language: 'en-GB',
    modifiedAt: '2026-03-04',
  })
  const word = await markdownOf(convertDocx, readSample('guide.docx'))
  expect(await markdownOf(convertRtf, readSample('guide.rtf'))).toBe(
    word
      .replace(
        '| Night | Weather | Ships |\n| --- | --- | --- |',
        '| | | |\n| --- | --- | --- |\n| Night | Weather | Ships |',
      )
      .replace('Drawing of the tower from the sea\n\n', ''),
  )
})

describe('convertRtf', () => {
  test.each([
    ['characters in the code page of the document', String.raw`\ansicpg1250 \'9e\'e8`, 'žč'],
    [
      'characters in the code page of a font',
      String.raw`{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}\f1 \'cc\'e8\'f0\f0  \'e9`,
      'Мир é',
    ],
    ['characters of two bytes', String.raw`{\fonttbl{\f0\fcharset128 Gothic;}}\f0 \'93\'94\'83A`, '灯ア'],
    [
      'Unicode characters without their fallbacks for older programs',
      String.raw`\u26085?\u-10179?\u-8704? {\uc2\u228 ae\u246\'6f\'65}.`,
      '日😀 äö.',
    ],
    ['named characters', String.raw`\ldblquote a\rdblquote\~b\emdash\{\}\\ c\_d\-e`, '“a” b—{}\\ c-de'],
  ])('decodes %s', async (_, text, expected) => {
    expect(await read(text)).toBe(`${expected}\n`)
  })
})

test('converts styles, lists and emphasis written by Word', async () => {
  const text = String.raw`{\fonttbl{\f0\fswiss Arial;}{\f1\fmodern Courier New;}}{\stylesheet{\s1 heading 1;}{\s2\sbasedon1 Mine;}}
\pard\s1 Top\par\pard\s2 Also\par
\pard{\pntext\f0 3.\tab}\ls1\ilvl0 three\par{\listtext\f0 a)\tab}\pard\ls1\ilvl1 inner\par
\pard\plain {\b bold {\i both}} and {\strike gone}\line next\par
\f1 code  line\par\plain {\field{\*\fldinst{HYPERLINK "https://a.example/"}}{\fldrslt link}} {\v hidden}{\*\unknown skipped}\par`
  expect(await read(text)).toBe(
    '# Top\n\n# Also\n\n3. three\n   1. inner\n\n**bold both** and ~~gone~~  \nnext\n\n```\ncode  line\n```\n\n[link](https://a.example/)\n',
  )
})

test('converts tables with merged cells', async () => {
  const text = String.raw`\trowd\trhdr\cellx100\cellx200\cellx300\intbl a\cell b\cell c\cell\row
\trowd\clvmgf\cellx100\cellx300\intbl d\cell e\cell\row\trowd\clvmrg\cellx100\cellx200\cellx300\intbl\cell f\cell g\cell\row\pard after\par`
  expect(await read(text)).toBe('| a | b | c |\n| --- | --- | --- |\n| d | e | e |\n| d | f | g |\n\nafter\n')
})

test('explains why a document has no page, and reads a truncated one', async () => {
  expect(await convertWith(convertRtf, new TextEncoder().encode('{\\html'))).toMatchObject({ reason: 'damaged' })
  expect(await convertWith(convertRtf, rtf('{\\pict 010203}'))).toMatchObject({ reason: 'empty' })
  expect(await convertWith(convertRtf, rtf('{'.repeat(10_000)))).toMatchObject({ reason: 'too-large' })
  const whole = readSample('guide.rtf')
  expect(await markdownOf(convertRtf, whole.subarray(0, 8000))).toContain('# Lighthouse Guide')
})

test('accepts huge numbers and very long control words, and finds no text after an oversized \\bin', async () => {
  expect(await read(String.raw`\bin999999999 x`).catch(() => 'none')).toBe('none')
  expect(await read(`a\\u${'9'.repeat(1000)} b${'\\cellx1'.repeat(100_000)}\\${'x'.repeat(100_000)}`)).toMatch(/^a/)
})

test('a first table row in a table heading style becomes the header', async () => {
  const text = String.raw`{\rtf1{\stylesheet{\s7 Table Heading;}}\trowd\cellx100\cellx200\pard\intbl\s7 a\cell\pard\intbl\s7 b\cell\row
\trowd\cellx100\cellx200\pard\intbl 1\cell 2\cell\row\pard}`
  expect(await markdownOf(convertRtf, new TextEncoder().encode(text))).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n')
})
