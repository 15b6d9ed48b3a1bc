import type Sqlite from 'better-sqlite3'
import type { PharosError } from '../../core/errors.ts'

type Statement = Sqlite.Statement<unknown[], unknown>

/**
 * Lets a connection compile its statements when each is first used: a library has some hundreds of them, which took most of the time of
 * opening it, and a run needs a few. Once a statement met a damaged page, every later one fails as well: whatever it read or wrote could
 * be wrong.
 */
export function compileLate(db: Sqlite.Database, findDamage: (error: unknown) => PharosError | undefined): void {
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
  // It has whatever is asked of a statement here; the rest of its type is never used.
  db.prepare = ((sql: string) => new LateStatement(() => prepare(sql), guard)) as unknown as Sqlite.Database['prepare']
}

/** Runs a part of a statement and explains damage. */
type Guard = <T>(work: () => T) => T

class LateStatement {
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
