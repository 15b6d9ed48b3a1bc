import { z } from 'zod'
import { usageError } from '../core/errors.ts'
import { estimateTokens } from '../core/text/estimate.ts'
import { clipText, splitLines } from '../core/text/lines.ts'
import { readNumber } from './arguments.ts'
import { number, type OptionalNumber, type OrNull, orNull, unlisted } from './schemas.ts'

const TOKENS = { default: 10_000, minimum: 1, maximum: 100_000 } as const

/** The parameters that select a part of a long text. */
export const PART: Readonly<Record<'startLine' | 'startColumn' | 'tokens', OptionalNumber>> = {
  startLine: number(),
  startColumn: number(),
  tokens: number(),
}

type PartPositionShape = Readonly<
  Record<'startLine' | 'endLine' | 'totalLines', z.ZodNumber> & Record<'nextLine' | 'nextColumn', OrNull<z.ZodNumber>>
>

/** The position of a page part in a response. */
export const PART_POSITION: PartPositionShape = {
  startLine: unlisted(z.number()),
  endLine: unlisted(z.number()),
  totalLines: z.number(),
  nextLine: orNull(z.number()),
  nextColumn: orNull(z.number()),
}

/** The position of a part, and the line and column at which the next one begins; both are null at the end. */
export type PartPosition = z.output<z.ZodObject<PartPositionShape>>

/** A part of a text. */
export interface Part {
  readonly position: PartPosition
  readonly text: string
}

/** The arguments that select a part. */
export type PartArguments = z.output<z.ZodObject<typeof PART>> & { readonly endLine?: number | undefined }

/** Takes as many whole lines as the token budget allows; a single line that exceeds it is cut. */
export function cutPart(markdown: string, args: PartArguments): Part {
  const lines = markdown === '' ? [''] : splitLines(markdown)
  const { length: totalLines } = lines
  const startLine = checkPosition('startLine', args.startLine ?? 1, totalLines)
  const requestedEnd = checkPosition('endLine', args.endLine ?? totalLines, Number.MAX_SAFE_INTEGER)
  const lastLine = Math.min(requestedEnd, totalLines)
  if (lastLine < startLine) throw usageError(`endLine ${lastLine} is before startLine ${startLine}`)
  const firstLine = lines[startLine - 1] ?? ''
  const column = checkPosition('startColumn', args.startColumn ?? 1, Math.max(1, firstLine.length))
  const budget = readNumber('tokens', args.tokens ?? TOKENS.default, TOKENS)

  const beginning = firstLine.slice(column - 1)
  let tokens = estimateTokens(beginning)
  if (tokens > budget) {
    const text = clipText(beginning, Math.floor((beginning.length * budget) / tokens))
    const nextColumn = column + text.length
    return { position: { startLine, endLine: startLine, totalLines, nextLine: startLine, nextColumn }, text }
  }
  let endLine = startLine
  while (endLine < lastLine) {
    tokens += estimateTokens(`\n${lines[endLine] ?? ''}`)
    if (tokens > budget) break
    endLine++
  }
  const isLast = endLine === lastLine
  return {
    position: {
      startLine,
      endLine,
      totalLines,
      nextLine: isLast ? null : endLine + 1,
      nextColumn: isLast ? null : 1,
    },
    text: [beginning, ...lines.slice(startLine, endLine)].join('\n'),
  }
}

/** The citation suffix of a part that is not the last one. */
export function writeContinuation({ totalLines, nextLine, nextColumn }: PartPosition): string {
  if (nextLine === null) return ''
  const column = nextColumn === null || nextColumn === 1 ? '' : ` startColumn ${nextColumn}`
  return ` — of ${totalLines} lines, next startLine ${nextLine}${column}`
}

function checkPosition(name: string, value: number, maximum: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= maximum) return value
  throw usageError(`${name}: expected a whole number from 1 to ${maximum}, got ${value}`)
}
