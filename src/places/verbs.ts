/* The door of places for the command line. It is not part of `node.ts`, because commands open libraries, which need that door. */
import type { AddVerb } from '../cli/verb.ts'

/** The commands of places, each loaded on demand. */
export const placeVerbs: Readonly<Record<string, () => Promise<AddVerb>>> = {
  gazetteer: async () => (await import('./cli/gazetteer.ts')).addGazetteer,
  analyze: async () => (await import('./cli/analyze.ts')).addAnalyze,
}
