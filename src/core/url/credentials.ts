import { PharosError } from '../errors.ts'

/** Whether an address contains a user name or a password. */
export function hasCredentials(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '')
}

/**
 * Throws `OPTION_INVALID` if the address in an option contains credentials, because addresses are shown and logged. `key` is the setting to
 * use instead, which is not logged.
 */
export function refuseCredentials(option: string, text: string, key: string): void {
  if (!hasCredentials(text)) return
  const problem = `${option}: expected an address without user name and password: give a key as ${key}`
  throw new PharosError('OPTION_INVALID', { problem })
}

/** The form of an address for messages: without user name and password, even if the address is not valid. */
export function hideCredentials(text: string): string {
  const url = URL.parse(text)
  // `URL.parse` would read the user name in `user:password@host` as a scheme.
  const isWhole = url !== null && /^(?:https?|ftp):$/.test(url.protocol)
  if (isWhole && url.username === '' && url.password === '') return text
  // Text with one `@` and no `:` before it is a package with a version (`name@1.0`), so it holds no password.
  if (!isWhole && /^[^:@]*@[^@]*$/.test(text)) return text
  return text.replace(/^((?:https?|ftp):\/*(?!\/)|)[\s\S]*@/i, '$1…@')
}
