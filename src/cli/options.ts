import type { Command } from 'commander'
import { type EffectiveConfig, flagName, readConfig, SETTINGS, type SettingName } from '../config.ts'
import { PharosError } from '../core/errors.ts'
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
    const { type, description } = SETTINGS[name]
    const isSwitch = type === 'switch'
    command.option(
      isSwitch ? `--no-${flagName(name)}` : `--${flagName(name)} <${type}>`,
      isSwitch ? `do not ${description}` : description,
    )
  }
  return command
}

/** Reads the configuration with the flags of a verb on top. */
export function configOf(command: Command): EffectiveConfig {
  const given: Partial<Record<SettingName, string | boolean>> = {}
  const flags = command.opts<CommonFlags>()
  for (const [name, value] of Object.entries(flags)) {
    const isGiven = name in SETTINGS && command.getOptionValueSource(name) === 'cli'
    // The name was just found in the table, and commander gives text or a boolean.
    if (isGiven) given[name as SettingName] = value as string | boolean
  }
  return readConfig({ flags: given, file: flags.config })
}

/** Reads a whole number from `least` up. */
export function wholeNumber(flag: string, least: number): (text: string) => number {
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) >= least && Number.isSafeInteger(Number(text))) return Number(text)
    const problem = `${flag}: expected a whole number from ${least} up, got ${JSON.stringify(text)}`
    throw new PharosError('USAGE', { problem })
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
