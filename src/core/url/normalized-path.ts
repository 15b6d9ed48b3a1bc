import { primaryLanguageOf } from '../text/language-code.ts'
import { decodePart } from './decode-part.ts'
import { readRepositoryPath } from './repository-url.ts'
import { readImportUrl, readInnerPath, treeKindOf } from './tree-url.ts'

/** The path of a page in its documentation, independent of version and language. */
export interface NormalizedPath {
  /** The path below the start, without the version of the source and the language of the page. */
  readonly path: string
  /** Whether the address names the language. */
  readonly namesLanguage: boolean
}

/** The source that paths are relative to. */
export interface VersionedSource {
  /** The start address of the source. */
  readonly url: string
  readonly version: string | null
}

/**
 * The path of a page: the same for its translations if their addresses differ only in the language (`/de/`, `x.fr.html`, `?lang=it`), and
 * for its other versions if they differ only in the version or the commit.
 */
export function normalizePagePath(url: string, source: VersionedSource, language: string | null): NormalizedPath {
  const below = withoutVersion(pathInTree(url, source.url) ?? pathBelow(url, readImportUrl(source.url)), source.version)
  const primaryLanguage = language === null ? null : primaryLanguageOf(language)
  const path = primaryLanguage === null ? below : withoutLanguage(below, primaryLanguage)
  return { path: path.replace(/(^|\/)index\.[a-z]+$/i, '$1').replace(/(?<!\/)\/+$/, ''), namesLanguage: path !== below }
}

/** The language in the path or host of an address; null if there is none. */
export function languageInUrl(url: string): string | null {
  const parsed = URL.parse(url)
  if (parsed === null) return null
  const [label = ''] = parsed.hostname.split('.')
  const languageTag = [...parsed.pathname.split('/'), label].find(
    (part) => TAG.test(part) && primaryLanguageOf(part) !== null,
  )
  return languageTag === undefined ? null : primaryLanguageOf(languageTag)
}

/** A language tag in an address: `de`, `pt-br`, `zh_Hans`. Longer words are names. */
const TAG = /^[a-z]{2}(?:[-_][a-z]{2,4})?$/i

/** The path of a file inside a tree, for any commit or version in the address; undefined for a page of a web site. */
function pathInTree(url: string, tree: string): string | undefined {
  const kind = treeKindOf(tree)
  if (kind === 'repository') return readRepositoryPath(tree, url)
  if (kind === 'package' || kind === 'archive') return readInnerPath(tree, url)
  const folder = `${tree.replace(/(?<!\/)\/+$/, '')}/`
  return kind === 'folder' && url.startsWith(folder) ? decodePart(url.slice(folder.length)) : undefined
}

/** Removes the first part that is the version, as in `2.0/guide`, `v2.0/guide` and the folder in an archive, `docs-2.0/guide`. */
function withoutVersion(path: string, version: string | null): string {
  if (version === null) return path
  const bare = version.replace(/^v(?=\d)/i, '')
  const [pathname = '', query] = path.split('?', 2)
  const parts = pathname.split('/')
  const isVersion = (part: string, i: number): boolean =>
    part === version ||
    part === bare ||
    part === `v${bare}` ||
    (i === 0 && parts.length > 1 && part.endsWith(`-${bare}`))
  const at = parts.findIndex(isVersion)
  return at < 0 ? path : join([...parts.slice(0, at), ...parts.slice(at + 1)].join('/'), query)
}

function pathBelow(url: string, start: string): string {
  const folder = start.slice(0, start.lastIndexOf('/') + 1)
  if (folder.length > 0 && url.startsWith(folder)) return url.slice(folder.length)
  const parsed = URL.parse(url)
  return parsed === null ? url : `${parsed.host}${parsed.pathname}${parsed.search}`
}

/**
 * Removes the language from a path: the first part that names it, else the suffix of the file name, else the query parameter. Later parts
 * that look like a language may be names.
 */
function withoutLanguage(path: string, language: string): string {
  const isLanguage = (part: string) => TAG.test(part) && primaryLanguageOf(part) === language
  const [pathname = '', query] = path.split('?', 2)
  const parts = pathname.split('/')
  const at = parts.findIndex(isLanguage)
  if (at >= 0) return join([...parts.slice(0, at), ...parts.slice(at + 1)].join('/'), query)
  const last = parts.at(-1) ?? ''
  const bare = last.replace(/[._-]([a-z]{2}(?:[-_][a-z]{2,4})?)(?=\.[a-z]+$|$)/i, (whole, tag: string) =>
    isLanguage(tag) ? '' : whole,
  )
  if (bare !== last) return join([...parts.slice(0, -1), bare].join('/'), query)
  const keptPairs = query
    ?.split('&')
    .filter((pair) => !/^(?:lang|language|hl|locale)=/i.test(pair) || !isLanguage(pair.slice(pair.indexOf('=') + 1)))
  return join(pathname, keptPairs?.join('&'))
}

function join(path: string, query: string | undefined): string {
  return query === undefined || query === '' ? path : `${path}?${query}`
}
