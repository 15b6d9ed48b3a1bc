import { expect, test } from 'vitest'
import { isListed, listStrongest, parseDigest, parseNamedDigest, parseSri } from './integrity.ts'

const BYTES = Array.from({ length: 64 }, (_, index) => index)
const HEX = BYTES.map((byte) => byte.toString(16).padStart(2, '0')).join('')
const sriOf = (algorithm: string, length: number) =>
  `${algorithm}-${btoa(String.fromCharCode(...BYTES.slice(0, length)))}`

test('parseSri has the digests of the strongest algorithm', () => {
  const sha512 = { algorithm: 'sha512', digest: HEX }
  expect(parseSri(sriOf('sha512', 64))).toEqual([sha512])
  expect(parseSri(`${sriOf('sha1', 20)} ${sriOf('sha512', 64)}?option  ${sriOf('sha512', 64)}`)).toEqual([
    sha512,
    sha512,
  ])
  expect(parseSri(sriOf('sha1', 20))).toEqual([{ algorithm: 'sha1', digest: HEX.slice(0, 40) }])
})

test.each([undefined, '', 'sha512-', 'sha512-%%%', sriOf('sha512', 63), 'md5-AAAA', 'sha512'])(
  'parseSri finds no digest in %j',
  (text) => {
    expect(parseSri(text)).toEqual([])
  },
)

test('digests in hexadecimal must have the length of their algorithm', () => {
  const digest = HEX.slice(0, 64)
  expect(parseDigest('sha256', digest.toUpperCase())).toEqual({ algorithm: 'sha256', digest })
  expect(parseDigest('sha256', `${digest}0`)).toBeUndefined()
  expect(parseDigest('sha256', digest.replace('0', 'g'))).toBeUndefined()
  expect(parseNamedDigest(`sha256:${digest}`)).toEqual({ algorithm: 'sha256', digest })
  expect(parseNamedDigest(`md5:${HEX.slice(0, 32)}`)).toBeUndefined()
  expect(parseNamedDigest(`constructor:${digest}`)).toBeUndefined()
})

test('digests of different algorithms are not compared', () => {
  expect(isListed('sha256-a', ['sha256-b', 'sha256-a'])).toBe(true)
  expect(isListed('sha256-a', ['sha256-b', 'sha512-a'])).toBe(false)
  expect(isListed('sha256-a', ['sha512-a'])).toBeUndefined()
  expect(listStrongest(['sha1-a', 'sha256-b', 'sha256-c'])).toEqual({
    algorithm: 'sha256',
    hashes: ['sha256-b', 'sha256-c'],
  })
  expect(listStrongest([])).toEqual({ algorithm: undefined, hashes: [] })
})
