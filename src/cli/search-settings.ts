import type { Command } from 'commander'
import type { EffectiveConfig, SettingName } from '../config.ts'
import { addSettings } from './options.ts'

/** Settings of what makes vectors in the place of this machine, and of where they are copied to. */
export const EMBEDDER_SETTINGS: readonly SettingName[] = ['embedder', 'embedEndpoint', 'embedModel', 'qdrantUrl']

/** Adds what says whether a verb embeds what it reads, and by what. */
export function addEmbedOptions(command: Command): Command {
  command.option('--embed', 'fail where what is read cannot be embedded')
  return addSettings(command, ['embed', ...EMBEDDER_SETTINGS])
}

/** Whether the user gave `--embed`, so that missing vectors are a failure. */
export function isEmbedAsked({ values, origins }: EffectiveConfig): boolean {
  return values.embed && origins.embed === 'flag'
}

/** Settings of the verbs that search. */
export const SEARCH_SETTINGS: readonly SettingName[] = [...EMBEDDER_SETTINGS, 'reranker', 'rerankEndpoint']
