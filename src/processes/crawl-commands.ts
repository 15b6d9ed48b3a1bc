import type { CrawlControl } from '../crawl/control.ts'

/** The state that commands control, and the function that executes them. */
export interface CrawlCommands {
  readonly control: CrawlControl
  /** Executes a command; other lines are ignored. */
  readonly execute: (line: string) => void
}

/** Creates the initial state: not paused, with the concurrency of the crawl itself. */
export function createCrawlCommands(): CrawlCommands {
  let isPaused = false
  let maxVisits = Number.POSITIVE_INFINITY
  const waiters = new Set<() => void>()
  const wakeAll = () => {
    for (const wake of waiters) wake()
  }
  return {
    control: {
      get isPaused() {
        return isPaused
      },
      get maxVisits() {
        return maxVisits
      },
      waitForChange: (signal) =>
        new Promise((resolve, reject) => {
          const cleanUp = () => {
            waiters.delete(wake)
            signal.removeEventListener('abort', stop)
          }
          const wake = () => {
            cleanUp()
            resolve()
          }
          const stop = () => {
            cleanUp()
            reject(signal.reason)
          }
          if (signal.aborted) stop()
          else {
            waiters.add(wake)
            signal.addEventListener('abort', stop)
          }
        }),
    },
    execute(line) {
      const [, count] = /^CONCURRENCY ([1-9]\d{0,5})$/.exec(line) ?? []
      if (line === 'PAUSE') isPaused = true
      else if (line === 'RESUME') isPaused = false
      else if (count !== undefined) maxVisits = Number(count)
      else return
      wakeAll()
    },
  }
}
