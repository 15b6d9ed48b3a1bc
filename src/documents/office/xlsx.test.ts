import { expect, test } from 'vitest'
import { convertWith, fragmentAt, markdownOf, pageOf, readSample } from '../../../test/documents/convert.ts'
import { xlsx } from '../../../test/documents/written.ts'
import { convertXlsx } from './xlsx.ts'
import { kindOf, writeNumber } from './xlsx-formats.ts'

test('converts a workbook written by LibreOffice', async () => {
  const page = await pageOf(convertXlsx, readSample('harbour.xlsx'))
  expect(page.markdown).toBe(`# Harbour book

## Arrivals

| Ship | Day | Hour | Tons | Full | Logged | Inspected |
| --- | --- | --- | --- | --- | --- | --- |
| Aurora | 2026-02-28 | 06:30 | 1200.5 | 75% | 2026-02-28 07:15 | 1 |
| Brisa \\| Norte | 2026-03-01 | 18:05 | 800 | 100% | | 0 |
| Sum | | | 2000.5 | | | |

## Berths

North quay

| Berth | Depth |
| --- | --- |
| 1 | 6.25 |

Hidden sheets, left out: Drafts.
`)
  expect(fragmentAt(page, '| Aurora')).toBe('#Arrivals')
})

test('reads inline text, errors, booleans, text formulas, cells without references, and merged cells', async () => {
  const sheet = `<sheetData><row r="2"><c r="B2" t="inlineStr"><is><t>a</t><rPh><t>spoken</t></rPh></is></c><c r="C2" t="e"><v>#DIV/0!</v></c><c r="D2" t="str"><f>x</f><v>b</v></c></row><row><c/><c t="b"><v>1</v></c><c><v>0.1</v></c><c><v>7</v></c></row><row r="9"><c r="D9"><v>8</v></c><c r="C9"><v>9</v></c></row></sheetData><mergeCells><mergeCell ref="B3:B9"/></mergeCells>`
  expect(await markdownOf(convertXlsx, xlsx(sheet))).toBe(
    '## One\n\n| a | #DIV/0! | b |\n| --- | --- | --- |\n| TRUE | 0.1 | 7 |\n| TRUE | 9 | 8 |\n',
  )
})

test('truncates sheets at the limits of tables, with a note', async () => {
  const row = (i: number) => `<row r="${i * 3}"><c r="A${i * 3}"><v>${i}</v></c><c r="ZZ${i * 3}"><v>2</v></c></row>`
  const rows = Array.from({ length: 10_004 }, (_, i) => row(i + 1)).join('')
  const converted = await convertWith(convertXlsx, xlsx(`<sheetData>${rows}</sheetData>`))
  expect(converted.type === 'document' ? converted.body.text.slice(-100) : '').toContain(
    '<td>10000</td></tr></table><p>4 further rows and 446 further columns are left out.</p>',
  )
})

test.each([
  ['General', 'number'],
  ['0.00', 'number'],
  ['#,##0 "days"', 'number'],
  ['[Red]0;[Blue]-0', 'number'],
  ['0.0%', 'percent'],
  ['yyyy-mm-dd', 'date'],
  ['[$-409]d\\.mmm', 'date'],
  ['mmmm', 'date'],
  ['h:mm AM/PM', 'time'],
  ['mm:ss', 'time'],
  ['d/m/yy h:mm', 'moment'],
  ['[h]:mm', 'duration'],
])('the format %s shows a %s', (format, type) => {
  expect(kindOf(format).type).toBe(type)
})

test('formats numbers by their kind', () => {
  const written = (value: number, format: string, is1904 = false) => writeNumber(value, kindOf(format), is1904)
  expect([written(0.1 + 0.2, '0'), written(1e21, '0'), written(0.255, '0.0%')]).toEqual(['0.3', '1e+21', '25.5%'])
  expect([written(61, 'yyyy'), written(44_196, 'd.m.y', true)]).toEqual(['1900-03-01', '2025-01-01'])
  expect([written(1.25, '[h]:mm'), written(0.5 + 5 / 86_400, 'h:mm:ss')]).toEqual(['30:00', '12:00:05'])
  expect([written(-1, 'yyyy'), written(1e300, 'yyyy')]).toEqual(['-1', '1e+300'])
})

test('refuses cells that share a long text when the output would exceed the limit', async () => {
  const strings = `<sst><si><t>${'x'.repeat(30_000)}</t></si></sst>`
  const cells = Array.from(
    { length: 900 },
    (_, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>0</v></c></row>`,
  ).join('')
  const bytes = xlsx(`<sheetData>${cells}</sheetData>`, strings)
  expect(await convertWith(convertXlsx, bytes)).toMatchObject({ type: 'refused', reason: 'too-large' })
})

test('explains why a workbook has no page', async () => {
  expect(await convertWith(convertXlsx, xlsx('<sheetData/>'))).toMatchObject({ type: 'refused', reason: 'empty' })
  expect(await convertWith(convertXlsx, readSample('harbour.xlsx').subarray(100))).toMatchObject({
    type: 'refused',
    reason: 'damaged',
  })
})
