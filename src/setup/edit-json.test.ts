import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasAllOf } from '../../test/has-all-of.ts'
import { ConfigSyntaxError } from './config-syntax-error.ts'
import { readJsonEntry, removeJsonEntry, setJsonEntry } from './edit-json.ts'

const PATH = ['mcpServers', 'pharos']
const ENTRY = { command: '/bin/pharos', args: ['mcp'] }

describe('setting an entry', () => {
  const cases: Record<string, readonly [string, string]> = {
    'in an empty file': [
      '',
      '{\n  "mcpServers": {\n    "pharos": {\n      "command": "/bin/pharos",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
    ],
    'in a compact file': [
      '{"mcpServers":{"x":{"command":"y"}}}',
      '{"mcpServers":{"x":{"command":"y"},"pharos":{"command":"/bin/pharos","args":["mcp"]}}}',
    ],
    'keeps a comment with the line it stands on, and a trailing comma': [
      '{\n  // c\n  "a": 1, // x\n}\n',
      '{\n  // c\n  "a": 1, // x\n  "mcpServers": {\n    "pharos": {\n      "command": "/bin/pharos",\n      "args": [\n        "mcp"\n      ]\n    }\n  },\n}\n',
    ],
    'uses the indentation and line ends of the file': [
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}\r\n',
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {},\r\n\t\t"pharos": {\r\n\t\t\t"command": "/bin/pharos",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n',
    ],
    'replaces an old value and nothing else': [
      '{ "mcpServers": { "pharos": { "command": "old" } /* mine */ } }',
      '{ "mcpServers": { "pharos": { "command": "/bin/pharos", "args": [ "mcp" ] } /* mine */ } }',
    ],
    'puts the entry after the comments of an empty object': [
      '{\n  "mcpServers": {\n    // none yet\n  }\n}',
      '{\n  "mcpServers": {\n    // none yet\n    "pharos": {\n      "command": "/bin/pharos",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}',
    ],
  }
  test.each(Object.entries(cases))('%s', (_what, [before, after]) => {
    expect(setJsonEntry(before, PATH, ENTRY)).toBe(after)
    expect(readJsonEntry(after, PATH)).toEqual(ENTRY)
  })

  test.each([
    ['{ "mcpServers": ', 'line 1: it is not valid JSON'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3: it is not valid JSON'],
    ['[]', 'line 1: the file is not an object'],
    ['{ "mcpServers": null }', 'line 1: "mcpServers" is not an object'],
    ['{ "mcpServers": "x" }', 'line 1: "mcpServers" is not an object'],
    ["{ 'mcpServers': {} }", 'line 1: it is not valid JSON'],
  ])('refuses %j', (text, message) => {
    expect(() => setJsonEntry(text, PATH, ENTRY)).toThrow(ConfigSyntaxError)
    expect(() => setJsonEntry(text, PATH, ENTRY)).toThrow(message)
  })
})

describe('any configuration', () => {
  const space = fc.constantFrom('', ' ', '\n', '\n  ', ' // note, {"a": 1}\n', ' /* a, b } */ ', '\r\n\t')
  const name = fc.constantFrom('mcpServers', 'pharos', 'other', 'a', 'b//c', 'd,}', '"')
  /** JSON text with random white space, comments and trailing commas. */
  const { text } = fc.letrec<{ text: string; object: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('1', 'null', 'true', '"x, // y"', '[]', '[1, [2], ]', '"\\"}"'),
      tie('object'),
    ),
    object: fc
      .tuple(
        fc.uniqueArray(fc.tuple(name, tie('text'), space, space), { selector: ([key]) => key, maxLength: 4 }),
        space,
        fc.boolean(),
      )
      .map(([members, end, hasComma]) => {
        const written = members.map(([key, value, before, after]) => `${before}${JSON.stringify(key)}:${after}${value}`)
        return `{${written.join(',')}${hasComma && members.length > 0 ? ',' : ''}${end}}`
      }),
  }))

  /** The parsed file without our entry, and without the object that had it if that is empty. */
  const withoutEntry = (json: string): unknown => {
    const { mcpServers, ...rest } = readJsonEntry(json, []) as Record<string, Record<string, unknown>>
    const { pharos: _, ...servers } = mcpServers ?? {}
    return Object.keys(servers).length === 0 ? rest : { ...rest, mcpServers: servers }
  }

  test('keeps every other value, and every character outside of the entry', () => {
    fc.assert(
      fc.property(space, text, space, (before, body, after) => {
        const file = before + body + after
        let edited: string
        try {
          edited = setJsonEntry(file, PATH, ENTRY)
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigSyntaxError)
          return
        }
        expect(readJsonEntry(edited, PATH)).toEqual(ENTRY)
        expect(withoutEntry(edited)).toEqual(withoutEntry(file))
        const present = readJsonEntry(file, PATH)
        if (present === undefined) expect(hasAllOf(edited, file)).toBe(true)
        expect(setJsonEntry(edited, PATH, ENTRY).replaceAll(/\s/g, '')).toBe(edited.replaceAll(/\s/g, ''))
        const removed = removeJsonEntry(edited, PATH)
        expect(readJsonEntry(removed, PATH)).toBeUndefined()
        expect(withoutEntry(removed)).toEqual(withoutEntry(file))
      }),
      { numRuns: 2000 },
    )
  })
})
