import { resolve } from 'node:path'
import { PharosError, usageError } from '../core/errors.ts'
import { parseBytes } from '../core/text/bytes.ts'
import { parseDuration, writeDuration } from '../core/text/duration.ts'
import { hasCredentials } from '../core/url/credentials.ts'
import { findLibraryProblem, isPostgres } from '../core/url/postgres-address.ts'
import { SETTINGS, type Setting, type SettingName, type Value } from './settings.ts'

/** Where a value came from, in ascending priority. */
export type SettingOrigin = 'default' | 'file' | 'environment' | 'flag'

/** A given value, and the name of its origin for messages. */
export interface GivenValue {
  readonly origin: SettingOrigin
  readonly label: string
  readonly value: unknown
}

/** Parses a value according to the table. A relative path is resolved against `folder`. */
export function parseValue(name: SettingName, { origin, label, value }: GivenValue, folder: string): Value {
  const setting = SETTINGS[name]
  const { least = 0, most = Number.MAX_SAFE_INTEGER } = setting
  const refuse = (expected: string, showsValue = setting.isSecret !== true): never => {
    const problem = `expected ${expected}${showsValue ? `, got ${JSON.stringify(value)}` : ''}`
    throw origin === 'flag'
      ? usageError(`${label}: ${problem}`)
      : new PharosError('CONFIG_INVALID', { origin: label, problem })
  }
  // Without this check, `String` would turn an array with one entry into that entry.
  const text = typeof value === 'object' ? '' : String(value)
  switch (setting.type) {
    case 'switch':
      if (value === true || text === 'true' || text === '1') return true
      if (value === false || text === 'false' || text === '0') return false
      return refuse('true or false')
    case 'path':
      if (typeof value !== 'string' || value === '') return refuse('a path')
      if (setting.mayBePostgres !== true) return resolve(folder, value)
      return isPostgres(value) ? value : resolve(folder, refuseMistypedAddress(value, refuse))
    case 'url':
      if (value === '' && setting.default === '') return ''
      if ((setting.key !== undefined || setting.isCredentialFree === true) && hasCredentials(text)) {
        const instead = setting.key === undefined ? '' : `: give a key as ${setting.key}`
        return refuse(`an address without user name and password${instead}`)
      }
      if (typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return new URL(value).href
      return refuse('an address with http or https')
    case 'text': {
      if (typeof value !== 'string' || value.trim() === '') return refuse('a text')
      const { choices, isVerbatim = false } = setting
      if (choices !== undefined && !choices.includes(value.trim())) return refuse(`one of ${choices.join(', ')}`)
      return isVerbatim ? value : value.trim()
    }
    case 'list':
      return parseList(value) ?? refuse('a list of texts')
    case 'bytes': {
      const bytes = parseBytes(text)
      return bytes !== undefined && bytes >= least ? bytes : refuse('a number of bytes such as 10MB')
    }
    case 'duration': {
      const ms = parseDuration(text)
      const isWithin = ms !== undefined && ms >= least && ms <= most
      return isWithin ? ms : refuse(describeDuration(setting))
    }
    case 'count': {
      const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
      const range = setting.most === undefined ? `${least} up` : `${least} to ${most}`
      return Number.isSafeInteger(count) && count >= least && count <= most
        ? count
        : refuse(`a whole number from ${range}`)
    }
  }
}

/** Refuses a library path that looks like a mistyped address. */
function refuseMistypedAddress(value: string, refuse: (expected: string, showsValue: boolean) => never): string {
  const expected = findLibraryProblem(value)
  return expected === undefined ? value : refuse(expected, false)
}

/** Describes the allowed durations, with examples if there is no limit. */
function describeDuration({ least = 0, most }: Setting): string {
  if (most !== undefined) return `a duration from ${writeDuration(least)} to ${writeDuration(most)}`
  if (least > 1) return `a duration of at least ${writeDuration(least)}`
  return 'a duration such as 200ms, 90s, 15m, 2h or 7d'
}

/** Parses a list: an array in a file, comma-separated text elsewhere. Undefined if it is neither. */
function parseList(value: unknown): readonly string[] | undefined {
  const entries: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(',')
      : [value]
  if (!entries.every((entry) => typeof entry === 'string')) return undefined
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}
