// Bundles the program and what other programs import from it: replaces the compiled entries with files that contain their modules and
// packages, split at dynamic imports. A start then reads 90 to 150 files instead of several hundred, which saves a fifth to a quarter of
// its time, and the package needs no other module.
import * as fs from 'node:fs'
import { join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

/** Files of src/ that are started: by the user, as a thread or as a process. */
const PROGRAMS = [
  'cli/main',
  'cli/serve/check-worker',
  'cli/serve/search-worker',
  'embed/embed-worker',
  'processes/page-process',
  'processes/page-worker',
]

/** Files of src/ that other programs import, by the exports of the package. */
function listExported({ exports }) {
  const targets = Object.values(exports).filter((target) => typeof target === 'object')
  return targets.map((target) => target.default.replace(/^\.\/dist\/|\.js$/g, ''))
}

/** Parts of earlier builds are kept this long, because a running program may still load them. */
const RETENTION_MS = 86_400_000

/** Writes the bundles, and returns the names of their files in dist/. */
export async function bundleProgram(root) {
  const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = [...PROGRAMS, ...listExported(manifest)]
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(entries.map((entry) => [entry, join(root, 'src', `${entry}.ts`)])),
    external: (id, importer) => isOutside(id, importer, manifest),
    plugins: [keepModuleUrls(root)],
  })
  const { output } = await bundle.write({
    dir: join(root, 'dist'),
    format: 'esm',
    chunkFileNames: 'program/[name]-[hash].js',
    comments: { legal: true },
    // Functions and classes keep their names, so that stack traces stay readable.
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
  })
  const folder = join(root, 'dist/program')
  fs.writeFileSync(join(folder, 'LICENSES.txt'), writeLicenses(output))
  removeOld(
    folder,
    output.map(({ fileName }) => join(root, 'dist', fileName)),
  )
  return output.map(({ fileName }) => fileName)
}

/**
 * Whether a module stays outside the bundle: a module of Node or `#pdfjs`, an optional package, or a dependency. Dependencies locate a file
 * relative to themselves, such as a binary or a WebAssembly module. All other packages are bundled, and users do not install them.
 */
function isOutside(id, importer, { dependencies, peerDependencies }) {
  if (/^(?:node:|#)/.test(id)) return true
  const isOurs = importer === undefined || !importer.includes(`${sep}node_modules${sep}`)
  const installed = isOurs ? { ...dependencies, ...peerDependencies } : dependencies
  return Object.keys(installed).some((name) => id === name || id.startsWith(`${name}/`))
}

/** Gives bundled modules the URL of their compiled file, because they locate files relative to it. Bundles are one folder below dist/. */
function keepModuleUrls(root) {
  const sources = join(root, 'src')
  return {
    name: 'keep-module-urls',
    transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta.url')) return undefined
      const path = `../${relative(sources, id).replaceAll(sep, '/').replace(/\.ts$/, '.js')}`
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(path)}, import.meta.url).href`)
    },
  }
}

/** Collects the licenses that the packages require to be distributed. */
function writeLicenses(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds)
  const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll(sep, '/'))?.[0])
  const texts = [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
      const text = file === undefined ? '' : `\n${fs.readFileSync(join(folder, file), 'utf8').trim()}\n`
      return `${name} ${version} (${license})\n${text}`
    })
  return texts.join(`\n${'='.repeat(80)}\n\n`)
}

function removeOld(folder, currentFiles) {
  const isOld = (path) => Date.now() - fs.statSync(path).mtimeMs > RETENTION_MS
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.js') && !currentFiles.includes(path) && isOld(path)) fs.rmSync(path)
  }
}
