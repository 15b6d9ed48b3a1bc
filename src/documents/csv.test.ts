import { describe, expect, test } from 'vitest'
import { convertCsv } from './csv.ts'
import { DOCUMENT_LIMITS, type TextDocument } from './document.ts'

const encode = (text: string) => new TextEncoder().encode(text)

async function textOf(csv: string, path = 'data.csv'): Promise<string> {
  const converted = (await convertCsv(encode(csv), path)) as TextDocument
  return converted.body.text
}

describe('convertCsv', () => {
  test('turns rows into a table with a header', async () => {
    expect(await textOf('name,size\nred,1\nblue,2\n')).toBe(
      '| name | size |\n| --- | --- |\n| red | 1 |\n| blue | 2 |\n',
    )
  })

  test('reads quoted values, line breaks inside them and CRLF', async () => {
    expect(await textOf('a,b\r\n"x, ""y""\nz",2\r\n')).toBe('| a | b |\n| --- | --- |\n| x, "y" z | 2 |\n')
  })

  test.each([
    ['a;b\n1,5;2\n', 'x.csv'],
    ['a\tb\n1,5\t2\n', 'x.csv'],
    ['a\tb\n1,5\t2\n', 'x.tsv'],
    ['a|b\n1,5|2\n', 'x.csv'],
  ])('detects the separator of %j', async (csv, path) => {
    expect(await textOf(csv, path)).toBe('| a | b |\n| --- | --- |\n| 1,5 | 2 |\n')
  })

  test('fills up rows that are too short', async () => {
    expect(await textOf('a,b,c\n1\n')).toContain('| 1 |  |  |')
  })

  test('treats every value as text', async () => {
    const text = await textOf('a,b\n<script>alert(1)</script>,*x* `y` snake_case\n')
    expect(text).toContain('| \\<script\\>alert(1)\\</script\\> | \\*x\\* \\`y\\` snake_case |')
  })
})

describe('convertCsv with large or invalid input', () => {
  test('notes how many rows and columns were left out', async () => {
    const row = (length: number) => Array.from({ length }, (_, i) => `c${i}`).join(',')
    const long = await textOf(`a,b\n${'1,2\n'.repeat(DOCUMENT_LIMITS.rows + 5)}`)
    expect(long).toMatch(/^The first 10,000 of 10,005 rows are here\.\n\n\| a /)
    expect(long.trimEnd().split('\n')).toHaveLength(2 + 2 + DOCUMENT_LIMITS.rows)
    const wide = await textOf(`${row(300)}\n1,2\n`)
    expect(wide).toMatch(/^The first 256 of 300 columns are here\.\n\n\| c0 /)
    expect(wide).not.toContain('c256')
  })

  test('allows fewer rows in tables with many columns', async () => {
    const width = 250
    const wide = await textOf(`${'a,'.repeat(width - 1)}b\n`.repeat(1010))
    expect(wide).toMatch(/^The first 1,000 of 1,009 rows are here\.\n/)
    expect(wide.trimEnd().split('\n')).toHaveLength(2 + 2 + DOCUMENT_LIMITS.cells / width)
  })

  test('reads an unclosed quotation mark, very many quotation marks and very many columns', async () => {
    expect(await textOf(`a,b\n"x,"${'y'.repeat(100_000)}`)).toContain('yyy')
    expect(await textOf(`a,b\n${'"'.repeat(300_001)},x\n`)).toContain('| a | b |')
    expect(await textOf(`a${','.repeat(300_000)}`)).toContain('of 300,001 columns')
  })

  test('refuses an empty file and a binary file', () => {
    expect(() => convertCsv(encode(' \n'), 'x.csv')).toThrow('no text')
    expect(() => convertCsv(new Uint8Array([1, 0, 2]), 'x.csv')).toThrow('not text')
  })
})
