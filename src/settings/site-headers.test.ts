import { describe, expect, test } from 'vitest'
import { createSiteHeaderLookup, listSiteHeaders, parseSiteHeaders } from './site-headers.ts'

const VALUES = { COOKIE: ' session=s3cret\n', TOKEN: 'Bearer s3cret', EMPTY: ' ', BROKEN: 's3cret\u{20ac}' }

describe('site headers', () => {
  const lookup = createSiteHeaderLookup(
    listSiteHeaders({
      'docs.example.com': { Cookie: 'COOKIE', Authorization: 'TOKEN' },
      'https://wiki.example.com:8443': { 'X-Api-Key': 'TOKEN' },
      'localhost:3000': { Cookie: 'COOKIE' },
      'http://127.0.0.1:4000': { Cookie: 'COOKIE' },
    }),
    VALUES,
  )

  test.each([
    ['https://docs.example.com/a?b', { cookie: 'session=s3cret', authorization: 'Bearer s3cret' }],
    ['https://DOCS.example.com:443/', { cookie: 'session=s3cret', authorization: 'Bearer s3cret' }],
    ['https://wiki.example.com:8443/', { 'x-api-key': 'Bearer s3cret' }],
    ['http://localhost:3000/', { cookie: 'session=s3cret' }],
    ['https://localhost:3000/', { cookie: 'session=s3cret' }],
    ['http://127.0.0.1:4000/', { cookie: 'session=s3cret' }],
  ])('%s receives its headers', (url, headers) => {
    expect(lookup.require(url)).toEqual(headers)
    expect(lookup.find(url)).toEqual(headers)
  })

  test.each([
    'http://docs.example.com/',
    'https://docs.example.com:8443/',
    'https://sub.docs.example.com/',
    'https://example.com/',
    'https://docs.example.com.evil.test/',
    'https://wiki.example.com/',
    'http://localhost:3001/',
    'https://127.0.0.1:4000/',
    'not an address',
    'file:///docs.example.com',
  ])('%s receives no headers', (url) => {
    expect(lookup.require(url)).toEqual({})
  })

  test.each([
    ['MISSING', 'MISSING, which should hold the cookie header for https://docs.example.com, is not set'],
    ['EMPTY', 'EMPTY, which should hold the cookie header for https://docs.example.com, is not set'],
    ['BROKEN', 'the value of BROKEN has characters that cannot be sent in a header'],
  ])('a variable without a usable value is named, never its value (%s)', (variable, message) => {
    const headers = createSiteHeaderLookup([`docs.example.com Cookie=${variable}`], VALUES)
    expect(() => headers.require('https://docs.example.com/')).toThrow(message)
    expect(() => headers.require('https://docs.example.com/')).not.toThrow('s3cret')
    expect(headers.find('https://docs.example.com/')).toEqual({})
    expect(headers.require('https://other.example.com/')).toEqual({})
  })

  test.each([
    [['docs.example.com Cookie=session=s3cret'], 'expected hosts with headers'],
    [['docs.example.com Cookie=s3cret'], 'expected hosts with headers'],
    [['docs.example.com'], 'expected hosts with headers'],
    [['docs.example.com Cookie=PHAROS_TOKEN'], 'expected hosts with headers'],
    [['docs.example.com Host=TOKEN'], 'the header field Host cannot be set'],
    [['docs.example.com Content-Length=TOKEN'], 'the header field Content-Length cannot be set'],
    [['docs.example.com Connection=TOKEN'], 'the header field Connection cannot be set'],
    [['docs.example.com Coo(kie=TOKEN'], 'is not the name of a header field'],
    [['docs.example.com/docs/ Cookie=TOKEN'], 'expected a host or an origin'],
    [['https://me:s3cret@docs.example.com Cookie=TOKEN'], 'expected a host or an origin'],
    [['http://docs.example.com Cookie=TOKEN'], 'would be sent unencrypted'],
    [['docs.example.com Cookie=TOKEN', 'https://docs.example.com cookie=COOKIE'], 'cookie is given twice'],
  ])('%j is refused, without repeating what may be a secret', (entries, message) => {
    expect(() => parseSiteHeaders(entries)).toThrow(message)
    expect(() => parseSiteHeaders(entries)).not.toThrow('s3cret')
  })

  test.each([
    [{ 'docs.example.com': 'DOCS_COOKIE' }],
    [{ 'docs.example.com': { Cookie: 'session=s3cret' } }],
    [{ 'docs.example.com': { Cookie: ['DOCS_COOKIE'] } }],
    [{ 'docs.example.com': { 'Cookie=X': 'DOCS_COOKIE' } }],
    [{ 'a.example,b.example': { Cookie: 'DOCS_COOKIE' } }],
  ])('%j is refused as a value of the configuration file', (value) => {
    expect(() => listSiteHeaders(value)).toThrow('expected hosts with headers')
    expect(() => listSiteHeaders(value)).not.toThrow('s3cret')
  })
})
