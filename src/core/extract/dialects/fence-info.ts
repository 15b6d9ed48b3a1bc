import { isBlank } from '../../text/lines.ts'

/* Removes the annotations of generators from fenced code: file names, line marks, twoslash commands. */

/** The info string of a fence: the language, and the name of the file or tab. */
export interface FenceInfo {
  readonly language: string
  readonly title: string
  /** Whether the info string uses syntax beyond CommonMark; a plain one is left unchanged. */
  readonly isDialect: boolean
  readonly isTwoslash: boolean
}

const TITLE =
  /(?:^|[\s{,])(?:title|filename|fileName|displayName|file|name|caption|label|header)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|\{"([^"]*)"\}|([^\s"'{}]+))/
/** Words of an info string that switch an option on. */
const FLAGS = new Set(
  `active hidden live noInline showLineNumbers lineNumbers line-numbers numberLines linenums twoslash npm2yarn switcher copy nocopy
  no-copy copyable editable playground expandable wrap nowrap lines focus readOnly render preview console output check noLineNumbers
  no-line-numbers isolated`.split(/\s+/),
)

/** Longer info strings are not parsed. */
const MAX_INFO_CHARS = 1000
/** Longer lines of code are not searched for marks. */
const MAX_MARKED_LINE_CHARS = 2000

/**
 * Parses the info string of a fence. `isGrouped` says that the fence is in a component, where further words are the label of a tab or the
 * name of a file.
 */
export function readInfo(source: string, isGrouped: boolean): FenceInfo {
  const info = source.trim()
  if (info.length > MAX_INFO_CHARS) return { language: '', title: '', isDialect: false, isTwoslash: false }
  const [, double, single, braced, bare] = TITLE.exec(info) ?? []
  const [, bracketed = ''] = /(?<!\[)\[([^[\]"']+)\](?!\])/.exec(info) ?? []
  const title = double ?? single ?? braced ?? bare ?? bracketed
  const { language, rest } = splitLanguage(info)
  const plain = rest
    .replace(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}|\[[^[\]]*\]/g, ' ')
    .replace(/(?<![\w-])[\w-]+=(?:"[^"]*"|'[^']*'|\S+)/g, ' ')
    .replace(/"[^"]*"|\/[^/\s]+\/\S*/g, ' ')
  const words = plain.split(/\s+/).filter((word) => word !== '')
  const names = words.filter((word) => !FLAGS.has(word) && /^[\p{L}\p{N}@_./]/u.test(word))
  const hasFlags = words.some((word) => FLAGS.has(word))
  const isDialect =
    isGrouped ||
    hasFlags ||
    title !== '' ||
    /\{[^{}]*\}|\[[^[\]]*\]|[\w-]=\S/.test(info) ||
    /:(?:no-)?line-numbers/.test(info)
  return {
    language,
    title: (title === '' && isDialect ? names.join(' ') : title).trim(),
    isDialect,
    isTwoslash: words.includes('twoslash') || language.endsWith('twoslash'),
  }
}

/** The language that an info string begins with: `js`, `js{1,3}`, `{ .js }`, `{r}`, `ts:line-numbers`, `rust,ignore`. */
function splitLanguage(info: string): { readonly language: string; readonly rest: string } {
  const [, className] = /^\{\s*\.([\w+#-]+)/.exec(info) ?? []
  if (className !== undefined) return { language: className, rest: info }
  const [, bracedName] = /^\{([A-Za-z][\w+-]*)(?=[\s,}])/.exec(info) ?? []
  if (bracedName !== undefined) return { language: bracedName, rest: '' }
  const [language = ''] = /^[^\s{[:=,"']*/.exec(info) ?? []
  // `title="x"` alone names no language.
  if (info[language.length] === '=') return { language: '', rest: info }
  const rest = info.slice(language.length).replace(/^:(?:no-)?line-numbers(?:=\d+)?/, '')
  return { language, rest: rest.replace(/^,[\w,=-]*/, '') }
}

/** Comment syntax of the languages whose code blocks can have marked lines. */
const COMMENT = String.raw`(?:\/\/|#|--|;|%|\/\*|<!--|\{\s*\/\*)`
const COMMENT_END = String.raw`(?:\s*(?:\*\/\s*\}?|-->))?`
const MARK_HINT = /\[!code|---cut|highlight-|\^\?|@(?:noErrors|errors|log|error|warn|annotate)|!(?:mark|focus|callout)/
const CODE_MARK = new RegExp(String.raw`[ \t]*${COMMENT}[ \t]*\[!code ([^\]\n]{1,100})\]${COMMENT_END}[ \t]*`)
const LINE_MARK = new RegExp(
  String.raw`^[ \t]*${COMMENT}[ \t]*(?:---cut(?:-(?:before|after|start|end))?---|highlight-(?:next-line|start|end)|@(?:noErrors|errors:?)[^\n]*)${COMMENT_END}[ \t]*$`,
)
const TWOSLASH_QUERY = /^[ \t]*(?:\/\/|#)[ \t]*\^[?|]/

/** Code without its line marks. Marks of added or removed lines turn the code into a diff. */
export function cleanMarks(
  code: readonly string[],
  isTwoslash: boolean,
): { readonly code: readonly string[]; readonly isDiff: boolean } {
  if (!code.some((line) => MARK_HINT.test(line))) return { code, isDiff: false }
  const signs: string[] = []
  const kept: string[] = []
  for (const line of code) {
    if (LINE_MARK.test(line) || (TWOSLASH_QUERY.test(line) && (isTwoslash || /\^\?\s*$/.test(line)))) continue
    const mark = line.length > MAX_MARKED_LINE_CHARS ? null : CODE_MARK.exec(line)
    const rest = mark === null ? line : line.replace(CODE_MARK, '')
    if (mark !== null && isBlank(rest) && !isBlank(line)) continue
    kept.push(rest)
    signs.push(mark?.[1]?.startsWith('++') === true ? '+' : mark?.[1]?.startsWith('--') === true ? '-' : ' ')
  }
  const isDiff = signs.some((sign) => sign !== ' ')
  return { code: isDiff ? kept.map((line, i) => `${signs[i]}${line}`.trimEnd()) : kept, isDiff }
}
