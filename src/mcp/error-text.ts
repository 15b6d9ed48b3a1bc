import { type ErrorCode, messageOf, PharosError } from '../core/errors.ts'
import { redactSecrets } from '../core/secrets.ts'
import { oneLine } from '../library/search/display-text.ts'

/** Advice that names tools, because the error table advises users of the command line. */
const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  USAGE: 'correct the arguments; the schema of the tool lists them',
  SOURCE_UNKNOWN: 'list_sources lists the sources; refer to one by its id, name, name@version or start URL',
  SOURCE_EXISTS: 'crawl it again with recrawl_source, or give another name or version',
  SOURCE_IMPORTED: 'import it again with add_source and prechunked: that replaces the earlier import',
  VERSION_UNKNOWN:
    'find_version shows the versions; ask for one of them, a range such as 5.x, or latest; leave it out if there are none',
  CRAWL_RUNNING: 'wait for it to end, or stop it with cancel_crawl; crawl_status shows its progress',
  JOBS_FULL: 'wait for one of them to end, then repeat the call; crawl_status lists the crawls, cancel_crawl stops one',
  CRAWL_UNKNOWN: 'crawl_status without arguments lists the crawls; a crawl is named by its id, a UUID',
  CRAWL_NOT_RUNNING: 'crawl_status shows the running or the last crawl',
  CRAWL_UNFINISHED: 'finish it with recrawl_source first',
  CRAWL_LOSS: 'repeat the call with acceptLoss if the pages that would be removed are really gone',
  CHUNK_UNKNOWN:
    'a chunk is named by <source>/<id>, by its id, or by its first twelve characters or more; search_docs gives the names',
  CHUNK_NOT_FOUND: 'search_docs and list_symbols give the refs of chunks',
  FILE_NOT_IN_PACK: 'search_docs cites the paths of files; list_sources lists the packs',
  PAGE_UNKNOWN: 'search_docs gives the addresses of stored pages; fetch_url reads other pages',
  URL_INVALID:
    'give an address that begins with http:// or https://, an archive, a repository (owner/name) or a package (npm:react)',
  INTERNAL: 'this is a defect of Pharos; `pharos doctor` checks the installation',
}

/** Advice for read-only servers, which lack the tools that write or fetch. */
const READ_ONLY_ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  PAGE_UNKNOWN: 'search_docs gives the addresses of stored pages',
}

/** Advice about failed fetches, in place of advice that names command-line flags. */
const FETCH_ADVICE: Readonly<Record<string, string>> = {
  'address-refused': 'only the owner of this server can allow private addresses, with --allow-private when it starts',
  'robots-disallow': 'the site asks robots not to read this page',
  'robots-unreachable': 'try again later',
  'too-large': 'only the owner of this server can let larger pages in, with --max-page-bytes when it starts',
  redirect: 'ask for that address instead, or leave out followRedirects',
  'http-client-error': 'it may need a login, which cannot be given here; else check the address',
}

/** Advice about a failed fetch; undefined if there is none for its reason. */
export function adviseFetch(reason: string): string | undefined {
  return FETCH_ADVICE[reason]
}

/** Advice about a response that could not be read as a page. */
const PAGE_ADVICE: Readonly<Record<string, string>> = {
  'needs-rendering': 'fetch it with render auto, which needs a browser where this server runs',
}
const BROWSER_ADVICE = 'open it in a browser to see what it shows'

/** For a page of a code host that names no repository. */
const AS_SITE_ADVICE = 'give the address of a repository, or crawl the page itself with as site'

/** Describes a failure for an agent: what happened, and what to do (or the given advice). The text always begins with `Error`. */
export function writeError(error: unknown, isReadOnly = false, givenAdvice?: string): string {
  const failure = toPharosError(error)
  const { code, message, entry, details } = failure
  const [reason = ''] = String(details['problem'] ?? '').split(',', 1)
  const isRefused = details['reason'] === 'address-refused'
  const fetchAdvice =
    code === 'FETCH_FAILED' || isRefused
      ? adviseFetch(isRefused ? 'address-refused' : reason)
      : writePageAdvice(failure)
  const codeAdvice = (isReadOnly ? READ_ONLY_ADVICE[code] : undefined) ?? ADVICE[code]
  const siteAdvice = details['as'] === 'site' ? AS_SITE_ADVICE : undefined
  return `Error (${code}): ${oneLine(redactSecrets(message))} – ${givenAdvice ?? siteAdvice ?? fetchAdvice ?? codeAdvice ?? entry.advice}`
}

function writePageAdvice({ code, details }: PharosError): string | undefined {
  if (code !== 'PAGE_REFUSED') return undefined
  return PAGE_ADVICE[String(details['reason'])] ?? BROWSER_ADVICE
}

function toPharosError(error: unknown): PharosError {
  if (error instanceof PharosError) return error
  const problem = messageOf(error)
  return new PharosError('INTERNAL', { problem }, { cause: error })
}
