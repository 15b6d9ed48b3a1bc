import { join } from 'node:path'
import type { Command } from 'commander'
import { ChecksFailedError } from '../../cli/checks-failed-error.ts'
import { interruptible } from '../../cli/interrupt.ts'
import { addLibraryOptions, createHint, type Hint, withLibrary } from '../../cli/library.ts'
import { type CommonFlags, configOf, nonEmptyText, oneOf } from '../../cli/options/options.ts'
import { countOf, printableLine, type Streams, Terminal } from '../../cli/terminal.ts'
import { hasNoPlaces, writeNoPlaces } from '../../cli/text/no-places.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeNumber } from '../../core/text/count.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { COLUMNS } from '../gazetteer/csv.ts'
import type {
  Gazetteer,
  GazetteerImportResult,
  GazetteerIssue,
  GazetteerSummary,
  StoredGazetteerSource,
} from '../ports/gazetteer.ts'

const ACTIONS = ['import', 'export', 'validate', 'qa', 'status'] as const
type Action = (typeof ACTIONS)[number]

interface GazetteerFlags extends CommonFlags {
  readonly from?: string
  readonly file?: string
  readonly countriesOnly?: boolean
  readonly out?: string
}

/** The context of one invocation. */
interface Invocation {
  readonly command: Command
  readonly flags: GazetteerFlags
  readonly streams: Streams
  readonly terminal: Terminal
}

/** `pharos gazetteer import|export|validate|qa|status` */
export function addGazetteer(program: Command, streams: Streams): void {
  const command = program
    .command('gazetteer')
    .description('manage the gazetteer, the list of place names: import, export, check')
    .argument('<what>', ACTIONS.join(', '), oneOf('<what>', ACTIONS))
    .option(
      '--from <folder>',
      'for import: read the data files from this folder instead of downloading them with npm',
      nonEmptyText('--from'),
    )
    .option(
      '--file <file>',
      'for import: places of your own, as NDJSON or CSV, instead of the world',
      nonEmptyText('--file'),
    )
    .option('--countries-only', 'for import: neither regions nor cities')
    .option('-o, --out <file>', 'for export: write here instead of to standard output', nonEmptyText('--out'))
    .addHelpText(
      'after',
      `\nCountries come from world-countries (ODbL), regions and cities from\nGeoNames (CC BY), fetched once by the npm of this machine.\nA record in your own file that has the ref of a known place replaces\nthat place and all its names.\n\nA CSV file names its columns in its first line: name, and any of\n${otherColumns()}.\n\nExamples:\n  $ pharos gazetteer import\n  $ pharos gazetteer import --file towns.csv\n  $ pharos gazetteer export --out places.ndjson\n  $ pharos gazetteer status --json`,
    )
  addLibraryOptions(command)
  command.action((what: Action, flags: GazetteerFlags) => {
    refuseStrayFlags(what, flags)
    return ACTION_RUNNERS[what]({ command, flags, streams, terminal: new Terminal(flags, streams) })
  })
}

/** The other columns that a table of places may have, wrapped for a terminal. */
function otherColumns(): string {
  const others = COLUMNS.filter((column) => column !== 'name')
  return `${others.slice(0, 8).join(', ')},\n${others.slice(8).join(', ')}`
}

const ACTION_RUNNERS: Readonly<Record<Action, (invocation: Invocation) => Promise<void>>> = {
  import: runImport,
  export: runExport,
  validate: runValidate,
  qa: runQa,
  status: runStatus,
}

function refuseStrayFlags(what: Action, { from, file, countriesOnly, out }: GazetteerFlags): void {
  const refuse = (problem: string): never => {
    throw usageError(problem)
  }
  const given = Object.entries({ from, file, 'countries-only': countriesOnly }).find(([, value]) => value !== undefined)
  if (what !== 'import' && given !== undefined) {
    refuse(`gazetteer ${what} takes no --${given[0]}: that is for gazetteer import`)
  }
  if (what !== 'export' && out !== undefined) refuse(`gazetteer ${what} takes no --out: that is for gazetteer export`)
  if (file !== undefined && (from !== undefined || countriesOnly === true)) {
    refuse('--file is a file of your own: it takes neither --from nor --countries-only')
  }
}

async function runImport({ command, flags, terminal }: Invocation): Promise<void> {
  const config = configOf(command)
  const began = performance.now()
  await interruptible((signal) =>
    withLibrary(config, async ({ gazetteer, clock }) => {
      let recordCount = 0
      const onRecord = (): void => {
        recordCount++
        if (recordCount % 500 === 0) terminal.live(`importing: ${countOf(recordCount, 'place')}`)
      }
      const total = await importPlaces()
      terminal.clear()
      const summary = await gazetteer.summary()
      const ms = Math.round(performance.now() - began)
      for (const problem of total.problems) terminal.note(printableLine(`left out: ${problem}`))
      if (flags.file !== undefined && total.places === 0) throw noPlacesError(flags.file, total.refused)
      // The user knows the origin of their own file, so no credits are shown.
      const credits = flags.file === undefined ? summary.sources.map(writeCredit) : []
      terminal.answer([writeResult(total, ms), ...credits].join('\n'), {
        ...total,
        elapsed_ms: ms,
        ...summaryRecord(summary),
      })

      async function importPlaces(): Promise<GazetteerImportResult> {
        const shared = { signal, now: clock.now(), onRecord }
        // Loaded on demand, because no other command imports data.
        if (flags.file !== undefined) {
          const { importFile } = await import('../gazetteer/import-file.ts')
          return importFile(gazetteer, { ...shared, path: flags.file })
        }
        const { importWorld } = await import('../gazetteer/import-world.ts')
        return importWorld(gazetteer, {
          ...shared,
          folder: join(config.values.cacheFolder, 'gazetteer'),
          countriesOnly: flags.countriesOnly === true,
          onStep: (step) => terminal.note(terminal.noteColors.dim(`${step} …`)),
          onUnverified: (notice) => terminal.note(printableLine(notice)),
          ...(flags.from === undefined ? {} : { from: flags.from }),
        })
      }
    }),
  )
}

/** A file without any place is probably the wrong file. */
function noPlacesError(path: string, refused: number): PharosError {
  const problem = refused === 0 ? 'there is no place in it' : `none of its ${countOf(refused, 'line')} is a place`
  const advice = `give NDJSON as \`pharos gazetteer export\` writes it, or CSV with columns of ${COLUMNS.join(', ')}`
  return new PharosError('INPUT_UNREADABLE', { source: path, problem, advice })
}

function writeResult({ places, names, added, changed, refused }: GazetteerImportResult, ms: number): string {
  const facts = [
    `${countOf(places, 'place')} with ${countOf(names, 'name')} in ${writeDuration(Math.ceil(ms / 1000) * 1000)}`,
    `${writeNumber(added)} new`,
    `${writeNumber(changed)} changed`,
    ...(refused === 0 ? [] : [`${writeNumber(refused)} left out`]),
  ]
  return facts.join(', ')
}

async function runExport({ command, flags, streams, terminal }: Invocation): Promise<void> {
  const { exportToFile, exportToStream } = await import('./gazetteer-export.ts')
  await interruptible((signal) =>
    withLibrary(configOf(command), async ({ gazetteer }) => {
      if (flags.out === undefined) {
        await exportToStream(gazetteer, streams.stdout, signal)
        return
      }
      const { places, bytes } = await exportToFile(gazetteer, flags.out, signal)
      terminal.answer(`${countOf(places, 'place')} written to ${printableLine(flags.out)}`, {
        file: flags.out,
        places,
        bytes,
      })
    }),
  )
}

async function runValidate({ command, terminal }: Invocation): Promise<void> {
  const { issues, text } = await findIssues(command, 'no rule is violated', (gazetteer) => gazetteer.validate())
  terminal.answer(text, { ok: issues.length === 0, issues })
  if (issues.length > 0) throw new ChecksFailedError(issues.map(({ kind }) => kind).join(', '))
}

async function runQa({ command, terminal }: Invocation): Promise<void> {
  const { issues, text } = await findIssues(command, 'nothing looks wrong', (gazetteer) => gazetteer.inspect())
  terminal.answer(text, { issues })
}

/** Finds issues and describes them. Without any places the text says so instead of reporting success. */
async function findIssues(
  command: Command,
  successText: string,
  find: (gazetteer: Gazetteer) => Promise<readonly GazetteerIssue[]>,
): Promise<{ readonly issues: readonly GazetteerIssue[]; readonly text: string }> {
  const config = configOf(command)
  return withLibrary(config, async (library) => {
    const issues = await find(library.gazetteer)
    if (issues.length > 0) return { issues, text: writeIssues(issues) }
    return { issues, text: (await hasNoPlaces(library)) ? writeNoPlaces(createHint(config)) : successText }
  })
}

/** `duplicate: 67 × cities of one region …; places 114992, 83467` */
function writeIssues(issues: readonly GazetteerIssue[]): string {
  return issues
    .map(({ kind, count, message, examples }) => {
      const some = examples.length === 0 ? '' : `; places ${examples.slice(0, 5).join(', ')}`
      return `${kind}: ${writeNumber(count)} × ${message}${some}`
    })
    .join('\n')
}

async function runStatus({ command, terminal }: Invocation): Promise<void> {
  const config = configOf(command)
  await withLibrary(config, async ({ gazetteer }) => {
    const summary = await gazetteer.summary()
    terminal.answer(writeStatus(summary, createHint(config)), summaryRecord(summary))
  })
}

function writeStatus(summary: GazetteerSummary, hint: Hint): string {
  const { countries, regions, cities, others, names, sources, revision } = summary
  if (names === 0) return writeNoPlaces(hint)
  const counts = [
    `${writeNumber(countries)} countr${countries === 1 ? 'y' : 'ies'}`,
    countOf(regions, 'region'),
    `${writeNumber(cities)} cit${cities === 1 ? 'y' : 'ies'}`,
    countOf(others, 'other place'),
    countOf(names, 'name'),
  ]
  const state =
    revision === ''
      ? `an import was interrupted, so no places are found yet; import again with: ${hint('gazetteer', 'import')}`
      : `revision: ${revision}`
  return [counts.join(', '), state, ...sources.map(writeCredit)].join('\n')
}

/** The attribution of a data source; for a file of the user, as far as the file provides it. */
function writeCredit({ name, version, license, attribution, url }: StoredGazetteerSource): string {
  const where = url === null ? '' : ` – ${url}`
  const label = version === 'own' ? name : `${name} ${version}`
  const facts = [name === `file:${attribution}` ? 'a file of your own' : label, license === 'unknown' ? '' : license]
  return printableLine(`  ${attribution} (${facts.filter((fact) => fact !== '').join(', ')})${where}`)
}

function summaryRecord({ sources, ...counts }: GazetteerSummary): Record<string, unknown> {
  return {
    gazetteer: counts,
    sources: sources.map(({ importedAt, ...source }) => ({ ...source, imported_at: isoOrNull(importedAt) })),
  }
}
