import { describe, expect, test } from 'vitest'
import { showDocument } from '../../test/document-markdown.ts'
import { convertRst } from './rst.ts'

const show = async (text: string) => (await showDocument(convertRst, text)).markdown.trim()

describe('reStructuredText sections', () => {
  test('section levels follow the first use of their marks, and sections have fragments', async () => {
    const { about, sections, markdown } = await showDocument(
      convertRst,
      '=====\nGuide\n=====\n\nFirst\n=====\n\nInside\n------\n\nText.\n\nFirst\n=====\n',
    )
    expect(markdown).toBe('# Guide\n\n## First\n\n### Inside\n\nText.\n\n## First\n')
    expect(about.title).toBe('Guide')
    expect(sections[0]?.children.map(({ anchor }) => anchor)).toEqual(['first', 'first-2'])
  })

  test('a transition is not a section', async () => {
    expect(await show('Above\n\n-----\n\nBelow')).toBe('Above\n\n---\n\nBelow')
  })

  test('fields at the start give the author and the language', async () => {
    const text = ':orphan:\n\nTitle\n=====\n\n:Author: Ada Lovelace\n:Language: en\n\nText'
    const { about, markdown } = await showDocument(convertRst, text)
    expect(about).toMatchObject({ title: 'Title', author: 'Ada Lovelace', language: 'en' })
    expect(markdown).not.toContain('orphan')
  })
})

describe('convertRst with inline markup', () => {
  test.each([
    ['*one* **two** ``three``', '*one* **two** `three`'],
    ['`a title of work` and `name`', '*a title of work* and `name`'],
    ['2*3*4 and \\*no\\* and "*"', '2\\*3\\*4 and \\*no\\* and "\\*"'],
    [':func:`~os.path.join` :meth:`get` :class:`dict`', '`join()` `get()` `dict`'],
    [
      ':pep:`8` and :rfc:`2822`',
      '[PEP 8](https://peps.python.org/pep-0008/) and [RFC 2822](https://datatracker.ietf.org/doc/html/rfc2822.html)',
    ],
    [':doc:`the start <guide/start>`', '[the start](https://docs.example/guide/start.rst)'],
    [':ref:`words <elsewhere>` and :term:`word <other>`', 'words and word'],
    [':math:`x^2`', '$x^2$'],
    [':kbd:`Ctrl` :file:`{home}/x` :guilabel:`&Open`', '`Ctrl` `home/x` **Open**'],
    ['See https://example.org/a(b).', 'See [https://example.org/a(b)](https://example.org/a(b)).'],
    ['`words <https://example.org/>`_', '[words](https://example.org/)'],
    ['`run <javascript:alert(1)>`_', 'run'],
    ['snake_case and end_', 'snake_case and end\\_'],
  ])('converts %s', async (source, markdown) => {
    expect(await show(source)).toBe(markdown)
  })

  test('references lead to targets, sections and anonymous targets', async () => {
    const text = [
      'Python_, `the start`_, here__ and :ref:`label`.',
      '',
      '.. _Python: https://python.org/',
      '__ https://example.org/here',
      '',
      '.. _label:',
      '',
      'The start',
      '=========',
    ].join('\n')
    expect(await show(text)).toContain(
      '[Python](https://python.org/), [the start](https://docs.example/#the-start), [here](https://example.org/here) and [The start](https://docs.example/#the-start).',
    )
  })

  test('substitutions are replaced, and footnotes stay footnotes', async () => {
    const text = 'The |name| [#]_ of |unknown| [1]_.\n\n.. |name| replace:: *good* name\n.. [#] First.\n.. [1] Second.'
    expect(await show(text)).toBe('The *good* name [^1] of |unknown| [^1--2].\n\n[^1]: First.\n\n[^1--2]: Second.')
  })
})

describe('convertRst with blocks', () => {
  test('converts lists, also nested', async () => {
    expect(await show('- a\n\n  more\n\n  1. one\n  2. two\n- b')).toBe('- a\n\n  more\n\n  1. one\n  2. two\n\n- b')
    expect(await show('A. Miller\nwrote it.')).toBe('A. Miller wrote it.')
  })

  test('converts terms, fields and options', async () => {
    expect(await show('term : kind\n    What it is.\n')).toBe('**term : kind**\n\nWhat it is.')
    expect(await show('-a, --all  Everything.\n-b FILE    A file.')).toBe(
      '`-a, --all`\n\nEverything.\n\n`-b FILE`\n\nA file.',
    )
    expect(await show(':name: value')).toBe('**name**\n\nvalue')
  })

  test('converts code after two colons, after a prompt and in a directive', async () => {
    expect(await show('Like this::\n\n    a\n      b\n\nEnd')).toBe('Like this:\n\n```\na\n  b\n```\n\nEnd')
    expect(await show('>>> 1 + 1\n2')).toBe('```pycon\n>>> 1 + 1\n2\n```')
    expect(await show('.. code-block:: ruby\n   :caption: a.rb\n   :linenos:\n\n   puts 1\n')).toBe(
      '**a.rb**\n\n```ruby\nputs 1\n```',
    )
    expect(await show('.. highlight:: c\n\n::\n\n   int a;')).toBe('```c\nint a;\n```')
  })

  test('converts quotations and line blocks', async () => {
    expect(await show('Said:\n\n   Words.')).toBe('Said:\n\n> Words.')
    expect(await show('| one\n| two')).toBe('one  \ntwo')
  })

  test('converts grid tables, simple tables, list tables and CSV tables', async () => {
    const grid =
      '+-----+-----+\n| A   | B   |\n+=====+=====+\n| 1   | two |\n|     | way |\n+-----+-----+\n| over both |\n+-----------+'
    expect(await show(grid)).toBe('| A | B |\n| --- | --- |\n| 1 | two way |\n| over both |')
    const simple = '=====  =====\nA      B\n=====  =====\n1      two\n       way\n2      end\n=====  ====='
    expect(await show(simple)).toBe('| A | B |\n| --- | --- |\n| 1 | two way |\n| 2 | end |')
    const list = '.. list-table:: Sizes\n   :header-rows: 1\n\n   * - A\n     - B\n   * - 1\n     - ``x``'
    expect(await show(list)).toContain('| A | B |\n| --- | --- |\n| 1 | `x` |')
    const values = '.. csv-table:: Values\n   :header: "A", "B"\n\n   "x, y", 2'
    expect(await show(values)).toContain('| A | B |\n| --- | --- |\n| x, y | 2 |')
  })

  test('converts admonitions and version notes', async () => {
    expect(await show('.. note:: Mind\n   this.\n\n   - a')).toBe('> [!NOTE]\n> Mind this.\n>\n> - a')
    expect(await show('.. admonition:: By the way\n\n   Yes.')).toBe('> [!NOTE]\n> **By the way**\n>\n> Yes.')
    expect(await show('.. versionadded:: 3.8\n   With colours.')).toBe('*New in version 3.8*: With colours.')
    expect(await show('.. deprecated:: 2.0')).toContain('*Deprecated since version 2.0*.')
    expect(await show('.. availability:: Unix.')).toBe('*Availability*: Unix.')
    expect(await show('.. audit-event:: lamp.lit room,watts lamp.light')).toBe(
      'Raises an auditing event `lamp.lit` with arguments `room`, `watts`.',
    )
    expect(await show('.. module:: lamp\n.. coroutinefunction:: light(room)\n\n   Lights it.')).toContain(
      'coroutine lamp.light(room)',
    )
  })

  test('converts signatures of described objects', async () => {
    const text = [
      '.. module:: shelf',
      '.. function:: open(name, \\*, flag="r")',
      '              close()',
      '',
      '   Opens *name*.',
      '',
      '   :param str name: Which one.',
      '   :returns: a shelf',
      '',
      '.. class:: Shelf',
      '',
      '   .. method:: get(key)',
      '',
      '      Gets it.',
      '',
      '.. c:function:: int main(void)',
    ].join('\n')
    expect(await show(text)).toBe(
      [
        '`shelf.open(name, *, flag="r")`',
        '`shelf.close()`',
        'Opens *name*.',
        '**Parameter `name` (str)**',
        'Which one.',
        '**Returns**',
        'a shelf',
        '`class shelf.Shelf`',
        '`get(key)`',
        'Gets it.',
        '`int main(void)`',
      ].join('\n\n'),
    )
  })

  test('names included files without reading them, and drops directives that only arrange pages', async () => {
    expect(await show('.. literalinclude:: /etc/passwd\n   :language: c')).toBe('File `/etc/passwd`')
    expect(
      await show(
        'Text\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. raw:: html\n\n   <script>x</script>\n\n.. A comment\n   of two lines',
      ),
    ).toBe('Text')
    expect(await show('.. unknown-thing:: argument\n\n   What it holds.')).toBe('What it holds.')
  })

  test('images keep their alternative text and captions', async () => {
    expect(await show('.. figure:: img/a.png\n   :alt: A map\n\n   The map.')).toBe(
      '![A map](https://docs.example/img/a.png)\n\nThe map.',
    )
  })
})

describe('convertRst with extreme input', () => {
  /** Marks whose repetition takes quadratic time if each search for a closing mark starts anew. */
  const LINES = ['*a ', '`a ', '``a ', ':a:`b ', 'a_ ', '|a ', 'http://a)', '[1]_ ', '- ']
  test.each(LINES)('a long line of %j takes linear time', async (part) => {
    expect((await show(part.repeat(5000))).length).toBeGreaterThan(5000)
  })

  test('keeps the text of lists nested beyond the depth limit', async () => {
    const deep = Array.from({ length: 200 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n')
    expect(await show(deep)).toContain('- a')
  })

  test('refuses substitutions that expand to too much text', async () => {
    const text = ['a', 'b', 'c'].map((name, i) => `.. |${name}| replace:: ${`|${'bcd'[i]}| `.repeat(300)}`).join('\n')
    await expect(show(`${text}\n.. |d| replace:: word\n\n|a|`)).rejects.toThrow('too much text')
  })

  test('a table whose borders do not meet becomes a code block', async () => {
    expect(await show('+---+---+\n| a | b |\n+---+-- +')).toContain('```\n+---+---+')
  })
})

test('words that are also property names of Object are ordinary text', async () => {
  expect(await show('.. js:constructor:: Foo(x)\n\n   Makes one.')).not.toContain('native code')
})
