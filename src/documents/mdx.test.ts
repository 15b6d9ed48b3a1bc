import { describe, expect, test } from 'vitest'
import type { TextDocument } from './document.ts'
import { convertMdx } from './mdx.ts'

async function read(...lines: string[]): Promise<string> {
  const converted = await convertMdx(new TextEncoder().encode(lines.join('\n')), 'a.mdx')
  return (converted as TextDocument).body.text.trim()
}

describe('what is code of a program', () => {
  test('imports and exports are left out, sentences are not', async () => {
    const lines = [
      '---',
      'title: Start',
      '---',
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
    expect(await read(...lines)).toBe('# Title\n\nimport this is a sentence.\n\nEnd.')
    const { title } = (await convertMdx(new TextEncoder().encode(lines.join('\n')), 'a.mdx')) as TextDocument
    expect(title).toBe('Start')
  })

  test('expressions are dropped unless they are text', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what stands in MDX.
    expect(await read('a {x.y({b: "}"})}b {/* no */}{"text"}{`more`}{`${x}`} \\{c\\}')).toBe('a b textmore \\{c\\}')
  })

  test('code in fences and in spans stays', async () => {
    const code = ['```jsx', 'import x from "y"', '<A b={c}>{d}</A>', '', '', 'export {}', '```']
    expect(await read('Use `<A b={c}>` and ``a`{b}``:', '', ...code)).toBe(
      ['Use `<A b={c}>` and ``a`{b}``:', '', ...code].join('\n'),
    )
  })
})

describe('components', () => {
  test('boxes become boxes', async () => {
    expect(await read('<Callout type="warning" title="Mind">', '  Be **careful**.', '</Callout>', 'After.')).toBe(
      '> [!WARNING]\n> **Mind**\n>\n>   Be **careful**.\n\nAfter.',
    )
    expect(await read('<Note>Short.</Note>')).toBe('> [!NOTE]\n> Short.')
    expect(await read(':::tip[Nice]', 'Works.', ':::')).toBe('> [!TIP]\n> **Nice**\n>\n> Works.')
  })

  test('tabs, steps and cards keep what they hold below their titles', async () => {
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
    expect(await read(...lines)).toBe(
      '**npm**\n\n```sh\nnpm i\n```\n\n**yarn**\n\nUse [yarn](./yarn.md).\n\n**One**\n\nDo.\n\n[**API**](/api)',
    )
  })

  test('others are left out but for their text; elements of HTML become Markdown', async () => {
    expect(await read('<Chart data={[1, {a: ">"}]} onClick={() => go()} />', '', 'Text <Badge>new</Badge>')).toBe(
      'Text new',
    )
    expect(await read('<a href="/x y">link</a> <b>bold</b> <img src="a.png" alt="A" /> 5 < 6')).toBe(
      '[link](/x%20y) **bold** ![A](a.png) 5 < 6',
    )
    expect(await read('<script>alert(1)</script><style>{`a`}</style>Text<!-- no -->')).toBe('Text')
    expect(await read('<a href="javascript:alert(1)">run</a>')).toBe('run')
    expect(await read('<ParamField path="id" type="string" required>', 'The id.', '</ParamField>')).toBe(
      '`id` (string, required)\n\nThe id.',
    )
  })

  test('lists keep their indent', async () => {
    expect(await read('- a', '    - b', '', '      more', '- c')).toBe('- a\n    - b\n\n      more\n- c')
  })
})

test.each([
  '{',
  '{a',
  '<a ',
  '<a b={',
  '<!--',
  '`',
  '{`',
  '{/*',
  '<Note>\n',
  '```\n',
  'import {\n',
  'export const a = {\n\n',
  ':::note\n',
])('many of %j take no longer', async (part) => {
  expect(await read('Text', '', part.repeat(3000))).toContain('Text')
})

test('names that objects have by themselves are components like others', async () => {
  expect(await read('<Constructor>', '', 'One.', '', '</Constructor>', '', ':::constructor', 'Two.')).not.toMatch(
    /native code|\[!/,
  )
})
