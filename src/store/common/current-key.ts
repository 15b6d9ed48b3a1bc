import { keyInScope, keyOrText } from '../../core/url/key.ts'
import { foldKey } from '../../core/url/spelling.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { parseScope } from './source-record.ts'

/* For the migration of rows whose keys lack the slash at the end and display keys such as `ref`: earlier versions took them for nothing. */

/** The address of a row. Earlier versions followed a redirect within one visit where both addresses had one key: then it led to the page. */
export function currentUrl(url: string, contentUrl: string | null): string {
  const isSpelling = contentUrl !== null && foldKey(keyOrText(contentUrl)) === foldKey(keyOrText(url))
  return isSpelling ? contentUrl : url
}

/**
 * The key that this version gives an address of a source; null where the source is no web site, or the text no web address. `scope` is
 * the JSON that a store keeps.
 */
export function currentKey(sourceUrl: string, scope: string, url: string): string | null {
  return treeKindOf(sourceUrl) === undefined ? (keyInScope(parseScope(scope), url) ?? null) : null
}
