import { expect, test } from 'vitest'
import { systemClock } from '../fetch/clock.ts'
import { createFeed } from '../library/jobs/events/create-feed.ts'
import { createTrackedJob, viewOf } from '../library/jobs/tracked-job.ts'
import { createMetrics } from './metrics.ts'

test('the metrics count waiting crawls, so that workers can be scaled', async () => {
  const feed = createFeed({ epoch: 'test', clock: systemClock })
  const jobs = ['a', 'b'].map((id) => createTrackedJob(id, { url: `https://${id}.example/`, args: [] }, 0))
  const list = () => jobs.map((job) => viewOf(job, 0))
  const metrics = createMetrics(
    { feed, list },
    async () => null,
    async () => null,
  )
  expect(await metrics.write(0)).toContain('\npharos_jobs_waiting 2\n')
  metrics.close()
})
