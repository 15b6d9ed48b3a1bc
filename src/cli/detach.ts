import type { Command } from 'commander'
import type { EffectiveConfig } from '../config.ts'
import { PharosError, usageError } from '../core/errors.ts'
import { isPostgres } from '../core/url/postgres-address.ts'
import { SETTINGS } from '../settings/settings.ts'
import { AdvisedError } from './advised-error.ts'
import { createHint, shownLibrary } from './library.ts'
import { type CommonFlags, configOf } from './options/options.ts'
import { askServer, describeServer, readTokenFile, type ServerAddress } from './serve/detach-server.ts'
import { findServer } from './serve/server-registration.ts'
import { printableLine, type Streams, Terminal } from './terminal.ts'
import { writeNoWorkers } from './text/worker-text.ts'

/** Adds the flag that hands a crawl over to the server. */
export function addDetachOption(command: Command): Command {
  return command.option('--detach', 'leave the crawl to `pharos serve`, or to any `pharos worker`, and return at once')
}

/** A crawl that is handed over to a server: the route and the request body. */
export interface DetachedCrawl {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Hands a crawl over to the server of the configured library, and prints where it can be watched. For a library in PostgreSQL without a
 * server on this machine, the crawl is queued for any worker.
 */
export async function detachCrawl(command: Command, streams: Streams, { path, body }: DetachedCrawl): Promise<void> {
  const config = configOf(command)
  const isShared = isPostgres(config.values.library)
  refuseFlags(command, isShared)
  const terminal = new Terminal(command.opts<CommonFlags>(), streams)
  const { server, origin, close } = await findReceiver(config)
  try {
    const { jobId, status, source, understoodAs, notice } = parseStartedJob(await askServer(server, path, body), server)
    if (understoodAs !== undefined) terminal.note(printableLine(`${String(body['url'])}: ${understoodAs}`))
    if (notice !== undefined) terminal.note(printableLine(notice))
    const state = status === 'queued' ? 'is queued' : 'has started'
    const hint = createHint(config)('status', source.name)
    const watch = origin === null ? `watch it with: ${hint}` : `watch it at ${origin}/`
    terminal.answer(`the crawl of ${printableLine(source.name)} ${state}, as job ${jobId}\n${watch}`, {
      jobId,
      status,
      source,
      watch: origin === null ? hint : `${origin}/`,
      api: origin === null ? null : `${origin}/api/crawls/${jobId}`,
    })
    if (isShared && status === 'queued') await warnNoWorkers(server, config, terminal)
  } finally {
    await close()
  }
}

/** Warns if no worker runs that could take the queued crawls. */
async function warnNoWorkers(server: ServerAddress, config: EffectiveConfig, terminal: Terminal): Promise<void> {
  const { slots } = (await askServer(server, '/api/workers')) as { readonly slots: number }
  if (slots > 0) return
  const { jobs } = (await askServer(server, '/api/status')) as { readonly jobs: { readonly queued: number } }
  terminal.notice(writeNoWorkers(jobs.queued, createHint(config)))
}

/** The server or queue that takes a crawl. */
interface CrawlReceiver {
  readonly server: ServerAddress
  /** The address of the server where the crawl can be watched; null if the crawl is queued without a server. */
  readonly origin: string | null
  close(): Promise<void>
}

async function findReceiver(config: EffectiveConfig): Promise<CrawlReceiver> {
  const { library, token, tokenFile } = config.values
  const registration = await findServer(library)
  if (registration !== undefined) {
    const { origin } = registration
    const server = { origin, token: token || readTokenFile(tokenFile || registration.tokenFile) }
    return { server, origin, close: async () => undefined }
  }
  if (!isPostgres(library)) {
    const serve = createHint(config)('serve')
    throw new AdvisedError(
      new PharosError('SERVER_MISSING', { library: shownLibrary(config.values) }),
      `start one with \`${serve}\`, or leave out --detach`,
    )
  }
  const { openRequestHandler } = await import('./serve/open-server.ts')
  // Errors are thrown to the caller, so the log is not needed.
  const { handle, close } = await openRequestHandler(config, { info: () => undefined, warn: () => undefined })
  return { server: { origin: 'http://localhost', token: null, fetch: handle }, origin: null, close }
}

/** Flags that cannot be combined with `--detach`, and why. */
const REFUSED_FLAGS: Readonly<Record<string, string>> = {
  header: 'headers are never stored, and the server would have to store them',
}

function refuseFlags(command: Command, isShared: boolean): void {
  for (const option of command.options) {
    const name = option.attributeName()
    const isSetting = name in SETTINGS && name !== 'library' && name !== 'tokenFile'
    const whose = isShared ? 'the worker that runs it' : 'the server'
    const why = isSetting ? `it is a setting of ${whose}` : REFUSED_FLAGS[name]
    if (why === undefined || command.getOptionValueSource(name) !== 'cli') continue
    throw usageError(`${option.long} cannot be given with --detach: ${why}`)
  }
}

interface StartedJob {
  readonly jobId: string
  readonly status: string
  readonly source: { readonly id: string; readonly name: string }
  readonly understoodAs?: string
  readonly notice?: string
}

function parseStartedJob(answer: unknown, server: ServerAddress): StartedJob {
  const { jobId, status, source, understoodAs, notice } = (answer ?? {}) as Partial<StartedJob>
  if (typeof jobId === 'string' && typeof status === 'string' && typeof source?.name === 'string') {
    const notes = {
      ...(typeof understoodAs === 'string' && { understoodAs }),
      ...(typeof notice === 'string' && { notice }),
    }
    return { jobId, status, source, ...notes }
  }
  const problem = 'its answer does not come from Pharos'
  throw new PharosError('SERVER_REFUSED', {
    who: describeServer(server),
    problem,
    advice: 'check that it is a Pharos server of the same version',
  })
}
