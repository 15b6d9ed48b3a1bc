import { randomUUID } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { type EffectiveConfig, libraryDataFolder, packageFolders } from '../../config.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { workInBackground } from '../../library/embed/work-in-background.ts'
import type { CodeChecker } from '../../library/ports/code-checker.ts'
import { createWakeableSleep } from '../../library/wakeable-sleep.ts'
import type { NamedPack } from '../../mcp/packs/open-packs.ts'
import type { McpProject } from '../../mcp/ports.ts'
import type { Mcp } from '../../mcp/server.ts'
import { TOOL_SETS, type ToolSet } from '../../mcp/tool-set.ts'
import { VERSION } from '../../version.ts'
import { interruptible } from '../interrupt.ts'
import {
  addLibraryOptions,
  FETCH_SETTINGS,
  nameSources,
  openConfiguredLibrary,
  projectSettingsOf,
  registriesOf,
} from '../library.ts'
import { type CommonFlags, collectRepeated, configOf, wholeNumber } from '../options/options.ts'
import { openGivenPack, refuseFlags } from '../options/pack-option.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { answerParseErrors } from '../serve/parse-errors.ts'
import { checkOrigins } from '../serve/serve-token.ts'
import { type Streams, Terminal } from '../terminal.ts'

interface McpFlags extends CommonFlags {
  readonly http?: boolean
  readonly port?: number
  readonly readOnly?: boolean
  readonly tools?: ToolSet
  readonly exportTo?: string
  readonly pack?: readonly string[]
  readonly project?: string
}

const DEFAULT_PORT = 6280

/** `pharos mcp` */
export function addMcp(program: Command, streams: Streams): void {
  const command = program
    .command('mcp')
    .description('serve the library to agents, over stdio or HTTP on this machine (MCP)')
    .option('--http', 'over streamable HTTP instead of stdio')
    .option('--port <port>', `port for --http, 0 for any (default: ${DEFAULT_PORT})`, wholeNumber('--port', 0))
    .option('--read-only', 'without the tools that write or fetch')
    .option('--tools <all|ask>', 'which tools to offer: all, or only those needed to ask questions', parseToolSet)
    .option('--pack <dir|zip>', 'serve this pack instead of the library, read-only; repeatable', collectRepeated)
    .option(
      '--project <folder>',
      'prefer the versions that the project in this folder uses (default: the current folder)',
    )
    .option('--export-to <dir>', 'where export_pack writes (default: packs, beside the library)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos mcp --tools ask\n  $ pharos mcp --read-only\n  $ pharos mcp --http --port 6280\n  $ pharos mcp --pack docs.zip --pack api.zip',
    )
  addLibraryOptions(command, [...FETCH_SETTINGS, ...SEARCH_SETTINGS])
  command.action(async (flags: McpFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    if (flags.port !== undefined && flags.http !== true) {
      throw usageError('--port is for --http')
    }
    if (flags.pack !== undefined) {
      refuseFlags(flags, ['readOnly', 'tools', 'exportTo', 'project'], 'is for the library, not for a pack')
    }
    await interruptible(async (signal) => {
      const mcp = flags.pack === undefined ? await openMcp(config, flags) : await openPackMcp(command, flags.pack)
      try {
        if (flags.http === true) await serveHttp(mcp, config, flags.port ?? DEFAULT_PORT, terminal, signal)
        else await serveStdio(mcp, signal)
      } finally {
        await mcp.close()
      }
    })
  })
}

async function openMcp(config: EffectiveConfig, flags: McpFlags): Promise<Mcp> {
  const { createMcp } = await import('../../mcp/server.ts')
  const isReadOnly = flags.readOnly === true
  const { library: path } = config.values
  const folder = resolve(flags.exportTo ?? join(libraryDataFolder(path), 'packs'))
  const wakeableSleep = createWakeableSleep()
  return createMcp({
    version: VERSION,
    isReadOnly,
    toolSet: flags.tools ?? 'all',
    project: openProject(config, findFolder(flags.project ?? '.')),
    // For a database server, the names are not listed, because connecting would take too long.
    ...(isPostgres(path) ? {} : { listSourceNames: () => nameSources(path) }),
    async openLibrary() {
      if (isReadOnly && !isPostgres(path) && !existsSync(path)) {
        throw new PharosError('LIBRARY_MISSING', { library: path })
      }
      // Over HTTP, other users of this machine could read packages with the tokens of this one.
      const registries = flags.http === true ? {} : { registries: registriesOf(config) }
      return openConfiguredLibrary(config, undefined, registries)
    },
    async openJobs(library) {
      const { createJobs } = await import('../../library/jobs/crawl-jobs.ts')
      return createJobs(library, { onEnd: wakeableSleep.wake })
    },
    ...(isReadOnly
      ? {}
      : {
          async exportPack(library, input) {
            const { exportSource } = await import('../export-source.ts')
            return exportSource(library, input, folder)
          },
          startBackground: (library, signal) => workInBackground(library, signal, { wakeableSleep }),
        }),
  })
}

/** The real path of the project's folder. */
function findFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    const problem = `--project: there is no folder ${JSON.stringify(path)}`
    throw new PharosError('USAGE', { problem }, { cause })
  }
}

/** The real path of a folder within the project. */
function findInside(project: string, path: string): string {
  const absolute = resolve(project, path)
  const found = existsSync(absolute) ? realpathSync(absolute) : absolute
  const inner = relative(project, found)
  if (inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)) return found
  throw usageError(`for: ${JSON.stringify(path)} is not in the project ${project}; give a folder of it, or "." for all`)
}

/** The project of a folder. Its files are read when a tool needs them. */
function openProject(config: EffectiveConfig, folder: string): McpProject {
  const read = async () => {
    const { openProjectReader } = await import('../../project/open-project.ts')
    return openProjectReader(packageFolders(), projectSettingsOf(config, folder)).read(folder)
  }
  let checker: CodeChecker | undefined
  return {
    folder,
    read,
    checker: {
      async check(input) {
        const { openCodeChecker } = await import('../../project/open-code-checker.ts')
        const { openBundledGrammars } = await import('../../ingest/grammars.ts')
        checker ??= openCodeChecker({ read, openGrammars: openBundledGrammars })
        return checker.check(input)
      },
    },
    async readUses(path, packageName) {
      const { readUsedNames } = await import('../../ingest/read-used-names.ts')
      return readUsedNames(findInside(folder, path), packageName)
    },
  }
}

/** Serves packs. All are opened at once, so that a broken one is reported when the server starts. */
async function openPackMcp(command: Command, names: readonly string[]): Promise<Mcp> {
  const packs: NamedPack[] = []
  for (const given of names) {
    const { pack } = await openGivenPack(command, given)
    packs.push({ name: basename(resolve(given)).replace(/\.zip$/i, ''), pack })
  }
  const { createPackMcp } = await import('../../mcp/packs/pack-server.ts')
  const { openQuestionEmbedder } = await import('../../embed/embed-pack.ts')
  const { createOrdinaryWords } = await import('../../embed/ordinary-words.ts')
  const embedder = openQuestionEmbedder()
  return createPackMcp({
    version: VERSION,
    packs,
    embedQuestion: embedder.embed,
    readOrdinaryWords: createOrdinaryWords(),
    close: embedder.close,
  })
}

function parseToolSet(text: string): ToolSet {
  const found = TOOL_SETS.find((set) => set === text)
  if (found !== undefined) return found
  throw usageError(`--tools: expected ${TOOL_SETS.join(' or ')}, got ${JSON.stringify(text)}`)
}

/** Serves one client until it disconnects. */
async function serveStdio(mcp: Mcp, signal: AbortSignal): Promise<void> {
  const { serveStdio: serve } = await import('@modelcontextprotocol/server/stdio')
  const disconnected = new Promise<void>((done) => {
    process.stdin.once('end', done).once('close', done)
    process.stdout.once('error', () => done())
    signal.addEventListener('abort', () => done(), { once: true })
  })
  const connection = serve(mcp.createServer)
  answerParseErrors(process.stdin, process.stdout)
  await disconnected
  await connection.close()
  process.stdin.destroy()
}

/** Serves HTTP until the signal aborts. */
async function serveHttp(
  mcp: Mcp,
  { values: { allowedHosts: hosts, allowedOrigins } }: EffectiveConfig,
  port: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  checkOrigins(allowedOrigins)
  const { guardHandler } = await import('../../http/server/guard-handler.ts')
  const { createHttpHandler } = await import('../../mcp/http.ts')
  const { listen } = await import('../serve/listen.ts')
  const handler = createHttpHandler({ createServer: mcp.createServer, newId: randomUUID, now: Date.now })
  const server = await listen(guardHandler(handler.fetch, { hosts, allowedOrigins }), port)
  const url = `${server.origin}/mcp`
  terminal.answer(`MCP at ${url}`, { url })
  await new Promise<void>((stop) => {
    signal.addEventListener('abort', () => stop(), { once: true })
    if (signal.aborted) stop()
  })
  await handler.close()
  await server.close()
}
