import { expect, test } from 'vitest'
import { LruCache } from './lru-cache.ts'

test('a full cache drops the entry that was unused for longest', () => {
  const recent = new LruCache<string>(10)
  recent.set(1, 'a', 4)
  recent.set(2, 'b', 4)
  recent.get(1)
  recent.set(3, 'c', 4)
  expect([1, 2, 3].map((key) => recent.get(key))).toEqual(['a', undefined, 'c'])
})

test('counts a replaced value once', () => {
  const recent = new LruCache<string>(10)
  recent.set(1, 'a', 8)
  recent.set(1, 'b', 6)
  recent.set(2, 'c', 4)
  expect([recent.get(1), recent.get(2)]).toEqual(['b', 'c'])
})

test('keeps no value that is larger than the cache', () => {
  const recent = new LruCache<string>(10)
  recent.set(1, 'a', 11)
  expect(recent.get(1)).toBeUndefined()
})
