import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openNodeGrammars } from '../../test/node-grammars.ts'
import { AdditionFiles } from './addition-files.ts'
import { openCodeChecker } from './open-code-checker.ts'

let folder = ''

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'pharos-additions-'))
  write('package.json', { dependencies: { host: '1' } })
  write('node_modules/host/package.json', { name: 'host', version: '1.0.0', types: 'index.d.ts' })
  write('node_modules/host/index.d.ts', HOST)
})

afterEach(() => fs.rmSync(folder, { recursive: true }))

const HOST = `
declare global { namespace Host { interface Request {} } }
export interface Request extends Host.Request { url: string }
export interface App { get(listener: (request: Request) => void): void }
export declare function createApp(): App
`

function write(path: string, content: object | string): void {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
  fs.writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}

/** Adds a package with declarations to the project. */
function install(name: string, types: string, dependencies: object): void {
  write(`node_modules/${name}/package.json`, { name, version: '1.0.0', types: 'index.d.ts', dependencies })
  write(`node_modules/${name}/index.d.ts`, types)
}

function openChecker() {
  const project = { name: 'tower', folder, packages: [], skipped: [], files: [], notes: [] }
  return openCodeChecker({
    read: () => Promise.resolve(project),
    openGrammars: () => openNodeGrammars(['typescript', 'tsx', 'python']),
  })
}

const CODE = `import { createApp } from 'host'
const app = createApp()
app.get((request) => { request.url; request.user; request.seat })
app.plug; app.none
`

/** What is missing or unknown in the code. */
async function check(checker: ReturnType<typeof openChecker>, code = CODE): Promise<string[]> {
  const { places } = await checker.check({ code, language: 'typescript' })
  return places.filter(({ verdict }) => verdict !== 'exists').map(({ name, verdict }) => `${name}: ${verdict}`)
}

const MISSING = ['request.user', 'request.seat', 'app.plug', 'app.none'].map((name) => `${name}: not in this version`)

test('members that no package of the project adds are missing', async () => {
  expect(await check(openChecker())).toEqual(MISSING)
})

test('members that packages of types and dependencies add exist', async () => {
  write('package.json', { dependencies: { host: '1', plug: '1' } })
  install('@types/passport', "import 'host'\ndeclare global { namespace Host { interface Request { user: 1 } } }", {
    host: '*',
  })
  install('plug', "import 'host'\ndeclare module 'host' { interface App { plug: 1 } }", { host: '*' })
  expect(await check(openChecker())).toEqual([MISSING[1], MISSING[3]])
})

test('members that a package adds in its folder of built files exist, those of the project there do not', async () => {
  write('package.json', { dependencies: { host: '1', plug: '1' } })
  install('plug', '', { host: '*' })
  write('node_modules/plug/dist/add.d.ts', "import 'host'\ndeclare module 'host' { interface App { plug: 1 } }")
  write('dist/add.d.ts', "import 'host'\ndeclare module 'host' { interface App { none: 1 } }")
  expect(await check(openChecker())).toEqual(MISSING.filter((line) => !line.startsWith('app.plug')))
})

test('members that files of the project add exist, also if they are added between two checks', async () => {
  const checker = openChecker()
  expect(await check(checker)).toEqual(MISSING)
  write('src/types/host.d.ts', 'declare namespace Host { interface Request { user: 1 } }')
  expect(await check(checker)).toEqual(MISSING.slice(1))
  write('src/types/host.d.ts', 'declare namespace Host { interface Request { user: 1; seat: 1 } }')
  expect(await check(checker)).toEqual(MISSING.slice(2))
})

test('what the code assigns to shared objects, or a package without declarations may add, is unknown', async () => {
  write('node_modules/bare/package.json', { name: 'bare', version: '1.0.0' })
  const assigned = `${CODE}app.get((request) => { request.user = 1 })`
  expect(await check(openChecker(), assigned)).toContain('request.user: unknown')
  const withPlugin = await check(openChecker(), `import bare from 'bare'\n${CODE}`)
  expect(withPlugin).toEqual(['bare: unknown', 'request.user: unknown', 'request.seat: unknown', ...MISSING.slice(2)])
})

test('files that cannot be read, and paths that the system refuses, are left out', async () => {
  fs.mkdirSync(join(folder, 'src'))
  fs.symlinkSync('loop.ts', join(folder, 'src/loop.ts'))
  // Reading a pipe would wait for a writer.
  execFileSync('mkfifo', [join(folder, 'src/pipe.ts')])
  expect(await check(openChecker(), `import '${'x'.repeat(300)}'\n${CODE}`)).toEqual(
    expect.arrayContaining(MISSING.slice(2)),
  )
})

test('a project with very many folders is searched in part, beginning with those that are near', () => {
  for (let i = 0; i < 2000; i++) fs.mkdirSync(join(folder, 'src', `${i}`), { recursive: true })
  const addition = "declare module 'host' {}"
  write('src/a.ts', addition)
  write('src/0/deep/a.ts', addition)
  const found = new AdditionFiles(() => undefined).find('host', folder)
  expect(found.map(({ path }) => path)).toEqual([join(folder, 'src/a.ts')])
})
