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
  const [command = '', ...args] = browserCommand()
  const target = findTarget(address)
  const hasPlace = args.some((arg) => arg.includes('%s'))
  const filled = hasPlace ? args.map((arg) => arg.replaceAll('%s', () => target)) : [...args, target]
  const child = spawn(command, filled, { stdio: 'ignore', detached: true, shell: false })
  const ended = once(child, 'exit').then(
    ([code]) => (code === 0 ? undefined : `${command} ended with ${code ?? 'a signal'}`),
    () => `${command} cannot be started`,
  )
  const problem = await Promise.race([ended, sleep(FAILURE_TIMEOUT_MS, undefined, { ref: false })])
  child.unref()
  if (problem !== undefined) {
    throw new PharosError('OPEN_FAILED', { address, problem, advice: 'set BROWSER to a program that opens addresses' })
  }
}

/** The address, or the path of a file, that is given to the program. */
function findTarget(address: string): string {
  const url = URL.parse(address)
  if (url?.protocol === 'file:') {
    url.hash = ''
    url.search = ''
    return fileURLToPath(url)
  }
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href
  const advice = 'read it with `pharos read`; only pages on the web and files of this machine can be opened'
  throw new PharosError('OPEN_FAILED', { address, problem: 'it is neither a web page nor a file', advice })
}
