import type { CrawlControl } from '../crawl/control.ts'

/** What is asked of a crawl, and the lines that ask it. */
export interface Switches {
  readonly control: CrawlControl
  /** Obeys a line; one that is no command is left alone. */
  readonly obey: (line: string) => void
}

/** Creates them: nothing is paused, and as many visits are made at once as the crawl itself allows. */
export function createSwitches(): Switches {
  let isPaused = false
  let maxVisits = Number.POSITIVE_INFINITY
  const waiting = new Set<() => void>()
  const tell = () => {
    for (const wake of waiting) wake()
  }
  return {
    control: {
      get isPaused() {
        return isPaused
      },
      get maxVisits() {
        return maxVisits
      },
      changed: (signal) =>
        new Promise((resolve, reject) => {
          const end = () => {
            waiting.delete(wake)
            signal.removeEventListener('abort', stop)
          }
          const wake = () => {
            end()
            resolve()
          }
          const stop = () => {
            end()
            reject(signal.reason)
          }
          if (signal.aborted) stop()
          else {
            waiting.add(wake)
            signal.addEventListener('abort', stop)
          }
        }),
    },
    obey(line) {
      const [, count] = /^CONCURRENCY ([1-9]\d{0,5})$/.exec(line) ?? []
      if (line === 'PAUSE') isPaused = true
      else if (line === 'RESUME') isPaused = false
      else if (count !== undefined) maxVisits = Number(count)
      else return
      tell()
    },
  }
}
