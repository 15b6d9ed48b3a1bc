import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type Variables,
} from '@modelcontextprotocol/server'
import { PharosError, usageError } from '../core/errors.ts'
import { writeTime } from '../core/text/iso-time.ts'
import { decodePart } from '../core/url/decode-part.ts'
import { timeOrNull } from '../library/search/display-text.ts'
import { isUuid } from './arguments.ts'
import { isState, isStateFilter, STATE_FILTERS } from './crawl-states.ts'
import { writeError } from './error-text.ts'
import type { PackExport } from './pack-exports.ts'
import { crawlRecord, reportRecord, sourceRecord } from './records.ts'
import type { SharedState } from './shared-state.ts'

/** Maximum number of listed crawls, and of addresses per crawl. */
const MAX_LISTED = 200

/** Adds the resources to a server. Listing them does not open the library. */
export function addResources(server: McpServer, shared: SharedState): void {
  const mimeType = 'application/json'
  server.registerResource(
    'sources',
    'docs://sources',
    { title: 'Sources', description: 'Every indexed source with its status and size.', mimeType },
    (uri) => answer(uri, () => readSources(shared)),
  )
  server.registerResource(
    'versions',
    new ResourceTemplate('docs://sources/{name}/versions', { list: undefined }),
    {
      title: 'Versions of a source',
      description: 'The versions of one name, newest first. The name is percent-encoded.',
      mimeType,
    },
    (uri, variables) => answer(uri, () => readVersions(shared, variableOf(variables, 'name'))),
  )
  server.registerResource(
    'crawls',
    'docs://crawls',
    { title: 'Crawls', description: 'All crawls, newest first.', mimeType },
    (uri) => answer(uri, () => readCrawls(shared, undefined)),
  )
  server.registerResource(
    'crawls-by-status',
    new ResourceTemplate('docs://crawls{?status}', { list: undefined }),
    { title: 'Crawls by status', description: `Crawls in one state: ${STATE_FILTERS.join(', ')}.`, mimeType },
    (uri, variables) => answer(uri, () => readCrawls(shared, variableOf(variables, 'status'))),
  )
  server.registerResource(
    'crawl',
    new ResourceTemplate('docs://crawls/{id}', { list: undefined }),
    { title: 'A crawl', description: 'Progress or result of one crawl.', mimeType },
    (uri, variables) => answer(uri, () => readCrawl(shared, variableOf(variables, 'id'))),
  )
  const { packs } = shared
  if (packs === undefined) return
  server.registerResource(
    'pack',
    new ResourceTemplate('docs://packs/{id}', { list: undefined }),
    { title: 'A pack', description: 'Whether a pack that export_pack writes is done, and where it is.', mimeType },
    (uri, variables) => answer(uri, async () => packRecord(packs.find(variableOf(variables, 'id')), uri)),
  )
}

/** Serves a value as the text of a resource. Missing resources and invalid requests become errors that the caller can correct. */
async function answer(uri: URL, read: () => Promise<unknown>) {
  try {
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(await read(), null, 2) }] }
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const isMissing = error instanceof PharosError && error.entry.httpStatus === 404
    throw isMissing
      ? new ResourceNotFoundError(uri.href, writeError(error))
      : new ProtocolError(ProtocolErrorCode.InvalidParams, writeError(error))
  }
}

/** A decoded variable of a resource URI. */
function variableOf(variables: Variables, name: string): string {
  const value = variables[name]
  return decodePart(Array.isArray(value) ? value.join(',') : (value ?? ''))
}

async function readSources(shared: SharedState): Promise<unknown> {
  const { listedRecord, readSourceList } = await import('./source-list.ts')
  return { sources: (await readSourceList(await shared.library())).map(listedRecord) }
}

async function readVersions(shared: SharedState, name: string): Promise<unknown> {
  const { findVersion } = await import('../library/sources/find-version.ts')
  const { versions, hasUnversioned } = await findVersion(await shared.library(), { name })
  return {
    name,
    versions: versions.map(({ version, isComplete, source }) => ({
      version,
      isComplete,
      source: sourceRecord(source),
    })),
    hasUnversioned,
  }
}

async function readCrawls(shared: SharedState, status: string | undefined): Promise<unknown> {
  const filter = status === '' ? undefined : status
  if (filter !== undefined && !isStateFilter(filter)) {
    const problem = `status: expected one of ${STATE_FILTERS.join(', ')}, got ${JSON.stringify(filter)}`
    throw usageError(problem)
  }
  const { listCrawls } = await import('../library/sources/describe-crawl.ts')
  const entries = await listCrawls(await shared.library(), MAX_LISTED)
  return { crawls: entries.filter(({ state }) => isState(state, filter)).map(crawlRecord) }
}

async function readCrawl(shared: SharedState, id: string): Promise<unknown> {
  if (!isUuid(id)) {
    throw usageError(`invalid crawl ID format: expected a UUID, got ${JSON.stringify(id)}`)
  }
  const library = await shared.library()
  const jobs = await shared.jobs()
  const { describeCrawl, findCrawlSource } = await import('../library/sources/describe-crawl.ts')
  const source = await findCrawlSource(library, jobs, id.toLowerCase())
  return reportRecord(await describeCrawl(library, jobs, source, MAX_LISTED, id.toLowerCase()))
}

function packRecord(found: PackExport | undefined, uri: URL): unknown {
  if (found === undefined) throw new ResourceNotFoundError(uri.href, `Error: there is no pack at ${uri.href}`)
  const { id, source, state, startedAt, endedAt, pack, error } = found
  return { packId: id, source, state, startedAt: writeTime(startedAt), endedAt: timeOrNull(endedAt), pack, error }
}
