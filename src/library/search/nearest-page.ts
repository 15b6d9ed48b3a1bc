import { findNearest } from '../../core/text/nearest.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/** Maximum number of addresses compared. */
const MAX_ROWS = 20_000
/** Number of addresses read before yielding to other work. */
const ROWS_AT_ONCE = 500

/**
 * Finds the stored page with the most similar address: the same name elsewhere, or a similar path with a similar name. The path alone is
 * not enough, because long paths in one folder share most letters.
 */
export async function findNearestPage(
  library: Pick<Library, 'clock' | 'store'>,
  sources: readonly Source[],
  text: string,
): Promise<string | undefined> {
  let nearest: Address | undefined
  let namesake: Address | undefined
  for await (const { source, urls } of visitAddresses(library, sameHostFirst(sources, text))) {
    const wantedPath = pathOf(URL.parse(text, source.siteUrl)?.href ?? text)
    const name = nameOf(wantedPath)
    const byPath = new Map(urls.map((url) => [pathOf(url), url]))
    // The earlier result comes first, so that it wins a tie.
    const similarPaths = [...byPath.keys()].filter((one) => isNear(name, nameOf(one)))
    const path = findNearest(wantedPath, [...(nearest === undefined ? [] : [nearest.path]), ...similarPaths])
    const url = path === undefined ? undefined : byPath.get(path)
    if (path !== undefined && path !== nearest?.path && url !== undefined) nearest = { path, url }
    const other = namesake === undefined && name !== '' ? similarPaths.find((one) => nameOf(one) === name) : undefined
    if (other !== undefined) namesake = { path: other, url: byPath.get(other) ?? other }
  }
  return (nearest ?? namesake)?.url
}

/** Returns the last part of a path without index file and extension: `/guide/install/index.html` → `install` */
function nameOf(path: string): string {
  const parts = (path.split('?', 1)[0] ?? '').replace(/\/(?:index\.\w+)?$/, '').split('/')
  return (parts.at(-1) ?? '').replace(/\.\w+$/, '')
}

function isNear(name: string, other: string): boolean {
  return name === other || (name !== '' && findNearest(name, [other]) !== undefined)
}

interface Address {
  readonly path: string
  readonly url: string
}

/** Sorts sources of the same host first, where the page most likely is. */
function sameHostFirst(sources: readonly Source[], text: string): readonly Source[] {
  const host = URL.parse(text)?.host
  const hostRank = ({ siteUrl }: Source) => Number(URL.parse(siteUrl)?.host !== host)
  return host === undefined ? sources : sources.toSorted((a, b) => hostRank(a) - hostRank(b))
}

/** Iterates over the addresses of stored pages in batches. */
async function* visitAddresses(
  { store, clock }: Pick<Library, 'clock' | 'store'>,
  sources: readonly Source[],
): AsyncGenerator<{ readonly source: Source; readonly urls: readonly string[] }, void, void> {
  let read = 0
  for (const source of sources) {
    for (let after: string | undefined; read < MAX_ROWS; ) {
      const rows = await store.listRows(source.id, { limit: ROWS_AT_ONCE, ...(after === undefined ? {} : { after }) })
      yield { source, urls: rows.filter(({ hasPage }) => hasPage).map(({ url }) => url) }
      // Yields, because a store in memory never waits and would block other work.
      await clock.sleep(0)
      read += rows.length
      after = rows.at(-1)?.key
      if (rows.length < ROWS_AT_ONCE) break
    }
  }
}

/** The part of an address that distinguishes pages of a site. */
function pathOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`
}
