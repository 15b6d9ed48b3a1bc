import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const tried = new Set<string>()

/** Installs Debian packages where possible. Tries each package only once, because a failure would repeat. */
export function installPackages(names: readonly string[]): void {
  const missing = names.filter((name) => !tried.has(name))
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' })
  for (const name of missing) {
    tried.add(name)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
}
