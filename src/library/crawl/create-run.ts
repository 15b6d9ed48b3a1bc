import type { Scope } from '../../core/url/scope.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import type { Library } from '../library.ts'
import type { Crawl, CrawlRunOptions } from '../ports/store.ts'
import { isTree } from '../ports/tree.ts'
import type { Source } from '../source.ts'
import { resolveScope } from './add-source.ts'

/** Whether a crawl discovers new addresses instead of only checking known ones. */
export function isDiscovering(kind: CrawlKind): boolean {
  return kind === 'add' || kind === 'recrawl'
}

/** Returns the last crawl of a source if it is unfinished and the request matches it. */
export function findInterrupted(last: Crawl | undefined, requested: Crawl): Crawl | undefined {
  const isUnfinished = last?.state === 'running' || last?.state === 'cancelled'
  // A full run also covers what an interrupted partial run had to do.
  if (last === undefined || !isUnfinished || last.options.isFocused === true) return undefined
  const isSameKind = last.kind === requested.kind || (last.kind === 'add' && requested.kind === 'recrawl')
  const isDefault = JSON.stringify(requested.options) === JSON.stringify(DEFAULT_OPTIONS)
  const isSame = JSON.stringify(requested.options) === JSON.stringify(last.options)
  return isSameKind && (isDefault || isSame) ? last : undefined
}

/**
 * Restarts an interrupted run over a tree with its kind and options, because the tree may have changed. Stamps identify files unchanged
 * since they were read.
 */
export function restartInterrupted(requested: Crawl, interrupted: Crawl | undefined): Crawl {
  return interrupted === undefined ? requested : { ...requested, kind: interrupted.kind, options: interrupted.options }
}

/** Creates the parameters of a crawl run. */
export function createRun(
  library: Pick<Library, 'limits' | 'siteHeaders'>,
  source: Source,
  { id, kind, options }: Crawl,
  { headers, isResumed }: Pick<CrawlRun, 'headers' | 'isResumed'>,
): CrawlRun {
  const { crawlType: defaultType, chunks: _, ...settings } = source.settings
  const crawlType = options.crawlType ?? defaultType
  const scope = resolveScope(source.scope, options.scope)
  const { full, acceptLoss, discover, maxAgeMs, maxAgeMsOf } = options
  return {
    crawlId: id,
    sourceId: source.id,
    kind,
    isResumed,
    startUrl: source.url,
    siteUrl: source.siteUrl,
    ...settings,
    scope,
    isScopeChanged: !isSameReach(source, scope) || crawlType !== defaultType,
    usesLlmsTxt: crawlType === 'docs',
    usesSitemaps: crawlType !== 'basic',
    followsLinks: crawlType !== 'sitemap-only' && settings.llmsFull !== 'only',
    full,
    acceptLoss,
    discover,
    maxAgeMs,
    maxAgeMsOf,
    headers,
    ...(library.siteHeaders === undefined ? {} : { siteHeaders: library.siteHeaders }),
    limits: library.limits,
  }
}

/**
 * Whether a run admits the same addresses as its source. Limits are ignored: a page limit that is reached is reported separately, and the
 * crawl of a site leaves pages beyond its depth limit alone.
 */
function isSameReach(source: Source, { maxPages, maxDepth, ...reach }: Scope): boolean {
  const { scope } = source
  return JSON.stringify(scope) === JSON.stringify({ ...scope, ...reach, ...(isTree(source) && { maxDepth }) })
}

export const DEFAULT_OPTIONS: CrawlRunOptions = {
  full: false,
  acceptLoss: false,
  discover: false,
  maxAgeMs: 0,
  maxAgeMsOf: {},
  scope: {},
}
