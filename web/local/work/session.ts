import type { Grammars } from '../../../src/core/chunk/code-grammars.ts'
import { codeLanguageOf } from '../../../src/core/chunk/languages.ts'
import type { EmbeddingEngine } from '../../../src/core/embedding/engine.ts'
import { PharosError } from '../../../src/core/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/core/limits.ts'
import type { WarningCode } from '../../../src/core/model.ts'
import { writeBareIndexJson } from '../../../src/core/pack/index-json.ts'
import { chunkLabel } from '../../../src/core/pack/label.ts'
import { createPack, type Pack } from '../../../src/core/pack/pack.ts'
import { PackIndex } from '../../../src/core/pack/pack-index.ts'
import { copyUnchangedVectors } from '../../../src/core/pack/pack-texts.ts'
import type { PackVectors } from '../../../src/core/pack/pack-vectors.ts'
import { PackSearch } from '../../../src/core/pack/search-pack.ts'
import { sumTokens } from '../../../src/core/pack/tables.ts'
import { describeDoubt } from '../../../src/core/retrieval/relevance.ts'
import type { Steps } from '../../../src/core/search/steps.ts'
import { countOf } from '../../../src/core/text/count.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import { bytesOf, openFolder, orUndefined } from '../folder/open-folder.ts'
import {
  type IndexContent,
  type IndexStore,
  openIndexStore,
  type Stamp,
  type StoredIndex,
} from '../keep/index-store.ts'
import { newId } from '../keep/new-id.ts'
import { UserError } from '../user-error.ts'
import { describeFailure } from './describe-failure.ts'
import { describeIndex } from './describe-index.ts'
import { embedChunks } from './embed.ts'
import { writeArtefact } from './export.ts'
import { readPack } from './import.ts'
import { listHeadings, listSymbols } from './named-locations.ts'
import {
  BACKGROUND_OPERATIONS,
  type ListQuery,
  type NamedLocation,
  type OpenedIndex,
  type OperationName,
  type Operations,
  type Survey,
} from './operations.ts'
import { openBareIndex, openPreviousIndex } from './previous-index.ts'
import { NO_MODIFIED_TIME, readFolder } from './read-folder.ts'
import { writeSnippetLines } from './snippet-lines.ts'
import {
  describeWalk,
  findUnchanged,
  type SurveyedFolder,
  type UnchangedFiles,
  type WalkedFolder,
  walkFolder,
} from './survey.ts'
import { iterateWithYields, runSteps, type Task } from './task.ts'
import { adoptVectors, createVectors, readVectors, writeVectors } from './vectors.ts'

/** The environment of a session. */
export interface SessionOptions {
  /** The build of this page; chunks of another build are cut again. */
  readonly build: string
  /** Loads the grammars when the first source code file is read. */
  readonly openGrammars: () => Promise<Grammars>
  /** Loads the model when the first index is open. Without it, search is by words only. */
  readonly openEngine?: () => Promise<EmbeddingEngine>
}

/** Runs operations for one page. */
export interface Session {
  run<Name extends OperationName>(
    name: Name,
    input: Parameters<Operations[Name]>[0],
    task: Task,
  ): Promise<ReturnType<Operations[Name]>>
}

type Handlers = {
  readonly [Name in OperationName]: (
    input: Parameters<Operations[Name]>[0],
    task: Task,
  ) => Promise<ReturnType<Operations[Name]>>
}

/** An index that can be searched and exported. */
interface CurrentIndex {
  readonly kept: StoredIndex
  readonly pack: Pack
  readonly index: PackIndex
  readonly search: PackSearch
  /** The embeddings computed so far. */
  readonly vectors: PackVectors
  readonly images: ReadonlyMap<string, Blob>
  readonly stamps: readonly Stamp[]
  readonly isKept: boolean
  /** The work of the first search. It begins when the index is open, and every request that needs it continues it. */
  readonly preparation: Steps<void>
  /** Built on first use. */
  readonly lists: { headings?: readonly NamedLocation[]; symbols?: readonly NamedLocation[] }
}

/** Maximum number of warnings shown for one file. */
const MAX_WARNINGS = 20

/** Creates a session; resources are opened on first use. */
export function createSession(options: SessionOptions): Session {
  let current: CurrentIndex | undefined
  let lastWalk: (WalkedFolder & { readonly handle: StoredIndex['handle'] }) | undefined
  /** The files of the last walk that are unchanged since an index was made. */
  let lastComparison: { readonly update: string; readonly same: UnchangedFiles } | undefined
  let lastSurvey: (SurveyedFolder & { readonly update: string | undefined }) | undefined
  let sentFiles: GivenFile[] = []
  let store: Promise<IndexStore> | undefined
  let grammars: Promise<Grammars> | undefined
  let engineOpening: Promise<EmbeddingEngine> | undefined
  let engine: EmbeddingEngine | undefined
  /** The number of running operations that background work yields to. */
  let foregroundCount = 0
  const idleWaiters: (() => void)[] = []

  const openStore = (): Promise<IndexStore> => {
    if (store !== undefined) return store
    const forget = () => {
      if (store === opening) store = undefined
    }
    const opening = openIndexStore(forget)
    // A failed attempt is forgotten, so that the next request tries again if the user has allowed storage since.
    opening.catch(forget)
    store = opening
    return opening
  }
  const requireIndex = (): CurrentIndex => {
    if (current !== undefined) return current
    throw new UserError('No index is open.', 'Open a stored index, or choose a folder.')
  }

  const setCurrent = (kept: StoredIndex, pack: Pack, content: HeldContent, isKept: boolean) => {
    const { images, stamps, vectors } = content
    const index = new PackIndex(pack)
    const search = new PackSearch(pack, index, vectors)
    const preparation = search.prepare()
    current = { kept, pack, index, search, preparation, vectors, images, stamps, isKept, lists: {} }
  }

  const untilIdle = (): Promise<void> => {
    return foregroundCount === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))
  }

  const loadEngine = async (open: () => Promise<EmbeddingEngine>): Promise<EmbeddingEngine> => {
    engineOpening ??= open()
    try {
      engine = await engineOpening
      return engine
    } catch (error) {
      engineOpening = undefined
      throw error
    }
  }

  /** Saves the vectors of an index. If there is no space, they are computed again the next time. */
  async function keepVectors({ id, indexId }: StoredIndex, vectors: PackVectors): Promise<void> {
    const blob = writeVectors(vectors)
    if (blob === null || current?.vectors !== vectors || !current.isKept) return
    await openStore()
      .then((ready) => ready.saveVectors(id, indexId, blob))
      .catch(() => undefined)
  }

  /** Describes the last walked folder, as an update of an index or as a new one. */
  async function survey(update: string | undefined, task: Task, leaveOut?: string): Promise<Survey> {
    if (lastWalk === undefined) throw noFolderError()
    if (update === undefined) {
      lastSurvey = { ...describeWalk(lastWalk, { leaveOut: leaveOut ?? '' }), update }
      return lastSurvey.survey
    }
    const { kept, content } = await (await openStore()).open(update)
    const { stamps } = content
    if (lastComparison?.update !== update) {
      const isSameFolder = await isSameHandle(lastWalk.handle, kept.handle)
      lastComparison = { update, same: await findUnchanged(lastWalk, { stamps, isSameFolder }, task) }
    }
    const before = { stamps, same: lastComparison.same, isOtherBuild: kept.build !== options.build }
    lastSurvey = { ...describeWalk(lastWalk, { leaveOut: leaveOut ?? kept.leaveOut ?? '', before }), update }
    return lastSurvey.survey
  }

  /** Saves the open index. An index that cannot be saved can still be used. */
  async function keep(
    kept: Omit<StoredIndex, 'size'>,
    pack: Pack,
    content: HeldContent,
    counts: OpenedIndex['counts'],
    task: Task,
  ): Promise<OpenedIndex> {
    task.progress({ stage: 'keeping', done: 0 })
    const summary = describeIndex(pack)
    try {
      const ready = await openStore()
      const index = iterateWithYields(writeBareIndexJson(pack), task)
      const vectors = writeVectors(content.vectors)
      const saved = await ready.save(kept, { ...content, index, vectors }, task.signal)
      // Reused images were stored with the previous version, which is gone, so they are opened again.
      const { images, stamps } = (await ready.open(saved.id)).content
      setCurrent(saved, pack, { images, stamps, vectors: content.vectors }, true)
      return { stored: saved, saveError: null, counts, summary }
    } catch (error) {
      task.signal.throwIfAborted()
      setCurrent({ ...kept, size: 0 }, pack, content, false)
      return { stored: { ...kept, size: 0 }, saveError: describeFailure(error), counts, summary }
    }
  }

  const handlers: Handlers = {
    async give({ files, isFirst }) {
      if (isFirst) sentFiles = []
      for (const file of files) sentFiles.push(file)
      return {}
    },

    async survey({ folder: input, update }, task) {
      const folder: GivenFolder =
        input.type === 'handed' ? { type: 'files', name: input.name, files: sentFiles } : input
      sentFiles = []
      const found = await walkFolder(openFolder(folder), task)
      lastWalk = { ...found, handle: folder.type === 'handle' ? folder.handle : null }
      lastComparison = undefined
      return survey(update, task)
    },

    revise: ({ leaveOut, update }, task) => survey(update, task, leaveOut),

    async ingest({ limits }, task) {
      if (lastSurvey === undefined) throw noFolderError()
      const { folder, update, paths } = lastSurvey
      // Reported first, because opening the previous index and the grammars can take a while.
      task.progress({ stage: 'reading', done: 0, total: paths.length, path: paths[0] })
      const before =
        update === undefined
          ? undefined
          : await openPreviousIndex(await openStore(), update, limits, options.build, task)
      if (paths.some((path) => codeLanguageOf(path) !== undefined)) grammars ??= options.openGrammars()
      const opened = await grammars?.catch((error: unknown) => {
        grammars = undefined
        throw error
      })
      const read = await readFolder(lastSurvey, limits, opened, before, task)
      const pack = createPack([...read.files, ...lastSurvey.losses])
      if (pack.chunks.length === 0) throw emptyError(folder.name, lastSurvey, pack)
      const now = Date.now()
      const kept = {
        id: update ?? newId(),
        name: before?.stored.name ?? folder.name,
        root: folder.name,
        ...describePack(pack),
        addedAt: before?.stored.addedAt ?? now,
        updatedAt: now,
        limits,
        leaveOut: lastSurvey.survey.leaveOut,
        build: options.build,
        handle: lastWalk?.handle ?? null,
      }
      const vectors = createVectors(pack)
      if (before?.embeddings !== undefined) copyUnchangedVectors(before.embeddings, pack, vectors)
      const opening = await keep(kept, pack, { ...read, vectors }, read.counts, task)
      lastWalk = undefined
      lastComparison = undefined
      lastSurvey = undefined
      return opening
    },

    async shelf() {
      const { usage: used = null, quota = null } = (await navigator.storage?.estimate?.()) ?? {}
      try {
        return { indexes: await (await openStore()).list(), error: null, used, quota }
      } catch (error) {
        return { indexes: [], error: describeFailure(error), used, quota }
      }
    },

    async open({ id }, task) {
      const { kept, content } = await (await openStore()).open(id)
      const pack = await openBareIndex(content.index, kept.name, task)
      setCurrent(kept, pack, { ...content, vectors: await readVectors(content.vectors, pack) }, true)
      return { stored: kept, saveError: null, counts: null, summary: describeIndex(pack) }
    },

    async keep(_, task) {
      const { kept, pack, images, stamps, vectors } = requireIndex()
      return keep(kept, pack, { images, stamps, vectors }, null, task)
    },

    async rename({ id, name }) {
      await (await openStore()).rename(id, name)
      if (current?.kept.id === id) current = { ...current, kept: { ...current.kept, name } }
      return {}
    },

    async remove({ id }) {
      // An update that could not be saved stays open, and some of its images are stored with the version that is removed here.
      if (current?.kept.id === id && !current.isKept) current = { ...current, images: await copyImages(current.images) }
      await (await openStore()).remove(id)
      if (current?.kept.id === id && current.isKept) current = undefined
      return {}
    },

    async importPack({ file }, task) {
      const { pack: imported, images, root } = await readPack(file, task)
      // The pack is stored without its vectors, so that an export equals what the command line writes without vectors.
      const { vectors, ...pack } = imported
      const now = Date.now()
      const kept = { id: newId(), name: root, root, ...describePack(pack), addedAt: now, updatedAt: now }
      // A pack does not say when its files were modified, nor with which limits and build they were cut, so an update cuts all of them
      // again.
      const stamps = pathsOf(pack).map((path): Stamp => [path, 0, NO_MODIFIED_TIME])
      const stored = { ...kept, limits: DEFAULT_LIMITS, build: '', handle: null }
      return keep(stored, pack, { stamps, images, vectors: adoptVectors(pack, vectors) }, null, task)
    },

    async embed(_, task) {
      const { kept, pack, vectors } = requireIndex()
      await runSteps(requireIndex().preparation, task)
      if (options.openEngine === undefined) return { isWhole: false }
      const ready = await loadEngine(options.openEngine)
      await embedChunks({ pack, vectors, engine: ready, task, untilIdle, save: () => keepVectors(kept, vectors) })
      return { isWhole: true }
    },

    async search({ query, options: requested }, task) {
      const { search, preparation } = requireIndex()
      task.progress({ stage: 'indexing', done: 0 })
      if (query !== '') await runSteps(preparation, task)
      const model = engine
      const { meaning } =
        query === '' || model === undefined
          ? {}
          : await search.findMeaning(query, async (text) => model.embed([text])[0] ?? new Float32Array())
      const searchOptions = { ...requested, meaning }
      const { hits, total } =
        query === ''
          ? search.list(searchOptions, searchOptions.limit ?? 10)
          : { hits: search.search(query, searchOptions), total: search.count(query, searchOptions) }
      const completion = (searchOptions.completes ? search.complete(query) : undefined) ?? null
      return {
        hits: hits.map((hit) => {
          const found = search.find(hit.chunkRef)?.chunk
          const snippet = found === undefined ? hit.snippet : writeSnippetLines(found.content, hit.terms)
          return {
            ...hit,
            snippet,
            kind: found?.kind ?? 'unknown',
            symbol: found?.kind === 'json' ? null : (found?.symbol ?? null),
          }
        }),
        total,
        completion,
        doubt: (query !== '' && hits.length > 0 && describeDoubt(search.judge(query, hits, new Set()))) || null,
      }
    },

    async chunk({ ref }) {
      const { pack, search } = requireIndex()
      const found = search.find(ref)
      if (found === undefined) throw new PharosError('CHUNK_NOT_FOUND', { chunk: ref, pack: 'this index', nearest: '' })
      const at = pack.refs.indexOf(found.ref)
      const refInFile = (position: number) =>
        pack.chunks[position]?.path === found.chunk.path ? (pack.refs[position] ?? null) : null
      return { ...found, before: refInFile(at - 1), after: refInFile(at + 1) }
    },

    async outline(part) {
      const { pack, lists } = requireIndex()
      lists.headings ??= listHeadings(pack)
      const { items, total } = filterList(lists.headings, part, ({ path, names }) => `${path} ${names.join(' ')}`)
      return { places: items, total }
    },
    async symbols(part) {
      const { pack, lists } = requireIndex()
      lists.symbols ??= listSymbols(pack)
      const { items, total } = filterList(lists.symbols, part, ({ path, names }) => `${names.join(' ')} ${path}`)
      return { places: items, total }
    },
    async files(part) {
      const { items, total } = filterList(requireIndex().pack.files, part, (file) => file.path)
      return { files: items, total }
    },
    async warnings(part) {
      const { pack } = requireIndex()
      const { items, total } = filterList(pack.warnings, part, ({ path, message }) => `${path} ${message}`)
      return { warnings: items, total }
    },

    async file({ path, from, limit }) {
      const { pack } = requireIndex()
      // The chunks are sorted by path.
      const first = pack.chunks.findIndex((chunk) => chunk.path === path)
      const end = pack.chunks.findLastIndex((chunk) => chunk.path === path) + 1
      const chunks = pack.chunks.slice(first < 0 ? end : first, end)
      return {
        file: pack.files.find((file) => file.path === path) ?? null,
        warnings: pack.warnings.filter((warning) => warning.path === path).slice(0, MAX_WARNINGS),
        chunks: chunks.slice(from, from + limit).map((chunk, i) => {
          const { content, kind, startLine, endLine } = chunk
          const ref = pack.refs[first + from + i] ?? ''
          return { ref, label: chunkLabel(chunk), chunk: { content, kind, startLine, endLine } }
        }),
        total: chunks.length,
      }
    },
    image: async ({ path }) => ({ blob: requireIndex().images.get(path) ?? null }),

    async exportArtefact({ artefact }, task) {
      const { pack, index, images, kept } = requireIndex()
      return writeArtefact(pack, artefact, { root: kept.root, index, images, task })
    },
  }

  return {
    async run(name, input, task) {
      if (BACKGROUND_OPERATIONS.has(name)) return handlers[name](input, task)
      foregroundCount++
      try {
        return await handlers[name](input, task)
      } finally {
        foregroundCount--
        const resumed = foregroundCount === 0 ? idleWaiters.splice(0) : []
        for (const resume of resumed) resume()
      }
    },
  }
}

/** The parts of an index in memory besides its pack. */
type HeldContent = Omit<IndexContent, 'index' | 'vectors'> & { readonly vectors: PackVectors }

function noFolderError(): UserError {
  return new UserError('No folder was chosen.', 'Choose a folder first.')
}

function filterList<T>(all: readonly T[], { match = '', most }: ListQuery, textOf: (item: T) => string) {
  const letters = match.toLowerCase()
  const items = letters === '' ? all : all.filter((item) => textOf(item).toLowerCase().includes(letters))
  return { items: items.slice(0, most), total: items.length }
}

function describePack(pack: Pack): Pick<StoredIndex, 'indexId' | 'files' | 'chunks' | 'tokens' | 'warnings'> {
  return {
    indexId: pack.indexId,
    files: pack.files.length,
    chunks: pack.chunks.length,
    tokens: sumTokens(pack.chunks),
    warnings: pack.warnings.length,
  }
}

async function isSameHandle(first: StoredIndex['handle'], second: StoredIndex['handle']): Promise<boolean> {
  return first !== null && second !== null && (await first.isSameEntry(second))
}

/** Copies the images into memory, so that they outlive the files they come from. */
async function copyImages(images: CurrentIndex['images']): Promise<CurrentIndex['images']> {
  const copies = new Map<string, Blob>()
  for (const [path, image] of images) {
    const bytes = await orUndefined(() => bytesOf(image))
    copies.set(path, bytes === undefined ? image : new Blob([bytes]))
  }
  return copies
}

/** Warnings about files that were found but are not in the pack. */
const LEFT_OUT_WARNINGS: ReadonlySet<WarningCode> = new Set([
  'binary',
  'utf8',
  'max_file_bytes',
  'max_total_bytes',
  'max_total_chunks',
])

/** The paths of all files that a pack mentions. */
function pathsOf({ files, warnings }: Pack): string[] {
  const leftOut = warnings.filter(({ code }) => LEFT_OUT_WARNINGS.has(code))
  return [...new Set([...files, ...leftOut].map(({ path }) => path))]
}

function emptyError(name: string, { survey }: SurveyedFolder, pack: Pack): PharosError {
  const skipped = survey.skipped.reduce((sum, { count }) => sum + count, 0)
  const problem =
    skipped + survey.files + pack.warnings.length === 0
      ? 'the folder is empty'
      : `${countOf(survey.files, 'file')} without text, ${skipped} skipped, ${countOf(pack.warnings.length, 'warning')}`
  return new PharosError('SOURCE_EMPTY', { path: name, problem })
}
