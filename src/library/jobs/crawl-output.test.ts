import { expect, test } from 'vitest'
import { progressFrame } from '../../../test/dispatch/frames.ts'
import { createManualClock } from '../../../test/dispatch/manual-clock.ts'
import { handleCrawlOutput, type OutputReceivers } from './crawl-output.ts'
import { createFeed } from './events/create-feed.ts'
import { writeFrame } from './events/frames.ts'
import { writeDone } from './job-item.ts'
import { createTrackedJob } from './tracked-job.ts'

const NO_LOG: OutputReceivers['writer'] = { change: () => undefined, note: () => undefined }

test('a progress line is logged at most every ten seconds, and only after progress', async () => {
  const clock = createManualClock()
  const feed = createFeed({ epoch: 'e1', clock })
  const job = createTrackedJob('j1', { url: 'https://site.example/', args: [] }, clock.now())
  const receivers = { feed, writer: NO_LOG, clock, onFirstReport: () => {} }
  for (const visited of [0, 5, 12, 12, 12]) {
    const data = progressFrame({ visited, saved: visited, queueSize: 3 })
    handleCrawlOutput(receivers, job, 'stdout', writeFrame({ type: 'PROGRESS', data }))
    await clock.advance(6000)
  }
  const { events } = feed.read(0, { logs: true, jobId: null }, 100)
  const lines = events.filter(({ name }) => name === 'log').map(({ json }) => JSON.parse(json).line)
  expect(lines).toEqual(['12 pages visited, 12 saved, 0 errors; 3 addresses queued'])
})

test('all progress that is shown is stored at once, so that a killed server does not show less later', () => {
  const clock = createManualClock()
  const job = createTrackedJob('j1', { url: 'https://site.example/', args: [] }, clock.now())
  const stored: unknown[] = []
  const change: OutputReceivers['writer']['change'] = (_id, { progress }, isUrgent) =>
    void stored.push([progress?.visited, isUrgent])
  const receivers = {
    feed: createFeed({ epoch: 'e1', clock }),
    writer: { ...NO_LOG, change },
    clock,
    onFirstReport() {},
  }
  for (const visited of [1, 2, 3])
    handleCrawlOutput(receivers, job, 'stdout', writeFrame({ type: 'PROGRESS', data: progressFrame({ visited }) }))
  expect(stored).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ])
})

test('the end of a job whose process was killed tells how many addresses it left', () => {
  const end = { code: null, signal: 'SIGKILL', endedAt: 1, progress: progressFrame({ queueSize: 264 }) } as const
  expect(writeDone({ ...end, status: 'stopped' })).toMatchObject({ unread: 264 })
  expect(writeDone({ ...end, status: 'done' })).toMatchObject({ unread: 0 })
})
