import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanDialects } from './clean-dialects.ts'

function clean(text: string, isMdx = false): string {
  return cleanDialects(text.split('\n'), { isMdx, fields: new Map() }).lines.join('\n').trim()
}

function cleanMdx(...lines: string[]): string {
  return clean(lines.join('\n'), true)
}

describe('JavaScript in MDX', () => {
  test('imports and exports are dropped, and sentences that begin with `import` or `export` are kept', () => {
    const lines = [
      "import A from 'a'",
      'import B, {',
      '  c',
      "} from 'b'",
      '',
      'export const meta = {',
      '  a: "}",',
      '',
      '  b: () => { return 1 }',
      '}',
      '',
      '# Title',
      '',
      'import this is a sentence.',
      '',
      'export default ({ children }) => <Layout>{children}</Layout>',
      '',
      'End.',
    ]
    expect(cleanMdx(...lines)).toBe('# Title\n\nimport this is a sentence.\n\nEnd.')
    expect(clean(lines.join('\n'))).toBe('# Title\n\nimport this is a sentence.\n\nEnd.')
  })

  test('expressions are dropped unless they are string literals', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is MDX, not a template literal.
    expect(cleanMdx('a {x.y({b: "}"})}b {/* no */}{"text"}{`more`}{`${x}`} \\{c\\}')).toBe('a b textmore \\{c\\}')
  })

  test('code in fences and in spans is kept', () => {
    const code = ['```jsx', 'import x from "y"', '<A b={c}>{d}</A>', '', '', 'export {}', '```']
    const lines = ['Use `<A b={c}>` and ``a`{b}``:', '', ...code]
    expect(cleanMdx(...lines)).toBe(lines.join('\n'))
  })
})

describe('components', () => {
  test('become admonitions according to their names and types', () => {
    expect(cleanMdx('<Callout type="warning" title="Mind">', '  Be **careful**.', '</Callout>', 'After.')).toBe(
      '> [!WARNING]\n> **Mind**\n>\n> Be **careful**.\n\nAfter.',
    )
    expect(clean('<Note>Short.</Note>')).toBe('> [!NOTE]\n> Short.')
    expect(clean('- <Note>In an item.</Note>\n- Next')).toBe('- > [!NOTE]\n  > In an item.\n\n- Next')
  })

  test('keep their content below their titles', () => {
    const lines = [
      "<Tabs items={['a', 'b']}>",
      '  <Tab title="npm">',
      '    ```sh',
      '    npm i',
      '    ```',
      '  </Tab>',
      "  <TabItem label='yarn'>",
      '    Use [yarn](./yarn.md).',
      '  </TabItem>',
      '</Tabs>',
      '<Steps><Step title="One">Do.</Step></Steps>',
      '<Card title="API" href="/api" />',
    ]
    const expected =
      '**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\nUse [yarn](./yarn.md).\n\n**One**\n\nDo.\n\n[**API**](/api)'
    expect(cleanMdx(...lines)).toBe(expected)
    expect(clean(lines.join('\n'))).toBe(expected)
  })

  test('are replaced by their text if they are unknown; HTML elements become Markdown', () => {
    expect(cleanMdx('<Chart data={[1, {a: ">"}]} onClick={() => go()} />', '', 'Text <Badge>new</Badge>')).toBe(
      'Text new',
    )
    expect(clean('<a href="/x y">link</a> <b>bold</b> <img src="a.png" alt="A" /> 5 < 6')).toBe(
      '[link](/x%20y) **bold** ![A](a.png) 5 < 6',
    )
    expect(clean('<a href="javascript:alert(1)">run</a>')).toBe('run')
    expect(clean('2<sup>64</sup>, the 1<sup>st</sup>, H<sub>2</sub>O')).toBe('2^64, the 1st, H2O')
  })

  test('are unknown components if they are named like object properties (`constructor`)', () => {
    expect(
      cleanMdx('<Constructor>', '', 'One.', '', '</Constructor>', '', ':::constructor', 'Two.', ':::'),
    ).not.toMatch(/native code|\[!/)
  })
})

describe('code', () => {
  test.each([
    ['js displayName="Basic use"', '**Basic use**\n\n```js\nx\n```'],
    ['js{1,3-5}', '```js\nx\n```'],
    ['{ .js title="a.js" }', '**a.js**\n\n```js\nx\n```'],
    ['rust,ignore', '```rust,ignore\nx\n```'],
  ])('keeps language and title of the info string of a fence: %s', (info, expected) => {
    expect(clean(`\`\`\`${info}\nx\n\`\`\``)).toBe(expected)
  })
})

describe('plain Markdown', () => {
  test.each([
    ['braces in prose', 'GET /users/{id} gives {"id": 1} or {name}.\n\n{ } and {a} {b}'],
    ['colons that open nothing', 'Use ::: here.\n\n:::note\nnever closed\n\nstd::vector ::: end'],
    ['marks in prose', '!!! warning\nnot indented\n\n=== x\n\n/// path\n\n??? what'],
    ['types in angle brackets', 'A List<Item> and <Name> or <key> and a < b > c.'],
    [
      'template syntax in code',
      '`{{ x }}` and\n\n```vue\n<p v-if="a">{{ b }}</p>\n```\n\n    {% raw %}\n    <Note>x</Note>',
    ],
    ['formulas', 'Let $\\frac{a}{b}$ and\n\n$$\n\\sum_{i=1}^{n} x_{i}\n$$'],
    ['lists', '- a\n    - b\n\n      more\n- c\n\n1. x\n\n       code {y}\n'],
    ['fences with words', '```js some words\nx\n```\n\n~~~ {not\n~~~'],
    ['quotations', '> a {b}\n>c\nlazy\n\n> > nested <x>\n>\n>     code <b>'],
    ['white space at the ends of lines', '{a}  \nb\n   \n\n\n{c}\t'],
    [
      'import and export in sentences',
      'import data from the old system\n\nexport const is a keyword\n\nexport default values',
    ],
  ])('keeps %s', (_, text) => {
    expect(cleanDialects(text.split('\n'), { isMdx: false, fields: new Map() }).lines.join('\n')).toBe(text)
  })

  test('stays unchanged, byte for byte', () => {
    fc.assert(
      fc.property(document, (text) => {
        const { lines } = cleanDialects(text.split('\n'), { isMdx: false, fields: new Map() })
        expect(lines.join('\n')).toBe(text)
      }),
    )
  })

  test('keeps all code unchanged', () => {
    const line = fc
      .string({ unit: 'grapheme-ascii', maxLength: 30 })
      .filter((text) => !/[`~]{3}|\[!code|\^\?|8<-|[<{]/.test(text))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.constantFrom('', '{a} '), (lines, before) => {
        const text = [`${before}text`, '', '```js', ...lines, '```', '', '{b}'].join('\n')
        expect(cleanDialects(text.split('\n'), { isMdx: false, fields: new Map() }).lines.join('\n')).toBe(text)
      }),
    )
  })
})

/** Prose with characters that dialects use as syntax, but without any construct of a dialect. */
const words = fc.constantFrom(
  ...[
    'word',
    'a {b} c',
    '{x}',
    '`<T>{y}`',
    '**bold**',
    '[a](b.md)',
    'f(x) { return }',
    'a < b',
    '5 > 4',
    ':::',
    'x ::: y',
    '!',
    '$5',
    'é',
    '{{x}}',
    '\\{',
    '100%',
    '<https://a.example/>',
    '#1',
    '[^1]',
    '~~no~~',
  ],
)
const sentence = fc.array(words, { minLength: 1, maxLength: 6 }).map((parts) => `So ${parts.join(' ')}.`)
const block: fc.Arbitrary<string> = fc.oneof(
  sentence,
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  fc.tuple(fc.integer({ min: 1, max: 6 }), sentence).map(([level, text]) => `${'#'.repeat(level)} ${text}`),
  fc.array(sentence, { minLength: 1, maxLength: 4 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
  fc
    .array(sentence, { minLength: 1, maxLength: 4 })
    .map((items) => items.map((item, i) => `${i + 1}. ${item}\n\n   more`).join('\n')),
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((lines) => lines.map((line) => `> ${line}`).join('\n')),
  fc
    .array(sentence, { minLength: 1, maxLength: 3 })
    .map((lines) => ['```js', ...lines, '<Note>{%', '!!! note', '```'].join('\n')),
  fc
    .array(sentence, { minLength: 1, maxLength: 3 })
    .map((lines) => lines.map((line) => `    ${line} <b>{x}`).join('\n')),
  fc.constant('---'),
  fc.constant('| a | {b} |\n| --- | --- |\n| `c` | d |'),
)
const document = fc.array(block, { minLength: 1, maxLength: 8 }).map((blocks) => blocks.join('\n\n'))

describe('hostile Markdown', () => {
  const parts = [
    ':::note\n',
    ':::{note}\n',
    ':::{foo}\n',
    '::: a\n:::\n',
    '<Tabs>\n',
    '<Tabs><Tab title="x">\n',
    '<Note>',
    '{',
    '{/*',
    '{{< a ',
    '{% a ',
    '{% hint %}\n',
    '!!! note "x"\n    ',
    '=== "x"\n    ',
    '/// tip | x\n',
    '> [!NOTE]\n',
    '>',
    '`',
    '```{note}\n',
    '````\n',
    '<!--\n\n',
    '<pre>\n\n',
    '<b>x',
    '<table>',
    '$a',
    'import {\n\n',
    'export const a = {\n\n',
    '- ',
    '{: .note }\nx\n',
    '(a)=\n# x\n',
    '--8<-- "a"\n',
    ' ',
    '    x\n\n',
    '<b>x</b>',
    '{ .a }',
    '++a',
  ]

  test.each(parts)(
    'output grows by a bounded factor and characters are rescanned a bounded number of times: %j',
    (part) => {
      for (const tail of ['', '\n:::\n', ' */} %} >}} </Note></Tabs></b></table>\n```\n']) {
        const text = `Text\n\n${part.repeat(Math.ceil(20_000 / part.length))}${tail}`
        for (const isMdx of [false, true]) {
          const { lines, scannedChars } = cleanDialects(text.split('\n'), { isMdx, fields: new Map() })
          expect(lines[0]).toBe('Text')
          expect(lines.join('\n').length).toBeLessThan(8 * text.length)
          expect(scannedChars).toBeLessThan(25 * text.length + 300_000)
        }
      }
    },
  )
})
