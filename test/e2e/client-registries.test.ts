import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { closeLater } from '../close-later.ts'
import { createTempFolder, type Files, packFiles } from '../trees/archive-fixture.ts'
import { openRegistry } from '../trees/registry-fixture.ts'
import { ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
  closeLater(() => sandbox.remove())
})

const deps = (...args: readonly string[]) => sandbox.runInProcess(['deps', 'app', ...args])
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const SECRETS = ['n0m-s3cret', 'sc0pe-s3cret', 'pip-s3cret', 'crate-s3cret', 'maven-s3cret']

function pack(name: string, files: Files): Buffer {
  return fs.readFileSync(packFiles(join(createTempFolder(), name), files))
}

/** Writes a project that asks for one npm package. */
function writeProject(name: string): void {
  const dependencies = { [name]: '1.0.0' }
  const packages = { '': { name: 'tower', dependencies }, [`node_modules/${name}`]: { version: '1.0.0' } }
  sandbox.write({
    'app/package.json': JSON.stringify({ name: 'tower', dependencies }),
    'app/package-lock.json': JSON.stringify({ name: 'tower', lockfileVersion: 3, packages }),
  })
}

test('deps reads packages from the registries of npm, pip, Cargo and Maven, with their secrets, and keeps no secret', async () => {
  const npm = await openRegistry('Bearer n0m-s3cret')
  npm.publishNpm('lamp', '1.0.0', pack('l.tgz', { 'package/README.md': '# Lamp\n' }))
  const scoped = await openRegistry(basic('me:sc0pe-s3cret'))
  scoped.publishNpm('@corp/wick', '1.0.0', pack('w.tgz', { 'package/README.md': '# Wick\n' }))
  const pip = await openRegistry(basic('me:pip-s3cret'))
  pip.publishPypi('oil', '2.0', { 'oil-2.0.tar.gz': pack('o.tgz', { 'oil-2.0/README.md': '# Oil\n' }) })
  const cargo = await openRegistry('crate-s3cret')
  cargo.publishCrate('tank', '3.0.0', pack('t.tgz', { 'tank-3.0.0/README.md': '# Tank\n' }))
  const maven = await openRegistry(basic('me:maven-s3cret'))
  maven.publishMaven('org.tower', 'lens', '4.0', { sources: pack('s.zip', { 'Lens.java': 'public class Lens {}\n' }) })

  writeProject('lamp')
  const lock = {
    '': { name: 'tower', dependencies: { lamp: '1.0.0', '@corp/wick': '1.0.0' } },
    'node_modules/lamp': { version: '1.0.0' },
    'node_modules/@corp/wick': { version: '1.0.0' },
  }
  const nerf = (registry: string) => registry.replace('http:', '')
  sandbox.write({
    'app/package-lock.json': JSON.stringify({ name: 'tower', lockfileVersion: 3, packages: lock }),
    'app/requirements.txt': 'oil==2.0\n',
    'app/Cargo.toml': '[package]\nname = "tower"\nversion = "0.1.0"\n[dependencies]\ntank = "3"\n',
    'app/Cargo.lock':
      'version = 3\n[[package]]\nname = "tank"\nversion = "3.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n[[package]]\nname = "tower"\nversion = "0.1.0"\ndependencies = ["tank"]\n',
    'app/pom.xml':
      '<project><artifactId>tower</artifactId><dependencies><dependency><groupId>org.tower</groupId><artifactId>lens</artifactId><version>4.0</version></dependency></dependencies></project>',
    'app/.npmrc': `${nerf(scoped.registries.npm)}:username=me\n${nerf(scoped.registries.npm)}:_password=${Buffer.from('sc0pe-s3cret').toString('base64')}\n`,
    '.npmrc': `registry=${npm.registries.npm}\n${nerf(npm.registries.npm)}:_authToken=$\{NPM_TOKEN}\n@corp:registry=${scoped.registries.npm}\n`,
    '.config/pip/pip.conf': `[global]\nindex-url = ${pip.simpleIndex.replace('//', '//me:pip-s3cret@')}\n`,
    '.cargo/config.toml': `[source.crates-io]\nreplace-with = "corp"\n[registries.corp]\nindex = "${cargo.registries.crates}"\n`,
    '.cargo/credentials.toml': '[registries.corp]\ntoken = "crate-s3cret"\n',
    '.m2/settings.xml': `<settings><mirrors><mirror><id>corp</id><url>${maven.registries.maven}</url><mirrorOf>*</mirrorOf></mirror></mirrors><servers><server><id>corp</id><username>me</username><password>maven-s3cret</password></server></servers></settings>`,
  })
  const added = await sandbox.runInProcess(['deps', 'app', '--add', '--verbose', '--library', 'data/library.db'], {
    NPM_TOKEN: 'n0m-s3cret',
  })
  expect(added.stderr).not.toContain('could not be read')
  expect(added).toMatchObject({ code: 0, stdout: 'tower: 5 packages read, 0 already in the library, 0 failed\n' })
  for (const registry of [npm, scoped, pip, cargo, maven]) {
    expect(registry.requestedPaths.length).toBeGreaterThan(1)
    expect(new Set(registry.authorizations).size).toBe(1)
  }
  const shown = await sandbox.runInProcess(['list', '--json', '--library', 'data/library.db'])
  const kept = fs.readdirSync(sandbox.path('data'), { recursive: true, withFileTypes: true })
  const bytes = kept
    .filter((one) => one.isFile())
    .map((one) => fs.readFileSync(join(one.parentPath, one.name), 'latin1'))
  for (const secret of SECRETS.flatMap((text) => [text, Buffer.from(`me:${text}`).toString('base64')])) {
    expect([added.stdout, added.stderr, shown.stdout, ...bytes].filter((text) => text.includes(secret))).toEqual([])
  }
}, 120_000)

test('a private registry that only the project names needs consent, and one that the user names does not', async () => {
  const [registry, index] = [await openRegistry(), await openRegistry()]
  registry.publishNpm('lamp', '1.0.0', pack('l.tgz', { 'package/README.md': '# Lamp\n' }))
  index.publishPypi('oil', '2.0', { 'oil-2.0.tar.gz': pack('o.tgz', { 'oil-2.0/README.md': '# Oil\n' }) })
  writeProject('lamp')
  const npmrc = `registry=${registry.registries.npm}\n`
  sandbox.write({
    'app/.npmrc': npmrc,
    'app/requirements.txt': `--index-url ${index.simpleIndex}\noil==2.0\n`,
  })
  const refused = await deps('--add')
  expect(refused).toMatchObject({ code: 1, stdout: 'tower: 0 packages read, 0 already in the library, 2 failed\n' })
  expect(refused.stderr).toContain('add --allow-private=127.0.0.1')
  expect(registry.requestedPaths).toEqual([])
  sandbox.write({ '.npmrc': npmrc })
  expect((await deps('--add')).stdout).toBe('tower: 1 package read, 0 already in the library, 1 failed\n')
  expect(index.requestedPaths).toEqual([])
  expect((await deps('--add', '--allow-private')).stdout).toContain('tower: 1 package read, 1 already in the library')
}, 60_000)

test('a redirect to another origin gets no secret, and a refused one appears in no message', async () => {
  const received: (string | undefined)[] = []
  const listen = async (
    answer: (path: string) => { status: number; headers: Record<string, string>; body: string },
  ) => {
    const server = createServer((request, response) => {
      received.push(request.headers.authorization)
      const { status, headers, body } = answer(request.url ?? '/')
      response.writeHead(status, headers).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closeLater(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const other = await listen(() => ({ status: 403, headers: {}, body: '' }))
  const registry = await listen((path) => ({ status: 302, headers: { location: `http://${other}${path}` }, body: '' }))
  writeProject('lamp')
  sandbox.write({ 'app/.npmrc': `registry=http://${registry}/\n//${registry}/:_authToken=n0m-s3cret\n` })
  // The redirect target is private too, and only the registry itself is allowed.
  const { code, stdout, stderr } = await deps('--add', '--allow-private', '--verbose')
  expect(code).toBe(1)
  expect(received).toEqual(['Bearer n0m-s3cret', undefined])
  expect(stdout + stderr).not.toContain('n0m-s3cret')
  expect(stderr).toContain(`${other} answered 403`)
}, 60_000)

test('the settings of Pharos win, and a broken settings file stops its packages instead of asking the public registry', async () => {
  const own = await openRegistry()
  own.publishNpm('lamp', '1.0.0', pack('l.tgz', { 'package/README.md': '# Lamp\n' }))
  writeProject('lamp')
  sandbox.write({ 'app/.npmrc': '# ours\nregistry=nowhere\n' })
  const broken = await deps('--add')
  expect(broken.code).toBe(1)
  expect(broken.stderr).toContain('.npmrc:2: the address of a registry is no web address')
  const added = await sandbox.runInProcess(['deps', 'app', '--add'], { PHAROS_NPM_REGISTRY: own.registries.npm })
  expect(added.stdout).toContain('1 package read')
}, 60_000)

test('add reads the settings of the user, not those of the folder', async () => {
  const users = await openRegistry()
  users.publishNpm('lamp', '1.0.0', pack('l.tgz', { 'package/README.md': '# Lamp\n' }))
  sandbox.write({ 'home/.npmrc': `registry=${users.registries.npm}\n`, '.npmrc': 'registry=http://127.0.0.1:9/\n' })
  const { code } = await sandbox.runInProcess(['add', 'npm:lamp'], { HOME: sandbox.path('home') })
  expect(code).toBe(0)
  expect(users.requestedPaths).toContain('/npm/lamp')
}, 60_000)
