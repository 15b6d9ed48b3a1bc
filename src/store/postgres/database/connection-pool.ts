import { EventEmitter } from 'node:events'
import { Duplex } from 'node:stream'
import type { ClientBase, ClientConfig, Pool, PoolClient, PoolConfig, QueryConfig, QueryResult } from 'pg'
import { PharosError } from '../../../core/errors.ts'
import type { ConnectionAddress } from './connection-address.ts'
import { createCopyQuery } from './copy-query.ts'
import { isConnectionLost, isQueueTimeout, isServerError, PoolExhaustedError } from './failures.ts'
import { type Liveness, withLivenessProbe } from './liveness-probe.ts'
import type { ServerTime } from './server-time.ts'

/** Options for opening a library in PostgreSQL. */
export interface DatabaseOptions {
  /** Timeout for a write that waits for locks, in milliseconds. @default 30 s */
  readonly lockTimeoutMs?: number | undefined
  /** Size of the connection pool. @default 8 */
  readonly connections?: number | undefined
  /**
   * After this time without a response, a second connection checks whether the server still works on a statement, in milliseconds. @default
   * 15 s
   */
  readonly probeDelayMs?: number | undefined
}

/** Timeout for a write that waits for locks. */
export const LOCK_TIMEOUT_MS = 30_000
const PROBE_DELAY_MS = 15_000
const CONNECTIONS = 8
/** The server ends a transaction that stays idle this long, because it would block other writers. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5000
/** How often a connection through a pooler is checked for keeping its session: a few milliseconds, once per process. */
const SESSION_CHECKS = 20
/** TCP keep-alive delay. The system default would take hours to notice a dead connection. */
const KEEP_ALIVE_MS = 10_000
/** The OID of the type `bigint`, used for ids and timestamps, which fit into a JavaScript number. */
const BIGINT = 20

/** The transaction isolation level. */
export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ'

/**
 * Turns on synchronous commit when it is off. Otherwise a crash could undo the reservation of a request slot, and two requests would get
 * the same slot.
 */
const writeSynchronousCommit = (isLocal: boolean) =>
  `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`

/** The connection pool of a process. */
export class ConnectionPool {
  readonly pool: Pool
  readonly #address: ConnectionAddress
  readonly #settings: readonly string[]
  readonly #probeDelayMs: number
  readonly #time: ServerTime
  readonly #Query: typeof import('pg').Query
  readonly #createClient: () => ClientBase & { end(): Promise<void> }
  /** The backend process id of each connection. */
  readonly #sessions = new WeakMap<ClientBase, number>()
  /** The error with which the server closed an idle connection. The driver does not report it with the next query. */
  readonly #ended = new WeakMap<ClientBase, Error>()
  #hasOwnSessions = false

  static async open(address: ConnectionAddress, options: DatabaseOptions, time: ServerTime): Promise<ConnectionPool> {
    const { default: pg } = await import('pg').catch((cause: unknown) => {
      const problem = 'the package pg is not installed; install it beside Pharos: npm install pg'
      throw new PharosError('LIBRARY_UNUSABLE', { library: address.location, problem }, { cause })
    })
    return new ConnectionPool(pg, address, options, time)
  }

  private constructor(
    pg: Pick<typeof import('pg'), 'Pool' | 'Client' | 'Query' | 'types'>,
    address: ConnectionAddress,
    { lockTimeoutMs = LOCK_TIMEOUT_MS, connections = CONNECTIONS, probeDelayMs = PROBE_DELAY_MS }: DatabaseOptions,
    time: ServerTime,
  ) {
    this.#address = address
    this.#Query = pg.Query
    this.#probeDelayMs = probeDelayMs
    this.#time = time
    this.#settings = [
      `search_path TO ${address.quotedSchema}`,
      `lock_timeout TO ${lockTimeoutMs}`,
      `idle_in_transaction_session_timeout TO ${IDLE_TRANSACTION_TIMEOUT_MS}`,
      // Some servers set a statement timeout; here the caller decides how long to wait.
      'statement_timeout TO 0',
      // The timestamp format that the driver parses.
      'DateStyle TO ISO',
      // Queries here are small, so JIT compilation takes longer than it saves.
      'jit TO off',
    ]
    const config: ClientConfig = {
      connectionString: address.address,
      connectionTimeoutMillis: address.connectMs,
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
    // When the server closes an idle connection, the pool opens a new one on demand.
    this.pool.on('error', () => undefined)
    this.#createClient = () => new Client({ ...config, query_timeout: address.connectMs })
  }

  /**
   * Whether a connection keeps its session. Behind a pooler in transaction mode, settings and prepared statements do not persist. False
   * until {@link checkSessions} has checked.
   */
  get hasOwnSessions(): boolean {
    return this.#hasOwnSessions
  }

  /** The statement that begins a write transaction. It returns the transaction id and the server time. */
  beginWriting(level: IsolationLevel): string {
    // Sent with every transaction, so it is kept short.
    const selectFacts = 'SELECT pg_current_xact_id() AS id, clock_timestamp() AS now'
    if (this.#hasOwnSessions)
      return `${level === 'READ COMMITTED' ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${level}`}; ${selectFacts}`
    return [
      `BEGIN ISOLATION LEVEL ${level}`,
      ...this.#localSettings(),
      `${selectFacts}, ${writeSynchronousCommit(true)}`,
    ].join('; ')
  }

  /** The statement that begins a read-only transaction. */
  beginReading(): string {
    return ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...this.#localSettings()].join('; ')
  }

  /** Runs work on a connection. A connection that was lost meanwhile does not go back to the pool. */
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

  /** Runs a query on a connection, and waits for as long as the server works on it. */
  query(client: PoolClient, query: string | QueryConfig): Promise<QueryResult> {
    return this.#waitFor(client, client.query(query), typeof query === 'string' ? query : query.text)
  }

  /** Runs `COPY … TO STDOUT (FORMAT binary)` on a connection, and returns the columns of each row. */
  copyOut(client: PoolClient, text: string): Promise<Uint8Array[][]> {
    const { query, rows } = createCopyQuery(this.#Query, text)
    client.query(query)
    return this.#waitFor(client, rows, text)
  }

  async #waitFor<T>(client: PoolClient, response: Promise<T>, text: string): Promise<T> {
    try {
      return await withLivenessProbe(response, this.#probeDelayMs, () => this.#probe(client, text))
    } catch (error) {
      throw (isConnectionLost(error) && this.#ended.get(client)) || error
    }
  }

  /**
   * Checks whether connections keep their sessions. If they do not, the schema must be set for the role or database, because the client
   * cannot set it.
   */
  async checkSessions(): Promise<void> {
    const isShared = await this.use(async (client) => {
      const isShared = await this.#isShared(client)
      if (!isShared) await this.#setUp(client)
      return isShared
    })
    this.#hasOwnSessions = !isShared
    if (!isShared || (await this.use((client) => this.#isSchemaSet(client)))) return
    const { location, quotedSchema } = this.#address
    const problem =
      `its pooler is in transaction mode: set it to session mode, connect without it, or set the schema for the role: ` +
      `ALTER ROLE … SET search_path TO ${quotedSchema}`
    throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
  }

  /** Settings that each transaction must repeat when sessions are shared. */
  #localSettings(): readonly string[] {
    return this.#hasOwnSessions ? [] : this.#settings.map((setting) => `SET LOCAL ${setting}`)
  }

  async #connect(): Promise<PoolClient> {
    const { pool } = this
    try {
      return await pool.connect()
    } catch (error) {
      throw isQueueTimeout(error) && pool.totalCount >= pool.options.max
        ? new PoolExhaustedError('all connections are in use', { cause: error })
        : error
    }
  }

  async #prepare(client: ClientBase): Promise<void> {
    // Only the first error has the cause; later ones only say that the connection is closed.
    client.once('error', (error) => this.#ended.set(client, error)).on('error', () => undefined)
    const before = Date.now()
    // Read as a number, because DateStyle is not set yet.
    const { rows } = await this.#queryWithTimeout(
      client,
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, pg_backend_pid() AS session',
    )
    this.#time.addSample(before, Number(rows[0]?.now ?? before), Date.now())
    this.#sessions.set(client, rows[0]?.session)
    if (this.#hasOwnSessions || this.#isDirect(client)) await this.#setUp(client)
  }

  /** Applies the session settings. A shared session gets none, because they would leak to other clients. */
  async #setUp(client: ClientBase): Promise<void> {
    // The default isolation level, whatever the database has configured.
    const settings = [...this.#settings, `default_transaction_isolation TO 'read committed'`]
    await this.#queryWithTimeout(
      client,
      [...settings.map((setting) => `SET ${setting}`), `SELECT ${writeSynchronousCommit(false)}`].join('; '),
    )
  }

  /** Runs a query on a new connection, with the connect timeout. */
  #queryWithTimeout(client: ClientBase, text: string): Promise<QueryResult> {
    return withLivenessProbe(client.query(text), this.#address.connectMs, reportGone)
  }

  /** Whether the connection is direct. A pooler invents the process id that is used for cancelling; a server reports its own. */
  #isDirect(client: ClientBase): boolean {
    return 'processID' in client && client.processID === this.#sessions.get(client)
  }

  /**
   * Whether another connection gets the session of this one. One round is not enough: while other processes use a pooler, this connection
   * may happen to get the same session again.
   */
  async #isShared(client: PoolClient): Promise<boolean> {
    if (this.#isDirect(client)) return false
    const other = this.#createClient()
    other.on('error', () => undefined)
    try {
      await other.connect()
      const before = await readSession(client)
      for (let round = 0; round < SESSION_CHECKS; round++) {
        await other.query('BEGIN')
        const isTaken = (await readSession(other)) === before || (await readSession(client)) !== before
        await other.query('COMMIT')
        // If sessions rotate, one of the next two queries runs in another session.
        if (isTaken || (await readSession(client)) !== before || (await readSession(client)) !== before) return true
      }
      return false
    } finally {
      await other.end()
    }
  }

  async #isSchemaSet(client: PoolClient): Promise<boolean> {
    const { rows } = await client.query(
      `SELECT reset_val IN ($1, $2) AS "isNamed" FROM pg_settings WHERE name = 'search_path'`,
      [this.#address.schema, this.#address.quotedSchema],
    )
    return rows[0]?.isNamed === true
  }

  /** Checks whether the server still works on the query of a connection. */
  async #probe(client: ClientBase, text: string): Promise<Liveness> {
    const other = this.#createClient()
    other.on('error', () => undefined)
    try {
      await other.connect()
      const { rows } = this.#hasOwnSessions
        ? await other.query(`SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND ${IS_ACTIVE}`, [
            this.#sessions.get(client),
          ])
        : await other.query(FIND_ACTIVE_QUERY, [text])
      return rows.length > 0 ? 'there' : 'gone'
    } catch (error) {
      // A server that refuses another connection is alive.
      return isServerError(error) ? 'there' : 'unknown'
    } finally {
      other.end().catch(() => undefined)
    }
  }
}

/**
 * Closes a connection at once when connecting fails. The driver leaves that to the server, which may wait a minute for a password, and the
 * process could not exit until then.
 */
function closingOnFailure(Client: typeof import('pg').Client): typeof import('pg').Client {
  return class extends Client {
    constructor(config?: string | ClientConfig) {
      super(config)
      const connection: unknown = 'connection' in this ? this.connection : undefined
      if (!(connection instanceof EventEmitter)) return
      connection.on('error', () => {
        // The stream is replaced once the connection is encrypted.
        if ('stream' in connection && connection.stream instanceof Duplex) connection.stream.destroy()
      })
    }
  }
}

/** Whether a session is active, or its state is hidden. */
const IS_ACTIVE = `coalesce(state NOT LIKE 'idle%', true)`

/**
 * Finds an active session with the same query, because some poolers hide which session runs it. The server truncates long query texts,
 * hence the prefix match.
 */
const FIND_ACTIVE_QUERY = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query <> '' AND starts_with($1, query) AND ${IS_ACTIVE}`

const reportGone = (): Promise<Liveness> => Promise.resolve('gone')

async function readSession(client: ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ session: number }>('SELECT pg_backend_pid() AS session')
  return rows[0]?.session
}
