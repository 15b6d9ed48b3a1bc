import { createColors } from 'picocolors'
import { describe, expect, test } from 'vitest'
import { type Screen, writeTextLines } from './text-lines.ts'

const PLAIN: Screen = { colors: createColors(false), hasLinks: false, columns: 40 }
const COLORED: Screen = { ...PLAIN, colors: createColors(true) }

function mark(text: string): string {
  const { bold, yellow } = COLORED.colors
  return bold(yellow(text))
}

describe('text at a terminal', () => {
  test('wraps between words, with a hanging indent in list items', () => {
    const item = '- one two three four five six seven eight nine ten'
    expect(writeTextLines(item, [], PLAIN, '  ')).toEqual([
      '  - one two three four five six seven',
      '    eight nine ten',
    ])
    expect(writeTextLines(`> ${item}`, [], PLAIN, '')[1]).toBe('>   eight nine ten')
    const long = writeTextLines(`a ${'x'.repeat(90)}`, [], PLAIN, '')
    expect(long.map((line) => line.length)).toEqual([1, 40, 40, 10])
    expect(writeTextLines('東京'.repeat(15), [], PLAIN, '').map((line) => line.length)).toEqual([20, 10])
  })

  test('keeps every word of a wrapped text in order', () => {
    const words = Array.from({ length: 300 }, (_, i) => 'w'.repeat((i * 7) % 13) + i)
    const lines = writeTextLines(words.join(' '), ['w0'], PLAIN, '   ')
    expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(words)
    expect(lines.filter((line) => line.length > 40)).toEqual([])
  })

  test('leaves code and tables unchanged', () => {
    const code = `\`\`\`py\n[a](b) ${'x'.repeat(60)}\n# [c](d)\n\`\`\``
    const row = `| ${'cell '.repeat(12)} |`
    expect(writeTextLines(`${code}\n${row}`, [], PLAIN, ' ')).toEqual(
      `${code}\n${row}`.split('\n').map((line) => ` ${line}`),
    )
    // A shorter fence inside a longer one does not close it.
    const nested = '````\n```\n[a](b)\n```\n````\n[a](b)'
    expect(writeTextLines(nested, [], PLAIN, '').slice(-4)).toEqual(['[a](b)', '```', '````', 'a'])
  })

  test('shows links by their text, and leaves text that only looks like a link unchanged', () => {
    expect(
      writeTextLines('see [`dump()`](https://a.example/x_(y)#z), not `[a](b)` or [c]\\_d \\n', [], PLAIN, ''),
    ).toEqual(['see `dump()`, not `[a](b)` or [c]_d \\n'])
  })

  test('turns links into terminal hyperlinks if the terminal supports them', () => {
    const [line] = writeTextLines('see [this](https://a.example/) now', [], { ...PLAIN, hasLinks: true }, '')
    expect(line).toBe('see \x1b]8;;https://a.example/\x1b\\this\x1b]8;;\x1b\\ now')
  })

  test('highlights matched words, also inside links and compound words', () => {
    expect(writeTextLines('The Retry-After field', ['retry-after', 'retry'], COLORED, '')).toEqual([
      `The ${mark('Retry-After')} field`,
    ])
    expect(writeTextLines('…wait… ½ to wait', ['wait'], COLORED, '')).toEqual([
      `…${mark('wait')}… ½ to ${mark('wait')}`,
    ])
    const [line] = writeTextLines('[time out](x) of a **timeout**', ['timeout', 'time'], COLORED, '')
    expect(line).toBe(`${mark('time')} out of a **${mark('timeout')}**`)
  })

  test('replaces control characters and indents every line', () => {
    const hostile = 'a\x1b]8;;http://evil/\x07b\u202e\n1  Fake\n\x9b31m [x](http://a/\x1b\\)'
    const lines = writeTextLines(hostile, [], { ...PLAIN, hasLinks: true }, '   ')
    expect(lines).toEqual([
      '   a\u{fffd}]8;;http://evil/\u{fffd}b\u{fffd}',
      '   1  Fake',
      '   \u{fffd}31m \x1b]8;;http://a/\u{fffd}\\\x1b\\x\x1b]8;;\x1b\\',
    ])
  })

  test('takes linear time', () => {
    // Quadratic time would run into the timeout.
    for (const part of ['[', '[](', '[a](b(', '[a](b()', '`', '`a', '> ', '[`', '[a](b) ', 'a ']) {
      expect(writeTextLines(part.repeat(100_000), ['a'], COLORED, '').length).toBeGreaterThan(0)
    }
  })
})
