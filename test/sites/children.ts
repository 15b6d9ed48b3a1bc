import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { closeLater } from '../close-later.ts'

/** A process that crawls or searches. */
export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** The events that the process has written so far. */
  readonly lines: readonly { readonly type: string; readonly [name: string]: unknown }[]
  /** Resolves when the process has written the given number of events of a type. */
  waitForEvents(type: string, times?: number): Promise<void>
  /** Resolves when the process has exited. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
}

const SCRIPT = fileURLToPath(new URL('./crawl-child.ts', import.meta.url))

/** Starts a process that crawls or searches. It is killed after the test. */
export function startChild(...args: readonly string[]): Child {
  return startNode([SCRIPT, ...args])
}

/** Starts Node for a program that writes one JSON event per line to stdout. The process is killed after the test. */
export function startNode(args: readonly string[]): Child {
  const child = spawn(process.execPath, args)
  const lines: { type: string }[] = []
  const pendingChecks = new Set<() => void>()
  let stderr = ''
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString()
  })
  createInterface(child.stdout).on('line', (line) => {
    lines.push(JSON.parse(line) as { type: string })
    for (const check of pendingChecks) check()
  })
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }))
  })
  const waitForEvents = (type: string, times = 1) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (lines.filter((line) => line.type === type).length < times) return
        pendingChecks.delete(check)
        resolve()
      }
      pendingChecks.add(check)
      check()
      void ended.then(({ code }) => reject(new Error(`exited with ${code} before it wrote ${type}: ${stderr}`)))
    })
  closeLater(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { process: child, lines, waitForEvents, ended }
}

/** Waits for a crawling process to exit and expects that its crawl completed. */
export async function expectCompleted(child: Child): Promise<void> {
  const { code, stderr } = await child.ended
  const last = child.lines.at(-1)
  expect({ code, stderr, last }, JSON.stringify(last)).toMatchObject({
    code: 0,
    stderr: '',
    last: { type: 'ended', summary: { end: 'completed' } },
  })
}
