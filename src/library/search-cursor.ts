import { PharosError } from '../core/errors.ts'
import type { Sha256 } from '../core/model.ts'
import { clipText } from '../core/text/lines.ts'
import type { SearchInput } from './search.ts'

/** Answers of one question, the first one included. */
export const MOST_ANSWERS = 500

/** What a cursor looks like: the number of the answer it asks for, and what it belongs to. */
const CURSOR = /^(\d{1,3})-([0-9a-f]{16})$/

/** A cursor that asks for an answer, counted from 0, to the same question with the same filters. */
export function writeCursor(input: SearchInput, answer: number, sha256: Sha256): string {
  return `${answer}-${fingerprint(input, sha256)}`
}

/** The answer that is asked for, counted from 0. A cursor of another question is refused. */
export function parseCursor(input: SearchInput, sha256: Sha256): number {
  const { cursor } = input
  if (cursor === undefined) return 0
  const [, number, owner] = CURSOR.exec(cursor) ?? []
  const answer = Number(number)
  if (owner === undefined || answer < 1 || answer >= MOST_ANSWERS) throw refuse(cursor, 'no answer has given it')
  if (owner !== fingerprint(input, sha256)) throw refuse(cursor, 'it belongs to another question, or to other filters')
  return answer
}

function refuse(cursor: string, problem: string): PharosError {
  return new PharosError('CURSOR_INVALID', { cursor: JSON.stringify(clipText(cursor, 60)), problem })
}

/** Everything that decides which answers there are, and in which order. */
function fingerprint(input: SearchInput, sha256: Sha256): string {
  const { cursor, explain, ...rest } = input
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return sha256(JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 16)
}
