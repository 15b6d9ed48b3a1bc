import { describe, expect, test } from 'vitest'
import { createPathTest } from './path-patterns.ts'

describe('the patterns of a scope', () => {
  test('an exclamation mark before an allow pattern blocks its paths', () => {
    const find = createPathTest({ allow: ['/docs/**', ' !/docs/archive/**'], block: [] })
    expect(find('/docs/a')).toBeNull()
    expect(find('/docs/archive/x')).toEqual({ reason: 'blocked', pattern: ' !/docs/archive/**' })
    expect(find('/blog')).toEqual({ reason: 'not-allowed', pattern: '/docs/**' })
  })

  test('allow patterns that all have an exclamation mark admit every other path', () => {
    const find = createPathTest({ allow: ['!/a'], block: ['!/b'] })
    expect(['/a', '/b', '/c'].map((path) => find(path)?.reason)).toEqual(['blocked', 'blocked', undefined])
  })

  test('an escaped exclamation mark is a character of the path', () => {
    const find = createPathTest({ allow: ['/\\!a', '\\!b'], block: [] })
    expect(['/!a', '/c/!b', '/a'].map((path) => find(path)?.reason)).toEqual([undefined, undefined, 'not-allowed'])
  })
})
