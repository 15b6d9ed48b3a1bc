/** A folder as the user provided it. */
export type GivenFolder = GivenHandle | GivenFiles

/** A folder handle, which can be sent to a worker and stored. */
export interface GivenHandle {
  readonly type: 'handle'
  readonly name: string
  readonly handle: FileSystemDirectoryHandle
  /** The entry of the same folder if it was dropped; it cannot be sent to a worker. */
  readonly entry?: FileSystemDirectoryEntry | undefined
  /** Whether it was checked that the handle hides no files. */
  readonly isVerified?: boolean
}

/** A folder for which the browser provides only its files. */
export interface GivenFiles {
  readonly type: 'files'
  readonly name: string
  /** Iterated lazily and only once, because there can be very many files. */
  readonly files: Iterable<GivenFile> | AsyncIterable<GivenFile>
  /** The maximum number of files; undefined if it is not known in advance. */
  readonly maxFiles?: number
}

/** A file and its path in the given folder. A path that ends in a slash is a folder that was not opened. */
export interface GivenFile {
  readonly path: string
  /** Undefined if it cannot be read. */
  readonly file: File | undefined
}
