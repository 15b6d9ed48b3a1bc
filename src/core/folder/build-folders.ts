const BUILD_FOLDERS = new Set(
  `.git .hg .svn node_modules bower_components target dist build .cache .next .nuxt .svelte-kit .turbo .parcel-cache
  __pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .gradle .terraform .idea .vscode`.split(/\s+/),
)

/** Whether a folder with this name holds files of tools and is therefore never entered. */
export function isBuildFolder(name: string): boolean {
  return BUILD_FOLDERS.has(name)
}

/** The topmost build folder that contains a file; undefined if there is none. */
export function buildFolderOf(path: string): string | undefined {
  let from = 0
  for (let to = path.indexOf('/'); to >= 0; to = path.indexOf('/', from)) {
    if (isBuildFolder(path.slice(from, to))) return path.slice(0, to)
    from = to + 1
  }
  return undefined
}
