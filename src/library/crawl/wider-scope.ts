import { countOf, writeNumber } from '../../core/text/count.ts'
import { isNegated } from '../../core/url/path-patterns.ts'
import type { Scope } from '../../core/url/scope.ts'
import type { WiderScope } from '../../crawl/addresses/wider-scope.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'

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

/** Tells an agent how to widen the scope. The scope of a source cannot change, so the source is removed and added again. */
export function writeWidening(source: Source, wider: WiderScope): string {
  const { reach, allow } = widenScope(source, wider)
  const facts = [
    `url ${source.url}`,
    `scope ${reach}`,
    ...(allow.length === 0 ? [] : [`allowPatterns ${allow.join(',')}`]),
  ]
  const last = facts.pop()
  return `remove_source with source ${writeLabel(source)}, then add_source with ${facts.join(', ')} and ${last} includes them`
}
