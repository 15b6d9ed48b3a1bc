import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import { openDownloads } from '../../src/fetch/download.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { choosePackages, createUseCheck } from '../../src/library/projects/choose-packages.ts'
import { listUnused, planProject, type WantedPackage } from '../../src/library/projects/plan-project.ts'
import { type SyncEvent, syncProject } from '../../src/library/projects/sync-project.ts'
import { labelOf, type Source } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { openProjectReader } from '../../src/project/open-project.ts'
import { openTestLibrary } from '../sites/crawl.ts'
import { createLibraryPath } from '../sites/file-fixture.ts'
import { createTempFolder, openReader, writeFiles } from '../trees/archive-fixture.ts'

const TOWER = { name: 'tower', folder: '/projects/tower' }
const HARBOUR = { name: 'harbour', folder: '/projects/harbour' }

let library: OpenLibrary
let modules = ''

beforeEach(async () => {
  modules = createTempFolder()
  const refuse = () => Promise.reject(new Error('the registry cannot be reached'))
  library = { ...(await openTestLibrary(await createLibraryPath())), trees: openReader({ openDownloads: refuse }) }
})

/** Installs a package, and returns how a project asks for it. */
function install(name: string, version: string, text = 'It shines.'): WantedPackage {
  const installedAt = join(modules, `${name}-${version}`)
  writeFiles(installedAt, {
    'package.json': JSON.stringify({ name, version }),
    'README.md': `# ${name}\n\n${text}\n`,
  })
  return { address: `pkg:npm/${name}@${version}`, installedAt }
}

async function sync(project: typeof TOWER, wanted: readonly WantedPackage[]): Promise<SyncEvent[]> {
  const events: SyncEvent[] = []
  const { signal } = new AbortController()
  for await (const event of syncProject(library, project, wanted, signal, useOf(wanted))) events.push(event)
  return events
}

/** Whether a source is one of these packages. */
function useOf(packages: readonly WantedPackage[]): (source: Source) => boolean {
  return ({ url }) => packages.some(({ address }) => address === url)
}

async function listLabels(): Promise<string[]> {
  return (await library.store.listSources()).map(labelOf).sort()
}

const resultOf = (events: readonly SyncEvent[]) => events.flatMap((one) => (one.type === 'ended' ? [one.result] : []))

test('reads each package at its version, and the next time only what moved', async () => {
  const lamp = install('lamp', '1.0.0')
  const wick = install('wick', '2.0.0')
  const first = await sync(TOWER, [lamp, wick])
  expect(resultOf(first)).toEqual([{ ready: 0, read: 2, failed: 0, dropped: 0 }])
  expect(await listLabels()).toEqual(['lamp@1.0.0', 'wick@2.0.0'])
  const newer = install('lamp', '1.1.0')
  const second = await sync(TOWER, [newer, wick])
  expect(resultOf(second)).toEqual([{ ready: 1, read: 1, failed: 0, dropped: 1 }])
  expect(second.flatMap((one) => (one.type === 'read' ? [labelOf(one.source)] : []))).toEqual(['lamp@1.1.0'])
  expect(await listLabels()).toEqual(['lamp@1.0.0', 'lamp@1.1.0', 'wick@2.0.0'])
  expect((await listUnused(library)).map(labelOf)).toEqual(['lamp@1.0.0'])
})

test('keeps one copy for all projects, which is in use while any of them uses it', async () => {
  const lamp = install('lamp', '1.0.0')
  await sync(TOWER, [lamp])
  expect(resultOf(await sync(HARBOUR, [lamp]))).toEqual([{ ready: 1, read: 0, failed: 0, dropped: 0 }])
  expect(await listLabels()).toEqual(['lamp@1.0.0'])
  await sync(TOWER, [])
  expect(await listUnused(library)).toEqual([])
  await sync(HARBOUR, [])
  expect((await listUnused(library)).map(labelOf)).toEqual(['lamp@1.0.0'])
  await sync(HARBOUR, [lamp])
  expect(await listUnused(library)).toEqual([])
})

test('reads the others if one package cannot be read, and tries that one again the next time', async () => {
  const lost: WantedPackage = { address: 'pkg:npm/lost@1.0.0', installedAt: join(modules, 'lost-1.0.0') }
  const events = await sync(TOWER, [lost, install('lamp', '1.0.0')])
  expect(resultOf(events)).toEqual([{ ready: 0, read: 1, failed: 1, dropped: 0 }])
  expect(events).toContainEqual({ type: 'failed', wanted: lost, problem: 'the registry cannot be reached', advice: '' })
  install('lost', '1.0.0')
  expect(resultOf(await sync(TOWER, [lost, install('lamp', '1.0.0')]))).toEqual([
    { ready: 1, read: 1, failed: 0, dropped: 0 },
  ])
})

test('a package that is only left out now still belongs to the project', async () => {
  const wanted = [install('lamp', '1.0.0'), install('wick', '2.0.0')]
  await sync(TOWER, wanted)
  for await (const _ of syncProject(library, TOWER, wanted.slice(0, 1), new AbortController().signal, useOf(wanted)));
  expect(await listUnused(library)).toEqual([])
})

test('gives a package another name if something else has its name and version', async () => {
  await addSource(library, { url: 'https://lamp.example/', name: 'lamp', version: '1.0.0' })
  await sync(TOWER, [install('lamp', '1.0.0')])
  expect(await listLabels()).toEqual(['lamp@1.0.0', 'npm:lamp@1.0.0'])
})

test('leaves sources alone that no project asked for', async () => {
  await addSource(library, { url: 'https://lamp.example/', name: 'guide' })
  await sync(TOWER, [install('lamp', '1.0.0')])
  await sync(TOWER, [])
  expect((await listUnused(library)).map(labelOf)).toEqual(['lamp@1.0.0'])
})

test('never lists a package as unused that the user added', async () => {
  const lamp = install('lamp', '1.0.0')
  await addSource(library, { url: lamp.address, version: '1.0.0' })
  await sync(TOWER, [lamp])
  await sync(TOWER, [])
  expect(await listUnused(library)).toEqual([])
})

test('reads a package where it is installed now, although it was added without', async () => {
  const { address } = install('lamp', '1.0.0')
  await addSource(library, { url: address, version: '1.0.0' })
  expect(resultOf(await sync(TOWER, [install('lamp', '1.0.0')]))).toEqual([
    { ready: 0, read: 1, failed: 0, dropped: 0 },
  ])
})

test('reads a package again if its @types package moved', async () => {
  const lamp = install('lamp', '1.0.0')
  const typed = (version: string): WantedPackage => {
    const folder = join(modules, `types-${version}`)
    const declarations = `export declare function light${version.replaceAll('.', '')}(): void\n`
    writeFiles(folder, {
      'package.json': JSON.stringify({ name: '@types/lamp', version, types: 'index.d.ts' }),
      'index.d.ts': declarations,
    })
    return { ...lamp, types: { folder, version } }
  }
  await sync(TOWER, [typed('1.2.0')])
  expect(resultOf(await sync(TOWER, [typed('1.2.0')]))).toMatchObject([{ ready: 1, read: 0 }])
  expect(resultOf(await sync(TOWER, [typed('1.3.0')]))).toMatchObject([{ ready: 0, read: 1 }])
  expect(resultOf(await sync(TOWER, [lamp]))).toMatchObject([{ ready: 1 }])
  const [source] = await library.store.listSources()
  const rows = await library.store.listRows(source?.id ?? '', { state: 'indexed', limit: 10 })
  expect(rows.map(({ key }) => key).join()).toContain('@types/index.d.ts.md')
})

test('leaves out @types/x only if x is taken in, also if both are in different folders of a workspace', async () => {
  const manifest = (name: string, fields: object = {}) => JSON.stringify({ name, version: '1.0.0', ...fields })
  const lock = {
    name: 'tower',
    lockfileVersion: 3,
    packages: {
      '': { name: 'tower', workspaces: ['app'], devDependencies: { '@types/wick': '1' } },
      app: { name: 'app', version: '1.0.0', dependencies: { lamp: '1', '@types/lamp': '1', '@types/wick': '1' } },
      'node_modules/app': { resolved: 'app', link: true },
      'node_modules/@types/lamp': { version: '1.0.0' },
      'node_modules/@types/wick': { version: '1.0.0' },
      'app/node_modules/lamp': { version: '1.0.0', dependencies: { wick: '1' } },
      'node_modules/wick': { version: '1.0.0' },
    },
  }
  writeFiles(modules, {
    'package.json': manifest('tower', { workspaces: ['app'], devDependencies: { '@types/wick': '1' } }),
    'app/package.json': manifest('app', { dependencies: { lamp: '1', '@types/lamp': '1', '@types/wick': '1' } }),
    'package-lock.json': JSON.stringify(lock),
    'node_modules/@types/lamp/package.json': manifest('@types/lamp'),
    'node_modules/@types/wick/package.json': manifest('@types/wick'),
    'app/node_modules/lamp/package.json': manifest('lamp'),
    'node_modules/wick/package.json': manifest('wick'),
  })
  const { packages } = await openProjectReader({ home: modules }).read(modules)
  const names = (all: boolean) => choosePackages(packages, { all }).map(({ name }) => name)
  expect(names(false)).toEqual(['@types/wick', 'lamp'])
  expect(names(true)).toEqual(['lamp', 'wick'])
  expect(packages.find(({ name }) => name === 'lamp')?.types).toMatchObject({
    folder: expect.stringMatching(/node_modules[/\\]@types[/\\]lamp$/),
    version: '1.0.0',
  })
})

test('a package whose version is not known counts as used in every version', () => {
  const unknown = { type: 'npm', name: '@a/lamp', version: null, isDirect: true, isDev: false, address: null }
  const isUsed = createUseCheck([unknown])
  expect(isUsed({ url: 'pkg:npm/%40a/lamp@1.0.0' })).toBe(true)
  expect(isUsed({ url: 'pkg:npm/lamp@1.0.0' })).toBe(false)
  expect(isUsed({ url: 'pkg:pypi/lamp@1.0.0' })).toBe(false)
})

test('tells the state of each package without changing anything', async () => {
  const lamp = install('lamp', '1.0.0')
  await sync(TOWER, [lamp])
  const wanted = [lamp, install('lamp', '2.0.0'), install('wick', '1.0.0')]
  const { packages, dropped } = await planProject(library, TOWER, wanted, useOf(wanted))
  expect(packages.map(({ state, otherVersions }) => ({ state, otherVersions }))).toEqual([
    { state: 'ready', otherVersions: [] },
    { state: 'missing', otherVersions: ['1.0.0'] },
    { state: 'missing', otherVersions: [] },
  ])
  expect(dropped).toEqual([])
  expect(await listLabels()).toEqual(['lamp@1.0.0'])
})

test('a stopped synchronisation keeps what it has read, and the next one goes on', async () => {
  const wanted = [install('lamp', '1.0.0'), install('wick', '1.0.0')]
  const stop = new AbortController()
  const reading = async () => {
    for await (const event of syncProject(library, TOWER, wanted, stop.signal, useOf(wanted)))
      if (event.type === 'read') stop.abort()
  }
  await expect(reading()).rejects.toThrow('aborted')
  expect(await listLabels()).toEqual(['lamp@1.0.0'])
  fs.rmSync(wanted[0]?.installedAt ?? '', { recursive: true })
  expect(resultOf(await sync(TOWER, wanted))).toEqual([{ ready: 1, read: 1, failed: 0, dropped: 0 }])
})

test('asks no registry that only the settings of the project name, and says what to do', async () => {
  const wanted: WantedPackage = { address: 'pkg:npm/lamp@1.0.0', registries: ['https://npm.wrecker.example'] }
  const [, failed] = await sync(TOWER, [wanted])
  expect(failed).toMatchObject({ type: 'failed', wanted })
  expect(failed).toHaveProperty(
    'problem',
    expect.stringContaining('the settings of its project name the registry https://npm.wrecker.example'),
  )
  expect(await listLabels()).toEqual([])
})

test('reads an installed package whatever registry the project names, and asks none for it later', async () => {
  const lamp = { ...install('lamp', '1.0.0'), registries: ['https://npm.wrecker.example'] }
  await sync(TOWER, [lamp])
  const [source] = await library.store.listSources()
  expect(source?.settings).toMatchObject({ installedAt: lamp.installedAt })
  expect(source?.settings).not.toHaveProperty('registry')
  fs.rmSync(lamp.installedAt ?? '', { recursive: true })
  const trees = openReader({
    openDownloads: async () => openDownloads({ userAgent: 'Pharos/0.0.0', allowance: PUBLIC_ONLY, origins: [] }),
  })
  const crawl = async () => {
    if (source === undefined) throw new Error('there is no source')
    for await (const _ of crawlSource(
      { ...library, trees },
      source,
      { kind: 'recrawl' },
      new AbortController().signal,
    ));
  }
  await expect(crawl()).rejects.toThrow('it is not installed there any more, and its registry is not known')
})

test('reads a package again whose registry an earlier version did not record, unless it has a public page', async () => {
  const lamp: WantedPackage = { address: 'pkg:npm/lamp@1.0.0', registries: ['https://registry.npmjs.org'] }
  await sync(TOWER, [install('lamp', '1.0.0')])
  const [source] = await library.store.listSources()
  if (source === undefined) throw new Error('there is no source')
  const stateOf = async (change: Partial<Source['settings']>) => {
    const { installedAt: _folder, registry: _registry, ...settings } = source.settings
    await library.store.updateSource(source.id, { settings: { ...settings, ...change } })
    return (await planProject(library, TOWER, [lamp], () => true)).packages.map(({ state }) => state)
  }
  expect(await stateOf({})).toEqual(['incomplete'])
  expect(await stateOf({ packagePage: 'https://www.npmjs.com/package/lamp/v/1.0.0' })).toEqual(['ready'])
  expect(await stateOf({ registry: 'https://npm.wrecker.example' })).toEqual(['missing'])
  expect(await stateOf({ registry: 'https://registry.npmjs.org' })).toEqual(['ready'])
})

test('takes a package of a further registry only after asking the first', async () => {
  const registries = ['simple+https://first.example', 'https://pypi.org']
  const wanted: WantedPackage = { address: 'pkg:pypi/lamp@1.0.0', registries }
  const settings = { registry: 'https://pypi.org', archive: `sha256-${'a'.repeat(64)}` }
  const source = await addSource(library, { url: wanted.address, version: '1.0.0', settings })
  const choose = async () => (await planProject(library, TOWER, [wanted], () => true)).packages.map((one) => one.source)
  expect(await choose()).toEqual([undefined])
  await library.store.updateSource(source.id, { settings: { ...source.settings, projects: [TOWER] } })
  expect(await choose()).toMatchObject([{ id: source.id }])
})

test('does not replace what others use by the folder of a project with other declarations', async () => {
  const typesOf = (version: string) => ({ folder: join(modules, `types-${version}`), version })
  const lamp = { ...install('lamp', '1.0.0'), types: typesOf('1.0.0') }
  await sync(TOWER, [lamp])
  const other = { ...install('lamp', '1.0.0'), types: typesOf('2.0.0') }
  expect(resultOf(await sync(HARBOUR, [other]))).toEqual([{ ready: 1, read: 0, failed: 0, dropped: 0 }])
  await sync(HARBOUR, [])
  expect(resultOf(await sync(TOWER, [other]))).toEqual([{ ready: 0, read: 1, failed: 0, dropped: 0 }])
})

test('keeps a source of an unknown registry for those who use it', async () => {
  await sync(TOWER, [install('lamp', '1.0.0')])
  const [source] = await library.store.listSources()
  if (source === undefined) throw new Error('there is no source')
  const { installedAt: _folder, registry: _registry, ...settings } = source.settings
  await library.store.updateSource(source.id, { settings })
  const lamp: WantedPackage = { address: 'pkg:npm/lamp@1.0.0', registries: ['https://npm.wrecker.example'] }
  const stateFor = async (project: typeof TOWER) =>
    (await planProject(library, project, [lamp], () => true)).packages.map(({ state }) => state)
  expect(await stateFor(TOWER)).toEqual(['incomplete'])
  expect(await stateFor(HARBOUR)).toEqual(['missing'])
})

test('names a source by a registry whose path has an @', async () => {
  const settings = { registry: 'https://other.example', archive: `sha256-${'a'.repeat(64)}` }
  await addSource(library, { url: 'pkg:npm/%40a/lamp@1.0.0', name: 'a/lamp', version: '1.0.0', settings })
  const installedAt = join(modules, 'scoped')
  writeFiles(installedAt, { 'package.json': JSON.stringify({ name: '@a/lamp', version: '1.0.0' }), 'README.md': '# L' })
  await sync(TOWER, [{ address: 'pkg:npm/%40a/lamp@1.0.0', installedAt, registries: ['https://npm.example/@a/npm'] }])
  expect(await listLabels()).toEqual(['a/lamp@1.0.0', 'npm.example/-a/npm/a/lamp@1.0.0'])
})
