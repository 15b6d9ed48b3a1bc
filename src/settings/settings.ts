import { CRAWL_SETTINGS, type CrawlConfig } from './crawl-settings.ts'
import { FILE_SETTINGS, type FileConfig } from './file-settings.ts'
import { SERVER_SETTINGS, type ServerConfig } from './server-settings.ts'
import { SERVICE_SETTINGS, type ServiceConfig } from './service-settings.ts'

/** The effective values of all settings. */
export interface Config extends FileConfig, ServiceConfig, CrawlConfig, ServerConfig {}

/** A value of a setting. */
export type Value = Config[SettingName]

/** Name of a setting. */
export type SettingName = keyof Config

/** One setting: its type, limits, default and description. The names of its flag and variable derive from its name. */
export interface Setting {
  readonly type: 'bytes' | 'count' | 'duration' | 'list' | 'path' | 'switch' | 'text' | 'url'
  readonly default: Value
  /** Minimum of a number. @default 0 */
  readonly least?: number
  /** Maximum of a number. @default none */
  readonly most?: number
  /** The allowed texts. @default any */
  readonly choices?: readonly string[]
  /** Whether leading and trailing spaces are kept. @default false */
  readonly isVerbatim?: boolean
  /** Value of the flag when it has no argument; an argument then needs `=`. @default an argument is required */
  readonly bareFlagValue?: string
  /** Whether the setting has a flag; otherwise only the file and the environment can set it. @default true */
  readonly hasFlag?: boolean
  /** Whether a value may hold a password, so that messages must not repeat it. @default false */
  readonly isSecret?: boolean
  /**
   * The setting that holds the key of the service at this address; the address itself must have no user name and password. @default none
   */
  readonly key?: SettingName
  /** Whether the address must have no user name and password, although `key` names no setting for them. @default false */
  readonly isCredentialFree?: boolean
  /** Whether a path may also be the address of a PostgreSQL database. @default false */
  readonly mayBePostgres?: boolean
  readonly description: string
}

/** All settings: file, environment and flags are parsed with this table. */
export const SETTINGS: Readonly<Record<SettingName, Setting>> = {
  ...FILE_SETTINGS,
  ...SERVICE_SETTINGS,
  ...CRAWL_SETTINGS,
  ...SERVER_SETTINGS,
}

/** `maxFileBytes` → `max-file-bytes` */
export function flagName(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxFileBytes` → `PHAROS_MAX_FILE_BYTES` */
export function variableName(setting: SettingName): string {
  return `PHAROS_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

export function settingNames(): SettingName[] {
  return Object.keys(SETTINGS) as SettingName[]
}
