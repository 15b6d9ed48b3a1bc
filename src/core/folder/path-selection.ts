/** A part of a tree: some of its files and folders, with everything inside them. */
export class PathSelection {
  readonly #paths: ReadonlySet<string>
  readonly #above = new Set<string>()

  /** Takes paths relative to the tree, without a trailing slash; an empty path means the whole tree. */
  constructor(paths: Iterable<string>) {
    this.#paths = new Set(paths)
    for (const path of this.#paths) for (const above of foldersAbove(path)) this.#above.add(above)
  }

  /** The selected paths, except paths inside other selected paths. */
  get paths(): string[] {
    return [...this.#paths].filter((path) => !foldersAbove(path).some((above) => this.#paths.has(above)))
  }

  /** Whether a path is selected, or inside a selected one. */
  contains(path: string): boolean {
    return this.#paths.has(path) || foldersAbove(path).some((above) => this.#paths.has(above))
  }

  /** Whether a selected path is inside the folder at a path. */
  hasPathBelow(path: string): boolean {
    return this.#above.has(path)
  }
}

/** The folders that contain a path, the nearest first; the last one is the tree itself. */
function foldersAbove(path: string): string[] {
  const above: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) above.push(path.slice(0, end))
  return path === '' ? above : [...above, '']
}
