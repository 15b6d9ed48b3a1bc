import { compareVersions } from '../../core/version/version.ts'
import { type Source, versionOf } from '../source.ts'

/** Facts about the sources that hits come from. */
export interface HitSources {
  sourceOf(id: string): Source | undefined
  /** Whether two sources are versions of the same name. */
  areVersions(a: string, b: string): boolean
  /** Whether both are versions of one name and the first is preferred: a complete version, otherwise the newer version. */
  isPreferred(a: string, b: string): boolean
}

/** Creates the facts about the sources of a search; `incomplete` has the ids of sources that are not preferred even if they are newer. */
export function createHitSources(sources: readonly Source[], incomplete: ReadonlySet<string>): HitSources {
  const byId = new Map(sources.map((source) => [source.id, source]))
  const areVersions = (a: string, b: string) => a !== b && byId.get(a)?.name === byId.get(b)?.name
  return {
    sourceOf: (id) => byId.get(id),
    areVersions,
    isPreferred: (a, b) => {
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
