import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { browserCommand } from '../config.ts'
import { PharosError } from '../core/errors.ts'

/** How long a program may take to report that it cannot open an address. A browser that runs longer has opened it. */
const FAILURE_TIMEOUT_MS = 1000

/**
 * Opens a web address, or a file as its path, with the program of the user. No shell is involved, so that nothing in an address can become
 * a command. Throws `OPEN_FAILED` for other addresses, and if the program fails at once.
 */
export async function openInBrowser(address: string): Promise<void> {
  const [command = '', ...args] = planOpening(address)
  const isExplorer = command === 'explorer'
  // Explorer does not understand the quotes that Node would put around its option.
  const options = { stdio: 'ignore', detached: true, shell: false, windowsVerbatimArguments: isExplorer } as const
  const child = spawn(command, args, options)
  const ended = once(child, 'exit').then(
    // Explorer ends with 1 even if it has opened a window.
    ([code]) => (code === 0 || isExplorer ? undefined : `${command} ended with ${code ?? 'a signal'}`),
    () => `${command} cannot be started`,
  )
  const problem = await Promise.race([ended, sleep(FAILURE_TIMEOUT_MS, undefined, { ref: false })])
  child.unref()
  if (problem !== undefined) {
    throw new PharosError('OPEN_FAILED', { address, problem, advice: 'set BROWSER to a program that opens addresses' })
  }
}

/** The command that opens an address, with its arguments. */
export function planOpening(
  address: string,
  environment?: Readonly<Record<string, string | undefined>>,
  platform: string = process.platform,
): string[] {
  const { kind, target } = findTarget(address, platform)
  const [command = '', ...args] = browserCommand(kind, environment, platform)
  const hasPlace = args.some((arg) => arg.includes('%s'))
  return [command, ...(hasPlace ? args.map((arg) => arg.replaceAll('%s', () => target)) : [...args, target])]
}

/** The address, or the path of a file, that is given to the program. */
function findTarget(address: string, platform: string): { readonly kind: 'web' | 'file'; readonly target: string } {
  const url = URL.parse(address)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { kind: 'web', target: url.href }
  const path = url?.protocol === 'file:' ? findPath(url, platform) : undefined
  if (path !== undefined) return { kind: 'file', target: path }
  const advice = 'read it with `pharos read`; only pages on the web and files of this machine can be opened'
  throw new PharosError('OPEN_FAILED', { address, problem: 'it is neither a web page nor a file', advice })
}

/** The path of a file address; undefined if no file of this system can have it. */
function findPath(url: URL, platform: string): string | undefined {
  const isWindows = platform === 'win32'
  try {
    const path = fileURLToPath(`file://${url.host}${url.pathname}`, { windows: isWindows })
    // A quote would end the argument of Explorer.
    return isWindows && path.includes('"') ? undefined : path
  } catch {
    return undefined
  }
}
