import type { EffectiveConfig } from '../../config.ts'
import { type SettingName, settingNames, type Value } from '../../settings/settings.ts'
import { redactValue, writeValue } from '../../settings/write-value.ts'
import { type Colors, printableLine } from '../terminal.ts'

/** A setting with its value and origin, without secrets. */
export interface SettingRecord {
  readonly name: SettingName
  readonly value: Value
  readonly origin: EffectiveConfig['origins'][SettingName]
}

/** The settings with their values and origins, without secrets. */
export function listSettings(
  { values, origins }: EffectiveConfig,
  names: readonly SettingName[] = settingNames(),
): SettingRecord[] {
  return names.map((name) => ({ name, value: redactValue(name, values[name]), origin: origins[name] }))
}

/** `concurrency = 16  default` */
export function writeSetting({ name, value, origin }: SettingRecord, { dim }: Colors): string {
  return `${name} = ${printableLine(writeValue(name, value))}  ${dim(origin)}`
}
