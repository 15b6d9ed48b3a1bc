import { Command, CommanderError } from 'commander'
import pc from 'picocolors'
import { PharosError } from '../core/errors.ts'
import { redactSecrets } from '../core/secrets.ts'
import { addDoctor } from './doctor.ts'
import { addGet } from './get.ts'
import { addOutline } from './outline.ts'
import { addPack } from './pack.ts'
import { addSearch } from './search.ts'
import { addSymbols } from './symbols.ts'
import { VERSION } from './version.ts'

/** Runs the command line and gives the exit code. Prints every failure in one line, with what to do next. */
export async function run(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController()
  const stop = () => interrupt.abort(new PharosError('INTERRUPTED'))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    checkVersion()
    await createProgram(interrupt.signal).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return report(error, args)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

const LEAST_NODE = [22, 19] as const

function checkVersion(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return
  const problem = `Node ${process.versions.node} is too old, Pharos needs ${LEAST_NODE.join('.')} or newer`
  throw new PharosError('USAGE', { problem })
}

function createProgram(signal: AbortSignal): Command {
  const program = new Command('pharos')
    .description('Turns folders and repositories into packs that agents and people can search.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [verb]', 'print the help of a verb')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos pack ./docs --out docs.zip\n  $ pharos search "retry after" --pack docs.zip\n  $ pharos get c0001 --pack docs.zip',
    )
  for (const add of [addPack, addSearch, addGet, addOutline, addSymbols, addDoctor]) add(program, signal)
  return program
}

/** Prints what went wrong and gives its exit code. */
function report(error: unknown, args: readonly string[]): number {
  if (error instanceof CommanderError) {
    // Help and version end with an error of their own that stands for success.
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') {
      process.stdout.write(createProgram(new AbortController().signal).helpInformation())
      return new PharosError('USAGE').entry.exitCode
    }
  }
  const known = toPharosError(error)
  const advice = known.code === 'INTERRUPTED' ? '' : ` – ${known.entry.advice}`
  if (args.includes('--json')) {
    const { code, message, entry } = known
    process.stderr.write(
      `${JSON.stringify({ error: { code, message: redactSecrets(message), advice: entry.advice } })}\n`,
    )
  } else {
    process.stderr.write(`${pc.red('pharos:')} ${redactSecrets(known.message)}${pc.dim(advice)}\n`)
  }
  if (args.includes('--verbose') && error instanceof Error)
    process.stderr.write(`${redactSecrets(error.stack ?? '')}\n`)
  return known.entry.exitCode
}

function toPharosError(error: unknown): PharosError {
  if (error instanceof PharosError) return error
  if (error instanceof CommanderError)
    return new PharosError('USAGE', { problem: usageProblem(error) }, { cause: error })
  const problem = error instanceof Error ? error.message : String(error)
  return new PharosError('INTERNAL', { problem }, { cause: error })
}

/** Commander's message in one line, with the nearest right spelling. */
function usageProblem(error: CommanderError): string {
  return error.message
    .replace(/^error: /, '')
    .replace('unknown command', 'unknown verb')
    .replace(/\s*\n\(Did you mean (.+)\?\)$/s, ', did you mean $1?')
    .replace(/\s+/g, ' ')
}
