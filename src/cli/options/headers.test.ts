import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseHeaders } from './headers.ts'

test('headers are parsed by name, with any characters in their values', () => {
  expect(parseHeaders(['Authorization: Bearer a:b,c', 'X-Empty:', 'cookie:a=1 '])).toEqual({
    authorization: 'Bearer a:b,c',
    'x-empty': '',
    cookie: 'a=1',
  })
  expect(parseHeaders()).toEqual({})
})

test('the last of several values of a header is used', () => {
  expect(parseHeaders(['X-Key: one', 'x-key: two'])).toEqual({ 'x-key': 'two' })
})

test.each([
  ['s3cret', "--header: expected 'Name: value'"],
  [': s3cret', "--header: expected 'Name: value'"],
  ['Bad Name: s3cret', "--header: expected 'Name: value'"],
  ['Host: s3cret', '--header: the header field Host cannot be set'],
  ['If-None-Match: s3cret', '--header: the header field If-None-Match cannot be set'],
  ['X-Key: s3cret\r\nHost: evil', '--header: the value of the header field X-Key has characters that cannot be sent'],
  ['X-Key: s3cret€', '--header: the value of the header field X-Key has characters that cannot be sent'],
])('the header %j is refused with an error that does not repeat the value', (text, message) => {
  expect(() => parseHeaders([text])).toThrow(message)
  expect(() => parseHeaders([text])).not.toThrow('s3cret')
})

describe('header file', () => {
  let folder = ''

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-headers-'))
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  const write = (content: string): string => {
    const file = join(folder, 'fields')
    writeFileSync(file, content)
    return `@${file}`
  }

  test('a file has one header per line, applied in the order of the arguments', () => {
    const file = write('Authorization: Bearer a:b\r\n\n  \nX-Key: two\nx-kept: @here')
    expect(parseHeaders(['x-key: one', file, 'X-Kept: last'])).toEqual({
      authorization: 'Bearer a:b',
      'x-key': 'two',
      'x-kept': 'last',
    })
  })

  test('an empty file has no headers', () => {
    expect(parseHeaders([write('')])).toEqual({})
  })

  test.each([
    ['X-Key: one\n\ns3cret\n', "--header: line 3 of the file: expected 'Name: value'"],
    ['Host: s3cret', '--header: line 1 of the file: the header field Host cannot be set'],
    ['@s3cret', "--header: line 1 of the file: expected 'Name: value'"],
  ])('an invalid line of a file is refused with an error that does not repeat the value (%j)', (content, message) => {
    const file = write(content)
    expect(() => parseHeaders([file])).toThrow(message)
    expect(() => parseHeaders([file])).not.toThrow('s3cret')
  })

  test('a missing file and a folder are refused', () => {
    const missing = join(folder, 'missing')
    expect(() => parseHeaders([`@${missing}`])).toThrow(`--header: the file ${JSON.stringify(missing)} does not exist`)
    expect(() => parseHeaders([`@${folder}`])).toThrow(`--header: the file ${JSON.stringify(folder)} cannot be read`)
    expect(() => parseHeaders(['@'])).toThrow('--header: the file "" does not exist')
  })
})
