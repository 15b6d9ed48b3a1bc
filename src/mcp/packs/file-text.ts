import type { Chunk } from '../../core/model.ts'
import { splitLines } from '../../core/text/lines.ts'

/**
 * The text of a file from its chunks in order. Lines that a chunk repeats from the one before are left out, and blank lines between chunks
 * are restored, so that lines have the numbers that citations give them. Chunks of converted documents do not have the lines of their file.
 */
export function writeFileText(chunks: readonly Chunk[]): string {
  const lines: string[] = []
  for (const { content, startLine, endLine, kind } of chunks) {
    const own = splitLines(content.replace(/(?<!\n)\n+$/, ''))
    const isVerbatim = kind !== 'html' && own.length <= endLine - startLine + 1
    const blankCount = isVerbatim ? startLine - 1 - lines.length : lines.length === 0 ? 0 : 1
    for (let i = 0; i < blankCount; i++) lines.push('')
    const repeated = isVerbatim ? lines.length - (startLine - 1) : 0
    const isRepeated = repeated > 0 && own.slice(0, repeated).every((line, i) => line === lines[startLine - 1 + i])
    for (const line of isRepeated ? own.slice(repeated) : own) lines.push(line)
  }
  return lines.join('\n')
}
