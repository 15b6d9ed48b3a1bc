// What `npm test` and CI run: every check there is, in one command. The first step that fails ends it.
//
//   npm test                          everything
//   npm test -- --long                the same tests with their full numbers (TEST_LONG=1)
//   npm test -- src/core/url -t key   these tests only; all arguments but --long go to vitest
//
// Starts on the machine's Node, installs when needed, and runs each step on the Node that Pharos runs on.
import { spawnSync } from 'node:child_process'
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
  runSteps(findNode(root))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(`npm test: ${error.message}`)
  process.exitCode = 1
}

function runSteps(node) {
  const started = performance.now()
  const steps = listSteps()
  const env = { ...toolEnvironment(root), ...(long ? { TEST_LONG: '1' } : {}) }
  for (const { title, args, live } of steps) {
    process.stdout.write(live ? `${title} …\n` : `${title} … `)
    const stepStarted = performance.now()
    const stdio = live ? 'inherit' : ['ignore', 'pipe', 'pipe']
    const { status, signal, stdout, stderr, error } = spawnSync(node, args, {
      cwd: root,
      env,
      stdio,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    const time = seconds(stepStarted)
    if (status !== 0) {
      console.log(`failed after ${time}\n${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}`)
      console.log(`FAILED: ${title} (${signal ?? `exit code ${status}`})`)
      process.exitCode = 1
      return
    }
    console.log(live ? `${title}: ok, ${time}` : `ok, ${time}`)
  }
  const what = vitestArgs.length > 0 ? 'the chosen tests only' : `${steps.length} steps`
  console.log(`PASSED: ${what}${long ? ', long' : ''}, ${seconds(started)}`)
}

function listSteps() {
  if (vitestArgs.length > 0) return [{ title: 'tests', args: [tool('vitest'), 'run', ...vitestArgs], live: true }]
  return [
    { title: 'lock file', args: ['scripts/complete-lock.mjs', '--check'] },
    { title: 'format and lint', args: [tool('biome'), 'check', '--error-on-warnings'] },
    // The build first: it is the one that may write the program's output, and the types build on it.
    { title: 'build', args: ['scripts/build.mjs'] },
    { title: 'types', args: [tool('tsc'), '-b'] },
    { title: 'unused code', args: [tool('knip')] },
    { title: 'tests of pauses', args: [tool('vitest'), 'run', '--project=timed', '--no-file-parallelism'], live: true },
    { title: 'tests', args: [tool('vitest'), 'run', '--project=apart', '--project=together'], live: true },
    { title: 'tests of connectors', args: [tool('vitest'), 'run', '--project=connectors', '--coverage'], live: true },
    ...listExamples().map((file) => ({ title: `example ${file}`, args: [join('examples', file)] })),
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
