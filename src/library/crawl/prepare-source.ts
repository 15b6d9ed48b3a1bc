import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import { DEFAULT_SCOPE, type Scope } from '../../core/url/scope.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { CrawlRunOptions } from '../ports/store.ts'
import { isTree } from '../ports/tree.ts'
import { writeLabel } from '../search/display-text.ts'
import { type CrawlType, DEFAULT_SETTINGS, type Source, type SourceSettings } from '../source.ts'
import { findSource } from '../sources/find-source.ts'
import { reportSource } from '../sources/source-status.ts'
import { addSource, findTreeAddress, parseStart, resolveScope, type SourceInput, toName } from './add-source.ts'
import { needsHeaders } from './needs-headers.ts'
import { openRendering } from './open-rendering.ts'
import { resolvePasted } from './pasted-source.ts'
import { requireStartMilestones } from './require-milestones.ts'

/** Input for a new source and its first crawl. */
export interface PrepareSourceInput extends Omit<SourceInput, 'settings'> {
  /** `history` applies to the first crawl only; the source is stored as `intelligent`. */
  readonly settings?: Partial<Omit<SourceSettings, 'crawlType'>> & { readonly crawlType?: CrawlType }
  /** Accepts a history crawl even if too little is known about the site. */
  readonly force?: boolean | undefined
  /** Headers of the first crawl. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** `site` crawls the page of a repository or package as a web site. @default such a page means the repository or package */
  readonly as?: 'site' | undefined
}

/** A source ready for its first crawl, and what existed before. */
export interface PreparedSource {
  readonly source: Source
  /** `new`: nothing; `interrupted`: a crawl to resume; `failed`: a crawl without pages, whose source was replaced. */
  readonly found: 'new' | 'interrupted' | 'failed'
  readonly kind: CrawlKind
  /** Options of the crawl: the type for this crawl only, or the options of the interrupted one. */
  readonly options: Partial<CrawlRunOptions>
  /** What the address was understood as: `repository github.com/owner/name, folder docs`; null if it was taken as it is. */
  readonly meaning: string | null
  /** That another source has the same address; left out if none has. */
  readonly notice?: string
}

/**
 * Creates a source, or reuses one without a result: an interrupted crawl resumes with its own settings, a failed source without pages is
 * replaced. Throws `SOURCE_EXISTS` for any other. A request that cannot be crawled stores nothing.
 */
export async function prepareSource(library: Library, pasted: PrepareSourceInput): Promise<PreparedSource> {
  const { meaning = null, ...given } = await resolvePasted(library, pasted)
  const request = (await describeTree(library, given)) ?? { ...given, url: parseStart(given.url).href }
  const { input, options } = splitType(request)
  if (options.crawlType === 'history' && request.force !== true) {
    await requireStartMilestones(library, request.url)
  }
  library.siteHeaders?.require(request.url)
  if (request.settings?.render !== undefined) {
    const { url, headers, scope } = request
    const hasHeaders = await needsHeaders(library, { url, siteUrl: url, scope: DEFAULT_SCOPE }, { headers, scope })
    await openRendering(library, request.settings.render, hasHeaders)
  }
  try {
    const source = await addSource(library, input)
    return { source, found: 'new', kind: 'add', options, meaning, ...(await noteTwin(library, source)) }
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
    const source = await findSource(library, String(error.details['source']))
    if (looseKey(source.url) !== looseKey(input.url)) {
      const other = `, which is ${source.url}`
      throw new PharosError('SOURCE_EXISTS', { ...error.details, other }, { cause: error })
    }
    const { crawl, isRunning, isInterrupted, pages } = await reportSource(library, source)
    if (isRunning) throw new PharosError('CRAWL_RUNNING', { source: String(error.details['source']) }, { cause: error })
    if (crawl === null && !hasNewSettings(source, input))
      return { source, found: 'interrupted', kind: 'add', options, meaning }
    if (crawl !== null && isInterrupted && crawl.options.isFocused !== true) {
      refuseOtherTree(source, input, error)
      return { source, found: 'interrupted', kind: crawl.kind, options: crawl.options, meaning }
    }
    if ((crawl !== null && crawl.state !== 'failed') || pages > 0) throw error
    await library.store.removeSource(source.id)
    return { source: await addSource(library, input), found: 'failed', kind: 'add', options, meaning }
  }
}

/** Reports a source that has the address and version of a new one under another name. */
async function noteTwin({ store }: Library, { id, url, version }: Source): Promise<Pick<PreparedSource, 'notice'>> {
  const twin = (await store.listSources()).find(
    (source) => source.id !== id && source.version === version && looseKey(source.url) === looseKey(url),
  )
  return twin === undefined ? {} : { notice: `${writeLabel(twin)} has the same address, so its pages are stored twice` }
}

/**
 * Whether the request for a tree has other settings than the stored source. A source that was never read may have been added by mistake.
 */
function hasNewSettings(source: Source, { scope = {}, settings = {} }: SourceInput): boolean {
  if (!isTree(source)) return false
  const { tree: { ref, path } = DEFAULT_SETTINGS.tree, chunks = DEFAULT_SETTINGS.chunks } = settings
  const { tree, chunks: storedChunks } = source.settings
  if (tree.ref !== ref || tree.path !== path || storedChunks !== chunks) return true
  const fields = Object.entries(resolveScope(DEFAULT_SCOPE, scope))
  return fields.some(([name, value]) => JSON.stringify(source.scope[name as keyof Scope]) !== JSON.stringify(value))
}

/** Throws if the request names another branch or folder than the one whose reading was interrupted. */
function refuseOtherTree(source: Source, { settings }: SourceInput, cause: PharosError): void {
  const { ref, path } = source.settings.tree
  const wanted = settings?.tree
  if (!isTree(source) || wanted === undefined || (wanted.ref === ref && wanted.path === path)) return
  const words = [path === null ? 'all of it' : `folder ${path}`, ...(ref === null ? [] : [`at ${ref}`])]
  const other = `, which is not read completely yet and has ${words.join(' ')}`
  throw new PharosError('SOURCE_EXISTS', { ...cause.details, other }, { cause })
}

/** Whether the settings of a source, or of its interrupted crawl, differ from the given ones. */
export function hasOtherSettings(
  source: Source,
  { crawlType = source.settings.crawlType }: PreparedSource['options'],
  given: Readonly<Record<string, unknown>>,
): boolean {
  const stored: Readonly<Record<string, unknown>> = { ...source.scope, ...source.settings, crawlType }
  return Object.entries(given).some(([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name]))
}

/**
 * Completes the request for a tree of files with its own name and version; undefined for a web site. Throws if the tree does not exist.
 * Crawl settings of sites do not apply.
 */
async function describeTree(
  library: Pick<Library, 'trees'>,
  request: PrepareSourceInput,
): Promise<PrepareSourceInput | undefined> {
  const address = findTreeAddress(library, request)
  if (library.trees === undefined || address === undefined) return undefined
  const { chunks, tree } = request.settings ?? {}
  const { url, name, version } = await library.trees.describe(address, tree)
  // An unpinned package has another newest version tomorrow, so its version is not stored.
  const isPinned =
    treeKindOf(url) === 'repository' || (version !== undefined && url.endsWith(`@${encodeURIComponent(version)}`))
  return {
    ...request,
    url,
    name: request.name ?? (toName(name) || undefined),
    version: request.version ?? (isPinned ? version : undefined),
    settings: { ...(chunks === undefined ? {} : { chunks }), ...(tree === undefined ? {} : { tree }) },
  }
}

/** Separates settings of the source from options of its first crawl. */
function splitType({ force: _, headers: __, as: ___, settings, ...rest }: PrepareSourceInput): {
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
