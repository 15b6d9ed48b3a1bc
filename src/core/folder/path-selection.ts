/** A part of a tree: some of its files and folders. */
export class PathSelection {
  readonly #paths: ReadonlySet<string>
  readonly #above = new Set<string>()
  readonly #isDeep: boolean

  /**
   * Takes paths relative to the tree, without a trailing slash; an empty path means the whole tree. A deep selection includes everything
   * inside its folders.
   */
  constructor(paths: Iterable<string>, { isDeep = true }: { readonly isDeep?: boolean } = {}) {
    this.#paths = new Set(paths)
    this.#isDeep = isDeep
    for (const path of this.#paths) for (const above of foldersAbove(path)) this.#above.add(above)
  }

  /** The selected paths, except those inside folders that are selected with everything in them. */
  get paths(): string[] {
    return [...this.#paths].filter((path) => !this.#containsAbove(path))
  }

  /** Whether a path is selected, itself or with a folder. */
  contains(path: string): boolean {
    return this.#paths.has(path) || this.#containsAbove(path)
  }

  /** Whether a selected path is inside the folder at a path. */
  hasPathBelow(path: string): boolean {
    return this.#above.has(path)
  }

  #containsAbove(path: string): boolean {
    return this.#isDeep && foldersAbove(path).some((above) => this.#paths.has(above))
  }
}

/** The folders that contain a path, the nearest first; the last one is the tree itself. */
function foldersAbove(path: string): string[] {
  const above: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) above.push(path.slice(0, end))
  return path === '' ? above : [...above, '']
}
