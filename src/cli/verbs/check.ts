import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { packageFolders } from '../../config.ts'
import { codeOf, PharosError, usageError } from '../../core/errors.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { extensionOf } from '../../core/text/path.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { openBundledGrammars } from '../../ingest/grammars.ts'
import { walkFolder } from '../../ingest/walk-folder.ts'
import { checkCode } from '../../library/check/check-code.ts'
import { countVerdicts, describePlace, listReasons, writeSummary } from '../../library/check/write-check.ts'
import type { CheckedPlace, CodeChecker, CodeLanguage } from '../../library/ports/code-checker.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { findProjectFolder } from '../../project/find-project-folder.ts'
import { openCodeChecker } from '../../project/open-code-checker.ts'
import { openProjectReader } from '../../project/open-project.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { addLibraryOptions, openConfiguredLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'

interface CheckFlags extends CommonFlags {
  readonly all?: boolean
}

/** Larger files are no code that a person wrote. */
const MAX_BYTES = 2_000_000

/** `pharos check [files…]` */
export function addCheck(program: Command, streams: Streams): void {
  const command = program
    .command('check')
    .description('look up the names that code uses in the declarations of the locked versions of its packages')
    .argument(
      '[paths...]',
      'files of TypeScript, JavaScript, Python or Markdown, or folders (default: the current folder)',
    )
    .option('--all', 'also show what exists and what is unknown')
    .addHelpText(
      'after',
      '\nLooks up imports, members, options and numbers of arguments; types are not checked. The exit code is 1 if a name does not exist.\n\nExamples:\n  $ pharos check src/server.ts\n  $ pharos check src README.md --all',
    )
  addLibraryOptions(command).action(async (paths: readonly string[], flags: CheckFlags) => {
    const terminal = new Terminal(flags, streams)
    const config = configOf(command)
    let library: OpenLibrary | undefined
    const openLibrary = async () => {
      // A check needs no library, so none is created.
      const { library: path } = config.values
      if (!isPostgres(path) && !existsSync(path)) return undefined
      library ??= await openConfiguredLibrary(config)
      return library
    }
    try {
      const files = await listFiles(paths.length === 0 ? ['.'] : paths)
      const checkers = createCheckers()
      const results: FileResult[] = []
      for (const path of files) {
        const checker = await checkers(dirname(path))
        const input = { code: await readFile(path, 'utf8'), language: languageOf(path) ?? 'typescript', path }
        const { places, notes } = await checkCode(checker, input, openLibrary)
        const file = relative('.', path)
        for (const note of notes) terminal.note(printableLine(`${file}: ${note}`))
        results.push({ file, places })
      }
      print(results, flags, terminal)
    } finally {
      await library?.close()
    }
  })
}

interface FileResult {
  readonly file: string
  readonly places: readonly CheckedPlace[]
}

function print(results: readonly FileResult[], { all = false }: CheckFlags, terminal: Terminal): void {
  const places = results.flatMap((one) => one.places)
  const shown = results.flatMap(({ file, places: found }) =>
    found
      .filter(({ verdict }) => all || verdict === 'not in this version')
      .map((place) => printableLine(`${file}:${place.line}:${place.column} ${describePlace(place)}`)),
  )
  const { exists, missing, unknown } = countVerdicts(places)
  const records = results.flatMap(({ file, places: found }) => found.map((place) => toRecord(file, place)))
  const listed = records.filter(({ verdict }) => all || verdict !== 'exists')
  if (shown.length > 0 || terminal.isJson) {
    terminal.answer(shown.join('\n'), { files: results.length, exists, missing, unknown, places: listed })
  }
  terminal.note(`${countOf(results.length, 'file')}, ${writeSummary(places)}`)
  if (!all) for (const reason of listReasons(places)) terminal.note(printableLine(reason))
  if (missing > 0) throw new ChecksFailedError()
}

function toRecord(file: string, { declaredAt, inVersions, address: _address, ...place }: CheckedPlace) {
  return { file, ...place, declared_at: declaredAt, in_versions: inVersions }
}

/** The files to check, each once: those that are given, and those of the given folders. */
async function listFiles(paths: readonly string[]): Promise<string[]> {
  const files = new Set<string>()
  for (const given of paths) {
    const path = resolve(given)
    const stats = await stat(path).catch((cause: unknown) => {
      if (codeOf(cause) === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path: given }, { cause })
      throw cause
    })
    if (stats.isDirectory()) {
      for await (const entry of walkFolder(path)) {
        const file = join(path, entry.path)
        if (entry.type === 'file' && isSource(entry.path) && (await stat(file)).size <= MAX_BYTES) files.add(file)
      }
    } else if (languageOf(path) === undefined) {
      throw usageError(`${JSON.stringify(given)}: expected a file of TypeScript, JavaScript, Python or Markdown`)
    } else files.add(path)
  }
  return [...files].sort(compareUtf8)
}

/** Whether a file of a folder is checked without being named: declarations and installed packages are not. */
function isSource(path: string): boolean {
  const language = languageOf(path)
  return language !== undefined && language !== 'markdown' && !/\.d\.[cm]?ts$|(?:^|\/)node_modules\//.test(path)
}

function languageOf(path: string): CodeLanguage | undefined {
  return LANGUAGES[extensionOf(path)]
}

const LANGUAGES: Readonly<Record<string, CodeLanguage>> = Object.fromEntries([
  ...['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'].map((name) => [name, 'typescript'] as const),
  ...[['py', 'python'] as const, ['pyi', 'python'] as const, ['md', 'markdown'] as const],
])

/** One checker for each project. */
function createCheckers(): (folder: string) => Promise<CodeChecker> {
  const checkers = new Map<string, CodeChecker>()
  const reader = openProjectReader(packageFolders())
  return async (folder) => {
    const project = await findProjectFolder(folder)
    const known = checkers.get(project)
    if (known !== undefined) return known
    // The files of a project do not change while one command runs.
    const packages = reader.read(project)
    const checker = openCodeChecker({ read: () => packages, openGrammars: openBundledGrammars })
    checkers.set(project, checker)
    return checker
  }
}
