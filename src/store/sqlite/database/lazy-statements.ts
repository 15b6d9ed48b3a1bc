import type Sqlite from 'better-sqlite3'
import type { PharosError } from '../../../core/errors.ts'

type Statement = Sqlite.Statement<unknown[], unknown>

/**
 * Makes a connection compile each statement on first use. A library has hundreds of statements, of which a run needs only a few, and
 * compiling all of them would take most of the time to open the library. Once a statement meets a damaged page of the file, all later
 * statements fail too, because they could return wrong data.
 */
export function compileLazily(db: Sqlite.Database, findDamage: (error: unknown) => PharosError | undefined): void {
  const prepare = db.prepare.bind(db)
  let damage: PharosError | undefined
  const guard: Guard = (work) => {
    if (damage !== undefined) throw damage
    try {
      return work()
    } catch (error) {
      damage = findDamage(error)
      throw damage ?? error
    }
  }
  // The class implements every statement method that the store uses; the rest of the type is never used.
  db.prepare = ((sql: string) => new LazyStatement(() => prepare(sql), guard)) as unknown as Sqlite.Database['prepare']
}

/** Runs a part of a statement and reports damage. */
type Guard = <T>(work: () => T) => T

class LazyStatement {
  readonly #prepare: () => Statement
  readonly #guard: Guard
  #isPlucked = false
  #isRaw = false
  #statement: Statement | undefined

  constructor(prepare: () => Statement, guard: Guard) {
    this.#prepare = prepare
    this.#guard = guard
  }

  pluck(): this {
    this.#isPlucked = true
    return this
  }

  raw(): this {
    this.#isRaw = true
    return this
  }

  run(...values: unknown[]): Sqlite.RunResult {
    return this.#guard(() => this.#compiled.run(...values))
  }

  get(...values: unknown[]): unknown {
    return this.#guard(() => this.#compiled.get(...values))
  }

  all(...values: unknown[]): unknown[] {
    return this.#guard(() => this.#compiled.all(...values))
  }

  *iterate(...values: unknown[]): IterableIterator<unknown> {
    const rows = this.#guard(() => this.#compiled.iterate(...values))
    try {
      for (;;) {
        const { done, value } = this.#guard(() => rows.next())
        if (done === true) return
        yield value
      }
    } finally {
      rows.return?.()
    }
  }

  get #compiled(): Statement {
    if (this.#statement === undefined) {
      this.#statement = this.#prepare()
      if (this.#isPlucked) this.#statement.pluck()
      if (this.#isRaw) this.#statement.raw()
    }
    return this.#statement
  }
}
