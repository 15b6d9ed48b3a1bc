import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import { openDownloads as openGuardedDownloads } from '../../src/fetch/download.ts'
import type { OpenTree } from '../../src/library/ports/tree.ts'
import type { InstalledTypes } from '../../src/library/source.ts'
import { createTempFolder, type Files, listTree, openTree, packFiles, writeFiles } from './archive-fixture.ts'

let folder = ''

beforeEach(() => {
  folder = createTempFolder()
})

/** Opens a package that is installed in a folder. */
function open(address: string, installedAt: string, types?: InstalledTypes): Promise<OpenTree> {
  const openDownloads = () => Promise.reject(new Error('asked the registry'))
  return openTree(address, { openDownloads }, { installedAt, types })
}

async function readText(tree: OpenTree, path: string): Promise<string> {
  return JSON.stringify(await tree.read({ path, part: null }, { version: null, stamp: null }))
}

const LAMP: Files = {
  'package.json': JSON.stringify({ name: '@tower/lamp', version: '1.2.3' }),
  'README.md': '# Lamp\n\nThe lamp shines over the sea.\n',
  'dist/index.js': 'export const lit = 1\n',
  'dist/index.d.ts': 'export declare const lit: number\n',
  'test/lamp.test.js': '1\n',
  'node_modules/wick/README.md': '# Wick\n',
}

describe('an npm package', () => {
  test('is read from its folder, without a request', async () => {
    writeFiles(folder, LAMP)
    const tree = await open('pkg:npm/%40tower/lamp@1.2.3', folder)
    expect(tree).toMatchObject({ url: 'pkg:npm/%40tower/lamp@1.2.3', name: '@tower/lamp', version: '1.2.3' })
    expect(await listTree(tree)).toEqual({
      'README.md': 'file',
      'dist/index.d.ts': 'file',
      'dist/index.js': 'excluded neither documentation nor an interface',
      'package.json': 'excluded neither documentation nor an interface',
      'node_modules/': 'excluded code of others',
      'test/': 'excluded tests',
    })
    expect(await readText(tree, 'README.md')).toContain('shines over the sea')
  })

  test('is found behind a symbolic link, as pnpm makes it', async () => {
    writeFiles(join(folder, 'store'), LAMP)
    fs.symlinkSync(join(folder, 'store'), join(folder, 'lamp'))
    expect(await listTree(await open('pkg:npm/%40tower/lamp@1.2.3', join(folder, 'lamp')))).toHaveProperty('README.md')
  })

  test('does not follow a link out of its folder', async () => {
    writeFiles(folder, { ...LAMP, 'secret.md': 'outside' })
    fs.mkdirSync(join(folder, 'inner'))
    writeFiles(join(folder, 'inner'), { 'package.json': JSON.stringify({ name: 'lamp', version: '1.0.0' }) })
    fs.symlinkSync('../secret.md', join(folder, 'inner', 'NEWS.md'))
    const tree = await open('pkg:npm/lamp@1.0.0', join(folder, 'inner'))
    expect(await listTree(tree)).toMatchObject({ 'NEWS.md': 'excluded symbolic links' })
  })

  test.each([
    ['another version', { name: '@tower/lamp', version: '1.2.4' }],
    ['another package', { name: '@tower/torch', version: '1.2.3' }],
    ['no name', {}],
  ])('is asked from the registry if the folder has %s', async (_, manifest) => {
    writeFiles(folder, { ...LAMP, 'package.json': JSON.stringify(manifest) })
    await expect(open('pkg:npm/%40tower/lamp@1.2.3', folder)).rejects.toThrow('asked the registry')
  })

  test.each([
    ['is missing', {}],
    ['is damaged', { 'package.json': '{' }],
  ])('is asked from the registry if package.json %s', async (_, files) => {
    writeFiles(folder, { 'README.md': '# Lamp\n', ...files })
    await expect(open('pkg:npm/%40tower/lamp@1.2.3', folder)).rejects.toThrow('asked the registry')
  })
})

test('a Python package is read by its record, without the files of others and outside of the folder', async () => {
  writeFiles(folder, {
    'lamp_post/__init__.py': '"""Lights a lamp."""\n',
    'lamp_post/a "b".md': '# Quoted\n',
    'other/__init__.py': '"""Another package."""\n',
    'Lamp_Post-2.0.dist-info/METADATA': 'Name: Lamp-Post\nVersion: 2.0\n\n# Lamp post\n',
    'Lamp_Post-2.0.dist-info/RECORD':
      'lamp_post/__init__.py,sha256=x,20\n"lamp_post/a ""b"".md",,\nLamp_Post-2.0.dist-info/METADATA,,\n../../../bin/lamp,,\ngone.py,,\n',
  })
  const tree = await open('pkg:pypi/lamp-post@2.0', join(folder, 'Lamp_Post-2.0.dist-info'))
  expect(await listTree(tree)).toEqual({
    'lamp_post/__init__.py': 'file',
    'lamp_post/a "b".md': 'file',
    'Lamp_Post-2.0.dist-info/METADATA': 'file',
  })
})

test('a record of a Python package cannot lead out of its folder', async () => {
  writeFiles(folder, {
    'secret/notes.md': '# Secret\n',
    'site/lamp/__init__.py': '1\n',
    'site/lamp-1.0.dist-info/RECORD':
      'lamp/link/notes.md,,\n../secret/notes.md,,\nlamp/a\u0000b.md,,\nlamp/__init__.py,,\n',
  })
  fs.symlinkSync('../../secret', join(folder, 'site/lamp/link'))
  const tree = await open('pkg:pypi/lamp@1.0', join(folder, 'site/lamp-1.0.dist-info'))
  expect(await listTree(tree)).toEqual({
    'lamp/__init__.py': 'file',
    'lamp/link/notes.md': 'excluded symbolic links',
  })
})

test('a crate is read from the folder of its registry', async () => {
  writeFiles(folder, {
    'Cargo.toml': '[package]\nname = "lamp"\nversion = "0.3.1"\n\n[dependencies.wick]\nversion = "9.9.9"\n',
    'src/lib.rs': '//! Lights a lamp.\n',
    'README.md': '# Lamp\n',
  })
  const tree = await open('pkg:cargo/lamp@0.3.1', folder)
  expect(await listTree(tree)).toMatchObject({ 'src/lib.rs': 'file', 'README.md': 'file' })
})

test('a file that changed after the tree was opened is read as it is now', async () => {
  writeFiles(folder, LAMP)
  const tree = await open('pkg:npm/%40tower/lamp@1.2.3', folder)
  fs.writeFileSync(join(folder, 'README.md'), '# Lamp\n\nNow it is dark.\n')
  expect(await readText(tree, 'README.md')).toContain('Now it is dark')
  fs.rmSync(join(folder, 'README.md'))
  expect(await tree.read({ path: 'README.md', part: null }, { version: null, stamp: null })).toMatchObject({
    type: 'failed',
    reason: 'unreadable',
  })
})

describe('the @types package of an npm package', () => {
  const types = (name: string, version: string): Files => ({
    'package.json': JSON.stringify({ name, version, types: 'index.d.ts' }),
    'README.md': '# Installation\n',
    'index.d.ts': '/** Lights the lamp. */\nexport declare function light(oil: number): void\n',
  })

  test('becomes the API page of a package without declarations', async () => {
    for (const [name, mangled] of [
      ['lamp', 'lamp'],
      ['@tower/lamp', 'tower__lamp'],
    ] as const) {
      const modules = join(createTempFolder(), 'node_modules')
      writeFiles(join(modules, name), {
        'package.json': JSON.stringify({ name, version: '1.0.0' }),
        'README.md': '# Lamp\n',
      })
      writeFiles(join(modules, '@types', mangled), types(`@types/${mangled}`, '1.2.0'))
      const given = { folder: join(modules, '@types', mangled), version: '1.2.0' }
      const tree = await open(`pkg:npm/${name}@1.0.0`, join(modules, name), given)
      const listed = await listTree(tree)
      expect(listed).toMatchObject({ 'README.md': 'file', '@types/index.d.ts.md': 'file' })
      expect(listed).not.toHaveProperty('@types/README.md')
      const page = await readText(tree, '@types/index.d.ts.md')
      expect(page).toContain('Lights the lamp')
      expect(page).toContain(name)
    }
  })

  test('is left out if the package has declarations, or if the folder holds another package or version', async () => {
    const modules = join(folder, 'node_modules')
    const listLamp = async (name: string, version: string) => {
      const given = { folder: join(modules, '@types', name), version }
      return Object.keys(await listTree(await open(`pkg:npm/${name}@1.0.0`, join(modules, name), given))).join()
    }
    writeFiles(join(modules, 'lamp'), { ...LAMP, 'package.json': JSON.stringify({ name: 'lamp', version: '1.0.0' }) })
    writeFiles(join(modules, '@types/lamp'), types('@types/lamp', '1.2.0'))
    expect(await listLamp('lamp', '1.2.0')).not.toContain('@types')
    writeFiles(join(modules, 'wick'), { 'package.json': JSON.stringify({ name: 'wick', version: '1.0.0' }) })
    writeFiles(join(modules, '@types/wick'), types('@types/other', '1.2.0'))
    expect(await listLamp('wick', '1.2.0')).not.toContain('@types')
    writeFiles(join(modules, '@types/wick'), types('@types/wick', '1.3.0'))
    expect(await listLamp('wick', '1.2.0')).not.toContain('@types')
    expect(await listLamp('wick', '1.3.0')).toContain('@types')
  })
})

describe('a module of Go', () => {
  const MODULE: Files = {
    'go.mod': 'module github.com/Tower/Lamp\n',
    'README.md': '# Lamp\n\nThe lamp shines over the sea.\n',
    'lamp.go':
      '// Package lamp lights towers.\npackage lamp\n\n// Ignite lights the lamp.\nfunc Ignite(oil int) error { return nil }\n',
    'lamp_test.go': 'package lamp\n',
    'internal/wick/wick.go': 'package wick\n',
  }

  test('is read from the module cache, which writes capital letters with an exclamation mark', async () => {
    // As `go mod download` unpacks it.
    const installedAt = join(folder, 'cache/github.com/!tower/!lamp@v1.2.0')
    writeFiles(installedAt, MODULE)
    const tree = await open('pkg:golang/github.com/Tower/Lamp@v1.2.0', installedAt)
    expect(tree).toMatchObject({ name: 'github.com/Tower/Lamp', version: 'v1.2.0' })
    expect(await listTree(tree)).toEqual({
      'README.md': 'file',
      'lamp.go': 'file',
      'lamp_test.go': 'excluded not for readers',
      'go.mod': 'excluded neither documentation nor an interface',
      'internal/': 'excluded not for readers',
    })
    expect(await readText(tree, 'lamp.go')).toContain('Ignite lights the lamp')
  })

  test('is read from vendor only in the version that modules.txt names', async () => {
    writeFiles(folder, { 'vendor/modules.txt': '# tower.example/lamp v1.2.0\ntower.example/lamp\n' })
    writeFiles(join(folder, 'vendor/tower.example/lamp'), MODULE)
    const installedAt = join(folder, 'vendor/tower.example/lamp')
    const tree = await open('pkg:golang/tower.example/lamp@v1.2.0', installedAt)
    expect(await listTree(tree)).toHaveProperty('lamp.go', 'file')
    await expect(open('pkg:golang/tower.example/lamp@v1.3.0', installedAt)).rejects.toThrow()
  })

  test('has no files of another module that is vendored below it', async () => {
    writeFiles(folder, {
      'vendor/modules.txt': '# tower.example/lamp v1.2.0\n## explicit\n# tower.example/lamp/oil v0.3.0\n',
      'vendor/tower.example/lamp/lamp.go': MODULE['lamp.go'] ?? '',
      'vendor/tower.example/lamp/oil/oil.go': 'package oil\n',
      'vendor/tower.example/lamp/wick/wick.go': 'package wick\n',
    })
    const tree = await open('pkg:golang/tower.example/lamp@v1.2.0', join(folder, 'vendor/tower.example/lamp'))
    expect(await listTree(tree)).toEqual({ 'lamp.go': 'file', 'wick/wick.go': 'file' })
  })

  test('that is not installed is refused with the command that installs it', async () => {
    const openDownloads = async () =>
      openGuardedDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins: [] })
    await expect(openTree('pkg:golang/tower.example/lamp@v1.2.0', { openDownloads })).rejects.toMatchObject({
      details: { problem: expect.stringContaining('go mod download') },
    })
  })
})

test('an artifact of Maven is read from the sources in the local repository', async () => {
  const version = join(folder, 'org/tower/lens/4.0')
  fs.mkdirSync(version, { recursive: true })
  const jar = packFiles(join(version, 'lens-4.0-sources.zip'), {
    'org/tower/Lens.java': '/** Bundles light. */\npublic class Lens {}\n',
  })
  fs.renameSync(jar, join(version, 'lens-4.0-sources.jar'))
  writeFiles(version, { 'lens-4.0.pom': '<project><url>https://lens.example/docs</url></project>' })
  const tree = await open('pkg:maven/org.tower/lens@4.0', version)
  expect(tree).toMatchObject({ name: 'org.tower:lens', version: '4.0', documentation: ['https://lens.example/docs'] })
  expect(await readText(tree, 'org/tower/Lens.java')).toContain('Bundles light')
  await expect(open('pkg:maven/org.tower/lens@5.0', version)).rejects.toThrow('asked the registry')
})
