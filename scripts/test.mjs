// Runs every check, for `npm test` and CI. The first failing step ends the run.
//
// If only a few test files fail, the script names them and runs them once more alone. A browser that hangs because the machine was busy
// fails every later test of its file, but passes then; a real error fails again.
//
//   npm test                          everything
//   npm test -- --long                the same tests at full size (TEST_LONG=1)
//   npm test -- src/core/url -t key   these tests only; all arguments but --long go to vitest
//
// Starts on the machine's Node, installs if needed, and runs each step on the Node that Pharos uses.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) < 20) {
  console.error(`npm test needs Node.js 20 or later (found ${process.version})`)
  process.exit(1)
}
// Imported dynamically, because an older Node could not parse it.
const { SetupError, findNode, setUpDependencies, toolEnvironment } = await import('./setup.mjs')

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const long = process.argv.includes('--long')
/** File in which a test step lists its failed files (`test/report-retries.ts`), and the maximum number of files that are run again. */
const FAILED_FILES = join(root, 'node_modules/.cache/pharos-failed-tests.json')
const MAX_RETRIED_FILES = 3
/**
 * Temporary files go to memory: tests write thousands of small libraries, and waiting for the disk takes a third of the time of many files.
 */
const MEMORY_FOLDER = '/dev/shm'
const MIN_MEMORY_BYTES = 8 * 2 ** 30
const vitestArgs = process.argv.slice(2).filter((argument) => argument !== '--long')

try {
  await setUpDependencies(root)
  await runSteps(findNode(root))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(`npm test: ${error.message}`)
  process.exitCode = 1
}

async function runSteps(node) {
  const temporary = makeTemporaryFolder()
  const env = {
    ...toolEnvironment(root),
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
    // As `./pharos` does. Allocating from many arenas takes a twentieth of the CPU time.
    MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '1',
    ...(long ? { TEST_LONG: '1' } : {}),
    TEST_FAILED_FILES: FAILED_FILES,
  }
  try {
    await runAllSteps(node, env)
  } finally {
    if (temporary !== undefined) fs.rmSync(temporary, { recursive: true, force: true })
  }
}

async function runAllSteps(node, env) {
  const started = performance.now()
  const steps = listSteps()
  for (const { title, lanes, live = false, retryLanes } of steps) {
    process.stdout.write(live ? `${title} …\n` : `${title} … `)
    const stepStarted = performance.now()
    const runAll = (all) => Promise.all(all.map((lane) => runLane(node, lane, env, live)))
    fs.rmSync(FAILED_FILES, { force: true })
    const results = await runAll(lanes)
    let failed = results.find(({ problem }) => problem !== undefined)
    const files = failed === undefined || retryLanes === undefined ? [] : listFailedFiles()
    if (files.length > 0 && files.length <= MAX_RETRIED_FILES) {
      console.log(`${title}: failed, and run once more alone: ${files.join(', ')}`)
      const retried = await runAll(retryLanes(files))
      failed = retried.find(({ problem }) => problem !== undefined)
    }
    const time = seconds(stepStarted)
    if (failed !== undefined) {
      console.log(`failed after ${time}\n${failed.output}`)
      console.log(`FAILED: ${title} (${failed.problem})`)
      process.exitCode = 1
      return
    }
    console.log(live ? `${title}: ok, ${time}` : `ok, ${time}`)
  }
  const scope = vitestArgs.length > 0 ? 'the chosen tests only' : `${steps.length} steps`
  console.log(`PASSED: ${scope}${long ? ', long' : ''}, ${seconds(started)}`)
}

/**
 * Creates a temporary folder in memory; undefined if memory is short, or if programs cannot run from it. `--long` stays on disk, because it
 * writes more than memory may hold.
 */
function makeTemporaryFolder() {
  if (long || process.env.TMPDIR !== undefined || !fs.existsSync(MEMORY_FOLDER)) return undefined
  const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER)
  if (bavail * bsize < MIN_MEMORY_BYTES) return undefined
  const folder = fs.mkdtempSync(join(MEMORY_FOLDER, 'pharos-test-'))
  // Same permissions as /tmp, because some programs run as another user.
  fs.chmodSync(folder, 0o1777)
  const program = join(folder, 'program')
  fs.writeFileSync(program, '', { mode: 0o755 })
  try {
    fs.accessSync(program, fs.constants.X_OK)
    return folder
  } catch (error) {
    if (error.code !== 'EACCES') throw error
    fs.rmSync(folder, { recursive: true })
    return undefined
  } finally {
    fs.rmSync(program, { force: true })
  }
}

/** Runs programs one after the other until one fails. */
async function runLane(node, programs, env, live) {
  for (const args of programs) {
    const result = await run(node, args, env, live)
    if (result.problem !== undefined) return result
  }
  return {}
}

/** Runs a program to its end. Its output is shown live, or kept and shown only if the program fails. */
async function run(node, args, env, live) {
  const child = spawn(node, args, { cwd: root, env, stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => output.push(data))
  const [status, signal] = await once(child, 'close')
  const problem = status === 0 ? undefined : `${args.join(' ')}: ${signal ?? `exit code ${status}`}`
  return { problem, output: Buffer.concat(output).toString() }
}

/** The failed test files of the last step; empty if something else failed. */
function listFailedFiles() {
  return fs.existsSync(FAILED_FILES) ? JSON.parse(fs.readFileSync(FAILED_FILES, 'utf8')) : []
}

/**
 * Steps of the test run. Lanes of a step run in parallel, programs of a lane in sequence; `retryLanes` returns the lanes that run failed
 * files once more.
 */
function listSteps() {
  const vitest = (...args) => [[tool('vitest'), 'run', ...args]]
  const projects = ['alone', 'apart', 'postgres', 'together'].map((name) => `--project=${name}`)
  const connectors = [vitest('--project=apart-connectors', '--project=connectors', '--coverage')]
  if (vitestArgs.length > 0) return [{ title: 'tests', lanes: [vitest(...vitestArgs)], live: true }]
  return [
    { title: 'lock file', lanes: [[['scripts/complete-lock.mjs', '--check']]] },
    // Timed tests mostly wait, so CPU-bound programs beside them do not slow them down.
    {
      title: 'build, format, types, unused code, examples, timed tests',
      lanes: [
        vitest('--project=timed'),
        [
          // First, because it writes dist/, which the type check and the examples need.
          ['scripts/build.mjs'],
          [tool('tsc'), '-b'],
          [tool('biome'), 'check', '--error-on-warnings'],
          [tool('knip')],
          ...listExamples().map((file) => [join('examples', file)]),
        ],
      ],
    },
    {
      title: 'tests',
      lanes: [vitest(...projects)],
      retryLanes: (files) => [vitest(...projects, '--max-workers=1', ...files)],
      live: true,
    },
    {
      title: 'tests of connectors',
      lanes: connectors,
      // All files again, because coverage needs all of them.
      retryLanes: () => connectors,
      live: true,
    },
  ]
}

function listExamples() {
  const folder = join(root, 'examples')
  const files = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.mjs')) : []
  if (files.length === 0) console.log('no examples to run')
  return files.sort()
}

/** Path of a tool in node_modules, run by the chosen Node whatever its first line says. */
function tool(name) {
  return join('node_modules/.bin', name)
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
