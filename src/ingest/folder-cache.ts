import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { ChunkedFile } from '../core/model.ts'
import type { FileStamp } from './read-stable.ts'
import { isSystemError } from './walk-folder.ts'

/** What is remembered of a file: enough to leave it unread, and its chunks to leave it uncut. */
export interface CachedFile {
  readonly stamp: FileStamp
  readonly chunked: ChunkedFile
}

/** Raised when the rules of chunking change, so that nothing cut by older rules is taken over. */
const CACHE_VERSION = 1

/** Reads the cache of a folder. One that is missing, damaged or made under other options is empty. */
export async function readFolderCache(file: string, options: string): Promise<Map<string, CachedFile>> {
  const cached = new Map<string, CachedFile>()
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    let isHeader = true
    for await (const line of lines) {
      if (isHeader && line !== header(options)) return new Map()
      // Only `writeFolderCache` writes this file, under this very header.
      if (!isHeader) {
        const entry = JSON.parse(line) as CachedFile
        cached.set(entry.chunked.file.path, entry)
      }
      isHeader = false
    }
    return cached
  } catch (error) {
    // The cache only saves time: without it every file is read.
    if (isSystemError(error) || error instanceof SyntaxError) return new Map()
    throw error
  } finally {
    lines.close()
  }
}

/** Replaces the cache of a folder in one step. A cache that cannot be written is done without. */
export async function writeFolderCache(file: string, options: string, entries: Iterable<CachedFile>): Promise<void> {
  const temporary = `${file}.${process.pid}`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const handle = await open(temporary, 'w', 0o600)
    try {
      let block = `${header(options)}\n`
      for (const entry of entries) {
        block += `${JSON.stringify(entry)}\n`
        if (block.length < 1 << 18) continue
        await handle.write(block)
        block = ''
      }
      await handle.write(block)
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    if (!isSystemError(error)) throw error
  }
}

function header(options: string): string {
  return JSON.stringify({ pharos_folder_cache: CACHE_VERSION, options })
}
