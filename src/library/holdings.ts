import type { HeldGroup, HeldRow, HeldTable } from './held-tables.ts'

/** A range of row ids: greater than `after`, up to and including `upTo`. */
export interface NumberRange {
  readonly after: number
  readonly upTo: number
}

/** A consistent view of a library at one point in time. */
export interface HeldView {
  /** Reads rows in key order, in batches; for an `own` table optionally only ids within a range. */
  read(table: HeldTable, range?: NumberRange): AsyncIterable<readonly HeldRow[]>
  /** Counts the rows of a table. */
  count(table: HeldTable): Promise<number>
  /** Whether a table has rows, optionally within a range. */
  has(table: HeldTable, range?: NumberRange): Promise<boolean>
  /** Reads the row with the highest id, for tables with ids. */
  readLast(table: HeldTable): Promise<HeldRow | undefined>
}

/** How an arriving library is placed beside existing data. */
export interface ArrivalPlan {
  /** Display location of the origin; the only trace once the origin no longer exists. */
  readonly place: string
  /** Offset added to the ids of each table that has ids. */
  readonly offsets: Readonly<Record<string, number>>
  /** Number of ids reserved per table. */
  readonly kept: Readonly<Record<string, number>>
  /** Whether the target was empty at the start. */
  readonly isAlone: boolean
  /** Groups that are not copied, with the reasons. */
  readonly skipped: readonly SkippedGroup[]
}

/** A group that is not copied. */
export interface SkippedGroup {
  readonly group: HeldGroup
  /** Null if the origin has no such data. */
  readonly problem: string | null
}

/** A library that is being copied in, or has been. */
export interface Arrival {
  /** Id of the origin library. */
  readonly origin: string
  readonly plan: ArrivalPlan
  readonly beganAt: number
  readonly endedAt: number | null
  /** The process that works on the arrival, or did last, and its last heartbeat. */
  readonly holder: string
  readonly touchedAt: number
}

/** Input for starting or resuming an arrival. */
export interface ArrivalRequest {
  readonly origin: string
  /** Display location of the origin. */
  readonly place: string
  readonly holder: string
  readonly now: number
  /** Highest id of each table that has ids. */
  readonly highest: Readonly<Record<string, number>>
  /** Rows with the highest ids. Stores that assign the next id after the highest one write these rows first. */
  readonly last: ReadonlyMap<HeldTable, HeldRow>
  /** All sources of the origin. */
  readonly sources: readonly HeldRow[]
}

/** A new arrival. */
export interface NewArrival extends ArrivalRequest, Pick<ArrivalPlan, 'isAlone' | 'skipped'> {}

/** Changes to apply to a table. */
export interface RowChanges {
  readonly added: readonly HeldRow[]
  readonly changed: readonly HeldRow[]
  readonly removed: readonly HeldRow[]
}

/** Receives the data of another library. Its sources stay hidden, and are not crawled, until {@link Arrivals.end}. */
export interface Arrivals {
  /** Finds the arrival of an origin. */
  find(origin: string): Promise<Arrival | undefined>
  /** Lists unfinished arrivals, oldest first. */
  listOpen(): Promise<Arrival[]>
  /**
   * Starts an arrival: reserves free ids and writes hidden sources. An ended arrival of the same origin is forgotten; an unfinished one
   * throws `COPY_RUNNING`.
   */
  begin(arrival: NewArrival): Promise<Arrival>
  /**
   * Resumes an arrival, whichever process had it. New rows of the origin get ids too; returns undefined if other rows have taken those ids.
   * Sources removed from the origin are removed here.
   */
  takeUp(request: ArrivalRequest): Promise<Arrival | undefined>
  /** Abandons an arrival and removes its own rows; rows that libraries share stay. */
  forget(origin: string): Promise<void>
  /** Writes rows with target ids in one transaction. Returns false and writes nothing if another process has taken the arrival over. */
  write(claim: ArrivalClaim, table: HeldTable, changes: RowChanges): Promise<boolean>
  /** Sends a heartbeat; returns false if another process has taken the arrival over. */
  touch(claim: ArrivalClaim): Promise<boolean>
  /** Makes all sources visible at once. Throws `SOURCE_EXISTS` if a name has been taken meanwhile. Returns false as `write` does. */
  end(claim: ArrivalClaim, sources: readonly HeldRow[]): Promise<boolean>
}

/** The process that writes, and the current time. */
export interface ArrivalClaim {
  readonly origin: string
  readonly holder: string
  readonly now: number
}

/** All data of a library, for reading as a whole and for writing a copy. */
export interface Holdings {
  /** Reads the unique id of the library. */
  readLibraryId(): Promise<string>
  /** Whether texts may contain NUL; if not, U+FFFD replaces it. */
  readonly keepsNul: boolean
  /**
   * Runs `work` on a snapshot of the library; `work` may be restarted from the beginning. With `isMoving` it may see concurrent writes,
   * because holding a snapshot makes the database file grow with every write.
   */
  view<T>(work: (view: HeldView) => Promise<T>, options?: { readonly isMoving?: boolean }): Promise<T>
  readonly arrivals: Arrivals
}
