import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../core/errors.ts'
import { InstallError } from './install-error.ts'

/**
 * Lets the user's npm download the tarball of a package into a temporary folder and passes it to `use`, then deletes it. npm's
 * configuration decides where the package comes from; no code of the package runs.
 */
export async function withNpmTarball(
  spec: string,
  signal: AbortSignal | undefined,
  use: (tarball: string) => Promise<void>,
): Promise<void> {
  // The folder is outside of any project, because the npm settings of a project must not apply.
  const folder = await mkdtemp(join(tmpdir(), 'pharos-npm-'))
  try {
    await use(await packInto(folder, spec, signal))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function packInto(folder: string, spec: string, signal: AbortSignal | undefined): Promise<string> {
  const { code, output } = await runNpm(
    ['pack', spec, '--ignore-scripts', '--pack-destination', folder, '--loglevel=error', '--no-update-notifier'],
    folder,
    signal,
  )
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (code === 0 && tarball !== undefined) return join(folder, tarball)
  throw new InstallError(`npm cannot fetch ${spec}: ${readNpmError(output)}`, adviceFor(output))
}

interface NpmRun {
  readonly code: number | null
  readonly output: string
}

function runNpm(args: readonly string[], folder: string, signal: AbortSignal | undefined): Promise<NpmRun> {
  return new Promise((resolve, reject) => {
    // On Windows npm is a script that needs a shell; none of its arguments comes from untrusted input.
    const child = spawn('npm', args, {
      cwd: folder,
      shell: process.platform === 'win32',
      ...(signal ? { signal } : {}),
    })
    let output = ''
    const append = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-4000)
    }
    child.stdout.on('data', append)
    child.stderr.on('data', append)
    child.on('error', (error) => {
      const isMissing = codeOf(error) === 'ENOENT'
      reject(
        isMissing
          ? new InstallError(
              'npm was not found',
              'install npm, which comes with Node, or use --from <folder> with a folder that contains the files',
            )
          : error,
      )
    })
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** The first message of npm about a failure, without its prefix and without lines that only name the failure. */
function readNpmError(output: string): string {
  const messages = output
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (.*\S)/.exec(line)?.[1] ?? [])
    .filter((line) => !/^(?:code|syscall|errno|path|dest|A complete log) /.test(line))
  return messages[0]?.replace(/^(?:enoent|notarget|\d{3}) /, '') ?? 'no reason was given'
}

function adviceFor(output: string): string {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET/.test(output)) {
    return 'check the network and the npm registry in use, then run the same command again, or use --from'
  }
  if (/ENOSPC/.test(output)) return 'free about 250 MB, then run the same command again'
  if (/E404|ETARGET/.test(output)) {
    return 'the npm registry in use does not have this package version: configure another registry, or use --from'
  }
  return 'try `npm ping`, then run the same command again, or use --from'
}
