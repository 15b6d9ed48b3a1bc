import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../run.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'pharos-search-'))

afterAll(() => fs.rmSync(folder, { recursive: true }))

/** Runs a command line. */
async function pharos(...args: string[]) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text
    },
  })
  const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

const EMPTY = ['--library', join(folder, 'empty.db')]

describe('wrong flags', () => {
  test.each([
    ['search x --limit 0', '--limit: expected a whole number from 1 up, got "0"'],
    ['search x --limit 1e3', '--limit: expected a whole number from 1 up, got "1e3"'],
    ['search x --tokens -5', '--tokens: expected a whole number from 1 up, got "-5"'],
    ['search x --min-score 2', '--min-score: expected a number from 0 to 1, got "2"'],
    ['search x --min-score NaN', '--min-score: expected a number from 0 to 1, got "NaN"'],
    ['search x --min-score 0x1', '--min-score: expected a number from 0 to 1, got "0x1"'],
    ['search x --language e', '--language: expected a language such as en or pt-BR, got "e"'],
    ['search x --kind pyton', '--kind: there is no "pyton", did you mean python?'],
    ['search x --content-type cod', '--content-type: there is no "cod", did you mean code?'],
    ['search x --fusion rrf', '--fusion: there is no "rrf"; there are convex, words'],
    ['search x --fusion sum', '--fusion: there is no "sum"; there are convex, words'],
    ['search x --sourc a', "unknown option '--sourc', did you mean --source?"],
    ['search x --path-prefix a', '--path-prefix is for packs: add --pack <dir|zip>'],
    ['search x --cursor nonsense', 'cursor'],
    ['search x --pack a.zip --version 2', '--version is for the library, not for a pack'],
    ['search x --pack a.zip --content-type code', '--content-type is for the library, not for a pack'],
    ['search x --pack a.zip --language en', '--language is for the library, not for a pack'],
    ['search x --pack a.zip --tokens 9', '--tokens is for the library, not for a pack'],
    ['search x --pack a.zip --min-score 0', '--min-score is for the library, not for a pack'],
    ['search x --pack a.zip --fusion words', '--fusion is for the library, not for a pack'],
    ['search x --pack a.zip --cursor a', '--cursor is for the library, not for a pack'],
    ['outline a.md --pack a.zip --source a', '--source is for the library, not for a pack'],
    ['symbols --pack a.zip --source a', '--source is for the library, not for a pack'],
    ['symbols --limit none', '--limit: expected a whole number from 1 up, got "none"'],
    ['read', "missing required argument 'url'"],
    ['read https://a.example/ --lines 9-3', '--lines: expected lines such as 10-40, 10- or 10, got "9-3"'],
    ['read https://a.example/ --lines 0', '--lines: expected lines such as 10-40, 10- or 10, got "0"'],
    ['read https://a.example/ --lines a', '--lines: expected lines such as 10-40, 10- or 10, got "a"'],
    ['get', "missing required argument 'chunk'"],
  ])('pharos %s is refused with the problem in one line', async (line, problem) => {
    const { code, stdout, stderr } = await pharos(...line.split(' '), ...EMPTY)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(problem)
    expect(stderr.match(/\n/g)).toHaveLength(1)
  })

  test.each([
    ['search x', '--source'],
    ['search x', '--version'],
    ['search x', '--path'],
    ['search x', '--path-prefix'],
    ['search x', '--heading'],
    ['search x', '--symbol'],
    ['read https://a.example/', '--source'],
    ['outline https://a.example/', '--source'],
    ['symbols', '--source'],
    ['symbols', '--prefix'],
  ])('pharos %s refuses an empty value of %s', async (line, flag) => {
    const { code, stderr } = await pharos(...line.split(' '), flag, ' ', ...EMPTY)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`${flag}: expected a text, `) })
  })

  test.each(['search', 'get', 'read', 'outline', 'symbols'])('pharos %s refuses an empty argument', async (verb) => {
    expect(await pharos(verb, ' ', ...EMPTY)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^pharos: expected /),
    })
  })
})

describe('missing sources, chunks and pages', () => {
  test.each([
    ['search x --source guide', 'SOURCE_UNKNOWN'],
    ['get guide/0123456789ab', 'SOURCE_UNKNOWN'],
    ['get 0123456789ab', 'CHUNK_UNKNOWN'],
    ['read https://a.example/', 'PAGE_UNKNOWN'],
    ['read no-address', 'PAGE_UNKNOWN'],
    ['outline https://a.example/', 'PAGE_UNKNOWN'],
    ['symbols https://a.example/', 'PAGE_UNKNOWN'],
    ['symbols --source guide', 'SOURCE_UNKNOWN'],
  ])('pharos %s fails with %s', async (line, expected) => {
    const { code, stdout, stderr } = await pharos(...line.split(' '), ...EMPTY, '--json')
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string; advice: string } }
    expect({ code, stdout, error: error.code }).toEqual({ code: 3, stdout: '', error: expected })
    expect([error.message, error.advice]).not.toContain('')
  })

  test.each(['list', 'status'])('pharos %s explains how to fill an empty library', async (verb) => {
    const { code, stderr } = await pharos(verb, ...EMPTY)
    expect(code).toBe(0)
    expect(stderr).toMatch(/^\S+empty\.db has no sources yet; add one: pharos add <url> --library \S+\n$/)
  })

  test('a search of an empty library returns nothing and explains how to fill it', async () => {
    const { code, stdout, stderr } = await pharos('search', 'x', ...EMPTY)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^\S+empty\.db has no sources yet; add one: pharos add <url> --library \S+; .*\n$/)
    expect((await pharos('search', 'x', ...EMPTY, '--quiet')).stderr).toBe('')
    expect(JSON.parse((await pharos('search', 'x', ...EMPTY, '--json')).stdout)).toMatchObject({
      query: 'x',
      passages: [],
      more: [],
      cursor: null,
    })
  })
})
