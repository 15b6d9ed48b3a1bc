import { writeDuration } from '../core/text/duration.ts'
import { hasCredentials } from '../core/url/credentials.ts'
import { hidePassword } from '../core/url/postgres-address.ts'
import { SETTINGS, type SettingName, type Value } from './settings.ts'

/** Formats a value for its environment variable. */
export function writeVariable(name: SettingName, value: Value): string {
  if (SETTINGS[name].type === 'duration') return `${Number(value)}ms`
  return typeof value === 'object' ? value.join(',') : String(value)
}

/** Formats a value for display. */
export function writeValue(name: SettingName, given: Value): string {
  const value = redactValue(name, given)
  if (typeof value === 'object') return value.length === 0 ? 'none' : value.join(', ')
  if (SETTINGS[name].type === 'duration') return writeDuration(Number(value))
  return value === '' ? 'none' : String(value)
}

/** A value for display, without its secret part: the credentials in an address, or the whole value of a key. */
export function redactValue(name: SettingName, value: Value): Value {
  const { isSecret = false, mayBePostgres = false, type } = SETTINGS[name]
  if (mayBePostgres) return hidePassword(String(value))
  if (!isSecret || typeof value !== 'string') return value
  if (type !== 'url') return value === '' ? '' : '…'
  if (!hasCredentials(value)) return value
  const url = new URL(value)
  return `${url.protocol}//…@${url.host}${url.pathname}`
}
