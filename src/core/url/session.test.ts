import { describe, expect, test } from 'vitest'
import { urlKey } from './key.ts'
import { stripSession } from './session.ts'

const HASH = '0123456789abcdef0123456789abcdef'

/** Addresses, each with its form without the session id, and the name of the id. */
const SESSIONS: readonly (readonly [url: string, stripped: string, name: string])[] = [
  ['https://a.example/x?PHPSESSID=1', 'https://a.example/x', 'phpsessid'],
  ['https://a.example/x?PHPSESSID=', 'https://a.example/x', 'phpsessid'],
  ['https://a.example/x?id=1&jsessionid=A.node1&b=%7e', 'https://a.example/x?id=1&b=%7e', 'jsessionid'],
  ['https://a.example/x/?ASPSESSIONIDQABC=x', 'https://a.example/x/', 'aspsessionidqabc'],
  ['https://a.example/x?CFID=12&CFTOKEN=34&id=5', 'https://a.example/x?id=5', 'cfid'],
  ['https://a.example/x?id=5&sessionid=abc123', 'https://a.example/x?id=5', 'sessionid'],
  ['https://a.example/x?zenid=abc', 'https://a.example/x', 'zenid'],
  ['https://a.example/x?osCsid=abc', 'https://a.example/x', 'oscsid'],
  [`https://a.example/x?sid=${HASH}`, 'https://a.example/x', 'sid'],
  ['https://a.example/x?%73id=k3j9d8f7a2k3j9d8', 'https://a.example/x', 'sid'],
  ['https://a.example/x?sid=1234a5678b9012cd', 'https://a.example/x', 'sid'],
  [`https://a.example/x?sess=${HASH}01234567`, 'https://a.example/x', 'sess'],
  [`https://a.example/x?session=${HASH}${HASH}`, 'https://a.example/x', 'session'],
  [`https://a.example/x?session=${'deadbeef'.repeat(4)}`, 'https://a.example/x', 'session'],
  ['https://a.example/x?session_id=0f8fad5b-d9cb-469f-a165-70867728950e', 'https://a.example/x', 'session_id'],
  ['https://a.example/x?SessionId=12345678901234567890', 'https://a.example/x', 'sessionid'],
  [`https://a.example/x?s=${HASH}`, 'https://a.example/x', 's'],
  ['https://a.example/x;jsessionid=1A2B?id=1', 'https://a.example/x?id=1', 'jsessionid'],
  ['https://a.example/x;v=1;JSESSIONID=1A2B/y', 'https://a.example/x;v=1/y', 'jsessionid'],
  ['https://a.example/x/;jsessionid=1A2B', 'https://a.example/x/', 'jsessionid'],
  ['https://a.example/(S(lit3py55t21z5v55vlm25s55))/x', 'https://a.example/x', 'session'],
  ['https://a.example/x/(A(b)S(c))/(F(d))/', 'https://a.example/x/', 'session'],
]

describe('the id of a session', () => {
  test.each(SESSIONS)('removing the session id from %s leaves %s', (url, stripped, name) => {
    expect(stripSession(url)).toEqual({ stripped, name })
    expect(stripSession(stripped)).toBeNull()
  })

  test.each(SESSIONS)('the key of %s has no session id', (url, stripped) => {
    expect(urlKey(url)).toBe(urlKey(stripped))
    expect(urlKey(urlKey(url) ?? '')).toBe(urlKey(url))
    expect(urlKey(url, { keepsQuery: true })).toBe(urlKey(stripped, { keepsQuery: true }))
    expect(urlKey(url, { keepsSession: true })).not.toBe(urlKey(stripped, { keepsSession: true }))
  })

  test('a session id that is the whole path leaves the root', () => {
    expect(urlKey('https://a.example/(S(x))')).toBe('https://a.example/')
    expect(urlKey('https://a.example/;jsessionid=1/')).toBe('https://a.example/')
  })

  test.each([
    'https://a.example/x',
    'https://a.example/x?sid=17',
    'https://a.example/x?sid=getting-started',
    'https://a.example/x?session_id=keynote',
    'https://a.example/x?session=S62345',
    'https://a.example/x?session=keynote2023',
    'https://a.example/x?session=closing2023',
    'https://a.example/x?session=closingkeynoteofwwdc2023',
    'https://a.example/x?sid=story1234567',
    'https://a.example/x?sid=story1234567890123456789',
    'https://a.example/x?session_id=wwdc202310101',
    'https://a.example/x?session_id=wwdc2023keynote10101',
    'https://a.example/x?session=introduction-to-2023-part-2',
    'https://a.example/x?session=gtc24s62410ai',
    'https://a.example/x?sid=1234567890123456789',
    'https://a.example/x?sid=k3j9d8f7a2k3j9d',
    `https://a.example/x?sid=${'deadbeef'.repeat(3)}`,
    'https://a.example/x?s=crawler',
    'https://a.example/x?inside=k3j9d8f7a2',
    `https://a.example/x?hash=${HASH}`,
    'https://a.example/sid/k3j9d8f7a2',
    'https://a.example/jsessionid',
    'https://a.example/x;v=1',
    'https://a.example/x/..;jsessionid=1/y',
    'https://a.example/f(x)/(S)',
    'https://a.example/wiki/(S(x))_in_words',
  ])('finds no session id in %s', (url) => {
    expect(stripSession(url)).toBeNull()
    expect(urlKey(url)).toBe(url)
  })

  // Anything that is not linear takes hours here.
  test('searches for a session id in linear time', () => {
    for (const part of ['(S(', ';sid=', '&s=', '/(S(a)', 'a1', 'a', '1', '%']) {
      expect(stripSession(`https://a.example/${part.repeat(100_000)}`)).toBeNull()
      stripSession(`https://a.example/?sid=${part.repeat(100_000)}`)
    }
  })
})
