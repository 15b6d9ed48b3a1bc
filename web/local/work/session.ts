import type { Grammars } from '../../../src/core/chunk/code-grammars.ts'
import { kindOf } from '../../../src/core/chunk/kind.ts'
import { codeLanguageOf } from '../../../src/core/chunk/languages.ts'
import { PharosError } from '../../../src/core/errors.ts'
import { FileCutter, type Found, readAhead } from '../../../src/core/folder/cut-files.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../src/core/limits.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { chunkedFilesOf } from '../../../src/core/pack/chunked-files.ts'
import { writeBareIndexJson } from '../../../src/core/pack/index-json.ts'
import { chunkLabel } from '../../../src/core/pack/label.ts'
import { openPack } from '../../../src/core/pack/open-pack.ts'
import { createPack, type Pack } from '../../../src/core/pack/pack.ts'
import { PackSearch } from '../../../src/core/pack/search-pack.ts'
import { sumTokens } from '../../../src/core/pack/tables.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import { bytesOf, openFolder } from '../folder/open-folder.ts'
import { newId } from '../keep/new-id.ts'
import { type Content, type Kept, openShelf, type Shelf, type Stamp } from '../keep/shelf.ts'
import { Trouble } from '../trouble.ts'
import { writeArtefact } from './export.ts'
import { readPack } from './import.ts'
import type { Opened, OperationName, Operations, Part } from './operations.ts'
import { type Surveyed, surveyFolder } from './survey.ts'
import type { Task } from './task.ts'
import { tellFailure } from './tell-failure.ts'

/** What the part that works is given. */
export interface SessionOptions {
  /** The version of this page; what another one cut is cut anew. */
  readonly build: string
  /** Starts the grammars when the first file of code comes. */
  readonly openGrammars: () => Promise<Grammars>
}

/** Does one thing after another for one page. */
export interface Session {
  run<Name extends OperationName>(
    name: Name,
    ask: Parameters<Operations[Name]>[0],
    task: Task,
  ): Promise<ReturnType<Operations[Name]>>
}

type Handlers = {
  readonly [Name in OperationName]: (
    ask: Parameters<Operations[Name]>[0],
    task: Task,
  ) => Promise<ReturnType<Operations[Name]>>
}

/** An index that can be searched and exported. */
interface Current {
  readonly kept: Kept
  readonly pack: Pack
  readonly search: PackSearch
  readonly images: ReadonlyMap<string, Blob>
}

/** Files read ahead at once. */
const AHEAD = 8

/** The coarsest clock of a file system in use ticks every two seconds. */
const SETTLE_MS = 2000

/** A time that no file has. */
const UNSETTLED = -1

/** Starts a session; nothing is opened before it is needed. */
export function createSession(options: SessionOptions): Session {
  let current: Current | undefined
  let surveyed: (Surveyed & { readonly update: string | undefined; readonly handle: Kept['handle'] }) | undefined
  let handed: GivenFile[] = []
  let shelf: Promise<Shelf> | undefined
  let grammars: Promise<Grammars> | undefined

  const openedShelf = (): Promise<Shelf> => {
    shelf ??= openShelf()
    // Whoever allows it later need not load the page again.
    shelf.catch(() => {
      shelf = undefined
    })
    return shelf
  }
  const open = (): Current => {
    if (current !== undefined) return current
    throw new Trouble('No index is open.', 'Open one of those that are kept, or choose a folder.')
  }

  /** Keeps what is open. What cannot be kept can still be used. */
  async function keep(
    kept: Omit<Kept, 'size'>,
    pack: Pack,
    content: Omit<Content, 'index'>,
    counts: Opened['counts'],
  ): Promise<Opened> {
    const bytes = pack.files.reduce((sum, file) => sum + file.bytes, 0)
    const hold = (held: Kept, images: Content['images']) => {
      current = { kept: held, pack, search: new PackSearch(pack), images }
    }
    try {
      const ready = await openedShelf()
      const saved = await ready.save(kept, { ...content, index: writeBareIndexJson(pack) })
      // Images that were taken over lay with what was kept before, which is gone.
      hold(saved, (await ready.open(saved.id)).content.images)
      return { kept: saved, unkept: null, counts, bytes }
    } catch (error) {
      hold({ ...kept, size: 0 }, content.images)
      return { kept: { ...kept, size: 0 }, unkept: tellFailure(error), counts, bytes }
    }
  }

  const handlers: Handlers = {
    async give({ files, isFirst }) {
      if (isFirst) handed = []
      for (const file of files) handed.push(file)
      return {}
    },

    async survey({ folder: asked, update }, task) {
      const folder: GivenFolder = asked.type === 'handed' ? { type: 'files', name: asked.name, files: handed } : asked
      handed = []
      const opened = openFolder(folder)
      const before = update === undefined ? undefined : (await (await openedShelf()).open(update)).content.stamps
      const found = await surveyFolder(opened, before, task)
      surveyed = { ...found, update, handle: folder.type === 'handle' ? folder.handle : null }
      return found.survey
    },

    async ingest({ limits }, task) {
      if (surveyed === undefined) throw new Trouble('No folder was chosen.', 'Choose a folder first.')
      const { folder, update, handle } = surveyed
      const before =
        update === undefined ? undefined : await openBefore(await openedShelf(), update, limits, options.build)
      if (surveyed.paths.some((path) => codeLanguageOf(path) !== undefined)) grammars ??= options.openGrammars()
      const opened = await grammars?.catch((error: unknown) => {
        grammars = undefined
        throw error
      })
      const read = await readFolder(surveyed, limits, opened, before, task)
      const pack = createPack([...read.files, ...surveyed.losses])
      if (pack.chunks.length === 0) throw emptyError(folder.name, surveyed, pack)
      const now = Date.now()
      const kept = {
        id: update ?? newId(),
        name: before?.kept.name ?? folder.name,
        root: folder.name,
        ...describePack(pack),
        addedAt: before?.kept.addedAt ?? now,
        updatedAt: now,
        limits,
        build: options.build,
        handle,
      }
      task.progress({ stage: 'keeping', done: 0 })
      surveyed = undefined
      return keep(kept, pack, read, read.counts)
    },

    async shelf() {
      const { usage: used = null, quota = null } = (await navigator.storage?.estimate?.()) ?? {}
      try {
        return { kept: await (await openedShelf()).list(), trouble: null, used, quota }
      } catch (error) {
        return { kept: [], trouble: tellFailure(error), used, quota }
      }
    },

    async open({ id }) {
      const { kept, content } = await (await openedShelf()).open(id)
      const pack = await openBareIndex(content.index, kept.name)
      current = { kept, pack, search: new PackSearch(pack), images: content.images }
      return { kept, unkept: null, counts: null, bytes: pack.files.reduce((sum, file) => sum + file.bytes, 0) }
    },

    async rename({ id, name }) {
      await (await openedShelf()).rename(id, name)
      if (current?.kept.id === id) current = { ...current, kept: { ...current.kept, name } }
      return {}
    },

    async remove({ id }) {
      await (await openedShelf()).remove(id)
      if (current?.kept.id === id) current = undefined
      return {}
    },

    async importPack({ file }, task) {
      const { pack, images, root } = await readPack(file, task)
      const now = Date.now()
      const kept = { id: newId(), name: root, root, ...describePack(pack), addedAt: now, updatedAt: now }
      task.progress({ stage: 'keeping', done: 0 })
      return keep(
        { ...kept, limits: DEFAULT_LIMITS, build: options.build, handle: null },
        pack,
        { stamps: [], images },
        null,
      )
    },

    async search({ query, options: how }, task) {
      const { search } = open()
      task.progress({ stage: 'indexing', done: 0 })
      const hits = search.search(query, how)
      return {
        hits: hits.map((hit) => {
          const found = search.find(hit.chunkRef)?.chunk
          return { ...hit, kind: found?.kind ?? 'unknown', symbol: found?.symbol ?? null }
        }),
      }
    },

    async chunk({ ref }) {
      const { pack, search } = open()
      const found = search.find(ref)
      if (found === undefined) throw new PharosError('CHUNK_NOT_FOUND', { chunk: ref, pack: 'this index', nearest: '' })
      const at = pack.refs.indexOf(found.ref)
      const beside = (position: number) =>
        pack.chunks[position]?.path === found.chunk.path ? (pack.refs[position] ?? null) : null
      return { ...found, before: beside(at - 1), after: beside(at + 1) }
    },

    async outline({ path, ...part }) {
      const { items, total } = take(open().search.listOutline(path), part, (heading) => heading)
      return { headings: items, total }
    },
    async symbols({ path, ...part }) {
      const { items, total } = take(open().search.listSymbols(path), part, (symbol) => symbol)
      return { symbols: items, total }
    },
    async files(part) {
      const { items, total } = take(open().pack.files, part, (file) => file.path)
      return { files: items, total }
    },
    async warnings(part) {
      const { items, total } = take(open().pack.warnings, part, ({ path, message }) => `${path} ${message}`)
      return { warnings: items, total }
    },

    async chunksOf({ path }) {
      const { pack } = open()
      const chunks = pack.chunks.flatMap((chunk, i) => {
        if (chunk.path !== path) return []
        const { startLine, endLine } = chunk
        return [{ ref: pack.refs[i] ?? '', startLine, endLine, label: chunkLabel(chunk) }]
      })
      return { chunks }
    },

    async exportArtefact({ artefact }, task) {
      const { pack, images, kept } = open()
      return writeArtefact(pack, artefact, { root: kept.root, images, task })
    },
  }

  return { run: (name, ask, task) => handlers[name](ask, task) }
}

function take<T>(all: readonly T[], { match = '', most }: Part, textOf: (item: T) => string) {
  const wanted = match.toLowerCase()
  const items = wanted === '' ? all : all.filter((item) => textOf(item).toLowerCase().includes(wanted))
  return { items: items.slice(0, most), total: items.length }
}

function describePack(pack: Pack): Pick<Kept, 'indexId' | 'files' | 'chunks' | 'tokens' | 'warnings'> {
  return {
    indexId: pack.indexId,
    files: pack.files.length,
    chunks: pack.chunks.length,
    tokens: sumTokens(pack.chunks),
    warnings: pack.warnings.length,
  }
}

async function openBareIndex(index: Blob, name: string): Promise<Pack> {
  const bytes = await bytesOf(index)
  return openPack({ name, has: (file) => file === 'index.json', read: () => [bytes] })
}

/** What an index was before it is brought up to date. */
interface Before {
  readonly kept: Kept
  /** What was cut of each file; nothing where other limits, or another version of the page, would cut it otherwise. */
  readonly files: ReadonlyMap<string, ChunkedFile>
  readonly stamps: ReadonlyMap<string, Stamp>
  readonly images: ReadonlyMap<string, Blob>
}

async function openBefore(shelf: Shelf, id: string, limits: Limits, build: string): Promise<Before> {
  const { kept, content } = await shelf.open(id)
  const isSame = kept.build === build && JSON.stringify(kept.limits) === JSON.stringify(limits)
  const stamps = new Map(content.stamps.map((stamp) => [stamp[0], stamp]))
  const pack = isSame ? await openBareIndex(content.index, kept.name) : undefined
  const files = pack === undefined ? [] : [...chunkedFilesOf(pack), ...unreadFilesOf(pack, stamps)]
  return {
    kept,
    files: new Map(files.map((one) => [one.file.path, withoutPassing(one)])),
    stamps,
    images: content.images,
  }
}

/** Files whose bytes are no text. A pack only warns of them; as long as they stay as they are, they need no second look. */
function unreadFilesOf(pack: Pack, stamps: Before['stamps']): ChunkedFile[] {
  const warnings = pack.warnings.filter(({ code }) => code === 'utf8' || code === 'binary')
  return warnings.map((warning) => {
    const { path } = warning
    const file = { path, kind: kindOf(path), bytes: stamps.get(path)?.[1] ?? 0, sha256: '', lineCount: 1 }
    return { file, chunks: [], warnings: [warning] }
  })
}

/** What is said of a file for that one time: that it changed meanwhile, and how far its rules were obeyed. */
function withoutPassing(chunked: ChunkedFile): ChunkedFile {
  const lasting = chunked.warnings.filter(({ code }) => code !== 'changed' && code !== 'ignore_rules')
  return { ...chunked, warnings: lasting }
}

interface ReadFolder extends Omit<Content, 'index'> {
  readonly files: readonly ChunkedFile[]
  readonly counts: NonNullable<Opened['counts']>
}

async function readFolder(
  { folder, paths, sizes }: Surveyed,
  limits: Limits,
  grammars: Grammars | undefined,
  before: Before | undefined,
  task: Task,
): Promise<ReadFolder> {
  await grammars?.prepare(paths.flatMap((path) => codeLanguageOf(path)?.grammar ?? []))
  const cutter = new FileCutter({ ...limits, ...(grammars === undefined ? {} : { grammars }) })
  const openedAt = Date.now()
  const files: ChunkedFile[] = []
  const stamps: Stamp[] = []
  const images = new Map<string, Blob>()
  let chunks = 0
  const find = (path: string) => findFile(path, { folder, cutter, before, size: sizes.get(path) ?? 0 })
  for await (const [path, { found, stamp }] of readAhead(paths, find, { ahead: AHEAD, signal: task.signal })) {
    const { chunked } = cutter.cut(path, found, before?.files.get(path))
    files.push(chunked)
    chunks += chunked.chunks.length
    if (chunked.file.kind === 'image' && chunked.chunks.length > 0) {
      images.set(
        path,
        found.type === 'bytes' ? new Blob([found.bytes as Uint8Array<ArrayBuffer>]) : imageOf(before, path),
      )
    }
    // A file written in the last moments could change again within the clock's step and look the same: it is noted without a time.
    const isSettled = stamp !== undefined && (found.type === 'known' || stamp[2] < openedAt - SETTLE_MS)
    if (stamp !== undefined) stamps.push(isSettled ? stamp : [path, stamp[1], UNSETTLED])
    task.progress({ stage: 'reading', done: files.length, total: paths.length, chunks, path })
    await task.breathe()
  }
  const { filesCut: cut, filesUnchanged: unchanged } = cutter.counts
  return { files, stamps, images, counts: { cut, unchanged } }
}

function imageOf(before: Before | undefined, path: string): Blob {
  return before?.images.get(path) ?? new Blob()
}

interface Finding {
  readonly folder: Surveyed['folder']
  readonly cutter: FileCutter
  readonly before: Before | undefined
  /** What it was when the folder was looked through. */
  readonly size: number
}

/** A file that changes while it is read is opened again as often. */
const TRIES = 3

async function findFile(
  path: string,
  { folder, cutter, before, size }: Finding,
): Promise<{ readonly found: Found; readonly stamp?: Stamp }> {
  for (let left = TRIES; left > 0; left--) {
    const file = await folder.file(path)
    if (file === undefined) break
    const stamp: Stamp = [path, file.size, file.lastModified]
    const known = before?.files.get(path)
    const last = before?.stamps.get(path)
    if (known !== undefined && last?.[1] === stamp[1] && last[2] === stamp[2]) {
      return { found: { type: 'known', chunked: known }, stamp }
    }
    const refusal = cutter.refuse(file.size)
    if (refusal !== undefined) return { found: refusal, stamp }
    try {
      return { found: { type: 'bytes', bytes: await bytesOf(file), isStable: true }, stamp }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error
    }
  }
  return { found: { type: 'left-out', code: 'unreadable', message: 'left out: cannot be read', size } }
}

function emptyError(name: string, { survey }: Surveyed, pack: Pack): PharosError {
  const skipped = survey.skipped.reduce((sum, { count }) => sum + count, 0)
  const problem =
    skipped + survey.files + pack.warnings.length === 0
      ? 'the folder is empty'
      : `${survey.files} files without text, ${skipped} skipped, ${pack.warnings.length} warnings`
  return new PharosError('SOURCE_EMPTY', { path: name, problem })
}
