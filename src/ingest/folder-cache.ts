import { createReadStream, readFileSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ChunkedFile } from '../core/model.ts'
import type { FileStamp } from './read-stable.ts'
import { nodeSha256 } from './sha256.ts'
import { ignoreSystemError, isSystemError } from './walk-folder.ts'

/** A cached file: its stamp, to skip reading, and its chunks, to skip chunking. */
export interface CachedFile {
  readonly stamp: FileStamp
  readonly chunked: ChunkedFile
}

/** Increases when the format of the cache file changes. */
const CACHE_VERSION = 3

/** The digest of the sources this program was built from; undefined when it runs from its sources. */
export const BUILD_DIGEST: string | undefined = readBuild()

/** Reads the cache of a folder. A missing cache, or one with another key, is empty. A damaged line is skipped. */
export async function readFolderCache(file: string, key: string): Promise<Map<string, CachedFile>> {
  const cached = new Map<string, CachedFile>()
  try {
    let isHeader = true
    for await (const line of readLines(file)) {
      if (isHeader && line !== header(key)) return cached
      const entry = isHeader ? undefined : parseLine(line)
      if (entry !== undefined) cached.set(entry.chunked.file.path, entry)
      isHeader = false
    }
    return cached
  } catch (error) {
    // The cache is optional: without it every file is read.
    if (isSystemError(error)) return new Map()
    throw error
  }
}

let writeCount = 0

/** Replaces the cache of a folder atomically. A failure to write is ignored. */
export async function writeFolderCache(file: string, key: string, entries: Iterable<CachedFile>): Promise<void> {
  const temporary = `${file}.${process.pid}-${writeCount++}`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await writeBlocks(handle, key, entries)
      await rename(temporary, file)
    } finally {
      await handle.close()
      await rm(temporary, { force: true })
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

async function writeBlocks(handle: FileHandle, key: string, entries: Iterable<CachedFile>): Promise<void> {
  let block = `${header(key)}\n`
  for (const entry of entries) {
    block += writeLine(entry)
    if (block.length < 1 << 18) continue
    await handle.appendFile(block)
    block = ''
  }
  await handle.appendFile(block)
}

function header(key: string): string {
  return JSON.stringify({ pharos_folder_cache: CACHE_VERSION, key })
}

const DIGEST_LENGTH = 16

/** Writes an entry after its digest, which reveals a damaged line. */
function writeLine(entry: CachedFile): string {
  const json = JSON.stringify(entry)
  return `${digestOf(json)} ${json}\n`
}

function parseLine(line: string): CachedFile | undefined {
  const json = line.slice(DIGEST_LENGTH + 1)
  // The digest proves that `writeLine` wrote this text.
  return line.slice(0, DIGEST_LENGTH) === digestOf(json) ? (JSON.parse(json) as CachedFile) : undefined
}

function digestOf(json: string): string {
  return nodeSha256(json).slice(0, DIGEST_LENGTH)
}

/** Splits lines at `\n` only; `node:readline` would also split at U+2028, which JSON does not escape. */
async function* readLines(file: string): AsyncGenerator<string, void, void> {
  let pieces: Buffer[] = []
  // Without an encoding the stream yields buffers.
  for await (const block of createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = block.indexOf(10); end >= 0; end = block.indexOf(10, start)) {
      yield Buffer.concat([...pieces, block.subarray(start, end)]).toString('utf8')
      pieces = []
      start = end + 1
    }
    if (start < block.length) pieces.push(block.subarray(start))
  }
}

function readBuild(): string | undefined {
  try {
    return readFileSync(new URL('../.built', import.meta.url), 'utf8').trim() || undefined
  } catch (error) {
    // A program that runs from its sources has no build.
    return ignoreSystemError(error)
  }
}
