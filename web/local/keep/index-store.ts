import type { Limits } from '../../../src/core/limits.ts'
import { MAX_PACK_CHARS } from '../../../src/core/pack/open-pack.ts'
import { VECTORS_FILE } from '../../../src/core/pack/pack-vectors.ts'
import { UserError } from '../user-error.ts'
import { type Database, openDatabase } from './database.ts'
import { newId } from './new-id.ts'
import { openPrivateFiles, type PrivateFiles } from './private-files.ts'

/** The metadata of a kept index, which is available without opening it. */
export interface StoredIndex {
  readonly id: string
  /** The name that the user chose. */
  readonly name: string
  /** The name of the folder that the index was made from; packs are named after it. */
  readonly root: string
  readonly indexId: string
  readonly files: number
  readonly chunks: number
  readonly tokens: number
  readonly warnings: number
  /** The storage that the index takes, in bytes. */
  readonly size: number
  readonly addedAt: number
  readonly updatedAt: number
  /** The limits that the index was made with. */
  readonly limits: Limits
  /** Exclusion patterns, one per line; undefined in records of earlier versions. */
  readonly leaveOut?: string
  /** The build of this page that cut the chunks. Chunks of another build are not reused. */
  readonly build: string
  /** The folder handle, if the browser can provide one; null otherwise. */
  readonly handle: FileSystemDirectoryHandle | null
}

/** The content of an index. */
export interface IndexContent<Index = Blob> {
  /** An `index.json` without postings. */
  readonly index: Index
  /** The stamps that detect whether a file changed. */
  readonly stamps: readonly Stamp[]
  /** Images by path. */
  readonly images: ReadonlyMap<string, Blob>
  /** The embeddings of the chunks in the format of packs; null if none are stored. */
  readonly vectors: Blob | null
}

/** Path, size in bytes, modification time in milliseconds, and the SHA-256 of the content if the file was read. */
export type Stamp = readonly [path: string, size: number, changedAt: number, sha256?: string]

interface StoredIndexRecord extends StoredIndex {
  /** The paths of the images, in the order in which their blobs are stored. */
  readonly images: readonly string[]
  /** The size of the vectors in bytes; undefined in records of earlier versions. */
  readonly vectorBytes?: number
  readonly body: DatabaseBody | { readonly at: 'files'; readonly folder: string }
}

interface DatabaseBody {
  readonly at: 'database'
  readonly index: Blob
  readonly stamps: Blob
  readonly images: readonly Blob[]
  readonly vectors?: Blob | null
}

/** The indexes that this browser keeps. */
export interface IndexStore {
  list(): Promise<StoredIndex[]>
  open(id: string): Promise<{ readonly kept: StoredIndex; readonly content: IndexContent }>
  /**
   * Saves an index and replaces the one with the same id, whose name it keeps. The previous version stays until everything is written, so
   * the save can be cancelled.
   */
  save(
    kept: Omit<StoredIndex, 'size'>,
    content: IndexContent<AsyncIterable<Uint8Array>>,
    signal: AbortSignal,
  ): Promise<StoredIndex>
  /** Saves the vectors of an index, unless a newer version of the index has been saved since. */
  saveVectors(id: string, indexId: string, vectors: Blob): Promise<void>
  rename(id: string, name: string): Promise<void>
  remove(id: string): Promise<void>
}

/** Indexes of at least this size go to private files, because the database copies its values. */
const LARGE_BYTES = 2 ** 20

/** Only one tab at a time may write, or remove the leftovers of a closed tab. */
const LOCK = 'llmx-ingestor'

/** Opens the store. Rejects with advice if the browser stores nothing for this page. `onClosed` is called when it must be opened again. */
export async function openIndexStore(onClosed: () => void): Promise<IndexStore> {
  const database = await openDatabase<StoredIndexRecord>(onClosed).catch((cause: unknown) => {
    throw toOpenError(cause)
  })
  const files = await openPrivateFiles()
  // Without locks, a folder that has no record may be one that another tab is still writing.
  if (files !== undefined && navigator.locks !== undefined) {
    await withLock(() => clearLeftovers(database, files), { ifAvailable: true })
  }
  return {
    list: async () => (await allOf(database)).map(describe).sort((a, b) => b.updatedAt - a.updatedAt),
    async open(id) {
      const record = await find(database, id)
      return { kept: describe(record), content: await readContent(record, files) }
    },
    save: (kept, content, signal) => withLock(() => save(database, files, kept, content, signal), { signal }),
    saveVectors: (id, indexId, vectors) => withLock(() => saveVectors(database, files, { id, indexId, vectors })),
    rename: (id, name) => withLock(async () => database.put({ ...(await find(database, id)), name })),
    remove: (id) =>
      withLock(async () => {
        const record = await database.get(id)
        await database.remove(id)
        if (record?.body?.at === 'files') await files?.remove(record.body.folder)
      }),
  }
}

function toOpenError(cause: unknown): UserError {
  if (cause instanceof DOMException && cause.name === 'VersionError') {
    const advice =
      'Reload this page without the cache of the browser to get that version. Indexes made now stay until this tab is closed.'
    return new UserError('The stored indexes were written by a later version of this page.', advice, { cause })
  }
  const advice =
    'Indexes stay until this tab is closed: export what you want to keep. A private window, or a setting that blocks site data, is the usual cause.'
  return new UserError('This browser keeps nothing for this page.', advice, { cause })
}

/** All records in a format that this version knows. */
async function allOf(database: Database<StoredIndexRecord>): Promise<StoredIndexRecord[]> {
  return (await database.all()).filter(isRecord)
}

function isRecord({ body, images }: StoredIndexRecord): boolean {
  return (body?.at === 'files' || body?.at === 'database') && Array.isArray(images)
}

function describe({ images: _, body: __, vectorBytes: ___, ...kept }: StoredIndexRecord): StoredIndex {
  return kept
}

async function find(database: Database<StoredIndexRecord>, id: string): Promise<StoredIndexRecord> {
  const record = await database.get(id)
  if (record !== undefined && isRecord(record)) return record
  throw new UserError(
    'This index is no longer here.',
    'It was deleted, perhaps in another tab. Open another one, or choose the folder again.',
  )
}

async function save(
  database: Database<StoredIndexRecord>,
  files: PrivateFiles | undefined,
  kept: Omit<StoredIndex, 'size'>,
  content: IndexContent<AsyncIterable<Uint8Array>>,
  signal: AbortSignal,
): Promise<StoredIndex> {
  const previous = await database.get(kept.id)
  const index = await collectBlob(content.index)
  const stamps = new Blob([JSON.stringify(content.stamps)])
  const images = [...content.images.values()]
  const vectors = content.vectors === null ? [] : [content.vectors]
  const size = [index, stamps, ...images, ...vectors].reduce((sum, blob) => sum + blob.size, 0)
  // Another tab may have renamed the index since.
  const name = previous?.name ?? kept.name
  const record = { ...kept, name, size, images: [...content.images.keys()], vectorBytes: content.vectors?.size ?? 0 }
  const isInFiles = files !== undefined && size >= LARGE_BYTES
  const folder = `${kept.id}-${newId()}`
  if (isInFiles) {
    const imageFiles = images.map((image, i) => [imageName(i), image] as const)
    const vectorFiles = vectors.map((blob) => [VECTORS_FILE, blob] as const)
    await files.write(folder, [['index.json', index], ['stamps.json', stamps], ...vectorFiles, ...imageFiles], signal)
  }
  // Unchanged images are files of a folder that is about to be removed. They are copied, because a browser that keeps its database in
  // memory would lose them.
  const movesToDatabase = !isInFiles && previous?.body?.at === 'files'
  const storedImages = movesToDatabase ? await Promise.all(images.map(copyBlob)) : images
  signal.throwIfAborted()
  try {
    await database.put({
      ...record,
      body: isInFiles
        ? { at: 'files', folder }
        : { at: 'database', index, stamps, images: storedImages, vectors: content.vectors },
    })
  } catch (error) {
    if (isInFiles) await files.remove(folder)
    throw error
  }
  if (previous?.body?.at === 'files') await files?.remove(previous.body.folder)
  return describe({ ...record, body: { at: 'files', folder } })
}

async function saveVectors(
  database: Database<StoredIndexRecord>,
  files: PrivateFiles | undefined,
  { id, indexId, vectors }: { readonly id: string; readonly indexId: string; readonly vectors: Blob },
): Promise<void> {
  const record = await database.get(id)
  if (record === undefined || !isRecord(record) || record.indexId !== indexId) return
  const { body, size, vectorBytes = 0 } = record
  if (body.at === 'files') await files?.add(body.folder, VECTORS_FILE, vectors)
  await database.put({
    ...record,
    size: size - vectorBytes + vectors.size,
    vectorBytes: vectors.size,
    body: body.at === 'files' ? body : { ...body, vectors },
  })
}

async function copyBlob(blob: Blob): Promise<Blob> {
  return new Blob([await blob.arrayBuffer()], { type: blob.type })
}

/** Collects pieces in a blob, which the browser stores outside the JavaScript heap. */
async function collectBlob(pieces: AsyncIterable<Uint8Array>): Promise<Blob> {
  const blobs: Blob[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    // A larger index could not be opened again.
    if (size > MAX_PACK_CHARS) {
      const advice =
        'It can be searched and exported until this tab is closed. Choose a smaller part of the folder to keep it.'
      throw new UserError('This index is too large to be kept.', advice)
    }
    blobs.push(new Blob([piece as Uint8Array<ArrayBuffer>]))
  }
  return new Blob(blobs)
}

function imageName(position: number): string {
  return `image-${position}`
}

async function readContent(
  { body, images, vectorBytes = 0 }: StoredIndexRecord,
  files: PrivateFiles | undefined,
): Promise<IndexContent> {
  const open = async (name: string): Promise<Blob> => {
    if (body.at === 'database') return name === 'index.json' ? body.index : body.stamps
    if (files !== undefined) return files.open(body.folder, name)
    throw new UserError(
      'The files of this index cannot be reached.',
      'This browser offers no private files to pages now. Allow site data for this page, then reload it.',
    )
  }
  const bytes = images.map(async (path, i) => {
    const blob = body.at === 'database' ? body.images[i] : await open(imageName(i))
    return [path, blob ?? new Blob()] as const
  })
  return {
    index: await open('index.json'),
    stamps: JSON.parse(await (await open('stamps.json')).text()) as Stamp[],
    images: new Map(await Promise.all(bytes)),
    vectors: body.at === 'database' ? (body.vectors ?? null) : vectorBytes > 0 ? await open(VECTORS_FILE) : null,
  }
}

/** Removes folders without a record: their tab was closed before it wrote the record. */
async function clearLeftovers(database: Database<StoredIndexRecord>, files: PrivateFiles): Promise<void> {
  const known = new Set((await database.all()).map(({ body }) => (body?.at === 'files' ? body.folder : '')))
  for (const folder of await files.list()) if (!known.has(folder)) await files.remove(folder)
}

async function withLock<T>(work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  if (navigator.locks === undefined) return work()
  return navigator.locks.request(LOCK, options, (lock) => (lock === null ? undefined : work())) as Promise<T>
}
