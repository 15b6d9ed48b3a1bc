import { PharosError } from '../../core/errors.ts'
import type { Sha256 } from '../../core/model.ts'
import { clipText } from '../../core/text/lines.ts'
import type { Engine, SearchInput } from '../search.ts'

/** Maximum number of answers to one question. */
export const MAX_ANSWERS = 500

/** Format of a cursor: number of the answer, fingerprint of the question, engines of the first answer. */
const CURSOR = /^(\d{1,3})-([0-9a-f]{16})(?:-(w?v?r?))?$/

/** Letters of engines in a cursor, in order. */
const LETTERS: Readonly<Record<Engine, string>> = { words: 'w', vectors: 'v', reranker: 'r' }

/** Position that a cursor encodes. */
export interface CursorPosition {
  /** Number of the answer, from 0. */
  readonly answer: number
  /** Engines of the first answer; undefined for the first answer itself, or if the cursor has none. */
  readonly engines?: readonly Engine[]
}

/** Writes the cursor for an answer to the same question with the same filters. */
export function writeCursor(input: SearchInput, { answer, engines = [] }: CursorPosition, sha256: Sha256): string {
  const letters = engines.map((engine) => LETTERS[engine]).join('')
  return `${answer}-${fingerprint(input, sha256)}${letters === '' ? '' : `-${letters}`}`
}

/** Parses the cursor; throws if it belongs to another question. */
export function parseCursor(input: SearchInput, sha256: Sha256): CursorPosition {
  const { cursor } = input
  if (cursor === undefined) return { answer: 0 }
  const [, number, hash, letters] = CURSOR.exec(cursor) ?? []
  const answer = Number(number)
  if (hash === undefined || answer < 1 || answer >= MAX_ANSWERS) throw refuse(cursor, 'no search has returned it')
  if (hash !== fingerprint(input, sha256)) throw refuse(cursor, 'it belongs to another question, or to other filters')
  if (letters === undefined) return { answer }
  // The keys of LETTERS are exactly the engines.
  const engines = (Object.keys(LETTERS) as Engine[]).filter((engine) => letters.includes(LETTERS[engine]))
  return { answer, engines }
}

function refuse(cursor: string, problem: string): PharosError {
  return new PharosError('CURSOR_INVALID', { cursor: JSON.stringify(clipText(cursor, 60)), problem })
}

/** Hashes everything that determines the answers and their order. */
function fingerprint(input: SearchInput, sha256: Sha256): string {
  const { cursor, explain, ...rest } = input
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return sha256(JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 16)
}
