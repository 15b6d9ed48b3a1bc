import { type Frame, type FrameType, parseFrame } from '../../src/library/jobs/events/frames.ts'
import type { CrawlProcess, ProcessEnd } from '../../src/library/jobs/runner.ts'
import { createSpawnRunner, type SpawnOptions } from '../../src/processes/spawn-crawl.ts'
import { closeLater } from '../close-later.ts'
import { PROGRAM } from '../e2e/program.ts'

/** The command that starts the program with permission to fetch from this machine. */
export const CRAWL_JOB: SpawnOptions & { readonly env: NodeJS.ProcessEnv } = {
  command: process.execPath,
  args: [PROGRAM, 'crawl-job'],
  env: { ...process.env, PHAROS_ALLOW_PRIVATE: '127.0.0.0/8' },
}

const runner = createSpawnRunner(CRAWL_JOB)

/** A crawl process with its output. */
export interface TestProcess {
  readonly process: CrawlProcess
  readonly frames: readonly Frame[]
  /** Lines of stdout that are not frames. */
  readonly lines: readonly string[]
  readonly errors: readonly string[]
  /** Data of all frames of a type. */
  all<T extends FrameType>(type: T): Extract<Frame, { type: T }>['data'][]
  /** Resolves when the process has written a matching frame. */
  waitForFrame(isMatch: (frame: Frame) => boolean): Promise<void>
  readonly ended: Promise<ProcessEnd>
}

/** Starts a crawl process. It is killed after the test. */
export function startProcess(args: readonly string[]): TestProcess {
  const frames: Frame[] = []
  const lines: string[] = []
  const errors: string[] = []
  const pendingChecks = new Set<() => void>()
  const child = runner.start(args, (stream, line) => {
    const frame = stream === 'stdout' ? parseFrame(line) : undefined
    if (frame !== undefined) frames.push(frame)
    else (stream === 'stdout' ? lines : errors).push(line)
    for (const check of pendingChecks) check()
  })
  closeLater(async () => {
    child.kill('SIGKILL')
    await child.ended
  })
  return {
    process: child,
    frames,
    lines,
    errors,
    // The type of a frame determines the type of its data.
    all: (type) => frames.filter((frame) => frame.type === type).map(({ data }) => data as never),
    waitForFrame: (isMatch) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!frames.some(isMatch)) return
          pendingChecks.delete(check)
          resolve()
        }
        pendingChecks.add(check)
        check()
        void child.ended.then((end) => reject(new Error(`ended with ${JSON.stringify(end)}: ${errors.join('\n')}`)))
      }),
    ended: child.ended,
  }
}
