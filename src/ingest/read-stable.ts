import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

/** Facts that show without reading whether a file is unchanged. */
export interface FileStamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

/** Result of reading a file. */
export type ReadOutcome =
  | { readonly type: 'read'; readonly bytes: Uint8Array; readonly stamp: FileStamp; readonly isStable: boolean }
  | { readonly type: 'too-large'; readonly size: number }
  | { readonly type: 'not-a-file' }

/** Number of attempts to read a file that keeps changing. */
const MAX_TRIES = 3

/**
 * Resolution of file times in milliseconds: writes within one step have the same time. A file written so recently is read again after the
 * step.
 */
const FILE_TIME_STEP_MS = 12

/** Opening does not wait for the writer of a pipe, and follows no link. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Reads a file consistently: a file that changes meanwhile is read again, and used as it is after three attempts. Never waits on a pipe,
 * never follows a link, never returns more than `maxBytes`.
 */
export async function readStable(path: string, maxBytes: number): Promise<ReadOutcome> {
  const file = await open(path, OPEN_FLAGS)
  try {
    for (let triesLeft = MAX_TRIES; ; triesLeft--) {
      const before = await file.stat()
      if (!before.isFile()) return { type: 'not-a-file' }
      if (before.size > maxBytes) return { type: 'too-large', size: before.size }
      const buffer = new Uint8Array(before.size + 1)
      let length = 0
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      const after = await file.stat()
      const isRecent = Math.abs(Date.now() - after.mtimeMs) < FILE_TIME_STEP_MS
      const isStable = length === after.size && isSameStamp(before, after) && !isRecent
      if (!isStable && triesLeft > 1) {
        if (isRecent) await setTimeout(FILE_TIME_STEP_MS)
        continue
      }
      const stamp = { size: after.size, mtimeMs: after.mtimeMs, ctimeMs: after.ctimeMs }
      return { type: 'read', bytes: buffer.subarray(0, Math.min(length, before.size)), stamp, isStable }
    }
  } finally {
    await file.close()
  }
}

/** The first bytes of a file; undefined when it is not a regular file. Never waits on a pipe, never follows a link. */
export function readBeginning(path: string, maxBytes: number): Uint8Array | undefined {
  const file = openSync(path, OPEN_FLAGS)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    const buffer = new Uint8Array(Math.min(maxBytes, stats.size))
    let length = 0
    while (length < buffer.length) {
      const bytesRead = readSync(file, buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return buffer.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Whether two stamps of a file are equal. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}
