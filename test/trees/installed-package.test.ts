import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { OpenTree } from '../../src/library/ports/tree.ts'
import { createTempFolder, type Files, listTree, openTree, writeFiles } from './archive-fixture.ts'

let folder = ''

beforeEach(() => {
  folder = createTempFolder()
})

/** Opens a package that is installed in a folder. */
function open(address: string, installedAt: string): Promise<OpenTree> {
  const openDownloads = () => Promise.reject(new Error('asked the registry'))
  return openTree(address, { openDownloads }, { installedAt })
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
