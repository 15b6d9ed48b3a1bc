import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { shareOf } from '../fields.ts'

/** A query value; an empty form field counts as absent. */
export function readText(c: Context, name: string): string | undefined {
  const text = c.req.query(name)?.trim()
  return text === '' ? undefined : text
}

/** A query value out of a fixed set of words. */
export function readWord<Word extends string>(c: Context, name: string, words: readonly Word[]): Word | undefined {
  const text = readText(c, name)
  if (text === undefined) return undefined
  const word = words.find((candidate) => candidate === text)
  return word ?? refuse(name, text, `one of ${words.join(', ')}`)
}

/** A non-negative integer. */
export function readNumber(c: Context, name: string): number | undefined {
  const text = readText(c, name)
  if (text === undefined) return undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse(name, text, 'a whole number')
}

/** A share between 0 and 1, or in percent; 0 means no filter. */
export function readShare(c: Context, name: string): number | undefined {
  const text = readText(c, name)
  if (text === undefined) return undefined
  // 2 is out of range, so that a text that is not a number is refused.
  const share = /^\d{1,3}(?:\.\d+)?$/.test(text) ? shareOf(Number(text)) : 2
  return share === undefined || share <= 1 ? share : refuse(name, text, 'a number from 0 to 100')
}

/** The page size, clamped between 1 and the maximum. */
export function readLimit(c: Context, defaultLimit: number, maximum: number): number {
  return Math.min(Math.max(readNumber(c, 'limit') ?? defaultLimit, 1), maximum)
}

/** A date or timestamp in milliseconds since 1970. A date at the end of a range includes the whole day. */
export function readMoment(c: Context, name: string, edge: 'start' | 'end'): number | undefined {
  const text = readText(c, name)
  if (text === undefined) return undefined
  const at = Date.parse(text)
  if (Number.isNaN(at)) return refuse(name, text, 'a date such as 2026-02-20')
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  return isDay && edge === 'end' ? at + DAY_MS - 1 : at
}

const DAY_MS = 86_400_000

function refuse(name: string, text: string, expected: string): never {
  throw new HTTPException(400, { message: `${name}: expected ${expected}, got ${JSON.stringify(text.slice(0, 100))}` })
}
