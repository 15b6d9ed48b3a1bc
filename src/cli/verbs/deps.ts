import { resolve } from 'node:path'
import type { Command } from 'commander'
import { packageFolders } from '../../config.ts'
import { PharosError } from '../../core/errors.ts'
import { writeList } from '../../core/text/list.ts'
import type { Library } from '../../library/library.ts'
import type { ProjectPackage, ProjectPackages } from '../../library/ports/projects.ts'
import { registryUrlOf } from '../../library/ports/registries.ts'
import {
  adviseUnlocked,
  choosePackages,
  createUseCheck,
  listWanted,
  type PackageFilter,
  requireFiles,
} from '../../library/projects/choose-packages.ts'
import {
  listUnused,
  offerForProject,
  type PackageState,
  planProject,
  titleOf,
} from '../../library/projects/plan-project.ts'
import { labelOf } from '../../library/source.ts'
import { findRegistry } from '../../library/sources/package-origin.ts'
import { openProjectReader } from '../../project/open-project.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { type CrawlContext, withCrawlContext } from '../foreground-crawl.ts'
import { addLibraryOptions, printableLabel, projectSettingsOf, READ_SETTINGS } from '../library.ts'
import { type CommonFlags, collectList, configOf } from '../options/options.ts'
import { countOf, printableLine, type Streams, type Terminal } from '../terminal.ts'
import { alignColumns } from '../text/columns.ts'
import { writeDocumentationAdvice } from '../text/summary.ts'

interface DepsFlags extends CommonFlags, PackageFilter {
  readonly add?: boolean
  readonly sync?: boolean
  readonly prune?: boolean
  readonly yes?: boolean
}

/** `pharos deps [folder]` */
export function addDeps(program: Command, streams: Streams): void {
  const command = program
    .command('deps')
    .description('list the packages that a project uses, and take in their documentation at exactly these versions')
    .argument('[folder]', 'folder of the project, with its lock file (default: the current folder)')
    .option('--add', 'take in the packages that are not in the library yet')
    .option('--sync', 'the same after an upgrade: only what moved is read')
    .option('--all', 'also packages that only other packages use')
    .option('--dev', 'also packages for development')
    .option('--exclude <list>', 'leave out these packages; * stands for any characters', collectList)
    .option('--prune', 'list the versions in the library that no project uses any more; with --yes, remove them')
    .option('--yes', 'remove what --prune lists')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos deps\n  $ pharos deps ./app --add --dev\n  $ pharos deps --sync\n  $ pharos deps --prune --yes',
    )
  addLibraryOptions(command, READ_SETTINGS)
  command.action((folder: string | undefined, flags: DepsFlags) => {
    checkFlags(flags)
    const path = resolve(folder ?? '.')
    const work = async (crawling: CrawlContext) => {
      if (flags.prune === true) return prune(crawling, flags)
      const project = await openProjectReader(packageFolders(), projectSettingsOf(configOf(command), path)).read(
        folder ?? '.',
      )
      requireFiles(project)
      for (const note of project.notes) crawling.terminal.note(printableLine(note))
      const chosen = choosePackages(project.packages, flags)
      if (flags.add === true || flags.sync === true) await take(crawling, project, chosen)
      else await list(crawling, project, chosen, flags)
    }
    return withCrawlContext(command, streams, work, path)
  })
}

function checkFlags({ add, sync, prune, yes }: DepsFlags): void {
  if (prune === true && (add === true || sync === true)) {
    throw new PharosError('USAGE', { problem: '--prune: not together with --add or --sync; run it by itself' })
  }
  if (yes === true && prune !== true) throw new PharosError('USAGE', { problem: '--yes: only together with --prune' })
}

/** Prints the packages with their state in the library. */
async function list(
  { library, terminal, hintFor }: CrawlContext,
  project: ProjectPackages,
  chosen: readonly ProjectPackage[],
  flags: DepsFlags,
): Promise<void> {
  const { packages: states } = await planProject(library, project, listWanted(chosen), () => true)
  const stateOf = new Map(states.map((state) => [state.wanted.address, state]))
  const rows = chosen.map((one) => writeRow(one, one.address === null ? undefined : stateOf.get(one.address)))
  const table =
    rows.length === 0 ? [] : alignColumns([['package', 'version', 'use', 'documentation', 'library'], ...rows])
  terminal.answer(table.join('\n'), {
    project: project.name,
    folder: project.folder,
    files: project.files,
    packages: chosen.map((one) => packageRecord(one, one.address === null ? undefined : stateOf.get(one.address))),
    skipped: project.skipped,
  })
  noteSkipped(terminal, project, chosen)
  const missing = states.filter(({ state }) => state !== 'ready').length
  const shown = `${countOf(chosen.length, 'package')} of ${project.packages.length}${adviseFilter(project.packages, flags)}`
  terminal.note(printableLine(`${shown}; from ${project.files.join(', ')}`))
  for (const { source, documentation } of await offerForProject(library, { packages: states })) {
    for (const line of writeDocumentationAdvice(source, documentation, await hintFor(source))) terminal.note(line)
  }
  const absent = chosen.filter(({ type, installedAt }) => type === 'golang' && installedAt === undefined).length
  if (absent > 0) {
    terminal.note(`${countOf(absent, 'module')} of Go not installed, so not readable: run \`go mod download\` first`)
  }
  if (missing > 0) terminal.note(`${missing} not in the library: add --add to take them in`)
}

/** The options that show more packages. */
function adviseFilter(packages: readonly ProjectPackage[], { all, dev }: DepsFlags): string {
  const names = [
    ...(all !== true && packages.some(({ isDirect }) => !isDirect) ? ['--all'] : []),
    ...(dev !== true && packages.some(({ isDev }) => isDev) ? ['--dev'] : []),
  ]
  return names.length === 0 ? '' : `; ${writeList(names)} ${names.length === 1 ? 'shows' : 'show'} more`
}

/** Tells what of the project cannot be taken in. */
function noteSkipped(terminal: Terminal, { skipped }: ProjectPackages, chosen: readonly ProjectPackage[]): void {
  for (const { name, reason } of skipped) terminal.note(printableLine(`left out: ${name}: ${reason}`))
  const advice = adviseUnlocked(chosen)
  if (advice !== undefined) terminal.note(printableLine(advice))
}

function writeRow(
  { type, name, version, isDirect, isDev, installedAt, address }: ProjectPackage,
  state?: PackageState,
): string[] {
  const use = [isDirect ? 'direct' : 'through others', ...(isDev ? ['development'] : [])].join(', ')
  const source = type === 'golang' ? 'not installed' : 'registry'
  const documentation = address === null ? 'none' : installedAt === undefined ? source : 'installed'
  return [name, version ?? 'not locked', use, documentation, writeState(state)].map(printableLine)
}

function writeState(state: PackageState | undefined): string {
  if (state === undefined) return 'cannot be read'
  if (state.state !== 'missing') return state.state === 'ready' ? 'yes' : 'incomplete'
  const others = [...state.otherVersions, ...listElsewhere(state).map((registry) => `it from ${registry}`)]
  return others.length === 0 ? 'no' : `no, has ${others.join(', ')}`
}

/** The registries from which the library has the version of a package that the project cannot use. */
function listElsewhere({ elsewhere }: PackageState): string[] {
  return elsewhere.map((source) => registryUrlOf(findRegistry(source) ?? 'an unknown registry'))
}

function packageRecord(one: ProjectPackage, state: PackageState | undefined): Record<string, unknown> {
  const { type, name, version, isDirect, isDev, installedAt = null } = one
  return {
    ...{ type, name, version, direct: isDirect, dev: isDev, installed_at: installedAt },
    ...{ state: state?.state ?? 'unreadable', other_versions: state?.otherVersions ?? [] },
    ...{
      registries: (one.registries ?? []).map(registryUrlOf),
      elsewhere: state === undefined ? [] : listElsewhere(state),
    },
  }
}

/** Takes in the packages that are missing. */
async function take(
  { library, terminal, signal, hintFor }: CrawlContext,
  project: ProjectPackages,
  chosen: readonly ProjectPackage[],
): Promise<void> {
  // Loaded on demand, like every command that crawls.
  const { syncProject } = await import('../../library/projects/sync-project.ts')
  const { name, folder } = project
  let failed = 0
  noteSkipped(terminal, project, chosen)
  for await (const event of syncProject(
    library,
    project,
    listWanted(chosen),
    signal,
    createUseCheck(project.packages),
  )) {
    switch (event.type) {
      case 'reading':
        terminal.live(printableLine(`${event.done + 1} of ${event.total}: ${titleOf(event.wanted.address)}`))
        break
      case 'read':
        terminal.detail(`${printableLabel(event.source)}: ${countOf(event.pages, 'page')}`)
        if (event.isRenamed) {
          const title = printableLine(titleOf(event.source.url))
          terminal.note(
            `${title} is stored as ${printableLabel(event.source)}: the library has another one of its name`,
          )
        }
        if (event.documentation.length > 0) {
          const hint = await hintFor(event.source)
          for (const line of writeDocumentationAdvice(event.source, event.documentation, hint)) terminal.note(line)
        } else if (event.pages === 0) {
          terminal.note(`${printableLabel(event.source)} has no documentation that can be read`)
        }
        break
      case 'failed':
        terminal.note(printableLine(`${titleOf(event.wanted.address)} could not be read: ${event.problem}`))
        if (event.advice !== '') terminal.note(printableLine(event.advice))
        break
      case 'dropped':
        terminal.note(
          `${printableLabel(event.source)} is no longer used by ${printableLine(name)}; it stays in the library`,
        )
        break
      case 'ended': {
        const { ready, read, dropped } = event.result
        failed = event.result.failed
        terminal.clear()
        const text = `${printableLine(name)}: ${countOf(read, 'package')} read, ${ready} already in the library, ${failed} failed`
        terminal.answer(text, { project: name, folder, read, ready, failed, dropped })
      }
    }
  }
  if (failed > 0) throw new ChecksFailedError()
}

/** Lists the versions that no project uses any more, and removes them if asked. */
async function prune(
  { library, terminal }: Pick<CrawlContext, 'library' | 'terminal'>,
  flags: DepsFlags,
): Promise<void> {
  const unused = await listUnused(library)
  const labels = unused.map(labelOf)
  if (flags.yes === true) await removeAll(library, unused, terminal)
  terminal.answer(unused.map(printableLabel).join('\n'), { unused: labels, removed: flags.yes === true })
  if (unused.length === 0) terminal.note('every version in the library that a project took in is still used')
  else if (flags.yes !== true) terminal.note('add --yes to remove them')
}

async function removeAll(
  library: Pick<Library, 'imports' | 'store'>,
  unused: Awaited<ReturnType<typeof listUnused>>,
  terminal: Terminal,
): Promise<void> {
  const { removeSource } = await import('../../library/sources/remove-source.ts')
  for (const source of unused) {
    await removeSource(library, source.id)
    terminal.detail(`removed ${printableLabel(source)}`)
  }
}
