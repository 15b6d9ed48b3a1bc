import { describe, expect, test } from 'vitest'
import { expandIncludes, listCandidatePaths, listIncludes, readIncludes } from './includes.ts'

describe('candidate paths of an included file', () => {
  test.each([
    ['a.py', 'docs/guide/x.md', ['docs/guide/a.py', 'docs/a.py', 'a.py']],
    ['../../src/a.py', 'docs/en/docs/x.md', ['docs/src/a.py', 'src/a.py']],
    ['@/parts/a.md', 'docs/x.md', ['docs/parts/a.md', 'parts/a.md']],
    ['@site/docs/_a.mdx', 'docs/x.mdx', ['docs/docs/_a.mdx', 'docs/_a.mdx']],
    ['../../../a.py', 'docs/x.md', []],
    ['/etc/passwd', 'docs/x.md', []],
    ['https://example.org/a.md', 'docs/x.md', []],
    ['C:\\a.md', 'docs/x.md', []],
    ['a/../../../b', 'docs/x.md', []],
  ])('%s in %s resolves to %j, and never outside of the tree', (written, document, candidates) => {
    expect(listCandidatePaths(written, document)).toEqual(candidates)
  })
})

describe('included files', () => {
  const read = (files: Readonly<Record<string, string>>) => async (path: string) => files[path]

  test('are listed in every syntax, each of them once', async () => {
    const lines = [
      '--8<-- "a.md"',
      '{* a.py hl[1] *}',
      '<<< @/b.ts',
      '<!--@include: c.md-->',
      '{{#include d.rs:x}}',
      '--8<-- "a.md"',
    ]
    expect(listIncludes(lines)).toEqual(['a.md', 'a.py', '@/b.ts', 'c.md', 'd.rs'])
  })

  test('replace the components and code blocks of MDX that show them, unless they are missing or the use is in code', async () => {
    const text = [
      "import Note, { toc } from './_note.mdx'",
      "import source from '!!raw-loader!./dock.py'",
      "import Gone from './_gone.md'",
      '',
      'Before',
      '<Note kind="tip" />',
      'After',
      '',
      '<CodeBlock language="py" title="dock.py">{source}</CodeBlock>',
      '',
      '<Gone />',
      '',
      '```jsx',
      '<Note />',
      '```',
    ]
    const tree = { 'docs/_note.mdx': '---\ntitle: x\n---\nMind the gap.', 'docs/dock.py': 'dock()' }
    const files = await readIncludes(text.join('\n'), 'docs/x.mdx', read(tree))
    expect(expandIncludes(text, files).slice(4)).toEqual([
      'Before',
      '',
      'Mind the gap.',
      '',
      'After',
      '',
      '```py title="dock.py"',
      'dock()',
      '```',
      '',
      '<Gone />',
      '',
      '```jsx',
      '<Note />',
      '```',
    ])
  })

  test('may include other files; files that include each other are expanded a limited number of times', async () => {
    const files = await readIncludes(
      '--8<-- "a.md"',
      'x.md',
      read({ 'a.md': 'A\n--8<-- "b.md"\n', 'b.md': 'B\n--8<-- "a.md"\n' }),
    )
    const lines = expandIncludes(['--8<-- "a.md"'], files)
    expect(lines.slice(0, 4)).toEqual(['A', 'B', 'A', 'B'])
    expect(lines.length).toBeLessThan(20)
  })

  test('are shown by their names if they are missing or outside the tree', async () => {
    const text = '<<< ../../a.js\n\n```py\n--8<-- "../../b.py"\n```'
    expect(
      expandIncludes(text.split('\n'), await readIncludes(text, 'docs/x.md', read({ 'a.js': 'x' }))).join('\n'),
    ).toBe('`a.js`\n\n```py\nb.py\n```')
  })

  test('have a limited size in total, even if one file is included many times', () => {
    const lines = Array.from({ length: 1000 }, () => '--8<-- "a.txt"')
    const expanded = expandIncludes(lines, { 'a.txt': 'x'.repeat(100_000) }).join('\n')
    expect(expanded.length).toBeLessThan(2_200_000)
    expect(expanded).toMatch(/`a\.txt`$/)
  })
})
