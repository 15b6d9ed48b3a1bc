import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LocalSite, writePage } from './local-site.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'
import { startServer } from './server.ts'

/* Tests the package as users have it: packed by npm, and installed from the tarball into a folder outside the checkout. */

const ROOT = join(import.meta.dirname, '../..')
const LONG = process.env['TEST_LONG'] !== undefined
const MAX_PACKED_BYTES = 15_000_000
const MAX_INSTALLED_PACKAGES = 40
const MAX_INSTALLED_BYTES = 90_000_000

const { name: NAME, exports } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string
  exports: object
}

interface PackedPackage {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** The folder of the installation. */
const installation = new ProgramSandbox()
const MODULES = installation.path('node_modules')
const PACKAGE = join(MODULES, NAME)
const INSTALLED_PROGRAM = join(PACKAGE, 'dist/cli/main.js')
let packed: PackedPackage

beforeAll(() => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  packed = JSON.parse(npm(['pack', '--json', '--pack-destination', installation.folder], ROOT))[0]
  fs.writeFileSync(installation.path('package.json'), '{}')
  install(installation.folder, installation.path(packed.filename))
})

afterAll(() => installation.remove())

/** Installs a package. What this machine has downloaded before, is not downloaded again. */
function install(folder: string, spec: string): void {
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', spec], folder)
}

function npm(args: readonly string[], folder: string): string {
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

describe('the package', () => {
  test('has at most 15 MB, and holds no file of 10 kB or more twice', () => {
    expect(packed.size).toBeLessThanOrEqual(MAX_PACKED_BYTES)
    const byDigest = new Map<string, string[]>()
    for (const { path } of packed.files) {
      const bytes = fs.readFileSync(join(PACKAGE, path))
      if (bytes.length < 10_000) continue
      const digest = createHash('sha256').update(bytes).digest('hex')
      byDigest.set(digest, [...(byDigest.get(digest) ?? []), path])
    }
    expect([...byDigest.values()].filter((paths) => paths.length > 1)).toEqual([])
  })

  test('installed from its tarball, has few packages, a limited size and no Node', () => {
    const entries = fs.readdirSync(MODULES, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const paths = entries.map(({ parentPath, name }) => join(parentPath, name))
    const bytes = paths.reduce((sum, path) => sum + fs.statSync(path).size, 0)
    expect(bytes).toBeLessThanOrEqual(MAX_INSTALLED_BYTES)
    const packages = paths.filter((path) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    const names = packages.map((path) => dirname(path).slice(MODULES.length + 1))
    expect(names).toContain(NAME)
    expect(names.length).toBeLessThanOrEqual(MAX_INSTALLED_PACKAGES)
    expect(names.filter((name) => name.startsWith('node-linux'))).toEqual([])
  })

  test('has no source maps', () => {
    expect(packed.files.map(({ path }) => path).filter((path) => path.endsWith('.map'))).toEqual([])
  })

  test('has every file that its exports import', () => {
    const names = Object.keys(exports).filter((name) => name !== './package.json')
    const code = `for (const name of ${JSON.stringify(names)}) {
      const { length } = Object.keys(await import(name.replace('.', '${NAME}')))
      if (length === 0) throw new Error(name + ' exports nothing')
    }`
    // The frameworks of the readers, which their users install.
    for (const scope of ['@langchain', '@llamaindex'])
      fs.symlinkSync(join(ROOT, 'node_modules', scope), join(MODULES, scope))
    const args = ['--input-type=module', '-e', code]
    expect(execFileSync(process.execPath, args, { cwd: installation.folder, encoding: 'utf8' })).toBe('')
  })

  test('has every module that its own modules import', () => {
    const missing = packed.files
      .filter(({ path }) => /^dist\/(?!web\/|pdfjs\/).*\.(?:js|d\.ts)$/.test(path))
      .flatMap(({ path }) => {
        const folder = join(PACKAGE, path, '..')
        const text = fs.readFileSync(join(PACKAGE, path), 'utf8')
        const names = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["'`](\.{1,2}\/[^"'`$]+\.[jt]s)["'`]/g)]
        const targets = names.map(([, name = '']) =>
          path.endsWith('.d.ts') ? name.replace(/\.[jt]s$/, '.d.ts') : name,
        )
        return targets.filter((name) => !fs.existsSync(join(folder, name))).map((name) => `${path} names ${name}`)
      })
    expect(missing).toEqual([])
  })
})

/** The oldest Node that runs Pharos. Not every platform has a package of that version, so the next one is taken there. */
function installOldestNode(): string {
  const name = `node-linux-${process.arch}`
  fs.mkdirSync(installation.path('oldest-node'))
  fs.writeFileSync(installation.path('oldest-node/package.json'), '{}')
  const versions = JSON.parse(npm(['view', name, 'versions', '--json'], installation.folder)) as string[]
  const oldest = versions
    .filter((version) => /^22\.(?:19|2\d)\./.test(version))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0]
  install(installation.path('oldest-node'), `${name}@${oldest}`)
  return installation.path(`oldest-node/node_modules/${name}/bin/node`)
}

// Packages that contain a Node exist only for Linux.
const NODES = LONG && process.platform === 'linux' ? ['this Node', 'the oldest Node'] : ['this Node']

describe.each(NODES)('the installed program, run by %s,', (title) => {
  let node: string
  let site: LocalSite
  let sandbox: ProgramSandbox

  beforeAll(async () => {
    node = title === 'this Node' ? process.execPath : installOldestNode()
    const lamp = writePage('Lamp', [], 'The lamp is lit at dusk by the keeper.')
    site = await LocalSite.open({ '/docs/': writePage('Docs', ['/docs/lamp']), '/docs/lamp': lamp })
  })
  afterAll(() => site.close())

  beforeEach(() => {
    sandbox = new ProgramSandbox(250_000, [node, INSTALLED_PROGRAM])
  })
  afterEach(() => sandbox.remove())

  /** Asks the server that this command starts. */
  async function ask(command: string, args: readonly string[], query: string): Promise<string> {
    const client = new Client({ name: 'test', version: '0.0.0' })
    await client.connect(
      new StdioClientTransport({ command, args: [...args], env: sandbox.environment, stderr: 'ignore' }),
    )
    try {
      return JSON.stringify((await client.callTool({ name: 'search_docs', arguments: { query } })).content)
    } finally {
      await client.close()
    }
  }

  test('is on the path of npm scripts and gives the tour', async () => {
    const environment = { PATH: `${dirname(node)}:${process.env['PATH']}` }
    const command = join(MODULES, '.bin', basename(PACKAGE))
    const { code, stdout } = await sandbox.start(command, ['demo', '--once'], environment).ended
    expect(code).toBe(0)
    expect(stdout).toContain('/guide/retries')
  })

  test('packs and indexes a folder with a PDF, and a search finds both files', async () => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await sandbox.run(args, { PHAROS_EMBED: 'true' })
      if (code !== 0) throw new Error(stderr)
      return stdout
    }
    sandbox.write({ 'docs/cars.md': '# Workshop\n\nMechanics fix broken engines and brakes of cars here.\n' })
    fs.copyFileSync(join(ROOT, 'test/documents/guide.pdf'), sandbox.path('docs/guide.pdf'))
    await run('pack', 'docs', '--out', 'docs.zip', '--vectors')
    expect(await run('search', 'automobile repair garage', '--pack', 'docs.zip')).toContain('cars.md')
    await run('add', 'docs', '--library', 'library.db', '--embed')
    expect(await run('search', 'coastal handbook', '--library', 'library.db')).toContain('guide.pdf')
  })

  test('connects agents, adds a site, and finds its passage: for the user, an agent and over HTTP', async () => {
    sandbox.write({ '.claude/settings.json': '{}' })
    expect(await sandbox.run(['setup', '--yes'])).toMatchObject({ code: 0, stderr: '' })
    const added = await sandbox.run(['add', `${site.origin}/docs/`, '--name', 'docs', '--allow-private=127.0.0.1'])
    expect(added.code).toBe(0)
    expect((await sandbox.run(['search', 'when is the lamp lit'])).stdout).toContain('lit at dusk')

    const { mcpServers } = JSON.parse(fs.readFileSync(sandbox.path('.claude.json'), 'utf8')) as {
      mcpServers: { pharos: { command: string; args: string[] } }
    }
    const { command, args } = mcpServers.pharos
    expect([command, args[0]]).toEqual([fs.realpathSync(node), INSTALLED_PROGRAM])
    expect(await ask(command, args, 'when is the lamp lit')).toContain('lit at dusk')

    const server = await startServer(sandbox, ['--port', '0', '--library', defaultLibrary()])
    expect(JSON.stringify(await server.get('/api/search?q=lamp'))).toContain('lit at dusk')
    expect((await server.ask('/')).status).toBe(200)
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  /** The library that the program uses if none is given. */
  function defaultLibrary(): string {
    const [path] = fs
      .readdirSync(sandbox.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => basename(name) === 'library.db')
    if (path === undefined) throw new Error('there is no library')
    return sandbox.path(path)
  }
})

test('an old Node is told in one line which version is needed, and where to get it', async () => {
  const sandbox = new ProgramSandbox()
  try {
    const version = "Object.defineProperty(process, 'version', { value: 'v22.18.0' })"
    const versions = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })"
    const pretend = `--import=data:text/javascript,${encodeURIComponent(`${version};${versions}`)}`
    const args = [pretend, INSTALLED_PROGRAM, 'list']
    expect(await sandbox.start(process.execPath, args, {}).ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'pharos: needs Node.js 22.19 or later (found v22.18.0) – install it from https://nodejs.org/ and try again\n',
    })
  } finally {
    sandbox.remove()
  }
})

test('started by npx, setup writes the name and the version from package.json, whatever they are', async () => {
  const sandbox = new ProgramSandbox()
  try {
    const temporary = sandbox.path('_npx/0123/node_modules')
    fs.mkdirSync(dirname(temporary), { recursive: true })
    execFileSync('cp', ['-al', MODULES, temporary])
    const file = join(temporary, NAME, 'package.json')
    const renamed = { ...JSON.parse(fs.readFileSync(file, 'utf8')), name: '@example/renamed', version: '7.8.9' }
    fs.rmSync(file)
    fs.writeFileSync(file, JSON.stringify(renamed))
    sandbox.write({ '.cursor/mcp.json': '{}' })
    const program = join(temporary, NAME, 'dist/cli/main.js')
    const { code, stdout } = await sandbox.start(process.execPath, [program, 'setup', '--yes'], {}).ended
    expect(code).toBe(0)
    expect(stdout).toContain('npx @example/renamed@7.8.9 add <url>')
    expect(JSON.parse(fs.readFileSync(sandbox.path('.cursor/mcp.json'), 'utf8'))).toEqual({
      mcpServers: { pharos: { command: 'npx', args: ['-y', '@example/renamed@7.8.9', 'mcp'] } },
    })
    // systemd starts only programs with an absolute path.
    const timer = await sandbox.start(process.execPath, [program, 'setup', '--timer', '--dry-run'], {}).ended
    expect(timer.stdout).toMatch(/^ {2}ExecStart=\/\S*\/npx -y @example\/renamed@7\.8\.9 refresh --due /m)
  } finally {
    sandbox.remove()
  }
})
