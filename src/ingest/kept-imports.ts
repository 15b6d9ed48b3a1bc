import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PharosError } from '../core/errors.ts'
import type { ChunkImport, GivenChunk } from '../library/import/parse-import.ts'
import type { PendingImports } from '../library/ports/pending-imports.ts'
import { isSystemError } from './walk-folder.ts'

/** Number of chunks per line of a file; other work can run between two lines. */
const CHUNKS_PER_LINE = 200
const ENDING = '.jsonl'

/** Stores imports as files in a folder that only its owner may read; it is created with the first import. */
export function openKeptImports(folder: string): PendingImports {
  const pathOf = (sourceId: string) => join(folder, `${sourceId}${ENDING}`)
  return {
    async keep(sourceId, chunkImport) {
      const temporary = join(folder, `${sourceId}.${process.pid}`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeImport(temporary, chunkImport)
        await rename(temporary, pathOf(sourceId))
      } catch (error) {
        if (!isSystemError(error)) throw error
        await rm(temporary, { force: true }).catch(() => undefined)
        throw createStoreError(folder, error)
      }
    },
    async read(sourceId) {
      try {
        return await readImport(pathOf(sourceId))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async list() {
      try {
        const names = await readdir(folder)
        return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length))
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    },
    async forget(sourceId) {
      await rm(pathOf(sourceId), { force: true })
    },
  }
}

async function writeImport(path: string, { sourceUrl, chunks }: ChunkImport): Promise<void> {
  const handle = await open(path, 'w', 0o600)
  try {
    await handle.write(`${JSON.stringify(sourceUrl)}\n`)
    for (let i = 0; i < chunks.length; i += CHUNKS_PER_LINE) {
      await handle.write(`${JSON.stringify(chunks.slice(i, i + CHUNKS_PER_LINE))}\n`)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readImport(path: string): Promise<ChunkImport> {
  const [first = '', ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n')
  // This program wrote the file, and validated its content before.
  const chunks = lines.flatMap((line) => JSON.parse(line) as GivenChunk[])
  return { sourceUrl: JSON.parse(first) as string, chunks }
}

function isMissing(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOENT'
}

/** The error when an import cannot be stored. */
function createStoreError(folder: string, error: NodeJS.ErrnoException): PharosError {
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  if (isFull) return new PharosError('LIBRARY_FULL', { library: folder, problem: 'the disk is full' })
  const problem = `an unfinished import cannot be stored there: ${error.message}`
  return new PharosError('LIBRARY_UNUSABLE', { library: folder, problem })
}
