import { textAnalyzer } from '../../core/text/analyzer.ts'
import type { Database } from './database.ts'

/**
 * The full-text index over chunks, by their number. It takes new chunks in by the hundred: a transaction of its own for each
 * page would take twice the time. What it has not seen yet is taken in before a search, so that nobody can tell.
 */
export interface ChunkIndex {
  /** Says that there are chunks up to this number; takes them in when there are many. */
  announce(last: number): void
  /** Whether there are chunks that it has not taken in. */
  isBehind(): boolean
  /** Takes in what is new, inside the transaction of the caller. */
  catchUp(): void
  /** Takes the chunks of a page in again, as far as it has done so before. */
  rewrite(first: number, count: number): void
  /** Removes the chunks of a page, which have consecutive numbers. */
  remove(first: number, count: number): void
  /** The best chunks, best first; `sources` limits them to some. */
  search(query: string, limit: number, sources: readonly number[] | undefined): Ranked[]
}

/** The number of a chunk and how well it matches. */
export interface Ranked {
  readonly id: number
  readonly score: number
}

/** Prepares the index. */
export function createChunkIndex(db: Database): ChunkIndex {
  const insert = db.prepare<[number, string, string, string]>(
    'INSERT INTO chunk_index (rowid, title, headings, body) VALUES (?, ?, ?, ?)',
  )
  const remove = db.prepare<[number, number]>('DELETE FROM chunk_index WHERE rowid BETWEEN ? AND ?')
  const selectBest = (filter: string) =>
    db.prepare<[{ match: string; limit: number; sources: string }], Ranked>(
      `SELECT c.id, -bm25(chunk_index, 2.0, 1.5, 1.0) AS score
       FROM chunk_index CROSS JOIN chunks c ON c.id = chunk_index.rowid
       WHERE chunk_index MATCH @match ${filter} ORDER BY score DESC, c.chunk_id LIMIT @limit`,
    )
  const selectAnywhere = selectBest('AND @sources IS NOT NULL')
  const selectWithin = selectBest('AND c.source IN (SELECT value FROM json_each(@sources))')
  const writeTitle = rememberLast(writeTokens)
  const selectLast = db.prepare<[], number>('SELECT last_chunk FROM chunk_index_state').pluck()
  const updateLast = db.prepare<[number]>('UPDATE chunk_index_state SET last_chunk = ?')
  const selectNewest = db.prepare<[], number | null>('SELECT max(id) FROM chunks').pluck()
  const selectNew = db.prepare<[number, number], NewChunk>(
    `SELECT c.id, p.title, c.heading_path AS headingPath, c.symbol, c.content
     FROM chunks c JOIN pages p ON p.id = c.page WHERE c.id > ? ORDER BY c.id LIMIT ?`,
  )

  const takeIn = (chunk: NewChunk): void => {
    insert.run(chunk.id, writeTitle(chunk.title), writeTokens(headingsOf(chunk)), writeTokens(chunk.content))
  }

  const catchUp = (): void => {
    for (;;) {
      const found = selectNew.all(selectLast.get() ?? 0, CHUNKS_AT_ONCE)
      for (const chunk of found) takeIn(chunk)
      const last = found.at(-1)
      if (last === undefined) return
      updateLast.run(last.id)
    }
  }

  return {
    announce: (last) => {
      if (last - (selectLast.get() ?? 0) >= CHUNKS_AT_ONCE) catchUp()
    },
    isBehind: () => (selectNewest.get() ?? 0) > (selectLast.get() ?? 0),
    catchUp,
    rewrite: (first, count) => {
      if (first > (selectLast.get() ?? 0)) return
      remove.run(first, first + count - 1)
      for (const chunk of selectNew.all(first - 1, count)) takeIn(chunk)
    },
    remove: (first, count) => {
      remove.run(first, first + count - 1)
    },
    search: (query, limit, sources) => {
      const match = writeMatch(query)
      if (match === '') return []
      const select = sources === undefined ? selectAnywhere : selectWithin
      return select.all({ match, limit, sources: JSON.stringify(sources ?? []) })
    },
  }
}

/** A chunk that is to be taken in. */
interface NewChunk {
  readonly id: number
  readonly title: string
  readonly headingPath: string
  readonly symbol: string | null
  readonly content: string
}

/** So many new chunks are worth a transaction's work on the index. */
const CHUNKS_AT_ONCE = 512

function headingsOf(chunk: NewChunk): string {
  // Written by content.ts.
  const headings = (JSON.parse(chunk.headingPath) as string[]).join('\n')
  return chunk.symbol === null ? headings : `${headings}\n${chunk.symbol}`
}

/** The chunks of a page share its title. */
function rememberLast(write: (text: string) => string): (text: string) => string {
  let last = ''
  let written = ''
  return (text) => {
    if (text !== last) {
      written = write(text)
      last = text
    }
    return written
  }
}

/**
 * The stems of a text joined by spaces. A pair of characters is followed by each of them, so that one that is asked for alone
 * finds the pair.
 */
export function writeTokens(text: string): string {
  let tokens = ''
  textAnalyzer.visitTokens(text, (source, start, end) => {
    const token = source.slice(start, end)
    tokens += `${stemOf(token)} `
    if (token.charCodeAt(0) > 0x7f) for (const form of textAnalyzer.shortForms(token)) tokens += `${form} `
  })
  return tokens
}

/** A query that matches any of the stems; stop words count only where there is nothing else. Empty when nothing can match. */
export function writeMatch(query: string): string {
  const words = new Set<string>()
  const stopWords = new Set<string>()
  textAnalyzer.visitTokens(query, (source, start, end) => {
    const token = source.slice(start, end)
    const isStopWord = textAnalyzer.isStopWord(token)
    ;(isStopWord ? stopWords : words).add(`"${stemOf(token)}"`)
  })
  return [...(words.size > 0 ? words : stopWords)].join(' OR ')
}

/** Stems of the words met lately: text repeats itself, and to look one up is several times faster than to make it. */
const stems = new Map<string, string>()
const MAX_STEMS = 50_000

function stemOf(token: string): string {
  const known = stems.get(token)
  if (known !== undefined) return known
  const made = textAnalyzer.stem(token)
  if (stems.size >= MAX_STEMS) stems.clear()
  stems.set(token, made)
  return made
}
