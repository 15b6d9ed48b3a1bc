import { open, rename, rm, stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../../cli/terminal.ts'
import { codeOf, PharosError } from '../../core/errors.ts'
import { writeExport } from '../gazetteer/write-export.ts'
import type { Gazetteer } from '../ports/gazetteer.ts'

/** Number of characters per write. */
const PIECE_LENGTH = 65_536

/** Writes all places to a stream, and respects back-pressure. */
export async function exportToStream(gazetteer: Gazetteer, output: Output, signal: AbortSignal): Promise<void> {
  if (!(output instanceof Writable)) {
    for await (const { text } of writePieces(gazetteer)) output.write(text)
    return
  }
  // If the reader closes the pipe, the export stops without an error.
  let isClosed = false
  const close = (): void => {
    isClosed = true
  }
  for (const event of ['error', 'close']) output.once(event, close)
  try {
    for await (const { text } of writePieces(gazetteer)) {
      output.write(text)
      while (output.writableNeedDrain && !isClosed) {
        signal.throwIfAborted()
        await sleep(2)
      }
      signal.throwIfAborted()
      if (isClosed) return
    }
  } finally {
    for (const event of ['error', 'close']) output.off(event, close)
  }
}

/** Writes all places to a file, which appears only when it is complete. */
export async function exportToFile(
  gazetteer: Gazetteer,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly places: number; readonly bytes: number }> {
  const unfinished = `${path}.${process.pid}.new`
  let lines = 0
  try {
    const file = await open(unfinished, 'w')
    try {
      for await (const piece of writePieces(gazetteer)) {
        signal.throwIfAborted()
        await file.write(piece.text)
        lines += piece.lines
      }
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    signal.throwIfAborted()
    const code = codeOf(error)
    if (code === '') throw error
    throw new PharosError('OUTPUT_REFUSED', { path, problem: PROBLEMS[code] ?? code }, { cause: error })
  }
  // The first line is a header.
  return { places: lines - 1, bytes: (await stat(path)).size }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
}

async function* writePieces(gazetteer: Gazetteer): AsyncGenerator<{ readonly text: string; readonly lines: number }> {
  let text = ''
  let lines = 0
  for await (const line of writeExport(gazetteer)) {
    text += line
    lines++
    if (text.length < PIECE_LENGTH) continue
    yield { text, lines }
    text = ''
    lines = 0
  }
  if (text !== '') yield { text, lines }
}
