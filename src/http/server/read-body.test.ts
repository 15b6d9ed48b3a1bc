import { expect, test } from 'vitest'
import { readJson } from './read-body.ts'

/** The parsed body, or the message of its refusal. */
async function read(body: string): Promise<unknown> {
  const request = new Request('https://host.example/', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  try {
    return await readJson(request, 40_000_000)
  } catch (error) {
    return String(error)
  }
}

test('JSON of 64 levels is parsed, and one more level is refused', async () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(JSON.stringify(await read(nested(64)))).toBe(nested(64))
  expect(await read(nested(65))).toContain('body: it is nested more than 64 levels deep')
})

test('JSON of 750,000 values is parsed, and one more value is refused', async () => {
  // The list and each comma count.
  const list = (items: number) => `[${'1,'.repeat(items - 1)}1]`
  expect(await read(list(750_000))).toHaveLength(750_000)
  expect(await read(list(750_001))).toContain('body: it has more than 750000 values')
  expect(await read('{},'.repeat(9_000_000))).toContain('body: it has more than 750000 values')
})

test('brackets, commas and quotes inside strings do not count, however they are escaped', async () => {
  const text = `${'[{,'.repeat(400_000)}"\\\\"\\`
  expect(await read(JSON.stringify({ text }))).toEqual({ text })
  expect(await read(JSON.stringify({ [text]: [text, { é: 'ü' }] }))).toEqual({ [text]: [text, { é: 'ü' }] })
})

test('a string that never ends is refused at once', async () => {
  expect(await read(`"${'\\"'.repeat(524_000)}`)).toContain('body: it is not valid JSON')
})
