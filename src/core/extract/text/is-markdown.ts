import { parseBlocks } from '../../markdown/blocks.ts'
import { isBlank, splitLines } from '../../text/lines.ts'

/** Number of kinds of signs that make a text Markdown. Code, settings and reStructuredText have at most one. */
const MIN_SIGNS = 2
/** A link that is not a call such as `handlers[i](event)`. */
const LINK = /(?<![\w\])])\[[^[\]\n]+\]\([^()\s]+\)/
const BOLD = /(?<![\w*/])\*\*[^\s*/](?:[^*\n]{0,200}[^\s*])?\*\*(?!\w)/
/** A sentence, or an item of a list that is not a setting. */
const PROSE = /^(?:(?![-*+#>|])(?:\S+\s+){3}.*[.:!?]|[-*+] (?!\S+:)\S.*)$/s

/** The beginning of a script or a diff. */
const OTHER_FORMAT = /^(?:#!|diff -|--- .*\n\+\+\+ |From [0-9a-f]{40} )/

/**
 * Whether the beginning of a plain text is clearly Markdown. A single `#` is no proof: it may begin a comment. Comments stand next to code
 * or other comments, headings between blank lines.
 */
export function isMarkdownText(beginning: string): boolean {
  if (OTHER_FORMAT.test(beginning)) return false
  const lines = splitLines(beginning)
  const blocks = [...parseBlocks(lines)]
  const headings = blocks.filter(
    ({ type, open, close }) =>
      type === 'heading' && close === open + 1 && isBlank(lines[open - 1] ?? '') && isBlank(lines[close] ?? ''),
  )
  const [title, next] = blocks
  const isTitled = title !== undefined && title === headings[0] && title.level === 1
  const types = blocks.flatMap(({ type, leaves }) => [type, ...leaves.map((leaf) => leaf.type)])
  const signs = [
    headings.length > 0,
    isTitled && headings.some(({ level }) => level > 1),
    isTitled && PROSE.test(lines.slice(next?.open, next?.close).join('\n').trim()),
    types.includes('fence'),
    types.includes('table'),
    LINK.test(beginning),
    BOLD.test(beginning),
  ]
  return signs.filter(Boolean).length >= MIN_SIGNS
}
