import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createInstalledFinder } from './find-installed.ts'
import type { LockedPackage } from './locked-package.ts'

let folder = ''

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'pharos-installed-'))
})

afterEach(() => fs.rmSync(folder, { recursive: true }))

function write(path: string, content: object | string = ''): void {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
  fs.writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}

/** Where a package is found, relative to the folder of the test, with its version. */
function find(locked: Pick<LockedPackage, 'type' | 'name' | 'version'> & Partial<LockedPackage>): string | undefined {
  const folders = { home: join(folder, 'home'), virtualEnv: join(folder, 'active') }
  const found = createInstalledFinder(join(folder, 'app'), folders)({ isDirect: true, isDev: false, ...locked })
  return found === undefined ? undefined : `${found.folder.slice(folder.length + 1)} ${found.version}`
}

test('finds an npm package where the lock file says, else in node_modules and in the store of pnpm', () => {
  write('app/node_modules/lamp/package.json', { name: 'lamp', version: '2.0.0' })
  write('app/node_modules/wick/node_modules/lamp/package.json', { name: 'lamp', version: '1.0.0' })
  write('app/node_modules/.pnpm/@a+oil@3.0.0/node_modules/@a/oil/package.json', { name: '@a/oil', version: '3.0.0' })
  const inner = 'node_modules/wick/node_modules/lamp'
  expect(find({ type: 'npm', name: 'lamp', version: '1.0.0', folder: inner })).toBe(`app/${inner} 1.0.0`)
  expect(find({ type: 'npm', name: 'lamp', version: '2.0.0' })).toBe('app/node_modules/lamp 2.0.0')
  expect(find({ type: 'npm', name: 'lamp', version: '9.0.0' })).toBeUndefined()
  expect(find({ type: 'npm', name: '@a/oil', version: '3.0.0' })).toContain('.pnpm/@a+oil@3.0.0')
})

test('finds a package of a workspace member in its folder, else above it, also by another name', () => {
  write('app/apps/a/node_modules/lamp/package.json', { name: 'lamp', version: '1.0.0' })
  write('app/apps/node_modules/old-lamp/package.json', { name: 'lamp', version: '0.1.0' })
  write('app/node_modules/lamp/package.json', { name: 'lamp', version: '2.0.0' })
  const locked = { type: 'npm', name: 'lamp', folder: 'apps/a/node_modules/lamp' } as const
  expect(find({ ...locked, version: '1.0.0' })).toBe('app/apps/a/node_modules/lamp 1.0.0')
  expect(find({ ...locked, version: '2.0.0' })).toBe('app/node_modules/lamp 2.0.0')
  const alias = 'apps/a/node_modules/old-lamp'
  expect(find({ ...locked, version: '0.1.0', folder: alias })).toBe('app/apps/node_modules/old-lamp 0.1.0')
})

test.each([
  '.pnpm/@a+oil@3.0.0-rc.1_wick@1.0.0_@b+jar@2.0.0',
  '.pnpm/@a+oil@3.0.0-rc.1(wick@1.0.0)',
  '.bun/@a+oil@3.0.0-rc.1+cebb11dee70a9db3',
])('finds a package with peers in %s', (store) => {
  write(`app/node_modules/${store}/node_modules/@a/oil/package.json`, { name: '@a/oil', version: '3.0.0-rc.1' })
  expect(find({ type: 'npm', name: '@a/oil', version: '3.0.0-rc.1' })).toContain(store)
  expect(find({ type: 'npm', name: '@a/oil', version: '3.0.0' })).toBeUndefined()
})

test('without a lock file, takes the installed version if it is in the range', () => {
  write('app/node_modules/lamp/package.json', { name: 'lamp', version: '2.1.0' })
  expect(find({ type: 'npm', name: 'lamp', version: null, range: '^2.0.0' })).toBe('app/node_modules/lamp 2.1.0')
  expect(find({ type: 'npm', name: 'lamp', version: null, range: '^1.0.0' })).toBeUndefined()
  expect(find({ type: 'npm', name: 'lamp', version: null, range: 'latest' })).toBe('app/node_modules/lamp 2.1.0')
})

test('does not follow a lock file out of the project', () => {
  write('private/lamp/package.json', { name: 'lamp', version: '1.0.0' })
  expect(find({ type: 'npm', name: 'lamp', version: '1.0.0', folder: '../private/lamp' })).toBeUndefined()
})

test('prefers the Python environment of the project to the active one, and finds each version', () => {
  write('app/.venv/lib/python3.11/site-packages/Lamp_Post-2.0.dist-info/RECORD')
  write('active/lib/python3.11/site-packages/lamp_post-1.0.dist-info/RECORD')
  expect(find({ type: 'pypi', name: 'lamp-post', version: null })).toMatch(/^app\/\.venv.* 2\.0$/)
  expect(find({ type: 'pypi', name: 'lamp-post', version: '1.0' })).toMatch(/^active.* 1\.0$/)
  expect(find({ type: 'pypi', name: 'lamp-post', version: '3.0' })).toBeUndefined()
})

test('finds a crate of the public registry only', () => {
  write('home/.cargo/registry/src/crates.corp.example-1/lamp-1.0.0/Cargo.toml')
  expect(find({ type: 'cargo', name: 'lamp', version: '1.0.0' })).toBeUndefined()
  write('home/.cargo/registry/src/index.crates.io-6f17/lamp-1.0.0/Cargo.toml')
  expect(find({ type: 'cargo', name: 'lamp', version: '1.0.0' })).toContain('index.crates.io-6f17')
})

test('finds a crate that was vendored, in its version only', () => {
  write('app/vendor/lamp/Cargo.toml', '[package]\nname = "lamp"\nversion = "1.0.0"\n')
  write('app/vendor/lamp-0.9.0/Cargo.toml', '[package]\nname = "lamp"\nversion = "0.9.0"\n')
  expect(find({ type: 'cargo', name: 'lamp', version: '1.0.0' })).toBe('app/vendor/lamp 1.0.0')
  expect(find({ type: 'cargo', name: 'lamp', version: '0.9.0' })).toBe('app/vendor/lamp-0.9.0 0.9.0')
  expect(find({ type: 'cargo', name: 'lamp', version: '2.0.0' })).toBeUndefined()
})

test('finds a module of Go in the module cache, else where it was vendored', () => {
  const toml = { type: 'golang', name: 'github.com/BurntSushi/toml', version: 'v1.2.0' } as const
  expect(find(toml)).toBeUndefined()
  write('app/vendor/modules.txt', '# github.com/BurntSushi/toml v1.2.0\n## explicit\ngithub.com/BurntSushi/toml\n')
  write('app/vendor/github.com/BurntSushi/toml/doc.go')
  expect(find(toml)).toBe('app/vendor/github.com/BurntSushi/toml v1.2.0')
  expect(find({ ...toml, version: 'v1.3.0' })).toBeUndefined()
  write('home/go/pkg/mod/github.com/!burnt!sushi/toml@v1.2.0/doc.go')
  expect(find(toml)).toBe('home/go/pkg/mod/github.com/!burnt!sushi/toml@v1.2.0 v1.2.0')
})

test('finds an artifact of Maven only if its sources or its Javadoc were downloaded', () => {
  const lens = { type: 'maven', name: 'org.tower:lens', version: '4.0' } as const
  write('home/.m2/repository/org/tower/lens/4.0/lens-4.0.jar')
  expect(find(lens)).toBeUndefined()
  write('home/.m2/repository/org/tower/lens/4.0/lens-4.0-javadoc.jar')
  expect(find(lens)).toBe('home/.m2/repository/org/tower/lens/4.0 4.0')
})
