import { createPathTest } from '../../core/url/path-patterns.ts'
import type { Scope } from '../../core/url/scope.ts'
import type { Refusal } from '../../crawl/ledger.ts'
import type { TreeEntry, TreeFile } from '../ports/tree.ts'

/** State of a path: a file to read, a refusal, an unreadable folder, or nothing. */
export type PathState = 'file' | 'unreadable' | 'nothing' | Refusal

/** Result of walking a folder. */
export class TreeSurvey {
  readonly #scope: Scope
  readonly #findPathRefusal: ReturnType<typeof createPathTest>
  readonly #states = new Map<string, Exclude<PathState, 'nothing'>>()
  /** Number of files to read. */
  files = 0
  /** Whether every folder could be read. */
  isComplete = true

  constructor(scope: Scope) {
    this.#scope = scope
    this.#findPathRefusal = createPathTest(scope)
  }

  add(entry: TreeEntry): void {
    // If two file names decode to the same path, the one that is not refused counts.
    if (entry.type === 'refused' && this.#states.has(entry.path)) return
    if (entry.type === 'file') this.files++
    if (entry.type === 'unreadable') this.isComplete = false
    this.#states.set(entry.path, entry.type === 'refused' ? entry.refusal : entry.type)
  }

  paths(): Iterable<string> {
    return this.#states.keys()
  }

  /** Returns the state of a path or key; inside a skipped folder or container file, that of the folder or file. */
  stateOf(path: string): PathState {
    const own = this.#states.get(path)
    if (own !== undefined) return own
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = this.#states.get(path.slice(0, end + 1)) ?? this.#states.get(path.slice(0, end))
      if (above !== undefined && above !== 'file') return above
    }
    if (this.findFile(path) !== undefined) return 'file'
    const container = possibleContainers(path).find((file) => this.#states.has(file))
    return (container === undefined ? undefined : this.#states.get(container)) ?? 'nothing'
  }

  /** Finds the file of a key, or the page within it. A name with `#` is a file if a file of that name exists. */
  findFile(key: string): TreeFile | undefined {
    if (this.#states.get(key) === 'file') return { path: key, part: null }
    const path = possibleContainers(key).find((file) => this.#states.get(file) === 'file')
    return path === undefined ? undefined : { path, part: key.slice(path.length + 1) }
  }

  /** Returns why a file is outside the scope; null if it is inside. */
  findRefusal(path: string): Refusal | null {
    const { maxDepth } = this.#scope
    const refusal = this.#findPathRefusal(`/${path}`)
    if (refusal !== null) return { ...refusal, target: null }
    const isTooDeep = maxDepth !== null && depthOf(path) > maxDepth
    return isTooDeep ? { reason: 'max-depth', pattern: String(maxDepth), target: null } : null
  }
}

/** Lists what precedes each `#` of a key, longest first: if the key is that of a page in a container file, one of them is that file. */
export function possibleContainers(key: string): string[] {
  const files: string[] = []
  for (let end = key.lastIndexOf('#'); end > 0; end = key.lastIndexOf('#', end - 1)) {
    // A `#` at the start of a name is part of the name.
    if (key[end - 1] !== '/') files.push(key.slice(0, end))
  }
  return files
}

/** Number of folders above a path, relative to the start. */
export function depthOf(path: string): number {
  return path.split('/').length - 1
}
