import type { HeldGroup, HeldRow, HeldTable } from './held-tables.ts'

/** Numbers of a table that rows have: from the one after `after` up to `upTo`. */
export interface NumberRange {
  readonly after: number
  readonly upTo: number
}

/** A library as it was at one moment. */
export interface HeldView {
  /** Rows in the order of their keys, some at a time; of an `own` table those within a range of the numbers of its first key, where one is given. */
  read(table: HeldTable, range?: NumberRange): AsyncIterable<readonly HeldRow[]>
  /** How many rows a table has. */
  count(table: HeldTable): Promise<number>
  /** Whether a table has any row, within a range where one is given. */
  has(table: HeldTable, range?: NumberRange): Promise<boolean>
  /** The row with the highest number, in a table whose rows are numbered. */
  readLast(table: HeldTable): Promise<HeldRow | undefined>
}

/** How a library that moves in is put beside what is there. */
export interface ArrivalPlan {
  /** Where it comes from, as it is shown to people: all that is left of a library that is gone. */
  readonly place: string
  /** What is added to the numbers of each table that gives some. */
  readonly offsets: Readonly<Record<string, number>>
  /** So many numbers of each are kept free for it. */
  readonly kept: Readonly<Record<string, number>>
  /** Whether there was nothing when it began. */
  readonly isAlone: boolean
  /** What is left where it is, and why. */
  readonly skipped: readonly SkippedGroup[]
}

/** A part that is not copied. */
export interface SkippedGroup {
  readonly group: HeldGroup
  /** Null where the origin has nothing of it. */
  readonly problem: string | null
}

/** A library that moves in, or has moved in. */
export interface Arrival {
  /** Tells the library it comes from. */
  readonly origin: string
  readonly plan: ArrivalPlan
  readonly beganAt: number
  readonly endedAt: number | null
  /** Who is at it, or was last, and when there was the last sign of it. */
  readonly holder: string
  readonly touchedAt: number
}

/** What is needed to begin with an arrival, or to go on with one. */
export interface ArrivalRequest {
  readonly origin: string
  /** Where it is. */
  readonly place: string
  readonly holder: string
  readonly now: number
  /** The highest number of each table that gives some. */
  readonly highest: Readonly<Record<string, number>>
  /** The rows that have them: where a row gets the number after the highest there is, these are written before all others. */
  readonly last: ReadonlyMap<HeldTable, HeldRow>
  /** All sources. */
  readonly sources: readonly HeldRow[]
}

/** A new arrival. */
export interface NewArrival extends ArrivalRequest, Pick<ArrivalPlan, 'isAlone' | 'skipped'> {}

/** What is to be done to a table. */
export interface RowChanges {
  readonly added: readonly HeldRow[]
  readonly changed: readonly HeldRow[]
  readonly removed: readonly HeldRow[]
}

/** Takes in what another library holds. Its sources are seen by nobody, and crawled by nobody, before {@link Arrivals.end}. */
export interface Arrivals {
  /** What is known of the library that comes from there. */
  find(origin: string): Promise<Arrival | undefined>
  /** Those that have begun and not ended, the oldest first. */
  listOpen(): Promise<Arrival[]>
  /**
   * Begins: finds numbers that are free, keeps them so, and writes sources out of sight. What was known of an arrival that has ended is
   * forgotten; while there is one that has not, it is refused with `COPY_RUNNING`.
   */
  begin(arrival: NewArrival): Promise<Arrival>
  /**
   * Goes on with one that has begun, whoever was at it. What came to the origin since then gets numbers too; undefined where others have
   * taken those meanwhile. Sources that are no longer in the origin are removed.
   */
  takeUp(request: ArrivalRequest): Promise<Arrival | undefined>
  /** Gives one up: nothing of its own stays. What two libraries can know of does. */
  forget(origin: string): Promise<void>
  /** Writes rows, with the numbers they have here, as one transaction. False where somebody else has taken the arrival over: nothing is written. */
  write(claim: ArrivalClaim, table: HeldTable, changes: RowChanges): Promise<boolean>
  /** Gives a sign of life; false where somebody else has taken it over. */
  touch(claim: ArrivalClaim): Promise<boolean>
  /** Shows the sources, all at once. Refuses a name that another source was given meanwhile with `SOURCE_EXISTS`. False as for a write. */
  end(claim: ArrivalClaim, sources: readonly HeldRow[]): Promise<boolean>
}

/** Who writes, and when. */
export interface ArrivalClaim {
  readonly origin: string
  readonly holder: string
  readonly now: number
}

/** All that a library holds, to be read as a whole and to be written by whoever copies it. */
export interface Holdings {
  /** Tells the library from all others. */
  readLibraryId(): Promise<string>
  /** Whether a text may have a NUL in it; where not, U+FFFD stands for it. */
  readonly keepsNul: boolean
  /**
   * Runs a piece of work on the library as it is now. It may be run again from the beginning. With `isMoving` it may see what is written
   * meanwhile: a file whose moment is kept grows by all that is.
   */
  view<T>(work: (view: HeldView) => Promise<T>, options?: { readonly isMoving?: boolean }): Promise<T>
  readonly arrivals: Arrivals
}
