import { expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { FoundAddress, LeaseRequest } from '../../src/crawl/ledger.ts'
import type { Store } from '../../src/library/ports/store.ts'
import { DEFAULT_SETTINGS, type Source } from '../../src/library/source.ts'
import { createMemoryStore } from './memory-store.ts'

// test/contracts covers the behavior of every store; these tests cover what only an in-memory store can get wrong.

const KEY = 'https://a.test/'
const FIND: FoundAddress = {
  key: KEY,
  url: KEY,
  host: 'a.test',
  depth: 0,
  foundOn: null,
  discovery: 'link',
  refusal: null,
}
const LEASE: LeaseRequest = { sourceId: 'one', limit: 1, now: 1, until: 100, horizon: 1, isBreadthFirst: false }

test('a returned row does not change when the store changes', async () => {
  const store = await createFilledStore()
  const before = await store.findRow('one', KEY)
  await store.lease(LEASE)
  expect(before?.state).toBe('pending')
})

test('changing a returned value does not change the store', async () => {
  const store = await createFilledStore()
  Object.assign((await store.findRow('one', KEY)) ?? {}, { state: 'gone' })
  Object.assign((await store.listSources())[0] ?? {}, { name: 'other' })
  expect((await store.findRow('one', KEY))?.state).toBe('pending')
  expect((await store.listSources())[0]?.name).toBe('one')
})

test('a rejected settlement changes no row and stores no found addresses or aliases', async () => {
  const store = await createFilledStore()
  const [visit] = await store.lease(LEASE)
  if (!visit) throw new Error('nothing was leased')
  const other = 'https://a.test/other'
  const settlement = {
    visit,
    crawlId: 'crawl',
    now: 2,
    state: 'indexed',
    finds: [{ ...FIND, key: other, url: other }],
    aliases: [{ url: KEY, aliasUrl: other, classification: 'canonical', reason: null }],
  } as const
  const before = await store.listRows('one', { limit: 10 })
  await expect(store.settle(settlement)).rejects.toThrow('Expected `record` to settle https://a.test/ as indexed')
  expect(await store.listRows('one', { limit: 10 })).toEqual(before)
  expect(await store.listAliases('one', KEY)).toEqual([])
  expect(await store.settle({ ...settlement, state: 'skipped' })).toMatchObject({
    type: 'settled',
    finds: ['admitted'],
  })
})

test('an unknown source rejects found addresses and lists no rows', async () => {
  const store = createMemoryStore()
  await expect(store.offer('one', 'crawl', [FIND], 1)).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
  expect(await store.listRows('one', { limit: 10 })).toEqual([])
})

async function createFilledStore(): Promise<Store> {
  const store = createMemoryStore()
  const source: Source = {
    id: 'one',
    name: 'one',
    version: null,
    url: KEY,
    siteUrl: KEY,
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 0,
  }
  await store.addSource(source)
  await store.offer('one', 'crawl', [FIND], 1)
  return store
}
