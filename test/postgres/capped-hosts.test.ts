import { expect, test } from 'vitest'
import { createLibrary } from './databases.ts'
import { foundAddressOf } from './ledgers.ts'
import { addSource, lease, NOW, openStore } from './stores.ts'

test('a process with a low host limit takes the hosts that others left, also if these are fewer than its limit', async () => {
  const address = await createLibrary()
  const [one, two] = [await openStore(address, 'one'), await openStore(address, 'two')]
  await addSource(one, 'docs')
  const hosts = Array.from({ length: 12 }, (_, at) => `h${at}.test`)
  const finds = ['/a', '/b'].flatMap((path) => hosts.map((host) => foundAddressOf(path, { host })))
  await one.offer('docs', 'crawl of docs', finds, NOW)
  const first = await lease(one, 'docs', NOW, { limit: 11 })
  const second = await lease(two, 'docs', NOW, { limit: 10, maxHosts: 6 })
  expect(new Set(first.map(({ host }) => host)).size).toBe(11)
  expect(second.map(({ url }) => url)).toEqual(['https://h11.test/a', 'https://h11.test/b'])
})
