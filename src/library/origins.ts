import { compareVersions } from '../core/version/version.ts'
import { type Source, versionOf } from './source.ts'

/** What is known of the sources that hits come from. */
export interface Origins {
  sourceOf(id: string): Source | undefined
  /** Whether they are different versions of the same. */
  areVersions(a: string, b: string): boolean
  /** Whether the first one is what should be read instead of the second. */
  isNewer(a: string, b: string): boolean
}

/** `incomplete` are the ids of those that are not preferred for being newer. */
export function createOrigins(sources: readonly Source[], incomplete: ReadonlySet<string>): Origins {
  const byId = new Map(sources.map((source) => [source.id, source]))
  const areVersions = (a: string, b: string) => a !== b && byId.get(a)?.name === byId.get(b)?.name
  return {
    sourceOf: (id) => byId.get(id),
    areVersions,
    isNewer: (a, b) => {
      if (!areVersions(a, b)) return false
      if (incomplete.has(a) !== incomplete.has(b)) return incomplete.has(b)
      const [one = '', other = ''] = [a, b].map((id) => {
        const source = byId.get(id)
        return (source && versionOf(source)) ?? ''
      })
      return compareVersions(one, other) > 0
    },
  }
}
