import type { ClientConfig } from 'pg'
import type { Job, PgBoss, QueuePolicy } from 'pg-boss'
import { codeOf, PharosError } from '../core/errors.ts'
import { describeLogin } from '../core/url/postgres-login.ts'
import { QUEUES, type QueuedWork, type QueueName, type WorkQueue } from '../library/jobs/queue.ts'
import type { RunStatement } from '../library/ports/workers.ts'

/** The location of a queue, and a callback for warnings. */
export interface QueueOptions {
  /** The connection string. */
  readonly address: string
  /** The schema of the library; the queue has one beside it. */
  readonly schema: string
  /** Connection timeout in milliseconds. */
  readonly connectMs: number
  /** The location to show to users. */
  readonly location: string
  /** Receives messages about failures in the background, which are retried. */
  readonly warn: (message: string) => void
  /** Timeout of a query in milliseconds. @default 30 s */
  readonly queryTimeoutMs?: number | undefined
}

/** A worker without a heartbeat for this long loses its jobs. This is the minimum that pg-boss allows. */
const HEARTBEAT_TIMEOUT_S = 10
const HEARTBEAT_INTERVAL_S = 3
/** Interval for checking heartbeats. Only one worker performs each check. */
const MONITOR_INTERVAL_S = 4
/** Poll interval for workers that receive no notifications. */
const POLL_INTERVAL_S = 1
/** A job that runs longer than this expires and is taken again. This is the maximum that pg-boss allows. */
const JOB_EXPIRY_S = 86_400
/** Completed jobs are deleted after this time. */
const COMPLETED_RETENTION_S = 3600
/** Queued jobs are kept for practically unlimited time. */
const QUEUED_RETENTION_S = 365 * 86_400
/** Jobs that were lost with their worker are retried without limit; the worker that takes a job decides when to give up. */
const RETRIES = 1_000_000
/** Jobs with the same key run one at a time. At most one embedding job is queued, however many crawls add chunks. */
const POLICIES: Readonly<Record<QueueName, QueuePolicy>> = {
  crawl: 'key_strict_fifo',
  analysis: 'key_strict_fifo',
  embedding: 'stately',
}
/** Retry delays in seconds. The process of a lost analysis run may still hold the run for a while. */
const RETRY_DELAYS_S: Readonly<Record<QueueName, number>> = { crawl: 0, analysis: 5, embedding: 60 }
const CONNECTIONS = 3
/** Query timeout: queue operations are fast, so a longer wait means that the connection is dead. */
const QUERY_TIMEOUT_MS = 30_000
/** Idle time before TCP keep-alive probes start. */
const KEEP_ALIVE_MS = 10_000
/** Maximum time to settle the active jobs when closing. */
const SHUTDOWN_GRACE_MS = 2000

/** Opens the queue of a library in PostgreSQL, and creates it if it does not exist. */
export async function openQueue(options: QueueOptions): Promise<WorkQueue> {
  const { schema, location } = options
  try {
    return await startQueue(options, true)
  } catch (error) {
    if (!isForbidden(error)) throw error
  }
  // A role that may use the schema may not be allowed to create it.
  return startQueue(options, false).catch((cause: unknown) => {
    if (!isForbidden(cause)) throw cause
    const advice = `let an administrator run: ${writeGrants(location, `"${schema}_jobs"`, codeOf(cause) === NO_SCHEMA)}`
    const problem = 'its role has no access to the schema of the job queue'
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem, advice }, { cause })
  })
}

/** The SQL that lets the role of an address use the queue. The role that creates the schema owns it. */
function writeGrants(location: string, schema: string, isMissing: boolean): string {
  const { role } = describeLogin(location)
  if (isMissing) return `CREATE SCHEMA ${schema} AUTHORIZATION ${role}`
  return `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`
}

const NO_SCHEMA = '3F000'
const NOT_ALLOWED = '42501'

/** Whether the role may not create a schema, or the schema is missing. */
function isForbidden(error: unknown): boolean {
  return codeOf(error) === NOT_ALLOWED || codeOf(error) === NO_SCHEMA
}

async function startQueue(options: QueueOptions, createSchema: boolean): Promise<WorkQueue> {
  const { address, schema, connectMs, location, warn, queryTimeoutMs = QUERY_TIMEOUT_MS } = options
  const { PgBoss } = await import('pg-boss').catch((cause: unknown) => {
    const problem = 'the package pg-boss is not installed; install it beside Pharos: npm install pg-boss'
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem }, { cause })
  })
  // pg-boss passes these three options on to the driver.
  const connectionOptions: Pick<ClientConfig, 'keepAlive' | 'keepAliveInitialDelayMillis' | 'query_timeout'> = {
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: queryTimeoutMs,
  }
  const boss = new PgBoss({
    ...connectionOptions,
    connectionString: address,
    connectionTimeoutMillis: connectMs,
    schema: `${schema}_jobs`,
    createSchema,
    application_name: 'pharos',
    max: CONNECTIONS,
    useListenNotify: true,
    superviseIntervalSeconds: MONITOR_INTERVAL_S,
    monitorIntervalSeconds: MONITOR_INTERVAL_S,
    maintenanceIntervalSeconds: COMPLETED_RETENTION_S,
    monitorVacuum: false,
    schedule: false,
  })
  boss.on('error', (error) => warn(error.message))
  try {
    await boss.start()
    for (const queue of QUEUES) await ensureStoredQueue(boss, queue)
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined)
    throw error
  }
  return createWorkQueue(boss)
}

async function ensureStoredQueue(boss: PgBoss, queue: QueueName): Promise<void> {
  await boss.createQueue(queue, {
    policy: POLICIES[queue],
    notify: true,
    retryLimit: RETRIES,
    retryDelay: RETRY_DELAYS_S[queue],
    expireInSeconds: JOB_EXPIRY_S,
    heartbeatSeconds: HEARTBEAT_TIMEOUT_S,
    retentionSeconds: QUEUED_RETENTION_S,
    deleteAfterSeconds: COMPLETED_RETENTION_S,
  })
}

function createWorkQueue(boss: PgBoss): WorkQueue {
  const find = async (queue: QueueName, id: string, run?: RunStatement) =>
    (await boss.findJobs(queue, { id, ...transactionOptions(run) }))[0]
  const send: WorkQueue['send'] = async (queue, { id, key, isFirst = false, after }, run) => {
    const precedingJob = after === undefined ? undefined : await find(queue, after, run)
    const singletonKey = precedingJob?.singletonKey ?? key
    await boss.send(queue, {}, { id, singletonKey, priority: isFirst ? 1 : 0, ...transactionOptions(run) })
  }
  return {
    send,
    async sendAgain(queue, work, run) {
      const found = await find(queue, work.id, run)
      if (isOpen(found)) return
      if (found !== undefined) await boss.deleteJob(queue, work.id, transactionOptions(run))
      await send(queue, work, run)
    },
    async take(queue, slots, work) {
      await boss.work<object>(
        queue,
        {
          localConcurrency: slots,
          pollingIntervalSeconds: POLL_INTERVAL_S,
          // Some connection poolers drop notifications, so the queue is polled as well.
          notifyPollingIntervalSeconds: POLL_INTERVAL_S,
          heartbeatRefreshSeconds: HEARTBEAT_INTERVAL_S,
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
    // Waits for jobs that are being settled.
    close: () => boss.stop({ graceful: true, timeout: SHUTDOWN_GRACE_MS }),
  }
}

/** Options that run a statement in the caller's transaction, if the caller has one. */
function transactionOptions(run: RunStatement | undefined): { readonly db?: { executeSql: RunStatement } } {
  return run === undefined ? {} : { db: { executeSql: run } }
}

function isOpen(job: { readonly state: string } | undefined): boolean {
  return job?.state === 'created' || job?.state === 'retry' || job?.state === 'active'
}

/** Failing a job that was not done returns it to the queue for another worker. */
async function settle({ id, retryCount, signal }: Job, work: (taken: QueuedWork) => Promise<boolean>): Promise<void> {
  if (!(await work({ id, attempt: retryCount, signal }))) throw new Error('handed over to another worker')
}
