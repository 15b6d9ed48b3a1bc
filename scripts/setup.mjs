// Brings a checkout to the point where `./pharos` and `npm test` can run: dependencies installed, sources built.
// Starts on the machine's Node (20 or later) and before node_modules exists, so it uses Node's own modules only.
//
// Two stamps record completed work, each written after it:
//   node_modules/.pharos-<os>-<cpu>   a copy of the package-lock.json that was installed
//   dist/.built                       the digest of the sources that were built; its time is when the build began
// `./pharos` compares the same two stamps in shell, and runs this script only when one of them does not match.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname, machine, type } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Inputs of the build. The launcher checks the modification times of the same files. */
const BUILD_INPUTS = [
  'src',
  'web',
  'model',
  'scripts/build.mjs',
  'scripts/bundle-program.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
  'tsconfig.node.json',
  'tsconfig.universal.json',
]

const MIN_NODE = [22, 19]
const POLL_INTERVAL_MS = 200
const HEARTBEAT_INTERVAL_MS = 5_000
/** A lock is also taken over when it was not written for this long: its pid may belong to another program by now. */
const LOCK_MAX_AGE_MS = 5 * 60_000

/** A failure whose message is all that the user needs; any other error is a bug and keeps its stack. */
export class SetupError extends Error {}

/** Installs and builds what is missing or out of date. If several processes call it at once, only one does the work. */
export async function setUp(root) {
  if (isInstalled(root) && isBuilt(root)) return
  if (!isWritable(root)) {
    // A copied checkout has new file times although nothing changed, so here the content decides.
    if (isInstalled(root) && readText(join(root, 'dist/.built')) === digestSources(root)) return
    throw new SetupError(`${root} cannot be written to, and its build is missing or out of date`)
  }
  await withLock(root, async (lock) => {
    if (!isInstalled(root)) await install(root, lock)
    if (!isBuilt(root)) await build(root, lock)
  })
}

/** Installs the dependencies if they are missing or do not match package-lock.json. */
export async function setUpDependencies(root) {
  if (isInstalled(root)) return
  await withLock(root, async (lock) => {
    if (!isInstalled(root)) await install(root, lock)
  })
}

/** The Node that runs Pharos: the one from node_modules, or that of the machine if there is none for this platform. */
export function findNode(root) {
  const pinned = join(root, 'node_modules/.bin/node')
  if (fs.existsSync(pinned)) return pinned
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return process.execPath
  throw new SetupError(`needs Node.js ${MIN_NODE.join('.')} or later (found ${process.version})`)
}

/** The environment for tools from node_modules: their `#!/usr/bin/env node` must find the Node we chose. */
export function toolEnvironment(root) {
  return { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
}

/** A digest of the inputs of the build. */
export function digestSources(root) {
  const hash = createHash('sha256')
  for (const file of listInputs(root)) {
    hash.update(relative(root, file)).update('\0').update(fs.readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function isInstalled(root) {
  const installed = readText(installStamp(root))
  return installed !== undefined && installed === readText(join(root, 'package-lock.json'))
}

function isBuilt(root) {
  const built = fs.statSync(join(root, 'dist/.built'), { throwIfNoEntry: false })
  if (!built || !fs.existsSync(join(root, 'dist/cli/main.js'))) return false
  // Folders count too: their time changes when a file in them is deleted or renamed.
  return listInputs(root, { folders: true }).every((path) => fs.statSync(path).mtimeMs <= built.mtimeMs)
}

// The platform is part of the name because node_modules holds programs: a checkout that is shared between machines, or
// copied to another one, must install again.
function installStamp(root) {
  return join(root, `node_modules/.pharos-${type()}-${machine()}`)
}

async function install(root, lock) {
  if (!wasInstalledByHand(root)) {
    say('installing dependencies (once, about half a minute)')
    // The build needs the development tools and the pinned Node, even if npm is configured to leave them out.
    const args = ['ci', '--include=dev', '--include=optional']
    // If npm is interrupted while it removes everything, the file that marks a complete install must not survive.
    fs.rmSync(join(root, 'node_modules/.package-lock.json'), { force: true })
    fs.rmSync(installStamp(root), { force: true })
    await run('npm', args, { root, lock, name: 'install', env: machineEnvironment(root) })
  }
  linkPinnedNode(root)
  // An interrupted copy looks like another lock, which only causes an unnecessary install.
  fs.copyFileSync(join(root, 'package-lock.json'), installStamp(root))
}

async function build(root, lock) {
  say('building')
  const options = { root, lock, name: 'build', env: toolEnvironment(root) }
  await run(findNode(root), [join(root, 'scripts/build.mjs')], options)
  if (!fs.existsSync(join(root, 'dist/cli/main.js'))) throw new SetupError('the build made no dist/cli/main.js')
}

/**
 * Recognises a node_modules from the user's own `npm ci` or `npm install`, so that it is not installed again. npm writes
 * node_modules/.package-lock.json when everything is in place. This also accepts the work of an npm whose parent was killed.
 */
function wasInstalledByHand(root) {
  const present = readJson(join(root, 'node_modules/.package-lock.json'))?.packages
  const wanted = readJson(join(root, 'package-lock.json'))?.packages
  if (!present || !wanted) return false
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const found = present[path]
    if (!found) return entry.optional === true && !isForThisPlatform(entry)
    return found.version === entry.version && found.integrity === entry.integrity && fs.existsSync(join(root, path))
  })
}

function isForThisPlatform({ os, cpu, libc }) {
  const includes = (list, name) => [list].flat().includes(name)
  return includes(os, process.platform) && includes(cpu, process.arch) && !includes(libc, 'musl')
}

/**
 * Points node_modules/.bin/node at the Node that came with the dependencies, if it runs here. npm 10 drops the link when
 * two packages offer it, and a Linux without glibc gets a package that cannot start.
 */
function linkPinnedNode(root) {
  const modules = join(root, 'node_modules')
  const link = join(modules, '.bin/node')
  const pinned = fs
    .readdirSync(modules)
    .filter((name) => /^node-[a-z0-9]+-[a-z0-9]+$/.test(name))
    .map((name) => join(modules, name, 'bin/node'))
    .find((program) => spawnSync(program, ['--version']).status === 0)
  if (pinned && fs.existsSync(link) && fs.realpathSync(link) === fs.realpathSync(pinned)) return
  fs.rmSync(link, { force: true })
  if (!pinned) return
  fs.mkdirSync(dirname(link), { recursive: true })
  fs.symlinkSync(relative(dirname(link), pinned), link)
}

/** npm must not run on the Node in node_modules, because npm deletes that folder. */
function machineEnvironment(root) {
  const own = join(root, 'node_modules/.bin')
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => resolve(folder) !== own)
  return { ...process.env, PATH: folders.join(delimiter) }
}

function listInputs(root, { folders = false } = {}) {
  const found = []
  const visit = (path) => {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) {
      if (folders) found.push(path)
      for (const name of fs.readdirSync(path).sort()) visit(join(path, name))
    } else if (stat && !path.endsWith('.test.ts')) {
      found.push(path)
    }
  }
  for (const input of BUILD_INPUTS) visit(join(root, input))
  return found
}

/** Runs a command to its end. Its output goes to a log; an error shows the beginning and end of the log. */
async function run(command, args, { root, lock, name, env }) {
  const log = join(lock.folder, `${name}.log`)
  const output = fs.openSync(log, 'w')
  // The output goes to a file, not through this process: if this process is killed, the command can still finish.
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', output, output] })
  lock.setChild(child.pid)
  const problem = await new Promise((done) => {
    child.on('error', (error) => done(error.code === 'ENOENT' ? `${command} was not found` : error.message))
    child.on('exit', (code, signal) => done(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  fs.closeSync(output)
  lock.setChild(undefined)
  if (problem) {
    const lines = (readText(log) ?? '').trimEnd().split('\n')
    // npm and tsc report the cause first, other programs last.
    if (lines.length > 24) lines.splice(10, lines.length - 23, '…')
    throw new SetupError([`${name} failed: ${problem}`, ...lines.map((line) => `  ${line}`), `  (${log})`].join('\n'))
  }
  fs.rmSync(log)
}

/**
 * Runs `work` in one process at a time.
 *
 * The lock is the file with the highest number in .pharos-setup. A process that finds the lock released, or its owner dead, creates the
 * file with the next number; only one process can. The file with the highest number is never deleted, so a slow process cannot mistake an
 * old state for the present one: it sees the higher number and steps back.
 */
export async function withLock(root, work) {
  const folder = join(root, '.pharos-setup')
  let isWaiting = false
  let lock = tryLock(folder)
  while (lock.holder) {
    if (!isWaiting) say(`waiting for another process that is setting up (${lock.holder})`)
    isWaiting = true
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS))
    lock = tryLock(folder)
  }
  // Rewriting the file also renews its modification time; the timer does so while a command runs.
  const write = (content) => fs.writeFileSync(lock.file, JSON.stringify({ host: hostname(), ...content }))
  let pids = [process.pid]
  const setChild = (child) => {
    pids = child === undefined ? [process.pid] : [process.pid, child]
    write({ pids })
  }
  const heartbeat = setInterval(() => write({ pids }), HEARTBEAT_INTERVAL_MS)
  try {
    await work({ folder, setChild })
  } finally {
    clearInterval(heartbeat)
    write({ pids: [] })
  }
}

function tryLock(folder) {
  fs.mkdirSync(folder, { recursive: true })
  const newest = newestLock(folder)
  const holder = newest > 0 && holderOf(join(folder, `lock.${newest}`))
  if (holder) return { holder }
  const next = newest + 1
  const file = join(folder, `lock.${next}`)
  try {
    fs.writeFileSync(file, JSON.stringify({ host: hostname(), pids: [process.pid] }), { flag: 'wx' })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return { holder: 'it was faster' }
  }
  if (newestLock(folder) !== next) {
    fs.rmSync(file)
    return { holder: 'it was faster' }
  }
  for (const number of lockNumbers(folder)) {
    if (number < next) fs.rmSync(join(folder, `lock.${number}`), { force: true })
  }
  return { file }
}

/** Describes the holder of this lock; undefined if the lock can be taken over. */
function holderOf(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  // The owner of a higher number has deleted the file since it was listed.
  if (!stat) return 'it was faster'
  if (Date.now() - stat.mtimeMs > LOCK_MAX_AGE_MS) return undefined
  const content = readJson(file)
  // The file is being written at this moment.
  if (!content) return 'it has just started'
  const { host, pids } = content
  // Process ids of another host or container do not tell which processes are alive.
  const alive = host === hostname() ? pids.filter(isAlive) : pids
  return alive.length > 0 ? `process ${alive.join(', ')} on ${host}` : undefined
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    // A killed process keeps its id until its parent collects it, which may never happen in a container.
    return !/\) Z/.test(readText(`/proc/${pid}/stat`) ?? '')
  } catch (error) {
    // A process of another user is alive too.
    return error.code === 'EPERM'
  }
}

function newestLock(folder) {
  return Math.max(0, ...lockNumbers(folder))
}

function lockNumbers(folder) {
  return fs
    .readdirSync(folder)
    .map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1]))
    .filter((number) => number > 0)
}

function isWritable(root) {
  try {
    fs.accessSync(root, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESRCH'].includes(error.code)) return undefined
    throw error
  }
}

/** Returns undefined for a missing or incomplete file. */
function readJson(file) {
  try {
    return JSON.parse(readText(file) ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

// Standard output belongs to the command of the user.
function say(message) {
  process.stderr.write(`pharos: ${message}\n`)
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  setUp(dirname(dirname(fileURLToPath(import.meta.url)))).catch((error) => {
    say(error instanceof SetupError ? error.message : error.stack)
    process.exitCode = 1
  })
}
