import { createReadStream, existsSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { PackDownloads, PackEntry } from '../http/ports.ts'
import type { Library } from '../library/library.ts'
import { findSource } from '../library/operations/find-source.ts'
import { createPackExports, type PackExport } from '../mcp/pack-exports.ts'
import { exportSource } from './export-source.ts'

/** Pack downloads that must be closed. */
export interface OpenPackDownloads extends PackDownloads {
  close(): Promise<void>
}

/** Exports sources as packs into a folder, one at a time, and serves them for as long as the server runs. */
export function openPackDownloads(library: () => Promise<Library>, folder: string): OpenPackDownloads {
  const exports = createPackExports((opened, input) => exportSource(opened, input, folder))
  let ids: readonly string[] = []
  const found = (id: string): PackExport | undefined => (ids.includes(id) ? exports.find(id) : undefined)
  return {
    async begin(text, isCompact) {
      const opened = await library()
      const begun = exports.start(opened, await findSource(opened, text), isCompact)
      ids = [begun.id, ...ids.filter((id) => id !== begun.id && exports.find(id) !== undefined)]
      return entryOf(begun)
    },
    list: () =>
      ids.flatMap((id) => {
        const one = found(id)
        return one === undefined ? [] : [entryOf(one)]
      }),
    find(id) {
      const one = found(id)
      return one === undefined ? undefined : entryOf(one)
    },
    async read(id) {
      const pack = found(id)?.pack
      if (pack === undefined || pack === null) return undefined
      const { path, bytes } = pack
      if (!existsSync(path)) {
        // Another program deleted the file.
        ids = ids.filter((one) => one !== id)
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
