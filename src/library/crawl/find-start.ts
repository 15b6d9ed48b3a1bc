import { keyOrText } from '../../core/url/key.ts'
import { isBelowStart } from '../../core/url/reach.ts'
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
  const site = new URL(source.siteUrl)
  const start = new URL(await findStartUrl(library, source))
  const isInside = isBelowStart(start, site)
  if (start.origin === site.origin && isInside) return source.siteUrl
  return isInside ? new URL(site.pathname, start.origin).href : start.href
}
