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

test('dropped entries make room for others', () => {
  const cache = new LruCache<string>(10)
  for (const key of [1, 2, 3]) cache.set(key, `value ${key}`, 3)
  cache.keep((key) => key === 2)
  for (const key of [4, 5]) cache.set(key, `value ${key}`, 3)
  expect([1, 2, 3, 4, 5].map((key) => cache.get(key))).toEqual([undefined, 'value 2', undefined, 'value 4', 'value 5'])
})

test('the cache keeps no value that is larger than its maximum size', () => {
  const cache = new LruCache<string>(10)
  cache.set(1, 'a', 11)
  expect(cache.get(1)).toBeUndefined()
})
