/*
 * The process that reads large pages and documents. It is separate, because a page that needs too much memory at once ends its whole
 * process, whatever the limits of a thread. It reads in a thread, so that it notices at any time that its parent has died.
 */
import { Worker } from 'node:worker_threads'
import { codeOf } from '../core/errors.ts'
import type { PageReply, PageRequest } from './page-worker.ts'

/** The message that gives up the current page: the thread has ended, or the page takes too much CPU time or memory. */
export interface WorkerEnd {
  readonly type: 'ended'
  readonly problem: string
}

const [threadMb = '', bufferMb = ''] = process.argv.slice(2)

const worker = new Worker(new URL(import.meta.url.replace(/page-process(\.\w+)$/, 'page-worker$1')), {
  resourceLimits: { maxOldGenerationSizeMb: Number(threadMb) },
})

let isReady = false
let currentRequest: PageRequest | undefined
let usageTimer: NodeJS.Timeout | undefined

process.on('message', (request: PageRequest) => {
  currentRequest = request
  worker.postMessage(request)
  if (isReady) limitUsage(request)
})
worker.on('message', (answer: PageReply) => {
  clearInterval(usageTimer)
  if (answer.type === 'ready') {
    isReady = true
    // The time to start does not count towards the limits of the page.
    if (currentRequest !== undefined) limitUsage(currentRequest)
  }
  process.send?.({ ...answer, isLarge: process.memoryUsage.rss() > MAX_IDLE_BYTES })
})
worker.on('error', (error) => tellEnd(describeDeath(error)))
worker.on('exit', () => tellEnd('crashes the process that reads it'))

// The parent ends this process at the right time; a terminal sends its signals to all processes at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit())

/** Maximum interval between checks of the usage. A page fills less than a gigabyte in this time. */
const USAGE_POLL_INTERVAL_MS = 100
const MEGABYTE = 1_048_576
/** A process that still has more than this after a page is ended, so that the next page has all the memory that it may use. */
const MAX_IDLE_BYTES = 400 * MEGABYTE
/** How often the body of a page may be in memory: as a message, in both threads and as text. */
const BODY_COPIES = 4

/**
 * Gives up a page that uses too much CPU time or memory. A wall-clock limit would hit good pages when the machine is busy, and the heap limit
 * of the thread does not count buffers.
 */
function limitUsage({ maxCpuMs, snapshot }: PageRequest): void {
  const before = process.cpuUsage()
  const maxBytes = (Number(threadMb) + Number(bufferMb)) * MEGABYTE + BODY_COPIES * snapshot.body.length
  const checkUsage = (): void => {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > maxCpuMs) tellEnd(`takes longer than ${Math.round(maxCpuMs / 100) / 10} s to read`)
    else if (process.memoryUsage.rss() > maxBytes) tellEnd('needs more memory than allowed')
  }
  usageTimer = setInterval(checkUsage, Math.min(USAGE_POLL_INTERVAL_MS, maxCpuMs))
}

function tellEnd(problem: string): void {
  const end: WorkerEnd = { type: 'ended', problem }
  process.send?.(end)
}

function describeDeath(error: unknown): string {
  const isOutOfMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  return isOutOfMemory ? 'needs more memory than allowed' : 'crashes the process that reads it'
}
