import { existsSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

const NODE_GLOBALS = ['process', 'Buffer', 'require', '__dirname', '__filename', 'global', 'setImmediate']

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** One script for a browser, and what it uses of Node. */
export interface Bundle {
  readonly code: string
  /** `<package or file>: <kind of import> of <Node module>`, sorted. */
  readonly nodeImports: readonly string[]
  /** `<package or file>: <Node global>`, sorted. */
  readonly nodeGlobals: readonly string[]
}

/** Bundles a file of src, or `source` as if it were in src, for a browser. Replaces Node globals with names that do not exist. */
export async function bundleForBrowser(entry: string, source?: string): Promise<Bundle> {
  if (source === undefined && !existsSync(entry)) throw new Error(`${entry} does not exist`)
  const nodeImports = new Set<string>()
  const result = await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'silent',
    // The bundler distinguishes a reference to the global from a variable, a property or a text of the same name.
    define: {
      ...Object.fromEntries(NODE_GLOBALS.map((name) => [name, `NODE_${name}`])),
      // Vite would replace `process.env` with an empty object.
      'process.env': 'NODE_process.env',
    },
    plugins: [
      {
        name: 'watch-for-node',
        // Runs before Vite's own plugins, which replace Node modules with an empty one.
        enforce: 'pre',
        resolveId(specifier, importer, options) {
          if (specifier === entry && source !== undefined) return entry
          if (isNodeModule(specifier) && importer) {
            nodeImports.add(`${ownerOf(importer)}: ${options.kind} of ${specifier}`)
          }
          return undefined
        },
        load: (id) => (id === entry ? source : undefined),
      },
    ],
    build: {
      target: 'es2023',
      write: false,
      minify: true,
      // Library mode would inline the .wasm of web-tree-sitter into the script.
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        output: { format: 'es', codeSplitting: false },
        // web-tree-sitter contains an eval that our grammars never reach.
        checks: { eval: false },
      },
    },
  })
  const { output } = result as Rolldown.RolldownOutput // `write: false` and no `watch`: one output, not a watcher
  const chunks = output.filter((part) => part.type === 'chunk')
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules))
  const nodeGlobals = modules.flatMap(([id, { code }]) =>
    [...(code ?? '').matchAll(/\bNODE_(\w+)/g)].map(([, name]) => `${ownerOf(id)}: ${name}`),
  )
  return {
    code: chunks.map((chunk) => chunk.code).join('\n'),
    nodeImports: [...nodeImports].sort(byName),
    nodeGlobals: [...new Set(nodeGlobals)].sort(byName),
  }
}

/** The package of a file, or the path of one of our files within src. */
function ownerOf(id: string): string {
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)
  return inPackage?.[1] ?? relative(join(root, 'src'), id)
}

function byName(left: string, right: string): number {
  return left.localeCompare(right)
}

function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}
