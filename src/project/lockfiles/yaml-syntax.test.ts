import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseYaml } from './yaml-syntax.ts'

const root = fileURLToPath(new URL('../../../test/project/lockfiles', import.meta.url))

/** What the general parser makes of a text. */
function parseGenerally(text: string): unknown[] {
  return [...parseAllDocuments(text, { schema: 'failsafe' })].map((document) => document.toJS())
}

function parse(text: string): unknown[] {
  // The values have no prototype; this gives them one, as the general parser does.
  return JSON.parse(JSON.stringify(parseYaml({ path: 'a.yaml', text })))
}

describe('parseYaml', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.yaml') || /yarn-[34].*yarn\.lock$/.test(path),
  )

  test.each(files)('reads %s like a general parser', (path) => {
    const text = readFileSync(join(root, path), 'utf8')
    expect(parse(text)).toEqual(parseGenerally(text))
  })

  test.each([
    ['a: 1\nb:\n  c: d\n'],
    ['packages:\n- a\n- b\nother: c\n'],
    ['packages: # all\n  # the first\n  - \'a/*\' # one\n  - "!b"\n  - c # three\n'],
    ['packages: [a, "b, c", \'d\']\n'],
    ['a: {b: c, d: [e, {f: g}]}\n'],
    ['a: {b: c,\n  d: e}\nf: g\n'],
    ["a: 'it''s'\nb: \"tab\\tquote\\\" \\u00e9\"\n"],
    ['- a: 1\n  b: 2\n- c: 3\n'],
    ['- - a\n  - b\n- c\n'],
    ['a:\nb: ""\n'],
    ['a: >-\n  folded\n  text\nb: c\n'],
    ['a: plain\n  continued\nb: c\n'],
    ['? long key\n: value\n? "other key"\n: a: 1\n  b: 2\n'],
    ['---\na: 1\n---\nb: 2\n'],
    ['a@https://example.org/x.tgz: {resolution: {tarball: https://example.org/x.tgz}}\n'],
    ['"a@npm:^1.0.0, a@npm:^1.1.0":\n  version: 1.2.0\n  bin:\n    a: ./a.js\n'],
    ['a: 1\r\nb:\r\n  - c\r\n'],
    ['just a text\n'],
    ['catalog:\n  react: &react ^18.2.0 # pinned\noverrides:\n  react: *react\n'],
    ['a: &list\n  - &x one\n  - *x\nb: *list\nc: &map {d: e}\nf: [*map, *x, &y g, *y]\n'],
  ])('reads %j like a general parser', (text) => {
    expect(parse(text)).toEqual(parseGenerally(text))
  })

  test('an empty text has no documents', () => {
    expect(parse('# nothing\n\n')).toEqual([])
  })

  test('texts of many megabytes are read, or refused with the line', () => {
    const long = 'x'.repeat(15_000_000)
    const colons = `${'x:'.repeat(7_000_000)}x`
    for (const text of [long, `a: ${long}`, `a: "${long}"`, `a: [${long}]`, `a: {b: ${long}}`, `a: [${colons}]`]) {
      expect(parseYaml({ path: 'a.yaml', text })).toHaveLength(1)
    }
    for (const text of [`a: [${long}`, `a: "${long}`, `a: *${long}`, `a: ${'&a '.repeat(5_000_000)}b`]) {
      expect(() => parseYaml({ path: 'a.yaml', text })).toThrow('a.yaml cannot be read: line 1: ')
    }
  })

  test('keys such as __proto__ are data', () => {
    const [value] = parseYaml({ path: 'a.yaml', text: '__proto__:\n  polluted: yes\n' })
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect({}).not.toHaveProperty('polluted')
  })

  test.each([
    ['a: *b\n', 'line 1: there is no anchor b above this alias'],
    ['a: &b\n  c: *b\n', 'line 2: there is no anchor b above this alias'],
    ['x: 1\na: !!js/function b\n', 'line 2: tags are not supported'],
    ['a: [b, *c]\n', 'line 1: there is no anchor c above this alias'],
    ['a: [!x b]\n', 'line 1: tags are not supported'],
    ['a: 1\n   b: 2\n  c: 3\nd\n', 'a colon is missing'],
    ['a:\n    b: 1\n  c: 2\n', 'line 3: the indentation is wrong'],
    ['a: "open\n', 'line 1: a quote is missing'],
    ['a: [b\n', 'line 1: a comma or bracket is missing'],
    ['a: {b: c} d\n', 'line 1: a comma is missing'],
  ])('refuses %j', (text, problem) => {
    expect(() => parse(text)).toThrow(problem)
  })
})
