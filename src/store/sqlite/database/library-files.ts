import { resolve } from 'node:path'

/** What the name of a library is extended by: files of SQLite, failures of `watch`, unfinished imports, and the running server. */
const ENDINGS = ['', '-wal', '-shm', '-journal', '.failed.jsonl', '.failed.jsonl.1', '.imports', '.server.json']

/** The files and folders of a library in a file, whether they exist or not. */
export function listLibraryFiles(path: string): string[] {
  return ENDINGS.map((ending) => resolve(path) + ending)
}
