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
import { PackIndex } from '../../../src/core/pack/pack-index.ts'
import { PackSearch } from '../../../src/core/pack/search-pack.ts'
import { sumTokens } from '../../../src/core/pack/tables.ts'
import { countOf } from '../../../src/core/text/count.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import { bytesOf, openFolder } from '../folder/open-folder.ts'
import { newId } from '../keep/new-id.ts'
import { type Content, type Kept, openShelf, type Shelf, type Stamp } from '../keep/shelf.ts'
import { Trouble } from '../trouble.ts'
import { describeIndex } from './about.ts'
import { writeArtefact } from './export.ts'
import { readPack } from './import.ts'
import { listHeadings, listSymbols } from './named-places.ts'
import type { NamedPlace, Opened, OperationName, Operations, Part, Survey } from './operations.ts'
import { describeWalk, type Surveyed, type Walked, walkFolder } from './survey.ts'
import { goThrough, type Task, withBreaks } from './task.ts'
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
  readonly index: PackIndex
  readonly search: PackSearch
  readonly images: ReadonlyMap<string, Blob>
  /** Made when they are first asked for. */
  readonly lists: { headings?: readonly NamedPlace[]; symbols?: readonly NamedPlace[] }
}

/** Files read ahead at once. */
const AHEAD = 8

/** The coarsest clock of a file system in use ticks every two seconds. */
const SETTLE_MS = 2000

/** A time that no file has. */
const UNSETTLED = -1

/** As many are shown of one file. */
const MOST_WARNINGS = 20

/** Starts a session; nothing is opened before it is needed. */
export function createSession(options: SessionOptions): Session {
  let current: Current | undefined
  let walked: (Walked & { readonly handle: Kept['handle'] }) | undefined
  let surveyed: (Surveyed & { readonly update: string | undefined }) | undefined
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

  const hold = (kept: Kept, pack: Pack, images: Content['images']) => {
    const index = new PackIndex(pack)
    current = { kept, pack, index, search: new PackSearch(pack, index), images, lists: {} }
  }

  /** Says what would be read of the folder that was walked through last, as an update of an index or as a new one. */
  async function survey(update: string | undefined, leaveOut?: string): Promise<Survey> {
    if (walked === undefined) throw noFolder()
    const index = update === undefined ? undefined : await (await openedShelf()).open(update)
    const before = index && { stamps: index.content.stamps, isOtherBuild: index.kept.build !== options.build }
    surveyed = { ...describeWalk(walked, { leaveOut: leaveOut ?? index?.kept.leaveOut ?? '', before }), update }
    return surveyed.survey
  }

  /** Keeps what is open. What cannot be kept can still be used. */
  async function keep(
    kept: Omit<Kept, 'size'>,
    pack: Pack,
    content: Omit<Content, 'index'>,
    counts: Opened['counts'],
    task: Task,
  ): Promise<Opened> {
    task.progress({ stage: 'keeping', done: 0 })
    const about = describeIndex(pack)
    try {
      const ready = await openedShelf()
      const saved = await ready.save(kept, { ...content, index: withBreaks(writeBareIndexJson(pack), task) })
      // Images that were taken over lay with what was kept before, which is gone.
      hold(saved, pack, (await ready.open(saved.id)).content.images)
      return { kept: saved, unkept: null, counts, about }
    } catch (error) {
      task.signal.throwIfAborted()
      hold({ ...kept, size: 0 }, pack, content.images)
      return { kept: { ...kept, size: 0 }, unkept: tellFailure(error), counts, about }
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
      const found = await walkFolder(openFolder(folder), task)
      walked = { ...found, handle: folder.type === 'handle' ? folder.handle : null }
      return survey(update)
    },

    revise: ({ leaveOut, update }) => survey(update, leaveOut),

    async ingest({ limits }, task) {
      if (surveyed === undefined) throw noFolder()
      const { folder, update, paths } = surveyed
      // What comes first may take its time.
      task.progress({ stage: 'reading', done: 0, total: paths.length, path: paths[0] })
      const before =
        update === undefined ? undefined : await openBefore(await openedShelf(), update, limits, options.build)
      if (paths.some((path) => codeLanguageOf(path) !== undefined)) grammars ??= options.openGrammars()
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
        leaveOut: surveyed.survey.leaveOut,
        build: options.build,
        handle: walked?.handle ?? null,
      }
      const opening = await keep(kept, pack, read, read.counts, task)
      walked = undefined
      surveyed = undefined
      return opening
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
      hold(kept, pack, content.images)
      return { kept, unkept: null, counts: null, about: describeIndex(pack) }
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
      // Nobody knows the times of its files; whether one is still the same is known once it is read.
      const stamps = pack.files.map(({ path, bytes }): Stamp => [path, bytes, UNSETTLED])
      const made = { ...kept, limits: DEFAULT_LIMITS, build: options.build, handle: null }
      return keep(made, pack, { stamps, images }, null, task)
    },

    async search({ query, options: how }, task) {
      const { search } = open()
      task.progress({ stage: 'indexing', done: 0 })
      if (query !== '') await goThrough(search.prepare(), task)
      const { hits, total } =
        query === ''
          ? search.list(how, how.limit ?? 10)
          : { hits: search.search(query, how), total: search.count(query, how) }
      const completion = (how.completes ? search.complete(query) : undefined) ?? null
      return {
        hits: hits.map((hit) => {
          const found = search.find(hit.chunkRef)?.chunk
          return { ...hit, kind: found?.kind ?? 'unknown', symbol: found?.symbol ?? null }
        }),
        total,
        completion,
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

    async outline(part) {
      const { pack, lists } = open()
      lists.headings ??= listHeadings(pack)
      const { items, total } = take(lists.headings, part, ({ path, names }) => `${path} ${names.join(' ')}`)
      return { places: items, total }
    },
    async symbols(part) {
      const { pack, lists } = open()
      lists.symbols ??= listSymbols(pack)
      const { items, total } = take(lists.symbols, part, ({ path, names }) => `${names.join(' ')} ${path}`)
      return { places: items, total }
    },
    async files(part) {
      const { items, total } = take(open().pack.files, part, (file) => file.path)
      return { files: items, total }
    },
    async warnings(part) {
      const { items, total } = take(open().pack.warnings, part, ({ path, message }) => `${path} ${message}`)
      return { warnings: items, total }
    },

    async file({ path, from, most }) {
      const { pack } = open()
      // They are sorted by path.
      const first = pack.chunks.findIndex((chunk) => chunk.path === path)
      const end = pack.chunks.findLastIndex((chunk) => chunk.path === path) + 1
      const chunks = pack.chunks.slice(first < 0 ? end : first, end)
      return {
        file: pack.files.find((file) => file.path === path) ?? null,
        warnings: pack.warnings.filter((warning) => warning.path === path).slice(0, MOST_WARNINGS),
        chunks: chunks.slice(from, from + most).map((chunk, i) => {
          const { content, kind, startLine, endLine } = chunk
          const ref = pack.refs[first + from + i] ?? ''
          return { ref, label: chunkLabel(chunk), chunk: { content, kind, startLine, endLine } }
        }),
        total: chunks.length,
      }
    },
    image: async ({ path }) => ({ blob: open().images.get(path) ?? null }),

    async exportArtefact({ artefact }, task) {
      const { pack, index, images, kept } = open()
      return writeArtefact(pack, artefact, { root: kept.root, index, images, task })
    },
  }

  return { run: (name, ask, task) => handlers[name](ask, task) }
}

function noFolder(): Trouble {
  return new Trouble('No folder was chosen.', 'Choose a folder first.')
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
    // Said before, since a large file takes its time.
    task.progress({ stage: 'reading', done: files.length, total: paths.length, chunks, path })
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
      : `${countOf(survey.files, 'file')} without text, ${skipped} skipped, ${countOf(pack.warnings.length, 'warning')}`
  return new PharosError('SOURCE_EMPTY', { path: name, problem })
}
