import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PharosError } from './core/errors.ts'
import { DEFAULT_LIMITS, LEAST_MAX_CHARS } from './core/limits.ts'
import { parseBytes } from './core/text/bytes.ts'
import { findNearest } from './core/text/nearest.ts'

/** The values in force. */
export interface Config {
  readonly maxFileBytes: number
  readonly maxTotalBytes: number
  readonly maxChunksPerFile: number
  readonly maxTotalChunks: number
  readonly chunkTargetChars: number
  readonly chunkMaxChars: number
  readonly cache: boolean
  readonly cacheFolder: string
}

/** Name of a setting. */
export type SettingName = keyof Config

/** One setting: its type, limits, default and meaning. Flag and variable names follow from its name. */
export interface Setting {
  readonly type: 'bytes' | 'count' | 'path' | 'switch'
  readonly default: number | string | boolean
  /** Least value of a number. @default 0 */
  readonly least?: number
  readonly description: string
}

/** Every setting of the program, once: the file, the environment and the flags are all read by this table. */
export const SETTINGS: Readonly<Record<SettingName, Setting>> = {
  maxFileBytes: {
    type: 'bytes',
    default: DEFAULT_LIMITS.maxFileBytes,
    least: 1,
    description: 'leave out files larger than this (bytes, or 512KB, 10MB)',
  },
  maxTotalBytes: {
    type: 'bytes',
    default: DEFAULT_LIMITS.maxTotalBytes,
    least: 1,
    description: 'leave out files beyond this sum (bytes, or 200MB, 1GB)',
  },
  maxChunksPerFile: {
    type: 'count',
    default: DEFAULT_LIMITS.maxChunksPerFile,
    least: 1,
    description: 'cut a file off after this many chunks',
  },
  maxTotalChunks: {
    type: 'count',
    default: DEFAULT_LIMITS.maxTotalChunks,
    least: 1,
    description: 'leave out files beyond this many chunks in all',
  },
  chunkTargetChars: {
    type: 'count',
    default: DEFAULT_LIMITS.targetChars,
    least: 1,
    description: 'close a chunk at the next good place after this many characters',
  },
  chunkMaxChars: {
    type: 'count',
    default: DEFAULT_LIMITS.maxChars,
    least: LEAST_MAX_CHARS,
    description: 'never let a chunk have more characters than this',
  },
  cache: {
    type: 'switch',
    default: true,
    description: 'remember what was read, so that unchanged files are left alone next time',
  },
  cacheFolder: {
    type: 'path',
    default: '',
    description: 'where to remember it (default: the cache folder of the user)',
  },
}

/** Where a value came from, the later ones winning. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** The values in force, and where each came from. */
export interface EffectiveConfig {
  readonly values: Config
  readonly origins: Readonly<Record<SettingName, Origin>>
  /** The configuration file that was read, if any. */
  readonly file: string | undefined
  /** `PHAROS_…` variables that no setting has: probably misspelt. */
  readonly unknownVariables: readonly string[]
}

/** What configuration is read from. */
export interface ConfigInput {
  /** Values given on the command line, as text, by setting name. */
  readonly flags?: Readonly<Partial<Record<SettingName, string | boolean>>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly folder?: string
  /** A configuration file given by name; it has to exist. */
  readonly file?: string | undefined
}

const FILE_NAME = 'pharos.config.json'

/** Reads the configuration: file, then environment, then flags. Every value is checked, and refused with its origin. */
export function readConfig(input: ConfigInput = {}): EffectiveConfig {
  const environment = withoutEmpty(input.environment ?? process.env)
  const { file, values: fromFile } = readConfigFile(input.file ?? environment['PHAROS_CONFIG'], input.folder ?? '.')
  const values: Record<string, number | string | boolean> = {}
  const origins: Record<string, Origin> = {}
  for (const name of settingNames()) {
    const candidates: Given[] = [
      { origin: 'flag', label: `--${flagName(name)}`, value: input.flags?.[name] },
      { origin: 'environment', label: variableName(name), value: environment[variableName(name)] },
      { origin: 'file', label: `${file}: ${name}`, value: fromFile[name] },
    ]
    const given = candidates.find(({ value }) => value !== undefined)
    const folder = given?.origin === 'file' && file !== undefined ? dirname(file) : (input.folder ?? '.')
    values[name] = given === undefined ? defaultValue(name, environment) : parseValue(name, given, folder)
    origins[name] = given?.origin ?? 'default'
  }
  const known = new Set([...settingNames().map(variableName), 'PHAROS_CONFIG'])
  return {
    // Every name of the table was given a value of its type above.
    values: values as unknown as Config,
    origins: origins as Record<SettingName, Origin>,
    file,
    unknownVariables: Object.keys(environment).filter((name) => name.startsWith('PHAROS_') && !known.has(name)),
  }
}

/** A value that was given, and what the reader knows its place by. */
interface Given {
  readonly origin: Origin
  readonly label: string
  readonly value: unknown
}

/** `NAME=` in a script means that it was not given. */
function withoutEmpty(environment: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

/** `maxFileBytes` → `max-file-bytes` */
export function flagName(setting: SettingName): string {
  return setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxFileBytes` → `PHAROS_MAX_FILE_BYTES` */
export function variableName(setting: SettingName): string {
  return `PHAROS_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function settingNames(): SettingName[] {
  // The keys of the table are its names.
  return Object.keys(SETTINGS) as SettingName[]
}

function defaultValue(
  name: SettingName,
  environment: Readonly<Record<string, string | undefined>>,
): number | string | boolean {
  if (name !== 'cacheFolder') return SETTINGS[name].default
  const base = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(base, 'pharos')
}

/** Reads a value by the table. A relative path starts at `folder`. */
function parseValue(name: SettingName, { label, value }: Given, folder: string): number | string | boolean {
  const setting = SETTINGS[name]
  const refuse = (expected: string): never => {
    const problem = `expected ${expected}, got ${JSON.stringify(value)}`
    throw new PharosError('CONFIG_INVALID', { origin: label, problem })
  }
  // A list of one would read as its only entry.
  const text = typeof value === 'object' ? '' : String(value)
  switch (setting.type) {
    case 'switch':
      if (value === true || text === 'true' || text === '1') return true
      if (value === false || text === 'false' || text === '0') return false
      return refuse('true or false')
    case 'path':
      return typeof value === 'string' && value !== '' ? resolve(folder, value) : refuse('a path')
    case 'bytes': {
      const bytes = parseBytes(text)
      return bytes !== undefined && bytes >= (setting.least ?? 0) ? bytes : refuse('a number of bytes such as 10MB')
    }
    case 'count': {
      const least = setting.least ?? 0
      const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
      return Number.isSafeInteger(count) && count >= least ? count : refuse(`a whole number from ${least} up`)
    }
  }
}

function readConfigFile(
  given: string | undefined,
  folder: string,
): { file: string | undefined; values: Readonly<Record<string, unknown>> } {
  const file = resolve(folder, given ?? FILE_NAME)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (given === undefined && isMissing) return { file: undefined, values: {} }
    const problem = isMissing ? 'it does not exist' : 'it cannot be read'
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
  const values = parseObject(text, file)
  for (const key of Object.keys(values)) {
    if (key === '$schema' || Object.hasOwn(SETTINGS, key)) continue
    const nearest = findNearest(key, settingNames())
    const problem = `unknown setting ${JSON.stringify(key)}${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`
    throw new PharosError('CONFIG_INVALID', { origin: file, problem })
  }
  return { file, values }
}

function parseObject(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    // Whatever its keys hold is checked setting by setting.
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new PharosError('CONFIG_UNREADABLE', { file, problem: `not JSON: ${cause.message}` }, { cause })
  }
  throw new PharosError('CONFIG_UNREADABLE', { file, problem: 'expected a JSON object' })
}
