import type { Command } from 'commander'
import { type EffectiveConfig, readConfig } from '../../config.ts'
import { usageError } from '../../core/errors.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { findNearest } from '../../core/text/nearest.ts'
import { flagName, SETTINGS, type SettingName } from '../../settings/settings.ts'
import { writeValue } from '../../settings/write-value.ts'
import type { OutputFlags } from '../terminal.ts'

/** Options of every command. */
export interface CommonFlags extends OutputFlags {
  readonly config?: string
}

/** Adds the options of every command. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print the answer as JSON')
    .option('--quiet', 'print the answer only')
    .option('--verbose', 'print more about what happens')
    .option('--no-color', 'print without colors, as the variable NO_COLOR does; FORCE_COLOR prints them in pipes too')
    .option('--config <file>', 'use this configuration file instead of pharos.config.json')
}

/** Adds flags for settings, described by the settings table. */
export function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { type, bareFlagValue, choices, description } = SETTINGS[name]
    const flag = `--${flagName(name)}`
    if (type === 'switch') command.option(`--no-${flagName(name)}`, `do not ${description}`)
    else if (type === 'list')
      command.option(bareFlagValue === undefined ? `${flag} <list>` : `${flag} [=list]`, description, collectList)
    else command.option(`${flag} <${choices?.join('|') ?? type}>`, describeSetting(name))
  }
  return command
}

/** The description of a setting; numeric defaults are appended. */
function describeSetting(name: SettingName): string {
  const { type, default: value, description } = SETTINGS[name]
  if (typeof value !== 'number') return description
  const defaultText = `default: ${type === 'bytes' ? writeBytes(value).replace(' ', '') : writeValue(name, value)}`
  return description.endsWith(')') ? `${description.slice(0, -1)}; ${defaultText})` : `${description} (${defaultText})`
}

/** Collects the values of a repeatable flag, each of which may be a comma-separated list. */
export function collectList(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')]
}

/** Collects the values of a repeatable flag; commas are part of a value. */
export function collectRepeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/**
 * Adds the default value to flags that were given without one. The parser would otherwise take the next word, possibly the address to
 * crawl, as the value, so only `--flag=value` sets one.
 */
export function fillBareFlags(args: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const bareFlagValues = new Map(
    // `Object.keys` is typed as strings; the keys are setting names.
    (Object.keys(SETTINGS) as SettingName[]).map((name) => [`--${flagName(name)}`, SETTINGS[name].bareFlagValue]),
  )
  return args.map((arg, i) => {
    const value = i < end ? bareFlagValues.get(arg) : undefined
    return value === undefined ? arg : `${arg}=${value}`
  })
}

/** Reads the configuration, overridden by the flags of a command. */
export function configOf(command: Command): EffectiveConfig {
  const given: Partial<Record<SettingName, string | boolean | readonly string[]>> = {}
  const flags = command.opts<CommonFlags>()
  for (const [name, value] of Object.entries(flags)) {
    const isGiven = name in SETTINGS && command.getOptionValueSource(name) === 'cli'
    // The casts are safe: the name is in the table, and commander returns text, a boolean or the result of `collectList`.
    if (isGiven) given[name as SettingName] = value as string | boolean | readonly string[]
  }
  return readConfig({ flags: given, file: flags.config })
}

/** Accepts any text that is not empty: an empty shell variable would otherwise silently drop a condition. */
export function nonEmptyText(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== '') return text
    throw usageError(`${flag}: expected a text, got an empty one`)
  }
}

/** Parses a language tag. */
export function languageTag(flag: string): (text: string) => string {
  return (text) => {
    if (/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(text)) return text
    const problem = `${flag}: expected a language such as en or pt-BR, got ${JSON.stringify(text)}`
    throw usageError(problem)
  }
}

/** Parses an integer from `minimum` to `maximum`. */
export function wholeNumber(
  flag: string,
  minimum: number,
  maximum: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `${minimum} up` : `${minimum} to ${maximum}`
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum) return Number(text)
    const problem = `${flag}: expected a whole number from ${range}, got ${JSON.stringify(text)}`
    throw usageError(problem)
  }
}

/** Parses a number from 0 to 1. */
export function fraction(flag: string): (text: string) => number {
  return (text) => {
    if (/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) && Number(text) <= 1) return Number(text)
    throw usageError(`${flag}: expected a number from 0 to 1, got ${JSON.stringify(text)}`)
  }
}

/** Parses one of a few words, and suggests the nearest one otherwise. */
export function oneOf<T extends string>(flag: string, words: readonly T[]): ((text: string) => T) & Choices {
  const parse = (text: string): T => {
    const found = words.find((word) => word === text)
    if (found !== undefined) return found
    const nearest = findNearest(text, words)
    const help = nearest === undefined ? `; there are ${words.join(', ')}` : `, did you mean ${nearest}?`
    throw usageError(`${flag}: there is no ${JSON.stringify(text)}${help}`)
  }
  return Object.assign(parse, { choices: words })
}

/** The words that a parser accepts, for the completion in a shell. */
interface Choices {
  readonly choices: readonly string[]
}
