import { describe, expect, test } from 'vitest'
import { parseMarkdown, type RenderOptions, renderCode, renderMarkdown, withoutHeading } from './render-markdown.ts'

const OPTIONS: RenderOptions = {
  headingLevel: 2,
  terms: [],
  resolveLink: (href) => (/^https?:/.test(href) ? { href, isOutside: true } : null),
}

const render = (markdown: string, options: Partial<RenderOptions> = {}) =>
  renderMarkdown(parseMarkdown(markdown), { ...OPTIONS, ...options })

const withLines = (lines: Partial<RenderOptions['lines']> = {}): Partial<RenderOptions> => ({
  lines: { first: 1, passage: null, anchorsAt: () => [], title: '', ...lines },
})

describe('renderMarkdown', () => {
  test('renders headings, lists, tables, code and links', () => {
    const out = render(
      '# A\n\n- b\n- c\n\n| d | |\n|:-:|-|\n| e | f |\n\n```js\nconst g\n```\n\n[h](https://i.example/) `j` *k* **l**\n\n3. m\n',
    )
    expect(out).toContain('<h2 class="h1">A</h2>')
    expect(out).toContain('<li>b</li>')
    expect(out).toContain('<th class="center">d</th>')
    expect(out).toContain('<td></td>')
    expect(out).toContain('<pre tabindex="0"><code><span class="code-keyword">const</span> g\n</code></pre>')
    expect(out).toContain('<a href="https://i.example/" rel="noopener noreferrer nofollow">h</a>')
    expect(out).toContain('<code>j</code> <em>k</em> <strong>l</strong>')
    expect(out).toContain('<ol start="3">')
  })

  test('never skips a level of headings', () => {
    const levels = [...render('### a\n\n###### b\n\n# c\n\n#### d\n\n## e').matchAll(/<h(\d)/g)].map(
      ([, level]) => level,
    )
    expect(levels.join('')).toBe('23233')
  })

  test('marks words in text, code and cells, and nowhere in addresses', () => {
    const out = render('[wick](https://wick.example/) `wick`\n\n```\nwick\n```\n\n| wick |\n|-|\n', { terms: ['wick'] })
    expect(out.match(/<mark>wick<\/mark>/g)).toHaveLength(4)
    expect(out).toContain('href="https://wick.example/"')
  })

  test('shows the text of a link that must not be followed', () => {
    expect(render('[a](javascript:alert(1)) [b](file:///x)')).toBe('<p><span>a</span> <span>b</span></p>\n')
  })

  test('shows an image as its description, as a link unless it is in one', () => {
    expect(render('![a](https://b.example/c.png)')).toContain('<a href="https://b.example/c.png" rel')
    expect(render('[![a](https://b.example/c.png)](https://d.example/)').match(/<a /g)).toHaveLength(1)
    expect(render('![a](https://b.example/c.png)')).not.toContain('<img')
  })

  test('leaves out the tags of raw HTML, and shows anything that is no tag of a page', () => {
    expect(render('<b>a</b> Vec<String> b<br>c <!-- d -->')).toBe('<p>a Vec&lt;String&gt; b<br>c </p>\n')
    expect(render('<script>e</script>')).toBe('<p class="html">&lt;script&gt;e&lt;/script&gt;</p>\n')
    expect(render('<p align="center">\n  <img src="f">\n</p>')).toBe('')
  })

  test('names the kind of a note', () => {
    expect(render('> [!WARNING]\n> Hot.')).toContain('<strong class="note">Warning</strong>\nHot.')
  })

  test('hides the heading that repeats the title of the page', () => {
    expect(render('# The `json` module', withLines({ title: 'The json module' }))).toContain(
      '<h2 class="title" id="L1">',
    )
  })

  test('gives each line of text an anchor, once', () => {
    const out = render('# a\n\nb\nc\n\n- d\n  - e\n\n```\nf\ng\n```\n\n| h |\n|---|\n| i |', withLines({ first: 11 }))
    const ids = [...out.matchAll(/id="L(\d+)"/g)].map(([, line]) => Number(line))
    expect(ids.toSorted((x, y) => x - y)).toEqual([11, 13, 14, 16, 17, 19, 20, 21, 24, 26])
  })

  test('highlights the blocks and the lines of code of a passage', () => {
    const out = render('a\n\nb\n\n```\nc\nd\n```', withLines({ passage: { start: 3, end: 6 } }))
    expect(out).toContain('<p class="in-passage" id="L3">')
    expect(out).toContain('<span class="line in-passage" id="L6">c</span>')
    expect(out).toContain('<span class="line" id="L7">d</span>')
    expect(out).toContain('<p id="L1">')
  })

  test('writes the anchors of the original page at its headings', () => {
    const out = render('## a {#b}', withLines({ anchorsAt: (line) => (line === 1 ? ['b"<'] : []) }))
    expect(out).toContain('<span id="at-b&quot;&lt;"></span>')
    expect(out).toContain('a</h2>')
  })

  test('shows the entities of HTML blocks as their characters, still escaped', () => {
    expect(render('<div>\na &amp; b &lt;script&gt; &nbsp;c &copy;\n</div>')).toBe(
      '<p class="html">a &amp; b &lt;script&gt; \u00a0c \u00a9</p>\n',
    )
  })

  test('links footnotes where they are defined, and keeps notes without a reference', () => {
    const text = 'a[^1] b[^x"] c[^no]\n\n[^1]: https://d.example\n[^x"]: e\n\n    f\n\n[^y]: g'
    const out = render(text, withLines())
    expect(out).toContain('a<sup><a href="#note-1">1</a></sup> b<sup><a href="#note-x&quot;">x&quot;</a></sup> c[^no]')
    expect(out).toContain('<div class="footnote" id="note-1"><span class="note-mark">1</span><p id="L3">')
    expect(out).toContain('>https://d.example</a></p>')
    expect(out).toMatch(/id="note-x&quot;".*e<\/p>\n<p id="L6">.*f<\/p>\n<\/div>/s)
    expect(out).toMatch(/id="note-y".*g<\/p>/)
    expect(render('a[^12] `[^1]` [^a]')).toBe('<p>a<sup>12</sup> <code>[^1]</code> [^a]</p>\n')
  })

  test('labels of footnotes without an end do not take time, and stay text', () => {
    expect(render('[^'.repeat(300_000))).toBe(`<p>${'[^'.repeat(300_000)}</p>\n`)
    expect(render(`[^${'a'.repeat(300)}] [^b](https://c.example) [^`)).toContain(`[^${'a'.repeat(300)}] <a`)
  })

  test('replaces characters that reverse the direction of writing', () => {
    expect(render('a\u202eb')).toContain('a\ufffdb')
    expect(renderCode('a\u202eb', 'text', OPTIONS)).toContain('a\ufffdb')
  })
})

describe('withoutHeading', () => {
  test('drops the first heading if it is shown above the text, and no other one', () => {
    const parsed = parseMarkdown('## The `wick`\n\nTrim it.\n\n## The wick')
    expect(renderMarkdown(withoutHeading(parsed, ['The wick']), OPTIONS)).toMatch(
      /^<p>Trim it\.<\/p>\n<h2 class="h2">The wick/,
    )
    expect(withoutHeading(parsed, ['Lamps'])).toBe(parsed)
  })
})

describe('renderCode', () => {
  test('numbers the lines of a file', () => {
    const out = renderCode('if a:\n  b', 'python', { ...OPTIONS, ...withLines({ first: 7 }) })
    expect(out).toContain('id="L7"')
    expect(out).toContain('href="#L8"')
    expect(out).toContain('<span class="code-keyword">if</span> a:')
  })
})
