import { continueQuote, FenceReader } from '../markdown/fences.ts'
import { splitLines } from '../text/lines.ts'

/** A code block of a Markdown text. */
export interface CodeBlock {
  readonly language: 'typescript' | 'python'
  readonly code: string
  /** Line of the text on which the code begins, from 0. */
  readonly row: number
}

const LANGUAGES: Readonly<Record<string, CodeBlock['language']>> = Object.fromEntries([
  ...'js javascript mjs cjs jsx ts typescript mts cts tsx node'.split(' ').map((name) => [name, 'typescript'] as const),
])

/** Finds the fenced code blocks in languages that can be checked. */
export function findCodeBlocks(markdown: string): CodeBlock[] {
  const blocks: { language: CodeBlock['language'] | undefined; row: number; indent: string; code: string[] }[] = []
  const fences = new FenceReader()
  for (const [row, line] of splitLines(markdown).entries()) {
    const part = fences.read(line)
    if (part === 'open') {
      const { indent = '', info = '' } = fences.fence ?? {}
      const [, name = ''] = /^[ \t]*\{?\.?([\w+-]*)/.exec(info) ?? []
      blocks.push({ language: LANGUAGES[name.toLowerCase()], row: row + 1, indent: continueQuote(indent), code: [] })
    } else if (part === 'code') blocks.at(-1)?.code.push(line)
  }
  return blocks.flatMap(({ language, row, indent, code }) => {
    if (language === undefined) return []
    const lines = code.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    return [{ language, row, code: lines.join('\n') }]
  })
}
