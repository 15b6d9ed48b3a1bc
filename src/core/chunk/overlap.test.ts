import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Chunk } from '../model.ts'
import { splitLines } from '../text/lines.ts'
import { chunkFile } from './chunk-file.ts'
import { chunkPage } from './chunk-page.ts'
import type { ChunkSizes } from './piece.ts'
import { sizesOf } from './profiles.ts'

const SMALL = { targetChars: 200, maxChars: 200, overlapChars: 40 } satisfies ChunkSizes
const TOKENS = sizesOf('tokens')

function chunk(markdown: string, sizes: ChunkSizes = SMALL): Chunk[] {
  return chunkPage({ markdown }, 'page', { sizes })
}

/** Splits a chunk into the text repeated from the previous chunk and its own text, by the line ranges of both chunks. */
function splitRepeated(lines: readonly string[], { startLine, endLine, content }: Chunk, before: Chunk | undefined) {
  const first = Math.max(startLine, (before?.endLine ?? 0) + 1)
  const own = lines
    .slice(first - 1, endLine)
    .join('\n')
    .trim()
  expect(content.endsWith(own)).toBe(true)
  return { own, repeated: content.slice(0, content.length - own.length).trimEnd() }
}

const withoutSpace = (text: string) => text.replace(/\s+/g, '')

let words = 0
/** Sentences of words that occur only once. */
const sentence = fc.integer({ min: 1, max: 9 }).map((count) => {
  return `${Array.from({ length: count }, () => `w${words++}`).join(' ')}. `
})
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 2 }).map((sentences) => sentences.join('').trim())
const block = fc.oneof(
  { weight: 6, arbitrary: paragraph },
  {
    weight: 2,
    arbitrary: fc.array(paragraph, { minLength: 1, maxLength: 3 }).map((items) => `- ${items.join('\n- ')}`),
  },
  { weight: 1, arbitrary: fc.nat(3).map((level) => `${'#'.repeat(level + 1)} Heading ${words++}`) },
  { weight: 1, arbitrary: paragraph.map((text) => `Setext ${text.slice(0, 30)}\n===`) },
  { weight: 1, arbitrary: fc.nat(4).map((rows) => `\`\`\`js\n${`code(${words++})\n\n`.repeat(rows)}\`\`\``) },
  { weight: 1, arbitrary: fc.nat(4).map((rows) => `| a | b |\n|---|---|${`\n| ${words++} | x |`.repeat(rows)}`) },
)
const page = fc
  .array(fc.tuple(block, fc.constantFrom('\n\n', '\n\n\n\n')), { maxLength: 30 })
  .map((blocks) => blocks.flat().join(''))
const runs = { numRuns: process.env['TEST_LONG'] === undefined ? 200 : 5000 }

describe('chunks that overlap', () => {
  test('hold the whole page in order, each with its line range, and repeat at most the overlap', () => {
    fc.assert(
      fc.property(page, (markdown) => {
        const lines = splitLines(markdown)
        const chunks = chunk(markdown)
        expect(chunk(markdown)).toEqual(chunks)
        const parts = chunks.map((current, i) => splitRepeated(lines, current, chunks[i - 1]))
        expect(withoutSpace(parts.map(({ own }) => own).join(''))).toBe(withoutSpace(markdown))
        for (const [i, current] of chunks.entries()) {
          const { repeated = '' } = parts[i] ?? {}
          expect(current.content.length).toBeLessThanOrEqual(SMALL.maxChars)
          expect(repeated.length).toBeLessThanOrEqual(SMALL.overlapChars)
          expect(chunks[i - 1]?.content.endsWith(repeated) ?? repeated === '').toBe(true)
          expect(lines[current.startLine - 1]).toContain(current.content.split('\n', 1)[0])
          expect(current.startLine).toBeGreaterThanOrEqual(chunks[i - 1]?.startLine ?? 1)
        }
        expect(new Set(chunks.map(({ id }) => id)).size).toBe(chunks.length)
      }),
      runs,
    )
  })

  test('chunks repeat as much as fits: one more sentence or word would exceed the overlap or the chunk size', () => {
    const twoSentences = fc.tuple(sentence, sentence).map((both) => both.join('').trim())
    fc.assert(
      fc.property(fc.array(twoSentences, { minLength: 8, maxLength: 30 }), (paragraphs) => {
        const markdown = paragraphs.join('\n\n')
        const lines = splitLines(markdown)
        const chunks = chunk(markdown)
        const parts = chunks.map((current, i) => splitRepeated(lines, current, chunks[i - 1]))
        for (const [i, current] of chunks.entries()) {
          const { repeated = '' } = parts[i] ?? {}
          const { own = '' } = parts[i - 1] ?? {}
          const rest = own.slice(0, own.length - repeated.length).trimEnd()
          const [next = ''] = /[^.]*\.$|\S+$/.exec(rest) ?? []
          const more = own.length - rest.length + next.trimStart().length
          const isFull = more > SMALL.overlapChars
          const isAtCap = current.content.length + more - repeated.length > SMALL.maxChars - 2
          expect(isFull || isAtCap || rest === '').toBe(true)
        }
      }),
      runs,
    )
  })

  test('chunks of one long line begin with whole sentences, or else with whole words', () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 20, maxLength: 60 }), (sentences) => {
        const line = sentences.join('').trim()
        const chunks = chunk(line)
        let end = 0
        for (const { content, startLine, endLine } of chunks) {
          const at = line.indexOf(content)
          expect([startLine, endLine]).toEqual([1, 1])
          expect(content.length).toBeLessThanOrEqual(SMALL.maxChars)
          expect(at === 0 || line.charAt(at - 1) === ' ').toBe(true)
          expect(end - at).toBeLessThanOrEqual(SMALL.overlapChars)
          expect(line.slice(end, at).trim()).toBe('')
          end = at + content.length
        }
        expect(end).toBe(line.length)
      }),
      runs,
    )
  })

  test('each chunk of a long fence or table repeats lines of the previous one, in its own fence or table', () => {
    const rows = Array.from({ length: 30 }, (_, i) => `| row ${i} | ${i * i} |`)
    for (const [head, foot] of [
      ['```txt', '\n```'],
      ['| a | b |\n|---|---|', ''],
    ]) {
      const markdown = [head, ...rows].join('\n') + foot
      const lines = splitLines(markdown)
      const chunks = chunk(markdown)
      expect(chunks.length).toBeGreaterThan(3)
      for (const [i, { content, startLine, endLine }] of chunks.entries()) {
        const body = lines
          .slice(startLine - 1, endLine)
          .join('\n')
          .replace(head ?? '', '')
          .replace(/\n```$/, '')
          .trim()
        expect(content).toBe(`${head}\n${body}${foot}`)
        if (i > 0) expect(startLine).toBe((chunks[i - 1]?.endLine ?? 0) - 1)
      }
    }
  })
})

describe('a chunk', () => {
  const filler = `${'x'.repeat(130)}.`

  test('repeats nothing across headings', () => {
    const chunks = chunk(`# A\n\n${filler} End.\n\n## B\n\n${filler}\n\n## B\n\n${filler}`)
    expect(chunks.map(({ content }) => content.slice(0, 4))).toEqual(['# A\n', '## B', '## B'])
  })

  test('repeats a fence or table as a whole, or not at all', () => {
    const short = '```\nshort\n```'
    const long = '```\nfar too long to be repeated\nin the next\n```'
    const [, afterShort] = chunk(`${filler}\n\n${short}\n\n${filler}`)
    const afterLong = chunk(`${filler}\n\n${long}\n\n${filler}`).at(-1)
    expect(afterShort?.content).toBe(`${short}\n\n${filler}`)
    expect(afterLong?.content).toBe(filler)
  })

  test('repeats nothing before a block that fits only alone', () => {
    const code = `\`\`\`\n${'y'.repeat(190)}\n\`\`\``
    const [, whole] = chunk(`Before it.\n\n${filler}\n\n${code}`)
    expect(whole?.content).toBe(code)
  })

  test('never repeats a part of the front matter', () => {
    const [first, second] = chunk(`---\ntitle: A\nauthor: someone with a name\n---\n\n${'z'.repeat(159)}.\n\nMore.`)
    expect(first?.content).toContain('title: A')
    expect(second?.content.startsWith('zzz')).toBe(true)
  })

  test('repeats the last words of a sentence that is too long', () => {
    const [, second] = chunk(`${'word '.repeat(30)}end.\n\n${filler}`)
    expect(second?.content).toBe(`word word word word word word word end.\n\n${filler}`)
  })

  test('repeats nothing of a text without word or sentence boundaries', () => {
    const [first, second] = chunk('界'.repeat(300))
    expect(first?.content).toHaveLength(158)
    expect(second?.content).toHaveLength(142)
  })
})

describe('the profile `tokens`', () => {
  test('has windows of up to 512 tokens that repeat up to 77 tokens of the previous window', () => {
    const markdown = Array.from(
      { length: 200 },
      (_, i) => `Sentence ${i} is about the lamp. It has a second one.`,
    ).join('\n\n')
    const chunks = chunkPage({ markdown }, 'page', { sizes: TOKENS })
    const lines = splitLines(markdown)
    for (const [i, current] of chunks.entries()) {
      expect(current.tokenEstimate).toBeLessThanOrEqual(512)
      if (i < chunks.length - 1) expect(current.tokenEstimate).toBeGreaterThan(400)
      const { repeated } = splitRepeated(lines, current, chunks[i - 1])
      if (i > 0) expect(repeated.length / 4).toBeGreaterThan(60)
      expect(repeated.length / 4).toBeLessThanOrEqual(77)
    }
  })

  test('cuts text files with overlap and JSON without', () => {
    const text = Array.from({ length: 200 }, (_, i) => `line ${i} of a log`).join('\n')
    const json = JSON.stringify(Array.from({ length: 400 }, (_, i) => `line ${i} of a log`))
    const cut = (path: string, content: string) =>
      chunkFile({ path, bytes: new TextEncoder().encode(content) }, TOKENS).chunks
    const [first, second] = cut('a.log', text)
    expect(second?.startLine).toBeLessThan(first?.endLine ?? 0)
    expect(cut('a.json', json).map(({ content }) => content.match(/line 50 /g)?.length ?? 0)).toEqual([
      0, 1, 0, 0, 0, 0, 0, 0,
    ])
  })

  test('an overlap of more than half of a chunk is refused', () => {
    const bytes = new TextEncoder().encode('text')
    expect(() => chunkFile({ path: 'a.txt', bytes }, { maxChars: 100, targetChars: 50, overlapChars: 51 })).toThrow(
      'Expected `overlapChars` to be a whole number from 0 to 50, got 51',
    )
  })
})
