// Writes an MCP bundle: the built package with its dependencies and a manifest in one zip file, which Claude Desktop and other
// applications install with a click. It runs on every platform for which better-sqlite3 has a binary. Run `npm run build` first.
//
//   node scripts/make-bundle.mjs [folder]    writes <name>-<version>.mcpb into the folder (default: the current one)
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeZip } from '../src/core/archive/zip-writer.ts'
import { describeBundle, readPackage } from './manifests.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Files that only compilers, debuggers and programmers read. */
const FOR_DEVELOPMENT = /\.(?:[cm]?ts|map|gyp|md|cjs)$|\/(?:deps|src|debug)\//

/** Files of the package that the server does not use: it is installed already, and shows no sample site. */
const UNUSED = /^(?:plugin|demo)\//

const manifest = readPackage()
const file = join(process.argv[2] ?? '.', `${basename(manifest.name)}-${manifest.version}.mcpb`)
const output = fs.openSync(file, 'w')
for await (const bytes of writeZip(listEntries())) fs.writeSync(output, bytes)
fs.closeSync(output)
console.log(`${file}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`)

function* listEntries() {
  yield { name: 'manifest.json', content: Buffer.from(`${JSON.stringify(describeBundle(manifest), null, 2)}\n`) }
  for (const path of [...listPackageFiles(), ...Object.keys(manifest.dependencies).flatMap(listDependencyFiles)]) {
    yield { name: path, content: fs.readFileSync(join(root, path)) }
  }
}

/** The files that npm would publish. */
function listPackageFiles() {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const printed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const paths = JSON.parse(printed)[0].files.map(({ path }) => path)
  return paths.filter((path) => !UNUSED.test(path) && !FOR_DEVELOPMENT.test(path)).toSorted()
}

/** The files of an installed package, without those of its own dependencies: only the compiler of better-sqlite3 needs one. */
function listDependencyFiles(name) {
  const folder = join('node_modules', name)
  return fs
    .readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !FOR_DEVELOPMENT.test(path.slice(folder.length)))
    .toSorted()
}
