import { PharosError, usageError } from '../../core/errors.ts'
import { hasOtherSettings, type PrepareSourceInput, prepareSource } from '../crawl/prepare-source.ts'
import type { Library } from '../library.ts'
import { isSamePath } from '../ports/tree.ts'
import { labelOf, type Source } from '../source.ts'
import type { WatchInput } from './watch-tree.ts'

type FolderRequest = Pick<PrepareSourceInput, 'name' | 'version' | 'scope' | 'settings'>

/** A folder to watch, with the kind and options of the first run. */
interface WatchedFolder extends Pick<WatchInput, 'kind' | 'options'> {
  readonly source: Source
  /** Whether the folder is in the library with other settings than the given ones, which cannot be changed. */
  readonly hasOtherSettings: boolean
}

/** Finds the source of a folder, or adds one. */
export async function findOrAddFolder(library: Library, given: string, request: FolderRequest): Promise<WatchedFolder> {
  const address = library.trees?.addressOf(given)
  // The folder itself is examined, because its name may look like that of an archive.
  const url = address?.startsWith('file:') === true ? (await library.trees?.describe(address))?.url : undefined
  if (url?.endsWith('/') === false) {
    throw new PharosError('SOURCE_UNREADABLE', { path: given, problem: 'it is a file', advice: 'name a folder' })
  }
  if (url === undefined) {
    throw new PharosError('URL_INVALID', { url: given, problem: 'it is not a folder on this machine' })
  }
  const known = await findFolderSource(library, url, request)
  if (known !== undefined) {
    return { source: known, hasOtherSettings: hasOtherSettings(known, {}, { ...request.scope, ...request.settings }) }
  }
  const { source, kind, options } = await prepareSource(library, { ...request, url, isOwnFolder: true })
  return { source, kind, options, hasOtherSettings: false }
}

/** Finds the source of a folder; undefined if there is none, or if another name or version is requested. */
async function findFolderSource(
  { store }: Pick<Library, 'store'>,
  url: string,
  { name, version }: FolderRequest,
): Promise<Source | undefined> {
  const sources = (await store.listSources()).filter((source) => isSamePath(source.url, url))
  const matching = sources.filter(
    (source) => (name ?? source.name) === source.name && (version ?? source.version) === source.version,
  )
  const [known] = matching
  if (matching.length < 2) return known
  const labels = matching.map(labelOf).join(' and ')
  const problem = `this folder is in the library as ${labels}: choose one with --name or --version`
  throw usageError(problem)
}
