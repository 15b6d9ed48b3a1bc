import type { CopyGroup, CopyRow, CopyTable } from '../copy/table-columns.ts'

/** A range of row ids: greater than `after`, up to and including `upTo`. */
export interface IdRange {
  readonly after: number
  readonly upTo: number
}

/** A consistent view of a library at one point in time. */
export interface LibraryView {
  /** Reads rows in key order, in batches; for an `own` table optionally only ids within a range. */
  read(table: CopyTable, range?: IdRange): AsyncIterable<readonly CopyRow[]>
  /** Counts the rows of a table. */
  count(table: CopyTable): Promise<number>
  /** Whether a table has rows, optionally within a range. */
  has(table: CopyTable, range?: IdRange): Promise<boolean>
  /** Reads the row with the highest id, for tables with ids. */
  readLast(table: CopyTable): Promise<CopyRow | undefined>
}

/** How the rows of the origin fit beside the existing rows of the target. Stored as JSON, so the names of its fields must not change. */
export interface CopyPlan {
  /** Display location of the origin; the only trace once the origin no longer exists. */
  readonly place: string
  /** Offset added to the ids of each table that has ids. */
  readonly offsets: Readonly<Record<string, number>>
  /** Number of ids reserved per table. */
  readonly kept: Readonly<Record<string, number>>
  /** Whether the target was empty at the start, so that it may be overwritten. */
  readonly isAlone: boolean
  /** Groups that are not copied, with the reasons. */
  readonly skipped: readonly SkippedGroup[]
}

/** A group that is not copied. */
export interface SkippedGroup {
  readonly group: CopyGroup
  /** Null if the origin has no such data. */
  readonly problem: string | null
}

/** A library that is being copied in, or has been. */
export interface CopySession {
  /** Id of the origin library. */
  readonly origin: string
  readonly plan: CopyPlan
  readonly beganAt: number
  readonly endedAt: number | null
  /** The process that works on the copy, or worked on it last. */
  readonly holder: string
  /** Time of the last heartbeat of the holder. */
  readonly touchedAt: number
}

/** Input for starting or resuming a session. */
export interface CopySessionRequest {
  readonly origin: string
  /** Display location of the origin. */
  readonly location: string
  readonly holder: string
  readonly now: number
  /** Highest id of each table that has ids. */
  readonly highest: Readonly<Record<string, number>>
  /** Rows with the highest ids. Stores that assign the next id after the highest one write these rows first. */
  readonly last: ReadonlyMap<CopyTable, CopyRow>
  /** All sources of the origin. */
  readonly sources: readonly CopyRow[]
}

/** Input for a new session. */
export interface NewCopySession extends CopySessionRequest, Pick<CopyPlan, 'skipped'> {
  /** Whether the target is empty. */
  readonly wasTargetEmpty: boolean
}

/** Changes to apply to a table. */
export interface RowChanges {
  readonly added: readonly CopyRow[]
  readonly changed: readonly CopyRow[]
  readonly removed: readonly CopyRow[]
}

/** Receives the data of another library. Its sources stay hidden, and are not crawled, until {@link CopySessions.end}. */
export interface CopySessions {
  /** Finds the session of an origin. */
  find(origin: string): Promise<CopySession | undefined>
  /** Lists unfinished sessions, oldest first. */
  listOpen(): Promise<CopySession[]>
  /**
   * Starts a session: reserves free ids and writes hidden sources. An ended session of the same origin is forgotten; an unfinished one
   * throws `COPY_RUNNING`.
   */
  begin(session: NewCopySession): Promise<CopySession>
  /**
   * Resumes a session, whichever process had it. New rows of the origin get ids too; returns undefined if other rows have taken those ids.
   * Sources removed from the origin are removed from the target.
   */
  resume(request: CopySessionRequest): Promise<CopySession | undefined>
  /** Abandons a session and removes its own rows; rows that libraries share stay. */
  discard(origin: string): Promise<void>
  /** Writes rows with target ids in one transaction. Returns false and writes nothing if another process has taken the session over. */
  write(claim: CopySessionClaim, table: CopyTable, changes: RowChanges): Promise<boolean>
  /** Sends a heartbeat; returns false if another process has taken the session over. */
  touch(claim: CopySessionClaim): Promise<boolean>
  /** Makes all sources visible at once. Throws `SOURCE_EXISTS` if a name has been taken meanwhile. Returns false as `write` does. */
  end(claim: CopySessionClaim, sources: readonly CopyRow[]): Promise<boolean>
}

/** The process that writes, and the current time. */
export interface CopySessionClaim {
  readonly origin: string
  readonly holder: string
  readonly now: number
}

/** All data of a library, for reading as a whole and for writing a copy. */
export interface LibraryCopy {
  /** Reads the unique id of the library. */
  readLibraryId(): Promise<string>
  /** Whether texts may contain NUL; if not, U+FFFD replaces it. */
  readonly canStoreNul: boolean
  /**
   * Runs `work` on a snapshot of the library; `work` may be restarted from the beginning. With `isMoving`, `work` may see
   * concurrent writes: there is no snapshot, because holding one makes the database file grow with every write.
   */
  view<T>(work: (view: LibraryView) => Promise<T>, options?: { readonly isMoving?: boolean }): Promise<T>
  readonly sessions: CopySessions
}
