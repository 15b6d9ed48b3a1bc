import { slugify } from '../chunk/slug.ts'
import type { Chunk, Kind } from '../model.ts'
import type { IndexEntry } from '../search/segments/entry-table.ts'
import { normalizePercent } from '../url/key.ts'
import { findGlobProblem, matchesPathGlob, parsePathGlob } from '../url/path-glob.ts'
import { isNegated } from '../url/path-patterns.ts'
import { type ContentType, readTraits } from './content-type.ts'
import { symbolsOf } from './definitions.ts'
import type { IndexStorage } from './index/index-storage.ts'

/** Conditions on chunks; all given conditions apply. */
export interface ChunkConditions {
  /** A glob on the path of the page, or the beginning of that path. */
  readonly path?: string
  readonly kind?: Kind
  /** Part of the heading path, written as slugs joined by `/`, or as printed, with ` > `: `install` matches `Installation guide`. */
  readonly heading?: string
  /** Beginning of the name of something that the chunk defines, qualified or not. */
  readonly symbol?: string
  readonly contentType?: ContentType
  /** Language of the page, BCP 47; `en` also matches `en-GB`. */
  readonly language?: string
}

/** The facts about a page that filters test. */
export interface FilteredPage {
  readonly url: string
  /** Key of the page in its source; for a file, its path in the folder. */
  readonly key: string
  readonly language: string | null
}

/** The parts of a chunk that filters test. */
export type FilteredChunk = Pick<Chunk, 'kind' | 'headingPath' | 'symbol' | 'content'>

/** A test of conditions; undefined when there are no conditions. */
export type Test<T> = ((tested: T) => boolean) | undefined

/** The tests of a filter, from the cheapest to the most expensive. */
export interface ChunkTests {
  /** Tests the traits that {@link writeTraits} writes. */
  readonly traits: Test<number>
  readonly page: Test<FilteredPage>
  readonly chunk: Test<FilteredChunk>
}

/** Creates the tests of a filter. */
export function createChunkTests(conditions: ChunkConditions): ChunkTests {
  const { path, kind, heading, symbol, contentType, language } = conditions
  return {
    traits: combine([
      kind === undefined ? undefined : (traits) => readTraits(traits).kind === kind,
      contentType === undefined ? undefined : (traits) => readTraits(traits).contentType === contentType,
      symbol === undefined ? undefined : (traits) => readTraits(traits).hasSymbols,
    ]),
    page: combine([
      path === undefined ? undefined : testPath(path),
      language === undefined ? undefined : testLanguage(language),
    ]),
    chunk: combine([
      heading === undefined ? undefined : testHeading(heading),
      symbol === undefined ? undefined : testSymbol(symbol),
    ]),
  }
}

function combine<T>(tests: readonly Test<T>[]): Test<T> {
  const given = tests.filter((test) => test !== undefined)
  return given.length === 0 ? undefined : (tested) => given.every((test) => test(tested))
}

/** A leading `!` selects all other pages. */
function testPath(pattern: string): (page: FilteredPage) => boolean {
  if (!isNegated(pattern)) return testPlainPath(pattern)
  const matches = testPlainPath(pattern.trimStart().slice(1))
  return (page) => !matches(page)
}

/** A path without glob syntax is a prefix. */
function testPlainPath(pattern: string): (page: FilteredPage) => boolean {
  const prefix = normalizePercent(pattern.startsWith('/') ? pattern : `/${pattern}`)
  if (!/[*?[\\]/.test(pattern) || findGlobProblem(pattern) !== undefined) {
    return (page) => pathsOf(page).some((path) => path.startsWith(prefix))
  }
  const glob = parsePathGlob(pattern)
  return (page) => pathsOf(page).some((path) => matchesPathGlob(glob, path))
}

/**
 * The paths of a page: for a file its path in the folder, otherwise the path of its address, encoded and decoded. An invalid address has
 * none.
 */
function pathsOf({ url, key }: Pick<FilteredPage, 'url' | 'key'>): string[] {
  if (url.startsWith('file:')) return [`/${key}`]
  if (!URL.canParse(url)) return []
  const { pathname } = new URL(url)
  try {
    return [normalizePercent(pathname), decodeURI(pathname)]
  } catch {
    // The path is not UTF-8, so it has no decoded form.
    return [pathname]
  }
}

function testLanguage(requested: string): (page: FilteredPage) => boolean {
  const wanted = requested.toLowerCase()
  return ({ language }) => {
    const found = language?.toLowerCase()
    return found === wanted || found?.startsWith(`${wanted}-`) === true
  }
}

function testHeading(heading: string): (chunk: FilteredChunk) => boolean {
  const wanted = heading
    .split(/(?<!\s)\s+>\s+|\//)
    .filter(Boolean)
    .map(slugify)
    .join('/')
  return ({ headingPath }) => headingPath.map(slugify).join('/').includes(wanted)
}

function testSymbol(symbol: string): (chunk: FilteredChunk) => boolean {
  const wanted = symbol.toLowerCase()
  return (chunk) => symbolsOf(chunk).some((name) => beginsWith(name.toLowerCase(), wanted))
}

/** Whether a name begins with the wanted text, with or without its qualifiers. */
function beginsWith(name: string, wanted: string): boolean {
  for (let at = name.indexOf(wanted); at >= 0; at = name.indexOf(wanted, at + 1)) {
    if (at === 0 || /[.:#/\\]/.test(name.charAt(at - 1))) return true
  }
  return false
}

/** A test of pages by number that checks each page once. */
export function cachePageTest(storage: IndexStorage, test: ChunkTests['page']): (page: number) => boolean {
  if (!test) return () => true
  const pages = new Map<number, boolean>()
  return (number) => {
    const known = pages.get(number)
    if (known !== undefined) return known
    const page = storage.readPage(number)
    const isAccepted = page !== undefined && test(page)
    pages.set(number, isAccepted)
    return isAccepted
  }
}

/** Creates a test for whether a document may be found; undefined if all may. */
export function createEntryFilter(
  storage: IndexStorage,
  { traits, page, chunk }: ChunkTests,
): ((document: IndexEntry) => boolean) | undefined {
  if (!traits && !page && !chunk) return undefined
  const isPageAccepted = cachePageTest(storage, page)
  const isChunkAccepted = (number: number): boolean => {
    if (!chunk) return true
    const found = storage.readChunk(number)
    return found !== undefined && chunk(found)
  }
  return (document) =>
    (traits?.(document.traits) ?? true) && isPageAccepted(document.page) && isChunkAccepted(document.number)
}
