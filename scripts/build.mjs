// Compiles src/ to dist/, and adds the two pages, the grammars, the world map, PDF.js and the embedding model. Writes the stamp dist/.built
// when everything is complete.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FRAME_CSS } from '../src/http/pages/frame.ts'
import { bundleProgram } from './bundle-program.mjs'
import { shortenModules, WITHOUT_SOURCE, writeIgnored } from './package-files.mjs'
import { digestSources } from './setup.mjs'
import { writeWorldMap } from './world-map.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const stamp = join(dist, '.built')

/**
 * Grammar → its package. The packages unpack to 185 MB, so users get only the .wasm files, and only once: the files are beside the local
 * page, and the program reads them there.
 */
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

/**
 * The text part of PDF.js. The package unpacks to 42 MB and depends on 30 MB for drawing, so users get only 4 MB, which the program imports
 * as `#pdfjs/…` (package.json).
 */
const PDF_LIBRARY = join(root, 'node_modules/pdfjs-dist')
const PDF_FOLDERS = ['cmaps', 'standard_fonts']
/** The import of the drawing package is removed: PDF.js would warn on standard output if the package is missing. */
const DRAWING = [[/=\w+\("@napi-rs\/canvas"\)/, '={}']]
/** Every stream asks `checkPdfStream` (src/documents/pdf/library.ts) before it unpacks more: into its buffer, or through the platform. */
const STREAMS = [
  [
    /(ensureBuffer\((\w)\)\{const (\w)=this\.buffer;if\(\2<=\3\.byteLength\)return \3;)/,
    '$1checkPdfStream($2,$3.byteLength,this.stream);',
  ],
  [
    /(const (\w)=this\.stream\.isAsync\?.{200,300}for await\(const (\w) of \w\)\{\w\.push\(\3\);(\w)\+=\3\.byteLength)/,
    '$1;checkPdfStream($4,$4,{pos:$2.length})',
  ],
]

/** Name → file of model/ that is shipped. Like the grammars, the files are beside the local page, and the program reads them there. */
const MODEL_FILES = {
  'weights.bin': 'weights.bin',
  'model.json': 'model.json',
  'vocab.txt': 'vocab.txt',
  'model.LICENSE': 'NOTICE',
}

/** Builds of the kernel, and the WebAssembly features that each needs. */
const KERNELS = { relaxed: ['simd', 'relaxed-simd'], plain: ['simd'] }

/** Puts the style that the pages share with those of the server in front of their own. */
const SHARED_STYLE = {
  postcssPlugin: 'shared-style',
  Once(sheet, { parse }) {
    if (sheet.source?.input.file?.endsWith('style/index.css'))
      sheet.prepend(parse(FRAME_CSS, { from: sheet.source.input.file }))
  },
}

fs.mkdirSync(dist, { recursive: true })
fs.rmSync(stamp, { force: true })
// Digest and time are taken before the compiler reads, so that a file saved during the build counts as newer.
const unfinished = join(dist, `.built-${process.pid}`)
const sourceDigest = digestSources(root)
fs.writeFileSync(unfinished, sourceDigest)
// Compiling and bundling the pages are independent. Bundling the entries replaces compiled files, so it comes last.
const failedStatus =
  (await Promise.all([compile(), bundlePages()])).find((status) => status !== 0) ?? (await bundleEntries())
if (failedStatus === undefined) {
  fs.renameSync(unfinished, stamp)
} else {
  fs.rmSync(unfinished)
  process.exitCode = failedStatus
}

async function compile() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-b', 'tsconfig.universal.json', 'tsconfig.node.json']
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit')
  return status ?? 1
}

/** Replaces the compiled entries of the program with bundles; returns undefined on success. */
async function bundleEntries() {
  try {
    removeStaleOutput()
    copyPdfLibrary(join(dist, 'pdfjs'))
    const parts = await bundleProgram(root)
    shortenModules(dist)
    writeIgnored(root, parts)
    return undefined
  } catch (error) {
    console.error(error.message)
    return 1
  }
}

/** Copies the model into `folder`, compiles its kernels, and returns the names of all files. */
async function writeModel(folder) {
  fs.mkdirSync(folder, { recursive: true })
  for (const [name, source] of Object.entries(MODEL_FILES))
    copyIfChanged(join(root, 'model', source), join(folder, name))
  const kernels = Object.entries(KERNELS).map(([name, features]) => [`kernel-${name}.wasm`, features])
  for (const [name, features] of kernels) writeIfChanged(join(folder, name), await compileKernel(features))
  return [...Object.keys(MODEL_FILES), ...kernels.map(([name]) => name)]
}

/** Returns the kernel as WebAssembly bytes; the module imports its memory. */
async function compileKernel(features) {
  const { default: asc } = await import('assemblyscript/asc')
  const outputs = new Map()
  const enabled = features.flatMap((feature) => ['--enable', feature])
  // Limits of the imported memory, in pages of 64 KiB.
  const memory = ['--importMemory', '--noExportMemory', '--initialMemory', '1', '--maximumMemory', '4096']
  const { error, stderr } = await asc.main(
    ['kernel.ts', '--outFile', 'kernel.wasm', '-O3', '--runtime', 'stub', '--noAssert', ...enabled, ...memory],
    {
      readFile: (name, folder) => readSource(join(root, 'model/kernel', folder, name)),
      writeFile: (name, content) => outputs.set(name, content),
      listFiles: () => null,
    },
  )
  if (error) throw new Error(`the kernel cannot be compiled: ${error.message}\n${stderr}`)
  return outputs.get('kernel.wasm')
}

/** Returns null for a missing file, as the compiler expects. */
function readSource(path) {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : null
}

async function bundlePages() {
  const { build } = await import('vite')
  try {
    await bundlePage(build, 'dashboard', true)
    writeWorldMap(join(dist, 'web/dashboard/world.svg'))
    const local = join(dist, 'web/local')
    // Running programs may read the grammars and the model from this folder, so it is not emptied first.
    const page = await bundlePage(build, 'local', false)
    const grammars = copyGrammars(join(local, 'grammars')).map((name) => `grammars/${name}`)
    const model = (await writeModel(join(local, 'model'))).map((name) => `model/${name}`)
    const isNeededOffline = (path) => !path.endsWith('.LICENSE')
    await bundleServiceWorker(build, local, {
      page: describeFiles(local, page),
      grammars: describeFiles(local, grammars.filter(isNeededOffline)),
      model: describeFiles(local, model.filter(isNeededOffline)),
    })
    keepOnly(local, [...page, ...grammars, ...model, 'service-worker.js'])
    return 0
  } catch (error) {
    console.error(error.message)
    return 1
  }
}

/** Returns the paths of the written files. */
async function bundlePage(build, name, emptyOutDir) {
  const folder = join(root, 'web', name)
  const { output } = await build({
    root: folder,
    configFile: join(folder, 'vite.config.ts'),
    // Messages below a warning only report progress.
    logLevel: 'warn',
    define: { PAGE_BUILD: JSON.stringify(sourceDigest.slice(0, 16)) },
    css: { postcss: { plugins: [SHARED_STYLE] } },
    build: { outDir: join(dist, 'web', name), emptyOutDir },
  })
  return output.map(({ fileName }) => fileName)
}

/** Bundles the service worker into a file with a fixed name, which browsers request again to find a new build. It lists all other files. */
async function bundleServiceWorker(build, outDir, files) {
  const folder = join(root, 'web/local')
  await build({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    define: { OWN_FILES: JSON.stringify(files) },
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2023',
      rolldownOptions: {
        input: join(folder, 'service-worker.ts'),
        output: { entryFileNames: 'service-worker.js', format: 'iife' },
      },
    },
  })
}

/** Returns the integrity hash of each file, and a digest of all of them. */
function describeFiles(folder, paths) {
  const digest = (bytes) => createHash('sha256').update(bytes).digest('base64')
  const entries = paths.toSorted().map((path) => [path, `sha256-${digest(fs.readFileSync(join(folder, path)))}`])
  return { digest: digest(JSON.stringify(entries)).slice(0, 16), files: Object.fromEntries(entries) }
}

/** Removes files of earlier builds. */
function keepOnly(folder, paths) {
  const keptPaths = new Set(paths.map((path) => join(folder, path)))
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !keptPaths.has(path)) fs.rmSync(path)
  }
}

/** Removes output of deleted sources, which the compiler leaves behind and Node would still find. */
function removeStaleOutput() {
  for (const name of fs.readdirSync(dist)) {
    // Names with a dot are build information of the compiler, and stamps.
    if (!WITHOUT_SOURCE.includes(name) && !name.startsWith('.')) visit(join(dist, name))
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
    return ['.js', '.d.ts'].some(
      (ending) => source.endsWith(ending) && fs.existsSync(`${source.slice(0, -ending.length)}.ts`),
    )
  }
}

/** Copies the grammars into `folder`, and returns the names of the files. */
function copyGrammars(folder) {
  fs.mkdirSync(folder, { recursive: true })
  const copies = [
    ['web-tree-sitter/web-tree-sitter.wasm', 'web-tree-sitter.wasm'],
    ['web-tree-sitter/LICENSE', 'web-tree-sitter.LICENSE'],
    ...Object.entries(GRAMMARS).flatMap(([name, packageName]) => [
      [`${packageName}/tree-sitter-${name}.wasm`, `${name}.wasm`],
      [`${packageName}/LICENSE`, `${name}.LICENSE`],
    ]),
  ]
  for (const [source, name] of copies) copyIfChanged(join(root, 'node_modules', source), join(folder, name))
  return copies.map(([, name]) => name)
}

function copyPdfLibrary(folder) {
  const folderFiles = PDF_FOLDERS.flatMap((name) =>
    fs.readdirSync(join(PDF_LIBRARY, name)).map((file) => join(name, file)),
  )
  for (const name of PDF_FOLDERS) fs.mkdirSync(join(folder, name), { recursive: true })
  for (const path of ['LICENSE', ...folderFiles]) copyIfChanged(join(PDF_LIBRARY, path), join(folder, path))
  writeIfChanged(join(folder, 'pdf.mjs'), patch(join(PDF_LIBRARY, 'legacy/build/pdf.min.mjs'), DRAWING))
  writeIfChanged(join(folder, 'pdf.worker.mjs'), patch(join(PDF_LIBRARY, 'legacy/build/pdf.worker.min.mjs'), STREAMS))
}

/** The text of a file of PDF.js with replacements. */
function patch(path, replacements) {
  return replacements.reduce(
    (text, [pattern, replacement]) => {
      const changed = text.replace(pattern, replacement)
      if (changed === text) throw new Error(`${path} has nothing like ${pattern}, which scripts/build.mjs replaces`)
      return changed
    },
    fs.readFileSync(path, 'utf8'),
  )
}

function writeIfChanged(path, content) {
  if (!fs.existsSync(path) || !fs.readFileSync(path).equals(Buffer.from(content))) fs.writeFileSync(path, content)
}

function copyIfChanged(source, target) {
  const from = fs.statSync(source)
  const to = fs.statSync(target, { throwIfNoEntry: false })
  if (to?.size === from.size && to.mtimeMs >= from.mtimeMs) return
  fs.copyFileSync(source, target)
}
