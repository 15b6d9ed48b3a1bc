import { findNearest } from '../../core/text/nearest.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/** So many addresses of a source are compared, so many at a time. */
const MOST_ROWS = 20_000
const ROWS_AT_ONCE = 1000

/** The address of a stored page that is most like one that is not there: the same name elsewhere, or nearly the same path. */
export async function findNearestPage(
  library: Library,
  sources: readonly Source[],
  text: string,
): Promise<string | undefined> {
  const byPath = new Map<string, string>()
  let wanted = ''
  for (const source of sources) {
    wanted = pathOf(URL.parse(text, source.siteUrl)?.href ?? text)
    for (const url of await listAddresses(library, source)) byPath.set(pathOf(url), url)
  }
  const name = wanted.slice(wanted.lastIndexOf('/'))
  const paths = [...byPath.keys()]
  const nearest =
    findNearest(wanted, paths) ?? (name.length > 1 ? paths.find((path) => path.endsWith(name)) : undefined)
  return nearest === undefined ? undefined : byPath.get(nearest)
}

async function listAddresses({ store }: Library, { id }: Source): Promise<string[]> {
  const urls: string[] = []
  let after: string | undefined
  for (let read = 0; read < MOST_ROWS; read += ROWS_AT_ONCE) {
    const rows = await store.listRows(id, { limit: ROWS_AT_ONCE, ...(after === undefined ? {} : { after }) })
    urls.push(...rows.filter(({ hasPage }) => hasPage).map(({ url }) => url))
    after = rows.at(-1)?.key
    if (rows.length < ROWS_AT_ONCE) break
  }
  return urls
}

/** What tells the pages of a site apart. */
function pathOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`
}
