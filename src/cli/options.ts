import { type Command, InvalidArgumentError, Option } from 'commander'
import { type EffectiveConfig, flagName, readConfig, SETTINGS, type SettingName } from '../config.ts'
import type { Manners } from './terminal.ts'

/** Options every verb has. */
export interface CommonFlags extends Manners {
  readonly config?: string
}

/** Adds the options every verb has. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print the answer as JSON', false)
    .option('--quiet', 'print the answer only', false)
    .option('--verbose', 'print more about what happens', false)
    .option('--config <file>', 'use this configuration file instead of pharos.config.json')
}

/** Adds flags for settings, as the table describes them. */
export function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting = SETTINGS[name]
    const flag = setting.type === 'switch' ? `--no-${flagName(name)}` : `--${flagName(name)} <${setting.type}>`
    command.addOption(
      new Option(flag, setting.type === 'switch' ? `do not ${setting.description}` : setting.description),
    )
  }
  return command
}

/** Reads the configuration with the flags of a verb on top. */
export function configOf(command: Command, flags: CommonFlags): EffectiveConfig {
  const given: Partial<Record<SettingName, string | boolean>> = {}
  for (const [name, value] of Object.entries(command.opts())) {
    const isGiven = name in SETTINGS && command.getOptionValueSource(name) === 'cli'
    // The name was just found in the table, and commander gives text or a boolean.
    if (isGiven) given[name as SettingName] = value as string | boolean
  }
  return readConfig({ flags: given, file: flags.config })
}

/** A whole number from `least` up. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least || !Number.isSafeInteger(Number(text))) {
      throw new InvalidArgumentError(`Expected a whole number from ${least} up, got ${JSON.stringify(text)}.`)
    }
    return Number(text)
  }
}
