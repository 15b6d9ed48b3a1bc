/** A folder as the user gave it to the page. It can be sent to a worker, and one with a handle can be kept. */
export type GivenFolder =
  | { readonly type: 'handle'; readonly name: string; readonly handle: FileSystemDirectoryHandle }
  | { readonly type: 'files'; readonly name: string; readonly files: readonly GivenFile[] }

/** A file and its path in the folder that was given. */
export interface GivenFile {
  readonly path: string
  readonly file: File
}
