import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import type { SettingName } from '../../settings/settings.ts'
import { addSettings } from './options.ts'

/** Settings of an external embedder, and of the copy of the vectors. */
export const EMBEDDER_SETTINGS: readonly SettingName[] = ['embedder', 'embedEndpoint', 'embedModel', 'qdrantUrl']

/** Adds the options that control embedding. */
export function addEmbedOptions(command: Command): Command {
  command.option('--embed', 'fail if the pages cannot be embedded')
  return addSettings(command, ['embed', ...EMBEDDER_SETTINGS])
}

/** Whether the user gave `--embed`, so that missing vectors are a failure. */
export function isEmbedRequired({ values, origins }: EffectiveConfig): boolean {
  return values.embed && origins.embed === 'flag'
}

/** Settings of the commands that search. */
export const SEARCH_SETTINGS: readonly SettingName[] = [...EMBEDDER_SETTINGS, 'reranker', 'rerankEndpoint']
