import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification, Pool, PoolClient, PoolConfig } from 'pg'
import { PharosError } from '../../core/errors.ts'
import { explainFailure, isConnectionLost, isConnectTimeout, isRepeatable } from './failures.ts'
import { type Place, parsePlace } from './place.ts'
import { migrate } from './schema.ts'
import { ServerTime } from './server-time.ts'

/** Asks a database, inside a transaction or on its own. Values stand for `$1`, `$2` and so on. */
export interface Sql {
  all<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  get<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /** Answers how many rows were changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

/** A library in PostgreSQL. Asked directly, every statement is a transaction of its own. */
export interface Database extends Sql {
  /** Shown to people: without the password. */
  readonly location: string
  /** How far the clock of the server is ahead of that of this machine, in milliseconds, by what the last connection told. */
  readonly clockOffset: () => number
  /**
   * Runs a piece of work as one transaction. It is run again from the beginning where two got in each other's way, so that it must
   * do nothing but ask the database.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The same for work that only reads: all of it sees the library as it was at one moment. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** The channel by which processes that share the library wake each other: `SELECT pg_notify(channel, 'jobs')`. */
  readonly channel: string
  /**
   * Calls back when anybody does, with what it is about, and with nothing when that may have been missed. Behind some poolers it never is:
   * whoever listens looks for itself now and then. Gives what ends it.
   */
  listen(wake: (about: string) => void): () => Promise<void>
  close(): Promise<void>
}

/** How a library in PostgreSQL is opened. */
export interface DatabaseOptions {
  /** How long a write waits for those of others, in milliseconds. @default 30 s */
  readonly patienceMs?: number | undefined
  /** Connections at once. @default 8 */
  readonly connections?: number | undefined
}

const PATIENCE_MS = 30_000
const CONNECTIONS = 8
/** A process that stands still in the middle of a transaction keeps others waiting; after so long the server ends it. */
const STANDSTILL_MS = 5000
/** A connection that listened and was lost is made anew after this. */
const LISTEN_AGAIN_MS = 1000
/** Least and most milliseconds before work that was in the way of others is run again. */
const REPEAT_MS = [5, 50] as const

/** Opens the library at an address such as `postgres://user@host/database`, and brings its tables up to date. */
export async function openDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await connectDatabase(address, options)
  try {
    await migrate(database, parsePlace(address))
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The same as it is, whatever it holds. It connects when it is first asked. */
export async function connectDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  const place = parsePlace(address)
  const { patienceMs = PATIENCE_MS } = options
  const time = new ServerTime()
  return createDatabase(await openPool(place, options, patienceMs, time), place, patienceMs, time)
}

async function openPool(
  place: Place,
  { connections = CONNECTIONS }: DatabaseOptions,
  patienceMs: number,
  time: ServerTime,
) {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    const problem = 'the package pg is not installed; install it beside Pharos: npm install pg'
    throw new PharosError('LIBRARY_UNUSABLE', { library: place.location, problem }, { cause })
  })
  const config: PoolConfig = {
    connectionString: place.address,
    max: connections,
    connectionTimeoutMillis: place.connectMs,
    keepAlive: true,
    application_name: 'pharos',
    onConnect: async (client) => {
      const settings = [
        `SET search_path TO ${place.schema}`,
        `SET lock_timeout TO ${patienceMs}`,
        // Questions here are small: compiling one takes longer than answering it.
        'SET jit TO off',
        `SET idle_in_transaction_session_timeout TO ${STANDSTILL_MS}`,
      ]
      await client.query(settings.join('; '))
      const before = Date.now()
      const { rows } = await client.query<{ now: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
      )
      time.note(before, rows[0]?.now ?? before, Date.now())
    },
    types: { getTypeParser: (id, format) => (id === BIGINT ? Number : pg.types.getTypeParser(id, format)) as never },
  }
  const pool = new pg.Pool(config)
  // An idle connection that the server closes is replaced by the next that is needed.
  pool.on('error', () => undefined)
  // One that is closed between two statements of a transaction fails the next of them: that is who has to hear of it.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** The number of the type `bigint`: ids and moments, which are far below what a number can hold. */
const BIGINT = 20

function createDatabase(pool: Pool, { location, schema }: Place, patienceMs: number, time: ServerTime): Database {
  const explain = (error: unknown) => explainFailure(error, location)
  const within = async <T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    let problem: unknown
    try {
      await client.query(begin)
      const result = await work(createSql((text, values) => client.query(prepared(text, values))))
      await client.query('COMMIT')
      return result
    } catch (error) {
      problem = error
      await client.query('ROLLBACK').catch(() => undefined)
      throw error
    } finally {
      release(client, problem)
    }
  }
  const repeat = async <T>(work: () => Promise<T>): Promise<T> => {
    let isReconnected = false
    for (const since = performance.now(); ; ) {
      try {
        return await work()
      } catch (error) {
        // The pool may have held a connection to a server that was started anew meanwhile.
        const isStale: boolean = isConnectionLost(error) && !isConnectTimeout(error) && !isReconnected
        isReconnected ||= isStale
        if (!isStale && !(isRepeatable(error) && performance.now() - since < patienceMs)) throw explain(error)
      }
      const [least, most] = REPEAT_MS
      await sleep(least + Math.random() * (most - least))
    }
  }
  const channel = `${schema}_work`
  const direct = createSql((text, values) => repeat(() => pool.query(prepared(text, values))))
  return {
    ...direct,
    location,
    clockOffset: () => time.offset,
    transaction: (work) => repeat(() => within('BEGIN', work)),
    snapshot: (work) => repeat(() => within('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)),
    channel,
    listen: (wake) => listen(pool, channel, wake),
    close: () => pool.end(),
  }
}

/** Keeps a connection that hears a channel, for as long as it is wanted. */
function listen(pool: Pool, channel: string, wake: (about: string) => void): () => Promise<void> {
  const stop = new AbortController()
  const tell = ({ payload = '' }: Notification) => wake(payload)
  const hear = async (): Promise<void> => {
    const client = await pool.connect()
    try {
      const lost = new Promise<void>((resolve) => {
        client.on('end', resolve).on('error', () => resolve())
        stop.signal.addEventListener('abort', () => resolve())
      })
      client.on('notification', tell)
      await client.query(`LISTEN ${channel}`)
      // Whatever was said before is looked for.
      wake('')
      if (!stop.signal.aborted) await lost
    } finally {
      client.off('notification', tell)
      // It would hear on, for nobody.
      client.release(true)
    }
  }
  const keep = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // A server that is away is told by whoever asks it something.
      await hear().catch(() => undefined)
      await sleep(LISTEN_AGAIN_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const kept = keep()
  return () => {
    stop.abort()
    return kept
  }
}

/** A connection that was lost is not given to anybody else. */
function release(client: PoolClient, problem: unknown): void {
  client.release(isConnectionLost(problem) ? true : undefined)
}

type Ask = (text: string, values: readonly unknown[]) => Promise<{ rows: unknown[]; rowCount: number | null }>

function createSql(ask: Ask): Sql {
  return {
    all: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await ask(text, values)).rows as Row[],
    get: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await ask(text, values)).rows[0] as Row | undefined,
    run: async (text, values = []) => (await ask(text, values)).rowCount ?? 0,
  }
}

const names = new Map<string, string>()

/** A statement with a name is planned once a connection. There are as many as this program has, so that all are remembered. */
function prepared(text: string, values: readonly unknown[]): { name: string; text: string; values: unknown[] } {
  const name = names.get(text) ?? `pharos_${names.size}`
  names.set(text, name)
  return { name, text, values: values.map(storable) }
}

/** PostgreSQL has no text with a NUL in it, which pages, robots.txt files and messages of others may well have. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  return Array.isArray(value) ? value.map(storable) : value
}
