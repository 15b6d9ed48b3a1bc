import type { Expectation } from './metrics.ts'

/** A question and its expected results. */
export interface JudgedQuery {
  readonly query: string
  readonly expectations: readonly Expectation[]
}

/** Questions, or the error in the text with its line. */
export type ParsedQueries =
  | { readonly queries: readonly JudgedQuery[] }
  | { readonly line: number; readonly problem: string }

/**
 * Parses questions, one per line: the words, a tab, and the expected results, separated by `|`; after another tab the grade, 1 by default.
 * Lines that begin with `#` and empty ones are ignored. Lines with the same words are one question.
 */
export function parseQueries(text: string): ParsedQueries {
  const queries = new Map<string, Map<string, number>>()
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [query = '', targets, grade = '1', ...rest] = line.split('\t').map((part) => part.trim())
    const expected = (targets ?? '').split('|').map(dropFragment).filter(Boolean)
    const problem = findLineProblem({ query, targets, expected, grade, rest })
    if (problem !== undefined) return { line: i + 1, problem }
    const grades = queries.get(query) ?? new Map<string, number>()
    for (const one of expected) grades.set(one, Math.max(Number(grade), grades.get(one) ?? 0))
    queries.set(query, grades)
  }
  return {
    queries: Array.from(queries, ([query, grades]) => {
      return { query, expectations: Array.from(grades, ([expected, grade]) => ({ expected, grade })) }
    }),
  }
}

interface LineParts {
  readonly query: string
  readonly targets: string | undefined
  readonly expected: readonly string[]
  readonly grade: string
  readonly rest: readonly string[]
}

function findLineProblem({ query, targets, expected, grade, rest }: LineParts): string | undefined {
  if (targets === undefined) return `expected a query, a tab and what it should find, got no tab in ${quote(query)}`
  if (query === '') return 'expected a query before the first tab, got none'
  if (expected.length === 0)
    return `expected the address of a page or a chunk id for ${quote(query)}, got ${quote(targets)}`
  if (!/^\d+(?:\.\d+)?$/.test(grade) || !(Number(grade) > 0) || Number(grade) > MAX_GRADE) {
    return `expected a grade above 0 and up to ${MAX_GRADE}, got ${quote(grade)}`
  }
  return rest.length > 0 ? `expected at most three columns, got ${rest.length + 3}` : undefined
}

const MAX_GRADE = 1000

/** Quotes a text, shortened to fit into a message. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

/** A found page, with its found chunks. */
export interface ResultPage {
  readonly url: string
  /** `<source>/<id>` each. */
  readonly chunks: readonly string[]
}

/** A chunk id, or its beginning if that is long enough to identify a chunk, with or without its source. */
const CHUNK_NAME = /(?:^|\/)[0-9a-f]{12,64}$/

/**
 * Whether a page is the expected one: its address ends with the expected text, in whole parts of the path, or the id of one of its chunks
 * begins with it. Fragments and queries of addresses are ignored.
 */
export function isExpected({ url, chunks }: ResultPage, expected: string): boolean {
  if (CHUNK_NAME.test(expected) && chunks.some((chunk) => isChunk(chunk, expected))) return true
  const page = plainAddress(url)
  const wanted = plainAddress(expected).replace(/^\/+/, '')
  return wanted !== '' && (page === wanted || page.endsWith(`/${wanted}`))
}

function isChunk(chunk: string, expected: string): boolean {
  return expected.includes('/')
    ? chunk.startsWith(expected)
    : chunk.slice(chunk.lastIndexOf('/') + 1).startsWith(expected)
}

/** An address as people write it: decoded, without fragment, query and trailing slashes. */
export function plainAddress(url: string): string {
  const plain = dropFragment(url).replace(/(?<!\/)\/+$/, '')
  try {
    return decodeURI(plain)
  } catch {
    // Decoding fails at a literal percent sign; the address then stays undecoded.
    return plain
  }
}

function dropFragment(url: string): string {
  return url.trim().replace(/[?#].*$/s, '')
}
