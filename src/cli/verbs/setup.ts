import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { type EffectiveConfig, listCrawlVariables, userFolders } from '../../config.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeList } from '../../core/text/list.ts'
import { hidePassword, isPostgres } from '../../core/url/postgres-address.ts'
import { AGENTS, type ServerCommand } from '../../setup/agents.ts'
import { applyChanges } from '../../setup/apply-changes.ts'
import { backupOf, type ConfigChange, planRemoval, planSetup, writeSnippet } from '../../setup/plan-setup.ts'
import { planTimer, planTimerRemoval, STOP_TIMER, UNIT_NAME } from '../../setup/plan-timer.ts'
import { readSkill } from '../../setup/skill.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { findCommandNames } from '../command-names.ts'
import { addLibraryOptions, nameSources, printableLabel } from '../library.ts'
import { type CommonFlags, collectList, configOf } from '../options/options.ts'
import { confirm } from '../prompt.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'

interface SetupFlags extends CommonFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly client?: readonly string[]
  readonly global?: boolean
  readonly project?: string | boolean
  readonly remove?: boolean
  readonly skill: boolean
  readonly timer?: boolean
}

/** `pharos setup` */
export function addSetup(program: Command, streams: Streams): void {
  const command = program
    .command('setup')
    .description('connect the agents on this machine with Pharos, after showing what would change')
    .option('--yes', 'write the changes without asking')
    .option('--dry-run', 'only show the changes')
    .option('--client <list>', `these agents only: ${AGENTS.map(({ id }) => id).join(', ')}`, collectList)
    .option('--global', 'for all projects of this user (default)')
    .option('--project [folder]', 'for the project in this folder only (default: the current folder)')
    .option('--no-skill', 'without the skill that tells an agent when to ask Pharos')
    .option('--timer', 'instead of agents, set up a systemd timer of this user that runs `pharos refresh --due`')
    .option('--remove', 'remove Pharos from the agents; files that nobody else changed become what they were')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos setup\n  $ pharos setup --client cursor,codex --yes\n  $ pharos setup --project --dry-run\n  $ pharos setup --remove\n  $ pharos setup --timer',
    )
  addLibraryOptions(command).action(async (flags: SetupFlags) => {
    checkFlags(flags)
    const terminal = new Terminal(flags, streams)
    if (flags.timer === true) return setUpTimer(configOf(command), flags, terminal)
    const request = {
      folders: userFolders(),
      project: findProject(flags),
      server: findServer(configOf(command)),
      agents: flags.client,
      skill: flags.skill ? readSkill() : undefined,
    }
    const plan = flags.remove === true ? planRemoval(request) : planSetup(request)
    if (plan.length === 0 && flags.remove !== true && (flags.client ?? []).length === 0) {
      terminal.answer(writeSnippets(request.server), { changes: [], snippets: listSnippets(request.server) })
      return
    }
    const next = flags.remove === true ? [] : [writeNextStep(await listTopics(configOf(command)))]
    await carryOut(plan, flags, terminal, next)
  })
}

/** Sets up the timer, or removes it. */
async function setUpTimer(config: EffectiveConfig, flags: SetupFlags, terminal: Terminal): Promise<void> {
  const folders = userFolders()
  if (flags.remove === true) {
    await carryOut(planTimerRemoval(folders), flags, terminal, [STOP_TIMER])
    return
  }
  const plan = planTimer(folders, findRefresh(config))
  const missing = listCrawlVariables(config)
  if (missing.length > 0) terminal.notice(writeMissing(missing))
  await carryOut(plan, flags, terminal, [
    `Start it now: systemctl --user daemon-reload && systemctl --user enable --now ${UNIT_NAME}.timer`,
    'It runs while you are logged in; to run it always: loginctl enable-linger',
  ])
}

/** Shows a plan, writes it if the user agrees, and says what is `next`. */
async function carryOut(
  plan: readonly ConfigChange[],
  flags: SetupFlags,
  terminal: Terminal,
  next: readonly string[],
): Promise<void> {
  const isWanted = plan.some(({ before, after }) => before !== after)
  const isConfirmed = isWanted && (await askToWrite(plan, flags, terminal))
  const failed = isConfirmed ? applyChanges(plan) : []
  terminal.answer(writeOutcome(plan, failed, isConfirmed, flags, next), {
    changes: plan.map((change) => recordOf(failed.find(({ file }) => file === change.file) ?? change)),
    isWritten: isConfirmed,
  })
  if (failed.length > 0 || plan.some(({ status }) => status === 'left-alone')) throw new ChecksFailedError()
}

function checkFlags({ client = [], global: isGlobal, project, timer, skill }: SetupFlags): void {
  if (timer === true && (client.length > 0 || isGlobal === true || project !== undefined || !skill)) {
    throw new PharosError('USAGE', { problem: '--timer takes no options of agents' })
  }
  if (timer === true && process.platform !== 'linux') {
    const problem = '--timer: systemd runs on Linux only'
    throw new PharosError('USAGE', { problem, advice: 'let cron run `pharos refresh --due` every ten minutes' })
  }
  const unknown = client.find((id) => !AGENTS.some((agent) => agent.id === id))
  if (unknown !== undefined) {
    const known = AGENTS.map(({ id }) => id).join(', ')
    throw usageError(`--client: expected some of ${known}, got ${JSON.stringify(unknown)}`)
  }
  if (isGlobal === true && project !== undefined) {
    throw usageError('--global and --project exclude each other')
  }
}

function findProject({ project }: SetupFlags): string | undefined {
  if (project === undefined || project === false) return undefined
  return resolve(project === true ? '.' : project)
}

/** The command that agents start: this program, with the library if one was given. */
function findServer({ values, origins }: EffectiveConfig): ServerCommand {
  const { command, args } = findCommandNames().anywhere
  const library = origins.library === 'flag' ? ['--library', withoutPassword(values.library, ADVICE)] : []
  return { command, args: [...args, 'mcp', ...library] }
}

/** Says which variables of this shell the timer lacks, and how to give them to it. */
function writeMissing(variables: readonly string[]): string {
  const edit = `systemctl --user edit ${UNIT_NAME}.service`
  return `the timer does not have ${writeList(variables, 'and')}, which crawls from this shell use; to give it what it needs, run \`${edit}\` and write [Service] and a line EnvironmentFile=<file with NAME=value lines>`
}

/** The command of the timer, with the library and the configuration file that this command uses. */
function findRefresh({ values, origins, file }: EffectiveConfig): ServerCommand {
  const { command, args } = findCommandNames().anywhere
  // A timer has neither the environment, on which the default library depends too, nor the folder of the user who sets it up.
  const isInFile = origins.library === 'file'
  const library = isInFile
    ? []
    : ['--library', withoutPassword(values.library, 'set the library in pharos.config.json')]
  const config = file === undefined ? [] : ['--config', resolve(file)]
  return { command, args: [...args, 'refresh', '--due', '--quiet', ...library, ...config] }
}

const ADVICE = 'set the library in pharos.config.json or PHAROS_LIBRARY'

function withoutPassword(library: string, advice: string): string {
  if (hidePassword(library) === library) return library
  const problem = '--library: the address has a password, which would stand in files of other programs'
  throw new PharosError('USAGE', { problem, advice })
}

/** Shows the plan and asks, unless the answer was given as a flag. */
async function askToWrite(plan: readonly ConfigChange[], flags: SetupFlags, terminal: Terminal): Promise<boolean> {
  if (flags.dryRun === true) return false
  if (flags.yes === true) return true
  if (!terminal.isNoticeOnTerminal || process.stdin.isTTY !== true) {
    throw usageError('nobody can be asked here: add --yes to write the changes, or --dry-run')
  }
  terminal.notice(plan.flatMap((change) => [writeChange(change, 'would'), ...listUnitLines(change)]).join('\n'))
  return confirm('Write these changes?', { input: process.stdin, output: process.stderr })
}

function writeOutcome(
  plan: readonly ConfigChange[],
  failed: readonly ConfigChange[],
  isWritten: boolean,
  { dryRun }: SetupFlags,
  next: readonly string[],
): string {
  if (plan.length === 0) return 'none of these agents has such a file'
  const lines = plan.flatMap((change) => {
    const failure = failed.find(({ file }) => file === change.file)
    if (failure !== undefined) return [writeChange({ ...failure, status: 'left-alone' }, 'did')]
    return isWritten ? [writeChange(change, 'did')] : [writeChange(change, 'would'), ...listUnitLines(change)]
  })
  const written = plan.filter(({ before, after }) => before !== after).length - failed.length
  if (!isWritten) {
    const isDone = plan.every(({ before, after }) => before === after)
    return [
      ...lines,
      isDone ? 'nothing to change' : dryRun === true ? 'nothing was written (--dry-run)' : 'nothing was written',
    ].join('\n')
  }
  return [...lines, `${countOf(written, 'file')} written`, ...next].join('\n')
}

/** The text of a unit that would be written: users cannot know it, unlike an entry in the file of their agent. */
function listUnitLines({ kind, before, after }: ConfigChange): string[] {
  if (before === after || after === null || (kind !== 'service' && kind !== 'timer')) return []
  const lines = after.trimEnd().split('\n')
  return lines.map((line) => printableLine(line === '' ? '' : `  ${line}`))
}

/** Maximum number of sources that are named. */
const MAX_TOPICS = 3

/** The labels of the sources that agents can be asked about; undefined if they are not known. */
async function listTopics({ values: { library } }: EffectiveConfig): Promise<readonly string[] | undefined> {
  if (isPostgres(library)) return undefined
  try {
    return (await nameSources(library)).slice(0, MAX_TOPICS).map(printableLabel)
  } catch {
    // The agents are connected all the same; the first command that uses the library reports its problem.
    return undefined
  }
}

function writeNextStep(topics: readonly string[] | undefined): string {
  const ask = 'Restart the agents, then ask one of them about'
  if (topics === undefined) return `${ask} your documentation.`
  if (topics.length > 0) return `${ask} ${writeList(topics, 'or')}.`
  return `${ask} your documentation. Add some first: ${findCommandNames().here} add <url>`
}

const WORDS: Readonly<Record<ConfigChange['status'], readonly [string, string]>> = {
  add: ['add', 'added'],
  update: ['update', 'updated'],
  remove: ['remove', 'removed'],
  unchanged: ['unchanged', 'unchanged'],
  'left-alone': ['left alone', 'left alone'],
}

/** `Cursor          ~/.cursor/mcp.json     added` */
function writeChange({ program, kind, file, status, problem, before }: ConfigChange, mood: 'would' | 'did'): string {
  const word = WORDS[status][mood === 'would' ? 0 : 1]
  const isBackedUp = kind === 'server' && before !== null && status === 'add'
  const hasBackup = isBackedUp || (status === 'update' && existsSync(backupOf(file)))
  const note = problem !== undefined ? `: ${problem}` : hasBackup ? ` (before: ${shortPath(backupOf(file))})` : ''
  return printableLine(`${program.name.padEnd(16)}${kind.padEnd(8)}${word.padEnd(10)} ${shortPath(file)}${note}`)
}

/** A path with `~` for the home folder, or relative to the current folder. */
function shortPath(file: string): string {
  const { home } = userFolders()
  const here = relative(process.cwd(), file)
  if (!here.startsWith('..') && here.length < file.length) return here
  return file.startsWith(home) ? `~${file.slice(home.length)}` : file
}

function recordOf({ program, kind, file, status, problem }: ConfigChange): object {
  return { client: program.id, kind, file, status, ...(problem !== undefined && { problem }) }
}

function listSnippets(server: ServerCommand): object[] {
  return AGENTS.map((agent) => {
    return { client: agent.id, file: agent.globalFile(userFolders()), text: writeSnippet(agent, server) }
  })
}

/** What to write into which file, for users whose agent was not found. */
function writeSnippets(server: ServerCommand): string {
  const byText = Map.groupBy(AGENTS, (agent) => writeSnippet(agent, server))
  const parts = [...byText].map(([text, agents]) => {
    const files = agents.map((agent) => `${agent.name}, ${shortPath(agent.globalFile(userFolders()))}`)
    return [
      ...files,
      ...text
        .trim()
        .split('\n')
        .map((line) => `  ${line}`),
    ].join('\n')
  })
  return ['No agent was found on this machine. What to write into the configuration of each:', ...parts].join('\n\n')
}
