/** A folder as the user gave it to the page. */
export type GivenFolder = GivenHandle | GivenFiles

/** A folder that can be sent to a worker, and kept. */
export interface GivenHandle {
  readonly type: 'handle'
  readonly name: string
  readonly handle: FileSystemDirectoryHandle
  /** The same folder where it was dropped; it stays in the page. */
  readonly entry?: FileSystemDirectoryEntry | undefined
  /** Whether it was found that the handle hides nothing. */
  readonly isWhole?: boolean
}

/** A folder of which the browser gives the files alone. */
export interface GivenFiles {
  readonly type: 'files'
  readonly name: string
  /** Found as they are asked for, and once: there may be very many. */
  readonly files: Iterable<GivenFile> | AsyncIterable<GivenFile>
  /** Most files there can be; undefined where nobody knows before they are found. */
  readonly most?: number
}

/** A file and its path in the folder that was given; or a folder that is not looked into, whose path ends in a slash. */
export interface GivenFile {
  readonly path: string
  /** Undefined where it cannot be read. */
  readonly file: File | undefined
}
