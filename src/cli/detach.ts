import type { Command } from 'commander'
import { type EffectiveConfig, SETTINGS } from '../config.ts'
import { PharosError } from '../core/errors.ts'
import { AdvisedError } from './advised.ts'
import { askServer, readNamedToken, type ServerAddress } from './detach-server.ts'
import { createHint, shownLibrary } from './library.ts'
import { type CommonFlags, configOf } from './options.ts'
import { findServer } from './serve-note.ts'
import { printableLine, type Streams, Terminal } from './terminal.ts'

/** Adds the flag that leaves a crawl to the server. */
export function addDetachOption(command: Command): Command {
  return command.option('--detach', 'leave the crawl to the server that runs (`pharos serve`) and return at once')
}

/** A crawl that is left to a server: which route takes it, and what it is told. */
export interface LeftCrawl {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Leaves a crawl to the server of the library that is configured, and prints where it can be watched. */
export async function leaveToServer(command: Command, streams: Streams, { path, body }: LeftCrawl): Promise<void> {
  refuseFlags(command)
  const config = configOf(command)
  const terminal = new Terminal(command.opts<CommonFlags>(), streams)
  const server = await needServer(config)
  const { jobId, status, source } = readStarted(await askServer(server, path, body), server)
  const watch = `${server.origin}/`
  const state = status === 'queued' ? 'waits for its turn' : 'has begun'
  terminal.answer(`the crawl of ${printableLine(source.name)} ${state}, as job ${jobId}\nwatch it at ${watch}`, {
    jobId,
    status,
    source,
    watch,
    api: `${server.origin}/api/crawls/${jobId}`,
  })
}

/** The server of a library, with what it demands. */
async function needServer(config: EffectiveConfig): Promise<ServerAddress> {
  const { library, token, tokenFile } = config.values
  const note = await findServer(library)
  if (note === undefined) {
    const serve = createHint(config)('serve')
    throw new AdvisedError(
      new PharosError('SERVER_MISSING', { library: shownLibrary(config.values) }),
      `start one with \`${serve}\`, or leave out --detach`,
    )
  }
  return { origin: note.origin, token: token || readNamedToken(tokenFile || note.tokenFile) }
}

/** Why a flag makes no sense where the server does the work. */
const REFUSED: Readonly<Record<string, string>> = {
  header: 'it is stored nowhere, and a server would have to',
  embed: 'a server embeds what it has on its own',
}

function refuseFlags(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName()
    const isSetting = name in SETTINGS && name !== 'library' && name !== 'tokenFile'
    const why = isSetting ? 'it is a setting of the server' : REFUSED[name]
    if (why === undefined || command.getOptionValueSource(name) !== 'cli') continue
    throw new PharosError('USAGE', { problem: `${option.long} cannot be given with --detach: ${why}` })
  }
}

interface Started {
  readonly jobId: string
  readonly status: string
  readonly source: { readonly id: string; readonly name: string }
}

function readStarted(answer: unknown, { origin }: ServerAddress): Started {
  const { jobId, status, source } = (answer ?? {}) as Partial<Started>
  if (typeof jobId === 'string' && typeof status === 'string' && typeof source?.name === 'string') {
    return { jobId, status, source }
  }
  const problem = 'its answer is none of this program'
  throw new PharosError('SERVER_REFUSED', { origin, problem, advice: 'it may be of another version' })
}
