import { kindOf } from '../../../src/core/chunk/kind.ts'
import { isReproducible } from '../../../src/core/folder/cut-files.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { ChunkedFile, WarningCode } from '../../../src/core/model.ts'
import { chunkedFilesOf } from '../../../src/core/pack/chunked-files.ts'
import { openPack } from '../../../src/core/pack/open-pack.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import type { PackVectors } from '../../../src/core/pack/pack-vectors.ts'
import { bytesOf } from '../folder/open-folder.ts'
import type { IndexStore, Stamp, StoredIndex } from '../keep/index-store.ts'
import type { Task } from './task.ts'
import { readVectors } from './vectors.ts'

/** The previous version of an index that is being updated. */
export interface PreviousIndex {
  readonly stored: StoredIndex
  /** The chunks of each file; empty if other limits or another build would cut the files differently. */
  readonly files: ReadonlyMap<string, ChunkedFile>
  readonly stamps: ReadonlyMap<string, Stamp>
  readonly images: ReadonlyMap<string, Blob>
  /** The embeddings of the chunks; undefined if the chunks cannot be reused. */
  readonly embeddings: { readonly pack: Pack; readonly vectors: PackVectors } | undefined
}

/** Opens the previous version. `limits` are those of the update. */
export async function openPreviousIndex(
  store: IndexStore,
  id: string,
  limits: Limits,
  build: string,
  task: Task,
): Promise<PreviousIndex> {
  const { kept, content } = await store.open(id)
  const isReusable = kept.build === build && JSON.stringify(kept.limits) === JSON.stringify(limits)
  const stamps = new Map(content.stamps.map((stamp) => [stamp[0], stamp]))
  const pack = isReusable ? await openBareIndex(content.index, kept.name, task) : undefined
  const files = pack === undefined ? [] : [...chunkedFilesOf(pack), ...unreadFilesOf(pack, stamps)]
  return {
    stored: kept,
    files: new Map(files.filter(isReproducible).map((chunked) => [chunked.file.path, dropTransientWarnings(chunked)])),
    stamps,
    images: content.images,
    embeddings: pack === undefined ? undefined : { pack, vectors: await readVectors(content.vectors, pack) },
  }
}

/** Files that are not text. A pack has only a warning about them; as long as they do not change, they are not read again. */
function unreadFilesOf(pack: Pack, stamps: PreviousIndex['stamps']): ChunkedFile[] {
  const warnings = pack.warnings.filter(({ code }) => code === 'utf8' || code === 'binary')
  return warnings.map((warning) => {
    const { path } = warning
    const [, bytes = 0, , sha256 = ''] = stamps.get(path) ?? []
    const file = { path, kind: kindOf(path), bytes, sha256, lineCount: 1 }
    return { file, chunks: [], warnings: [warning] }
  })
}

/** Warnings that concern only a single run: the file changed during the read, was unreadable, or some of its rules were ignored. */
const TRANSIENT_WARNINGS: ReadonlySet<WarningCode> = new Set(['changed', 'unreadable', 'ignore_rules'])

function dropTransientWarnings(chunked: ChunkedFile): ChunkedFile {
  return { ...chunked, warnings: chunked.warnings.filter(({ code }) => !TRANSIENT_WARNINGS.has(code)) }
}

/** Opens a kept `index.json` without postings. */
export async function openBareIndex(index: Blob, name: string, task: Task): Promise<Pack> {
  const bytes = await bytesOf(index)
  task.signal.throwIfAborted()
  return openPack({ name, has: (file) => file === 'index.json', read: () => [bytes] })
}
