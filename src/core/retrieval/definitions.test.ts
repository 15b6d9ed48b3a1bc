import { describe, expect, test } from 'vitest'
import { definesName, findDefinitions, findLookupNames, symbolsOf } from './definitions.ts'

describe('a definition', () => {
  const stated: Record<string, [line: string, name: string]> = {
    'a function alone on its line': ['`json.dump(obj, fp, *, skipkeys=False)`', 'json.dump'],
    'a class with its keyword': ['`class asyncio.Queue(maxsize=0)`', 'asyncio.Queue'],
    'a function of C with its type': ['`PyObject *PyTuple_GetItem(PyObject *p, Py_ssize_t pos)`', 'PyTuple_GetItem'],
    'an option': ['`--max-pages`', '--max-pages'],
    'an option with its value': ['`--max-pages=COUNT`', '--max-pages'],
    'a constant': ['`errno.E2BIG`', 'errno.E2BIG'],
    'an item of a list': ['- `retry.limit`', 'retry.limit'],
    'a heading': ['### `Parser.parse(text)`', 'Parser.parse'],
    'a setting in bold with its type': ['**`primary_conninfo` (`string`)**', 'primary_conninfo'],
    'a term in bold': ['**bytecode**', 'bytecode'],
    'the first cell of a row': ['| `covar_pop` ( *`Y`* `double` ) → `double` | Yes |', 'covar_pop'],
    'a span that holds a backtick': ['``a`b``', 'a`b'],
  }
  test.each(Object.entries(stated))('is %s', (_, [line, name]) => {
    expect(findDefinitions(line).map((one) => one.name)).toEqual([name])
  })

  const others: Record<string, string> = {
    'a sentence with code in it': 'Call `json.dump` to write.',
    'two bold words': '**one** and **two**',
    'a row that begins with text': '| name | `covar_pop` |',
    'code inside a fence': '```\n`x`\n**y**\n```',
    'a fence itself': '```js',
  }
  test.each(Object.entries(others))('is not %s', (_, text) => {
    expect(findDefinitions(text)).toEqual([])
  })

  test('a definition has its line, its name, its signature and whether it is code', () => {
    expect(findDefinitions('Intro.\n\n`f(x)`\n\nDoes.\n\n**term**\n')).toEqual([
      { name: 'f', signature: 'f(x)', line: 2, isCode: true },
      { name: 'term', signature: 'term', line: 6, isCode: false },
    ])
  })

  test('is searched in linear time in hostile lines', () => {
    const lines = [`**${'*a'.repeat(800)}`, `| ${'`'.repeat(1500)}`, `\`${' `'.repeat(700)}`, `- ${'**'.repeat(700)}x`]
    expect(
      findDefinitions(
        Array.from({ length: 500 }, () => lines)
          .flat()
          .join('\n'),
      ).length,
    ).toBeLessThan(3000)
  })
})

describe('symbols', () => {
  test('are the symbol of source code, or the names that Markdown writes as code', () => {
    expect(symbolsOf({ kind: 'python', symbol: 'Parser.parse', content: '`x`' })).toEqual(['Parser.parse'])
    expect(symbolsOf({ kind: 'markdown', symbol: null, content: '`x`\n\n**Note**' })).toEqual(['x'])
    expect(symbolsOf({ kind: 'text', symbol: null, content: '`x`' })).toEqual([])
  })
})

describe('findLookupNames', () => {
  test.each([
    ['csv.DictReader', ['csv.dictreader']],
    [' fork() ', ['fork']],
    ['--max-pages', ['--max-pages']],
    ['PGUSER', ['pguser']],
    ['PyObject_Call (C function)', ['pyobject_call']],
    ['contains() (in module operator)', ['contains']],
    ['environment', ['environment']],
  ])('finds the names in %j', (question, names) => {
    expect(findLookupNames(question)).toEqual(names)
  })

  test.each(['how to fork', 'a', '', 'my call of os.fork() in the worker never returns on this machine'])(
    'finds none in %j',
    (question) => {
      expect(findLookupNames(question)).toEqual([])
    },
  )
})

test('a chunk defines a name with or without its qualifiers, but no part of a name', () => {
  const content = '`class csv.DictReader(f, fieldnames=None)`\n\nReads rows.'
  const chunk = { symbol: null, kind: 'markdown' as const, content }
  expect(definesName(chunk, ['csv.dictreader'])).toBe(true)
  expect(definesName(chunk, ['other', 'dictreader'])).toBe(true)
  expect(definesName(chunk, ['reader'])).toBe(false)
  expect(definesName(chunk, ['csv'])).toBe(false)
})
