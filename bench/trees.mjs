// Indexes a repository, a folder and archives of 10,000 files. Reports wall and CPU seconds and peak memory of the program with its
// processes, for the first run, for a run with nothing changed, and for the repository with one percent changed. Archives with a quarter of
// the files show that memory does not grow with their size.
//
//   npm run bench trees [--files 10000]
//
// Four fifths are Markdown, the rest code, 4 kB each. All files are created before the measurement. The same folder is also packed, which
// chunks it without index and ledger. Target: a repository of 10,000 files within a minute.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { watchMemory } from '../test/tree-memory.ts'
import { createIdentifier, createRandom, createWords, pick, pickContent } from './corpus.mjs'
import { option, printTable } from './measure.mjs'
import { readTreeCpuSeconds } from './process-usage.mjs'

const FILES = Number(option('files') ?? 10_000)
const WANTED_S = 60
/** Commands that pack a folder. */
const PACKERS = {
  zip: (path, archive) => run(path, 'zip', '-q', '-r', archive, '.'),
  'tar.gz': (path, archive) => run(path, 'tar', '-czf', archive, '.'),
}
const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const random = createRandom(13)
const words = createWords(20_000, random)
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const rows = []
try {
  const all = writeTree(join(folder, 'all'), FILES)
  const quarter = writeTree(join(folder, 'quarter'), FILES / 4)
  const git = (...args) => run(all.path, 'git', '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args)
  git('init', '--quiet')
  commit(git)
  console.log(`${FILES} files, ${(all.bytes / 2 ** 20).toFixed(1)} MB`)

  await measure('pack of the folder, no library', [
    'pack',
    all.path,
    '--out',
    join(folder, 'pack.zip'),
    '--full',
    '--no-cache',
    '--max-total-bytes',
    '2GB',
  ])
  const repository = `git+${pathToFileURL(all.path).href}`
  const first = await add('repository', repository)
  await recrawl('repository, nothing changed', 'repository')
  for (let i = 0; i < FILES; i += 100) writeFile(all.path, i)
  commit(git)
  await recrawl('repository, one percent changed', 'repository')
  rmSync(join(all.path, '.git'), { recursive: true })
  await add('folder', all.path)
  await recrawl('folder, nothing changed', 'folder')
  const peaks = {}
  for (const [ending, pack] of Object.entries(PACKERS)) {
    for (const [label, { path }] of Object.entries({ 'a quarter': quarter, all })) {
      const archive = join(folder, `${label.replace(' ', '-')}.${ending}`)
      pack(path, archive)
      const name = `${ending} of ${label}, ${(statSync(archive).size / 2 ** 20).toFixed(1)} MB`
      peaks[`${ending} ${label}`] = (await add(name, archive)).memory
      if (label === 'all') await recrawl(`${name}, nothing changed`, name)
    }
  }
  printTable(['', 'wall s', 'CPU s', 'peak MB'], rows)
  console.log()
  const growth = Object.keys(PACKERS).map((ending) => peaks[`${ending} all`] / peaks[`${ending} a quarter`])
  printTable(
    ['target', 'wanted', 'measured', 'met'],
    [
      [`repository of ${FILES} files, s`, `< ${WANTED_S}`, first.wall.toFixed(1), first.wall < WANTED_S ? 'yes' : 'no'],
      ['peak memory, all ÷ a quarter', '< 1.5', growth.map((ratio) => ratio.toFixed(2)).join(', '), isBounded(growth)],
    ],
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function isBounded(growth) {
  return growth.every((ratio) => ratio < 1.5) ? 'yes' : 'no'
}

function add(name, address) {
  return measure(name, ['add', address, '--name', name, '--library', libraryOf(name), '--no-embed'])
}

function recrawl(label, name) {
  return measure(label, ['recrawl', name, '--library', libraryOf(name)])
}

function libraryOf(name) {
  return join(folder, `${name.replaceAll(/\W+/g, '-')}.db`)
}

/** Runs the program to its end. CPU seconds and memory include the process that reads documents for it. */
async function measure(label, args) {
  const start = performance.now()
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...process.env, HOME: folder }, stdio: 'ignore' })
  const stopWatching = watchMemory(child.pid)
  let cpu = 0
  const timer = setInterval(() => {
    cpu = Math.max(cpu, readTreeCpuSeconds(child.pid))
  }, 20)
  const [code] = await once(child, 'exit')
  clearInterval(timer)
  const usage = { wall: (performance.now() - start) / 1000, cpu, memory: stopWatching() }
  if (code !== 0) throw new Error(`${label} ended with ${code}`)
  rows.push([label, usage.wall.toFixed(1), usage.cpu.toFixed(1), usage.memory.toFixed(0)])
  return usage
}

function commit(git) {
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Lamps')
}

function run(cwd, command, ...args) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}

/** Writes files into a hundred folders. */
function writeTree(path, count) {
  let bytes = 0
  for (let i = 0; i < count; i++) bytes += writeFile(path, i)
  return { path, bytes }
}

function writeFile(root, i) {
  const path = join(root, `part${i % 100}`, i % 5 === 4 ? `lamp${i}.py` : `lamp${i}.md`)
  const text = i % 5 === 4 ? createCode() : createPage()
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return text.length
}

function createPage() {
  const sections = Array.from({ length: 5 }, () => {
    const heading = Array.from({ length: 3 }, () => pickContent(words, random)).join(' ')
    return `## ${heading}\n\n${createProse(90)}\n\n${createProse(60)}\n`
  })
  return `# ${pickContent(words, random)}\n\n${sections.join('\n')}`
}

function createCode() {
  const functions = Array.from({ length: 20 }, () => {
    return `def ${createIdentifier(words, random)}(a, b):\n    """${createProse(20)}"""\n    return a + b\n`
  })
  return functions.join('\n\n')
}

function createProse(length) {
  return Array.from({ length }, () => pick(words, random)).join(' ')
}
