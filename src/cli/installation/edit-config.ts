import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { codeOf, PharosError } from '../../core/errors.ts'
import { CONFIG_FILE_NAME, findGroup, NO_FILE } from '../../settings/read-config-file.ts'
import { SETTINGS, type SettingName } from '../../settings/settings.ts'
import { isBrokenLink, replaceFile } from '../../setup/apply-changes.ts'
import { ConfigSyntaxError } from '../../setup/config-syntax-error.ts'
import { readJsonEntry, setJsonEntry } from '../../setup/edit-json.ts'

/**
 * Writes a setting into a configuration file, which is created if it does not exist. Everything else in the file stays as it is. The new
 * file is checked like one that is read; if it is not valid, nothing is written. Returns the path of the file.
 */
export function writeSettingToFile(name: SettingName, text: string, given: string | undefined): string {
  if (given === NO_FILE) {
    throw new PharosError('USAGE', { problem: 'there is no configuration file to write, because it is set to none' })
  }
  const file = resolve(given ?? CONFIG_FILE_NAME)
  const before = readText(file)
  const after = editText(before, name, parseInput(name, text, dirname(file)), file)
  // The environment is left out, because it would hide an invalid value of the file.
  readConfig({ file, text: after, environment: {}, folder: dirname(file) })
  // Only its owner may read a new file, because it may hold keys of services.
  replaceFile(file, after, 0o600)
  return file
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const isBroken = isBrokenLink(file)
    if (codeOf(cause) === 'ENOENT' && !isBroken) return ''
    const problem = isBroken ? 'it is a link to a missing file' : 'it cannot be read'
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
}

function editText(before: string, name: SettingName, value: unknown, file: string): string {
  try {
    const group = findGroup(name)
    const isGrouped = group !== undefined && readJsonEntry(before, [group.key, group.field]) !== undefined
    const present = readJsonEntry(before, [name])
    if (SETTINGS[name].type === 'switch' && typeof present === 'object' && present !== null) {
      throw new PharosError('CONFIG_INVALID', {
        origin: file,
        problem: `"${name}" is a group of settings there, which a value would replace; write its settings in full, such as "${name}Model"`,
      })
    }
    return setJsonEntry(before, isGrouped ? [group.key, group.field] : [name], value)
  } catch (cause) {
    if (!(cause instanceof ConfigSyntaxError)) throw cause
    throw new PharosError('CONFIG_UNREADABLE', { file, problem: cause.message }, { cause })
  }
}

/** Turns typed text into the JSON value that a user would write by hand. */
function parseInput(name: SettingName, text: string, folder: string): unknown {
  const { type, mayBePostgres = false } = SETTINGS[name]
  if (type === 'switch') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'count') return /^\d+$/.test(text) ? Number(text) : text
  if (type === 'list') return parseListInput(text)
  // A path in the file is relative to the file, a typed one to the current folder.
  const isPath = type === 'path' && !(mayBePostgres && text.includes('://'))
  return isPath && text !== '' && resolve(folder, text) !== resolve(text) ? relative(folder, resolve(text)) : text
}

function parseListInput(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text.split(',').map((entry) => entry.trim())
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PharosError('USAGE', { problem: 'expected a list such as a,b or JSON, got invalid JSON' }, { cause })
  }
}
