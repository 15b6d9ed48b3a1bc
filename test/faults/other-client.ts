import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What another program does with a library. */
export interface ClientRequest {
  readonly task: 'read' | 'check' | 'find-lock'
  readonly path: string
}

/** A program other than Pharos that opens libraries with SQLite, reads them and closes them. */
export class OtherClient {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'client-child.ts'))
  #last: Promise<unknown> = Promise.resolve()

  /** Opens a library, reads it, and closes it. */
  async read(path: string): Promise<void> {
    await this.#ask({ task: 'read', path })
  }

  /** The result of `integrity_check`. */
  check(path: string): Promise<string> {
    return this.#ask({ task: 'check', path })
  }

  /** Whether any process holds the lock that keeps the log of an open library from being deleted. */
  async findsLock(path: string): Promise<boolean> {
    return (await this.#ask({ task: 'find-lock', path })) === 'held'
  }

  close(): void {
    this.#child.disconnect()
  }

  async #ask(request: ClientRequest): Promise<string> {
    const answer = this.#last.then(async () => {
      this.#child.send(request)
      // The program sends nothing else.
      const [{ result, error }] = (await once(this.#child, 'message')) as [{ result?: string; error?: string }]
      if (result === undefined) throw new Error(error)
      return result
    })
    this.#last = answer.catch(() => undefined)
    return answer
  }
}

/** What is wrong with the files by which a process has a library open; empty where the system does not show it. */
export async function findLostLock(pid: number, path: string): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const opened = listOpenFiles(pid, path)
  const deleted = opened.filter((file) => file.endsWith(' (deleted)'))
  if (deleted.length > 0 || !opened.some((file) => file.endsWith('-wal')) || isLocked(pid, path)) return deleted
  // The process may be about to open or close the library.
  await sleep(50)
  return listOpenFiles(pid, path).some((file) => file.endsWith('-wal')) && !isLocked(pid, path)
    ? [`${pid} has lost its lock on ${path}`]
    : []
}

function listOpenFiles(pid: number, path: string): string[] {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).flatMap((name) => readLink(`/proc/${pid}/fd/${name}`))
    return links.filter((link) => link.startsWith(path))
  } catch {
    // The process has ended.
    return []
  }
}

function readLink(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}

/** Whether a process holds a lock on a file, as `/proc/locks` shows it: `1: POSIX  ADVISORY  READ 4711 fe:00:2146323 …`. */
function isLocked(pid: number, path: string): boolean {
  const { ino } = statSync(path)
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  return lines.some((line) => line.includes(` ${pid} `) && line.includes(`:${ino} `))
}
