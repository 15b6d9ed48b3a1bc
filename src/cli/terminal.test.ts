import { describe, expect, test } from 'vitest'
import { type Output, type OutputFlags, printable, printableLine, shellWord, Terminal } from './terminal.ts'

/** A terminal on streams that record their input. */
function open(flags: OutputFlags = {}, properties: Partial<Output> = {}) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr'): Output => ({
    ...properties,
    write: (text) => {
      written[name] += text
    },
  })
  return { terminal: new Terminal(flags, { stdout: stream('stdout'), stderr: stream('stderr') }), written }
}

/** A terminal on one stream whose size may change. */
function openOn(properties: { columns: number }) {
  const written = { stderr: '' }
  const stream: Output = {
    isTTY: true,
    get columns() {
      return properties.columns
    },
    write: (text) => {
      written.stderr += text
    },
  }
  return { terminal: new Terminal({}, { stdout: stream, stderr: stream }), written }
}

const TTY = { isTTY: true, columns: 20 }

describe('Terminal', () => {
  test('prints the answer to stdout and everything else to stderr', () => {
    const { terminal, written } = open()
    terminal.note('by the way')
    terminal.answer('the answer', { answer: 42 })
    expect(written).toEqual({ stdout: 'the answer\n', stderr: 'by the way\n' })
  })

  test('prints nothing but JSON with --json', () => {
    const { terminal, written } = open({ json: true, verbose: true }, TTY)
    terminal.live('working')
    terminal.note('by the way')
    terminal.detail('more')
    terminal.answer('the answer', { answer: 42 })
    expect(written).toEqual({ stdout: '{"answer":42}\n', stderr: '' })
  })

  test('prints nothing but the answer with --quiet, and details only with --verbose', () => {
    const quiet = open({ quiet: true }, TTY)
    const verbose = open({ verbose: true })
    for (const { terminal } of [quiet, verbose, open()]) {
      terminal.live('working')
      terminal.note('by the way')
      terminal.detail('more')
      terminal.answer('the answer', {})
    }
    expect(quiet.written).toEqual({ stdout: 'the answer\n', stderr: '' })
    expect(verbose.written).toEqual({ stdout: 'the answer\n', stderr: 'by the way\nmore\n' })
  })

  test('has no live line without a terminal', () => {
    const { terminal, written } = open()
    terminal.live('working')
    terminal.clear()
    expect(written.stderr).toBe('')
  })

  test('redraws the live line in place, with a rate limit, and erases it before other output', () => {
    const { terminal, written } = open({}, TTY)
    terminal.live('1/2 files')
    terminal.live('too soon to be seen')
    terminal.note('done')
    terminal.clear()
    expect(written.stderr).toBe('\r\x1b[2K1/2 files\r\x1b[2Kdone\n')
  })

  test('redraws a block in one write, even if its height changes', async () => {
    const { terminal, written } = open({}, TTY)
    const draw = async (text: string) => {
      written.stderr = ''
      await new Promise((resolve) => setTimeout(resolve, 110))
      terminal.live(text)
      return written.stderr
    }
    expect(await draw('one\ntwo\nthree')).toBe('\r\x1b[2Kone\n\x1b[2Ktwo\n\x1b[2Kthree')
    expect(await draw('1\n2')).toBe('\r\x1b[2A\x1b[2K1\n\x1b[2K2\x1b[J')
    expect(await draw('1\n2\n3')).toBe('\r\x1b[1A\x1b[2K1\n\x1b[2K2\n\x1b[2K3')
    written.stderr = ''
    terminal.note('done')
    terminal.clear()
    expect(written.stderr).toBe('\r\x1b[2A\x1b[Jdone\n')
  })

  test('erases the whole block after the window was made narrower', () => {
    const screen = { columns: 20 }
    const { terminal, written } = openOn(screen)
    terminal.live('0123456789\n0123')
    written.stderr = ''
    screen.columns = 8
    terminal.clear()
    // The first line takes two rows now.
    expect(written.stderr).toBe('\r\x1b[2A\x1b[J')
  })

  test('never draws a block as high as the screen', () => {
    const { terminal, written } = open({}, { ...TTY, rows: 3 })
    terminal.live('1\n2\n3\n4')
    expect(written.stderr).toBe('\r\x1b[2K1\n\x1b[2K2')
  })

  test.each([
    ['0123456789012345678', '0123456789012345678'],
    ['01234567890123456789', '012345678901234567…'],
    ['日本語日本語日本語日本語', '日本語日本語日本語…'],
    ['0日本語日本語日本語', '0日本語日本語日本語'],
    ['😀😀😀😀😀😀😀😀😀😀😀', '😀😀😀😀😀😀😀😀😀…'],
  ])('cuts the live line %s to the width, so that it never wraps', (text, shown) => {
    const { terminal, written } = open({}, TTY)
    terminal.live(text)
    expect(written.stderr).toBe(`\r\x1b[2K${shown}`)
  })

  test('uses colors only at a terminal that supports them, unless they are forced or switched off', () => {
    const writeRed = (properties: Partial<Output>, flags: OutputFlags = {}) =>
      open(flags, properties).terminal.answerColors.red('x')
    expect(writeRed({ isTTY: true, hasColors: () => true })).toBe('\x1b[31mx\x1b[39m')
    expect(writeRed({ isTTY: true, hasColors: () => false })).toBe('x')
    expect(writeRed({ isTTY: true })).toBe('x')
    expect(writeRed({ hasColors: () => true })).toBe('x')
    expect(writeRed({ forcesColors: true })).toBe('\x1b[31mx\x1b[39m')
    expect(writeRed({ isTTY: true, hasColors: () => true, forcesColors: true }, { color: false })).toBe('x')
  })
})

describe('untrusted text', () => {
  test('printable replaces control and bidirectional characters, and keeps line breaks and tabs', () => {
    expect(printable('a\tb\nc\rd\x1b[2Je\x07\x00\x7f\u009b1m\u202ef\u2066g')).toBe('a\tb\nc�d�[2Je����1m�f�g')
  })

  test('printableLine keeps text on one line', () => {
    expect(printableLine('a\tb\nc\u2028d\x1b')).toBe('a�b�c�d�')
  })
})

test.each([
  ['docs.zip', 'docs.zip'],
  ['../a b/docs.zip', "'../a b/docs.zip'"],
  ["it's", "'it'\\''s'"],
  ['$(rm -rf x);*', "'$(rm -rf x);*'"],
  ['', "''"],
])('%j is quoted for a shell as %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
})
