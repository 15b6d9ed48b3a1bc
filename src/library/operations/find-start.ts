import { keyOrText } from '../../core/url/key.ts'
import { isBelowStart } from '../../core/url/reach.ts'
import { isGateReason } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { isTree } from '../tree.ts'

/** The address that the redirects of the start lead to; the start itself where they lead to nothing that was read. */
export async function findStartUrl({ store, limits }: Library, { id, url }: Source): Promise<string> {
  let row = await store.findRow(id, keyOrText(url))
  for (let step = 0; row?.reason === 'redirect' && row.target !== null && step < limits.redirects; step++) {
    row = await store.findRow(id, row.target)
  }
  if (row === undefined || row.state === 'failed' || row.reason === 'redirect' || isGateReason(row.reason)) return url
  return row.url
}

/** Where the site of a source is by its last crawl. What the start leads to for now only is not kept with the source. */
export async function findSiteUrl(library: Library, source: Source): Promise<string> {
  if (isTree(source)) return source.url
  const site = new URL(source.siteUrl)
  const start = new URL(await findStartUrl(library, source))
  const isInside = isBelowStart(start, site)
  if (start.origin === site.origin && isInside) return source.siteUrl
  return isInside ? new URL(site.pathname, start.origin).href : start.href
}
