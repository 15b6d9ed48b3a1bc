import { isBlank, trimBlank } from '../../text/lines.ts'
import { fenceFor } from '../write/escape.ts'
import { admonitionOf, strong, writeAdmonition } from './layout.ts'

/** A directive of MyST: a fence whose info string is a name in braces and an argument. */
export interface Directive {
  readonly name: string
  readonly title: string
  readonly options: ReadonlyMap<string, string>
  readonly body: readonly string[]
}

const NAME = /^\s*\{([A-Za-z][\w:+-]*)\}[ \t]*(.*)$/

/** Parses a fence as a directive; undefined for code. */
export function readDirective(info: string, content: readonly string[]): Directive | undefined {
  const [, name = '', title = ''] = NAME.exec(info) ?? []
  if (!isDirective(name.toLowerCase())) return undefined
  const { options, body } = cutOptions(content)
  return { name: name.toLowerCase(), title: title.trim(), options, body }
}

const KNOWN_DIRECTIVES = new Set(
  `tab-set tab-item tab tabs grid grid-item grid-item-card card card-carousel dropdown details toggle sidebar margin topic epigraph
  rubric centered container div figure image toctree contents tableofcontents include literalinclude code-block code sourcecode
  code-cell math mermaid versionadded versionchanged deprecated versionremoved glossary eval-rst list-table csv-table table admonition
  hint only raw index currentmodule module highlight button-link button-ref video youtube iframe aside pull-quote highlights
  parsed-literal prompt doctest testcode testoutput exercise solution proof theorem lemma definition example collapse`.split(
    /\s+/,
  ),
)
const CODE_DIRECTIVES = new Set(
  'code-block code sourcecode code-cell parsed-literal prompt doctest testcode testoutput eval-rst mermaid literalinclude'.split(
    ' ',
  ),
)
const INVISIBLE_DIRECTIVES = new Set(
  'contents tableofcontents only raw index currentmodule module highlight video youtube iframe'.split(' '),
)
const VERSION_PHRASES: ReadonlyMap<string, string> = new Map([
  ['versionadded', 'Added in version'],
  ['versionchanged', 'Changed in version'],
  ['versionremoved', 'Removed in version'],
  ['deprecated', 'Deprecated since version'],
])

function isDirective(name: string): boolean {
  return (
    KNOWN_DIRECTIVES.has(name) ||
    admonitionOf(name, '') !== undefined ||
    (/^(?:py|c|cpp|js|rst|auto):?\w*/.test(name) && /:|^auto/.test(name))
  )
}

/** Separates the options of a directive from its body. Options come first, as lines `:key: value` or as YAML between lines of hyphens. */
function cutOptions(content: readonly string[]): Pick<Directive, 'options' | 'body'> {
  const options = new Map<string, string>()
  let at = 0
  if (content[0]?.trim() === '---') {
    const end = content.findIndex((line, i) => i > 0 && line.trim() === '---')
    if (end < 0) return { options, body: content }
    for (const line of content.slice(1, end)) {
      const [, key, value = ''] = /^\s*([\w-]+):\s*(.*)$/.exec(line) ?? []
      if (key !== undefined) options.set(key, value.trim())
    }
    at = end + 1
  } else {
    for (; at < content.length; at++) {
      const [, key, value = ''] = /^\s*:([\w-]+):\s*(.*)$/.exec(content[at] ?? '') ?? []
      if (key === undefined) break
      options.set(key, value.trim())
    }
  }
  return { options, body: content.slice(at) }
}

/** Writes a directive as lines of Markdown. `clean` converts the body to Markdown. */
export function writeDirective(
  { name, title, options, body }: Directive,
  clean: (lines: readonly string[]) => readonly string[],
): readonly string[] {
  if (INVISIBLE_DIRECTIVES.has(name)) return []
  if (CODE_DIRECTIVES.has(name)) return writeCode(name, title, options, body)
  if (name === 'math') return ['$$', ...trimBlank([title, ...body].filter((line, i) => i > 0 || line !== '')), '$$']
  if (name === 'toctree') return options.has('hidden') ? [] : body.flatMap(writeEntry)
  if (name === 'image' || name === 'figure') {
    const caption = trimBlank(clean(body))
    const image = `![${options.get('alt') ?? ''}](${title})`
    return caption.length === 0 ? [image] : [image, '', ...caption]
  }
  if (name === 'include') return [`\`${title.slice(title.lastIndexOf('/') + 1)}\``]
  const inner = trimBlank(clean(body))
  const versionPhrase = VERSION_PHRASES.get(name)
  if (versionPhrase !== undefined) {
    const [number = '', ...words] = title.split(/\s+/)
    const versionText = `${versionPhrase} ${number}`
    const [first, ...rest] = words.length > 0 ? [words.join(' '), ...(inner.length > 0 ? ['', ...inner] : [])] : inner
    return first === undefined ? [`*${versionText}.*`] : [`*${versionText}:* ${first}`, ...rest]
  }
  if (name === 'admonition') {
    const [word = 'note'] = (options.get('class') ?? '').split(/[\s,]+/)
    return writeAdmonition({ kind: admonitionOf(word, '')?.kind ?? 'NOTE', title }, inner)
  }
  const box = LABELED.has(name) ? undefined : admonitionOf(name, name === 'seealso' && title === '' ? 'See also' : '')
  // Text after the name of an admonition is its first paragraph.
  if (box !== undefined)
    return writeAdmonition(box, title === '' ? inner : inner.length === 0 ? [title] : [title, '', ...inner])
  if (/:|^auto/.test(name))
    return title === '' ? inner : [`\`${title}\``, ...(inner.length === 0 ? [] : ['', ...inner])]
  const link = options.get('link') ?? ''
  const label = UNLABELED.has(name) ? '' : strong(title)
  const head = label !== '' && /^https?:/.test(link) ? `[${label}](${link})` : label
  return head === '' ? inner : [head, ...(inner.length === 0 ? [] : ['', ...inner])]
}

/** The arguments of these directives only control layout. */
const UNLABELED = new Set(['grid', 'tab-set', 'tabs', 'grid-item', 'card-carousel', 'div', 'container'])
/** Names that are admonitions in other dialects, but only show a title in MyST. */
const LABELED = new Set(['details', 'example', 'solution', 'definition'])

function writeCode(
  name: string,
  title: string,
  options: ReadonlyMap<string, string>,
  body: readonly string[],
): string[] {
  const caption = strong(options.get('caption') ?? options.get('filename') ?? '')
  const isFile = name === 'literalinclude'
  const language = isFile
    ? (options.get('language') ?? '')
    : name === 'eval-rst'
      ? 'rst'
      : name === 'mermaid'
        ? name
        : title
  const code = isFile && body.every(isBlank) ? [] : body
  const head = caption === '' ? [] : [caption, '']
  if (code.length === 0) return title === '' ? head : [...head, `\`${title.slice(title.lastIndexOf('/') + 1)}\``]
  const fence = fenceFor(code.join('\n'), 3)
  return [...head, fence + language, ...trimBlank(code), fence]
}

/** One page of a table of contents: `Title <path>` or a path. */
function writeEntry(line: string): string[] {
  const text = line.trim()
  if (text === '' || text.startsWith(':') || text === 'self') return []
  const [, title, target] = /^(.*?)(?<!\s)\s*<([^<>]*)>$/.exec(text) ?? []
  return [`- [${title ?? text}](${target ?? text})`]
}
