import { EventEmitter } from 'node:events'
import { Duplex } from 'node:stream'
import type { ClientBase, ClientConfig, Pool, PoolClient, PoolConfig, QueryConfig, QueryResult } from 'pg'
import { PharosError } from '../../core/errors.ts'
import { hasAnswered, isConnectionLost, isQueueTimeout, NoneFree } from './failures.ts'
import { heard, type Whereabouts } from './heard.ts'
import type { Place } from './place.ts'
import type { ServerTime } from './server-time.ts'

/** How a library in PostgreSQL is opened. */
export interface DatabaseOptions {
  /** How long a write waits for those of others, in milliseconds. @default 30 s */
  readonly patienceMs?: number | undefined
  /** Connections at once. @default 8 */
  readonly connections?: number | undefined
  /** Of a statement that has not been answered for so long is asked whether the server is still at it, in milliseconds. @default 15 s */
  readonly quietMs?: number | undefined
}

/** How long a write waits for those of others. */
export const PATIENCE_MS = 30_000
const QUIET_MS = 15_000
const CONNECTIONS = 8
/** A process that stands still in the middle of a transaction keeps others waiting; after so long the server ends it. */
const STANDSTILL_MS = 5000
/** Whether the other end is still there is asked after this. The system would wait for hours. */
const KEEP_ALIVE_MS = 10_000
/** The number of the type `bigint`: ids and moments, which are far below what a number can hold. */
const BIGINT = 20

/** What a transaction sees of others that end meanwhile. */
export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ'

/** What was written is not forgotten by a crash: a slot that was would be given out twice. */
const keepWrites = (isLocal: boolean) =>
  `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`

/** The connections of a process to the database of a library. */
export class Connections {
  readonly pool: Pool
  readonly #place: Place
  readonly #settings: readonly string[]
  readonly #quietMs: number
  readonly #time: ServerTime
  readonly #createClient: () => ClientBase & { end(): Promise<void> }
  /** The number of the session that each connection was given when it was made. */
  readonly #sessions = new WeakMap<ClientBase, number>()
  /** Why the server has ended a connection that had asked it nothing: the driver does not tell whoever asks next. */
  readonly #ended = new WeakMap<ClientBase, Error>()
  #hasOwnSessions = false

  static async open(place: Place, options: DatabaseOptions, time: ServerTime): Promise<Connections> {
    const { default: pg } = await import('pg').catch((cause: unknown) => {
      const problem = 'the package pg is not installed; install it beside Pharos: npm install pg'
      throw new PharosError('LIBRARY_UNUSABLE', { library: place.location, problem }, { cause })
    })
    return new Connections(pg, place, options, time)
  }

  private constructor(
    pg: Pick<typeof import('pg'), 'Pool' | 'Client' | 'types'>,
    place: Place,
    { patienceMs = PATIENCE_MS, connections = CONNECTIONS, quietMs = QUIET_MS }: DatabaseOptions,
    time: ServerTime,
  ) {
    this.#place = place
    this.#quietMs = quietMs
    this.#time = time
    this.#settings = [
      `search_path TO ${place.quotedSchema}`,
      `lock_timeout TO ${patienceMs}`,
      `idle_in_transaction_session_timeout TO ${STANDSTILL_MS}`,
      // Some servers end what takes long. What takes too long here is told by whoever waits for it.
      'statement_timeout TO 0',
      // As the driver reads moments.
      'DateStyle TO ISO',
      // Questions here are small: compiling one takes longer than answering it.
      'jit TO off',
    ]
    const config: ClientConfig = {
      connectionString: place.address,
      connectionTimeoutMillis: place.connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: 'pharos',
      types: { getTypeParser: (id, format) => (id === BIGINT ? Number : pg.types.getTypeParser(id, format)) as never },
    }
    const Client = closingOnFailure(pg.Client)
    const poolConfig: PoolConfig = {
      ...{ ...config, Client, max: connections },
      onConnect: (client) => this.#prepare(client),
    }
    this.pool = new pg.Pool(poolConfig)
    // An idle connection that the server closes is replaced by the next that is needed.
    this.pool.on('error', () => undefined)
    this.#createClient = () => new Client({ ...config, query_timeout: place.connectMs })
  }

  /**
   * Whether a connection keeps its session. Behind a pooler that gives one to a transaction at a time, nothing that is set or prepared
   * stays; it is taken for such a one until {@link look} has looked.
   */
  get hasOwnSessions(): boolean {
    return this.#hasOwnSessions
  }

  /** What begins a transaction that writes, as one question; it is answered with its number and the time of the server. */
  beginWriting(level: IsolationLevel): string {
    // Read at every transaction: as few words as will do.
    const asked = 'SELECT pg_current_xact_id() AS id, clock_timestamp() AS now'
    if (this.#hasOwnSessions)
      return `${level === 'READ COMMITTED' ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${level}`}; ${asked}`
    return [`BEGIN ISOLATION LEVEL ${level}`, ...this.#told(), `${asked}, ${keepWrites(true)}`].join('; ')
  }

  /** The same of one that only reads. */
  beginReading(): string {
    return ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...this.#told()].join('; ')
  }

  /** Does a piece of work on a connection. One that was lost meanwhile is not given to anybody else. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    let problem: unknown
    try {
      return await work(client)
    } catch (error) {
      problem = error
      throw error
    } finally {
      client.release(isConnectionLost(problem))
    }
  }

  /** Asks on a connection, and waits for as long as the server is at it. */
  async ask(client: PoolClient, query: string | QueryConfig): Promise<QueryResult> {
    try {
      return await heard(client.query(query), this.#quietMs, () => this.#lookFor(client, query))
    } catch (error) {
      throw (isConnectionLost(error) && this.#ended.get(client)) || error
    }
  }

  /**
   * Looks whether connections keep their sessions. Where they do not, the role or the database has to name the schema, because nobody
   * else can.
   */
  async look(): Promise<void> {
    const isShared = await this.use(async (client) => {
      const isShared = await this.#isShared(client)
      if (!isShared) await this.#setUp(client)
      return isShared
    })
    this.#hasOwnSessions = !isShared
    if (!isShared || (await this.use((client) => this.#isSchemaNamed(client)))) return
    const { location, quotedSchema } = this.#place
    const problem =
      `its pooler gives a session to one transaction at a time: set it to session mode, go past it, or let the role name the schema: ` +
      `ALTER ROLE … SET search_path TO ${quotedSchema}`
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
  }

  /** What a transaction has to be told because its session may not have been. */
  #told(): readonly string[] {
    return this.#hasOwnSessions ? [] : this.#settings.map((setting) => `SET LOCAL ${setting}`)
  }

  async #connect(): Promise<PoolClient> {
    const { pool } = this
    try {
      return await pool.connect()
    } catch (error) {
      throw isQueueTimeout(error) && pool.totalCount >= pool.options.max
        ? new NoneFree('all connections are in use', { cause: error })
        : error
    }
  }

  async #prepare(client: ClientBase): Promise<void> {
    // The first says why; what follows is only that it is over.
    client.once('error', (error) => this.#ended.set(client, error)).on('error', () => undefined)
    const before = Date.now()
    // As a number: how moments are written is not settled yet.
    const { rows } = await this.#greet(
      client,
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, pg_backend_pid() AS session',
    )
    this.#time.note(before, Number(rows[0]?.now ?? before), Date.now())
    this.#sessions.set(client, rows[0]?.session)
    if (this.#hasOwnSessions || this.#isDirect(client)) await this.#setUp(client)
  }

  /** Tells a session what holds for all that it is asked. One that is shared is told nothing: others would have it. */
  async #setUp(client: ClientBase): Promise<void> {
    // What a transaction is that says nothing else, whatever the database was told.
    const settings = [...this.#settings, `default_transaction_isolation TO 'read committed'`]
    await this.#greet(
      client,
      [...settings.map((setting) => `SET ${setting}`), `SELECT ${keepWrites(false)}`].join('; '),
    )
  }

  /** Asks a connection that is new. */
  #greet(client: ClientBase, text: string): Promise<QueryResult> {
    return heard(client.query(text), this.#place.connectMs, giveUp)
  }

  /** Whether there is no pooler: one makes up the number by which a statement is cancelled; a server says that of the session. */
  #isDirect(client: ClientBase): boolean {
    return 'processID' in client && client.processID === this.#sessions.get(client)
  }

  /** Whether another connection is given the session of this one. */
  async #isShared(client: PoolClient): Promise<boolean> {
    if (this.#isDirect(client)) return false
    const other = this.#createClient()
    other.on('error', () => undefined)
    try {
      await other.connect()
      const before = await readSession(client)
      await other.query('BEGIN')
      const taken = await readSession(other)
      if (taken === before || (await readSession(client)) !== before) return true
      await other.query('COMMIT')
      // Where sessions go round, the other one comes next now, or after that.
      return (await readSession(client)) !== before || (await readSession(client)) !== before
    } finally {
      await other.end()
    }
  }

  async #isSchemaNamed(client: PoolClient): Promise<boolean> {
    const { rows } = await client.query(
      `SELECT reset_val IN ($1, $2) AS "isNamed" FROM pg_settings WHERE name = 'search_path'`,
      [this.#place.schema, this.#place.quotedSchema],
    )
    return rows[0]?.isNamed === true
  }

  /** Looks whether the server is still at what a connection has asked. */
  async #lookFor(client: ClientBase, query: string | QueryConfig): Promise<Whereabouts> {
    const other = this.#createClient()
    other.on('error', () => undefined)
    try {
      await other.connect()
      const text = typeof query === 'string' ? query : query.text
      const { rows } = this.#hasOwnSessions
        ? await other.query(`SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND ${AT_WORK}`, [
            this.#sessions.get(client),
          ])
        : await other.query(ASKED, [text])
      return rows.length > 0 ? 'there' : 'gone'
    } catch (error) {
      // One that refuses another connection is there.
      return hasAnswered(error) ? 'there' : 'unknown'
    } finally {
      other.end().catch(() => undefined)
    }
  }
}

/**
 * A connection that fails while it is made is closed at once. The driver leaves that to the server, which waits for a password that nobody
 * has for a minute, and so does every process that wants to end.
 */
function closingOnFailure(Client: typeof import('pg').Client): typeof import('pg').Client {
  return class extends Client {
    constructor(config?: string | ClientConfig) {
      super(config)
      const connection: unknown = 'connection' in this ? this.connection : undefined
      if (!(connection instanceof EventEmitter)) return
      connection.on('error', () => {
        // Another one once it is encrypted.
        if ('stream' in connection && connection.stream instanceof Duplex) connection.stream.destroy()
      })
    }
  }
}

/** Whether a session does something, or may: of some the state is not shown. */
const AT_WORK = `coalesce(state NOT LIKE 'idle%', true)`

/** Which session is asked behind some poolers, nobody knows: one that is at the same. Long texts are shown in part. */
const ASKED = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query <> '' AND starts_with($1, query) AND ${AT_WORK}`

const giveUp = (): Promise<Whereabouts> => Promise.resolve('gone')

async function readSession(client: ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ session: number }>('SELECT pg_backend_pid() AS session')
  return rows[0]?.session
}
