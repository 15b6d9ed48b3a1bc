import type { ClientConfig } from 'pg'
import type { Job, PgBoss, QueuePolicy } from 'pg-boss'
import { PharosError } from '../core/errors.ts'
import { describeLogin } from '../core/url/postgres-login.ts'
import { type JobQueue, QUEUES, type QueuedWork, type QueueName } from '../library/dispatch/queue.ts'
import type { RunStatement } from '../library/workers.ts'

/** Where a queue is, and to whom it says what is wrong. */
export interface QueueOptions {
  /** What the driver is given. */
  readonly address: string
  /** The schema of the library; the queue has one beside it. */
  readonly schema: string
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectMs: number
  /** Shown to people. */
  readonly location: string
  /** Told what failed in the background, where it is tried again. */
  readonly warn: (message: string) => void
  /** A connection that has not answered for so long is given up, in milliseconds. @default 30 s */
  readonly quietMs?: number | undefined
}

/** Whoever gives no sign of life for so long has lost its work. No less is possible. */
const HEARTBEAT_S = 10
const BEAT_S = 3
/** How often is looked whether somebody has. One of all workers does it each time. */
const LOOK_S = 4
/** A worker that hears nothing of new work looks for some this often. */
const POLL_S = 1
/** Longer than this nobody keeps work without taking it anew. No more is possible. */
const LONGEST_S = 86_400
/** What was done is forgotten after this. */
const FORGET_S = 3600
/** What waits is kept for as long as can be. */
const WAITS_S = 365 * 86_400
/** Workers come and go: what is lost with them is taken again as often as need be. Whoever takes it says when it is enough. */
const RETRIES = 1_000_000
/** Of those with the same key one is done at a time. New chunks are waited for once, however many crawls bring some. */
const POLICIES: Readonly<Record<QueueName, QueuePolicy>> = {
  crawl: 'key_strict_fifo',
  analysis: 'key_strict_fifo',
  embedding: 'stately',
}
/** A run of analysis that was lost may be held by its process for a while. */
const RETRY_S: Readonly<Record<QueueName, number>> = { crawl: 0, analysis: 5, embedding: 60 }
const CONNECTIONS = 3
/** Whatever is asked of a queue is answered at once; longer than this takes nobody but who is not there any more. */
const QUIET_MS = 30_000
/** Whether the other end is still there is asked after this. */
const KEEP_ALIVE_MS = 10_000
/** How long what was taken may take to be settled at the end. */
const LAST_MS = 2000

/** Opens the queue of a library in PostgreSQL, and makes it where there is none. */
export async function openQueue(options: QueueOptions): Promise<JobQueue> {
  const { schema, location } = options
  try {
    return await startQueue(options, true)
  } catch (error) {
    if (!isForbidden(error)) throw error
  }
  // A role that has the schema need not be allowed to make it.
  return startQueue(options, false).catch((cause: unknown) => {
    if (!isForbidden(cause)) throw cause
    const advice = `let somebody who may run: ${writeGrants(location, `"${schema}_jobs"`, hasCode(cause, NO_SCHEMA))}`
    const problem = 'its role may not use the schema of its jobs'
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem, advice }, { cause })
  })
}

/** What lets the role of an address use a queue: whoever makes the schema owns what is in it. */
function writeGrants(location: string, jobs: string, isMissing: boolean): string {
  const { role } = describeLogin(location)
  if (isMissing) return `CREATE SCHEMA ${jobs} AUTHORIZATION ${role}`
  return `GRANT USAGE, CREATE ON SCHEMA ${jobs} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${jobs} TO ${role}`
}

const NO_SCHEMA = '3F000'
const NOT_ALLOWED = '42501'

/** Whether a role may not make a schema, or there is none. */
function isForbidden(error: unknown): boolean {
  return hasCode(error, NOT_ALLOWED) || hasCode(error, NO_SCHEMA)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

async function startQueue(options: QueueOptions, createSchema: boolean): Promise<JobQueue> {
  const { address, schema, connectMs, location, warn, quietMs = QUIET_MS } = options
  const { PgBoss } = await import('pg-boss').catch((cause: unknown) => {
    const problem = 'the package pg-boss is not installed; install it beside Pharos: npm install pg-boss'
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem }, { cause })
  })
  // All three are passed on to the driver.
  const lifetime: Pick<ClientConfig, 'keepAlive' | 'keepAliveInitialDelayMillis' | 'query_timeout'> = {
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: quietMs,
  }
  const boss = new PgBoss({
    ...lifetime,
    connectionString: address,
    connectionTimeoutMillis: connectMs,
    schema: `${schema}_jobs`,
    createSchema,
    application_name: 'pharos',
    max: CONNECTIONS,
    useListenNotify: true,
    superviseIntervalSeconds: LOOK_S,
    monitorIntervalSeconds: LOOK_S,
    maintenanceIntervalSeconds: FORGET_S,
    monitorVacuum: false,
    schedule: false,
  })
  boss.on('error', (error) => warn(error.message))
  try {
    await boss.start()
    for (const queue of QUEUES) await makeQueue(boss, queue)
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined)
    throw error
  }
  return createQueue(boss)
}

async function makeQueue(boss: PgBoss, queue: QueueName): Promise<void> {
  await boss.createQueue(queue, {
    policy: POLICIES[queue],
    notify: true,
    retryLimit: RETRIES,
    retryDelay: RETRY_S[queue],
    expireInSeconds: LONGEST_S,
    heartbeatSeconds: HEARTBEAT_S,
    retentionSeconds: WAITS_S,
    deleteAfterSeconds: FORGET_S,
  })
}

function createQueue(boss: PgBoss): JobQueue {
  const find = async (queue: QueueName, id: string, run?: RunStatement) =>
    (await boss.findJobs(queue, { id, ...through(run) }))[0]
  const send: JobQueue['send'] = async (queue, { id, key, isFirst = false, after }, run) => {
    const before = after === undefined ? undefined : await find(queue, after, run)
    const singletonKey = before?.singletonKey ?? key
    await boss.send(queue, {}, { id, singletonKey, priority: isFirst ? 1 : 0, ...through(run) })
  }
  return {
    send,
    async sendAgain(queue, work, run) {
      const found = await find(queue, work.id, run)
      if (isOpen(found)) return
      if (found !== undefined) await boss.deleteJob(queue, work.id, through(run))
      await send(queue, work, run)
    },
    async take(queue, slots, work) {
      await boss.work<object>(
        queue,
        {
          localConcurrency: slots,
          pollingIntervalSeconds: POLL_S,
          // Some ways to a database pass no notifications on, which nobody is told.
          notifyPollingIntervalSeconds: POLL_S,
          heartbeatRefreshSeconds: BEAT_S,
        },
        async ([job]) => {
          if (job !== undefined) await settle(job, work)
        },
      )
    },
    async stopTaking() {
      for (const queue of QUEUES) await boss.offWork(queue, { wait: false })
    },
    isOpen: async (queue, id) => isOpen(await find(queue, id)),
    async remove(queue, id) {
      await boss.deleteJob(queue, id)
    },
    // What is being settled is settled.
    close: () => boss.stop({ graceful: true, timeout: LAST_MS }),
  }
}

/** Has a statement made in the transaction of whoever gave it. */
function through(run: RunStatement | undefined): { readonly db?: { executeSql: RunStatement } } {
  return run === undefined ? {} : { db: { executeSql: run } }
}

function isOpen(job: { readonly state: string } | undefined): boolean {
  return job?.state === 'created' || job?.state === 'retry' || job?.state === 'active'
}

/** What was not done is given to another by failing here. */
async function settle({ id, retryCount, signal }: Job, work: (taken: QueuedWork) => Promise<boolean>): Promise<void> {
  if (!(await work({ id, attempt: retryCount, signal }))) throw new Error('given to another')
}
