// Runs the benchmarks: `npm run bench` for all, `npm run bench search` for one, followed by its options. First builds the program and
// installs the peers, which only bench/package.json lists.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
const always = ['search', 'chunk', 'pack', 'plan']
/** Benchmarks that run only on request, because they need data or programs that are not in the repository. */
const onRequest = [
  'retrieval',
  'questions',
  'extract',
  'crawl',
  'query',
  'mcp',
  'serve',
  'classify',
  'analyse',
  'places',
  'gazetteer',
  'readers',
  'embed',
  'render',
  'local',
  'postgres',
  'scale',
  'workers',
  'documents',
  'trees',
  'hostile',
]
const [first, ...rest] = process.argv.slice(2)
const chosen = first === undefined ? always : [first]
if (![...always, ...onRequest].includes(chosen[0])) {
  console.error(`bench: unknown benchmark ${chosen[0]}; choose one of ${[...always, ...onRequest].join(', ')}`)
  process.exit(2)
}

run(process.execPath, ['scripts/build.mjs'])
if (!peersInstalled()) {
  // The same npm settings as at the root: no scripts, no addresses in a lock file.
  run('npm', [
    'install',
    '--prefix',
    here,
    '--ignore-scripts',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
}
for (const name of chosen) {
  console.log(`\n== ${name}`)
  run(process.execPath, [`bench/${name}.mjs`, ...rest])
}

function peersInstalled() {
  const { dependencies } = JSON.parse(readFileSync(`${here}package.json`, 'utf8'))
  return (
    existsSync(`${here}node_modules`) &&
    Object.keys(dependencies).every((name) => readdirSync(`${here}node_modules`).includes(name.split('/')[0]))
  )
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
