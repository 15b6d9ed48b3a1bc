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
  const blocks: CodeBlock[] = []
  const lines = markdown.split(/\r?\n/)
  for (let row = 0; row < lines.length; row++) {
    const [, indent = '', fence = '', name = ''] =
      /^([ \t>]*)(`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)/.exec(lines[row] ?? '') ?? []
    if (fence === '') continue
    const start = row + 1
    const isEnd = (line: string) => {
      const text = line.trim().replace(/^>\s*/, '')
      return text.startsWith(fence) && /^[`~]+$/.test(text)
    }
    row = start
    while (row < lines.length && !isEnd(lines[row] ?? '')) row++
    const language = LANGUAGES[name.toLowerCase()]
    if (language === undefined) continue
    const code = lines
      .slice(start, row)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    blocks.push({ language, code: code.join('\n'), row: start })
  }
  return blocks
}
