import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { type EffectiveConfig, listUnsetSiteVariables } from '../../config.ts'
import { GRAMMAR_NAMES } from '../../core/chunk/languages.ts'
import { PharosError } from '../../core/errors.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { hidePassword, isPostgres } from '../../core/url/postgres-address.ts'
import { describeLogin } from '../../core/url/postgres-login.ts'
import { openBundledGrammars } from '../../ingest/grammars.ts'
import { settingNames, variableName } from '../../settings/settings.ts'
import { createDamageError } from '../../store/common/damage.ts'
import type { Inspection } from '../../store/postgres/inspect.ts'
import { createFolder, describeFailure } from '../../store/sqlite/database/create-file.ts'
import { VERSION } from '../../version.ts'
import { ChecksFailedError } from '../checks-failed-error.ts'
import { type Check, checkConnections } from '../doctor-connections.ts'
import { addLibraryOptions } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { printableLine, type Streams, Terminal } from '../terminal.ts'
import { listSettings, writeSetting } from '../text/settings-text.ts'

/** `pharos doctor` */
export function addDoctor(program: Command, streams: Streams): void {
  const command = program
    .command('doctor')
    .description('check this installation and print every setting with its origin')
    .addHelpText('after', '\nExample:\n  $ pharos doctor --json')
  addLibraryOptions(command, SEARCH_SETTINGS).action(async (flags: CommonFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    const { green, red, yellow } = terminal.answerColors
    const checks = [
      runtimeCheck(),
      await grammarCheck(),
      cacheCheck(config),
      isPostgres(config.values.library) ? await databaseCheck(config.values.library) : await libraryCheck(config),
      variableCheck(config),
      ...(await checkConnections(config)),
    ]
    const settings = listSettings(config)
    const text = [
      ...checks.map(({ name, ok, found, isWarning }) => {
        const mark = ok ? (isWarning ? yellow('WARN') : green('ok  ')) : red('FAIL')
        return `${mark}  ${name}: ${printableLine(found)}`
      }),
      '',
      `settings (file: ${config.file ?? 'none'})`,
      ...settings.map((setting) => `  ${writeSetting(setting, terminal.answerColors)}`),
    ]
    terminal.answer(text.join('\n'), {
      version: VERSION,
      checks: checks.map(({ isWarning, ...check }) => ({ ...check, ...(isWarning ? { is_warning: true } : {}) })),
      file: config.file ?? null,
      settings,
    })
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    if (failed.length > 0) throw new ChecksFailedError(failed.join(', '))
  })
}

function runtimeCheck(): Check {
  const { platform, arch, versions } = process
  return { name: 'program', ok: true, found: `Pharos ${VERSION} on Node ${versions.node}, ${platform} ${arch}` }
}

async function grammarCheck(): Promise<Check> {
  const name = 'grammars'
  try {
    const grammars = await openBundledGrammars()
    await grammars.prepare(GRAMMAR_NAMES)
    return { name, ok: true, found: `${GRAMMAR_NAMES.length} load: ${GRAMMAR_NAMES.join(', ')}` }
  } catch (error) {
    // The error is the result of the check.
    return { name, ok: false, found: `${error instanceof Error ? error.message : error}; run \`npm run build\`` }
  }
}

function cacheCheck({ values }: EffectiveConfig): Check {
  const name = 'cache'
  if (!values.cache) return { name, ok: true, found: 'switched off' }
  try {
    const existed = existsSync(values.cacheFolder)
    createFolder(values.cacheFolder)
    accessSync(values.cacheFolder, constants.W_OK)
    return { name, ok: true, found: `${values.cacheFolder} can be written${existed ? '' : ' (just created)'}` }
  } catch (error) {
    // The error is the result of the check.
    return { name, ok: false, found: `${describeFailure(error)}; set cacheFolder or --no-cache` }
  }
}

/**
 * Checks the version and the pages of the library file, and looks for incomplete copies. The check writes nothing, because the file may be
 * in use.
 */
async function libraryCheck({ values }: EffectiveConfig): Promise<Check> {
  const name = 'library'
  const path = values.library
  try {
    if (!existsSync(path)) {
      checkWritable(path)
      return { name, ok: true, found: `${path} will be created when it is needed` }
    }
    accessSync(path, constants.W_OK)
    const { checkFile, readSchemaVersion } = await import('../../store/sqlite/database/database.ts')
    const schema = readSchemaVersion(path)
    if (schema === 0) return { name, ok: true, found: `${path} is empty` }
    const damage = checkFile(path)
    if (damage !== undefined) {
      const { message, entry } = createDamageError(path, damage)
      return { name, ok: false, found: `${message}; ${entry.advice}` }
    }
    const { listUnfinishedCopies } = await import('../../store/sqlite/copy/list-unfinished-copies.ts')
    const found = `${path} has schema ${schema}, ${writeBytes(statSync(path).size)}`
    return withWarnings({ name, ok: true, found }, describeIncompleteCopies(listUnfinishedCopies(path)))
  } catch (error) {
    // The error is the result of the check.
    const advice = error instanceof PharosError ? error.entry.advice : 'use another with --library'
    return { name, ok: false, found: `${describeFailure(error)}; ${advice}` }
  }
}

/** Inspects a library in PostgreSQL. The check writes nothing, because the library may be in use. */
async function databaseCheck(address: string): Promise<Check> {
  const name = 'library'
  try {
    const { openInspector } = await import('../../store/postgres/inspect.ts')
    const { findServerProblem, SCHEMA_VERSION } = await import('../../store/postgres/database/schema.ts')
    const inspector = await openInspector(address)
    const { location } = inspector
    const facts = await inspector.inspect().finally(() => inspector.close())
    const { version, encoding, schemaVersion, mayCreate, bytes, role, database } = facts
    const server = `${location} is PostgreSQL ${version}, ${encoding}`
    const problem = findServerProblem(Number.parseInt(version, 10), encoding)
    if (problem !== undefined) return { name, ok: false, found: `${server}: ${problem}` }
    if (schemaVersion === 0) {
      if (mayCreate) return { name, ok: true, found: `${server}; the library will be created when it is needed` }
      return {
        name,
        ok: false,
        found: `${server}, but its user may not create a schema; ask a database administrator to run: GRANT CREATE ON DATABASE ${database} TO ${role}`,
      }
    }
    const found = `${server}, has schema ${schemaVersion}, ${writeBytes(bytes)}, ${describePgvector(facts)}`
    if (schemaVersion > SCHEMA_VERSION) {
      return {
        name,
        ok: false,
        found: `${found}, but this program knows only ${SCHEMA_VERSION}: upgrade, or use --library`,
      }
    }
    return withWarnings({ name, ok: true, found }, listWarnings(facts, address))
  } catch (error) {
    // The error is the result of the check.
    const found =
      error instanceof PharosError ? `${error.message}; ${error.entry.advice}` : `${hidePassword(address)}: ${error}`
    return { name, ok: false, found }
  }
}

/** Lists warnings about a readable library. */
function listWarnings({ incompleteCopies, mayWrite, mayQueue, role }: Inspection, address: string): string[] {
  const { schema } = describeLogin(address)
  const jobs = schema.replace(/"$/, '_jobs"')
  return [
    ...(mayWrite
      ? []
      : [
          `role ${role} can only read it; to let the role write, run: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
        ]),
    ...(mayQueue
      ? []
      : [
          `role ${role} has no access to the job queue, so \`serve\` and \`worker\` will not start; ask a database administrator to run: CREATE SCHEMA IF NOT EXISTS ${jobs} AUTHORIZATION ${role}; GRANT ALL ON SCHEMA ${jobs} TO ${role}`,
        ]),
    ...describeIncompleteCopies(incompleteCopies),
  ]
}

/** Describes copies into a library that are incomplete. */
function describeIncompleteCopies(places: readonly string[]): string[] {
  if (places.length === 0) return []
  return [
    `a copy of ${places.join(', ')} into it is incomplete; if it was interrupted, run it again, or remove it with: pharos copy <from> <to> --discard`,
  ]
}

function withWarnings(check: Check, warnings: readonly string[]): Check {
  if (warnings.length === 0) return check
  return { ...check, found: [check.found, ...warnings].join('; '), isWarning: true }
}

/** Describes how nearest vectors are found. */
function describePgvector({ pgvector, isPgvectorFit }: Inspection): string {
  if (isPgvectorFit) return `pgvector ${pgvector}`
  const instead = 'so every process that searches by meaning keeps the sign bits of all vectors in memory'
  return pgvector === null ? `no pgvector, ${instead}` : `pgvector ${pgvector}, which is older than 0.8, ${instead}`
}

/** Tests whether a missing file and its parent folders can be created, by creating and removing a temporary folder. */
function checkWritable(path: string): void {
  const folder = dirname(path)
  if (!existsSync(folder)) {
    checkWritable(folder)
    return
  }
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is a file, not a folder`)
  try {
    rmdirSync(mkdtempSync(join(folder, '.pharos-')))
  } catch (cause) {
    throw new Error(describeFailure(cause, path), { cause })
  }
}

function variableCheck({ unknownVariables, values }: EffectiveConfig): Check {
  const names = settingNames().map(variableName)
  const found = unknownVariables.map((name) => `${name} is not a known setting${suggest(findNearest(name, names))}`)
  const check = {
    name: 'environment',
    ok: found.length === 0,
    found: found.join('; ') || 'every PHAROS_ variable is a setting',
  }
  return withWarnings(
    check,
    listUnsetSiteVariables(values).map((name) => `${name}, which siteHeaders names, is not set`),
  )
}
