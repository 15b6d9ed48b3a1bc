import { isBlank } from '../../text/lines.ts'
import { writeDestination } from '../write/address.ts'
import { CodeSpans, codeRanges } from './markdown-source.ts'

/** Returns the target of a link; undefined for one that stays as written. */
export type ResolveLink = (href: string) => string | undefined

/** Replaces the addresses of links, images and link definitions. Code and line numbers stay unchanged. */
export function resolveLinks(markdown: string, resolve: ResolveLink): string {
  if (!/\]\(|\]:/.test(markdown)) return markdown
  const lines = markdown.split('\n')
  const written: string[] = []
  let from = 0
  for (const [start, end] of [...codeRanges(lines), [lines.length, lines.length] as const]) {
    for (let i = from; i < start; i++) {
      // A link never extends beyond its paragraph.
      if (i + 1 < start && !isBlank(lines[i] ?? '')) continue
      written.push(resolveProse(lines.slice(from, i + 1).join('\n'), resolve))
      from = i + 1
    }
    if (end > start) written.push(lines.slice(start, end).join('\n'))
    from = end
  }
  return written.join('\n')
}

/** The destination of a link. Its length is limited, so that the search for its end stays fast. */
const DESTINATION = String.raw`[ \t]*(?:<([^<>\n]{1,2000})>|((?:[^()\s\\<]|\\.|\([^()\s]{0,500}\)){1,2000}))`
/** Matches escapes, starts of code spans, destinations of links, and definitions. */
const LINK_PATTERN = new RegExp(
  String.raw`\\.|(\`+)|(\]\()${DESTINATION}(?=\s*\)|\s+["'(])|^( {0,3}\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:)${DESTINATION}(?=\s|$)`,
  'gm',
)

function resolveProse(text: string, resolve: ResolveLink): string {
  if (!text.includes(']')) return text
  const spans = new CodeSpans(text)
  let written = ''
  let from = 0
  LINK_PATTERN.lastIndex = 0
  for (let match = LINK_PATTERN.exec(text); match !== null; match = LINK_PATTERN.exec(text)) {
    const [all, ticks, open, angled, plain, label, definedAngled, definedPlain] = match
    if (ticks !== undefined) {
      LINK_PATTERN.lastIndex = spans.endOf(match.index)
      continue
    }
    const before = open ?? label
    const href = angled ?? plain ?? definedAngled ?? definedPlain
    if (before === undefined || href === undefined) continue
    const address = resolve(href.replace(/\\([!-/:-@[-`{-~])/g, '$1'))
    if (address === undefined) continue
    written += text.slice(from, match.index) + before + (label === undefined ? '' : ' ') + writeDestination(address)
    from = match.index + all.length
  }
  return written + text.slice(from)
}
