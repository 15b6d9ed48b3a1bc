import { beforeEach, expect, test } from 'vitest'
import { PUBLIC_REGISTRIES } from '../../src/core/url/package-url.ts'
import { openProjectReader } from '../../src/project/open-project.ts'
import { createTempFolder, writeFiles } from '../trees/archive-fixture.ts'

let folder = ''

beforeEach(() => {
  folder = createTempFolder()
})

/** Reads the project with registries of PyPI in the order in which they are asked. */
function read(pypi: string = PUBLIC_REGISTRIES.pypi, ...further: readonly string[]) {
  const registries = { ...PUBLIC_REGISTRIES, pypi, further: { pypi: further } }
  return openProjectReader({ home: folder }, { registries }).read(folder)
}

const LOCKS = {
  uv: (address: string) => ({
    'uv.lock': `version = 1\n[[package]]\nname = "lamp"\nversion = "1.0"\nsource = { registry = "${address}" }\n`,
  }),
  Poetry: (address: string) => ({
    'pyproject.toml': '[tool.poetry]\nname = "tower"\n[tool.poetry.dependencies]\nlamp = "1.0"\n',
    'poetry.lock': `[[package]]\nname = "lamp"\nversion = "1.0"\n[package.source]\ntype = "legacy"\nurl = "${address}"\nreference = "corp"\n`,
  }),
  Pipenv: (address: string) => ({
    'Pipfile.lock': JSON.stringify({
      _meta: {
        sources: [
          { name: 'pypi', url: 'https://pypi.org/simple' },
          { name: 'corp', url: address },
        ],
      },
      default: { lamp: { version: '==1.0', index: 'corp' } },
    }),
  }),
  pylock: (address: string) => ({
    'pylock.toml': `lock-version = "1.0"\n[[packages]]\nname = "lamp"\nversion = "1.0"\nindex = "${address}"\n`,
  }),
}

test.each(Object.entries(LOCKS))(
  'a package whose lock file of %s names another registry is left out',
  async (_, write) => {
    writeFiles(folder, write('https://me:s3cret@corp.example/simple/'))
    const { packages, skipped } = await read()
    expect(packages).toEqual([])
    expect(skipped).toMatchObject([
      {
        name: 'lamp',
        reason:
          'its lock file names the registry https://corp.example/simple, which neither pip nor Pharos is configured for',
      },
    ])
  },
)

test.each(Object.entries(LOCKS))(
  'a package of a lock file of %s comes from the registry that it names',
  async (_, write) => {
    writeFiles(folder, write('https://CORP.example:443/simple'))
    const { packages } = await read('https://pypi.org/', 'simple+https://corp.example/simple/')
    // The public registry, which comes first, may have another package of this name.
    expect(packages).toMatchObject([{ name: 'lamp', registries: ['simple+https://corp.example/simple'] }])
    expect((await read('https://corp.example')).packages).toMatchObject([{ registries: ['https://corp.example'] }])
  },
)

test.each(Object.entries(LOCKS))(
  'a mirror replaces the public registry that a lock file of %s names',
  async (_, write) => {
    writeFiles(folder, write('https://pypi.org/simple'))
    const { packages, skipped } = await read('simple+https://mirror.example/simple')
    expect(packages).toMatchObject([{ name: 'lamp', registries: ['simple+https://mirror.example/simple'] }])
    expect(skipped).toEqual([])
  },
)

test.each(Object.entries(LOCKS))(
  'a package whose lock file of %s names an index in a folder is not asked for at a public registry',
  async (_, write) => {
    writeFiles(folder, write('file:///srv/wheels'))
    const { packages, skipped } = await read()
    expect(packages).toEqual([])
    expect(skipped).toMatchObject([{ name: 'lamp', reason: 'it is a folder or file, not a package of a registry' }])
  },
)

test('an installed package is read, whatever registry its lock file names', async () => {
  writeFiles(folder, LOCKS.uv('https://corp.example/simple'))
  writeFiles(folder, { '.venv/lib/python3.12/site-packages/lamp-1.0.dist-info/METADATA': 'Name: lamp\nVersion: 1.0\n' })
  expect((await read()).packages).toMatchObject([{ name: 'lamp', registries: [], installedAt: expect.any(String) }])
})

test('the registry of an npm lock file does not matter, because a mirror replaces it', async () => {
  const resolved = 'https://registry.npmjs.org/lamp/-/lamp-1.0.0.tgz'
  const packages = { '': { dependencies: { lamp: '1' } }, 'node_modules/lamp': { version: '1.0.0', resolved } }
  writeFiles(folder, { 'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages }) })
  const registries = { ...PUBLIC_REGISTRIES, npm: 'https://npm.corp.example/' }
  const found = await openProjectReader({ home: folder }, { registries }).read(folder)
  expect(found.packages).toMatchObject([{ name: 'lamp', registries: ['https://npm.corp.example'] }])
})
