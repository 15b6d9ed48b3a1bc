import type Sqlite from 'better-sqlite3'

type Statement = Sqlite.Statement<unknown[], unknown>

/**
 * Lets a connection compile its statements when each is first used: a library has some hundreds of them, which took most of the time of
 * opening it, and a run needs a few.
 */
export function compileLate(db: Sqlite.Database): void {
  const prepare = db.prepare.bind(db)
  // It has whatever is asked of a statement here; the rest of its type is never used.
  db.prepare = ((sql: string) => new LateStatement(() => prepare(sql))) as unknown as Sqlite.Database['prepare']
}

class LateStatement {
  readonly #prepare: () => Statement
  #isPlucked = false
  #isRaw = false
  #statement: Statement | undefined

  constructor(prepare: () => Statement) {
    this.#prepare = prepare
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
    return this.#compiled.run(...values)
  }

  get(...values: unknown[]): unknown {
    return this.#compiled.get(...values)
  }

  all(...values: unknown[]): unknown[] {
    return this.#compiled.all(...values)
  }

  iterate(...values: unknown[]): IterableIterator<unknown> {
    return this.#compiled.iterate(...values)
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
