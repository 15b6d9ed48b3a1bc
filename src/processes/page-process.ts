/*
 * The process that reads large pages and documents. It is separate, because a page that needs too much memory at once ends its whole
 * process, whatever the limits of a thread. It reads in a thread, so that it notices at any time that its parent has died.
 */
import { Worker } from 'node:worker_threads'
import { codeOf } from '../core/errors.ts'
import type { PageReply, PageRequest } from './page-worker.ts'

/** The message that gives up the current page: the thread has ended, or the page takes too much CPU time. */
export interface WorkerEnd {
  readonly type: 'ended'
  readonly problem: string
}

const [threadMb = ''] = process.argv.slice(2)

const worker = new Worker(new URL(import.meta.url.replace(/page-process(\.\w+)$/, 'page-worker$1')), {
  resourceLimits: { maxOldGenerationSizeMb: Number(threadMb) },
})

let isReady = false
let currentRequest: PageRequest | undefined
let cpuTimer: NodeJS.Timeout | undefined

process.on('message', (request: PageRequest) => {
  currentRequest = request
  worker.postMessage(request)
  if (isReady) limitCpuTime(request)
})
worker.on('message', (answer: PageReply) => {
  clearInterval(cpuTimer)
  if (answer.type === 'ready') {
    isReady = true
    // The time to start does not count towards the limit of the page.
    if (currentRequest !== undefined) limitCpuTime(currentRequest)
  }
  process.send?.(answer)
})
worker.on('error', (error) => tellEnd(describeDeath(error)))
worker.on('exit', () => tellEnd('crashes the process that reads it'))

// The parent ends this process at the right time; a terminal sends its signals to all processes at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit())

/** Maximum interval between checks of the CPU time. */
const CPU_POLL_INTERVAL_MS = 250

/** Gives up a page that uses too much CPU time. A wall-clock limit would hit good pages when the machine is busy. */
function limitCpuTime({ maxCpuMs }: PageRequest): void {
  const before = process.cpuUsage()
  const checkCpuTime = (): void => {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > maxCpuMs) tellEnd(`takes longer than ${Math.round(maxCpuMs / 100) / 10} s to read`)
  }
  cpuTimer = setInterval(checkCpuTime, Math.min(CPU_POLL_INTERVAL_MS, maxCpuMs))
}

function tellEnd(problem: string): void {
  const end: WorkerEnd = { type: 'ended', problem }
  process.send?.(end)
}

function describeDeath(error: unknown): string {
  const isOutOfMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  return isOutOfMemory ? 'needs more memory than allowed' : 'crashes the process that reads it'
}
