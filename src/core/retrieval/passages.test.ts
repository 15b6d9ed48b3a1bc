import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkPage } from '../chunk/chunk-page.ts'
import { parseBlocks } from '../markdown/blocks.ts'
import type { Chunk } from '../model.ts'
import { splitLines } from '../text/lines.ts'
import { listSpans, readLayout, writeLayout } from './page-layout.ts'
import { type GrownPassage, type GrowResult, type LineRange, type PassageBudget, PassageGrower } from './passages.ts'

const LIMITS: PassageBudget = { target: 100, max: 160, remaining: 750, budget: 750 }

/** Grows the chunk that holds a text. */
function growAt(
  markdown: string,
  text: string,
  limits: Partial<PassageBudget> = {},
  taken: LineRange[] = [],
): GrowResult {
  const chunks = chunkPage({ markdown }, 'page', { sizes: { targetChars: 200, maxChars: 400 } })
  const chunk = chunks.find(({ content }) => content.includes(text))
  if (chunk === undefined) throw new Error(`no chunk has ${text}`)
  const terms = text.toLowerCase().match(/[a-z]+/g) ?? []
  const hit = { chunkIndex: chunk.chunkIndex, content: chunk.content, isMarkdown: true, terms }
  return new PassageGrower({ markdown, chunks }).grow(hit, { ...LIMITS, ...limits }, taken)
}

function asPassage(growth: GrowResult): GrownPassage {
  if (typeof growth === 'string') throw new Error(`expected a passage, got ${growth}`)
  return growth
}

const words = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')

describe('a hit', () => {
  test('grows to its whole section when that is short, with the sections in it', () => {
    const markdown = `# Guide\n\n${words('intro', 80)}\n\n## Install\n\nRun it.\n\n### Options\n\nNeedle here.\n\n## Next\n\n${words('other', 80)}\n`
    const { text, startLine, endLine, isCut } = asPassage(growAt(markdown, 'Needle'))
    expect(text).toBe('## Install\n\nRun it.\n\n### Options\n\nNeedle here.')
    expect([startLine, endLine, isCut]).toEqual([5, 11, false])
  })

  test('grows to the whole page when that is short', () => {
    const markdown = '# Guide\n\nOne.\n\n## Two\n\nNeedle.\n'
    expect(asPassage(growAt(markdown, 'Needle')).text).toBe(markdown.trimEnd())
  })

  test('grows by the neighboring blocks of its section up to the target, and no further', () => {
    const paragraphs = Array.from({ length: 30 }, (_, i) => words(`p${i}w`, 10))
    const { text, tokens } = asPassage(growAt(`# Guide\n\n${paragraphs.join('\n\n')}\n`, 'p15w3'))
    expect(text).toContain(paragraphs[15])
    expect(text.split('\n\n').every((part) => paragraphs.includes(part))).toBe(true)
    expect(tokens).toBeLessThanOrEqual(LIMITS.target)
    expect(tokens).toBeGreaterThan(LIMITS.target / 2)
  })

  test('grows to the sections below if its own section is hardly more than a heading', () => {
    const below = (name: string) => `### ${name}\n\n${words(name, 16)}\n`
    const markdown = `# Guide\n\n## Needle\n\n${below('one')}\n${below('two')}\n${below('three')}\n${below('four')}\n`
    const { text } = asPassage(growAt(markdown, '## Needle'))
    expect(text.startsWith('## Needle\n\n### one')).toBe(true)
    expect(text).not.toContain('four')
  })

  test('grows from a signature to its description', () => {
    const before = words('before', 60)
    const markdown = `# API\n\n${before}\n\n\`needle(a, b)\`\n\n${words('about', 40)}\n\n\`other(c)\`\n\n${words('else', 60)}\n`
    const { text } = asPassage(growAt(markdown, 'needle(a'))
    expect(text.startsWith('`needle(a, b)`\n\nabout0')).toBe(true)
    expect(text).toContain('about39')
  })

  test('starts at the matching definition if others precede it in the chunk', () => {
    const markdown = `# API\n\n\`first(a)\`\n\nSays little.\n\nThere are these classes:\n\n\`needle(b)\`\n\nIt shines.\n\n\`third(c)\`\n\n${words('else', 60)}\n`
    const { text } = asPassage(growAt(markdown, 'needle(b', { target: 20, max: 32 }))
    expect(text.startsWith('`needle(b)`\n\nIt shines.')).toBe(true)
  })

  test('grows to the end of its definition, and not to the next one once it is large enough', () => {
    const markdown = `# API\n\n\`needle(a)\`\n\n${words('about', 120)}\n\n\`other(c)\`\n\n${words('else', 60)}\n\n${words('tail', 900)}\n`
    const { text } = asPassage(growAt(markdown, 'needle(a', { target: 600, max: 700 }))
    expect(text).toMatch(/^# API\n\n`needle\(a\)`\n\nabout0 .* about119$/)
  })

  test('does not end with the name of a definition that is not shown', () => {
    const markdown = `# API\n\n\`needle(a)\`\n\nIt shines.\n\n\`other(c)\`\n\n${words('else', 300)}\n`
    const { text } = asPassage(growAt(markdown, 'needle(a', { target: 30, max: 36 }))
    expect(text).toBe('# API\n\n`needle(a)`\n\nIt shines.')
  })

  test('grows to the sections beside its own if its own section has only a few words', () => {
    const markdown = `# needle(1)\n\n## Name\n\nneedle - sews\n\n## Synopsis\n\nneedle thread\n\n## Text\n\n${words('text', 100)}\n\n## Options\n\n${words('more', 900)}\n`
    const { text } = asPassage(growAt(markdown, 'needle - sews', { target: 400, max: 480 }))
    expect(text).toMatch(/^## Name\n.*\n## Synopsis\n.*\n## Text\n\ntext0 .* text99$/s)
  })

  test('grows from a description back to its signature', () => {
    const markdown = `# API\n\n${words('before', 60)}\n\n\`call(a, b)\`\n\n${words('about', 30)}\n\nThe needle.\n\n${words('tail', 90)}\n`
    const { text, describedSignature } = asPassage(growAt(markdown, 'The needle.'))
    expect(text.startsWith('`call(a, b)`\n\nabout0')).toBe(true)
    expect(text).toContain('The needle.')
    expect(describedSignature).toBeNull()
  })

  test('names the signature if it is too far above', () => {
    const far = Array.from({ length: 12 }, (_, i) => words(`far${i}x`, 12)).join('\n\n')
    const { text, describedSignature } = asPassage(
      growAt(`# API\n\n\`call(a, b)\`\n\n${far}\n\nThe needle.\n`, 'The needle.'),
    )
    expect(text).not.toContain('call(')
    expect(describedSignature).toBe('call(a, b)')
  })

  test('grows from a line that ends with a colon to the text that it announces', () => {
    const code = '```js\nneedle()\n```'
    const markdown = `# Guide\n\n${words('a', 60)}\n\nFor example the thimble:\n\n${code}\n\n${words('b', 60)}\n`
    expect(asPassage(growAt(markdown, 'the thimble:')).text).toContain(code)
  })

  test('grows back to the beginning of its list item', () => {
    const item = (name: string) => `- ${words(name, 12)}\n\n  More of ${name} follows.\n`
    const markdown = `# List\n\n${['one', 'two', 'three', 'four', 'five', 'six'].map(item).join('\n')}\n`
    const { text } = asPassage(growAt(markdown, 'More of four', { target: 60, max: 90 }))
    expect(text).toMatch(/^(?:- |# List)/)
    expect(text).toContain(item('four').trimEnd())
  })
})

describe('large blocks', () => {
  const rows = Array.from({ length: 40 }, (_, i) => `| row ${i} | ${words(`cell${i}x`, 3)} |`)
  const table = `| name | value |\n| --- | --- |\n${rows.join('\n')}`
  const code = `\`\`\`js\n${Array.from({ length: 40 }, (_, i) => `call${i}(one, two)`).join('\n\n')}\n\`\`\``

  test('a table that fits the answer is shown from its header on', () => {
    const { text, isCut } = asPassage(growAt(`# T\n\n${table}\n`, 'cell30x1'))
    expect(isCut).toBe(false)
    expect(text).toContain(table)
  })

  test('a fence that fits the answer is shown whole', () => {
    expect(asPassage(growAt(`# T\n\nBefore.\n\n${code}\n`, 'call20(')).text).toContain(code)
  })

  test('a block that fits the answer, but not the rest of its budget, is reported as too large', () => {
    expect(growAt(`# T\n\n${table}\n`, 'cell30x1', { remaining: 100 })).toBe('too-large')
  })

  test('a table that does not fit the answer is cut at rows, its header repeated', () => {
    const limits = { target: 60, max: 90, remaining: 100, budget: 100 }
    const { text, isCut, startLine, endLine, tokens } = asPassage(growAt(`# T\n\n${table}\n`, 'cell30x1', limits))
    const [head, rule, ...shownRows] = text.split('\n')
    expect([head, rule]).toEqual(['| name | value |', '| --- | --- |'])
    expect(shownRows.length).toBeGreaterThan(1)
    expect(shownRows).toEqual(rows.slice(startLine - 5, endLine - 4))
    expect(isCut).toBe(true)
    expect(tokens).toBeLessThanOrEqual(100)
  })

  test('a fence that does not fit the answer is cut at lines and closed', () => {
    const limits = { target: 60, max: 90, remaining: 100, budget: 100 }
    const { text, isCut } = asPassage(growAt(`# T\n\n${code}\n`, 'call20(', limits))
    expect(text.startsWith('```js\n')).toBe(true)
    expect(text.endsWith('\n```')).toBe(true)
    expect(text).toContain('call20(one, two)')
    expect(isCut).toBe(true)
  })

  test('a paragraph that does not fit the answer is cut at a word, from its match on', () => {
    const limits = { target: 20, max: 20, remaining: 20, budget: 20 }
    const { text, isCut, tokens } = asPassage(growAt(`# T\n\n${words('word', 400)}\n`, 'word300', limits))
    expect(text).toMatch(/^word\d+( word\d+)+$/)
    expect(Number(/\d+/.exec(text)?.[0])).toBeGreaterThan(200)
    expect(isCut).toBe(true)
    expect(tokens).toBeLessThanOrEqual(20)
  })
})

describe('a passage', () => {
  const paragraphs = Array.from({ length: 12 }, (_, i) => words(`p${i}w`, 12))
  const markdown = `# Guide\n\n${paragraphs.join('\n\n')}\n`

  test('is not shown again', () => {
    expect(growAt(markdown, 'p5w1', {}, [{ startLine: 1, endLine: 99 }])).toBe('shown')
  })

  test('does not enter lines that are already shown', () => {
    const taken = { startLine: 11, endLine: 13 }
    const { startLine, endLine } = asPassage(growAt(markdown, 'p9w1', {}, [taken]))
    expect(startLine > taken.endLine || endLine < taken.startLine).toBe(true)
  })

  test('is joined with the next one, if both together are not too large', () => {
    const chunks = chunkPage({ markdown }, 'page')
    const grower = new PassageGrower({ markdown, chunks })
    const range = (startLine: number, endLine: number): GrownPassage => {
      return { startLine, endLine, text: '', tokens: 0, isCut: false, describedSignature: null }
    }
    const joined = grower.join(range(7, 9), range(3, 5), 500)
    expect(joined?.text).toBe(paragraphs.slice(0, 4).join('\n\n'))
    expect([joined?.startLine, joined?.endLine]).toEqual([3, 9])
    expect(grower.join(range(3, 5), range(7, 9), 20)).toBeUndefined()
    expect(grower.join(range(3, 5), range(9, 11), 500)).toBeUndefined()
  })
})

test('text other than Markdown is shown in whole chunks', () => {
  const markdown = 'def one():\n    """\n    ```\n    """\n\ndef two():\n    return needle\n'
  const spans = [
    { startLine: 1, endLine: 5, headingPath: [] },
    { startLine: 6, endLine: 7, headingPath: [] },
  ]
  const hit = { chunkIndex: 1, content: 'def two():\n    return needle', isMarkdown: false, terms: ['needle'] }
  const grower = new PassageGrower({ markdown, chunks: spans })
  expect(asPassage(grower.grow(hit, { ...LIMITS, target: 8 }, [])).text).toBe('def two():\n    return needle')
  expect(asPassage(grower.grow(hit, LIMITS, [])).text).toBe(markdown.trimEnd())
})

test('lines may end with CR LF', () => {
  const markdown = '# Guide\r\n\r\nOne needle.\r\n\r\nTwo.\r\n'
  const { text, startLine, endLine } = asPassage(growAt(markdown, 'needle'))
  expect(text).toBe('# Guide\n\nOne needle.\n\nTwo.')
  expect([startLine, endLine]).toEqual([1, 5])
})

describe('for any page', () => {
  const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'needle', 'epsilon', 'zeta')
  const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((all) => all.join(' '))
  const indent = (text: string) => text.replace(/^(?=.)/gm, '  ')
  const fence = fc
    .tuple(
      fc.constantFrom('```', '~~~', '````'),
      fc.array(fc.oneof(sentence, fc.constantFrom('', '# no heading', '| no | table |')), { maxLength: 12 }),
    )
    .map(([marker, lines]) => `${marker}\n${lines.join('\n')}\n${marker}`)
  const table = fc
    .array(fc.tuple(word, sentence), { minLength: 1, maxLength: 12 })
    .map((rows) => `| a | b |\n| --- | --- |\n${rows.map(([a, b]) => `| ${a} | ${b} |`).join('\n')}`)
  const signature = word.map((name) => `\`${name}(one, two)\``)
  const leaf = fc.oneof(
    sentence,
    fence,
    table,
    signature,
    sentence.map((text) => `${text}:`),
  )
  const list = fc
    .array(fc.array(leaf, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
    .map((items) => items.map((item) => `- ${indent(item.join('\n\n')).trimStart()}`).join('\n\n'))
  const quote = leaf.map((text) => text.replace(/^/gm, '> '))
  const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), word).map(([level, text]) => `${'#'.repeat(level)} ${text}`)
  const page = fc
    .array(fc.oneof({ weight: 4, arbitrary: leaf }, list, quote, heading), { minLength: 1, maxLength: 25 })
    .map((blocks) => `${blocks.join('\n\n')}\n`)
  const anything = fc
    .array(
      fc.constantFrom(
        '```',
        '~~~',
        '',
        '- a',
        '  - b',
        '    c',
        '| a | b |',
        '|-|-|',
        '> q',
        '> ```',
        '# h',
        'x',
        '1. y',
        '\t```',
        '`f()`',
      ),
      { maxLength: 40 },
    )
    .map((lines) => lines.join('\n'))
  const overlaps = fc.constantFrom(0, 60)
  const budgets = fc.record({
    target: fc.integer({ min: 5, max: 200 }),
    budget: fc.integer({ min: 5, max: 400 }),
    overlapChars: overlaps,
  })

  /** Grows every chunk of a page in turn, as an answer would. */
  function growAll(
    markdown: string,
    { target, budget, overlapChars }: { target: number; budget: number; overlapChars: number },
  ): { passages: GrownPassage[]; chunks: Chunk[] } {
    const chunks = chunkPage({ markdown }, 'page', { sizes: { targetChars: 150, maxChars: 300, overlapChars } })
    const layout = readLayout(writeLayout({ markdown, sections: [] }, chunks))
    const grower = new PassageGrower({ markdown, chunks: listSpans(layout, 0, chunks.length - 1) })
    const passages: GrownPassage[] = []
    let left = budget
    for (const chunk of chunks.toReversed()) {
      const hit = { chunkIndex: chunk.chunkIndex, content: chunk.content, isMarkdown: true, terms: ['needle'] }
      const grown = grower.grow(hit, { target, max: Math.round(target * 1.6), remaining: left, budget }, passages)
      if (typeof grown === 'string') continue
      passages.push(grown)
      left -= grown.tokens
    }
    return { passages, chunks }
  }

  test('passages fit their budget, do not overlap, and match their line ranges', () => {
    fc.assert(
      fc.property(fc.oneof(page, anything), budgets, (markdown, limits) => {
        const lines = splitLines(markdown)
        const { passages } = growAll(markdown, limits)
        expect(passages.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(limits.budget)
        const sorted = passages.toSorted((a, b) => a.startLine - b.startLine)
        sorted.forEach((passage, i) => {
          expect(passage.startLine).toBeLessThanOrEqual(passage.endLine)
          expect(passage.startLine).toBeGreaterThan(sorted[i - 1]?.endLine ?? 0)
          if (!passage.isCut) expect(passage.text).toBe(lines.slice(passage.startLine - 1, passage.endLine).join('\n'))
        })
      }),
      { numRuns: process.env['TEST_LONG'] === undefined ? 120 : 3000 },
    )
  })

  test('passages of well-formed pages consist of whole blocks, as a Markdown parser finds them', () => {
    fc.assert(
      fc.property(page, budgets, (markdown, limits) => {
        const blocks = [...parseBlocks(splitLines(markdown))].flatMap((block) =>
          block.leaves.length > 0 ? block.leaves : [block],
        )
        for (const { startLine, endLine, isCut } of growAll(markdown, limits).passages) {
          if (isCut) continue
          for (const { open, close } of blocks) {
            const isInside = open >= startLine - 1 && close <= endLine
            const isOutside = close <= startLine - 1 || open >= endLine
            expect(isInside || isOutside, `lines ${startLine}-${endLine} split ${open + 1}-${close}`).toBe(true)
          }
        }
      }),
      { numRuns: process.env['TEST_LONG'] === undefined ? 120 : 3000 },
    )
  })

  test('every chunk is shown if the budget is large enough', () => {
    fc.assert(
      fc.property(page, overlaps, (markdown, overlapChars) => {
        const { passages, chunks } = growAll(markdown, { target: 100, budget: 100_000, overlapChars })
        for (const { startLine, endLine, content } of chunks) {
          const isShown = passages.some((one) => one.startLine <= endLine && startLine <= one.endLine)
          expect(isShown, content).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })
})
