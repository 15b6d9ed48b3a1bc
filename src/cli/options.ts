import type { Command } from 'commander'
import { type EffectiveConfig, flagName, readConfig, SETTINGS, type SettingName, writeValue } from '../config.ts'
import { PharosError } from '../core/errors.ts'
import { writeBytes } from '../core/text/bytes.ts'
import { findNearest } from '../core/text/nearest.ts'
import type { Manners } from './terminal.ts'

/** Options every verb has. */
export interface CommonFlags extends Manners {
  readonly config?: string
}

/** Adds the options every verb has. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print the answer as JSON')
    .option('--quiet', 'print the answer only')
    .option('--verbose', 'print more about what happens')
    .option('--config <file>', 'use this configuration file instead of pharos.config.json')
}

/** Adds flags for settings, as the table describes them. */
export function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { type, bare, choices, description } = SETTINGS[name]
    const flag = `--${flagName(name)}`
    if (type === 'switch') command.option(`--no-${flagName(name)}`, `do not ${description}`)
    else if (type === 'list')
      command.option(bare === undefined ? `${flag} <list>` : `${flag} [=list]`, description, collect)
    else command.option(`${flag} <${choices?.join('|') ?? type}>`, withDefault(name))
  }
  return command
}

/** What a setting means, with the figure that holds unless another is given; of the rest the description says it. */
function withDefault(name: SettingName): string {
  const { type, default: value, description } = SETTINGS[name]
  if (typeof value !== 'number') return description
  const shown = `default: ${type === 'bytes' ? writeBytes(value).replace(' ', '') : writeValue(name, value)}`
  return description.endsWith(')') ? `${description.slice(0, -1)}; ${shown})` : `${description} (${shown})`
}

/** Gathers what a flag is given: it may be repeated, and each time have several values with commas between them. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')]
}

/** Gathers what a flag is given when it is repeated; a comma is a character like others. */
export function repeat(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/**
 * Writes out what flags mean that were given no value. The parser would take the next word for their value, and that may be
 * the address to crawl: only `--flag=value` has one.
 */
export function fillBareFlags(args: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const bare = new Map(
    // The keys of the table are its names.
    (Object.keys(SETTINGS) as SettingName[]).map((name) => [`--${flagName(name)}`, SETTINGS[name].bare]),
  )
  return args.map((arg, i) => {
    const value = i < end ? bare.get(arg) : undefined
    return value === undefined ? arg : `${arg}=${value}`
  })
}

/** Reads the configuration with the flags of a verb on top. */
export function configOf(command: Command): EffectiveConfig {
  const given: Partial<Record<SettingName, string | boolean | readonly string[]>> = {}
  const flags = command.opts<CommonFlags>()
  for (const [name, value] of Object.entries(flags)) {
    const isGiven = name in SETTINGS && command.getOptionValueSource(name) === 'cli'
    // The name was just found in the table, and commander gives text, a boolean or what `collect` made.
    if (isGiven) given[name as SettingName] = value as string | boolean | readonly string[]
  }
  return readConfig({ flags: given, file: flags.config })
}

/** Takes any text that is not empty: a variable without a value would otherwise drop a condition without a word. */
export function someText(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== '') return text
    throw new PharosError('USAGE', { problem: `${flag}: expected a text, got an empty one` })
  }
}

/** Reads the tag of a language. */
export function languageTag(flag: string): (text: string) => string {
  return (text) => {
    if (/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(text)) return text
    const problem = `${flag}: expected a language such as en or pt-BR, got ${JSON.stringify(text)}`
    throw new PharosError('USAGE', { problem })
  }
}

/** Reads a whole number from `least` up. */
export function wholeNumber(
  flag: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${most}`
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
    const problem = `${flag}: expected a whole number from ${range}, got ${JSON.stringify(text)}`
    throw new PharosError('USAGE', { problem })
  }
}

/** Reads a number from 0 to 1. */
export function share(flag: string): (text: string) => number {
  return (text) => {
    if (/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) && Number(text) <= 1) return Number(text)
    throw new PharosError('USAGE', { problem: `${flag}: expected a number from 0 to 1, got ${JSON.stringify(text)}` })
  }
}

/** Reads one of a few words; the nearest is named when it is none of them. */
export function oneOf<T extends string>(flag: string, words: readonly T[]): (text: string) => T {
  return (text) => {
    const found = words.find((word) => word === text)
    if (found !== undefined) return found
    const nearest = findNearest(text, words)
    const help = nearest === undefined ? `; there are ${words.join(', ')}` : `, did you mean ${nearest}?`
    throw new PharosError('USAGE', { problem: `${flag}: there is no ${JSON.stringify(text)}${help}` })
  }
}
