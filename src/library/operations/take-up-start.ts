import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Scope } from '../../core/url/scope.ts'
import type { PageKind, Rendering } from '../../crawl/ports.ts'
import type { PlannerOptions } from '../../plan/planner-options.ts'
import type { Library } from '../library.ts'
import type { CrawlType, Source } from '../source.ts'
import type { CrawlRunOptions } from '../store.ts'
import { findTree, parseStart } from './add-source.ts'
import type { CrawlInput } from './crawl-source.ts'
import { type TakenUp, type TakeUpInput, takeUpSource } from './take-up-source.ts'

/** A crawl of whatever starts at an address. What is not said is left to the source, where there is one. */
export interface StartInput {
  readonly url: string
  readonly scope: Partial<Scope>
  readonly crawlType?: CrawlType | undefined
  /** How its pages are read: the source keeps it. */
  readonly render?: Rendering | undefined
  readonly maxAgeMs?: number | undefined
  readonly maxAgeMsOf?: Readonly<Partial<Record<PageKind, number>>>
  readonly planner?: PlannerOptions | undefined
  /** Begins although not everything is known of the site that ought to be. */
  readonly force?: boolean | undefined
}

/** What a source that nobody knows yet gets, on top of what is said: its host, as far as a few links lead. */
const NEW_SCOPE: Partial<Scope> = { reach: 'hostname', maxDepth: 2 }
const NEW_TYPE: CrawlType = 'basic-with-sitemap'

/**
 * Finds the source that starts at an address, or records one, and says what is to be asked of its crawl. A source that is there
 * keeps what it has: what is said holds for this crawl only. One that was interrupted with the same goes on.
 */
export async function takeUpStart(
  library: Library,
  input: StartInput,
): Promise<{ readonly source: Source; readonly input: CrawlInput }> {
  const { scope, crawlType, render, maxAgeMs, maxAgeMsOf, planner, force } = input
  const tree = findTree(library, input)
  const url = tree ?? parseStart(input.url).href
  const fresh: Partial<CrawlRunOptions> = {
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    ...(maxAgeMsOf === undefined ? {} : { maxAgeMsOf }),
    ...(planner === undefined ? {} : { planner }),
    ...(force === true ? { force } : {}),
  }
  const known = await findByStart(library, url)
  if (known === undefined) {
    const asked: TakeUpInput = {
      url,
      force,
      // Files are not linked: folders may be as deep as they are.
      scope: tree === undefined ? { ...NEW_SCOPE, ...scope } : scope,
      settings: { crawlType: crawlType ?? NEW_TYPE, ...(render === undefined ? {} : { render }) },
    }
    const { source, kind, options } = await takeUpUnder(library, asked)
    return { source, input: { kind, ...options, ...fresh } }
  }
  const options: Partial<CrawlRunOptions> = {
    scope: withoutKnown(scope, known.scope),
    ...(tree !== undefined || crawlType === undefined || crawlType === known.settings.crawlType ? {} : { crawlType }),
    ...fresh,
  }
  return {
    source: known,
    input: { kind: 'recrawl', ...options, ...(render === undefined || tree !== undefined ? {} : { render }) },
  }
}

/** Records a source under the first name that is free: whoever asks by an address gives none. */
async function takeUpUnder(library: Library, input: TakeUpInput, number = 1): Promise<TakenUp> {
  try {
    return await takeUpSource(library, input)
  } catch (error) {
    const isTaken = error instanceof PharosError && error.code === 'SOURCE_EXISTS'
    if (!isTaken || number === MOST_NAMES) throw error
    const [taken = ''] = String(error.details['source']).split('@', 1)
    const base = number === 1 ? taken : (input.name ?? '').replace(/-\d+$/, '')
    return takeUpUnder(library, { ...input, name: `${base}-${number + 1}` }, number + 1)
  }
}

/** So many sources may have the host and path of their start in common: by other schemes, queries or spellings. */
const MOST_NAMES = 100

/** The source that starts at an address; of several, the one that was added last. */
async function findByStart({ store }: Library, url: string): Promise<Source | undefined> {
  const sources = (await store.listSources()).filter((source) => looseKey(source.url) === looseKey(url))
  return sources.toSorted((a, b) => b.createdAt - a.createdAt)[0]
}

/** What differs from a scope. */
function withoutKnown(given: Partial<Scope>, known: Scope): Partial<Scope> {
  const names = Object.keys(given) as (keyof Scope)[]
  const other = names.filter((name) => JSON.stringify(given[name]) !== JSON.stringify(known[name]))
  return Object.fromEntries(other.map((name) => [name, given[name]]))
}
