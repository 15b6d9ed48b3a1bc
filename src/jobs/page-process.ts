/*
 * The process that reads large pages and documents. It is apart because one that needs very much memory at once ends its whole process,
 * whatever a thread may have; and it reads in a thread, so that it sees at any time when whoever asks is gone.
 */
import { Worker } from 'node:worker_threads'
import type { PageAnswer, PageQuestion } from './page-worker.ts'

/** What it says when its thread ends. */
export interface PageEnd {
  readonly type: 'ended'
  readonly problem: string
}

const [threadMb = ''] = process.argv.slice(2)

const worker = new Worker(new URL(import.meta.url.replace(/page-process(\.\w+)$/, 'page-worker$1')), {
  resourceLimits: { maxOldGenerationSizeMb: Number(threadMb) },
})

let isReady = false
let asked: PageQuestion | undefined
let watch: NodeJS.Timeout | undefined

process.on('message', (question: PageQuestion) => {
  asked = question
  worker.postMessage(question)
  if (isReady) watchTime(question)
})
worker.on('message', (answer: PageAnswer) => {
  clearInterval(watch)
  if (answer.type === 'ready') {
    isReady = true
    // What it takes to start is no fault of the page.
    if (asked !== undefined) watchTime(asked)
  }
  process.send?.(answer)
})
worker.on('error', (error) => tellEnd(describeDeath(error)))
worker.on('exit', () => tellEnd('ends the process that reads it'))

// Whoever asks ends it, and knows better when: a terminal interrupts all processes at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit())

/** How often it is looked how long a page takes, at most. */
const LOOK_MS = 250

/** Gives a page up that computes for too long. The clock of the wall would do so to good ones when the machine is busy. */
function watchTime({ computeMs }: PageQuestion): void {
  const before = process.cpuUsage()
  const look = (): void => {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > computeMs) tellEnd(`takes longer than ${Math.round(computeMs / 100) / 10} s to read`)
  }
  watch = setInterval(look, Math.min(LOOK_MS, computeMs))
}

function tellEnd(problem: string): void {
  const end: PageEnd = { type: 'ended', problem }
  process.send?.(end)
}

function describeDeath(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'needs more memory than it may have' : 'ends the process that reads it'
}
