import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../run.ts'

let folder: string

beforeAll(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'pharos-eval-'))
  fs.writeFileSync(join(folder, 'queries.tsv'), 'kiln\tdocs/kiln\n')
  fs.writeFileSync(join(folder, 'bad.tsv'), 'a\tb\nno tab\n')
  fs.writeFileSync(join(folder, 'empty.tsv'), '# nothing\n')
  fs.writeFileSync(join(folder, 'binary.tsv'), Uint8Array.of(0xff, 0x80, 9))
  const queries = [{ query: 'kiln', place: 1, figures: FIGURES }]
  const saved = {
    format: 1,
    measured_at: '2026-01-01',
    k: 5,
    engines: [],
    figures: FIGURES,
    p50_ms: 1,
    p95_ms: 2,
    queries,
  }
  fs.writeFileSync(join(folder, 'five.json'), JSON.stringify(saved))
  fs.writeFileSync(join(folder, 'newer.json'), JSON.stringify({ ...saved, format: 2 }))
  fs.writeFileSync(join(folder, 'damaged.json'), JSON.stringify({ ...saved, queries: [{ query: 'kiln' }] }))
})

afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})

const FIGURES = { 'success@1': 1, 'success@5': 1, 'success@10': 1, mrr: 1, ndcg: 1, recall: 1, precision: 0.2 }

const REFUSALS: readonly (readonly [args: string, code: number, message: string])[] = [
  [
    'bad.tsv',
    3,
    'bad.tsv cannot be read: line 2: expected a query, a tab and what it should find, got no tab in "no tab"',
  ],
  ['empty.tsv', 3, 'there is no query in it'],
  ['binary.tsv', 3, 'it is not UTF-8'],
  ['nowhere.tsv', 3, 'there is no file at'],
  ['.', 3, 'it is a folder'],
  [
    'queries.tsv --save queries.tsv',
    1,
    'queries.tsv: the file exists and is not a saved run – choose another file with --save',
  ],
  ['queries.tsv --save .', 3, 'it is a folder'],
  ['queries.tsv --baseline queries.tsv', 3, 'queries.tsv cannot be read: it is not a run saved by eval'],
  ['queries.tsv --baseline newer.json', 3, 'newer.json cannot be read: it is not a run saved by eval'],
  ['queries.tsv --baseline damaged.json', 3, 'damaged.json cannot be read: it is not a run saved by eval'],
  ['queries.tsv --baseline five.json', 2, 'five.json was measured with --k 5, not 10'],
  ['queries.tsv --baseline nowhere.json', 3, 'there is no file at'],
  ['queries.tsv --k 0', 2, '--k: expected a whole number from 1 up, got "0"'],
  ['queries.tsv --k ten', 2, '--k: expected a whole number from 1 up, got "ten"'],
  ['queries.tsv --min mrr', 2, '--min: expected a figure and a value from 0 to 1, such as success@1=0.8, got "mrr"'],
  ['queries.tsv --min mrr=2', 2, '--min: expected a figure and a value from 0 to 1'],
  ['queries.tsv --min ndgc=0.5', 2, '--min: there is no "ndgc", did you mean ndcg?'],
  ['queries.tsv --against wrds', 2, '--against: there is no "wrds", did you mean words?'],
  ['queries.tsv --baseline five.json --k 5', 2, 'has no sources to search'],
]

test.each(REFUSALS)('eval %s is refused before anything is written', async (line, code, message) => {
  const before = listFiles()
  const output = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof output) => ({
    write: (text: string) => {
      output[name] += text
    },
  })
  const args = line.split(' ').map((arg) => (/^\.$|\.(?:tsv|json)$/.test(arg) ? join(folder, arg) : arg))
  const streams = { stdout: stream('stdout'), stderr: stream('stderr') }
  const exitCode = await run(['eval', ...args, '--library', join(folder, 'library', 'empty.db')], streams)
  expect({ code: exitCode, stdout: output.stdout }).toEqual({ code, stdout: '' })
  expect(output.stderr).toContain(message)
  expect(listFiles()).toEqual(before)
})

/** The files beside the library, with their content. */
function listFiles(): Record<string, string> {
  const names = fs.readdirSync(folder).filter((name) => name !== 'library')
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(join(folder, name), 'latin1')]))
}
