import { PharosError } from '../core/errors.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Does work that Ctrl-C, a polite kill and a closed terminal stop at the next good place, so that nothing half-written
 * stays. A second signal ends the program at once. `onStop` is told of the first.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, onStop?: () => void): Promise<T> {
  const interrupt = new AbortController()
  const stop = () => {
    release()
    onStop?.()
    interrupt.abort(new PharosError('INTERRUPTED'))
  }
  const release = () => {
    for (const name of SIGNALS) process.off(name, stop)
  }
  for (const name of SIGNALS) process.on(name, stop)
  try {
    return await work(interrupt.signal)
  } finally {
    release()
  }
}
