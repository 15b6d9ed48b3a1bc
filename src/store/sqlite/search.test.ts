import { describe, expect, test } from 'vitest'
import { tokenize } from '../../core/text/tokenize.ts'
import { openDatabase } from './database.ts'
import { createChunkIndex, writeMatch, writeTokens } from './search.ts'

describe('what is indexed', () => {
  test.each([
    'fs.readFileSync std::vector __init__ max_pages C++ C# F# v3.11.4 sha256 HTTP/2 utf-8',
    '東京都の天気 한국어 ประเทศไทย 𰀀𰀁',
    'می\u200cخواهم नमस्ते σίγμας ΣΊΓΜΑΣ Straße İstanbul naïve Ångström',
    '👩\u200d💻 🫨 x²',
  ])('is what the tokenizer of the product made of %j', (text) => {
    const db = openDatabase(':memory:')
    const written = writeTokens(text)
    db.prepare('INSERT INTO chunk_index (rowid, title, headings, body) VALUES (1, ?, ?, ?)').run('', '', written)
    db.exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'chunk_index', 'row')`)
    const indexed = db.prepare('SELECT term FROM words').pluck().all()
    expect(new Set(indexed)).toEqual(new Set(written.trim().split(' ')))
    // Every token of the text is a query that finds it.
    const index = db.prepare('SELECT count(*) FROM chunk_index WHERE chunk_index MATCH ?').pluck()
    for (const token of tokenize(text)) expect(index.get(writeMatch(token)), token).toBe(1)
    db.close()
  })
})

describe('a query', () => {
  test('is made of quoted words only', () => {
    expect(writeMatch('NEAR("a" b*) OR title:connecting')).toBe('"near" OR "b" OR "titl" OR "connect"')
    expect(writeMatch('the of')).toBe('"the" OR "of"')
    expect(writeMatch('" * ^')).toBe('')
  })
})

describe('the index', () => {
  test('takes in at once what was written without it', () => {
    const db = openDatabase(':memory:')
    db.pragma('foreign_keys = OFF')
    const index = createChunkIndex(db)
    expect(index.isBehind()).toBe(false)
    db.exec(`INSERT INTO pages VALUES (1, 1, 1300, 'T', '{}', '')`)
    const insert = db.prepare(
      `INSERT INTO chunks (source, page, chunk_id, content_hash, position, kind, start_line, end_line, token_estimate, slug,
         path, heading_path, content) VALUES (1, 1, ?, 'h', 1, 'text', 1, 1, 1, 's', 'p', '["H"]', 'word')`,
    )
    for (let i = 0; i < 1300; i++) insert.run(String(i))
    expect([index.isBehind(), index.search('word', 5000, undefined).length]).toEqual([true, 0])
    index.catchUp()
    expect([index.isBehind(), index.search('word', 5000, undefined).length]).toEqual([false, 1300])
    index.remove(1, 1299)
    expect(index.search('word', 5000, [1])).toMatchObject([{ id: 1300 }])
    expect(index.search('word', 5000, [2])).toEqual([])
    db.close()
  })
})
