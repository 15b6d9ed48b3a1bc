import type { Limits } from '../../../src/core/limits.ts'
import { MOST_CHARS } from '../../../src/core/pack/open-pack.ts'
import { VECTORS_FILE } from '../../../src/core/pack/pack-vectors.ts'
import { Trouble } from '../trouble.ts'
import { type Database, openDatabase } from './database.ts'
import { newId } from './new-id.ts'
import { openPrivateFiles, type PrivateFiles } from './private-files.ts'

/** What is known of a kept index without opening it. */
export interface Kept {
  readonly id: string
  /** What the user calls it. */
  readonly name: string
  /** The folder that it was made from; packs are named by it. */
  readonly root: string
  readonly indexId: string
  readonly files: number
  readonly chunks: number
  readonly tokens: number
  readonly warnings: number
  /** Bytes that it takes here. */
  readonly size: number
  readonly addedAt: number
  readonly updatedAt: number
  /** Limits that it was made with. */
  readonly limits: Limits
  /** Patterns of files that are not read for it, a line each; what was kept by an earlier version has none. */
  readonly leaveOut?: string
  /** The version of this page that cut it: nothing that another one cut is taken over. */
  readonly build: string
  /** The folder itself, where the browser can be asked for it again. */
  readonly handle: FileSystemDirectoryHandle | null
}

/** What an index consists of. */
export interface Content<Index = Blob> {
  /** An `index.json` without its postings. */
  readonly index: Index
  /** What each file is recognised by. */
  readonly stamps: readonly Stamp[]
  /** Bytes of images by their paths in the folder. */
  readonly images: ReadonlyMap<string, Blob>
  /** What its chunks mean, as packs have it; null where nothing of that is kept. */
  readonly vectors: Blob | null
}

/** Path, bytes, the time of the last change in milliseconds, and the SHA-256 of what was read, where something was. */
export type Stamp = readonly [path: string, size: number, changedAt: number, sha256?: string]

interface KeptRecord extends Kept {
  /** Names of images, in the order in which their bytes are kept. */
  readonly images: readonly string[]
  /** Bytes of its vectors; what was kept by an earlier version has none. */
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
export interface Shelf {
  list(): Promise<Kept[]>
  open(id: string): Promise<{ readonly kept: Kept; readonly content: Content }>
  /**
   * Keeps an index, in place of the one with its id, whose name it takes over. Until all of it is there, what was there stays, and it
   * can be stopped.
   */
  save(kept: Omit<Kept, 'size'>, content: Content<AsyncIterable<Uint8Array>>, signal: AbortSignal): Promise<Kept>
  /** Keeps vectors beside an index, unless another version of it is kept by now. */
  keepVectors(id: string, indexId: string, vectors: Blob): Promise<void>
  rename(id: string, name: string): Promise<void>
  remove(id: string): Promise<void>
}

/** From here on the database is spared: it copies what it is given. */
const LARGE_BYTES = 2 ** 20

/** One tab at a time writes, or clears away what a closed one left. */
const LOCK = 'llmx-ingestor'

/** Opens the shelf. Rejects with what to do where the browser keeps nothing for this page. `onClosed` is told when it has to be opened anew. */
export async function openShelf(onClosed: () => void): Promise<Shelf> {
  const database = await openDatabase<KeptRecord>(onClosed).catch((cause: unknown) => {
    throw tellUnopened(cause)
  })
  const files = await openPrivateFiles()
  // Where tabs cannot be told apart, what looks left over may be what another one is writing.
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
    keepVectors: (id, indexId, vectors) => withLock(() => keepVectors(database, files, { id, indexId, vectors })),
    rename: (id, name) => withLock(async () => database.put({ ...(await find(database, id)), name })),
    remove: (id) =>
      withLock(async () => {
        const record = await database.get(id)
        await database.remove(id)
        if (record?.body?.at === 'files') await files?.remove(record.body.folder)
      }),
  }
}

function tellUnopened(cause: unknown): Trouble {
  if (cause instanceof DOMException && cause.name === 'VersionError') {
    const advice =
      'Load this page anew, without what the browser holds of it, to have that version. Indexes made now stay until this tab is closed.'
    return new Trouble('What is kept here was written by a later version of this page.', advice, { cause })
  }
  const advice =
    'Indexes stay until this tab is closed: export what you want to have. A private window, or a setting that blocks site data, is the usual cause.'
  return new Trouble('This browser keeps nothing for this page.', advice, { cause })
}

/** All records but those that are none of ours. */
async function allOf(database: Database<KeptRecord>): Promise<KeptRecord[]> {
  return (await database.all()).filter(isRecord)
}

function isRecord({ body, images }: KeptRecord): boolean {
  return (body?.at === 'files' || body?.at === 'database') && Array.isArray(images)
}

function describe({ images: _, body: __, vectorBytes: ___, ...kept }: KeptRecord): Kept {
  return kept
}

async function find(database: Database<KeptRecord>, id: string): Promise<KeptRecord> {
  const record = await database.get(id)
  if (record !== undefined && isRecord(record)) return record
  throw new Trouble(
    'This index is no longer here.',
    'It was deleted, perhaps in another tab. Open another one, or choose the folder again.',
  )
}

async function save(
  database: Database<KeptRecord>,
  files: PrivateFiles | undefined,
  kept: Omit<Kept, 'size'>,
  content: Content<AsyncIterable<Uint8Array>>,
  signal: AbortSignal,
): Promise<Kept> {
  const before = await database.get(kept.id)
  const index = await gather(content.index)
  const stamps = new Blob([JSON.stringify(content.stamps)])
  const images = [...content.images.values()]
  const vectors = content.vectors === null ? [] : [content.vectors]
  const size = [index, stamps, ...images, ...vectors].reduce((sum, blob) => sum + blob.size, 0)
  // Another tab may have given it another name meanwhile.
  const name = before?.name ?? kept.name
  const record = { ...kept, name, size, images: [...content.images.keys()], vectorBytes: content.vectors?.size ?? 0 }
  const isInFiles = files !== undefined && size >= LARGE_BYTES
  const folder = `${kept.id}-${newId()}`
  if (isInFiles) {
    const named = images.map((image, i) => [imageName(i), image] as const)
    const meant = vectors.map((blob) => [VECTORS_FILE, blob] as const)
    await files.write(folder, [['index.json', index], ['stamps.json', stamps], ...meant, ...named], signal)
  }
  // Images that did not change are files of a folder that goes now: a browser that keeps its database in memory would lose them with it.
  const isMovedIn = !isInFiles && before?.body?.at === 'files'
  const own = isMovedIn ? await Promise.all(images.map(copyBlob)) : images
  signal.throwIfAborted()
  try {
    await database.put({
      ...record,
      body: isInFiles
        ? { at: 'files', folder }
        : { at: 'database', index, stamps, images: own, vectors: content.vectors },
    })
  } catch (error) {
    if (isInFiles) await files.remove(folder)
    throw error
  }
  if (before?.body?.at === 'files') await files?.remove(before.body.folder)
  return describe({ ...record, body: { at: 'files', folder } })
}

async function keepVectors(
  database: Database<KeptRecord>,
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

/** Bytes outside the memory of the program, as the browser keeps them. */
async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Blob> {
  const blobs: Blob[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    // What could not be opened again is not kept.
    if (size > MOST_CHARS) {
      const advice =
        'It can be searched and exported until this tab is closed. Choose a smaller part of the folder to keep it.'
      throw new Trouble('This index is too large to be kept.', advice)
    }
    blobs.push(new Blob([piece as Uint8Array<ArrayBuffer>]))
  }
  return new Blob(blobs)
}

function imageName(position: number): string {
  return `image-${position}`
}

async function readContent(
  { body, images, vectorBytes = 0 }: KeptRecord,
  files: PrivateFiles | undefined,
): Promise<Content> {
  const open = async (name: string): Promise<Blob> => {
    if (body.at === 'database') return name === 'index.json' ? body.index : body.stamps
    if (files !== undefined) return files.open(body.folder, name)
    throw new Trouble(
      'The files of this index cannot be reached.',
      'This browser has no private files for pages now. Allow site data for this page, then load it anew.',
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

/** What a tab wrote that was closed before its record was there belongs to nobody. */
async function clearLeftovers(database: Database<KeptRecord>, files: PrivateFiles): Promise<void> {
  const known = new Set((await database.all()).map(({ body }) => (body?.at === 'files' ? body.folder : '')))
  for (const folder of await files.list()) if (!known.has(folder)) await files.remove(folder)
}

async function withLock<T>(work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  if (navigator.locks === undefined) return work()
  return navigator.locks.request(LOCK, options, (lock) => (lock === null ? undefined : work())) as Promise<T>
}
