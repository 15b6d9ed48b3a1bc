import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { writeMarkdown } from '../write/markdown.ts'
import { hasTexTypesetter, markTex } from './tex.ts'

describe('TeX in text', () => {
  test.each([
    ['a \\(x^2\\) b', 'a $x^2$ b\n'],
    ['a \\[x^2\\] b', 'a\n\n$$x^2$$\n\nb\n'],
    ['two: \\(a\\), \\(b\\)', 'two: $a$, $b$\n'],
    ['never closed: \\(a', 'never closed: \\\\(a\n'],
    ['a $$x_1$$ b', 'a\n\n$$x_1$$\n\nb\n'],
    ['$$ is no end, \\(a\\) is', '$$ is no end, $a$ is\n'.replace('$$', '\\$\\$')],
    ['<code>\\(a\\)</code>', '`\\(a\\)`\n'],
  ])('%s becomes %s', (html, markdown) => {
    const root = parseHtml(`<p>${html}</p>`)
    markTex(root)
    expect(writeMarkdown([root], 'https://host.example/').markdown).toBe(markdown)
  })
})

test.each([
  ['<script src="https://cdn.example/mathjax@3/es5/tex-mml-chtml.js"></script>', true],
  ['<script defer src="/katex/contrib/auto-render.min.js"></script>', true],
  ['<script>mathjax</script><p>katex</p>', false],
])('%s typesets TeX: %s', (html, expected) => {
  expect(hasTexTypesetter(parseHtml(html))).toBe(expected)
})
