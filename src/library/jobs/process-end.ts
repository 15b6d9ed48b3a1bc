import { ERRORS } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobStatus } from '../ports/job-log.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd, ProcessIdentity } from './runner.ts'
import type { TrackedJob } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** How long to wait for the end of a process after SIGTERM. */
export const TERM_GRACE_MS = 3_000
/** How long to wait for the end of a process after SIGKILL. */
export const KILL_TIMEOUT_MS = 2_000
/** Poll interval while waiting for the end of a process that this process did not start. */
const POLL_INTERVAL_MS = 25

/** Process end of a job without a process. */
export const NOT_STARTED: ProcessEnd = { code: null, signal: null, problem: null }

/** Whether a process was ended from outside. */
export function isInterruption({ code, signal }: ProcessEnd): boolean {
  return signal !== null || code === ERRORS.INTERRUPTED.exitCode
}

/** Status of an ended job: a process that exits with 0 means done, even if a stop was requested. */
export function statusOf({ requestedEnd }: TrackedJob, { code, problem }: ProcessEnd): JobStatus {
  if (problem === null && code === 0) return 'done'
  return requestedEnd ?? 'failed'
}

/** Explains why a job failed, without secrets, the path of the library or terminal commands. */
export function problemOf(job: TrackedJob, end: ProcessEnd, libraryPath: string): string {
  const [message = ''] = maskSecretFields(describeEnd(job, end)).split(' – ')
  const text = hideLibraryPath(message, libraryPath).replace(/^pharos: /, '')
  return /address-refused|not (?:a )?public/.test(text) ? `${text}; ${ALLOW_PRIVATE_HINT}` : text
}

/** The hint names the server or worker that runs the crawl, because each has its own setting. */
const ALLOW_PRIVATE_HINT =
  'the setting allowPrivate of the server or worker that runs the crawl decides which private hosts may be fetched'

/** Replaces the path of the library in a text. */
export function hideLibraryPath(text: string, libraryPath: string): string {
  return text.replaceAll(`the library ${libraryPath}`, 'the library').replaceAll(libraryPath, 'the library')
}

function describeEnd({ lastErrorLine, restarts }: TrackedJob, end: ProcessEnd): string {
  if (end.problem !== null) return end.problem
  if (isInterruption(end)) {
    return `the crawl process ended with ${end.signal ?? `code ${end.code}`} (attempt ${restarts + 1})`
  }
  return lastErrorLine ?? `the crawl process ended with code ${end.code} and no error message`
}

/** Ends processes: asks them to end, and kills those that do not. */
export async function endProcesses(clock: Clock, children: readonly CrawlProcess[]): Promise<void> {
  for (const child of children) child.kill('SIGTERM')
  const ended = Promise.all(children.map((child) => child.ended))
  await waitUpTo(clock, ended, TERM_GRACE_MS)
  for (const child of children) child.kill('SIGKILL')
  await waitUpTo(clock, ended, KILL_TIMEOUT_MS)
}

/** Ends a process that an earlier server left running, because its output is lost. */
export async function endLeftoverProcess(
  runner: CrawlRunner,
  clock: Clock,
  identity: ProcessIdentity | null,
): Promise<void> {
  if (identity === null || !runner.isAlive(identity)) return
  const waitUntilGone = async (withinMs: number) => {
    const until = clock.now() + withinMs
    while (runner.isAlive(identity) && clock.now() < until) await clock.sleep(POLL_INTERVAL_MS)
    return !runner.isAlive(identity)
  }
  runner.kill(identity, 'SIGTERM')
  if (await waitUntilGone(TERM_GRACE_MS)) return
  runner.kill(identity, 'SIGKILL')
  await waitUntilGone(KILL_TIMEOUT_MS)
}
