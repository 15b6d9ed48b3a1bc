import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { settingNames } from '../../settings/settings.ts'
import { oneOf } from '../options/options.ts'
import { printableLine, type Streams } from '../terminal.ts'
import { completeWords, type SourceLabels } from './complete.ts'
import { FILES_LINE, SHELLS, type Shell, writeShellScript } from './shell-scripts.ts'

/** `pharos completion <shell>` */
export function addCompletion(program: Command, streams: Streams): void {
  program
    .command('completion')
    .description('print a script that completes verbs, options and sources in a shell')
    .argument('<shell>', SHELLS.join(', '), oneOf('<shell>', SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos completion bash >> ~/.bashrc\n  $ pharos completion zsh >> ~/.zshrc\n  $ pharos completion fish > ~/.config/fish/completions/pharos.fish',
    )
    .action((shell: Shell) => void streams.stdout.write(writeShellScript(shell)))
}

/** What completions need to know about the commands. */
interface KnownCommands {
  /** Names of the visible verbs. They are listed without loading the verbs, because the user waits. */
  readonly verbs: readonly string[]
  /** Creates the program with the verb of a line. */
  readonly createProgram: (args: readonly string[], streams: Streams) => Promise<Command>
}

/** `pharos complete -- <words>`, which the scripts call. Prints a completion on each line, with a tab before its description. */
export function addComplete(program: Command, streams: Streams, { verbs, createProgram }: KnownCommands): void {
  program
    .command('complete', { hidden: true })
    .argument('[words...]', 'the words after the name of the program; the last one is completed')
    .action(async (words: readonly string[]) => {
      const [verb = ''] = words
      const isVerbKnown = words.length > 1 && verbs.includes(verb)
      const loaded = isVerbKnown ? await createProgram(verb === 'help' ? ['--version'] : [verb], streams) : program
      const { values, hasFiles } = await completeWords(loaded, words, {
        verbs,
        settings: settingNames(),
        readLabels: () => readLabels(words),
      })
      const lines = values.map(({ value, description = '' }) => {
        return description === '' ? printableLine(value) : `${printableLine(value)}\t${printableLine(description)}`
      })
      streams.stdout.write([...lines, ...(hasFiles ? [FILES_LINE] : [])].map((line) => `${line}\n`).join(''))
    })
}

const NO_LABELS: SourceLabels = { sources: [], versions: [] }

/** Reads the names in the library of the line. A library in PostgreSQL is not asked, because connecting takes too long. */
async function readLabels(words: readonly string[]): Promise<SourceLabels> {
  const library = findLibrary(words)
  if (library === undefined || isPostgres(library)) return NO_LABELS
  const labels = await listLabels(library)
  const sources = labels.flatMap(({ name, version }) => [name, ...(version === null ? [] : [`${name}@${version}`])])
  const versions = labels.flatMap(({ version }) => version ?? [])
  return { sources: sortUnique(sources), versions: sortUnique(versions) }
}

/** The names and versions of the sources of a library file; none if it is missing or cannot be read. */
async function listLabels(
  library: string,
): Promise<readonly { readonly name: string; readonly version: string | null }[]> {
  const { listSourceNames } = await import('../../store/sqlite/list-source-names.ts')
  try {
    return listSourceNames(library)
  } catch {
    return []
  }
}

/** The library that the line means; undefined if the configuration is not valid. */
function findLibrary(words: readonly string[]): string | undefined {
  const library = readFlag('--library', words)
  try {
    const flags = library === undefined ? {} : { library }
    return readConfig({ flags, file: readFlag('--config', words) }).values.library
  } catch {
    return undefined
  }
}

/** The value of an option on an unfinished line. */
function readFlag(flag: string, words: readonly string[]): string | undefined {
  const at = words.lastIndexOf(flag)
  const joined = words.findLast((word) => word.startsWith(`${flag}=`))
  return at >= 0 && at < words.length - 2 ? words[at + 1] : joined?.slice(flag.length + 1)
}

function sortUnique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareUtf8)
}
