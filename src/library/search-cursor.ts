import { PharosError } from '../core/errors.ts'
import type { Sha256 } from '../core/model.ts'
import { clipText } from '../core/text/lines.ts'
import type { Engine, SearchInput } from './search.ts'

/** Answers of one question, the first one included. */
export const MOST_ANSWERS = 500

/** What a cursor looks like: the number of the answer it asks for, what it belongs to, and by what the first one was ranked. */
const CURSOR = /^(\d{1,3})-([0-9a-f]{16})(?:-(w?v?r?))?$/

/** The letters of engines in a cursor, in their order there. */
const LETTERS: Readonly<Record<Engine, string>> = { words: 'w', vectors: 'v', reranker: 'r' }

/** Which answer a cursor asks for. */
export interface CursorPlace {
  /** Counted from 0. */
  readonly answer: number
  /** Engines of the first answer; undefined for the first answer itself, and where the cursor does not say. */
  readonly engines?: readonly Engine[]
}

/** A cursor that asks for an answer to the same question with the same filters. */
export function writeCursor(input: SearchInput, { answer, engines = [] }: CursorPlace, sha256: Sha256): string {
  const letters = engines.map((engine) => LETTERS[engine]).join('')
  return `${answer}-${fingerprint(input, sha256)}${letters === '' ? '' : `-${letters}`}`
}

/** Reads the cursor. Refuses one of another question. */
export function parseCursor(input: SearchInput, sha256: Sha256): CursorPlace {
  const { cursor } = input
  if (cursor === undefined) return { answer: 0 }
  const [, number, owner, letters] = CURSOR.exec(cursor) ?? []
  const answer = Number(number)
  if (owner === undefined || answer < 1 || answer >= MOST_ANSWERS) throw refuse(cursor, 'no answer has given it')
  if (owner !== fingerprint(input, sha256)) throw refuse(cursor, 'it belongs to another question, or to other filters')
  if (letters === undefined) return { answer }
  // The keys of the table are the engines.
  const engines = (Object.keys(LETTERS) as Engine[]).filter((engine) => letters.includes(LETTERS[engine]))
  return { answer, engines }
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
