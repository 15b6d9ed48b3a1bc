import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { Config, SettingName } from '../../settings/settings.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, READ_SETTINGS, shownLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { type Colors, printableLine, type Streams, Terminal } from '../terminal.ts'
import type { OpenServer } from './open-server.ts'
import { createServeLog } from './serve-log.ts'
import { externalOrigin, isLoopback } from './serve-token.ts'

interface ServeFlags extends CommonFlags {
  readonly jsonLogs?: boolean
}

const SERVER_SETTINGS: readonly SettingName[] = [
  'host',
  'port',
  'tokenFile',
  'allowedHosts',
  'allowedOrigins',
  'maxCrawls',
  'maxRequests',
  'workers',
]

/** `pharos serve` */
export function addServe(program: Command, streams: Streams): void {
  const command = program
    .command('serve')
    .description('serve the library: dashboard, HTTP API, live events and MCP, at one port of this machine')
    .option('--json-logs', 'write the log as JSON, one object a line')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos serve\n  $ pharos serve --port 8080 --max-crawls 4\n  $ pharos serve --host 0.0.0.0 --token-file token.txt',
    )
  addLibraryOptions(command, [...SERVER_SETTINGS, ...READ_SETTINGS, ...SEARCH_SETTINGS])
  command.action(async (flags: ServeFlags) => {
    const config = configOf(command)
    // Log collectors read both streams, so stdout must be JSON too.
    const terminal = new Terminal({ ...flags, json: flags.json === true || flags.jsonLogs === true }, streams)
    const log = createServeLog(streams.stderr, {
      isJson: flags.jsonLogs === true,
      isQuiet: flags.quiet === true,
      hasRequests: flags.verbose === true || streams.stderr.isTTY !== true,
    })
    const writeNote = (text: string) => (flags.jsonLogs === true ? log.info(text) : terminal.note(text))
    await interruptible(
      async (signal) => {
        const { openServer } = await import('./open-server.ts')
        const server = await openServer(config, log)
        try {
          terminal.answer(writeAddresses(server, config, terminal.answerColors), addressesRecord(server, config))
          await server.start()
          await untilAborted(signal)
        } finally {
          await server.close()
        }
      },
      () => writeNote('stopping … (press Ctrl-C again to stop at once)'),
    )
  })
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
}

/** Lists the addresses of the server for the user. */
function writeAddresses(server: OpenServer, { values }: EffectiveConfig, { bold, dim }: Colors): string {
  const tokenOrigin = values.token === '' ? printableLine(values.tokenFile) : 'PHAROS_TOKEN'
  const isExternal = !isLoopback(values.host)
  const origin = isExternal ? externalOrigin(server.origin, values.host) : server.origin
  const header = server.token === null ? '' : ', with the header Authorization: Bearer <token>'
  return [
    `Pharos serves ${printableLine(shownLibrary(values))}`,
    '',
    `  dashboard  ${bold(`${origin}/`)}`,
    `  API        ${origin}/docs`,
    `  MCP        ${origin}/mcp${header}`,
    ...(server.token === null ? [] : [`  token      every request must send the token from ${tokenOrigin}`]),
    ...(isExternal
      ? ['', 'Traffic is not encrypted (plain HTTP). Put a TLS proxy in front of the server, or use a tunnel.']
      : []),
    '',
    dim(writeStopNote(values)),
  ].join('\n')
}

/** Says what happens to crawls when this server stops, and which processes run them. */
function writeStopNote({ library, workers }: Config): string {
  if (!isPostgres(library)) return 'Press Ctrl-C to stop. Running crawls resume at the next start.'
  if (workers > 0) return 'Press Ctrl-C to stop. Running crawls continue on other workers, or at the next start.'
  return 'This server runs no crawls. Start workers with `pharos worker`; `pharos status` lists them. Press Ctrl-C to stop; crawls continue.'
}

function addressesRecord({ origin, token }: OpenServer, { values }: EffectiveConfig): Record<string, unknown> {
  return {
    origin,
    dashboard: `${origin}/`,
    api: `${origin}/api`,
    openapi: `${origin}/openapi.json`,
    events: `${origin}/events`,
    mcp: `${origin}/mcp`,
    library: shownLibrary(values),
    pid: process.pid,
    isTokenDemanded: token !== null,
  }
}
