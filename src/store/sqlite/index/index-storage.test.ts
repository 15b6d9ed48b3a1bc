import { describe, expect, test } from 'vitest'
import { CHUNK_WEIGHTS } from '../../../core/retrieval/chunk-fields.ts'
import { createChunkTests } from '../../../core/retrieval/chunk-filter.ts'
import { BRIEF_STEP, type ChunkIndex, createChunkIndex, SMALL_STEP } from '../../../core/retrieval/index/chunk-index.ts'
import { SegmentBuilder } from '../../../core/search/segments/segment.ts'
import { textAnalyzer } from '../../../core/text/analyzer.ts'
import { tokenize } from '../../../core/text/tokenize.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { createLayouts } from '../database/layouts.ts'
import { createIndexStorage } from './index-storage.ts'

/** Opens an in-memory library with an index. `write` adds chunks without notifying the index. */
function setUp(): { db: Database; index: ChunkIndex; write(count: number, content: (i: number) => string): void } {
  const db = openDatabase(':memory:')
  db.pragma('foreign_keys = OFF')
  db.exec(
    `INSERT INTO pages (id, first_chunk, chunk_count, title, meta, markdown) VALUES (1, 1, 1, 'T', '{"sections":[]}', '')`,
  )
  const insert = db.prepare(
    `INSERT INTO chunks (source, page, chunk_id, content_hash, position, kind, start_line, end_line, token_estimate, slug,
       path, heading_path, content) VALUES (1, 1, ?, 'h', 1, 'text', 1, 1, 1, 's', 'p', '["H"]', ?)`,
  )
  return {
    db,
    index: createChunkIndex(createIndexStorage(db, createLayouts(db))),
    write: (count, content) => {
      for (let i = 0; i < count; i++) insert.run(Buffer.from(String(i).padStart(64, '0'), 'hex'), content(i))
    },
  }
}

function find(index: ChunkIndex, query: string, sources?: readonly number[]): number[] {
  const options = {
    query,
    limit: 100_000,
    sources: sources && new Set(sources),
    tests: createChunkTests({}),
    explain: false,
  }
  return index
    .search(options)
    .map(({ number }) => number)
    .sort((a, b) => a - b)
}

function countRows(db: Database, table: string): unknown {
  return db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
}

/** Adds a segment for each of these chunks, as many additions would leave them before they are merged. */
function addSegments(db: Database, first: number, count: number): void {
  const storage = createIndexStorage(db, createLayouts(db))
  for (let number = first; number < first + count; number++) {
    const builder = new SegmentBuilder(textAnalyzer, CHUNK_WEIGHTS)
    builder.add(
      { number, source: 1, page: 1, traits: 0, order: number, text: 0 },
      [...CHUNK_WEIGHTS.keys()].map(() => ['word']),
    )
    storage.addSegment(builder.build())
  }
  const { format, generation } = storage.readState()
  storage.writeState({ format, last: first + count - 1, generation: generation + 1 })
}

function catchUp(index: ChunkIndex): void {
  while (index.advance());
}

describe('tokens of the index', () => {
  test.each([
    'fs.readFileSync std::vector __init__ max_pages C++ C# F# v3.11.4 sha256 HTTP/2 utf-8',
    '東京都の天気 한국어 ประเทศไทย 𰀀𰀁',
    'می\u200cخواهم नमस्ते σίγμας ΣΊΓΜΑΣ Straße İstanbul naïve Ångström',
    '👩\u200d💻 🫨 x²',
  ])('the text %j is found by each of its tokens', (text) => {
    const { db, index, write } = setUp()
    write(1, () => text)
    catchUp(index)
    // Han characters are indexed in pairs, but a single Han character finds the text too.
    for (const token of tokenize(text)) expect(find(index, token), token).toEqual([1])
    for (const character of /\p{Script=Han}/u.test(text) ? ['東', '京', '気'] : [])
      expect(find(index, character)).toEqual([1])
    expect(find(index, 'elsewhere 西')).toEqual([])
    db.close()
  })
})

describe('the index', () => {
  test('catches up in batches on chunks that were written without a notification', () => {
    const { db, index, write } = setUp()
    expect(index.isBehind()).toBe(false)
    write(5000, () => 'word')
    expect([index.isBehind(), find(index, 'word').length]).toEqual([true, 0])
    expect(index.advance()).toBe(true)
    expect([index.isBehind(), find(index, 'word').length]).toEqual([true, 2048])
    catchUp(index)
    expect([index.isBehind(), find(index, 'word').length]).toEqual([false, 5000])
    index.remove(1, 4999)
    expect(find(index, 'word', [1])).toEqual([5000])
    expect(find(index, 'word', [2])).toEqual([])
    db.close()
  })

  test('has few segments after many small additions', () => {
    const { db, index, write } = setUp()
    for (let i = 0; i < 200; i++) {
      write(1 + (i % 7), () => `w${i}x`)
      index.advance()
    }
    expect(countRows(db, 'index_segments')).toBeLessThan(16)
    const chunks = Number(countRows(db, 'chunks'))
    expect(find(index, Array.from({ length: 40 }, (_, i) => `w${i * 5}x`).join(' '))).toHaveLength(
      Array.from({ length: 40 }, (_, i) => 1 + ((i * 5) % 7)).reduce((sum, n) => sum + n),
    )
    expect(db.prepare('SELECT sum(count) FROM index_segments').pluck().get()).toBe(chunks)
    db.close()
  })

  test('keeps no blocks of replaced segments in memory', () => {
    const { db, write, index } = setUp()
    write(1, () => 'word')
    catchUp(index)
    const storage = createIndexStorage(db, createLayouts(db))
    const [id = 0] = storage.listSegments().map((segment) => segment.id)
    const { readBlock } = storage.openSegment(id)
    const block = readBlock(0)
    db.exec('DELETE FROM index_blocks')
    storage.keepOnly(new Set([id]))
    expect(readBlock(0)).toBe(block)
    storage.keepOnly(new Set())
    expect(() => readBlock(0)).toThrow('the index has no block')
    db.close()
  })

  test('forgets removed chunks and frees their space', () => {
    const { db, index, write } = setUp()
    write(3000, (i) => `w${i}x common`)
    catchUp(index)
    const blocks = Number(countRows(db, 'index_blocks'))
    db.exec('DELETE FROM chunks WHERE id > 100')
    for (let first = 101; first <= 3000; first += 100) index.remove(first, 100)
    expect(find(index, 'common')).toHaveLength(100)
    catchUp(index)
    expect(find(index, 'common')).toHaveLength(100)
    expect([countRows(db, 'index_segments'), countRows(db, 'index_dead')]).toEqual([1, 0])
    expect(countRows(db, 'index_blocks')).toBeLessThan(blocks / 5)
    index.remove(1, 100)
    db.exec('DELETE FROM chunks')
    catchUp(index)
    expect([countRows(db, 'index_segments'), countRows(db, 'index_blocks')]).toEqual([0, 0])
    db.close()
  })

  test('indexes each chunk of a rewritten page again, once', () => {
    const { db, index, write } = setUp()
    write(10, (i) => `w${i}x`)
    catchUp(index)
    db.exec(`UPDATE pages SET title = 'Zebra'`)
    index.reindex(1, 10)
    expect([index.isBehind(), find(index, 'w3x')]).toEqual([true, []])
    catchUp(index)
    expect([index.isBehind(), find(index, 'zebra'), find(index, 'w3x')]).toEqual([
      false,
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [4],
    ])
    // The page is rewritten twice, and then removed before any update of the index.
    index.reindex(1, 10)
    index.reindex(1, 10)
    index.remove(1, 10)
    db.exec('DELETE FROM chunks')
    catchUp(index)
    expect([find(index, 'zebra'), countRows(db, 'index_segments')]).toEqual([[], 0])
    db.close()
  })

  test('merges segments when a crawl reports new chunks, and when the index catches up on chunks that were not reported', () => {
    const { db, index, write } = setUp()
    let last = 0
    for (let page = 0; page < 300; page++) {
      write(40, () => 'word')
      last += 40
      index.notifyNewChunks(last)
    }
    // The index adds 1,024 chunks or more at a time, and merges eight segments of similar size.
    expect(countRows(db, 'index_segments')).toBeLessThan(8)
    catchUp(index)
    expect(find(index, 'word')).toHaveLength(12_000)
    const many = setUp()
    many.write(52_000, () => 'word')
    let steps = 0
    while (many.index.isBehind() && many.index.advance()) steps++
    expect(steps).toBeGreaterThanOrEqual(26)
    expect(countRows(many.db, 'index_segments')).toBeLessThan(24)
    expect(many.db.prepare('SELECT max(count) FROM index_segments').pluck().get()).toBeLessThanOrEqual(65_536)
    expect(find(many.index, 'word')).toHaveLength(52_000)
    db.close()
    many.db.close()
  })

  test('indexes each chunk once if a page is rewritten while it is partly indexed', () => {
    const { db, index, write } = setUp()
    write(3000, () => 'word')
    index.advance()
    index.reindex(1, 3000)
    catchUp(index)
    expect(find(index, 'word')).toHaveLength(3000)
    expect(db.prepare('SELECT sum(count) FROM index_segments').pluck().get()).toBe(3000)
    db.close()
  })

  test('indexes a large page again in parts, and reports its progress', () => {
    const { db, index, write } = setUp()
    expect(index.countIndexed()).toEqual({ chunks: 0, indexed: 0 })
    write(1000, () => 'word')
    expect(index.countIndexed()).toEqual({ chunks: 1000, indexed: 0 })
    index.advance(BRIEF_STEP)
    expect(index.countIndexed()).toEqual({ chunks: 1000, indexed: 256 })
    catchUp(index)
    expect(index.countIndexed()).toEqual({ chunks: 1000, indexed: 1000 })
    index.reindex(1, 1000)
    index.advance(BRIEF_STEP)
    expect([index.countIndexed(), find(index, 'word').length]).toEqual([{ chunks: 1000, indexed: 256 }, 256])
    index.reindex(1, 1000)
    expect([index.countIndexed().indexed, find(index, 'word')]).toEqual([0, []])
    catchUp(index)
    expect([index.countIndexed(), find(index, 'word').length]).toEqual([{ chunks: 1000, indexed: 1000 }, 1000])
    expect(db.prepare('SELECT sum(count) FROM index_segments').pluck().get()).toBe(1000)
    index.remove(1, 400)
    db.exec('DELETE FROM chunks WHERE id <= 400')
    expect(index.countIndexed()).toEqual({ chunks: 600, indexed: 600 })
    db.close()
  })

  test('merges large segments in small steps, and finds every chunk meanwhile', () => {
    const { db, index, write } = setUp()
    write(2600, (i) => `w${i}x word`)
    index.advance({ chunks: 2500, blocks: 1 })
    index.advance({ chunks: 100, blocks: 1 })
    // Most chunks of both segments were removed.
    index.remove(1, 1400)
    index.remove(2501, 60)
    db.exec('DELETE FROM chunks WHERE id <= 1400 OR id BETWEEN 2501 AND 2560')
    let living = 1140
    let steps = 0
    for (; index.advance({ chunks: 1, blocks: 1 }); steps++) {
      expect([find(index, 'word').length, find(index, 'w2000x')]).toEqual([living, [2001]])
      // A chunk that is removed in the middle of the merge is not found afterwards.
      if (steps !== 3) continue
      index.remove(2500, 1)
      db.exec('DELETE FROM chunks WHERE id = 2500')
      living--
    }
    expect(steps).toBeGreaterThan(8)
    expect(find(index, 'word')).toHaveLength(1139)
    expect(find(index, 'w2499x')).toEqual([])
    expect(db.prepare('SELECT count FROM index_segments').pluck().all()).toEqual([1140])
    expect(db.prepare('SELECT first, last FROM index_dead').all()).toEqual([{ first: 2500, last: 2500 }])
    db.close()
  })

  test('continues a merge that another process began', () => {
    const { db, index, write } = setUp()
    write(2000, (i) => `w${i}x word`)
    index.advance({ chunks: 1000, blocks: 1 })
    index.advance({ chunks: 1000, blocks: 1 })
    const others = Array.from({ length: 3 }, () => createChunkIndex(createIndexStorage(db, createLayouts(db))))
    const step = { chunks: 1, blocks: 1 }
    let steps = 0
    while (others[steps % 3]?.advance(step)) steps++
    expect(steps).toBeGreaterThan(8)
    expect(db.prepare('SELECT count FROM index_segments').pluck().all()).toEqual([2000])
    for (const number of [1, 700, 1000, 1001, 2000]) expect(find(index, `w${number - 1}x`)).toEqual([number])
    expect([find(index, 'word').length, index.hasMerges()]).toEqual([2000, false])
    db.close()
  })

  test('adds chunks for a waiting search before it merges many segments', () => {
    const { db, index, write } = setUp()
    write(1, () => 'word')
    catchUp(index)
    write(30, () => 'word')
    addSegments(db, 2, 30)
    expect(countRows(db, 'index_segments')).toBe(31)
    write(10, () => 'word')
    index.advance(BRIEF_STEP)
    expect(find(index, 'word')).toHaveLength(41)
    catchUp(index)
    expect([countRows(db, 'index_segments'), find(index, 'word').length]).toEqual([1, 41])
    addSegments(db, 42, 30)
    write(40, () => 'word')
    index.advance(SMALL_STEP)
    expect(find(index, 'word')).toHaveLength(71)
    db.close()
  })

  test('has one segment at rest, or some of very different sizes', () => {
    const { db, index, write } = setUp()
    for (const count of [300, 200, 500, 400]) {
      write(count, (i) => `w${i}x`)
      while (index.isBehind()) index.advance({ chunks: 250, blocks: 1 })
    }
    expect([Number(countRows(db, 'index_segments')) > 4, index.hasMerges()]).toEqual([true, true])
    catchUp(index)
    expect([countRows(db, 'index_segments'), index.hasMerges()]).toEqual([1, false])
    write(10, () => 'small')
    catchUp(index)
    expect(db.prepare('SELECT count FROM index_segments').pluck().all()).toEqual([1400, 10])
    db.close()
  })

  test('leaves out exactly the chunks of overlapping removals', () => {
    const { db, index, write } = setUp()
    write(60, () => 'word')
    catchUp(index)
    for (const [first, count] of [[20, 5] as const, [10, 30] as const, [10, 2] as const]) index.remove(first, count)
    const left = Array.from({ length: 60 }, (_, i) => i + 1).filter((number) => number < 10 || number > 39)
    expect(find(index, 'word')).toEqual(left)
    db.close()
  })

  test('is rebuilt when its rules have changed', () => {
    const { db, index, write } = setUp()
    write(20, () => 'word')
    catchUp(index)
    db.exec(`UPDATE index_state SET format = 'of another program', generation = generation + 1`)
    expect([index.isBehind(), find(index, 'word')]).toEqual([true, []])
    catchUp(index)
    expect([index.isBehind(), find(index, 'word').length]).toEqual([false, 20])
    db.close()
  })

  test.each(['99 pharos-text-1 body', `${Number.MAX_SAFE_INTEGER} x`])(
    'is left alone when a newer program wrote it (format: %s)',
    (format) => {
      const { db, index, write } = setUp()
      write(20, () => 'word')
      catchUp(index)
      const segments = () => db.prepare('SELECT id, count FROM index_segments').all()
      const before = segments()
      db.prepare('UPDATE index_state SET format = ?, generation = generation + 1').run(format)
      expect([find(index, 'word'), index.countIndexed()]).toEqual([[], { chunks: 20, indexed: 0 }])
      write(1500, () => 'word')
      index.notifyNewChunks(1520)
      expect([index.isBehind(), index.advance(), index.countIndexed()]).toEqual([
        false,
        false,
        { chunks: 1520, indexed: 0 },
      ])
      expect(segments()).toEqual(before)
      // Removed chunks are still recorded, because no other process would record them.
      index.remove(1, 5)
      expect(db.prepare('SELECT first, last FROM index_dead').all()).toEqual([{ first: 1, last: 5 }])
      expect(db.prepare('SELECT format, last_chunk AS last FROM index_state').get()).toEqual({ format, last: 20 })
      db.close()
    },
  )

  test('never shows the writes of a failed transaction', () => {
    const { db, index, write } = setUp()
    write(20, () => 'word')
    catchUp(index)
    expect(find(index, 'word')).toHaveLength(20)
    const failing = db.transaction(() => {
      write(600, () => 'lost')
      catchUp(index)
      throw new Error('no')
    })
    expect(() => failing()).toThrow('no')
    expect([find(index, 'lost'), find(index, 'word').length]).toEqual([[], 20])
    write(30, () => 'kept')
    catchUp(index)
    expect([find(index, 'lost'), find(index, 'kept').length]).toEqual([[], 30])
    db.close()
  })
})
