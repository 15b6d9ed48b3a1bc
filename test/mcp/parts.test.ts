import { expect, test } from 'vitest'
import { openTestSite } from '../sites/crawl.ts'
import { markdown, page, text } from '../sites/site.ts'
import { connect, textOf, until } from './connect.ts'

/** One line of many characters, some of which take two UTF-16 units. */
const LONG_LINE = 'kiln 🔥 '.repeat(30_000).trim()
const SITE = {
  '/': page('Start', ['/long']),
  '/long': text(markdown('Long', `\n${LONG_LINE}\n\nThe end.\n`), 'text/markdown'),
}

interface Part {
  readonly startLine: number
  readonly endLine: number
  readonly totalLines: number
  readonly nextLine: number | null
  readonly nextColumn: number | null
}

test.each([
  ['read_page', 'text'],
  ['fetch_url', 'markdown'],
])('%s cuts a long line to stay within its budget, and the next call continues at the cut', async (tool, field) => {
  const { origin } = await openTestSite(SITE)
  const { call, callForText } = await connect()
  await call('add_source', { url: `${origin}/`, name: 'docs' })
  await until(
    () => callForText('crawl_status', { source: 'docs' }),
    (status) => status.includes('INDEXED'),
  )
  const url = `${origin}/long`
  const first = await call(tool, { url })
  expect(textOf(first, 1).length).toBeLessThanOrEqual(40_000)
  expect(JSON.stringify(first).length).toBeLessThan(200_000)

  let whole = ''
  let next: Partial<Part> = { nextLine: 1, nextColumn: 1 }
  for (let calls = 0; next.nextLine != null && calls < 10; calls++) {
    const answer = await call(tool, { url, tokens: 15_001, startLine: next.nextLine, startColumn: next.nextColumn })
    const part = answer.structuredContent as unknown as Part & Record<string, string>
    expect(textOf(answer, 1)).toBe(part[field])
    // A line break is added if the part begins on a new line.
    whole += `${part.startLine > (next.endLine ?? 1) ? '\n' : ''}${part[field]}`
    const { nextLine, nextColumn, totalLines } = part
    if (nextLine !== null) {
      const position = nextColumn === 1 ? `startLine ${nextLine}` : `startLine ${nextLine} startColumn ${nextColumn}`
      expect(textOf(answer, 0).endsWith(` — of ${totalLines} lines, next ${position}`)).toBe(true)
    }
    next = part
  }
  expect(next.nextLine).toBeNull()
  expect(whole).toContain(LONG_LINE)
  expect(whole).toContain('The end.')

  const longLineNumber = whole.split('\n').indexOf(LONG_LINE) + 1
  expect(await callForText(tool, { url, startLine: longLineNumber, startColumn: 2_000_000 })).toMatch(
    /^Error \(USAGE\): startColumn: expected a whole number from 1 to \d+, got 2000000/,
  )
})
