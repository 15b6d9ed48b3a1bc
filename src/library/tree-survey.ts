import { matchesPathGlob, type PathGlob, parsePathGlob } from '../core/url/path-glob.ts'
import type { Scope } from '../core/url/scope.ts'
import type { Refusal } from '../crawl/ledger.ts'
import type { TreeEntry, TreeFile } from './tree.ts'

/** What was seen of a path: a file to read, a reason not to, a folder that may not be read, or nothing. */
export type Sight = 'file' | 'unreadable' | 'nothing' | Refusal

/** What a folder holds, by a look at all of it. */
export class TreeSurvey {
  readonly #scope: Scope
  readonly #allow: readonly PathGlob[]
  readonly #block: readonly PathGlob[]
  readonly #sights = new Map<string, Exclude<Sight, 'nothing'>>()
  /** How many files there are to read. */
  files = 0
  /** Whether every folder could be looked into. */
  isComplete = true

  constructor(scope: Scope) {
    this.#scope = scope
    this.#allow = scope.allow.map(parsePathGlob)
    this.#block = scope.block.map(parsePathGlob)
  }

  add(entry: TreeEntry): void {
    // Of two names that look alike as text, the one that can be opened counts.
    if (entry.type === 'refused' && this.#sights.has(entry.path)) return
    if (entry.type === 'file') this.files++
    if (entry.type === 'unreadable') this.isComplete = false
    this.#sights.set(entry.path, entry.type === 'refused' ? entry.refusal : entry.type)
  }

  paths(): Iterable<string> {
    return this.#sights.keys()
  }

  /** What is at a path. Of what stands in a folder that was passed over, that folder is what is known. */
  see(path: string): Sight {
    const own = this.#sights.get(path)
    if (own !== undefined) return own
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = this.#sights.get(path.slice(0, end + 1)) ?? this.#sights.get(path.slice(0, end))
      if (above !== undefined && above !== 'file') return above
    }
    return this.findFile(path) === undefined ? 'nothing' : 'file'
  }

  /** Which file a key stands for, or which page of one: a name that holds a `#` is a file as long as there is one of that name. */
  findFile(key: string): TreeFile | undefined {
    if (this.#sights.get(key) === 'file') return { path: key, part: null }
    for (let end = key.lastIndexOf('#'); end > 0; end = key.lastIndexOf('#', end - 1)) {
      const path = key.slice(0, end)
      if (this.#sights.get(path) === 'file') return { path, part: key.slice(end + 1) }
    }
    return undefined
  }

  /** Why a file is outside of the scope; null for one that is inside. */
  judge(path: string): Refusal | null {
    const { maxDepth } = this.#scope
    const refuse = (reason: Refusal['reason'], pattern: string): Refusal => ({ reason, pattern, target: null })
    const blocking = this.#block.find((glob) => matchesPathGlob(glob, `/${path}`))
    if (blocking !== undefined) return refuse('blocked', blocking.pattern)
    const isAllowed = this.#allow.length === 0 || this.#allow.some((glob) => matchesPathGlob(glob, `/${path}`))
    if (!isAllowed) return refuse('not-allowed', this.#scope.allow.join(', '))
    return maxDepth !== null && depthOf(path) > maxDepth ? refuse('max-depth', String(maxDepth)) : null
  }
}

/** How many folders a path is below the one it starts at. */
export function depthOf(path: string): number {
  return path.split('/').length - 1
}
