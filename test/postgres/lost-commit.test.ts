import { describe, expect, test } from 'vitest'
import type { JobRecord } from '../../src/library/ports/job-log.ts'
import { openPlaceTables } from '../../src/places/store/open-places.ts'
import { createLibrary } from './databases.ts'
import { connect, foundAddressOf } from './ledgers.ts'
import { openLossyProxy } from './lossy-proxy.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, lease, NOW, openStore, type Store, settle } from './stores.ts'

const JOB: JobRecord = {
  id: 'job',
  url: 'https://x.test/',
  args: [],
  process: null,
  status: 'queued',
  createdAt: NOW,
  startedAt: null,
  endedAt: null,
  crawlId: null,
  sourceId: null,
  restarts: 0,
  progress: null,
  problem: null,
  code: null,
  signal: null,
}

/** Opens a library over a connection that can lose the response to a COMMIT. */
async function open() {
  const address = await createLibrary()
  const proxy = await openLossyProxy(address)
  const store = await openStore(proxy.address, 'one')
  return { proxy, store, db: await connect(address) }
}

async function prepareVisit(store: Store) {
  await addSource(store, 'docs')
  await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
  await store.offer('docs', 'crawl of docs', [foundAddressOf('/0')], NOW)
  const [visit] = await lease(store, 'docs', NOW)
  if (visit === undefined) throw new Error('nothing was leased')
  return visit
}

describe('a transaction whose COMMIT response is lost', () => {
  test('adds a source once, and begins a crawl once', async () => {
    const { proxy, store } = await open()
    proxy.loseCommitResponse()
    await addSource(store, 'docs')
    proxy.loseCommitResponse()
    await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    expect(proxy.lost()).toBe(2)
    expect(await store.listCrawls('docs', 5)).toMatchObject([{ state: 'running', runner: 'one' }])
  })

  test('settles a visit once', async () => {
    const { proxy, store } = await open()
    const visit = await prepareVisit(store)
    proxy.loseCommitResponse()
    expect(await settle(store, visit)).toMatchObject({ type: 'settled', state: 'indexed' })
    expect(proxy.lost()).toBe(1)
  })

  test('admits a job, adds a job, and writes a queue event and an analysis event once each', async () => {
    const { proxy, store, db } = await open()
    const { workers, jobLog } = store
    const { analyses } = await openPlaceTables(store)
    let checks = 0
    proxy.loseCommitResponse()
    await workers?.admit(
      JOB,
      false,
      () => {
        if (++checks > 1) throw new Error('the job was checked against itself')
      },
      async () => undefined,
    )
    proxy.loseCommitResponse()
    await jobLog.add({ ...JOB, id: 'other' })
    const data = { action: 'enqueued', url: 'u', depth: 0, host: 'h', reason: null, queueSize: 1, alias: null } as const
    proxy.loseCommitResponse()
    await jobLog.append([{ jobId: 'job', at: NOW, type: 'queue', data }])
    proxy.loseCommitResponse()
    await analyses.addEvent({ runId: 'run', at: NOW, stage: 'pages', message: 'm', details: null })
    expect(proxy.lost()).toBe(4)
    expect(await jobLog.listQueueEvents('job', { limit: 10 })).toHaveLength(1)
    expect(await db.get('SELECT count(*) AS jobs FROM crawl_jobs')).toEqual({ jobs: 2 })
    expect(await analyses.listEvents('run', 10)).toHaveLength(1)
  })

  test('is repeated if it was not committed', async () => {
    const { proxy, store } = await open()
    proxy.loseBeforeCommit()
    await addSource(store, 'docs')
    expect(proxy.lost()).toBe(1)
    expect(await store.listSources()).toHaveLength(1)
  })
})
