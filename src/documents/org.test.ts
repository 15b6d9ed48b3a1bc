import { describe, expect, test } from 'vitest'
import { showDocument } from '../../test/document-markdown.ts'
import { convertOrg } from './org.ts'

const show = async (...lines: string[]) => (await showDocument(convertOrg, lines.join('\n'))).markdown.trim()

describe('Org headlines', () => {
  test("headlines are below the title, without the author's private notes", async () => {
    const text = [
      '#+TITLE: Notes',
      '#+AUTHOR: Ada',
      '#+LANGUAGE: en',
      '#+DATE: <2024-05-01 Wed>',
      '* TODO [#A] First [1/2] :tag:',
      'SCHEDULED: <2024-01-01 Mon>',
      ':PROPERTIES:',
      ':CUSTOM_ID: one',
      ':END:',
      'Text.',
      '** Inside',
      '* COMMENT Secret',
      'hidden',
      '* Private :noexport:',
      '** Below',
      'hidden',
      '* Last',
    ].join('\n')
    const { about, markdown, sections } = await showDocument(convertOrg, text)
    expect(about).toEqual({ title: 'Notes', author: 'Ada', language: 'en', modifiedAt: '2024-05-01' })
    expect(markdown).toBe('# Notes\n\n## First\n\nText.\n\n### Inside\n\n## Last\n')
    expect(sections[0]?.children.map(({ anchor }) => anchor)).toEqual(['one', 'last'])
  })

  test('a headline becomes the title if the file has none', async () => {
    expect((await showDocument(convertOrg, '* Only\ntext')).about.title).toBe('Only')
  })
})

describe('convertOrg with inline text', () => {
  test.each([
    ['*b* /i/ =v= ~c~ +s+ _u_', '**b** *i* `v` `c` ~~s~~ u'],
    ['a*b*c 1/2/3 snake_case_', 'a\\*b\\*c 1/2/3 snake_case\\_'],
    ['[[https://example.org][site]]', '[site](https://example.org/)'],
    ['[[file:other.org::*Part][other]]', '[other](https://docs.example/other.org)'],
    ['[[./a.png]]', '![](https://docs.example/a.png)'],
    ['[[elisp:(delete-file "x")][run]] [[shell:rm]]', 'run shell:rm'],
    ['<2024-05-01 Wed> and \\alpha{} and \\(x^2\\)', '2024-05-01 Wed and α and $x^2$'],
    ['{{{macro(1)}}}text', 'text'],
  ])('converts %s', async (source, markdown) => {
    expect(await show(source)).toBe(markdown)
  })

  test('links lead to headlines, footnotes and abbreviated addresses', async () => {
    const lines = [
      '#+LINK: bug https://bugs.example/%s',
      'See [[*Part]], [[bug:7][it]] [fn:1] [fn::inline].',
      '* Part',
      '* Footnotes',
      '[fn:1] Noted.',
    ]
    expect(await show(...lines)).toBe(
      'See [Part](https://docs.example/#part), [it](https://bugs.example/7) [^1] [^note-2].\n\n# Part\n\n[^1]: Noted.\n\n[^note-2]: inline',
    )
  })
})

describe('convertOrg with blocks', () => {
  test('converts lists with checkboxes, numbers and terms', async () => {
    expect(await show('- a', '  - [X] done', '  - [ ] open', '- b')).toBe('- a\n  - [x] done\n  - [ ] open\n- b')
    expect(await show('3. three', '4. four')).toBe('3. three\n4. four')
    expect(await show('- term :: what it is')).toBe('**term**\n\nwhat it is')
  })

  test('converts tables', async () => {
    const lines = ['#+CAPTION: Sizes', '| A | B |', '|---+---|', '| <l> | <r5> |', '| 1 | =x= |', '#+TBLFM: $1=2']
    expect(await show(...lines)).toBe('**Sizes**\n\n| A | B |\n| --- | --- |\n| 1 | `x` |')
  })

  test('converts code, quotations and boxes', async () => {
    expect(await show('#+BEGIN_SRC emacs-lisp :eval yes', '(a)', ',* b', '#+END_SRC')).toBe('```elisp\n(a)\n* b\n```')
    expect(await show(': fixed', ':  width')).toBe('```\nfixed\n width\n```')
    expect(await show('#+begin_quote', 'Said.', '#+end_quote')).toBe('> Said.')
    expect(await show('#+begin_warning', 'Mind.', '#+end_warning')).toBe('> [!WARNING]\n> Mind.')
  })

  test('drops blocks that are not exported, and does not read included files', async () => {
    const hidden = [
      '#+begin_export html',
      '<script>x</script>',
      '#+end_export',
      '#+begin_comment',
      'no',
      '#+end_comment',
      '# no',
    ]
    expect(await show('Text', ...hidden, '#+INCLUDE: "/etc/passwd" src')).toBe('Text\n\nFile `/etc/passwd`')
  })
})

describe('convertOrg with extreme input', () => {
  test.each([
    '*a ',
    '[[a',
    '[fn:',
    '\\(',
    '#+begin_src\n',
    ':a:\n',
    '\\begin{a}\n',
    '|',
    '- a\n',
    'http://a)',
    '{{{a(',
  ])('stays fast when %j is repeated 3000 times', async (part) => {
    expect((await showDocument(convertOrg, `Text\n\n${part.repeat(3000)}`)).markdown).toContain('Text')
  })

  test('keeps the text of marks and lists nested beyond the depth limit', async () => {
    expect(await show(`x ${'*'.repeat(5000)}a`)).toContain('a')
    expect(await show(...Array.from({ length: 150 }, (_, i) => `${'  '.repeat(i)}- a`))).toContain('- a')
  })
})

test('words that are also property names of Object are ordinary text', async () => {
  expect(await show('Call \\constructor now.', '', '#+begin_src constructor', 'x', '#+end_src')).toBe(
    'Call \\constructor now.\n\n```constructor\nx\n```',
  )
})
