import { isApiPage, packageOf } from '../../core/changes/read-symbols.ts'
import { packageTitle, parsePackageUrl } from '../../core/url/package-url.ts'
import type { Library } from '../library.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import { type PageSet, readPageSet } from './read-page-set.ts'

/** The pages of two versions, with those of packages whose names they pass on. */
export interface CompletedSets {
  readonly before: PageSet
  readonly after: PageSet
  /** One sentence for each package that is missing. */
  readonly notices: readonly string[]
}

/**
 * Adds the packages of which a package exports everything, as `@a/react` does with `@a/core`: users import their names from it. Only versions
 * of the same number belong together for sure.
 */
export async function addPassedOn(
  library: Pick<Library, 'store' | 'clock'>,
  { from, to, before, after }: { readonly from: Source; readonly to: Source } & Omit<CompletedSets, 'notices'>,
  signal?: AbortSignal,
): Promise<CompletedSets> {
  const names = listPassedOn([before, after])
  let sets = { before, after }
  const notices: string[] = []
  const sources = names.length === 0 ? [] : await library.store.listSources()
  for (const name of names) {
    const find = ({ version }: Source) => sources.find((one) => one.version === version && importNameOf(one) === name)
    const [oldest, newest] = [find(from), find(to)]
    if (oldest === undefined || newest === undefined) {
      const adds = [from, to].map(({ version }) => `pharos add npm:${name}@${version}`)
      notices.push(
        `${writeLabel(to)} exports all of ${name}, which is not compared; take it in first: ${adds.join(', ')}`,
      )
      continue
    }
    sets = {
      before: mergeSets(sets.before, await readPageSet(library, oldest, signal), name, oldest.id),
      after: mergeSets(sets.after, await readPageSet(library, newest, signal), name, newest.id),
    }
  }
  return { ...sets, notices }
}

/** The name by which code imports a source. */
export function importNameOf({ url, name }: Pick<Source, 'url' | 'name'>): string {
  const found = parsePackageUrl(url)
  return found === undefined ? name : packageTitle(found)
}

/** Packages of which a compared package exports everything. */
function listPassedOn(sets: readonly PageSet[]): string[] {
  const pages = sets.flatMap((set) => set.pages).filter(isApiPage)
  const found = pages.flatMap(({ markdown }) => [...markdown.matchAll(/^Everything from `([^`]+)` too\.$/gm)])
  return [...new Set(found.map(([, module = '']) => packageOf(module)))]
}

function mergeSets(set: PageSet, other: PageSet, folder: string, sourceId: string): PageSet {
  const below = <T>([path, value]: readonly [string, T]) => [`${folder}/${path}`, value] as const
  const places = [...other.places].map(([path, place]) => below([path, { ...place, sourceId }]))
  return {
    pages: [...set.pages, ...other.pages.map((page) => ({ ...page, path: `${folder}/${page.path}` }))],
    places: new Map([...set.places, ...places]),
    keys: new Map([...set.keys, ...[...other.keys].map(below)]),
    notice: set.notice ?? other.notice,
  }
}
