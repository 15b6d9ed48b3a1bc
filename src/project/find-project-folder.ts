import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'

const LOCK_FILES =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|uv\.lock|poetry\.lock|pdm\.lock|pylock\.toml|Pipfile\.lock)$/
const MANIFESTS = /^(?:package\.json|pyproject\.toml|requirements(?:[-.].+)?\.txt|Pipfile)$/

/** The project that a folder belongs to: the nearest folder above with a lock file, else with a manifest, else the folder itself. */
export async function findProjectFolder(folder: string): Promise<string> {
  let withManifest: string | undefined
  for (let at = folder; ; at = dirname(at)) {
    const names = await readdir(at).catch((): string[] => [])
    if (names.some((name) => LOCK_FILES.test(name))) return at
    if (names.some((name) => MANIFESTS.test(name))) withManifest ??= at
    if (dirname(at) === at) return withManifest ?? folder
  }
}
