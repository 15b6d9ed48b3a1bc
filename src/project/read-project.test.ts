import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findLockfiles, readProject } from './read-project.ts'

/** The user id of `nobody`. */
const NOBODY = 65_534

let root = ''

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pharos-project-')))
})

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

function write(files: Readonly<Record<string, string | object>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

async function list(): Promise<string[]> {
  const { packages } = await readProject(root)
  return packages.map(({ type, name, version, range }) => `${type}:${name}@${version ?? range}`)
}

const npmLock = (version: string): object => ({
  lockfileVersion: 3,
  packages: { '': { dependencies: { ms: '^2' } }, 'node_modules/ms': { version } },
})
const yarnLock = (version: string): string => `# yarn lockfile v1\n\n\nms@^2:\n  version "${version}"\n`

describe('readProject', () => {
  test('reads several registries at once, sorted by type, name and version', async () => {
    write({
      'package.json': { name: 'both', dependencies: { ms: '^2' } },
      'package-lock.json': npmLock('2.1.3'),
      'requirements.txt': 'zope==5\nidna==3.7\n',
      'go.mod': 'module example.org/x\n\nrequire example.com/a v1.0.0\n',
    })
    expect(await list()).toEqual(['golang:example.com/a@v1.0.0', 'npm:ms@2.1.3', 'pypi:idna@3.7', 'pypi:zope@5'])
    const { name, files, notes } = await readProject(root)
    expect({ name, files, notes }).toEqual({
      name: 'both',
      files: ['package-lock.json', 'requirements.txt', 'go.mod'],
      notes: [],
    })
  })

  test('takes the name of the folder if no manifest has a name', async () => {
    write({ 'my-project/requirements.txt': 'idna==3.7\n' })
    expect((await readProject(join(root, 'my-project'))).name).toBe('my-project')
  })

  test.each([
    ['package-lock.json', 'yarn.lock', '2.0.0'],
    ['yarn.lock', 'package-lock.json', '2.1.3'],
  ])('reads the lock file that was changed last and names the other: %s before %s', async (older, newer, version) => {
    write({
      'package.json': { dependencies: { ms: '^2' } },
      'package-lock.json': npmLock('2.1.3'),
      'yarn.lock': yarnLock('2.0.0'),
    })
    utimesSync(join(root, older), 1000, 1000)
    utimesSync(join(root, newer), 2000, 2000)
    expect(await list()).toEqual([`npm:ms@${version}`])
    const { files, notes } = await readProject(root)
    expect({ files, notes }).toEqual({ files: [newer], notes: [`${newer} was changed last, so ${older} was not read`] })
  })

  test('prefers a lock file to manifests', async () => {
    write({
      'pyproject.toml': '[project]\nname = "p"\ndependencies = ["idna>=3"]\n',
      'requirements.txt': 'idna==2.0\n',
      'poetry.lock': '[[package]]\nname = "idna"\nversion = "3.7"\n',
    })
    expect((await readProject(root)).packages).toEqual([
      { type: 'pypi', name: 'idna', version: '3.7', range: '>=3', isDirect: true, isDev: false },
    ])
  })

  test('answers a range of pyproject.toml with the exact version of requirements.txt', async () => {
    write({
      'pyproject.toml': '[project]\nname = "p"\ndependencies = ["idna>=3", "rich"]\n',
      'requirements.txt': 'idna==3.7\n',
    })
    expect(await list()).toEqual(['pypi:idna@3.7', 'pypi:rich@*'])
  })

  test('ignores package-lock.json beside npm-shrinkwrap.json, as npm does', async () => {
    write({ 'package.json': {}, 'package-lock.json': npmLock('2.1.3'), 'npm-shrinkwrap.json': npmLock('2.0.0') })
    expect(await list()).toEqual(['npm:ms@2.0.0'])
  })

  test('reads the members of a workspace, and nothing in node_modules and outside the project', async () => {
    write({
      'package.json': {
        workspaces: ['packages/**', '!packages/old', '../outside', 'node_modules/*'],
        dependencies: {},
      },
      'packages/a/package.json': { name: 'a', dependencies: { one: '^1', b: '*' } },
      'packages/deep/b/package.json': { name: 'b', devDependencies: { two: '2.0.0' } },
      'packages/old/package.json': { name: 'old', dependencies: { three: '^3' } },
      'packages/a/node_modules/c/package.json': { dependencies: { four: '^4' } },
      'node_modules/d/package.json': { dependencies: { five: '^5' } },
    })
    expect(await list()).toEqual(['npm:one@^1', 'npm:two@2.0.0'])
  })

  test('reads members that a glob with braces or a plain path names', async () => {
    write({
      'package.json': { workspaces: { packages: ['{apps,libs}/*', './tools/one/'] } },
      'apps/a/package.json': { dependencies: { one: '^1' } },
      'libs/b/package.json': { dependencies: { two: '^2' } },
      'tools/one/package.json': { dependencies: { three: '^3' } },
      'tools/two/package.json': { dependencies: { four: '^4' } },
    })
    expect(await list()).toEqual(['npm:one@^1', 'npm:three@^3', 'npm:two@^2'])
  })

  test('says how to make a lock file of Bun readable', async () => {
    write({ 'package.json': { dependencies: { ms: '^2' } }, 'bun.lockb': 'binary' })
    expect((await readProject(root)).notes).toEqual([expect.stringContaining('bun install --save-text-lockfile')])
  })

  test('finds nothing in an empty folder', async () => {
    expect(await findLockfiles(root)).toEqual([])
    expect((await readProject(root)).packages).toEqual([])
  })

  test('refuses a folder that does not exist, and a file', async () => {
    write({ file: '' })
    await expect(readProject(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
    await expect(readProject(join(root, 'file'))).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  })

  test('refuses a file of more than 16 MB with its name and size', async () => {
    write({ 'package-lock.json': '' })
    truncateSync(join(root, 'package-lock.json'), 50 * 2 ** 20)
    await expect(readProject(root)).rejects.toMatchObject({
      code: 'LOCKFILE_INVALID',
      message: 'package-lock.json cannot be read: it has 50 MB, and the limit is 16 MB',
    })
  })

  test.each([
    ['package-lock.json', '{\n  "lockfileVersion": 3,\n<<<<<<< HEAD\n'],
    ['yarn.lock', '# yarn lockfile v1\n\n<<<<<<< HEAD\na@1:\n'],
    ['requirements.txt', '# a\nidna==3.7\n<<<<<<< HEAD\n'],
    ['Cargo.lock', 'version = 4\n\n<<<<<<< HEAD\n'],
  ])('names the line at which %s has conflicts of a merge', async (path, text) => {
    write({ [path]: text })
    await expect(readProject(root)).rejects.toThrow(`${path} cannot be read: line 3: it has conflicts of a merge`)
  })

  test('refuses a folder and a lock file that this user may not read', async () => {
    chmodSync(root, 0o755)
    write({ 'closed/package.json': {}, 'package-lock.json': npmLock('2.1.3') })
    chmodSync(join(root, 'closed'), 0)
    chmodSync(join(root, 'package-lock.json'), 0)
    for (const path of [join(root, 'closed'), root]) {
      await expect(withoutRights(() => readProject(path))).rejects.toMatchObject({
        code: 'SOURCE_UNREADABLE',
        message: expect.stringContaining('permission denied'),
      })
    }
    chmodSync(join(root, 'closed'), 0o700)
  })

  test('reads no pipes, folders and links that lead outside the project', async () => {
    write({ 'project/go.mod/file': '', 'secret.txt': 'idna==3.7\n', 'project/constraints.txt': '' })
    const folder = join(root, 'project')
    execFileSync('mkfifo', [join(folder, 'package-lock.json')])
    symlinkSync(join(root, 'secret.txt'), join(folder, 'requirements.txt'))
    symlinkSync('Cargo.lock', join(folder, 'Cargo.lock'))
    expect(await readProject(folder)).toMatchObject({ packages: [], files: [] })
  })

  test('does not follow includes outside the project', async () => {
    write({ 'secret.txt': 'idna==3.7\n', 'project/requirements.txt': '-r ../secret.txt\n-r /etc/hostname\nrich==1\n' })
    const { packages, skipped } = await readProject(join(root, 'project'))
    expect(packages.map(({ name }) => name)).toEqual(['rich'])
    expect(skipped.map(({ name }) => name)).toEqual(['../secret.txt', 'etc/hostname'])
  })
})

/** Runs work as another user if this one is root, who may read everything. */
async function withoutRights<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
