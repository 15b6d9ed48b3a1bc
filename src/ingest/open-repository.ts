import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ArchiveError } from '../core/archive/archive-error.ts'
import { PharosError, usageError } from '../core/errors.ts'
import { COMMIT_IGNORE_FILES } from '../core/folder/walk-tree.ts'
import {
  nameOfRepository,
  parseRepositoryUrl,
  type RepositoryAddress,
  writeCommitUrl,
} from '../core/url/repository-url.ts'
import { normalizeFolder, writeInnerUrl } from '../core/url/tree-url.ts'
import type { OpenTree, TreeFacts, TreeOptions } from '../library/ports/tree.ts'
import type { ArchiveContent } from './archive/content.ts'
import { DEFAULT_ARCHIVE_LIMITS, MemberError, MemberList, refuse } from './archive/members.ts'
import { createFolderError, withSourceErrors } from './archive/source.ts'
import { createContentTree, walkContent } from './archive/tree.ts'
import {
  createGitOptions,
  describeRefs,
  type FetchOptions,
  fetchCommit,
  findCommit,
  type OpenCommit,
  OTHER_REF_ADVICE,
  withTimeout,
} from './fetch-repository.ts'
import { GitError, openObjects, runGit, streamGit } from './git.ts'
import type { FilePages } from './read-file-page.ts'
import { isSystemError } from './walk-folder.ts'

/** Options for opening repositories. */
export interface RepositoryOptions extends Omit<FetchOptions, 'signal' | 'maxFetchBytes'> {
  /** Limit of fetched bytes. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Limit of files in a repository. @default that of archives */
  readonly maxFiles?: number
}

/** Describes a repository without contacting it. */
export function describeRepository(address: string, { ref = null }: TreeOptions = {}): TreeFacts {
  const repository = parseRepository(address)
  checkRef(ref)
  // A release tag is a version, a branch is not.
  const isVersion = ref !== null && /^v?\d+(?:\.\d+)+/.test(ref)
  return { url: repository.url, name: nameOfRepository(repository), ...(isVersion ? { version: ref } : {}) }
}

/** Opens a git repository at a branch, tag or commit, as a tree of its files. */
export async function openRepository(
  address: string,
  pages: FilePages,
  options: RepositoryOptions,
  { profile = 'library', ref = null, path = null, signal }: TreeOptions = {},
): Promise<OpenTree> {
  const repository = parseRepository(address)
  checkRef(ref)
  return withGitErrors(repository.url, async () => {
    const opened = await openCommit(repository, ref, options, signal)
    try {
      const folder = normalizeFolder(path)
      const content = await withTimeout(signal, (stop) => listContent(opened, folder, options, stop))
      if (content.files.size === 0)
        throw createFolderError(writeInnerUrl(repository.url, folder), await isFile(opened, folder))
      return createContentTree({
        ...describeRepository(address, { ref }),
        folderId: opened.folderId,
        addressOf: (file) => writeCommitUrl(repository, opened.commit, folder + file),
        content,
        pages,
        profile,
        maxFileBytes: options.maxFileBytes,
        stamp: null,
        walk: (all, stop) => walkContent(all, stop, COMMIT_IGNORE_FILES),
        close: content.close,
      })
    } catch (error) {
      await opened.close()
      throw error
    }
  })
}

function parseRepository(address: string): RepositoryAddress {
  const repository = parseRepositoryUrl(address)
  if (repository !== undefined) return repository
  throw new PharosError('URL_INVALID', { url: address, problem: 'it is not the address of a git repository' })
}

/**
 * Matches invalid ref names (https://git-scm.com/docs/git-check-ref-format) and names that git could read as an option or an expression.
 */
const INVALID_REF = /^$|^@$|^-|^\/|\/$|\/\/|\.$|\.\.|@\{|(?:^|\/)\.|\.lock(?:\/|$)|[\p{Cc} ~^:?*[\\]/u

function checkRef(ref: string | null): void {
  if (ref === null || (!INVALID_REF.test(ref) && ref.length <= 250)) return
  throw usageError(`expected a branch, tag or commit, got ${JSON.stringify(ref)}`)
}

/** Runs a step and turns errors of git into errors of the source. */
async function withGitErrors<T>(url: string, step: () => Promise<T>): Promise<T> {
  return withSourceErrors(url, async () => {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      throw new ArchiveError(error.message, { cause: error, advice: error.advice })
    }
  })
}

async function openCommit(
  repository: RepositoryAddress,
  ref: string | null,
  { maxArchiveBytes = DEFAULT_ARCHIVE_LIMITS.maxBytes, ...options }: RepositoryOptions,
  signal: AbortSignal | undefined,
): Promise<OpenCommit & Pick<OpenTree, 'folderId'>> {
  if (repository.protocol !== 'file') {
    const fetched = await fetchCommit(repository, ref, { ...options, maxFetchBytes: maxArchiveBytes, signal })
    // A remote repository is identified by its address alone, so this identity never changes.
    return { ...fetched, folderId: 'repository' }
  }
  // A local repository is read in place. Nothing is written to it.
  const folder = fileURLToPath(repository.remote)
  const { dev, ino } = await requireFolder(folder)
  const git = createGitOptions(folder, { ...options, signal })
  const commit = ref === null ? await findCommit(git, 'HEAD') : await findLocalCommit(git, ref)
  return { git, commit, isPartial: false, folderId: `${dev}:${ino}`, close: () => Promise.resolve() }
}

/** Git arguments that list branches and tags, newest first, because an error message names only the first ones. */
const LIST_REFS_ARGS = ['for-each-ref', '--sort=-creatordate', '--format=%(refname)', 'refs/heads', 'refs/tags']

async function findLocalCommit(git: OpenCommit['git'], ref: string): Promise<string> {
  try {
    return await findCommit(git, ref)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const isNoRepository = error.message.includes('not a git repository')
    const advice = isNoRepository ? 'name the folder of a repository, or leave out ref' : OTHER_REF_ADVICE
    throw new GitError(error.message + (await describeRefs(LIST_REFS_ARGS, git)), { cause: error, advice })
  }
}

async function requireFolder(path: string): Promise<Stats> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) return stats
  } catch (error) {
    if (!isSystemError(error) || (error.code !== 'ENOENT' && error.code !== 'ENOTDIR')) throw error
    throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause: error })
  }
  throw new ArchiveError('it is not a folder', { advice: 'name the folder of a repository' })
}

const FOLDER_MODE = '040000'
const LINK_MODE = '120000'
const SUBMODULE_MODE = '160000'

/** Lists the files of a commit. Their contents are read on demand. */
async function listContent(
  { git, commit, isPartial, close }: OpenCommit,
  folder: string,
  { maxFiles = DEFAULT_ARCHIVE_LIMITS.maxEntries }: RepositoryOptions,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  const list = new MemberList<string>({ ...DEFAULT_ARCHIVE_LIMITS, maxEntries: maxFiles })
  const paths = folder === '' ? [] : [folder]
  // `-t` lists folders too, so that they count towards the limit: very many empty ones take as long as that many files.
  const args = ['ls-tree', '-r', '-t', '-z', ...(isPartial ? [] : ['-l']), '--full-tree', commit, '--', ...paths]
  for await (const line of split(streamGit(args, { ...git, signal }), 0)) {
    const { mode, object, size, name } = readEntry(line)
    const path = name.subarray(Buffer.byteLength(folder))
    if (mode === FOLDER_MODE) list.add(path, { type: 'folder' })
    else if (mode === LINK_MODE) list.add(path, { type: 'link' })
    else if (mode === SUBMODULE_MODE)
      list.add(path, { type: 'refused', refusal: refuse('excluded', 'a repository in it') })
    else list.add(path, { type: 'file', size: size ?? Number.POSITIVE_INFINITY, position: object })
  }
  const wanted = new Set(Array.from(list.files.values(), ({ position: object }) => object))
  const sizes = isPartial ? await listSizes({ ...git, signal }, wanted) : undefined
  const files = new Map(
    // A file that was not fetched is above the size limit.
    Array.from(list.files, ([path, { size, position: object }]) => [
      path,
      { size: sizes?.get(object) ?? size, stamp: object },
    ]),
  )
  const objects = openObjects(git)
  return {
    files,
    links: list.links,
    refused: list.refused,
    async read(path) {
      try {
        return await objects.read(files.get(path)?.stamp ?? '')
      } catch (error) {
        if (!(error instanceof GitError)) throw error
        throw new MemberError(error.message, { cause: error, reason: error.isKilled ? 'unreadable' : 'damaged' })
      }
    },
    async close() {
      await objects.close()
      await close()
    },
  }
}

/** Whether a path that was given as a folder is a file. */
async function isFile({ git, commit }: OpenCommit, folder: string): Promise<boolean> {
  const type = await runGit(['cat-file', '-t', `${commit}:${folder.slice(0, -1)}`], git).catch(() => '')
  return type.trim() === 'blob'
}

/**
 * Sizes of the fetched objects. Asking git for a missing object could make it contact the server, so all stored objects are listed; there
 * may be many more than the commit has.
 */
async function listSizes(git: OpenCommit['git'], wanted: ReadonlySet<string>): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const args = ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objectname) %(objectsize)']
  for await (const line of split(streamGit(args, git), 0x0a)) {
    const [object = '', size = ''] = line.toString('latin1').split(' ')
    if (wanted.has(object)) sizes.set(object, Number(size))
  }
  return sizes
}

interface ListedObject {
  readonly mode: string
  readonly object: string
  /** Undefined when the size was not requested. */
  readonly size: number | undefined
  readonly name: Buffer
}

/** `100644 blob 257cc5…     1234\tdocs/a.md` */
function readEntry(line: Buffer): ListedObject {
  const tab = line.indexOf(0x09)
  const [mode = '', , object = '', size] = line.toString('latin1', 0, tab).split(/ +/)
  return { mode, object, size: size === undefined ? undefined : Number(size) || 0, name: line.subarray(tab + 1) }
}

/** Splits a stream at a byte. */
async function* split(pieces: AsyncIterable<Uint8Array>, end: number): AsyncGenerator<Buffer, void, void> {
  let rest = Buffer.alloc(0)
  for await (const piece of pieces) {
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece])
    let start = 0
    for (let at = rest.indexOf(end); at >= 0; at = rest.indexOf(end, start)) {
      yield rest.subarray(start, at)
      start = at + 1
    }
    rest = rest.subarray(start)
  }
}
