import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification, PoolClient, QueryConfig } from 'pg'
import { PharosError } from '../../core/errors.ts'
import { Connections, type DatabaseOptions, type IsolationLevel, PATIENCE_MS } from './connections.ts'
import { explainFailure, isConnectionLost, isConnectTimeout, isForgotten, isRepeatable } from './failures.ts'
import { parsePlace } from './place.ts'
import { migrate } from './schema.ts'
import { ServerTime } from './server-time.ts'

export type { DatabaseOptions } from './connections.ts'

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
  /** Looks by which way it is reached, and refuses one by which it cannot be used. */
  look(): Promise<void>
  /** How far the clock of the server is ahead of that of this machine, in milliseconds, by what it last told. */
  readonly clockOffset: () => number
  /**
   * Runs a piece of work as one transaction, once: where its end was not answered, the server is asked what became of it, for as long as
   * others are waited for; that nobody could tell is a failure, and it may have been written. It is run again from the beginning where two
   * got in each other's way, so that it must do nothing but ask the database.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, level?: IsolationLevel): Promise<T>
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

/** A connection that listened and was lost is made anew after this. */
const LISTEN_AGAIN_MS = 1000
/** Least and most milliseconds before work that was in the way of others is run again. */
const REPEAT_MS = [5, 50] as const
/** The same before it is asked again what became of a transaction. */
const ASK_MS = [50, 250] as const

/** Opens the library at an address such as `postgres://user@host/database`, and brings its tables up to date. */
export async function openDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await connectDatabase(address, options)
  try {
    await database.look()
    await migrate(database, parsePlace(address))
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The same as it is, whatever it holds. It connects when it is first asked. */
export async function connectDatabase(address: string, options: DatabaseOptions = {}): Promise<Database> {
  return createDatabase(await prepare(address, options))
}

/** What a database is asked by. */
interface Asked {
  readonly connections: Connections
  readonly location: string
  readonly channel: string
  readonly time: ServerTime
  readonly patienceMs: number
  /** Does a piece of work again, as long as that may help. */
  readonly repeat: <T>(work: () => Promise<T>) => Promise<T>
}

async function prepare(address: string, options: DatabaseOptions): Promise<Asked> {
  const place = parsePlace(address)
  const { location, channel } = place
  const { patienceMs = PATIENCE_MS } = options
  const time = new ServerTime()
  const repeat = async <T>(work: () => Promise<T>): Promise<T> => {
    let isReconnected = false
    for (const since = performance.now(); ; ) {
      try {
        return await work()
      } catch (error) {
        // The pool may have held a connection to a server that was started anew meanwhile.
        const isStale: boolean = isConnectionLost(error) && !isConnectTimeout(error) && !isReconnected
        isReconnected ||= isStale
        if (!isStale && !(isRepeatable(error) && performance.now() - since < patienceMs)) {
          throw explainFailure(error, location)
        }
      }
      await rest(REPEAT_MS)
    }
  }
  return { connections: await Connections.open(place, options, time), location, channel, time, patienceMs, repeat }
}

async function rest([least, most]: readonly [number, number]): Promise<void> {
  await sleep(least + Math.random() * (most - least))
}

function createDatabase(asked: Asked): Database {
  const { connections, location, channel, time, repeat } = asked
  const askOn = (client: PoolClient) => (text: string, values: readonly unknown[]) =>
    connections.ask(client, prepared(text, values, connections.hasOwnSessions))
  const direct = createSql((text, values) => repeat(() => connections.use((client) => askOn(client)(text, values))))
  const within = async <T>(client: PoolClient, work: (sql: Sql) => Promise<T>): Promise<T> => {
    try {
      return await work(createSql(askOn(client)))
    } catch (error) {
      if (!isConnectionLost(error)) await connections.ask(client, 'ROLLBACK').catch(() => undefined)
      throw error
    }
  }
  const write = async <T>(work: (sql: Sql) => Promise<T>, level: IsolationLevel): Promise<T> => {
    const unanswered: { transaction: Transaction; result: T }[] = []
    try {
      return await connections.use(async (client) => {
        const transaction = await begin(asked, client, level)
        const result = await within(client, work)
        unanswered.push({ transaction, result })
        await connections.ask(client, 'COMMIT')
        return result
      })
    } catch (error) {
      const [last] = unanswered
      if (last === undefined || !isConnectionLost(error)) throw error
      if (!(await isWritten(asked, direct, last.transaction))) throw error
      return last.result
    }
  }
  const read = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
    connections.use(async (client) => {
      await connections.ask(client, connections.beginReading())
      const result = await within(client, work)
      await connections.ask(client, 'COMMIT')
      return result
    })
  return {
    ...direct,
    location,
    look: () => repeat(() => connections.look()),
    clockOffset: () => time.offset,
    transaction: (work, level = 'READ COMMITTED') => repeat(() => write(work, level)),
    snapshot: (work) => repeat(() => read(work)),
    channel,
    listen: (wake) => listen(connections, channel, wake),
    close: () => connections.pool.end(),
  }
}

/** A transaction that is under way: its number, and when it began, by the clock of the server. */
interface Transaction {
  readonly id: string
  readonly now: Date
}

async function begin({ connections, time }: Asked, client: PoolClient, level: IsolationLevel): Promise<Transaction> {
  const before = Date.now()
  const answers: unknown = await connections.ask(client, connections.beginWriting(level))
  // Several statements in one question have several answers.
  const last = (answers as readonly { readonly rows: readonly Transaction[] }[]).at(-1)?.rows[0]
  if (last === undefined) throw new TypeError('a transaction was given no number')
  time.note(before, last.now.getTime(), Date.now())
  return last
}

/** Whether a transaction whose end was not answered was written. Fails where nobody could tell in time. */
async function isWritten({ patienceMs, location }: Asked, sql: Sql, transaction: Transaction): Promise<boolean> {
  let problem: unknown = new PharosError('LIBRARY_LOCKED', { library: location })
  for (const since = performance.now(); performance.now() - since < patienceMs; await rest(ASK_MS)) {
    try {
      const status = await readStatus(sql, transaction)
      // The server may be at it, or not have noticed yet that nobody waits any more.
      if (status !== 'in progress') return status === 'committed'
    } catch (error) {
      // Whoever does not answer is mostly being started anew, which is also how answers get lost.
      if (!(error instanceof PharosError) || error.code !== 'LIBRARY_UNREACHABLE') throw error
      problem = error
    }
  }
  throw problem
}

/**
 * What became of a transaction; null where nobody knows. After a crash of the server its number may have been given to another: then it
 * counts as lost. All figures begin anew with a crash, by which it is known.
 */
async function readStatus(sql: Sql, { id, now }: Transaction): Promise<string | null> {
  const found = await sql
    .get<{ status: string | null }>(
      `SELECT CASE WHEN (SELECT stats_reset FROM pg_stat_bgwriter) > $2 THEN NULL ELSE pg_xact_status($1::xid8) END AS status`,
      [id, now],
    )
    .catch((error: unknown) => {
      if (isForgotten(error)) return undefined
      throw error
    })
  return found?.status ?? null
}

/** Keeps a connection that hears a channel, for as long as it is wanted. */
function listen(connections: Connections, channel: string, wake: (about: string) => void): () => Promise<void> {
  const stop = new AbortController()
  const tell = ({ payload = '' }: Notification) => wake(payload)
  const hear = async (): Promise<void> => {
    const client = await connections.pool.connect()
    try {
      const lost = new Promise<void>((resolve) => {
        client.on('end', resolve).on('error', () => resolve())
        stop.signal.addEventListener('abort', () => resolve())
      })
      client.on('notification', tell)
      await connections.ask(client, `LISTEN "${channel}"`)
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
  // A session that is shared would hear for others.
  const kept = connections.hasOwnSessions ? keep() : Promise.resolve().then(() => wake(''))
  return () => {
    stop.abort()
    return kept
  }
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

/**
 * A statement with a name is planned once a connection. There are as many as this program has, so that all are remembered. The name says
 * what it is, so that no two programs behind a pooler mean different ones by it.
 */
function prepared(text: string, values: readonly unknown[], isNamed: boolean): QueryConfig {
  const query = { text, values: values.map(storable) }
  if (!isNamed) return query
  const name = names.get(text) ?? `pharos_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  names.set(text, name)
  return { ...query, name }
}

/** PostgreSQL has no text with a NUL in it, which pages, robots.txt files and messages of others may well have. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  return Array.isArray(value) ? value.map(storable) : value
}
