import { connect, createServer, type Socket } from 'node:net'
import { inject } from 'vitest'
import { closeLater } from '../close-later.ts'

/** A library behind a proxy that counts statements. */
export interface CountedLibrary {
  readonly address: string
  /** Runs work, and returns the number of statements that it has sent. */
  count(work: () => Promise<unknown>): Promise<number>
}

/** Puts a counting proxy between a program and the PostgreSQL server of this test run. */
export async function countStatements(address: string): Promise<CountedLibrary> {
  let statements = 0
  const server = createServer((client) => {
    const database = connect(`${inject('postgres')}/.s.PGSQL.5432`)
    const reader = new StatementReader(() => statements++)
    client.on('data', (bytes) => reader.read(bytes))
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const satisfies readonly (readonly [Socket, Socket])[]) {
      from.pipe(to)
      from.on('error', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeLater(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('the proxy listens on no port')
  const { pathname } = new URL(address.replace('@/', '@x/'))
  return {
    address: `postgres://pharos@127.0.0.1:${bound.port}${pathname}`,
    async count(work) {
      const before = statements
      await work()
      return statements - before
    },
  }
}

/** Types of messages that run a statement: Query, and Execute for a prepared statement. */
const STATEMENT_TYPES: ReadonlySet<number> = new Set(['Q'.charCodeAt(0), 'E'.charCodeAt(0)])

/**
 * Parses the messages of a PostgreSQL client (Frontend/Backend Protocol 3.0: a type byte, a length of four bytes that includes itself, and
 * the body).
 */
class StatementReader {
  readonly #onStatement: () => void
  #unread: Buffer = Buffer.alloc(0)
  /** Whether the startup message, which has no type byte, has been read. */
  #hasStarted = false

  constructor(onStatement: () => void) {
    this.#onStatement = onStatement
  }

  read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes])
    for (;;) {
      const head = this.#hasStarted ? 1 : 0
      if (this.#unread.length < head + 4) return
      const end = head + this.#unread.readUInt32BE(head)
      if (this.#unread.length < end) return
      if (this.#hasStarted && STATEMENT_TYPES.has(this.#unread[0] ?? 0)) this.#onStatement()
      this.#unread = this.#unread.subarray(end)
      this.#hasStarted = true
    }
  }
}
