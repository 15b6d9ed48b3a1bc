import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { setPause } from './host-clocks.ts'

// One of several processes that write to one library. It offers its own addresses, and settles every visit that it leases.
const [, , path = '', name = ''] = process.argv
const store = await openSqliteStore(path)
const url = 'https://shared.test/'
const source = {
  id: 'shared',
  name: 'shared',
  version: null,
  url,
  siteUrl: url,
  scope: DEFAULT_SCOPE,
  settings: DEFAULT_SETTINGS,
  createdAt: 1,
}
await store.addSource(source).catch((error: unknown) => {
  // Another process was faster.
  if (!(error instanceof Error && 'code' in error && error.code === 'SOURCE_EXISTS')) throw error
})
await setPause(store, 'shared.test', 1, 0)
for (let i = 0; i < 200; i++) {
  const key = `${url}${name}/${i}`
  const find: FoundAddress = {
    key,
    url: key,
    host: 'shared.test',
    depth: 1,
    foundOn: null,
    discovery: 'link',
    refusal: null,
  }
  await store.offer('shared', `crawl-${name}`, [find], 0)
  const lease = { sourceId: 'shared', limit: 3, now: 0, until: 1e9, horizon: 1e9, isBreadthFirst: false }
  for (const visit of await store.lease(lease)) {
    const settled = await store.settle({ visit, crawlId: `crawl-${name}`, now: 1, state: 'skipped', reason: 'empty' })
    if (settled.type !== 'settled') throw new Error(`lost the lease of ${visit.key}`)
  }
}
await store.close()
