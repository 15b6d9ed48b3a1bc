import { relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { type EffectiveConfig, userFolders } from '../../config.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { AGENTS, type ServerCommand } from '../../setup/agents.ts'
import { applyChanges } from '../../setup/apply-changes.ts'
import { backupOf, type ConfigChange, planRemoval, planSetup, writeSnippet } from '../../setup/plan-setup.ts'
import { readSkill } from '../../setup/skill.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { findCommandNames } from '../command-names.ts'
import { addLibraryOptions } from '../library.ts'
import { type CommonFlags, collectList, configOf } from '../options/options.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'

interface SetupFlags extends CommonFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly client?: readonly string[]
  readonly global?: boolean
  readonly project?: string | boolean
  readonly remove?: boolean
  readonly skill: boolean
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
    .option('--remove', 'remove Pharos from the agents; files that nobody else changed become what they were')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos setup\n  $ pharos setup --client cursor,codex --yes\n  $ pharos setup --project --dry-run\n  $ pharos setup --remove',
    )
  addLibraryOptions(command).action(async (flags: SetupFlags) => {
    checkFlags(flags)
    const terminal = new Terminal(flags, streams)
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
    const isWanted = plan.some(({ before, after }) => before !== after)
    const isConfirmed = isWanted && (await confirm(plan, flags, terminal))
    const failed = isConfirmed ? applyChanges(plan) : []
    terminal.answer(writeOutcome(plan, failed, isConfirmed, flags), {
      changes: plan.map((change) => recordOf(failed.find(({ file }) => file === change.file) ?? change)),
      isWritten: isConfirmed,
    })
    if (failed.length > 0 || plan.some(({ status }) => status === 'left-alone')) throw new ChecksFailedError()
  })
}

function checkFlags({ client = [], global: isGlobal, project }: SetupFlags): void {
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
  if (origins.library === 'flag' && URL.parse(values.library)?.password) {
    const problem = '--library: the address has a password, which would stand in files of other programs'
    throw new PharosError('USAGE', { problem, advice: 'set the library in pharos.config.json or PHAROS_LIBRARY' })
  }
  const library = origins.library === 'flag' ? ['--library', values.library] : []
  return { command, args: [...args, 'mcp', ...library] }
}

/** Shows the plan and asks, unless the answer was given as a flag. */
async function confirm(plan: readonly ConfigChange[], flags: SetupFlags, terminal: Terminal): Promise<boolean> {
  if (flags.dryRun === true) return false
  if (flags.yes === true) return true
  if (!terminal.isNoticeOnTerminal || process.stdin.isTTY !== true) {
    throw usageError('nobody can be asked here: add --yes to write the changes, or --dry-run')
  }
  terminal.notice(plan.map((change) => writeChange(change, 'would')).join('\n'))
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await prompt.question('Write these changes? [y/N] ')).trim())
  } catch (error) {
    // Ctrl-C or Ctrl-D instead of an answer.
    if (error instanceof Error && error.name === 'AbortError') return false
    throw error
  } finally {
    prompt.close()
  }
}

function writeOutcome(
  plan: readonly ConfigChange[],
  failed: readonly ConfigChange[],
  isWritten: boolean,
  { remove, dryRun }: SetupFlags,
): string {
  if (plan.length === 0) return 'none of these agents has such a file'
  const lines = plan.map((change) => {
    const failure = failed.find(({ file }) => file === change.file)
    return failure === undefined
      ? writeChange(change, isWritten ? 'did' : 'would')
      : writeChange({ ...failure, status: 'left-alone' }, 'did')
  })
  const written = plan.filter(({ before, after }) => before !== after).length - failed.length
  if (!isWritten) {
    const isDone = plan.every(({ before, after }) => before === after)
    return [
      ...lines,
      isDone ? 'nothing to change' : dryRun === true ? 'nothing was written (--dry-run)' : 'nothing was written',
    ].join('\n')
  }
  const next =
    remove === true
      ? []
      : [
          `Restart the agents, then ask one of them about your documentation. Add some first: ${findCommandNames().here} add <address>`,
        ]
  return [...lines, `${countOf(written, 'file')} written`, ...next].join('\n')
}

const WORDS: Readonly<Record<ConfigChange['status'], readonly [string, string]>> = {
  add: ['add', 'added'],
  update: ['update', 'updated'],
  remove: ['remove', 'removed'],
  unchanged: ['unchanged', 'unchanged'],
  'left-alone': ['left alone', 'left alone'],
}

/** `Cursor          ~/.cursor/mcp.json     added` */
function writeChange({ agent, kind, file, status, problem, before }: ConfigChange, mood: 'would' | 'did'): string {
  const word = WORDS[status][mood === 'would' ? 0 : 1]
  const hasBackup = before !== null && (status === 'add' || status === 'update')
  const note = problem !== undefined ? `: ${problem}` : hasBackup ? ` (before: ${shortPath(backupOf(file))})` : ''
  return printableLine(`${agent.name.padEnd(16)}${kind.padEnd(8)}${word.padEnd(10)} ${shortPath(file)}${note}`)
}

/** A path with `~` for the home folder, or relative to the current folder. */
function shortPath(file: string): string {
  const { home } = userFolders()
  const here = relative(process.cwd(), file)
  if (!here.startsWith('..') && here.length < file.length) return here
  return file.startsWith(home) ? `~${file.slice(home.length)}` : file
}

function recordOf({ agent, kind, file, status, problem }: ConfigChange): object {
  return { client: agent.id, kind, file, status, ...(problem !== undefined && { problem }) }
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
