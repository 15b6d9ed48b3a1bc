import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkPage } from '../chunk/chunk-page.ts'
import { splitLines } from '../text/lines.ts'
import { anchorAt, listSpans, planExcerpt, readLayout, writeLayout } from './page-layout.ts'

const SIZES = { targetChars: 200, maxChars: 400 }

function layOut(markdown: string) {
  const chunks = chunkPage({ markdown }, 'page', { sizes: SIZES })
  const layout = readLayout(writeLayout({ markdown, sections: [] }, chunks))
  return { chunks, layout, spans: listSpans(layout, 0, chunks.length - 1) }
}

/** A part of a text by its bytes. */
function cut(markdown: string, offset: number, length: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(markdown).subarray(offset, offset + length))
}

const paragraph = (i: number) =>
  `Paragraph ${i} is about the lamp of the tower – 東京 😀 and its keeper, ${'x'.repeat(150)}.`
const LONG = Array.from({ length: 400 }, (_, i) =>
  i % 10 === 0 ? `## Part ${i}\n\n${paragraph(i)}` : paragraph(i),
).join('\n\n')

describe('a layout', () => {
  test('gives the position, headings and anchors of chunks', () => {
    const markdown = '# One\n\nText.\n\n## Two\n\nMore.'
    const sections = [
      {
        title: 'One',
        level: 1,
        anchor: 'one',
        startLine: 1,
        endLine: 7,
        children: [{ title: 'Two', level: 2, anchor: null, startLine: 5, endLine: 7, children: [] }],
      },
    ]
    const chunks = chunkPage({ markdown }, 'page')
    const layout = readLayout(writeLayout({ markdown, sections }, chunks))
    expect(layout.bytes).toBe(markdown.length)
    expect(listSpans(layout, 0, 1)).toEqual([
      { startLine: 1, endLine: 4, offset: 0, headingPath: ['One'], anchor: 'one', isOpen: false },
      { startLine: 5, endLine: 7, offset: 14, headingPath: ['One', 'Two'], anchor: 'one', isOpen: false },
    ])
  })

  test('gives the anchor of the definition around a line of a chunk', () => {
    const markdown = '# One\n\n`first()`\n\nText.\n\n`second()`\n\nText.\n\nThe end.'
    const marks = [
      { line: 3, anchor: 'first' },
      { line: 7, anchor: 'second' },
      { line: 11, anchor: '' },
    ]
    const sections = [{ title: 'One', level: 1, anchor: 'one', startLine: 1, endLine: 11, children: [], marks }]
    const chunks = chunkPage({ markdown }, 'page')
    const [span] = listSpans(readLayout(writeLayout({ markdown, sections }, chunks)), 0, 0)
    expect(span).toMatchObject({ startLine: 1, endLine: 11, anchor: 'one' })
    expect([1, 3, 6, 7, 9, 11].map((line) => span && anchorAt(span, line))).toEqual([
      ...['one', 'first', 'first', 'second', 'second', 'one'],
    ])
  })

  test('assigns repeated lines only to the previous chunk', () => {
    const sizes = { targetChars: 400, maxChars: 400, overlapChars: 100 }
    const markdown = Array.from({ length: 40 }, (_, i) => `Sentence ${i} of a section.`).join('\n\n')
    const chunks = chunkPage({ markdown }, 'page', { sizes })
    const layout = readLayout(writeLayout({ markdown, sections: [] }, chunks))
    const spans = listSpans(layout, 0, chunks.length - 1)
    expect(chunks.length).toBeGreaterThan(3)
    chunks.slice(1).forEach(({ startLine, endLine }, i) => {
      const { endLine: before = 0 } = spans[i] ?? {}
      expect(startLine).toBeLessThan(before)
      expect(spans[i + 1]).toMatchObject({ startLine: before + 1, endLine, isOpen: false })
    })
  })

  test('marks chunks that begin inside a block', () => {
    const code = Array.from({ length: 30 }, (_, i) => `line ${i} of a long example\n`).join('\n')
    const { spans } = layOut(`Before.\n\n\`\`\`\n${code}\`\`\`\n\nAfter it, text.`)
    expect(spans.map(({ isOpen }) => isOpen)).toEqual([false, false, true, true, true, false])
  })
})

describe('an excerpt', () => {
  test('covers a short page as a whole', () => {
    const { layout } = layOut('# One\n\nText.')
    expect(planExcerpt(layout, 0)).toMatchObject({
      offset: 0,
      length: 12,
      linesBefore: 0,
      usableChunks: { first: 0, last: 0 },
    })
    expect(planExcerpt(layout, 1)).toBeUndefined()
  })

  test('the excerpt of a long page covers the lines of its chunks, and less than half of the page', () => {
    const { layout, chunks } = layOut(LONG)
    const lines = splitLines(LONG)
    for (const index of [0, 5, 100, chunks.length - 1]) {
      const plan = planExcerpt(layout, index)
      expect(plan).toBeDefined()
      if (plan === undefined) continue
      const text = cut(LONG, plan.offset, plan.length)
      expect(text.length).toBeLessThan(LONG.length / 2)
      const last = plan.spans.at(-1)
      const ownLines = splitLines(text)
      expect(lines.slice(plan.linesBefore, last?.endLine).join('\n').trimEnd()).toBe(ownLines.join('\n').trimEnd())
      expect(plan.usableChunks.first).toBeLessThanOrEqual(index)
      expect(plan.usableChunks.last).toBeGreaterThanOrEqual(index)
    }
  })

  test('covers the whole page if its chunks are not in line order, as in JSON with unsorted keys', () => {
    const markdown = '{\n  "b": 1,\n  "a": 2\n}'
    const chunks = [
      { startLine: 3, endLine: 3, headingPath: [] },
      { startLine: 2, endLine: 2, headingPath: [] },
    ]
    const layout = readLayout(writeLayout({ markdown, sections: [] }, chunks))
    expect(planExcerpt(layout, 1)).toMatchObject({ offset: 0, length: markdown.length, linesBefore: 0, first: 0 })
  })

  test('knows the first line and the offset of every chunk, for any text', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '',
        '# Head',
        '## Below',
        '```',
        '~~~',
        '| a | b |',
        '- item',
        '> quote',
        '\tcode',
        'é東😀\ud800',
      ),
      fc.string({ unit: 'binary', maxLength: 60 }),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (written) => {
        const markdown = written.join('\n').toWellFormed()
        const { layout, chunks, spans } = layOut(markdown)
        chunks.forEach((chunk, index) => {
          const plan = planExcerpt(layout, index)
          const { offset = -1 } = spans[index] ?? {}
          const [start] = splitLines(cut(markdown, offset, layout.bytes - offset))
          expect(start).toBe(splitLines(markdown)[chunk.startLine - 1])
          expect(plan?.spans[index - plan.first]?.startLine).toBe(chunk.startLine)
        })
      }),
      { numRuns: 300 },
    )
  })
})
