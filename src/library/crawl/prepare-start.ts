import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Scope } from '../../core/url/scope.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import type { PageKind, Rendering } from '../../crawl/ports.ts'
import type { Library } from '../library.ts'
import type { CrawlRunOptions } from '../ports/store.ts'
import type { CrawlType, Source } from '../source.ts'
import { findTreeAddress, parseStart } from './add-source.ts'
import type { CrawlInput } from './crawl-source.ts'
import { resolvePasted } from './pasted-source.ts'
import { type PreparedSource, type PrepareSourceInput, prepareSource } from './prepare-source.ts'

/** A request to crawl an address. Omitted fields come from the source, if it exists. */
export interface StartInput {
  readonly url: string
  readonly scope: Partial<Scope>
  readonly crawlType?: CrawlType | undefined
  /** Rendering mode, stored with the source. */
  readonly render?: Rendering | undefined
  readonly maxAgeMs?: number | undefined
  readonly maxAgeMsOf?: Readonly<Partial<Record<PageKind, number>>>
  readonly planner?: PlannerOptions | undefined
  /** Starts even if too little is known about the site. */
  readonly force?: boolean | undefined
}

/** Limits of a request that gives none; they hold for its run. */
export const DEFAULT_LIMITS = { maxDepth: 2, maxPages: null } as const
const NEW_TYPE: CrawlType = 'basic-with-sitemap'

/**
 * Finds the source with a start address, or creates it, and returns the input of its crawl. Limits apply to this crawl only, and so do
 * other options if the source exists. An interrupted crawl with the same options resumes.
 */
export async function prepareStart(
  library: Library,
  input: StartInput,
): Promise<{ readonly source: Source; readonly input: CrawlInput }> {
  const { crawlType, render, maxAgeMs, maxAgeMsOf, planner, force } = input
  const pasted = await resolvePasted(library, { url: input.url, settings: {} })
  const tree = findTreeAddress(library, pasted)
  const url = tree ?? parseStart(pasted.url).href
  const runOptions: Partial<CrawlRunOptions> = {
    ...withoutUndefined({ maxAgeMs, maxAgeMsOf, planner }),
    ...(force === true ? { force } : {}),
  }
  const known = await findByStart(library, url)
  // Link depth does not apply to files.
  const scope = tree === undefined ? { ...DEFAULT_LIMITS, ...input.scope } : input.scope
  if (known === undefined) {
    const { maxDepth: _, maxPages: __, ...lasting } = scope
    const sourceInput: PrepareSourceInput = {
      url,
      force,
      scope: tree === undefined ? { reach: 'hostname', ...lasting } : lasting,
      settings: { ...pasted.settings, crawlType: crawlType ?? NEW_TYPE, ...(render === undefined ? {} : { render }) },
    }
    const { source, kind, options } = await prepareUnderFreeName(library, sourceInput)
    return { source, input: { kind, scope: pickScopeChanges(scope, source.scope), ...options, ...runOptions } }
  }
  const options: Partial<CrawlRunOptions> = {
    scope: pickScopeChanges(scope, known.scope),
    ...(tree !== undefined || crawlType === undefined || crawlType === known.settings.crawlType ? {} : { crawlType }),
    ...runOptions,
  }
  return {
    source: known,
    input: { kind: 'recrawl', ...options, ...(render === undefined || tree !== undefined ? {} : { render }) },
  }
}

/** Creates a source under the first free name, because a request by address gives no name. */
async function prepareUnderFreeName(library: Library, input: PrepareSourceInput, number = 1): Promise<PreparedSource> {
  try {
    return await prepareSource(library, input)
  } catch (error) {
    const isTaken = error instanceof PharosError && error.code === 'SOURCE_EXISTS'
    if (!isTaken || number === MAX_NAMES) throw error
    const [taken = ''] = String(error.details['source']).split('@', 1)
    const base = number === 1 ? taken : (input.name ?? '').replace(/-\d+$/, '')
    return prepareUnderFreeName(library, { ...input, name: `${base}-${number + 1}` }, number + 1)
  }
}

/** Maximum number of sources with the same host and path, which may differ in scheme, query or spelling. */
const MAX_NAMES = 100

/** Finds the source with a start address; of several, the newest. */
async function findByStart({ store }: Pick<Library, 'store'>, url: string): Promise<Source | undefined> {
  const sources = (await store.listSources()).filter((source) => looseKey(source.url) === looseKey(url))
  return sources.toSorted((a, b) => b.createdAt - a.createdAt)[0]
}

/** Returns the fields that differ from a scope. */
function pickScopeChanges(given: Partial<Scope>, known: Scope): Partial<Scope> {
  const names = Object.keys(given) as (keyof Scope)[]
  const changed = names.filter((name) => JSON.stringify(given[name]) !== JSON.stringify(known[name]))
  return Object.fromEntries(changed.map((name) => [name, given[name]]))
}
