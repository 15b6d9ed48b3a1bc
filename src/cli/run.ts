import { Command, CommanderError } from 'commander'
import { messageOf, PharosError, usageError } from '../core/errors.ts'
import { redactSecrets } from '../core/secrets.ts'
import { findNearest, suggest } from '../core/text/nearest.ts'
import { parseTreeUrl } from '../core/url/parse-tree-url.ts'
import { readPastedAddress } from '../core/url/pasted-address.ts'
import { placeVerbs } from '../places/verbs.ts'
import { VERSION } from '../version.ts'
import { AdvisedError } from './advised-error.ts'
import { ChecksFailedError } from './checks-failed-error.ts'
import { findCommandNames } from './command-names.ts'
import { fillBareFlags } from './options/options.ts'
import { colorsFor, printable, printableLine, type Streams } from './terminal.ts'
import type { AddVerb } from './verb.ts'

/** Runs the command line and returns the exit code. Prints every error in one line, with advice. */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const program = await createProgram(args, streams)
  try {
    if (args.length === 0) {
      program.outputHelp()
      return new PharosError('USAGE').entry.exitCode
    }
    await program.parseAsync(fillBareFlags(args), { from: 'user' })
    return 0
  } catch (error) {
    // Commander throws for `--help` and `--version` too, with exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    if (error instanceof ChecksFailedError) return error.exitCode
    return report(error, args, program, streams)
  }
}

/** The commands in the order of the help. Only the requested command is loaded, because loading all of them would slow down every start. */
const VERBS: Readonly<Record<string, () => Promise<AddVerb>>> = {
  add: async () => (await import('./verbs/add.ts')).addAdd,
  deps: async () => (await import('./verbs/deps.ts')).addDeps,
  check: async () => (await import('./verbs/check.ts')).addCheck,
  import: async () => (await import('./verbs/import.ts')).addImport,
  watch: async () => (await import('./verbs/watch.ts')).addWatch,
  recrawl: async () => (await import('./verbs/recrawl.ts')).addRecrawl,
  refresh: async () => (await import('./verbs/refresh.ts')).addRefresh,
  retry: async () => (await import('./verbs/retry.ts')).addRetry,
  status: async () => (await import('./verbs/status.ts')).addStatus,
  list: async () => (await import('./verbs/list.ts')).addList,
  remove: async () => (await import('./verbs/remove.ts')).addRemove,
  explain: async () => (await import('./verbs/explain.ts')).addExplain,
  stats: async () => (await import('./verbs/stats.ts')).addStats,
  changes: async () => (await import('./versions/changes.ts')).addChanges,
  duplicates: async () => (await import('./verbs/duplicates.ts')).addDuplicates,
  copy: async () => (await import('./verbs/copy.ts')).addCopy,
  search: async () => (await import('./verbs/search.ts')).addSearch,
  open: async () => (await import('./verbs/open.ts')).addOpen,
  get: async () => (await import('./verbs/get.ts')).addGet,
  read: async () => (await import('./verbs/read.ts')).addRead,
  outline: async () => (await import('./verbs/outline.ts')).addOutline,
  symbols: async () => (await import('./verbs/symbols.ts')).addSymbols,
  eval: async () => (await import('./verbs/eval.ts')).addEval,
  embed: async () => (await import('./verbs/embed.ts')).addEmbed,
  ...placeVerbs,
  pack: async () => (await import('./verbs/pack.ts')).addPack,
  fetch: async () => (await import('./verbs/fetch.ts')).addFetch,
  extract: async () => (await import('./verbs/extract.ts')).addExtract,
  serve: async () => (await import('./serve/serve.ts')).addServe,
  worker: async () => (await import('./serve/worker.ts')).addWorker,
  mcp: async () => (await import('./verbs/mcp.ts')).addMcp,
  setup: async () => (await import('./verbs/setup.ts')).addSetup,
  completion: async () => (await import('./installation/completion.ts')).addCompletion,
  complete: async () => {
    const { addComplete } = await import('./installation/completion.ts')
    const verbs = Object.keys(VERBS).filter((name) => !HIDDEN_VERBS.has(name))
    return (program, streams) => addComplete(program, streams, { verbs: [...verbs, 'help'], createProgram })
  },
  config: async () => (await import('./installation/config.ts')).addConfig,
  uninstall: async () => (await import('./installation/uninstall.ts')).addUninstall,
  demo: async () => (await import('./verbs/demo.ts')).addDemo,
  doctor: async () => (await import('./verbs/doctor.ts')).addDoctor,
  'crawl-job': async () => (await import('./crawl-job.ts')).addCrawlJob,
}

/** Commands that only the program itself and scripts start. */
const HIDDEN_VERBS: ReadonlySet<string> = new Set(['complete', 'crawl-job'])

/** Creates the program with the commands that the arguments need. */
export async function createProgram(args: readonly string[], streams: Streams): Promise<Command> {
  const program = new Command('pharos')
    .usage('<verb> [options]')
    .description('Makes web sites, folders and repositories searchable for agents and people.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    // Options after a command belong to the command: `add` has its own `--version`.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      // Errors are reported in one place, in one format.
      writeErr: () => undefined,
    })
    .configureHelp({ styleTitle: (title) => title.replace('Commands:', 'Verbs:') })
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos demo\n  $ pharos add https://docs.example.com/guide/ --name guide\n  $ pharos search "retry after" --source guide\n  $ pharos setup\n  $ pharos serve\n  $ pharos pack ./docs --out docs.zip',
    )
  for (const load of verbsFor(args)) (await load())(program, streams)
  addHelp(program)
  return program
}

/** The command to run or explain. For anything else all commands are loaded, to list them or to suggest the nearest name. */
function verbsFor([first, second]: readonly string[]): readonly (() => Promise<AddVerb>)[] {
  if (first === '--version' || first === '-V') return []
  const verb = first === 'help' ? second : first
  const isVerb = verb !== undefined && Object.hasOwn(VERBS, verb)
  return Object.entries(VERBS).flatMap(([name, load]) => (!isVerb || name === verb ? [load] : []))
}

/** `pharos help [verb]` */
function addHelp(program: Command): void {
  program
    .command('help')
    .description('print the help of a verb')
    .argument('[verb]', 'the verb to describe')
    .addHelpText('after', '\nExample:\n  $ pharos help search')
    .action((verb: string | undefined) => {
      const found = verb === undefined ? program : findVerb(program, verb)
      if (found !== undefined) {
        found.outputHelp()
        return
      }
      const names = program.commands.map((command) => command.name())
      const problem = `unknown verb '${verb}'${suggest(findNearest(verb ?? '', names))}`
      throw usageError(problem)
    })
}

function findVerb(program: Command, name: string | undefined): Command | undefined {
  return program.commands.find((command) => command.name() === name)
}

/** Prints an error and returns its exit code. */
function report(error: unknown, args: readonly string[], program: Command, { stderr }: Streams): number {
  // Arguments after `--` are not flags.
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const failure = toPharosError(error, args)
  const message = printableLine(redactSecrets(failure.message))
  const { here } = findCommandNames()
  const advice = adviceFor(failure, findVerb(program, args[0])?.name(), flags).replaceAll('`pharos ', `\`${here} `)
  if (flags.includes('--json') || flags.includes('--json-logs')) {
    stderr.write(`${JSON.stringify({ error: { code: failure.code, message, advice } })}\n`)
  } else {
    const { red, dim } = colorsFor(stderr, { color: !flags.includes('--no-color') })
    // A user who interrupts needs no advice, unless the work can be resumed.
    const needsNoAdvice = failure.code === 'INTERRUPTED' && !(failure instanceof AdvisedError)
    stderr.write(`${red('pharos:')} ${message}${needsNoAdvice ? '' : dim(` – ${advice}`)}\n`)
  }
  if (flags.includes('--verbose') && error instanceof Error && failure.code !== 'INTERRUPTED') {
    stderr.write(`${printable(redactSecrets(error.stack ?? ''))}\n`)
  }
  return failure.entry.exitCode
}

/** The advice of the table, adapted to the command in use. */
function adviceFor(failure: PharosError, verb: string | undefined, args: readonly string[]): string {
  if (failure instanceof AdvisedError) return failure.entry.advice
  const { code, entry, cause } = failure
  const isUnknown = cause instanceof CommanderError && cause.code === 'commander.unknownOption'
  if (isUnknown && verb === 'search') {
    return 'see `pharos help search`, or put -- before words with a dash: `pharos search --pack docs.zip -- --max-pages`'
  }
  const isExcess = cause instanceof CommanderError && cause.code === 'commander.excessArguments'
  const afterAllowance = args[args.indexOf('--allow-private') + 1]
  if (isExcess && args.includes('--allow-private') && afterAllowance !== undefined && !afterAllowance.startsWith('-')) {
    return 'join a value to --allow-private with an equals sign: `--allow-private=10.0.0.0/8`'
  }
  if (isExcess && verb === 'add') return 'add one address at a time; `--name <name>` gives it a name'
  return code === 'USAGE' && verb !== undefined && verb !== 'help' ? `see \`pharos help ${verb}\`` : entry.advice
}

function toPharosError(error: unknown, args: readonly string[]): PharosError {
  if (error instanceof PharosError) return error
  if (error instanceof CommanderError)
    return new PharosError('USAGE', { problem: usageProblem(error, args[0] ?? '') }, { cause: error })
  const problem = messageOf(error)
  return new PharosError('INTERNAL', { problem }, { cause: error })
}

/** Words that other programs use for a verb. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ask: 'search',
  query: 'search',
  find: 'search',
  crawl: 'add',
  index: 'add',
  update: 'recrawl',
  delete: 'remove',
  rm: 'remove',
  ls: 'list',
  sources: 'list',
  start: 'serve',
  server: 'serve',
  dashboard: 'serve',
  init: 'setup',
  install: 'setup',
  connect: 'setup',
}

/** The command that was meant by a word that is no verb: another word for one, or an address to add. */
function findMeantVerb(word: string): string | undefined {
  if (Object.hasOwn(OTHER_WORDS, word)) return OTHER_WORDS[word]
  const { url, meaning } = readPastedAddress(word)
  return meaning !== undefined || parseTreeUrl(url) !== undefined || /^https?:/.test(url) ? `add ${word}` : undefined
}

/** The message of commander in one line, with a suggested spelling. */
function usageProblem(error: CommanderError, verb: string): string {
  const other = error.code === 'commander.unknownCommand' ? findMeantVerb(verb) : undefined
  if (other !== undefined) return `unknown verb '${verb}', did you mean ${other}?`
  return error.message
    .replace(/^error: /, '')
    .replace('unknown command', 'unknown verb')
    .replace(/(?<!\s)\s*\n\(Did you mean (.+)\?\)$/s, ', did you mean $1?')
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '')
}
