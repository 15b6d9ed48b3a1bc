import { type ErrorCode, PharosError } from '../core/errors.ts'
import type { SharedState } from './shared-state.ts'

/** Tells an agent how a library without sources gets its first one. A read-only server cannot add it. */
export function writeEmptyLibrary(isReadOnly: boolean): string {
  return isReadOnly
    ? 'The library has no sources yet, and this server is read-only: ask the user to run `pharos add <url>` with the address of the documentation.'
    : 'The library has no sources yet. Call add_source with the url of the documentation: a site (https://docs.python.org/3/), a repository (owner/name) or a package (npm:react, pypi:requests). Poll crawl_status until it ends, then ask again.'
}

/** Errors about something that is not in the library. */
const NOT_FOUND: ReadonlySet<ErrorCode> = new Set([
  'LIBRARY_MISSING',
  'SOURCE_UNKNOWN',
  'VERSION_UNKNOWN',
  'PAGE_UNKNOWN',
  'CHUNK_UNKNOWN',
])

/** Whether a call failed because the library has no sources. */
export async function failedOnEmptyLibrary(
  { library }: Pick<SharedState, 'library'>,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof PharosError) || !NOT_FOUND.has(error.code)) return false
  if (error.code === 'LIBRARY_MISSING') return true
  try {
    return (await (await library()).store.listSources()).length === 0
  } catch {
    // The error of the call itself is reported.
    return false
  }
}
