import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../../test/cpu-time.ts'
import { parseHtml } from '../../html/parse-html.ts'
import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Section } from '../../model.ts'
import { type WrittenMarkdown, writeMarkdown } from './markdown.ts'

function bodyOf(html: string): Element {
  const root = parseHtml(`<body>${html}`)
  return find(root, ({ name }) => name === 'body') ?? root
}

function written(html: string): WrittenMarkdown {
  return writeMarkdown([bodyOf(html)], 'https://ex.org/a/b.html')
}

function markdownOf(html: string): string {
  return written(html).markdown
}

describe('writeMarkdown for inline markup', () => {
  test.each([
    ['keeps emphasis and code', '<p><b>a</b> <em>b</em> <code>c</code> <del>d</del>', '**a** *b* `c` ~~d~~'],
    ['keeps spaces out of emphasis', '<p>x<b> bold </b>y <i> </i>z', 'x **bold** y z'],
    ['joins emphasis that touches', '<p><b>a</b><strong>b</strong>', '**ab**'],
    ['writes nested emphasis once', '<p><b>a <i>b</i> <b>c</b></b>', '**a b c**'],
    ['leaves out emphasis that Markdown cannot express', '<p>a<b>(b)</b>c, <b>d.</b>e', 'a(b)c, d.e'],
    [
      'encloses code that has backticks in longer runs of backticks',
      '<p><code>a`b</code> <code>``</code> <code>x</code><code>y</code>',
      '``a`b`` ``` `` ``` `xy`',
    ],
    [
      'links code that is a link',
      '<p><code><a href="/x">f()</a></code> <a href="/y"><code>g()</code></a>',
      '[`f()`](https://ex.org/x) [`g()`](https://ex.org/y)',
    ],
    [
      'writes powers and indices',
      '<p>x<sup>2</sup> 10<sup>6</sup> 1<sup>st</sup> x<sup>n+1</sup> 2<sup><i>p</i>−1</sup> 2<sup><code>k</code></sup> 10<sup>precision</sup> Tree<sup><a href="#p">PREVIEW</a></sup> H<sub>2</sub>O a1<sub>2</sub>',
      'x^2 10^6 1st x^n+1 2^*p*−1 2^`k` 10^precision Tree [PREVIEW](https://ex.org/a/b.html#p) H2O a1\\_2',
    ],
    [
      'writes other inline elements as text',
      '<p><mark>m</mark> <q>quote</q> <abbr title="x">HTML</abbr> <kbd>Ctrl</kbd>+<kbd>C</kbd>',
      'm "quote" HTML Ctrl+C',
    ],
    ['writes ruby in brackets', '<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>', '漢(kan)'],
    ['breaks lines, and paragraphs at two breaks', '<p>a<br>b<br><br>c<br>', 'a  \nb\n\nc'],
    [
      'leaves out form controls',
      '<p>a <button>Go</button><select><option>x</option></select><input value="y"><textarea>z</textarea> b',
      'a b',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('writeMarkdown for blocks', () => {
  test.each([
    ['finds blocks in inline elements', '<a><div>x</div></a><span><p>y</p></span>z<b><p>w</p></b>', 'x\n\ny\n\nz\n\nw'],
    ['writes unknown elements as their content', 'a<my-box>b</my-box> <my-box><p>c</p></my-box>', 'ab\n\nc'],
    ['keeps words of different blocks apart', '<div>a</div><div>b</div><section>c</section>d', 'a\n\nb\n\nc\n\nd'],
    ['writes quotations', '<blockquote><p>q</p><p>r</p></blockquote>', '> q\n>\n> r'],
    ['writes rules', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
    [
      'writes details expanded',
      '<details><summary>More <b>info</b></summary><p>content</p></details>',
      '**More info**\n\ncontent',
    ],
    [
      'writes terms and definitions',
      '<dl><dt>term</dt><dd>def</dd><dt><code>-o</code></dt><dd><p>one</p><p>two</p></dd></dl>',
      '**term**\n\ndef\n\n`-o`\n\none\n\ntwo',
    ],
    [
      'writes media and frames with a title as links',
      '<iframe src="/v" title="Video"></iframe><video src="/no-title.mp4"></video>',
      '[Video](https://ex.org/v)',
    ],
    ['fences code', '<pre>a\n\n  b\n</pre><pre>```\nx\n```</pre>', '```\na\n\n  b\n```\n\n````\n```\nx\n```\n````'],
    [
      'writes headings, except empty ones',
      '<h1>One</h1><h2> </h2><h3>1. Two <b>b</b></h3>',
      '# One\n\n### 1. Two **b**',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('writeMarkdown for lists', () => {
  test.each([
    ['writes tight lists', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>', '- a\n- b\n  - c'],
    ['writes loose lists', '<ol start="9"><li><p>a</p><p>b</p></li><li>c</li></ol>', '9. a\n\n   b\n\n10. c'],
    ['indents code in items', '<ul><li>a<pre>x\n\ny</pre></li></ul>', '- a\n\n  ```\n  x\n\n  y\n  ```'],
    [
      'writes checkboxes',
      '<ul><li><input type="checkbox" checked> done</li><li><label><input type="checkbox"> todo</label></li><li>[x] text</li></ul>',
      '- [x] done\n- [ ] todo\n- \\[x] text',
    ],
    ['keeps two lists apart', '<ul><li>a</li></ul><ul><li>b</li></ul><ol><li>c</li></ol>', '- a\n\n* b\n\n1. c'],
    ['adds a list directly inside a list to the item above', '<ul><li>a</li><ul><li>b</li></ul></ul>', '- a\n  - b'],
    [
      'writes a list whose items have headings as sections',
      '<ul><li><h3>A</h3><p>x</p></li><li><h3>B</h3><p>y</p></li></ul>',
      '### A\n\nx\n\n### B\n\ny',
    ],
    [
      'writes a blank line before a nested list that does not start at 1',
      '<ul><li>a<ol start="4"><li>b</li></ol></li></ul>',
      '- a\n\n  4. b',
    ],
    ['keeps numbers of items', '<ol><li>a<li value="5">b<li>c</ol>', '1. a\n5. b\n6. c'],
    [
      'limits numbers to those that Markdown readers accept',
      '<ol start="999999999"><li>a<li>b</ol>',
      '999999999. a\n999999999. b',
    ],
    ['drops empty items', '<ul><li></li><li>a</li></ul>', '- a'],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('writeMarkdown for tables', () => {
  test.each([
    [
      'writes rows and a header',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr><tr></tr></tbody></table>',
      '| A | B |\n| --- | --- |\n| 1 | 2 |',
    ],
    [
      'writes an empty header when there is none',
      '<table><tr><td>a</td><td>b</td></tr></table>',
      '| | |\n| --- | --- |\n| a | b |',
    ],
    [
      'repeats cells that span others',
      '<table><tr><th>A</th><th colspan="2">B</th></tr><tr><td rowspan="2">1</td><td>x</td><td>y</td></tr><tr><td>z</td><td>w</td></tr></table>',
      '| A | B | B |\n| --- | --- | --- |\n| 1 | x | y |\n| 1 | z | w |',
    ],
    [
      'creates no columns for spans without cells',
      '<table><tr><td colspan="1000000">a</td></tr><tr><td>b</td><td>c</td></tr></table>',
      '| | |\n| --- | --- |\n| a |\n| b | c |',
    ],
    [
      'writes blocks of a cell on one line',
      '<table><tr><td><p>One.</p><p>Two</p></td><td><ul><li>p</li><li>q</li></ul></td><td>x<br>y</td><td><pre>a\nb</pre></td></tr></table>',
      '| | | | |\n| --- | --- | --- | --- |\n| One. Two | p; q | x y | `a` `b` |',
    ],
    [
      'escapes pipes',
      '<table><tr><td>a|b</td><td><code>x|y</code></td><td><code>x\\|y</code></td></tr></table>',
      '| | | |\n| --- | --- | --- |\n| a\\|b | `x\\|y` | x\\\\\\|y |',
    ],
    [
      'flattens tables in tables',
      '<table><tr><td>a</td><td><table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table></td></tr></table>',
      '| | |\n| --- | --- |\n| a | 1, 2; 3, 4 |',
    ],
    [
      'writes the caption before the table',
      '<table><caption>Cap</caption><tr><th>a</th><th>b</th></tr></table>',
      '**Cap**\n\n| a | b |\n| --- | --- |',
    ],
    [
      'writes a cell over the whole width once',
      '<table><tr><th>A</th><th>B</th></tr><tr><td colspan="2">part</td></tr><tr><td>1</td><td>2</td></tr></table>',
      '| A | B |\n| --- | --- |\n| part |\n| 1 | 2 |',
    ],
    [
      'writes a header cell over the whole width as a caption',
      '<table><tr><th colspan="2">Cap</th></tr><tr><th>a</th><td>1</td></tr></table><table><tr><th colspan="2">Cap</th></tr><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>',
      '**Cap**\n\n| | |\n| --- | --- |\n| a | 1 |\n\n**Cap**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
    [
      'writes a header cell over many columns once',
      '<table><thead><tr><th colspan="3">All</th></tr></thead><tr><td>1</td><td>2</td><td>3</td></tr></table>',
      '| All | | |\n| --- | --- | --- |\n| 1 | 2 | 3 |',
    ],
    [
      'keeps a table with little code on several lines',
      '<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td><pre>a\nb</pre></td></tr><tr><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>',
      '| A | B |\n| --- | --- |\n| 1 | `a` `b` |\n| 2 | 3 |\n| 4 | 5 |',
    ],
    [
      'puts the footer last',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tfoot><tr><td>sum</td><td>2</td></tr></tfoot><tbody><tr><td>1</td><td>1</td></tr></tbody></table>',
      '| A | B |\n| --- | --- |\n| 1 | 1 |\n| sum | 2 |',
    ],
    [
      'keeps the indentation of code',
      '<table><tr><td><pre>a\n  b  \n\n</pre></td><td><pre>x\\|y</pre></td></tr></table>',
      '| | |\n| --- | --- |\n| `a` `  b` | x\\\\\\|y |',
    ],
    [
      'writes a table with code on several lines as separate blocks',
      '<table><thead><tr><th>Good</th><th>Bad</th></tr></thead><tr><td><pre>a\nb</pre></td><td>text<pre>c</pre></td></tr></table>',
      '**Good**\n\n```\na\nb\n```\n\n**Bad**\n\ntext\n\n```\nc\n```',
    ],
    [
      'joins several header rows',
      '<table><thead><tr><th colspan="2">G</th></tr><tr><th>x</th><th>y</th></tr></thead><tr><td>1</td><td>2</td></tr></table>',
      '| G x | G y |\n| --- | --- |\n| 1 | 2 |',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('writeMarkdown for links and images', () => {
  test.each([
    [
      'makes addresses absolute',
      '<p><a href="../c?d=1&e#f"> a  b </a> <a href="#f">c</a> <a href="mailto:a@b.c">d</a>',
      '[a b](https://ex.org/c?d=1&e#f) [c](https://ex.org/a/b.html#f) [d](mailto:a@b.c)',
    ],
    [
      'writes links with unusable addresses as text',
      '<p><a href="javascript:x()">a</a> <a href="">b</a> <a>c</a> <a href="http://[">d</a> <a href="data:text/html,x">e</a>',
      'a b c d e',
    ],
    [
      'makes every address valid',
      '<p><a href="/x y(1)">a</a> <a href="/a(">b</a> <a href="/?a&copy;">c</a> <a href="/a\\b">d</a>',
      '[a](https://ex.org/x%20y(1)) [b](https://ex.org/a%28) [c](https://ex.org/?a%C2%A9) [d](https://ex.org/a/b)',
    ],
    [
      'escapes backticks in addresses',
      '<p><a href="/?`">a</a> <a href="/?`">b</a>',
      '[a](https://ex.org/?%60) [b](https://ex.org/?%60)',
    ],
    ['leaves out credentials', '<p><a href="https://user:secret@h.io/a">a</a>', '[a](https://h.io/a)'],
    [
      'applies a link around blocks to the first text',
      '<a href="/card"><h3>Title</h3><p>desc</p></a><p>after</p>',
      '### [Title](https://ex.org/card)\n\ndesc\n\nafter',
    ],
    ['keeps links in headings', '<h2><a href="/h">Linked</a> more</h2>', '## [Linked](https://ex.org/h) more'],
    [
      'does not turn a link after an exclamation mark into an image',
      '<p>wow!<a href="/x">a</a>',
      'wow\\![a](https://ex.org/x)',
    ],
    [
      'writes images',
      '<p><img src="a.png" alt="A [b]"><p><a href="/x"><img src="b.png" alt=""></a>',
      '![A \\[b\\]](https://ex.org/a/a.png)\n\n[![](https://ex.org/a/b.png)](https://ex.org/x)',
    ],
    [
      'finds images that load late',
      '<p><img data-src="/l.jpg" src="data:image/gif;base64,xx" alt="a"><p><img srcset="s.jpg 100w, l.jpg 900w" alt="b"><p><picture><source srcset="s.webp 1x, l.webp 2x"><img alt="c"></picture>',
      '![a](https://ex.org/l.jpg)\n\n![b](https://ex.org/a/l.jpg)\n\n![c](https://ex.org/a/l.webp)',
    ],
    [
      'uses the largest image of a srcset',
      '<p><img srcset="a,b.jpg 2x, c.jpg, , d.jpg 1.5x," alt="a"><p><img srcset="data:image/gif;base64,xx 9w, e.jpg" alt="b">',
      '![a](https://ex.org/a/a,b.jpg)\n\n![b](https://ex.org/a/e.jpg)',
    ],
    [
      'leaves out tracking pixels and icons without a meaning',
      '<p>a <img src="p.gif" width="1" height="1" alt="x"><img src="data:image/png;base64,xx" alt="icon"> b',
      'a b',
    ],
    [
      'writes icons and pictures with data addresses as their text',
      '<p><img class="emoji" alt="😀" src="e.png"> <img src="data:image/png;base64,xx" alt="A diagram">',
      '😀 A diagram',
    ],
    [
      'writes figures with captions',
      '<figure><img src="i.png" alt="i"><figcaption>Caption</figcaption></figure>',
      '![i](https://ex.org/a/i.png)\n\nCaption',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('text that looks like markup', () => {
  test.each([
    [
      'is escaped at the start of lines',
      '<p># a<p>1. b<p>- c<p>+<p>> d<p>***<p>* * *<p>___<p>~~~<p>a<br>---<br>b<br>====',
      '\\# a\n\n1\\. b\n\n\\- c\n\n\\+\n\n\\> d\n\n\\*\\*\\*\n\n\\* * \\*\n\n\\___\n\n\\~\\~\\~\n\na  \n\\---  \nb  \n\\====',
    ],
    ['is escaped if it could end emphasis from the line before', '<p>__*<br>__', '__\\*  \n\\_\\_'],
    [
      'is escaped within lines',
      '<p>a*b* _c_ `d` ~~e~~ [f](g) ![h](i) \\*',
      'a\\*b\\* _c\\_ \\`d\\` \\~\\~e\\~\\~ [f\\](g) ![h\\](i) \\\\\\*',
    ],
    [
      'is escaped if it looks like a tag or an entity',
      '<p>&lt;b> &lt;!-- a &lt; b &amp;amp; R&amp;D &amp;#35;',
      '\\<b> \\<!-- a < b \\&amp; R&D \\&#35;',
    ],
    [
      'is not escaped needlessly',
      '<p>snake_case * C# a_b_c 1.5 x-y [1] C:\\dir 5 > 3 ~10 $5 (a) a & b #tag',
      'snake_case * C# a_b_c 1.5 x-y [1] C:\\dir 5 > 3 ~10 $5 (a) a & b #tag',
    ],
    [
      'is escaped if it comes from two elements',
      '<p>[a]<span>(b)</span> [<span>^1]</span> <span>[x]</span>: y &amp;am<span>p;</span> &lt;<span>b></span>',
      '[a]\\(b) [\\^1] [x]\\: y \\&amp; \\<b>',
    ],
    ['is escaped in headings', '<h2># x #</h2><h2>C#</h2><h2>[a]: b</h2>', '## # x \\#\n\n## C#\n\n## [a\\]: b'],
    [
      'is escaped if it looks like a definition or a footnote',
      '<p>[a]: http://x<p>[^1]: y<p>[!NOTE]',
      '[a\\]: http://x\n\n\\[^1\\]: y\n\n\\[!NOTE]',
    ],
    ['has no invisible characters', '<p>a\u200bb\u00adc\u202ed \0e', 'abcd e'],
    [
      'has no rarer invisible characters, except in emoji',
      '<p>a\u061cb\u180ec\u115fd\u1160e\u3164f\uffa0g\u034fh\u2800i\ufff9j\u206ak\u{e0100}l\ufe00m\ufe0fn ☀\ufe0f 1\ufe0f\u20e3',
      'abcdefghijklmn ☀\ufe0f 1\ufe0f\u20e3',
    ],
    [
      'is escaped if it looks like a table',
      '<p>a|b<br>-|-<br>c|d<p>x<br>:-<ul><li>a|b<br>-:|-</ul><blockquote>a<br>- | -</blockquote>',
      'a|b  \n\\-|-  \nc|d\n\nx  \n\\:-\n\n- a|b  \n  \\-:|-\n\n> a  \n> \\- | -',
    ],
    ['is escaped if it looks like a definition whose end is code', '<p>[a<code>]: x</code>', '\\[a`]: x`'],
    [
      'has no line ends of other systems',
      '<p>a&#13;# b\u2028# c\u2029# d\f# e\x0b# f\x85# g<p><code>a&#13;# b\u2028# c</code>',
      'a # b # c # d # e# f# g\n\n`a # b # c`',
    ],
    [
      'is escaped if it looks like a formula',
      '<p>$a$ and $b<p>$$x$$<p>$5 and $10<p>5$ or 10$<p>$HOME/$USER<p>US$, 5$<p>$<b>a</b>$<p>a $ b',
      '\\$a$ and $b\n\n\\$\\$x\\$\\$\n\n$5 and $10\n\n5$ or 10$\n\n\\$HOME/$USER\n\nUS\\$, 5$\n\n\\$**a**$\n\na $ b',
    ],
    ['has no runs of no-break spaces', '<p>a&nbsp;&nbsp;b', 'a b'],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

describe('sections', () => {
  test('form a tree with line numbers', () => {
    const { markdown, sections } = written(
      '<p>x</p><h1 id="a">A</h1><p>a</p><h3>C</h3><pre>c\n\nc</pre><h2>B <b>b</b></h2><h1>D</h1>',
    )
    expect(markdown.split('\n')[2]).toBe('# A')
    expect(sections).toEqual([
      {
        title: 'A',
        level: 1,
        anchor: 'a',
        startLine: 3,
        endLine: 15,
        children: [
          { title: 'C', level: 3, anchor: null, startLine: 7, endLine: 13, children: [] },
          { title: 'B b', level: 2, anchor: null, startLine: 15, endLine: 15, children: [] },
        ],
      },
      { title: 'D', level: 1, anchor: null, startLine: 17, endLine: 17, children: [] },
    ])
  })

  test('have marks where definitions with their own fragments begin and end', () => {
    const { markdown, sections } = written(
      `<h1 id="a">A</h1><dl><dt id="one">one</dt><dd>x<dl><dt id="one.in">in</dt><dd>y</dd></dl>z</dd>
      <dt><a name="two">two</a></dt><dd>x</dd><dt>none</dt><dd>x</dd></dl><p>after</p>
      <dl><dt id="last">last</dt><dd>x</dd></dl><h2>B</h2><p>b</p>`,
    )
    const lines = markdown.split('\n')
    const describeMarks = (marks: Section['marks']) => marks?.map(({ line, anchor }) => [lines[line - 1], anchor])
    const [a] = sections
    expect(describeMarks(a?.marks)).toEqual([
      ['**one**', 'one'],
      ['**in**', 'one.in'],
      ['z', 'one'],
      ['**two**', 'two'],
      ['after', ''],
      ['**last**', 'last'],
      ['## B', ''],
    ])
    expect(a?.children[0]).toMatchObject({ title: 'B', anchor: null })
    expect(a?.children[0]?.marks).toBeUndefined()
  })

  test('do not begin in quotations', () => {
    expect(written('<h1>A</h1><blockquote><h2>B</h2></blockquote>').sections).toHaveLength(1)
  })
})

describe('code', () => {
  test.each([
    ['has one kind of line ends', '<pre>a&#13;# b\u2028# c\u2029d\fe</pre>', '```\na\n# b\n# c\nd\ne\n```'],
    ['stays in its quotation', '<blockquote><pre>a&#13;# b\u2028c</pre></blockquote>', '> ```\n> a\n> # b\n> c\n> ```'],
    [
      'has no invisible characters, except zero-width spaces and empty Braille cells',
      '<pre>a\u202eb\u{e0041}c\u200b\u2800d</pre>',
      '```\nabc\u200b\u2800d\n```',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(`${markdown}\n`)
  })
})

test.each([
  ['a rule at the start', '<hr><p>title: x</p><hr><h1>Real</h1>', 'title: x\n\n---\n\n# Real\n'],
  ['a rule at the end', '<p>x</p><hr><hr>', 'x\n'],
  ['rules without other content', '<hr><hr>', ''],
])('writeMarkdown leaves out %s', (_, html, markdown) => {
  expect(markdownOf(html)).toBe(markdown)
})

test('writeMarkdown counts invisible characters', () => {
  expect(written('<p>a\u200bb\u{e0041}\u{e0042}</p><pre>\u200b\u202e</pre><h2>\u00adx</h2>').invisibleChars).toBe(5)
})

test('elements without content give an empty document', () => {
  expect(written('<p> </p><ul></ul><table></table>')).toEqual({ markdown: '', sections: [], invisibleChars: 0 })
})

test('cells with huge spans do not inflate the Markdown', () => {
  const html = `<table><tr>${'<td>x'.repeat(1000)}</tr>${'<tr><td colspan=1000 rowspan=1000>aaaa</td></tr>'.repeat(2000)}</table>`
  expect(markdownOf(html).length).toBeLessThan(2_000_000)
})

test('line length does not grow with the depth of lists', () => {
  expect(markdownOf('<ul><li>a'.repeat(5000)).length).toBeLessThan(500_000)
})

test.each([
  ['commas in a set of pictures', `<img alt=x srcset="${','.repeat(200_000)}">`],
  ['a long address in a set of pictures', `<img alt=x srcset="${'a,'.repeat(200_000)}">`],
  ['a long line of dashes', `<p>a<br>${'-'.repeat(200_000)}x`],
  ['dollars', `<p>${'$a '.repeat(100_000)}`],
  ['invisible characters', `<p>${'\u200b'.repeat(200_000)}a`],
])('a page with %s is written within the time limit', (_, html) => {
  expect(cpuMsOf(() => markdownOf(html))).toBeLessThan(1000)
})
