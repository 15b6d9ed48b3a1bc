import { expect, test } from 'vitest'
import { parseHeaders } from './headers.ts'

test('fields are read by name, whatever their value holds', () => {
  expect(parseHeaders(['Authorization: Bearer a:b,c', 'X-Empty:', 'cookie:a=1 '])).toEqual({
    authorization: 'Bearer a:b,c',
    'x-empty': '',
    cookie: 'a=1',
  })
  expect(parseHeaders()).toEqual({})
})

test('the last of several values of a field counts', () => {
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
])('%j is refused without repeating it', (text, message) => {
  expect(() => parseHeaders([text])).toThrow(message)
  expect(() => parseHeaders([text])).not.toThrow('s3cret')
})
