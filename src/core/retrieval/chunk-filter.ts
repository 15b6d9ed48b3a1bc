import { slugify } from '../chunk/slug.ts'
import type { Chunk, Kind } from '../model.ts'
import { normalizePercent } from '../url/key.ts'
import { findGlobProblem, matchesPathGlob, parsePathGlob } from '../url/path-glob.ts'
import { type ContentType, readTraits } from './content-type.ts'
import { symbolsOf } from './definitions.ts'

/** Conditions on chunks. Every given condition has to hold. */
export interface ChunkConditions {
  /** A glob on the path of the page, or the beginning of that path. */
  readonly path?: string
  readonly kind?: Kind
  /** Part of the heading path, written as slugs joined by `/`, or as it is printed, with ` > `: `install` holds for `Installation guide`. */
  readonly heading?: string
  /** Beginning of the name of something that the chunk defines, qualified or not. */
  readonly symbol?: string
  readonly contentType?: ContentType
  /** Language of the page, BCP 47; `en` holds for `en-GB` as well. */
  readonly language?: string
}

/** The facts about a page that filters test. */
export interface FilteredPage {
  readonly url: string
  /** Its key in the source; of a file, its path in the folder. */
  readonly key: string
  readonly language: string | null
}

/** The parts of a chunk that filters test. */
export type FilteredChunk = Pick<Chunk, 'kind' | 'headingPath' | 'symbol' | 'content'>

/** Tests conditions; undefined when there are none. */
export type Test<T> = ((tested: T) => boolean) | undefined

/** The tests of a filter, from the cheapest to the most expensive. */
export interface ChunkTests {
  /** Tests the traits that {@link writeTraits} writes. */
  readonly traits: Test<number>
  readonly page: Test<FilteredPage>
  readonly chunk: Test<FilteredChunk>
}

/** Makes the tests of a filter. */
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

/** A path without anything that makes it a glob is the beginning of the paths that are meant. */
function testPath(asked: string): (page: FilteredPage) => boolean {
  const prefix = normalizePercent(asked.startsWith('/') ? asked : `/${asked}`)
  if (!/[*?[\\]/.test(asked) || findGlobProblem(asked) !== undefined) {
    return (page) => pathsOf(page).some((path) => path.startsWith(prefix))
  }
  const glob = parsePathGlob(asked)
  return (page) => pathsOf(page).some((path) => matchesPathGlob(glob, path))
}

/**
 * The path of a page: in the folder, where it is a file, and otherwise that of its address, as it is sent and as it is read; none
 * where there is no address.
 */
function pathsOf({ url, key }: Pick<FilteredPage, 'url' | 'key'>): string[] {
  if (url.startsWith('file:')) return [`/${key}`]
  if (!URL.canParse(url)) return []
  const { pathname } = new URL(url)
  try {
    return [normalizePercent(pathname), decodeURI(pathname)]
  } catch {
    // Not UTF-8: there is no other way to write it.
    return [pathname]
  }
}

function testLanguage(asked: string): (page: FilteredPage) => boolean {
  const wanted = asked.toLowerCase()
  return ({ language }) => {
    const found = language?.toLowerCase()
    return found === wanted || found?.startsWith(`${wanted}-`) === true
  }
}

function testHeading(asked: string): (chunk: FilteredChunk) => boolean {
  const wanted = asked
    .split(/\s+>\s+|\//)
    .filter(Boolean)
    .map(slugify)
    .join('/')
  return ({ headingPath }) => headingPath.map(slugify).join('/').includes(wanted)
}

function testSymbol(asked: string): (chunk: FilteredChunk) => boolean {
  const wanted = asked.toLowerCase()
  return (chunk) => symbolsOf(chunk).some((name) => beginsWith(name.toLowerCase(), wanted))
}

/** Tells whether a name begins so, whole or behind one of the names that qualify it. */
function beginsWith(name: string, wanted: string): boolean {
  for (let at = name.indexOf(wanted); at >= 0; at = name.indexOf(wanted, at + 1)) {
    if (at === 0 || /[.:#/\\]/.test(name.charAt(at - 1))) return true
  }
  return false
}
