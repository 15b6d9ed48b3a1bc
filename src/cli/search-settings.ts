import type { SettingName } from '../config.ts'

/** Settings of what makes vectors in the place of this machine, and of where they are copied to. */
export const EMBEDDER_SETTINGS: readonly SettingName[] = ['embedder', 'embedEndpoint', 'embedModel', 'qdrantUrl']

/** Settings of the verbs that search. */
export const SEARCH_SETTINGS: readonly SettingName[] = [...EMBEDDER_SETTINGS, 'reranker', 'rerankEndpoint']
