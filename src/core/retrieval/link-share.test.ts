import { expect, test } from 'vitest'
import { linkShareOf } from './link-share.ts'

test('the share of links counts visible letters', () => {
  expect(linkShareOf('No link at all.')).toBe(0)
  expect(linkShareOf('- [One](/1)\n- [Two](/2)')).toBe(1)
  expect(linkShareOf('[four](/a/very/long/address) else')).toBe(0.5)
  expect(linkShareOf('[a [b] c](/x) [d]')).toBe(0.75)
  expect(linkShareOf('[![a](/i.png)](/w/C_(language))b')).toBe(0.5)
  expect(linkShareOf('[]()')).toBe(0)
})

test('unmatched brackets are text', () => {
  expect(linkShareOf('a] b](c)')).toBe(0)
  expect(linkShareOf('[a](b')).toBe(0)
})

test('hostile brackets take linear time', () => {
  for (const part of ['[', ']', '](', '[](', '[a](b', '[[a](', '](a(b']) {
    const share = linkShareOf(`${part.repeat(20_000)}](`)
    expect(share).toBeGreaterThanOrEqual(0)
    expect(share).toBeLessThanOrEqual(1)
  }
})
