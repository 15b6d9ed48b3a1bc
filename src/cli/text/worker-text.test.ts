import { expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { createTrackedJob, recordOf } from '../../library/jobs/tracked-job.ts'
import type { WorkerRecord } from '../../library/ports/workers.ts'
import { createHint } from '../library.ts'
import { writeJobLines, writeWaitingLines, writeWorkerLines } from './worker-text.ts'

const hint = createHint(readConfig({ environment: {}, file: 'none' }))
const waiting = recordOf(createTrackedJob('job-1', { url: 'https://a.example/', args: [], sourceId: 'one' }, 0))

function worker(name: string, visits: number): WorkerRecord {
  return {
    ...{ id: name, name, version: '0', isServer: false, slots: 2, state: 'working', jobs: [], helps: [], holders: [] },
    ...{ visits, bytes: 0, visitsPerSec: 0, startedAt: 0, silentMs: 0, leases: 0 },
  }
}

test('warns about queued crawls without a worker, with the command that starts one', () => {
  expect(writeWorkerLines([])).toEqual(['', 'Workers: none'])
  expect(writeWaitingLines({ workers: [], waiting: [waiting] }, hint)).toEqual([
    'Waiting: 1 crawl',
    '  https://a.example/, job job-1',
    'no worker is running for the waiting crawl; start one with: pharos worker',
  ])
  const workers = [worker('a/1', 1), worker('long/12', 2)]
  expect(writeWaitingLines({ workers, waiting: [waiting] }, hint)).toHaveLength(2)
  expect(writeWorkerLines(workers)).toEqual([
    '',
    'Workers: 2',
    '  a/1      0 of 2 crawls, 0 hosts, 0.0 visits/s, 1 visit, 0 B',
    '  long/12  0 of 2 crawls, 0 hosts, 0.0 visits/s, 2 visits, 0 B',
  ])
})

test('a source shows its last job if it is queued, or if it failed and the last crawl does not show that', () => {
  const report = { source: { id: 'one' }, crawl: null } as Parameters<typeof writeJobLines>[1]
  expect(writeJobLines([waiting], report)).toEqual(['Job: job-1 is queued'])
  const failed = { ...waiting, status: 'failed', crawlId: 'c', problem: 'there is no folder' } as const
  expect(writeJobLines([waiting, failed], report)).toEqual(['Job: job-1 failed: there is no folder'])
  // The result of the crawl is shown anyway.
  const reportOfCrawl = { ...report, crawl: { id: 'c' } } as Parameters<typeof writeJobLines>[1]
  expect(writeJobLines([failed], reportOfCrawl)).toEqual([])
})
