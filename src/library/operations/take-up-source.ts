import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import { DEFAULT_SCOPE, type Scope } from '../../core/url/scope.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import { type CrawlType, DEFAULT_SETTINGS, type Source, type SourceSettings } from '../source.ts'
import type { CrawlRunOptions } from '../store.ts'
import { isTree } from '../tree.ts'
import { addSource, findTree, parseStart, resolveScope, type SourceInput, toName } from './add-source.ts'
import { findSource } from './find-source.ts'
import { openRendering } from './open-rendering.ts'
import { requireUnderstoodStart } from './require-understood.ts'
import { reportSource } from './source-status.ts'

/** What a source is made from, and what is asked of its first crawl. */
export interface TakeUpInput extends Omit<SourceInput, 'settings'> {
  /** `history` is the type of that crawl alone: the source stays `intelligent`. */
  readonly settings?: Partial<Omit<SourceSettings, 'crawlType'>> & { readonly crawlType?: CrawlType }
  /** Takes it up although not enough is known of the site for a crawl of its history. */
  readonly force?: boolean | undefined
  /** Fields that its first crawl is to send. @default none */
  readonly headers?: Readonly<Record<string, string>>
}

/** A source that is to be crawled for the first time, and what was found of it. */
export interface TakenUp {
  readonly source: Source
  /** `new`: nothing; `interrupted`: a crawl that goes on; `failed`: one that brought nothing, whose source was replaced. */
  readonly found: 'new' | 'interrupted' | 'failed'
  readonly kind: CrawlKind
  /** What is asked of its crawl: the type that holds for it alone, or what the interrupted one was asked for. */
  readonly options: Partial<CrawlRunOptions>
}

/**
 * Records a source, or takes up one that was recorded before and never came to anything: an interrupted crawl is to go on with
 * the settings it began with, one that failed without a page gives way to what is asked for now. Every other one is refused
 * with `SOURCE_EXISTS`. What cannot be crawled as it is asked for leaves nothing behind.
 */
export async function takeUpSource(library: Library, given: TakeUpInput): Promise<TakenUp> {
  const asked = (await describeTree(library, given)) ?? { ...given, url: parseStart(given.url).href }
  const { input, options } = splitType(asked)
  if (options.crawlType === 'history' && asked.force !== true) {
    await requireUnderstoodStart(library, asked.url)
  }
  if (asked.settings?.render !== undefined) await openRendering(library, asked.settings.render, asked.headers)
  try {
    return { source: await addSource(library, input), found: 'new', kind: 'add', options }
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
    const source = await findSource(library, String(error.details['source']))
    if (looseKey(source.url) !== looseKey(input.url)) {
      const other = `, which is ${source.url}`
      throw new PharosError('SOURCE_EXISTS', { ...error.details, other }, { cause: error })
    }
    const { crawl, isRunning, isInterrupted, pages } = await reportSource(library, source)
    if (isRunning) throw new PharosError('CRAWL_RUNNING', { source: String(error.details['source']) }, { cause: error })
    if (crawl === null && !isAskedAnew(source, input)) return { source, found: 'interrupted', kind: 'add', options }
    if (crawl !== null && isInterrupted && crawl.options.isFocused !== true) {
      return { source, found: 'interrupted', kind: crawl.kind, options: crawl.options }
    }
    if ((crawl !== null && crawl.state !== 'failed') || pages > 0) throw error
    await library.store.removeSource(source.id)
    return { source: await addSource(library, input), found: 'failed', kind: 'add', options }
  }
}

/** Whether something else is asked of a tree than what was written down when nobody had looked at it yet: that may have been a mistake. */
function isAskedAnew(source: Source, { scope = {}, settings = {} }: SourceInput): boolean {
  if (!isTree(source)) return false
  const { tree: { ref, path } = DEFAULT_SETTINGS.tree, chunks = DEFAULT_SETTINGS.chunks } = settings
  const { tree, chunks: kept } = source.settings
  if (tree.ref !== ref || tree.path !== path || kept !== chunks) return true
  const fields = Object.entries(resolveScope(DEFAULT_SCOPE, scope))
  return fields.some(([name, value]) => JSON.stringify(source.scope[name as keyof Scope]) !== JSON.stringify(value))
}

/**
 * What is asked where a tree of files is meant, with what it says of itself; undefined for a web site. One that is not there is refused.
 * How a site is crawled says nothing of it.
 */
async function describeTree(library: Library, asked: TakeUpInput): Promise<TakeUpInput | undefined> {
  const address = findTree(library, asked)
  if (library.trees === undefined || address === undefined) return undefined
  const { chunks, tree } = asked.settings ?? {}
  const { url, name, version } = await library.trees.describe(address, tree)
  // The newest version of a package is another one tomorrow.
  const isPinned =
    treeKindOf(url) === 'repository' || (version !== undefined && url.endsWith(`@${encodeURIComponent(version)}`))
  return {
    ...asked,
    url,
    name: asked.name ?? (toName(name) || undefined),
    version: asked.version ?? (isPinned ? version : undefined),
    settings: { ...(chunks === undefined ? {} : { chunks }), ...(tree === undefined ? {} : { tree }) },
  }
}

/** Tells what a source keeps from what holds for its first crawl. */
function splitType({ force: _, headers: __, settings, ...rest }: TakeUpInput): {
  readonly input: SourceInput
  readonly options: Partial<CrawlRunOptions>
} {
  const { crawlType, ...others } = settings ?? {}
  if (crawlType === undefined) return { input: { ...rest, settings: others }, options: {} }
  const isHistory = crawlType === 'history'
  return {
    input: { ...rest, settings: { ...others, crawlType: isHistory ? 'intelligent' : crawlType } },
    options: isHistory ? { crawlType } : {},
  }
}
