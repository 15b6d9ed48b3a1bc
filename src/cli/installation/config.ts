import type { Command } from 'commander'
import { configFileIn } from '../../config.ts'
import { PharosError } from '../../core/errors.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { type SettingName, settingNames, variableName } from '../../settings/settings.ts'
import { writeValue } from '../../settings/write-value.ts'
import { addLibraryOptions } from '../library.ts'
import { type CommonFlags, configOf, oneOf } from '../options/options.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { printableLine, type Streams, Terminal } from '../terminal.ts'
import { listSettings, writeSetting } from '../text/settings-text.ts'
import { writeSettingToFile } from './edit-config.ts'

const ACTIONS = ['get', 'set', 'list'] as const
type Action = (typeof ACTIONS)[number]

/** `pharos config get|set|list` */
export function addConfig(program: Command, streams: Streams): void {
  const command = program
    .command('config')
    .description('show settings with their origins, or write one into the configuration file')
    .argument('<what>', ACTIONS.join(', '), oneOf('<what>', ACTIONS))
    .argument('[setting...]', 'for get: its name; for set: its name and its value, a list separated by commas')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos config list\n  $ pharos config get library\n  $ pharos config set maxPageBytes 40MB',
    )
  addLibraryOptions(command, SEARCH_SETTINGS).action((what: Action, words: readonly string[], flags: CommonFlags) => {
    const terminal = new Terminal(flags, streams)
    checkArguments(what, words)
    const [name, value] = words
    if (what === 'list') list(command, terminal)
    else if (what === 'get') get(command, findSetting(name), terminal)
    else set(command, findSetting(name), value ?? '', terminal)
  })
}

/** Refuses missing and excess arguments. */
function checkArguments(what: Action, words: readonly string[]): void {
  const expected = { list: 'no setting', get: 'the name of a setting', set: 'the name of a setting and its value' }
  const wanted = { list: 0, get: 1, set: 2 }
  if (words.length === wanted[what]) return
  throw new PharosError('USAGE', { problem: `config ${what}: expected ${expected[what]}` })
}

function findSetting(name = ''): SettingName {
  const found = settingNames().find((setting) => setting === name)
  if (found !== undefined) return found
  const problem = `there is no setting ${JSON.stringify(name)}${suggest(findNearest(name, settingNames()))}`
  throw new PharosError('USAGE', { problem, advice: '`pharos config list` shows all settings' })
}

function list(command: Command, terminal: Terminal): void {
  const config = configOf(command)
  const settings = listSettings(config)
  const lines = settings.map((setting) => writeSetting(setting, terminal.answerColors))
  terminal.note(terminal.noteColors.dim(`file: ${printableLine(config.file ?? 'none')}`))
  terminal.answer(lines.join('\n'), { file: config.file ?? null, settings })
}

function get(command: Command, name: SettingName, terminal: Terminal): void {
  const config = configOf(command)
  for (const setting of listSettings(config, [name])) {
    const place = setting.origin === 'file' ? `file ${config.file}` : setting.origin
    terminal.answer(printableLine(writeValue(name, setting.value)), setting)
    terminal.note(terminal.noteColors.dim(`origin: ${printableLine(place)}`))
  }
}

function set(command: Command, name: SettingName, value: string, terminal: Terminal): void {
  const file = writeSettingToFile(name, value, configFileIn(command.opts<CommonFlags>().config))
  const config = configOf(command)
  for (const setting of listSettings(config, [name])) {
    const text = `${writeSetting(setting, terminal.answerColors)} (${printableLine(file)})`
    terminal.answer(text, { ...setting, file })
    if (setting.origin !== 'file') {
      const stronger = setting.origin === 'flag' ? 'the command line' : variableName(name)
      terminal.notice(`it is written, but ${stronger} sets another value, which is used instead`)
    }
  }
}
