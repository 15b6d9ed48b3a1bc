import { inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Deflater } from './deflate.ts'

const runs = process.env['TEST_LONG'] ? 3000 : 300

/** Bytes with repetitions near and far, from alphabets of any size. */
const repetitive = fc
  .array(
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 6 }), fc.nat(400)).map(([bytes, times]) => {
        return Uint8Array.from({ length: bytes.length * times }, (_, i) => bytes[i % bytes.length] ?? 0)
      }),
      fc
        .constantFrom('{"chunk_id":"', '","tf":', 'the same words again ')
        .map((text) => new TextEncoder().encode(text)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts))

it('zlib restores the compressed bytes, however the input is split', () => {
  const deflater = new Deflater()
  fc.assert(
    fc.property(repetitive, fc.integer({ min: 1, max: 5000 }), (bytes, step) => {
      const packed: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += step) packed.push(deflater.push(bytes.subarray(at, at + step)))
      packed.push(deflater.finish())
      expect(inflateRawSync(Buffer.concat(packed)).equals(bytes)).toBe(true)
    }),
    { numRuns: runs },
  )
})

it.each([
  ['an empty input', Buffer.alloc(0)],
  ['one byte', Buffer.from('a')],
  ['a block of zeros', Buffer.alloc(65_535)],
  ['a byte more than a block', Buffer.alloc(65_536, 'ab')],
  ['several blocks that match across their borders', Buffer.from('0123456789abcdef'.repeat(20_000))],
  ['bytes that do not compress', noise(200_000)],
  ['matches of many distances and lengths', distances()],
])('zlib restores %s, and the output is hardly larger than the input', (_, bytes) => {
  const deflater = new Deflater()
  const packed = Buffer.concat([deflater.push(bytes), deflater.finish()])
  expect(inflateRawSync(packed).equals(bytes)).toBe(true)
  expect(packed.length).toBeLessThan(bytes.length * 1.002 + 16)
})

it('a stream is compressed to the same bytes regardless of earlier streams', () => {
  const used = new Deflater()
  for (const before of [noise(100_000), Buffer.from('the lamp is lit '.repeat(5000))]) {
    used.push(before)
    used.finish()
  }
  const bytes = Buffer.from('the lamp is lit, the lamp is out, the lamp is lit again')
  const fresh = new Deflater()
  expect(Buffer.concat([used.push(bytes), used.finish()])).toEqual(Buffer.concat([fresh.push(bytes), fresh.finish()]))
})

function noise(length: number): Buffer {
  let state = 7
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    }),
  )
}

/** Noise in which pieces of growing length repeat at growing distance. */
function distances(): Buffer {
  const base = noise(32_768)
  const parts: Uint8Array[] = [base]
  for (let distance = 1; distance < 32_000; distance = Math.ceil(distance * 1.3)) {
    for (const length of [4, 5, 11, 35, 130, 257, 258, 259]) {
      const current = Buffer.concat(parts)
      const start = current.length - distance
      parts.push(current.subarray(start, start + Math.min(length, distance)), noise(3))
    }
  }
  return Buffer.concat(parts)
}
