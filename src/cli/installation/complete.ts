import type { Argument, Command, Option } from 'commander'
import { SETTINGS, type SettingName } from '../../settings/settings.ts'

/** A completion of the last word, with what it means. */
export interface Completion {
  readonly value: string
  readonly description?: string
}

/** What can be typed in place of the last word. */
export interface Completions {
  readonly values: readonly Completion[]
  /** Whether names of files are possible too. */
  readonly hasFiles: boolean
}

/** Names in the library. */
export interface SourceLabels {
  /** Names of sources, with and without their versions. */
  readonly sources: readonly string[]
  readonly versions: readonly string[]
}

/** What completions need to know besides the options and arguments of a verb. */
export interface CompletionFacts {
  /** Names of verbs. */
  readonly verbs: readonly string[]
  /** Names of settings. */
  readonly settings: readonly string[]
  /** Reads the library; called only if it is needed. */
  readonly readLabels: () => Promise<SourceLabels>
}

const NOTHING: Completions = { values: [], hasFiles: false }

/** Completes the last of the words that follow the name of the program. Everything about commands comes from their definitions. */
export async function completeWords(
  program: Command,
  words: readonly string[],
  facts: CompletionFacts,
): Promise<Completions> {
  const current = words.at(-1) ?? ''
  const found = await findCompletions(program, words.slice(0, -1), current, facts)
  return { ...found, values: found.values.filter(({ value }) => value.startsWith(current)) }
}

async function findCompletions(
  program: Command,
  before: readonly string[],
  current: string,
  facts: CompletionFacts,
): Promise<Completions> {
  const verb = program.commands.find((command) => command.name() === before[0])
  if (before.length === 0) {
    return current.startsWith('-') ? { values: listFlags(program), hasFiles: false } : toCompletions(facts.verbs)
  }
  if (verb === undefined) return NOTHING
  const line = readLine(verb, before.slice(1))
  if (line.open !== undefined) return completeOption(line.open, verb, facts)
  if (line.isAfterDashes || !current.startsWith('-')) {
    if (verb.name() === 'help') return toCompletions(facts.verbs)
    const argument = verb.registeredArguments[line.arguments] ?? verb.registeredArguments.at(-1)
    const isKnown = line.arguments < verb.registeredArguments.length || argument?.variadic === true
    if (argument === undefined || !isKnown) return NOTHING
    // The value of a setting follows its name.
    const isValue = argument.name() === 'setting' && line.arguments >= verb.registeredArguments.length
    return isValue ? completeValue(before.at(-1) ?? '') : completeArgument(argument, facts)
  }
  const [, name = ''] = /^(--[\w-]+)=/.exec(current) ?? []
  const option = verb.options.find(({ long }) => long === name)
  if (option === undefined) return { values: listFlags(verb), hasFiles: false }
  const { values } = await completeOption(option, verb, facts)
  return { values: values.map((one) => ({ ...one, value: `${name}=${one.value}` })), hasFiles: false }
}

function listFlags(command: Command): Completion[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []))
}

interface ReadLine {
  /** The option whose value comes next. */
  readonly open: Option | undefined
  /** Number of arguments so far that belong to no option. */
  readonly arguments: number
  readonly isAfterDashes: boolean
}

/** Reads the words of a command so far. */
function readLine(verb: Command, words: readonly string[]): ReadLine {
  let open: Option | undefined
  let count = 0
  for (const [i, word] of words.entries()) {
    if (open !== undefined) open = undefined
    else if (word === '--') return { open, arguments: count + words.length - i - 1, isAfterDashes: true }
    else if (!word.startsWith('-') || word === '-') count++
    // An optional value must be joined with an equals sign, so the next word does not belong to the option.
    else open = verb.options.find(({ long, short, required }) => required && (long === word || short === word))
  }
  return { open, arguments: count, isAfterDashes: false }
}

async function completeOption(option: Option, verb: Command, facts: CompletionFacts): Promise<Completions> {
  const name = option.attributeName()
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined
  const choices = setting?.choices ?? choicesOf(option.parseArg)
  if (choices !== undefined) return toCompletions(choices)
  if (setting?.type === 'path') return { values: [], hasFiles: true }
  // The version of a new source is not in the library.
  if (name === 'version' && verb.name() !== 'add') return toCompletions((await facts.readLabels()).versions)
  return completePlaceholder(option.flags, facts)
}

async function completeArgument(argument: Argument, facts: CompletionFacts): Promise<Completions> {
  const choices = choicesOf(argument.parseArg)
  return choices === undefined ? completePlaceholder(argument.name(), facts) : toCompletions(choices)
}

function completeValue(name: string): Completions {
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined
  return toCompletions(setting?.type === 'switch' ? ['true', 'false'] : (setting?.choices ?? []))
}

/** Completes by the words of a placeholder, such as `<folder|source>`. */
async function completePlaceholder(placeholder: string, facts: CompletionFacts): Promise<Completions> {
  const words = new Set(placeholder.replace(/^.*--[\w-]+/, '').split(/[^a-z]+/))
  const values = [
    ...(words.has('source') ? (await facts.readLabels()).sources : []),
    ...(words.has('setting') ? facts.settings : []),
  ]
  return { ...toCompletions(values), hasFiles: FILE_WORDS.some((word) => words.has(word)) }
}

const FILE_WORDS = ['file', 'folder', 'dir', 'path', 'zip', 'queries', 'from', 'to']

function toCompletions(values: readonly string[]): Completions {
  return { values: values.map((value) => ({ value })), hasFiles: false }
}

/** The words that a parser made by `oneOf` accepts. */
function choicesOf(parse: unknown): readonly string[] | undefined {
  if (typeof parse !== 'function' || !('choices' in parse) || !Array.isArray(parse.choices)) return undefined
  return parse.choices.map(String)
}
