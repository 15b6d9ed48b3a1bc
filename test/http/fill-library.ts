import { addSource } from '../../src/library/crawl/add-source.ts'
import type { JobNote, JobRecord } from '../../src/library/ports/job-log.ts'
import type { OpenLibrary } from '../../src/open-library.ts'

/** A job that is done and has many events. */
export const JOB = '11111111-1111-4111-8111-111111111111'
export const FAILED_JOB = '22222222-2222-4222-8222-222222222222'
/** Kinds of the milestones of `JOB`; each is stored once. */
export const MILESTONES = ['patterns-learned', 'hubs-seeded', 'seeds-prepared', 'cache-primed', 'depth2-coverage']
/** Number of queue events of `JOB`. */
export const EVENT_COUNT = 1000
/** Number of addresses of the source. */
export const ROW_COUNT = 1000

/** Adds a job with many events, problems and milestones, and a failed job. */
export async function fillLog({ jobLog }: OpenLibrary): Promise<void> {
  const at = Date.parse('2026-01-01T00:00:00Z')
  const job: JobRecord = {
    id: JOB,
    url: 'https://docs.example/',
    args: ['https://docs.example/'],
    process: { pid: 4242, began: null },
    status: 'done',
    createdAt: at,
    startedAt: at,
    endedAt: at + 60_000,
    crawlId: null,
    sourceId: null,
    restarts: 0,
    progress: null,
    problem: null,
    code: null,
    signal: null,
  }
  await jobLog.add(job)
  await jobLog.add({
    ...job,
    id: FAILED_JOB,
    status: 'failed',
    createdAt: at + 1,
    startedAt: at + 1,
    problem: 'it broke',
  })
  const notes: JobNote[] = []
  for (let i = 0; i < EVENT_COUNT; i++) {
    const url = `https://docs.example/p${i}`
    const action = i % 10 === 0 ? 'drop' : 'enqueued'
    const data = { action, url, depth: 1, host: 'docs.example', reason: null, queueSize: i, alias: null } as const
    notes.push({ jobId: JOB, at: at + i, type: 'queue', data })
  }
  for (let i = 0; i < 5; i++) {
    const kind = i === 0 ? 'missing-hub' : 'unknown-pattern'
    const data = { kind, scope: 'docs.example', target: `/t${i}`, message: 'm', details: { i } }
    notes.push({ jobId: JOB, at: at + i, type: 'problem', data })
    notes.push({
      jobId: JOB,
      at: at + i,
      type: 'milestone',
      data: { ...data, kind: MILESTONES[i] ?? '', details: null },
    })
  }
  await jobLog.append(notes)
}

/** Adds a source with many addresses, and returns its id. */
export async function fillRows(library: OpenLibrary): Promise<string> {
  const source = await addSource(library, { url: 'https://many.example/', name: 'many' })
  const crawl = await library.store.beginCrawl(
    {
      id: library.newId(),
      sourceId: source.id,
      kind: 'add',
      state: 'running',
      options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
      runner: null,
      startedAt: Date.now(),
      heartbeatAt: Date.now(),
      endedAt: null,
      summary: null,
    },
    1000,
  )
  for (let part = 0; part < 4; part++) {
    const finds = Array.from({ length: ROW_COUNT / 4 }, (_, i) => {
      const url = `https://${i % 2 === 0 ? 'many.example' : 'www.many.example'}/p${part}-${String(i).padStart(4, '0')}`
      const refusal = i % 5 === 0 ? { reason: 'blocked' as const, pattern: '/p*', target: null } : null
      const { host } = new URL(url)
      return { key: url, url, host, depth: 1, foundOn: null, discovery: 'link' as const, refusal }
    })
    // Many addresses have the same time, so that time alone does not determine their order.
    await library.store.offer(source.id, crawl.id, finds, Date.parse('2026-02-01T00:00:00Z') + part * 60_000)
  }
  await library.store.endCrawl(crawl.id, null, Date.now())
  return source.id
}
