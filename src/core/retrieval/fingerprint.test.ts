import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { distanceOf, fingerprintOf, readFingerprint } from './fingerprint.ts'

const words = fc.array(fc.stringMatching(/^[a-z]{2,9}$/), { minLength: 60, maxLength: 200 })
const bitsOf = (text: string) => readFingerprint(fingerprintOf(text) ?? '')

describe('a fingerprint', () => {
  test('does not depend on white space, marks, case and link targets', () => {
    fc.assert(
      fc.property(words, (some) => {
        const plain = fingerprintOf(some.join(' '))
        expect(fingerprintOf(some.map((word) => `**${word.toUpperCase()}**,`).join('\n\n'))).toBe(plain)
        expect(fingerprintOf(some.map((word, i) => `[${word}](https://docs.test/${i}.html)`).join(' '))).toBe(plain)
      }),
    )
  })

  test('has a symmetric distance to others, and a distance of 0 to itself', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        const [one, other] = [bitsOf(a.join(' ')), bitsOf(b.join(' '))]
        expect(distanceOf(one, one)).toBe(0)
        expect(distanceOf(one, other)).toBe(distanceOf(other, one))
        expect(distanceOf(one, other)).toBeLessThanOrEqual(64)
      }),
    )
  })

  test('is near for small differences, and far for unrelated texts', () => {
    const text = (name: string) => Array.from({ length: 400 }, (_, i) => `${name}${(i * 7919) % 401}`).join(' ')
    const changed = text('word').replace('word17 ', 'another ').replace('word300 ', '')
    expect(distanceOf(bitsOf(text('word')), bitsOf(changed))).toBeLessThanOrEqual(6)
    expect(distanceOf(bitsOf(text('word')), bitsOf(text('other')))).toBeGreaterThan(15)
  })

  test('is near for a small difference in a text without spaces between words', () => {
    const one = '接続が切れたときは、もう一度試みる前に少し待ちます。待つ時間は設定で変えられます。'
    expect(distanceOf(bitsOf(one.repeat(3)), bitsOf(`${one.repeat(3)}以上。`))).toBeLessThan(16)
  })

  test('the fingerprint of a few words only tells whether they are equal', () => {
    expect(bitsOf('Start here').isShort).toBe(true)
    expect(fingerprintOf('Start **here**')).toBe(fingerprintOf('Start here'))
    expect(fingerprintOf('Start there')).not.toBe(fingerprintOf('Start here'))
    expect(fingerprintOf('---')).toBeNull()
  })

  test('has 64 bits', () => {
    const text = Array.from({ length: 50 }, (_, i) => `word${i}`).join(' ')
    expect(fingerprintOf(text)).toMatch(/^[0-9a-f]{16}$/)
  })
})
