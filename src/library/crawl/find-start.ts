import { keyOrText } from '../../core/url/key.ts'
import { followRedirect } from '../../core/url/reach.ts'
import { isFilterReason } from '../../crawl/ledger-reasons.ts'
import type { Library } from '../library.ts'
import { isTree } from '../ports/tree.ts'
import type { Source } from '../source.ts'

/** Returns the address that the start redirects to, or the start itself if the redirect target was not read. */
export async function findStartUrl(
  { store, limits }: Pick<Library, 'limits' | 'store'>,
  { id, url }: Source,
): Promise<string> {
  let row = await store.findRow(id, keyOrText(url))
  for (let step = 0; row?.reason === 'redirect' && row.target !== null && step < limits.redirects; step++) {
    row = await store.findRow(id, row.target)
  }
  if (row === undefined || row.state === 'failed' || row.reason === 'redirect' || isFilterReason(row.reason)) return url
  return row.url
}

/** Returns the site address according to the last crawl. A temporary redirect of the start is not stored with the source. */
export async function findSiteUrl(library: Pick<Library, 'limits' | 'store'>, source: Source): Promise<string> {
  if (isTree(source)) return source.url
  return followRedirect(source.siteUrl, await findStartUrl(library, source))
}
