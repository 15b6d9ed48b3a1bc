import { type ErrorCode, PharosError } from '../../core/errors.ts'
import type { CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import type { PreparedSource } from './prepare-source.ts'

/** Removes a prepared source whose crawl could not be started. A source with an interrupted crawl stays. */
export async function withdrawUnstarted(
  { store }: Pick<Library, 'store'>,
  { source, found }: PreparedSource,
): Promise<void> {
  if (found !== 'interrupted') await store.removeSource(source.id)
}

/** Removes a source without pages whose first crawl could read nothing, unless a browser could read it. */
export async function withdrawUseless(
  { store }: Pick<Library, 'store'>,
  { id }: Source,
  { kind, end, uselessReason }: CrawlSummary,
): Promise<void> {
  const isUseless = end === 'failed' && uselessReason !== null && uselessReason !== 'needs-rendering'
  if (kind === 'add' && isUseless) await store.removeSource(id, { onlyEmpty: true })
}

/** Errors of a first crawl that the user has to correct. */
const START_FAILURES: ReadonlySet<ErrorCode> = new Set([
  'CRAWL_START_FAILED',
  'BROWSER_MISSING',
  'SOURCE_NOT_FOUND',
  'SOURCE_UNREADABLE',
  'USAGE',
])

/** Removes a source without pages after a first crawl with an error that the user has to correct. */
export async function withdrawAfterFailure(
  { store }: Pick<Library, 'store'>,
  { id }: Source,
  kind: CrawlKind,
  error: unknown,
): Promise<void> {
  const isStartFailure = kind === 'add' && error instanceof PharosError && START_FAILURES.has(error.code)
  if (isStartFailure) await store.removeSource(id, { onlyEmpty: true })
}
