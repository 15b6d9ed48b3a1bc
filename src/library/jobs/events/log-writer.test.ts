import { expect, test } from 'vitest'
import { jobOf } from '../../../../test/contracts/job-notes.ts'
import { createManualClock } from '../../../../test/dispatch/manual-clock.ts'
import { createMemoryJobLog } from '../../../../test/memory-store/job-log.ts'
import { PharosError } from '../../../core/errors.ts'
import type { JobLog, JobNote } from '../../ports/job-log.ts'
import { LogWriter } from './log-writer.ts'

const JOB = jobOf('j1')

function queueNote(number: number): JobNote {
  const url = `https://site.example/${number}`
  const data = { action: 'enqueued', url, depth: 1, host: null, reason: null, queueSize: 0, alias: null } as const
  return { jobId: 'j1', at: number, type: 'queue', data }
}

function problemNote(kind: string): JobNote {
  return {
    jobId: 'j1',
    at: 1,
    type: 'problem',
    data: { kind, scope: null, target: null, message: null, details: null },
  }
}

function open({ maxNotes = 20_000 } = {}) {
  const clock = createManualClock()
  const log = createMemoryJobLog()
  const warnings: string[] = []
  const batches: number[] = []
  /** The current failure of the log, if any. */
  const trouble: { error: Error | null } = { error: null }
  const guarded: JobLog = {
    ...log,
    add: (job) => (trouble.error === null ? log.add(job) : Promise.reject(trouble.error)),
    async append(notes) {
      if (trouble.error !== null) throw trouble.error
      batches.push(notes.length)
      await log.append(notes)
    },
  }
  const jobLog = async () => guarded
  const writer = new LogWriter({ jobLog, clock, maxNotes, warn: (message) => warnings.push(message) })
  return { clock, log, warnings, batches, trouble, writer }
}

test('a job is written at once, notes in batches and in order', async () => {
  const { clock, log, batches, writer } = open()
  void writer.add(JOB)
  writer.change('j1', { status: 'running', startedAt: 2 })
  expect(await log.find('j1')).toBeUndefined()
  await clock.advance(0)
  expect(await log.find('j1')).toMatchObject({ status: 'running', startedAt: 2 })
  for (let i = 1; i <= 3; i++) writer.note(queueNote(i))
  await clock.advance(249)
  expect(batches).toEqual([])
  await clock.advance(1)
  expect(batches).toEqual([3])
  // A full batch does not wait.
  for (let i = 1; i <= 1200; i++) writer.note(queueNote(i))
  await clock.advance(0)
  expect(batches).toEqual([3, 500, 500, 200])
})

test('a change without a status waits for the next write, a change of the status is written at once', async () => {
  const { clock, log, writer } = open()
  await log.add(JOB)
  writer.change('j1', { crawlId: 'c1' })
  await clock.advance(100)
  expect((await log.find('j1'))?.crawlId).toBeNull()
  writer.change('j1', { status: 'done', endedAt: 9 })
  await clock.advance(0)
  expect(await log.find('j1')).toMatchObject({ crawlId: 'c1', status: 'done', endedAt: 9 })
})

test('entries wait while the library is locked; beyond `maxNotes` queue events are dropped, oldest first', async () => {
  const { clock, log, warnings, trouble, writer } = open({ maxNotes: 100 })
  trouble.error = new PharosError('LIBRARY_LOCKED', { library: 'x' })
  void writer.add(JOB)
  writer.note(problemNote('early'))
  for (let i = 1; i <= 250; i++) writer.note(queueNote(i))
  await clock.advance(60_000)
  writer.change('j1', { status: 'running' })
  expect(await log.find('j1')).toBeUndefined()
  expect(warnings).toHaveLength(1)
  trouble.error = null
  await clock.advance(10_000)
  expect(await log.find('j1')).toMatchObject({ status: 'running' })
  expect((await log.listProblems({ limit: 10 })).map(({ kind }) => kind)).toEqual(['early'])
  const kept = (await log.listQueueEvents('j1', { limit: 500 })).map(({ at }) => at)
  expect(kept[0]).toBe(250)
  expect(kept.length).toBeLessThanOrEqual(99)
  expect(kept.at(-1)).toBe(250 - kept.length + 1)
  expect(warnings.slice(1)).toEqual([
    'the job history can be written again',
    `${250 - kept.length} job events were dropped: they came faster than they could be stored`,
  ])
})

test('an entry that can never be written does not block others', async () => {
  const { clock, log, warnings, trouble, writer } = open()
  trouble.error = new Error('a defect')
  await log.add(JOB)
  writer.note(problemNote('bad'))
  await clock.advance(20_000)
  expect(warnings.at(-1)).toBe('1 job event could not be stored: a defect')
  trouble.error = null
  writer.note(problemNote('good'))
  await clock.advance(20_000)
  expect((await log.listProblems({ limit: 10 })).map(({ kind }) => kind)).toEqual(['good'])
})

test('close makes one last attempt to write', async () => {
  const { clock, log, writer } = open()
  void writer.add(JOB)
  writer.note(queueNote(1))
  const closed = writer.close()
  await clock.advance(0)
  await closed
  expect((await log.find('j1'))?.events).toBe(1)
})
