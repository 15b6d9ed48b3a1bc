import * as fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { type Canary, openCanary } from '../sites/canary.ts'
import { readSourceContent, type SourceContent } from '../sites/file-fixture.ts'
import { writeTar } from '../trees/archive-bytes.ts'
import { createRepository } from '../trees/git-fixture.ts'
import { openRegistry } from '../trees/registry-fixture.ts'
import { BoundedProgram, extendTestTimeout, isLong } from './bounded.ts'
import { GOOD, hostileArchives, wholeArchives } from './hostile-archives.ts'
import { type Bait, hostileDocuments, SCRIPT } from './hostile-documents.ts'

/*
 * Malicious trees, added by the built program in a separate process. The program must end in time and in bounded memory. The ledger must
 * give the state and reason of every file, and the good file beside them must be indexed. Nothing may be written elsewhere, no program may
 * run, and no server on the network may be contacted. TEST_LONG uses full sizes, each large one in a process of its own. TEST_REPORT names a file for
 * the figures.
 */

/** Limit of the peak resident memory of the program. */
const MAX_RSS_MB = isLong ? 1200 : 600

const SECRET = 'the-word-that-nobody-may-read'

extendTestTimeout()

/** A sandbox whose temporary files can be counted, and whose programs may contact this machine. */
class WatchedSandbox extends ProgramSandbox {
  readonly variables: Record<string, string> = {}

  override get environment(): Record<string, string> {
    return {
      ...super.environment,
      TMPDIR: this.path('temporary'),
      PHAROS_ALLOW_PRIVATE: '127.0.0.1',
      ...this.variables,
    }
  }
}

const sandbox = new WatchedSandbox()
const program = new BoundedProgram(sandbox, MAX_RSS_MB)
let canary: Canary
let bait: Bait

beforeAll(async () => {
  canary = await openCanary()
  bait = {
    url: `http://127.0.0.1:${canary.port}`,
    file: sandbox.path('outside/secret.md'),
    program: `touch ${sandbox.path('outside/ran')}`,
  }
  sandbox.write({ 'outside/secret.md': `# Secret\n\n${SECRET}\n`, 'temporary/mine': '' })
  fs.mkdirSync(sandbox.path('library'))
})

afterAll(async () => {
  await program.end()
  await canary.close()
  sandbox.remove()
})

let libraryCount = 0

/** Arguments that add a tree to a library. */
function commandOf(name: string, library: string): string[] {
  return ['add', name, '--json', '--max-file-bytes', '60MB', '--library', library]
}

/** Adds a tree, expects success, and returns its content in the library. */
async function add(name: string): Promise<SourceContent> {
  const path = sandbox.path(`library/${libraryCount++}.db`)
  await program.run(commandOf(name, path))
  expectNoTrace()
  const library = await openLibrary({ path, version: '0.0.0' })
  try {
    const [source] = await library.store.listSources()
    if (source === undefined) throw new Error('the library has no source')
    const content = await readSourceContent(path, library, source, '')
    for (const [page, { markdown }] of content.pages) {
      expect(markdown, page).not.toContain(SECRET)
      expect(markdown, page).not.toContain(SCRIPT)
    }
    return content
  } finally {
    await library.close()
  }
}

/** Adds a tree, expects a refusal, and returns its reason. */
async function refusalOf(name: string, isSmall = false): Promise<string> {
  const { code, stderr } = await program.tryRun(commandOf(name, sandbox.path('library/refused.db')), isSmall)
  expectNoTrace()
  expect(code).not.toBe(0)
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } }
  return `${error.code}: ${error.message.replace(/^.* cannot be used: /, '')}`
}

/** Expects that a run left no files behind, ran no program of the tree and contacted no server. */
function expectNoTrace(): void {
  const names = fs.readdirSync(sandbox.folder).filter((name) => name !== 'cache')
  expect(names.filter((name) => !['library', 'outside', 'source', 'temporary'].includes(name))).toEqual([])
  expect(fs.readdirSync(sandbox.path('temporary'))).toEqual(['mine'])
  expect(fs.readdirSync(sandbox.path('outside'))).toEqual(['secret.md'])
  expect(canary).toMatchObject({ connections: 0, paths: [] })
}

/** State, reason and explanation of each file, such as `skipped damaged its content is damaged`, by path. */
function statesOf({ rows }: SourceContent): Record<string, string> {
  return Object.fromEntries(
    [...rows].map(([path, { state, reason, pattern, detail }]) => {
      return [path, [state, reason, pattern ?? detail].filter((word) => word !== null).join(' ')]
    }),
  )
}

test('hostile documents of every format get the expected state', async () => {
  const files = hostileDocuments(bait)
  fs.rmSync(sandbox.path('source'), { recursive: true, force: true })
  const contents = Object.entries(files).map(([name, { content }]) => [`source/docs/${name}`, content] as const)
  sandbox.write(Object.fromEntries(contents))
  sandbox.write({ 'source/docs/good.md': GOOD.content })
  fs.symlinkSync(bait.file, sandbox.path('source/docs/link.md'))
  fs.symlinkSync('..', sandbox.path('source/docs/up'))
  expect(statesOf(await add('source/docs'))).toEqual({
    ...Object.fromEntries(Object.entries(files).map(([name, { outcome }]) => [name, outcome])),
    'circular.json#introduction': 'indexed',
    'circular.json#get-a': 'indexed',
    'script.epub#a.xhtml': 'indexed',
    'good.md': 'indexed',
    'link.md': 'skipped excluded symbolic links',
    up: 'skipped excluded symbolic links',
  })
})

describe('archives', () => {
  test.each(Object.entries(hostileArchives()))(
    '%s gets the expected states or refusal',
    async (name, { write, outcome }) => {
      sandbox.write({ [`source/${name}`]: write() })
      if (typeof outcome === 'string') expect(await refusalOf(`source/${name}`)).toBe(`SOURCE_UNREADABLE: ${outcome}`)
      else expect(statesOf(await add(`source/${name}`))).toEqual({ ...outcome, 'good.md': 'indexed' })
    },
  )
})

/** A tar file ends with two empty blocks. Without the second it is still complete, and tar programs read it. */
const TAR_END_BYTES = 2 * 512

describe('an archive that is cut off', () => {
  test.each(Object.entries(wholeArchives()))(
    'is reported as cut off, wherever it is cut (%s)',
    async (ending, bytes) => {
      const cutCount = isLong ? 100 : 10
      const end = bytes.length - (ending === 'tar' ? TAR_END_BYTES : 0)
      const reasons = new Set<string>()
      for (let i = 1; i < cutCount; i++) {
        const name = `source/cut-${i}.${ending}`
        sandbox.write({ [name]: bytes.subarray(0, Math.floor((end * i) / cutCount)) })
        reasons.add(await refusalOf(name, true))
      }
      expect([...reasons]).toEqual(['SOURCE_UNREADABLE: it is cut off'])
    },
  )
})

test('adding a repository runs none of its programs and fetches no other repository', async () => {
  const repository = createRepository({ 'good.md': GOOD.content })
  const script = join(repository.folder, '.git/run.sh')
  fs.writeFileSync(script, `#!/bin/sh\n${bait.program}\n`, { mode: 0o755 })
  for (const hook of ['post-checkout', 'pre-auto-gc', 'reference-transaction']) {
    fs.copyFileSync(script, join(repository.folder, '.git/hooks', hook))
  }
  fs.symlinkSync(bait.file, join(repository.folder, 'link.md'))
  const modules = [
    `[submodule "a"]\n\tpath = a\n\turl = file://${sandbox.folder}`,
    `[submodule "b"]\n\tpath = b\n\turl = ssh://-oProxyCommand=${script}/x`,
    `[submodule "c"]\n\tpath = c\n\turl = ${bait.url}/x.git`,
  ]
  const commit = repository.commit({
    '.gitmodules': modules.join('\n'),
    '.gitattributes': '* filter=run diff=run text eol=crlf\n',
  })
  for (const name of ['a', 'b', 'c']) repository.git('update-index', '--add', '--cacheinfo', `160000,${commit},${name}`)
  repository.git('commit', '--quiet', '--message', 'More')
  const settings = ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'filter.run.smudge', 'diff.run.textconv']
  for (const name of settings) repository.git('config', name, script)
  fs.rmSync(sandbox.path('outside/ran'), { force: true })
  expect(statesOf(await add(repository.url))).toEqual({
    'good.md': 'indexed',
    '.gitmodules': 'indexed',
    '.gitattributes': 'indexed',
    'link.md': 'skipped excluded symbolic links',
    a: 'skipped excluded a repository in it',
    b: 'skipped excluded a repository in it',
    c: 'skipped excluded a repository in it',
  })
  for (const address of [`git+ssh://-oProxyCommand=${script}/x`, `git+ext::${script}`, `git+fd::17`]) {
    expect(await refusalOf(address)).toMatch(/^URL_INVALID: /)
  }
})

test('a package is refused if its registry names a private address or its archive has another hash', async () => {
  const registry = await openRegistry()
  await program.end()
  sandbox.variables['PHAROS_NPM_REGISTRY'] = registry.registries.npm
  const { origin } = new URL(registry.registries.npm)
  const tarball = gzipSync(writeTar([{ ...GOOD, name: 'package/good.md' }]))
  const problemsByAddress = {
    'http://169.254.169.254/latest': '169.254.169.254 is not a public address',
    [`http://127.0.0.2:${canary.port}`]: '127.0.0.2 is not a public address',
    [`file://${sandbox.path('outside')}`]: 'it is not a web address (http or https)',
    'data:,x': 'it is not a web address (http or https)',
  }
  for (const [i, [address, problem]] of Object.entries(problemsByAddress).entries()) {
    registry.publishNpm(`lamp-${i}`, '1.0.0', tarball)
    registry.reword(`${origin}/npm/lamp-${i}/-`, address)
    expect(await refusalOf(`npm:lamp-${i}`)).toBe(`SOURCE_UNREADABLE: ${problem}`)
  }
  registry.publishNpm('lamp', '1.0.0', tarball)
  expect(statesOf(await add('npm:lamp'))).toEqual({ 'good.md': 'indexed' })
  registry.tamper('.tgz')
  const problem = 'its archive does not have the sha512 that the registry states'
  expect(await refusalOf('npm:lamp')).toBe(`SOURCE_UNREADABLE: ${problem}`)
})
