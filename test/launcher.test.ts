import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'

// Tests the real launcher and the real scripts/setup.mjs in a small separate checkout. Only the two programs that would need the network
// and the compiler are fakes: `npm` on the PATH, and scripts/build.mjs.

const repository = dirname(dirname(fileURLToPath(import.meta.url)))

const NPM = `#!/bin/sh
echo "npm $*" >> calls
[ ! -f npm-fails ] || { echo 'cannot reach the registry'; exit 7; }
[ -z "\${SLOW-}" ] || sleep 0.3
rm -rf node_modules
mkdir -p node_modules
[ -z "\${WITH_NODE-}" ] || { mkdir -p node_modules/node-linux-test/bin; ln -s "$WITH_NODE" node_modules/node-linux-test/bin/node; }
`

const BUILD = `
import * as fs from 'node:fs'
import { digestSources } from './setup.mjs'
fs.appendFileSync('calls', 'build\\n')
if (fs.readFileSync('src/cli/main.ts', 'utf8').includes('mistake')) {
  console.log('src/cli/main.ts: there is a mistake')
  process.exit(2)
}
fs.mkdirSync('dist/cli', { recursive: true })
fs.copyFileSync('src/cli/main.ts', 'dist/cli/main.js')
fs.writeFileSync('dist/.built', digestSources('.'))
`

const PROGRAM = `
let input = ''
for await (const piece of process.stdin) input += piece
console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), input }))
process.exitCode = 3
`

const LONG = process.env['TEST_LONG'] !== undefined

const FIRST_START = 'pharos: installing dependencies (once, about half a minute)\npharos: building\n'

let temp = ''
let checkout = ''

beforeEach(() => {
  temp = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos launcher ')))
  checkout = join(temp, 'the checkout')
  for (const folder of ['bin', 'elsewhere', 'the checkout/scripts', 'the checkout/src/cli', 'the checkout/web']) {
    fs.mkdirSync(join(temp, folder), { recursive: true })
  }
  for (const file of ['pharos', 'scripts/setup.mjs']) fs.copyFileSync(join(repository, file), join(checkout, file))
  write('scripts/build.mjs', BUILD)
  write('scripts/bundle-program.mjs', '')
  write('model/kernel/kernel.ts', '')
  write('src/cli/main.ts', PROGRAM)
  write('web/main.tsx', '')
  write('package-lock.json', '{ "packages": { "": {}, "node_modules/a": { "version": "1.0.0" } } }')
  write('package.json', '{ "type": "module" }')
  for (const name of ['base', 'node', 'universal']) write(`tsconfig.${name}.json`, '{}')
  fs.writeFileSync(join(temp, 'bin/npm'), NPM, { mode: 0o755 })
  fs.symlinkSync(process.execPath, join(temp, 'bin/node'))
  makeOld()
})

afterEach(() => {
  fs.rmSync(temp, { recursive: true })
})

describe('a first start', () => {
  test('installs, builds and runs the program, and leaves standard output to the program', async () => {
    expect(await start(['search', 'two words', '', '--limit=3'], { input: 'hello' })).toEqual({
      code: 3,
      stdout: `${JSON.stringify({ args: ['search', 'two words', '', '--limit=3'], cwd: join(temp, 'elsewhere'), input: 'hello' })}\n`,
      stderr: FIRST_START,
    })
    expect(calls()).toEqual(['npm ci --include=dev --include=optional', 'build'])
  })

  test('works through chains of symbolic links', async () => {
    fs.symlinkSync('../the checkout/pharos', join(temp, 'bin/first'))
    fs.symlinkSync(join(temp, 'bin/first'), join(temp, 'elsewhere/second'))
    expect(await start([], { launcher: join(temp, 'elsewhere/second') })).toMatchObject({
      code: 3,
      stderr: FIRST_START,
    })
  })

  test('installs once when two processes start together', async () => {
    const results = await Promise.all(['1', '2'].map((name) => start([name], { env: { SLOW: '1' } })))
    expect(results.map(({ code }) => code)).toEqual([3, 3])
    expect(calls()).toEqual(['npm ci --include=dev --include=optional', 'build'])
  })

  test('does not install again what the user installed with npm', async () => {
    write('node_modules/a/package.json', '{}')
    write('node_modules/.package-lock.json', '{ "packages": { "node_modules/a": { "version": "1.0.0" } } }')
    expect(await start()).toMatchObject({ code: 3, stderr: 'pharos: building\n' })
  })

  test("installs when the user's installation has other versions", async () => {
    write('node_modules/a/package.json', '{}')
    write('node_modules/.package-lock.json', '{ "packages": { "node_modules/a": { "version": "0.9.0" } } }')
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
  })

  test("installs when the user's installation is for another platform", async () => {
    const entry = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] }
    write('package-lock.json', JSON.stringify({ packages: { '': {}, 'node_modules/a': entry } }))
    write('node_modules/.package-lock.json', '{ "packages": {} }')
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
  })
})

describe('a later start', () => {
  /** An installed and built checkout, which each test copies. */
  let built = ''

  beforeEach(async () => {
    if (built === '') {
      await start()
      fs.rmSync(join(checkout, 'calls'))
      built = fs.mkdtempSync(join(tmpdir(), 'pharos-built-'))
      copyWithTimes(checkout, built)
    } else {
      fs.rmSync(checkout, { recursive: true })
      copyWithTimes(join(built, basename(checkout)), temp)
    }
  })

  afterAll(() => fs.rmSync(built, { recursive: true }))

  test('only runs the program', async () => {
    expect(await start()).toMatchObject({ code: 3, stderr: '' })
    expect(calls()).toEqual([])
  })

  test('installs and builds after a change of the lock file', async () => {
    write('package-lock.json', '{}')
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
  })

  test.each([
    'src/cli/main.ts',
    'web/main.tsx',
    'scripts/build.mjs',
    'model/kernel/kernel.ts',
    'package.json',
    'tsconfig.base.json',
    // More files of the same kinds.
    ...(LONG ? ['scripts/bundle-program.mjs', 'tsconfig.node.json', 'tsconfig.universal.json'] : []),
  ])('builds after a change of %s', async (file) => {
    touchLater(file)
    expect(await start()).toMatchObject({ code: 3, stderr: 'pharos: building\n' })
  })

  test('builds after a source was deleted', async () => {
    write('src/other.ts', '')
    makeOld()
    fs.rmSync(join(checkout, 'src/other.ts'))
    touchLater('src')
    expect(await start()).toMatchObject({ code: 3, stderr: 'pharos: building\n' })
  })

  test('does not build after a change of a test', async () => {
    write('src/cli/main.test.ts', '')
    makeOld()
    touchLater('src/cli/main.test.ts')
    expect(await start()).toMatchObject({ code: 3, stderr: '' })
  })

  test('in a read-only checkout, newer file times alone do not require a build', async () => {
    touchLater('src/cli/main.ts')
    fs.chmodSync(checkout, 0o555)
    const unchanged = await start([], { user: ordinaryUser() })
    fs.chmodSync(checkout, 0o755)
    expect(unchanged).toMatchObject({ code: 3, stderr: '' })
  })
})

describe('a failed setup', () => {
  test('shows the output of npm, and is retried by the next start', async () => {
    write('npm-fails', '')
    const failed = await start()
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toContain('pharos: install failed: exit code 7\n  cannot reach the registry\n')
    fs.rmSync(join(checkout, 'npm-fails'))
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
  })

  test('a failed build shows the output of the compiler, and is retried by the next start', async () => {
    write('src/cli/main.ts', 'mistake')
    const failed = await start()
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toContain('pharos: build failed: exit code 2\n  src/cli/main.ts: there is a mistake\n')
    write('src/cli/main.ts', PROGRAM)
    expect(await start()).toMatchObject({ code: 3, stderr: 'pharos: building\n' })
  })
})

describe('the lock', () => {
  test('is taken over from a dead process', async () => {
    const { pid } = spawnSync('true')
    write('.pharos-setup/lock.7', JSON.stringify({ host: hostname(), pids: [pid] }))
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
    expect(fs.readdirSync(join(checkout, '.pharos-setup'))).toEqual(['lock.8'])
  })

  test('the lock is taken over when its file has not been touched for a long time', async () => {
    write('.pharos-setup/lock.1', JSON.stringify({ host: hostname(), pids: [process.pid] }))
    const tenMinutesAgo = new Date(Date.now() - 10 * 60_000)
    fs.utimesSync(join(checkout, '.pharos-setup/lock.1'), tenMinutesAgo, tenMinutesAgo)
    expect(await start()).toMatchObject({ code: 3, stderr: FIRST_START })
  })

  test.each([
    ['on this machine', hostname(), process.pid],
    // No process here has this pid, but the owner runs on another machine, so it must not count as dead.
    ['on another machine', `not-${hostname()}`, 2 ** 30],
  ])('is respected while its owner is alive %s', async (_where, host, pid) => {
    write('.pharos-setup/lock.1', JSON.stringify({ host, pids: [pid] }))
    const launcher = launch([])
    const ended = finish(launcher)
    await new Promise<void>((resolve) => launcher.stderr?.once('data', () => resolve()))
    expect(calls()).toEqual([])
    write('.pharos-setup/lock.1', JSON.stringify({ host, pids: [] }))
    expect(await ended).toMatchObject({
      code: 3,
      stderr: `pharos: waiting for another process that is setting up (process ${pid} on ${host})\n${FIRST_START}`,
    })
  })

  test('the lock of a killed setup is held until its npm has ended as well', async () => {
    const npm = spawn('cat')
    const { pid } = spawnSync('true')
    write('.pharos-setup/lock.1', JSON.stringify({ host: hostname(), pids: [pid, npm.pid] }))
    const launcher = launch([])
    const ended = finish(launcher)
    await new Promise<void>((resolve) => launcher.stderr?.once('data', () => resolve()))
    expect(calls()).toEqual([])
    npm.stdin.end()
    expect(await ended).toMatchObject({
      code: 3,
      stderr: `pharos: waiting for another process that is setting up (process ${npm.pid} on ${hostname()})\n${FIRST_START}`,
    })
  })
})

describe('the Node that runs the program', () => {
  test('must be new enough', async () => {
    pretendNode('v18.20.8')
    const minVersion = process.platform === 'linux' ? '20.0' : '22.19'
    expect(await start()).toEqual({
      code: 1,
      stdout: '',
      stderr: `pharos: needs Node.js ${minVersion} or later (found v18.20.8)\n`,
    })
    expect(calls()).toEqual([])
  })

  test('must be new enough after the installation too, if that contains no Node', async () => {
    await start()
    pretendNode('v22.18.0')
    expect(await start()).toEqual({
      code: 1,
      stdout: '',
      stderr: 'pharos: needs Node.js 22.19 or later (found v22.18.0)\n',
    })
  })

  // Packages that contain a Node exist only for Linux.
  const isBundled = process.platform === 'linux'
  test(`${isBundled ? 'may' : 'cannot'} come from node_modules on a machine with an older Node`, async () => {
    if (!isBundled) {
      expect(fs.existsSync(join(repository, 'node_modules/.bin/node'))).toBe(false)
      return
    }
    pretendNode('v20.20.2')
    expect(await start([], { env: { WITH_NODE: process.execPath } })).toMatchObject({ code: 3, stderr: FIRST_START })
    expect(fs.readlinkSync(join(checkout, 'node_modules/.bin/node'))).toBe('../node-linux-test/bin/node')
  })
})

interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface StartOptions {
  readonly input?: string
  readonly user?: number | undefined
  readonly launcher?: string
  readonly env?: Readonly<Record<string, string>>
}

function start(args: readonly string[] = [], options: StartOptions = {}): Promise<Result> {
  return finish(launch(args, options))
}

function launch(args: readonly string[], options: StartOptions = {}): ChildProcess {
  const { input = '', launcher = join(checkout, 'pharos'), env = {}, user } = options
  const child = spawn(launcher, args, {
    ...(user === undefined ? {} : { uid: user, gid: user }),
    cwd: join(temp, 'elsewhere'),
    env: { ...process.env, ...env, PATH: `${join(temp, 'bin')}:${process.env['PATH']}` },
  })
  // A launcher that ends with an error does not read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return child
}

function finish(child: ChildProcess): Promise<Result> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (piece) => {
    stdout += piece
  })
  child.stderr?.on('data', (piece) => {
    stderr += piece
  })
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code) => done({ code, stdout, stderr }))
  })
}

/**
 * Root may write anywhere, so for root the launcher runs with the uid 65534 and a copy of node that this user can execute. Other users need
 * no change.
 */
function ordinaryUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  fs.chmodSync(temp, 0o755)
  fs.rmSync(join(temp, 'bin/node'))
  fs.copyFileSync(process.execPath, join(temp, 'bin/node'))
  return 65534
}

/** Puts a `node` on the PATH that reports another version. */
function pretendNode(version: string): void {
  const script = `#!/bin/sh\n[ "$1" != --version ] || { echo ${version}; exit; }\nexec "${process.execPath}" "$@"\n`
  fs.rmSync(join(temp, 'bin/node'))
  fs.writeFileSync(join(temp, 'bin/node'), script, { mode: 0o755 })
}

function calls(): string[] {
  const file = join(checkout, 'calls')
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n') : []
}

function write(file: string, content: string): void {
  fs.mkdirSync(dirname(join(checkout, file)), { recursive: true })
  fs.writeFileSync(join(checkout, file), content)
}

/**
 * Copies a folder into another one and keeps the times of folders, because a new folder time counts as a change of its content. Node's own
 * functions would change these times.
 */
function copyWithTimes(folder: string, target: string): void {
  expect(spawnSync('cp', ['-a', folder, target]).status).toBe(0)
}

/** Gives all inputs of the build an old time, so that file times cannot coincide by chance. */
function makeOld(): void {
  const old = new Date(Date.now() - 3_600_000)
  for (const name of fs.readdirSync(checkout, { recursive: true, encoding: 'utf8' })) {
    if (!name.startsWith('dist') && !name.startsWith('node_modules')) fs.utimesSync(join(checkout, name), old, old)
  }
}

function touchLater(file: string): void {
  const later = new Date(Date.now() + 1_000)
  fs.utimesSync(join(checkout, file), later, later)
}
