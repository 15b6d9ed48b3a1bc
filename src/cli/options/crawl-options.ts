import type { Command } from 'commander'
import type { SettingName } from '../../settings/settings.ts'
import { addDetachOption } from '../detach.ts'
import { addLibraryOptions, READ_SETTINGS } from '../library.ts'
import { addHeaderOption } from './scope-options.ts'
import { addEmbedOptions } from './search-settings.ts'

/** Settings of the commands that crawl a source again. */
const RECRAWL_SETTINGS: readonly SettingName[] = ['maxAge', ...READ_SETTINGS]

/** Adds the options that all commands that crawl have. */
export function addCrawlOptions(command: Command, settings: readonly SettingName[] = RECRAWL_SETTINGS): Command {
  return addLibraryOptions(addEmbedOptions(addDetachOption(addHeaderOption(command))), settings)
}
