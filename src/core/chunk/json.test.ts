import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { cutJson } from './json.ts'
import type { ChunkSizes, Piece } from './piece.ts'

const ROOMY = { targetChars: 4000, maxChars: 8000 }
const TIGHT = { targetChars: 64, maxChars: 64 }

function cut(text: string, sizes: ChunkSizes = ROOMY): Piece[] | undefined {
  return cutJson(text, sizes)
}

/** Address, lines and content of each piece. */
function summary(text: string, sizes: ChunkSizes = ROOMY): string[] | undefined {
  return cut(text, sizes)?.map(
    ({ address, startLine, endLine, content }) => `${address} ${startLine}-${endLine} ${content}`,
  )
}

describe('an object', () => {
  test('gives a piece for each key, keys sorted, with the lines of key and value', () => {
    expect(cut('{\n  "zeta": 1,\n  "alpha": {\n    "x": [1, 2]\n  }\n}\n')).toEqual([
      {
        startLine: 3,
        endLine: 5,
        content: '{"x":[1,2]}',
        headingPath: ['alpha'],
        symbol: 'alpha',
        address: '$.alpha',
      },
      { startLine: 2, endLine: 2, content: '1', headingPath: ['zeta'], symbol: 'zeta', address: '$.zeta' },
    ])
  })

  test('includes the line of a key whose value starts on another line', () => {
    expect(summary('{\n"a"\n:\n[\n1\n]\n}')).toEqual(['$.a 2-6 [1]'])
  })

  test('sorts its keys by their UTF-8 bytes', () => {
    expect(cut('{"b":1,"😀":1,"！":1,"B":1,"":1}')?.map((piece) => piece.symbol)).toEqual(['', 'B', 'b', '！', '😀'])
  })

  test.each([
    ['{"a.b":1}', '$["a.b"]'],
    ['{"a":1}', '$.a'],
    ['{"a b":1}', '$["a b"]'],
    ['{"":1}', '$[""]'],
    ['{"a\\"b":1}', '$["a\\"b"]'],
    ['{"a#1":1}', '$["a#1"]'],
    ['{"[0]":1}', '$["[0]"]'],
    ['{"a\\nb":1}', '$["a\\nb"]'],
    ['{"größe":1}', '$.größe'],
    ['{"\\u0061":1}', '$.a'],
    ['{"a-b_c/d":1}', '$.a-b_c/d'],
  ])('%s has the address %s', (text, address) => {
    expect(cut(text)?.map((piece) => piece.address)).toEqual([address])
  })

  test('keeps both values of a duplicate key', () => {
    expect(summary('{"a":1,"b":2,"a":3}')).toEqual(['$.a 1-1 1', '$.a 1-1 3', '$.b 1-1 2'])
  })

  test('keeps a key that is too long for an address in the content', () => {
    const key = 'k'.repeat(300)
    expect(cut(`{"${key}":1}`)).toEqual([
      {
        startLine: 1,
        endLine: 1,
        content: `{"${key}":1}`,
        headingPath: ['k'.repeat(200)],
        symbol: 'k'.repeat(200),
        address: `$.${'k'.repeat(200)}`,
      },
    ])
    expect(
      cut(`{"${key}":1}`, TIGHT)
        ?.map((piece) => piece.content)
        .join(''),
    ).toBe(`{"${key}":1}`)
  })
})

test('numbers and strings stay as they are written', () => {
  const text = '{"a":[12345678901234567890, 1.0, 1E+2, -0, "\\u00e9\\/", " a , b "]}'
  expect(summary(text)).toEqual(['$.a 1-1 [12345678901234567890,1.0,1E+2,-0,"\\u00e9\\/"," a , b "]'])
})

describe('an array', () => {
  test('gives a piece for every fifty elements', () => {
    const text = JSON.stringify(Array.from({ length: 120 }, (_, i) => i))
    expect(cut(text)?.map(({ address, content }) => [address, JSON.parse(content).length])).toEqual([
      ['$[0:50]', 50],
      ['$[50:100]', 50],
      ['$[100:120]', 20],
    ])
  })

  test('is halved until it fits, with the lines of its elements', () => {
    const text = JSON.stringify(
      Array.from({ length: 4 }, (_, i) => `${i}`.repeat(20)),
      null,
      1,
    )
    expect(summary(text, TIGHT)).toEqual([
      `$[0:2] 2-3 ["${'0'.repeat(20)}","${'1'.repeat(20)}"]`,
      `$[2:4] 4-5 ["${'2'.repeat(20)}","${'3'.repeat(20)}"]`,
    ])
  })

  test('an element that does not fit is cut up, under addresses with its index', () => {
    expect(summary(`["a", {"x": "${'y'.repeat(60)}", "z": 1}]`, TIGHT)).toEqual([
      '$[0:1] 1-1 ["a"]',
      `$[1].x 1-1 "${'y'.repeat(60)}"`,
      '$[1].z 1-1 {"z":1}',
    ])
  })
})

describe('a value longer than the cap', () => {
  test('is cut along its own members, small ones together', () => {
    const value = { a: 'x'.repeat(20), b: 'x'.repeat(20), c: 'x'.repeat(20), 'd.e': 'y'.repeat(58) }
    expect(summary(JSON.stringify({ big: value }, null, 2), TIGHT)).toEqual([
      `$.big#1 3-4 {"a":"${'x'.repeat(20)}","b":"${'x'.repeat(20)}"}`,
      `$.big.c 5-5 {"c":"${'x'.repeat(20)}"}`,
      `$.big["d.e"] 6-6 "${'y'.repeat(58)}"`,
    ])
  })

  test('is sliced when it is a string', () => {
    expect(summary(`{"a":"${'x'.repeat(100)}"}`, TIGHT)).toEqual([
      `$.a#1 1-1 "${'x'.repeat(63)}`,
      `$.a#2 1-1 ${'x'.repeat(37)}"`,
    ])
  })

  test('keeps all keys on the way in its heading path', () => {
    const pieces = cut(JSON.stringify({ a: { b: { c: 'x'.repeat(70) } } }), TIGHT)
    expect(pieces?.map(({ headingPath, address }) => [headingPath, address])).toEqual([
      [['a', 'b', 'c'], '$.a.b.c#1'],
      [['a', 'b', 'c'], '$.a.b.c#2'],
    ])
  })
})

test.each([
  ['1', '$ 1-1 1'],
  [' "a"\n', '$ 1-1 "a"'],
  ['\n\nnull', '$ 3-3 null'],
  ['{}', '$ 1-1 {}'],
  ['[ ]', '$ 1-1 []'],
])('%j is one piece', (text, expected) => {
  expect(summary(text)).toEqual([expected])
})

test.each([
  '',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '// x\n{}',
  '1 2',
  '[1,]',
  '01',
  'NaN',
  '"\t"',
  '"\\x"',
  '{"a" 1}',
  '[1 2]',
  '\ufeff{}',
])('returns no pieces for %j, which is not JSON', (text) => {
  expect(cut(text)).toBeUndefined()
})

test('finishes quickly on brackets nested 100,000 deep, and on many keys', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i])))
  const ms = cpuMsOf(() => {
    expect(
      cut(deep)
        ?.map((piece) => piece.content)
        .join(''),
    ).toHaveLength(200_000 - 2 * 16)
    expect(cut(keys)).toHaveLength(50_000)
  })
  expect(ms).toBeLessThan(5000)
})
