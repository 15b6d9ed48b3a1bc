import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification, PoolClient, QueryConfig } from 'pg'
import { PharosError } from '../../../core/errors.ts'
import { parseConnectionAddress } from './connection-address.ts'
import { ConnectionPool, type DatabaseOptions, type IsolationLevel, LOCK_TIMEOUT_MS } from './connection-pool.ts'
import { explainFailure, isConnectionLost, isConnectTimeout, isRetryable, isUnknownTransaction } from './failures.ts'
import { migrate } from './schema.ts'
import { ServerTime } from './server-time.ts'

export type { DatabaseOptions } from './connection-pool.ts'

/** Runs SQL, inside a transaction or standalone. Values replace `$1`, `$2` and so on. */
export interface Sql {
  all<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  get<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /** Returns the number of changed rows. */
  run(text: string, values?: readonly unknown[]): Promise<number>
  /** Reads the columns of all rows as bytes: a long `bytea` arrives as it is stored, not as hex digits. The text has no values. */
  readBytes(text: string): Promise<Uint8Array[][]>
}

/** A library in PostgreSQL. Outside `transaction` and `snapshot`, every statement is a transaction of its own. */
export interface Database extends Sql {
  /** The address without the password, for display. */
  readonly location: string
  /** Checks how the server is reached, and refuses a connection mode that cannot work. */
  checkConnection(): Promise<void>
  /** How far the server clock is ahead of the local one, in milliseconds, by the latest measurement. */
  readonly clockOffset: () => number
  /**
   * Runs work as one transaction, exactly once. When the response to COMMIT is lost, asks the server for the outcome, up to the lock
   * timeout. If the outcome stays unknown, the call fails, although the work may have been committed. Work is repeated from the start after
   * a serialization failure, so it must do nothing but query the database.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, level?: IsolationLevel): Promise<T>
  /** Runs read-only work on one consistent snapshot. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The channel on which processes that share the library notify each other: `SELECT pg_notify(channel, 'jobs')`. */
  readonly channel: string
  /**
   * Calls `wake` with the topic of each notification, or with '' when notifications may have been missed. Some connection poolers drop
   * notifications, so listeners must also poll. Returns a function that unsubscribes.
   */
  listen(wake: (topic: string) => void): () => Promise<void>
  close(): Promise<void>
}

/** Delay before a lost listening connection is reopened. */
const LISTEN_RETRY_DELAY_MS = 1000
/** Minimum and maximum delay before conflicting work is retried. */
const RETRY_DELAY_RANGE_MS = [5, 50] as const
/** Minimum and maximum delay before the outcome of a transaction is queried again. */
const COMMIT_POLL_RANGE_MS = [50, 250] as const

/** Opens the library at an address such as `postgres://user@host/database`, and migrates its tables. */
export async function openDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await connectDatabase(address, options)
  try {
    await database.checkConnection()
    await migrate(database, parseConnectionAddress(address))
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens a database without migrating it. It connects on first use. */
export async function connectDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  return createDatabase(await openContext(address, options))
}

/** Everything that is needed to query a database. */
interface DatabaseContext {
  readonly connections: ConnectionPool
  readonly location: string
  readonly channel: string
  readonly time: ServerTime
  readonly lockTimeoutMs: number
  /** Retries work while a retry may help. */
  readonly retry: <T>(work: () => Promise<T>) => Promise<T>
}

async function openContext(address: string, options: DatabaseOptions): Promise<DatabaseContext> {
  const connectionAddress = parseConnectionAddress(address)
  const { location, channel } = connectionAddress
  const { lockTimeoutMs = LOCK_TIMEOUT_MS } = options
  const time = new ServerTime()
  const retry = async <T>(work: () => Promise<T>): Promise<T> => {
    let isReconnected = false
    for (const since = performance.now(); ; ) {
      try {
        return await work()
      } catch (error) {
        // The pool may have held a connection to a server that was restarted meanwhile.
        const isStale: boolean = isConnectionLost(error) && !isConnectTimeout(error) && !isReconnected
        isReconnected ||= isStale
        if (!isStale && !(isRetryable(error) && performance.now() - since < lockTimeoutMs)) {
          throw explainFailure(error, location)
        }
      }
      await sleepBetween(RETRY_DELAY_RANGE_MS)
    }
  }
  return {
    connections: await ConnectionPool.open(connectionAddress, options, time),
    location,
    channel,
    time,
    lockTimeoutMs,
    retry,
  }
}

async function sleepBetween([min, max]: readonly [number, number]): Promise<void> {
  await sleep(min + Math.random() * (max - min))
}

function createDatabase(context: DatabaseContext): Database {
  const { connections, location, channel, time, retry } = context
  const queryOn = (client: PoolClient) => (text: string, values: readonly unknown[]) =>
    connections.query(client, toQueryConfig(text, values, connections.hasOwnSessions))
  const copyOn = (client: PoolClient) => (text: string) =>
    connections.copyOut(client, `COPY (${text}) TO STDOUT (FORMAT binary)`)
  const direct = createSql(
    (text, values) => retry(() => connections.use((client) => queryOn(client)(text, values))),
    (text) => retry(() => connections.use((client) => copyOn(client)(text))),
  )
  const runWork = async <T>(client: PoolClient, work: (sql: Sql) => Promise<T>): Promise<T> => {
    try {
      return await work(createSql(queryOn(client), copyOn(client)))
    } catch (error) {
      if (!isConnectionLost(error)) await connections.query(client, 'ROLLBACK').catch(() => undefined)
      throw error
    }
  }
  const write = async <T>(work: (sql: Sql) => Promise<T>, level: IsolationLevel): Promise<T> => {
    const unconfirmed: { transaction: Transaction; result: T }[] = []
    try {
      return await connections.use(async (client) => {
        const transaction = await begin(context, client, level)
        const result = await runWork(client, work)
        unconfirmed.push({ transaction, result })
        await connections.query(client, 'COMMIT')
        return result
      })
    } catch (error) {
      const [last] = unconfirmed
      if (last === undefined || !isConnectionLost(error)) throw error
      if (!(await isCommitted(context, direct, last.transaction))) throw error
      return last.result
    }
  }
  const read = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
    connections.use(async (client) => {
      await connections.query(client, connections.beginReading())
      const result = await runWork(client, work)
      await connections.query(client, 'COMMIT')
      return result
    })
  return {
    ...direct,
    location,
    checkConnection: () => retry(() => connections.checkSessions()),
    clockOffset: () => time.offset,
    transaction: (work, level = 'READ COMMITTED') => retry(() => write(work, level)),
    snapshot: (work) => retry(() => read(work)),
    channel,
    listen: (wake) => listen(connections, channel, wake),
    close: () => connections.pool.end(),
  }
}

/** An active transaction: its id, and its start by the server clock. */
interface Transaction {
  readonly id: string
  readonly now: Date
}

async function begin(
  { connections, time }: DatabaseContext,
  client: PoolClient,
  level: IsolationLevel,
): Promise<Transaction> {
  const before = Date.now()
  const results: unknown = await connections.query(client, connections.beginWriting(level))
  // A query of several statements has several results.
  const last = (results as readonly { readonly rows: readonly Transaction[] }[]).at(-1)?.rows[0]
  if (last === undefined) throw new TypeError('expected a transaction id, got none')
  time.addSample(before, last.now.getTime(), Date.now())
  return last
}

/** Whether a transaction was committed whose COMMIT got no response. Throws when the outcome stays unknown until the timeout. */
async function isCommitted(
  { lockTimeoutMs, location }: DatabaseContext,
  sql: Sql,
  transaction: Transaction,
): Promise<boolean> {
  let problem: unknown = new PharosError('LIBRARY_LOCKED', { library: location })
  for (
    const since = performance.now();
    performance.now() - since < lockTimeoutMs;
    await sleepBetween(COMMIT_POLL_RANGE_MS)
  ) {
    try {
      const status = await readStatus(sql, transaction)
      // The server may still be working on the COMMIT, or may not have noticed the lost connection yet.
      if (status !== 'in progress') return status === 'committed'
    } catch (error) {
      // An unreachable server is usually restarting, which is also how responses get lost.
      if (!(error instanceof PharosError) || error.code !== 'LIBRARY_UNREACHABLE') throw error
      problem = error
    }
  }
  throw problem
}

/**
 * The status of a transaction; null when unknown. Also null after a server crash, which the reset of the statistics reveals: the id may
 * have been reused since.
 */
async function readStatus(sql: Sql, { id, now }: Transaction): Promise<string | null> {
  const found = await sql
    .get<{ status: string | null }>(
      `SELECT CASE WHEN (SELECT stats_reset FROM pg_stat_bgwriter) > $2 THEN NULL ELSE pg_xact_status($1::xid8) END AS status`,
      [id, now],
    )
    .catch((error: unknown) => {
      if (isUnknownTransaction(error)) return undefined
      throw error
    })
  return found?.status ?? null
}

/** Keeps a listening connection open until it is no longer wanted. */
function listen(connections: ConnectionPool, channel: string, wake: (topic: string) => void): () => Promise<void> {
  const stop = new AbortController()
  const onNotification = ({ payload = '' }: Notification) => wake(payload)
  const listenOnce = async (): Promise<void> => {
    const client = await connections.pool.connect()
    try {
      const lostOrStopped = new Promise<void>((resolve) => {
        client.on('end', resolve).on('error', () => resolve())
        stop.signal.addEventListener('abort', () => resolve())
      })
      client.on('notification', onNotification)
      await connections.query(client, `LISTEN "${channel}"`)
      // Notifications before this point may have been missed.
      wake('')
      if (!stop.signal.aborted) await lostOrStopped
    } finally {
      client.off('notification', onNotification)
      // The connection is closed, because it would keep listening in the pool.
      client.release(true)
    }
  }
  const keepListening = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // An unreachable server is reported by the next query, so errors are ignored here.
      await listenOnce().catch(() => undefined)
      await sleep(LISTEN_RETRY_DELAY_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  // A shared session would receive notifications for other clients, so there is no listener.
  const listening = connections.hasOwnSessions ? keepListening() : Promise.resolve().then(() => wake(''))
  return () => {
    stop.abort()
    return listening
  }
}

type RunQuery = (text: string, values: readonly unknown[]) => Promise<{ rows: unknown[]; rowCount: number | null }>

function createSql(runQuery: RunQuery, readBytes: Sql['readBytes']): Sql {
  return {
    readBytes,
    all: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await runQuery(text, values)).rows as Row[],
    get: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await runQuery(text, values)).rows[0] as Row | undefined,
    run: async (text, values = []) => (await runQuery(text, values)).rowCount ?? 0,
  }
}

const statementNames = new Map<string, string>()

/**
 * A named statement is planned once per connection. The number of statements in this program is fixed, so all of them are kept. The name is
 * derived from the text, so that programs behind one pooler never use a name for different statements.
 */
function toQueryConfig(text: string, values: readonly unknown[], isNamed: boolean): QueryConfig {
  const query = { text, values: values.map(replaceNul) }
  if (!isNamed) return query
  const name = statementNames.get(text) ?? `pharos_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  statementNames.set(text, name)
  return { ...query, name }
}

/** Replaces NUL, which PostgreSQL cannot store in text. Pages, robots.txt files and foreign messages may contain it. */
function replaceNul(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  return Array.isArray(value) ? value.map(replaceNul) : value
}
