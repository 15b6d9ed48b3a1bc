import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import type { Command } from 'commander'
import { type EffectiveConfig, SETTINGS, type SettingName, variableName } from '../config.ts'
import { GRAMMAR_NAMES } from '../core/chunk/languages.ts'
import { findNearest } from '../core/text/nearest.ts'
import { openBundledGrammars } from '../ingest/grammars.ts'
import { addCommonOptions, type CommonFlags, configOf } from './options.ts'
import { suggest } from './packed.ts'
import { type Streams, Terminal } from './terminal.ts'
import { VERSION } from './version.ts'

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly found: string
}

/** Checks failed, and the answer has said so: only the exit code is left to give. */
export class ChecksFailed extends Error {
  readonly exitCode = 1
}

/** `pharos doctor` */
export function addDoctor(program: Command, streams: Streams): void {
  const command = program
    .command('doctor')
    .description('check this installation and print every setting with its origin')
    .addHelpText('after', '\nExample:\n  $ pharos doctor --json')
  addCommonOptions(command).action(async (flags: CommonFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    const { dim, green, red } = terminal.answerColors
    const checks = [runtimeCheck(), await grammarCheck(), cacheCheck(config), variableCheck(config)]
    const settings = Object.entries(config.values).map(([name, value]) => {
      // The values have the names of the table.
      return { name, value, origin: config.origins[name as SettingName] }
    })
    const text = [
      ...checks.map(({ name, ok, found }) => `${ok ? green('ok  ') : red('FAIL')}  ${name}: ${found}`),
      '',
      `settings (file: ${config.file ?? 'none'})`,
      ...settings.map(({ name, value, origin }) => `  ${name} = ${value}  ${dim(origin)}`),
    ]
    terminal.answer(text.join('\n'), { version: VERSION, checks, file: config.file ?? null, settings })
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    if (failed.length > 0) throw new ChecksFailed(failed.join(', '))
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
    // Whatever went wrong is the answer to the question asked.
    return { name, ok: false, found: `${error instanceof Error ? error.message : error}; run \`npm run build\`` }
  }
}

function cacheCheck({ values }: EffectiveConfig): Check {
  const name = 'cache'
  if (!values.cache) return { name, ok: true, found: 'switched off' }
  try {
    const existed = existsSync(values.cacheFolder)
    mkdirSync(values.cacheFolder, { recursive: true, mode: 0o700 })
    accessSync(values.cacheFolder, constants.W_OK)
    return { name, ok: true, found: `${values.cacheFolder} can be written${existed ? '' : ' (made now)'}` }
  } catch (error) {
    // Whatever went wrong is the answer to the question asked.
    return {
      name,
      ok: false,
      found: `${error instanceof Error ? error.message : error}; set cacheFolder or --no-cache`,
    }
  }
}

function variableCheck({ unknownVariables }: EffectiveConfig): Check {
  // The keys of the table are its names.
  const names = (Object.keys(SETTINGS) as SettingName[]).map(variableName)
  const found = unknownVariables.map((name) => `${name} is no setting${suggest(findNearest(name, names))}`)
  return {
    name: 'environment',
    ok: found.length === 0,
    found: found.join('; ') || 'every PHAROS_ variable is a setting',
  }
}
