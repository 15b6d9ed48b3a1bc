import { countOf, writeNumber } from '../../core/text/count.ts'
import { readPastedAddress } from '../../core/url/pasted-address.ts'
import { isNegated } from '../../core/url/path-patterns.ts'
import type { Scope } from '../../core/url/scope.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { WiderScope } from '../../crawl/addresses/wider-scope.ts'
import { quoteSpaced, writeLabel } from '../search/display-text.ts'
import { DEFAULT_SETTINGS, type Source, type SourceSettings } from '../source.ts'

export type { WiderScope } from '../../crawl/addresses/wider-scope.ts'

/** Returns a scope that admits what the source's own scope refused. */
export function widenScope({ scope }: Pick<Source, 'scope'>, { folder }: WiderScope): Pick<Scope, 'reach' | 'allow'> {
  return { reach: 'hostname', allow: folder === null ? scope.allow : [`${folder}**`, ...scope.allow.filter(isNegated)] }
}

/** Example: `the scope left only the start page: it refused 4 addresses of the site (2 of them listed by llms.txt or a sitemap)` */
export function writeWiderScope({ pages, refused, listed }: WiderScope): string {
  const left = pages === 1 ? 'the start page' : countOf(pages, 'page')
  const lists = listed === 0 ? '' : ` (${writeNumber(listed)} of them listed by llms.txt or a sitemap)`
  return `the scope left only ${left}: it refused ${countOf(refused, 'address')} of the site${lists}`
}

/** Describes the wider scope for users without a command line. */
export function adviseWidening(source: Source, wider: WiderScope): string {
  const { allow } = widenScope(source, wider)
  const paths = allow.length === 0 ? '' : ` and only paths like ${allow.join(', ')}`
  return `${writeWiderScope(wider)}; the scope “the whole host”${paths} would include them`
}

/** The settings of a source that its user chose, without further start addresses. */
export function listChangedSettings(settings: SourceSettings): Partial<SourceSettings> {
  const names = ['llmsTxtUrl', 'llmsFull', 'crawlType', 'render', 'chunks'] as const
  return Object.fromEntries(
    names.filter((name) => settings[name] !== DEFAULT_SETTINGS[name]).map((name) => [name, settings[name]]),
  )
}

/** Whether the address of a site would be read as a repository or package if it were given alone. */
export function isReadAsSite({ url }: Pick<Source, 'url'>): boolean {
  return treeKindOf(url) === undefined && treeKindOf(readPastedAddress(url).url) !== undefined
}

/** Tells an agent how to widen the scope. The scope of a source cannot change, so the source is removed and added again. */
export function writeWidening(source: Source, wider: WiderScope): string {
  const { reach, allow } = widenScope(source, wider)
  const { name, version, scope, url, settings } = source
  const as = isReadAsSite(source) ? 'site' : null
  const { llmsTxtUrl, render, chunks } = listChangedSettings(settings)
  const patterns = { allowPatterns: allow.join(','), blockPatterns: scope.block.join(',') }
  const { maxDepth, maxPages } = scope
  const given = { url, as, name, version, scope: reach, ...patterns, maxDepth, maxPages, llmsTxtUrl, render, chunks }
  const facts = Object.entries(given).flatMap(([key, value]) => {
    return value === null || value === undefined || value === '' ? [] : [`${key} ${quoteSpaced(String(value))}`]
  })
  const last = facts.pop()
  return `remove_source with source ${writeLabel(source)}, then add_source with ${facts.join(', ')} and ${last} includes them`
}
