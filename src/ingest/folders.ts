import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FolderReader } from '../library/folder.ts'
import type { FolderOpener, FolderReaderOptions } from './read-folder.ts'
import { isSystemError } from './walk-folder.ts'

/** A reader of folders that must be closed. */
export interface OpenFolderReader extends FolderReader {
  close(): Promise<void>
}

/** Opens a reader of folders. What it takes to read one is loaded with the first: most who open a library never need it. */
export function openFolderReader(options: FolderReaderOptions): OpenFolderReader {
  let loading: Promise<FolderOpener> | undefined
  const load = (): Promise<FolderOpener> => {
    loading ??= import('./read-folder.ts').then(({ createFolderOpener }) => createFolderOpener(options))
    return loading
  }
  return {
    addressOf,
    open: async (address, profile) => (await load()).open(address, profile),
    cut: async (path, text, sizes) => (await load()).cut(path, text, sizes),
    async close() {
      await (await loading)?.close()
    },
  }
}

/** Schemes have two letters at least, so that `C:\docs` would be a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i

function addressOf(text: string): string | undefined {
  const isFile = /^file:/i.test(text)
  if (text === '' || (SCHEME.test(text) && !isFile)) return undefined
  try {
    const path = isFile ? fileURLToPath(text) : resolve(text)
    return pathToFileURL(realPathOf(path)).href
  } catch (error) {
    // A `file:` address that names another machine, or that holds an encoded slash.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** The real path of something; of what is not there, the path as it would be. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isSystemError(error)) return path
    throw error
  }
}
