import { createReadStream, existsSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { PackDownloads, PackEntry } from '../http/ports.ts'
import type { Library } from '../library/library.ts'
import { findSource } from '../library/sources/find-source.ts'
import { createPackExports, type PackExport } from '../mcp/pack-exports.ts'
import { exportSource } from './export-source.ts'

/** Pack downloads that must be closed. */
export interface OpenPackDownloads extends PackDownloads {
  close(): Promise<void>
}

/** Exports sources as packs into a folder, one at a time, and serves them for as long as the server runs. */
export function openPackDownloads(openLibrary: () => Promise<Library>, folder: string): OpenPackDownloads {
  const exports = createPackExports((opened, input) => exportSource(opened, input, folder))
  let ids: readonly string[] = []
  const findExport = (id: string): PackExport | undefined => (ids.includes(id) ? exports.find(id) : undefined)
  return {
    async begin(text, isCompact) {
      const opened = await openLibrary()
      const started = exports.start(opened, await findSource(opened, text), isCompact)
      ids = [started.id, ...ids.filter((id) => id !== started.id && exports.find(id) !== undefined)]
      return entryOf(started)
    },
    list: () =>
      ids.flatMap((id) => {
        const packExport = findExport(id)
        return packExport === undefined ? [] : [entryOf(packExport)]
      }),
    find(id) {
      const packExport = findExport(id)
      return packExport === undefined ? undefined : entryOf(packExport)
    },
    async read(id) {
      const pack = findExport(id)?.pack
      if (pack === undefined || pack === null) return undefined
      const { path, bytes } = pack
      if (!existsSync(path)) {
        // Another program deleted the file.
        ids = ids.filter((other) => other !== id)
        return undefined
      }
      return { body: Readable.toWeb(createReadStream(path)), bytes, name: basename(path) }
    },
    close: exports.close,
  }
}

function entryOf({ id, source, state, startedAt, pack, error }: PackExport): PackEntry {
  return {
    id,
    source,
    state: state === 'done' ? 'ready' : state === 'failed' ? 'failed' : 'writing',
    bytes: pack?.bytes ?? null,
    files: pack?.files ?? null,
    chunks: pack?.chunks ?? null,
    // The paths of the server must not be disclosed to clients.
    problem: error === null ? null : error.replace(/(?<![\w:/])\/[^\s'",]+/g, '…'),
    createdAt: startedAt,
  }
}
