// Compiles src/ to dist/, and puts the grammars, the dashboard and a map of the world beside it. The stamp dist/.built is written when all of it is there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestSources } from './setup.mjs'
import { writeWorldMap } from './world-map.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const stamp = join(dist, '.built')

/** Grammar → the package that carries it. The packages unpack to 185 MB, so users get the .wasm files only. */
const GRAMMARS = {
  bash: 'tree-sitter-bash',
  c: 'tree-sitter-c',
  cpp: 'tree-sitter-cpp',
  go: 'tree-sitter-go',
  java: 'tree-sitter-java',
  javascript: 'tree-sitter-javascript',
  python: 'tree-sitter-python',
  ruby: 'tree-sitter-ruby',
  rust: 'tree-sitter-rust',
  tsx: 'tree-sitter-typescript',
  typescript: 'tree-sitter-typescript',
}

fs.mkdirSync(dist, { recursive: true })
fs.rmSync(stamp, { force: true })
// Digest and time are of the moment before the compiler reads, so that a file saved during the build counts as newer.
const unfinished = join(dist, `.built-${process.pid}`)
fs.writeFileSync(unfinished, digestSources(root))
// Neither reads what the other writes.
const failed = (await Promise.all([compile(), bundleDashboard()])).find((status) => status !== 0)
if (failed === undefined) {
  removeStaleOutput()
  copyGrammars()
  fs.renameSync(unfinished, stamp)
} else {
  fs.rmSync(unfinished)
  process.exitCode = failed
}

async function compile() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-b', 'tsconfig.universal.json', 'tsconfig.node.json']
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit')
  return status ?? 1
}

async function bundleDashboard() {
  const { build } = await import('vite')
  const folder = join(root, 'web/dashboard')
  try {
    await build({
      root: folder,
      configFile: join(folder, 'vite.config.ts'),
      // What else it says is for people who wait for it.
      logLevel: 'warn',
      build: { outDir: join(dist, 'web/dashboard'), emptyOutDir: true },
    })
    writeWorldMap(join(dist, 'web/dashboard/world.svg'))
    return 0
  } catch (error) {
    console.error(error.message)
    return 1
  }
}

/** The compiler leaves the output of a deleted source behind, and Node would still find it. */
function removeStaleOutput() {
  for (const name of fs.readdirSync(dist)) {
    // Names with a dot are the compiler's notes and the stamps; the other two have no source in src/.
    if (name !== 'grammars' && name !== 'web' && !name.startsWith('.')) visit(join(dist, name))
  }

  function visit(path) {
    if (fs.statSync(path).isDirectory()) {
      for (const name of fs.readdirSync(path)) visit(join(path, name))
      if (fs.readdirSync(path).length === 0) fs.rmdirSync(path)
    } else if (!hasSource(path)) {
      fs.rmSync(path)
    }
  }

  function hasSource(output) {
    const source = join(root, 'src', relative(dist, output))
    return ['.js', '.js.map', '.d.ts', '.d.ts.map'].some(
      (ending) => source.endsWith(ending) && fs.existsSync(`${source.slice(0, -ending.length)}.ts`),
    )
  }
}

function copyGrammars() {
  const folder = join(dist, 'grammars')
  fs.mkdirSync(folder, { recursive: true })
  const wanted = new Set()
  for (const [name, packageName] of Object.entries(GRAMMARS)) {
    const from = join(root, 'node_modules', packageName)
    copyIfChanged(join(from, `tree-sitter-${name}.wasm`), `${name}.wasm`)
    copyIfChanged(join(from, 'LICENSE'), `${name}.LICENSE`)
  }
  for (const name of fs.readdirSync(folder)) {
    if (!wanted.has(name)) fs.rmSync(join(folder, name))
  }

  function copyIfChanged(source, name) {
    wanted.add(name)
    const target = join(folder, name)
    const from = fs.statSync(source)
    const to = fs.statSync(target, { throwIfNoEntry: false })
    if (to?.size === from.size && to.mtimeMs >= from.mtimeMs) return
    fs.copyFileSync(source, target)
  }
}
