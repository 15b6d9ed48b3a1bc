import { keyInScope, keyOrText } from '../../core/url/key.ts'
import { foldKey } from '../../core/url/spelling.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { parseScope } from './source-record.ts'

/*
 * Migration of rows of earlier versions. Those versions dropped a trailing slash and display parameters such as `ref` from keys, because
 * they considered them meaningless.
 */

/**
 * The current address of a row. Earlier versions followed a redirect within one visit if both addresses had the same key; then `contentUrl`
 * is the address of the page.
 */
export function currentUrl(url: string, contentUrl: string | null): string {
  const isSpelling = contentUrl !== null && foldKey(keyOrText(contentUrl)) === foldKey(keyOrText(url))
  return isSpelling ? contentUrl : url
}

/**
 * The key that this version gives an address of a source; null if the source is not a web site or the text is not a web address. `scope`
 * is the stored JSON.
 */
export function currentKey(sourceUrl: string, scope: string, url: string): string | null {
  return treeKindOf(sourceUrl) === undefined ? (keyInScope(parseScope(scope), url) ?? null) : null
}
