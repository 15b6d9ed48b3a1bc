import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { codeCacheFolder, type EffectiveConfig, lastSearchFile, libraryDataFolder, userFolders } from '../../config.ts'
import { codeOf, PharosError } from '../../core/errors.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { AGENTS } from '../../setup/agents.ts'
import { applyChanges } from '../../setup/apply-changes.ts'
import { type ConfigChange, planRemoval } from '../../setup/plan-setup.ts'
import { planTimerRemoval, removeTimerLink } from '../../setup/plan-timer.ts'
import { readSkill } from '../../setup/skill.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { findCommandNames } from '../command-names.ts'
import { addLibraryOptions, shownLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { findServer } from '../serve/server-registration.ts'
import { printableLine, type Streams, Terminal } from '../terminal.ts'

interface UninstallFlags extends CommonFlags {
  readonly yes?: boolean
}

/** `pharos uninstall` */
export function addUninstall(program: Command, streams: Streams): void {
  const command = program
    .command('uninstall')
    .description('show what Pharos keeps on this machine, and remove it with --yes')
    .option('--yes', 'remove it')
    .addHelpText('after', '\nExamples:\n  $ pharos uninstall\n  $ pharos uninstall --yes')
  addLibraryOptions(command).action(async (flags: UninstallFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    const files = await listKeptFiles(config)
    const folders = userFolders()
    const agents = AGENTS.map(({ id }) => id)
    const changes = [
      ...planRemoval({ folders, server: findCommandNames().anywhere, agents, skill: readSkill() }),
      ...planTimerRemoval(folders),
    ].filter(({ status }) => status === 'remove' || status === 'left-alone')
    if (flags.yes === true) await refuseInUse(config)
    const failed = flags.yes === true ? removeAll(files, changes) : new Map<string, string>()
    if (flags.yes === true) removeTimerLink(folders)
    terminal.answer(writeReport(files, changes, failed, config, flags), {
      isRemoved: flags.yes === true,
      files: files.map(({ path, kind, bytes }) => ({ path, kind, bytes, ...problemOf(path, failed) })),
      clients: changes.map(({ program: client, kind, file, status, problem }) => {
        return {
          client: client.id,
          kind,
          file,
          status,
          ...(problem === undefined ? problemOf(file, failed) : { problem }),
        }
      }),
    })
    if (failed.size > 0) throw new ChecksFailedError()
  })
}

/** A file or folder that the program has written. */
interface KeptFile {
  readonly path: string
  readonly kind: 'library' | 'packs' | 'cache' | 'state'
  readonly bytes: number
}

/** What the program has written on this machine, except for entries in files of agents. Folders may hold files of the user too. */
async function listKeptFiles({ values }: EffectiveConfig): Promise<KeptFile[]> {
  const { listLibraryFiles } = await import('../../store/sqlite/database/library-files.ts')
  const { library, cacheFolder } = values
  const folder = libraryDataFolder(library)
  const inFolder = (...names: string[]) => names.map((name) => join(folder, name))
  const candidates: readonly (readonly [KeptFile['kind'], readonly string[]])[] = [
    [
      'library',
      isPostgres(library)
        ? inFolder('imports', 'failed.jsonl', 'failed.jsonl.1', 'server.json')
        : listLibraryFiles(library),
    ],
    // A folder `packs` beside a library that the user placed may be the user's own.
    ['packs', OWN_FOLDER.test(folder) ? inFolder('packs') : []],
    ['cache', [codeCacheFolder(), ...['folders', 'gazetteer'].map((name) => join(cacheFolder, name))]],
    ['state', [lastSearchFile()]],
  ]
  return candidates.flatMap(([kind, paths]) =>
    paths.filter((path) => existsSync(path)).map((path) => ({ path, kind, bytes: sizeOf(path) })),
  )
}

/** The size of a file, or of everything in a folder. Links are not followed. */
function sizeOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(path, name), { throwIfNoEntry: false }))
    .reduce((sum, entry) => sum + (entry?.isFile() === true ? entry.size : 0), 0)
}

/** Throws if a server, a crawl or an agent uses the library. */
async function refuseInUse({ values }: EffectiveConfig): Promise<void> {
  const { library } = values
  const server = await findServer(library)
  if (server !== undefined) {
    throw new PharosError('SERVER_RUNNING', {
      ...{ library: shownLibrary(values), origin: server.origin, pid: server.pid },
      advice: `stop it first (process ${server.pid}), then run the same command again; nothing was removed`,
    })
  }
  const { isLibraryOpen } = await import('../../store/sqlite/database/database.ts')
  if (isPostgres(library) || !isLibraryOpen(library)) return
  throw new PharosError('LIBRARY_LOCKED', {
    library,
    advice: 'end the crawls, watches and agents that use it, then run the same command again; nothing was removed',
  })
}

/** Removes everything. Returns what could not be removed, with the reason. */
function removeAll(files: readonly KeptFile[], changes: readonly ConfigChange[]): Map<string, string> {
  const failed = new Map(applyChanges(changes).map(({ file, problem }) => [file, problem]))
  for (const { path } of files) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      failed.set(path, `it cannot be removed (${codeOf(error)})`)
    }
  }
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) removeOwnFolder(folder)
  return failed
}

/** Removes a folder with the name of the program, unless it holds something else. */
function removeOwnFolder(folder: string): void {
  if (!OWN_FOLDER.test(folder)) return
  try {
    rmdirSync(folder)
    removeOwnFolder(dirname(folder))
  } catch {
    // Not empty: it holds files of the user.
  }
}

const OWN_FOLDER = /[\\/]pharos(?:[\\/]postgres(?:[\\/][0-9a-f]{16})?)?$/

function problemOf(path: string, failed: ReadonlyMap<string, string>): { readonly problem?: string } {
  const problem = failed.get(path)
  return problem === undefined ? {} : { problem }
}

function writeReport(
  files: readonly KeptFile[],
  changes: readonly ConfigChange[],
  failed: ReadonlyMap<string, string>,
  config: EffectiveConfig,
  { yes }: UninstallFlags,
): string {
  const verb = (path: string) => (failed.has(path) ? 'failed  ' : yes === true ? 'removed ' : 'remove  ')
  const note = (path: string) => (failed.has(path) ? `: ${failed.get(path)}` : '')
  const lines = [
    ...files.map(({ path, kind, bytes }) => {
      return `${verb(path)} ${kind.padEnd(8)} ${writeBytes(bytes).padStart(9)}  ${path}${note(path)}`
    }),
    ...changes.map(({ program: client, file, status, problem }) => {
      const isLeft = status === 'left-alone'
      const word = isLeft ? 'left    ' : verb(file)
      return `${word} agent              ${client.name}: ${file}${isLeft ? `: ${problem}` : note(file)}`
    }),
  ]
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const hint = `${findCommandNames().here} uninstall --yes`
  const summary =
    lines.length === 0
      ? 'there is nothing to remove'
      : yes === true
        ? `${writeBytes(total)} removed`
        : `nothing was removed; to remove these ${writeBytes(total)}: ${hint}`
  return [...lines, summary, ...listLeft(config)].map(printableLine).join('\n')
}

/** What stays, and how to remove it. */
function listLeft({ values, file }: EffectiveConfig): string[] {
  return [
    ...(isPostgres(values.library)
      ? [`left: the library ${shownLibrary(values)}; a database administrator removes its schema`]
      : []),
    ...(file === undefined ? [] : [`left: your configuration ${file}`]),
    'left: entries in projects (`setup --remove --project` in their folders), other libraries, and the program itself',
  ]
}
