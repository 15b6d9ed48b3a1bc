// What `npm test` and CI run: every check there is, in one command. The first step that fails ends it.
//
//   npm test                          everything
//   npm test -- --long                the same tests with their full numbers (TEST_LONG=1)
//   npm test -- src/core/url -t key   these tests only; all arguments but --long go to vitest
//
// Starts on the machine's Node, installs when needed, and runs each step on the Node that Pharos runs on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) < 20) {
  console.error(`npm test needs Node.js 20 or later (found ${process.version})`)
  process.exit(1)
}
// Imported here, because an older Node could not even parse it.
const { SetupError, findNode, setUpDependencies, toolEnvironment } = await import('./setup.mjs')

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const long = process.argv.includes('--long')
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
  const started = performance.now()
  const steps = listSteps()
  const env = { ...toolEnvironment(root), ...(long ? { TEST_LONG: '1' } : {}) }
  for (const { title, programs, live = false } of steps) {
    process.stdout.write(live ? `${title} …\n` : `${title} … `)
    const stepStarted = performance.now()
    const ends = await Promise.all(programs.map((args) => run(node, args, env, live)))
    const time = seconds(stepStarted)
    const failed = ends.find(({ problem }) => problem !== undefined)
    if (failed !== undefined) {
      console.log(`failed after ${time}\n${failed.output}`)
      console.log(`FAILED: ${title} (${failed.problem})`)
      process.exitCode = 1
      return
    }
    console.log(live ? `${title}: ok, ${time}` : `ok, ${time}`)
  }
  const what = vitestArgs.length > 0 ? 'the chosen tests only' : `${steps.length} steps`
  console.log(`PASSED: ${what}${long ? ', long' : ''}, ${seconds(started)}`)
}

/** Runs a program to its end. What it writes is shown at once, or kept for the case that it fails. */
async function run(node, args, env, live) {
  const child = spawn(node, args, { cwd: root, env, stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => output.push(data))
  const [status, signal] = await once(child, 'close')
  const problem = status === 0 ? undefined : `${args.join(' ')}: ${signal ?? `exit code ${status}`}`
  return { problem, output: Buffer.concat(output).toString() }
}

/** Programs of one step run at the same time. */
function listSteps() {
  const vitest = (...args) => [[tool('vitest'), 'run', ...args]]
  if (vitestArgs.length > 0) return [{ title: 'tests', programs: vitest(...vitestArgs), live: true }]
  return [
    { title: 'lock file', programs: [['scripts/complete-lock.mjs', '--check']] },
    // First, because it may write the program's output, which the types build on.
    { title: 'build', programs: [['scripts/build.mjs']] },
    // Tests of pauses mostly wait: the checks, of which one keeps a core busy, take them no time.
    {
      title: 'format, types, unused code, tests of pauses',
      programs: [
        [tool('biome'), 'check', '--error-on-warnings'],
        [tool('tsc'), '-b'],
        [tool('knip')],
        ...vitest('--project=timed'),
      ],
    },
    { title: 'tests', programs: vitest('--project=apart', '--project=together'), live: true },
    { title: 'tests of connectors', programs: vitest('--project=connectors', '--coverage'), live: true },
    { title: 'examples', programs: listExamples().map((file) => [join('examples', file)]) },
  ]
}

function listExamples() {
  const folder = join(root, 'examples')
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.mjs')) : []
  if (files.length === 0) console.log('examples: there are none to run')
  return files.sort()
}

/** A tool of node_modules as a script for the Node we chose, whatever its first line says. */
function tool(name) {
  return join('node_modules/.bin', name)
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
