import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { findNearest } from '../core/text/nearest.ts'
import { SETTINGS, settingNames } from './settings.ts'
import { listSiteHeaders } from './site-headers.ts'

/** Name of the configuration file in the current folder. */
export const CONFIG_FILE_NAME = 'pharos.config.json'

/** Value that disables the configuration file. */
export const NO_FILE = 'none'

/** Reads the settings of a configuration file; without `given`, of the one in `folder` if it exists. */
export function readConfigFile(
  given: string | undefined,
  folder: string,
): { file: string | undefined; values: Readonly<Record<string, unknown>> } {
  if (given === NO_FILE) return { file: undefined, values: {} }
  const file = resolve(folder, given ?? CONFIG_FILE_NAME)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (given === undefined && isMissing) return { file: undefined, values: {} }
    const problem = isMissing ? 'it does not exist' : 'it cannot be read'
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
  return { file, values: parseConfigText(text, file) }
}

/** Parses the text of a configuration file. The values are checked later, each with its setting. */
export function parseConfigText(text: string, file: string): Readonly<Record<string, unknown>> {
  const values = flattenGroups(parseObject(text, file), file)
  for (const key of Object.keys(values)) {
    if (key === '$schema' || Object.hasOwn(SETTINGS, key)) continue
    const nearest = findNearest(key, settingNames())
    const problem = `unknown setting ${JSON.stringify(key)}${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`
    throw new PharosError('CONFIG_INVALID', { origin: file, problem })
  }
  return values
}

/** Related settings may be grouped in an object: `{"crawl4ai": {"endpoint": …}}` is `crawl4aiEndpoint`. */
const GROUPS = ['crawl4ai', 'embed', 'rerank', 'qdrant', 'render']

/** The group that may hold a setting, and the name of the setting inside it; undefined if there is none. */
export function findGroup(name: string): { readonly key: string; readonly field: string } | undefined {
  const key = GROUPS.find((group) => name.startsWith(group) && /^[A-Z]/.test(name.slice(group.length)))
  if (key === undefined) return undefined
  const rest = name.slice(key.length)
  return { key, field: rest.charAt(0).toLowerCase() + rest.slice(1) }
}

function flattenGroups(values: Readonly<Record<string, unknown>>, file: string): Readonly<Record<string, unknown>> {
  const refuse = (problem: string): never => {
    throw new PharosError('CONFIG_INVALID', { origin: file, problem })
  }
  const flat = Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'siteHeaders' && isJsonObject(value)) return [[key, listSiteHeaders(value)]]
    // `embed` is both a group and a switch.
    if (!GROUPS.includes(key) || (Object.hasOwn(SETTINGS, key) && typeof value !== 'object')) return [[key, value]]
    if (!isJsonObject(value)) return refuse(`${key}: expected an object of settings`)
    return Object.entries(value).map(([name, inner]) => [
      `${key}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      inner,
    ])
  })
  const names = flat.map(([name]) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  return twice === undefined ? Object.fromEntries(flat) : refuse(`${twice} is given twice`)
}

function parseObject(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // The message of the parser quotes the input, which may hold a password, so the quote is removed.
    const problem = `not JSON: ${cause.message.replace(/, (?:\.\.\.)?"[\s\S]*$/, '')}`
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
  throw new PharosError('CONFIG_UNREADABLE', { file, problem: 'expected a JSON object' })
}
