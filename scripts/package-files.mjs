// Chooses the files of dist/ for the package: modules without comments, and only those that its exports reach. Declarations keep their
// comments.
import * as fs from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { minifySync } from 'rolldown/utils'

/** Folders of dist/ that the compiler does not write. */
export const WITHOUT_SOURCE = ['web', 'program', 'pdfjs']

/** Matches an import of another module of dist/, in a module or in a declaration. */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)["'`](\.[^"'`]+)["'`]/g

/** Shortens compiled modules. Functions and classes keep their names, so that stack traces stay readable. */
export function shortenModules(dist) {
  for (const path of listModules(dist, '.js')) {
    const code = fs.readFileSync(path, 'utf8')
    // A module that was already minified is a single line.
    if (!code.trimEnd().includes('\n')) continue
    const compress = { keepNames: { function: true, class: true } }
    const options = { module: true, compress, mangle: { keepNames: true }, codegen: { removeWhitespace: true } }
    const { code: shortened, errors } = minifySync(path, code, options)
    if (errors.length > 0) throw new Error(`${path} cannot be shortened: ${errors[0].message}`)
    fs.writeFileSync(path, shortened)
  }
}

/**
 * Writes a `.npmignore` into each folder of dist/ with modules, so that npm leaves out modules and declarations that no export reaches, and
 * parts of earlier builds, which only running programs need. A single file for all folders would make npm compare every file with every
 * rule, which takes more than a minute.
 */
export function writeIgnored(root, parts) {
  const dist = join(root, 'dist')
  const folder = join(dist, 'program')
  const { exports } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
  const exported = Object.values(exports).flatMap((target) => Object.values(typeof target === 'string' ? {} : target))
  const programFiles = parts.map((name) => join(dist, name))
  const entries = programFiles.filter((path) => dirname(path) !== folder)
  const reached = listReached([...exported.map((path) => join(root, path)), ...entries])
  const packed = Map.groupBy(new Set([...reached, ...programFiles]), (path) => dirname(path))
  const modules = [...listModules(dist, '.js'), ...listModules(dist, '.d.ts')]
  for (const path of new Set([folder, ...modules.map((module) => dirname(module))])) {
    const names = (packed.get(path) ?? []).map((module) => `!/${basename(module)}`).toSorted()
    fs.writeFileSync(join(path, '.npmignore'), `${['/*.js', '/*.d.ts', ...names].join('\n')}\n`)
  }
}

/** All files that the given ones import, directly or indirectly, including themselves. */
function listReached(starts) {
  const reached = new Set()
  const queue = [...starts]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (reached.has(path) || !fs.existsSync(path)) continue
    reached.add(path)
    const isDeclaration = path.endsWith('.d.ts')
    for (const [, name] of fs.readFileSync(path, 'utf8').matchAll(IMPORT)) {
      const target = resolve(dirname(path), name)
      queue.push(isDeclaration ? target.replace(/\.[jt]s$/, '.d.ts') : target)
    }
  }
  return reached
}

function listModules(dist, ending) {
  return fs
    .readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const [top] = relative(dist, path).split(sep)
      return !WITHOUT_SOURCE.includes(top) && !top.startsWith('.')
    })
}
