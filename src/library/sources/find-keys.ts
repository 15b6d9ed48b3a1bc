import { parseHttp } from '../../core/url/key.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { Library } from '../library.ts'
import { keysOf } from '../ports/tree.ts'
import type { Source } from '../source.ts'

const ROWS_AT_ONCE = 1000

/**
 * Lists keys that a source may store an address under, likeliest first. The web address of a file in a package does not reveal its path, so
 * it is looked up among the stored addresses.
 */
export async function findKeys(
  library: Pick<Library, 'store' | 'trees'>,
  source: Source,
  text: string,
): Promise<string[]> {
  const keys = keysOf(library, source, text)
  if (keys.length > 0 || treeKindOf(source.url) !== 'package' || parseHttp(text) === undefined) return keys
  const url = text.replace(/#.*$/s, '')
  for (let after: string | undefined; ; ) {
    const rows = await library.store.listRows(source.id, {
      limit: ROWS_AT_ONCE,
      ...(after === undefined ? {} : { after }),
    })
    const found = rows.filter((row) => row.url === url)
    if (found.length > 0 || rows.length < ROWS_AT_ONCE) return found.map(({ key }) => key)
    after = rows.at(-1)?.key
  }
}
