import { matchesPathGlob, type PathGlob, parsePathGlob } from './path-glob.ts'
import type { Scope } from './scope.ts'

/** Why the patterns of a scope refuse a path. */
export interface PathRefusal {
  readonly reason: 'blocked' | 'not-allowed'
  /** The pattern that blocks the path, or all patterns that would allow it. */
  readonly pattern: string
}

/** Creates the test of the patterns of a scope. It returns null for an admitted path. A pattern with a leading `!` blocks in both lists. */
export function createPathTest(scope: Pick<Scope, 'allow' | 'block'>): (path: string) => PathRefusal | null {
  const allow = scope.allow.filter((pattern) => !isNegated(pattern)).map(parsePathGlob)
  const block = [...scope.block, ...scope.allow.filter(isNegated)].map(parsePathGlob)
  const pattern = allow.map((glob) => glob.pattern).join(', ')
  return (path) => {
    const matches = (glob: PathGlob) => matchesPathGlob(glob, path)
    const blocking = block.find(matches)
    if (blocking !== undefined) return { reason: 'blocked', pattern: blocking.pattern }
    return allow.length === 0 || allow.some(matches) ? null : { reason: 'not-allowed', pattern }
  }
}

/** Whether a pattern begins with `!`. */
export function isNegated(pattern: string): boolean {
  return pattern.trimStart().startsWith('!')
}
