import { PharosError } from '../core/errors.ts'
import type { Terminal } from './terminal.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work that SIGINT, SIGTERM and SIGHUP cancel at the next safe point, so that nothing half-written stays. A second signal ends the
 * program immediately. `onStop` is called on the first signal.
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

/** Runs {@link interruptible} work that shows its progress: notes the first signal, and clears the progress at the end. */
export async function interruptibleAt<T>(terminal: Terminal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await interruptible(work, () => {
      if (terminal.isLive) terminal.note('stopping … (press Ctrl-C again to stop at once)')
    })
  } finally {
    terminal.clear()
  }
}
