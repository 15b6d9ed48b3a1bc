import { expect, test } from 'vitest'
import { LruCache } from './lru-cache.ts'

test('a full cache drops the entry that was unused for longest', () => {
  const cache = new LruCache<string>(10)
  cache.set(1, 'a', 4)
  cache.set(2, 'b', 4)
  cache.get(1)
  cache.set(3, 'c', 4)
  expect([1, 2, 3].map((key) => cache.get(key))).toEqual(['a', undefined, 'c'])
})

test('the cache counts the size of a replaced value only once', () => {
  const cache = new LruCache<string>(10)
  cache.set(1, 'a', 8)
  cache.set(1, 'b', 6)
  cache.set(2, 'c', 4)
  expect([cache.get(1), cache.get(2)]).toEqual(['b', 'c'])
})

test('the cache keeps no value that is larger than its maximum size', () => {
  const cache = new LruCache<string>(10)
  cache.set(1, 'a', 11)
  expect(cache.get(1)).toBeUndefined()
})
