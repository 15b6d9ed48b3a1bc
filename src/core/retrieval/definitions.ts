import { FenceReader, readFence } from '../markdown/fences.ts'
import type { Chunk } from '../model.ts'

/** Something that a text defines: a function, an option, a setting, a term. */
export interface Definition {
  /** Its name, qualified as in the text (`json.dump`, `--max-pages`). */
  readonly name: string
  /** The line that states the definition, without Markdown syntax. */
  readonly signature: string
  /** Line of the text, from 0. */
  readonly line: number
  /** Whether the text writes the name as code, rather than in bold alone. */
  readonly isCode: boolean
}

/** A paragraph, list item or heading that is only a code span, the form in which reference pages state definitions. */
const CODE_LINE = /^ {0,8}(?:[-*+] {1,3})?(?:#{2,6} {1,3})?(`+) ?([^`](?:.*[^`])?) ?\1(?: {0,2}[¶#])? {0,4}$/

/** A line of only bold text: the term of a definition list. */
const BOLD_LINE = /^ {0,8}(?:[-*+] {1,3})?\*\*([^*].*)\*\*:? {0,4}$/

/** A row of a table whose first cell begins with a code span. */
const CODE_CELL = /^ {0,8}\| ?(?:\*\*)?(`+) ?([^`|](?:[^|]*?[^`|])?) ?\1/

/** A line with more characters is a paragraph. */
const MAX_LINE_CHARS = 1600
const MAX_SIGNATURE_CHARS = 400

/** The definitions in a piece of Markdown, in their order. Fenced code is ignored. */
export function findDefinitions(markdown: string): Definition[] {
  if (!markdown.includes('`') && !markdown.includes('**')) return []
  const found: Definition[] = []
  const fences = new FenceReader()
  markdown.split('\n').forEach((text, line) => {
    if (fences.read(text) !== undefined || text.length > MAX_LINE_CHARS) return
    const stated = signatureIn(text)
    const name = stated === undefined ? '' : nameIn(stated.signature)
    if (stated !== undefined && name !== '') found.push({ name, ...stated, line })
  })
  return found
}

/** Whether a line outside of fences states a definition. */
export function isDefinitionLine(line: string): boolean {
  const stated = line.length > MAX_LINE_CHARS || readFence(line) !== undefined ? undefined : signatureIn(line)
  return stated !== undefined && nameIn(stated.signature) !== ''
}

function signatureIn(line: string): Pick<Definition, 'signature' | 'isCode'> | undefined {
  const code = (CODE_LINE.exec(line) ?? CODE_CELL.exec(line))?.[2]
  const bold = code === undefined ? BOLD_LINE.exec(line)?.[1] : undefined
  // Bold text that ends and begins again is a sentence with two bold words.
  if (bold?.includes('**') === true) return undefined
  const text = code ?? bold
  if (text === undefined) return undefined
  const signature = (code ?? text.replace(/[`*]/g, '')).slice(0, MAX_SIGNATURE_CHARS)
  return { signature, isCode: text === code || text.includes('`') }
}

/** Keywords before a name: kinds, modifiers, types. */
const QUALIFIERS =
  /^(?:(?:abstract|async|awaitable|class|classmethod|const|coroutine|def|enum|exception|export|extern|final|fn|fun|func|function|inline|interface|let|macro|method|module|mut|namespace|package|private|property|protected|pub|public|static|staticmethod|struct|trait|type|union|unsafe|val|var|virtual|void)\s+)+/

/** The name that a signature states: the word before its parameters, or its first word. */
function nameIn(signature: string): string {
  const plain = signature.replace(QUALIFIERS, '')
  const [beforeParameters = ''] = plain.split(/[(=]/, 1)
  const isCall = plain.charAt(beforeParameters.length) === '('
  const words = beforeParameters.split(/[\s*&]+/).filter((word) => word !== '')
  const name = (isCall ? words.at(-1) : words[0]) ?? plain.split(/\s/, 1)[0] ?? ''
  return name.replace(/(?<![,;:])[,;:]+$/, '')
}

/** All names that a chunk defines: its symbol if it has one, otherwise the names that its Markdown states as code. */
export function symbolsOf({ symbol, kind, content }: Pick<Chunk, 'symbol' | 'kind' | 'content'>): string[] {
  if (symbol !== null) return [symbol]
  if (kind !== 'markdown' && kind !== 'html') return []
  return findDefinitions(content).flatMap(({ name, isCode }) => (isCode ? [name] : []))
}

/** A question of more words is a description, and the names in it only describe the topic. */
const MAX_LOOKUP_WORDS = 8

/** The spelling of a name: a call, inner marks or capitals, an acronym, a flag. */
const NAME_LIKE = /\w\(\)?$|\w[._:]+\w|^_|[a-z][A-Z]|^[A-Z][A-Z0-9_]{2,}$|^--?\w/

/** The names that a short question looks up: `csv.DictReader`, `fork() in os`, `--max-pages`; a single word always counts as a name. */
export function findLookupNames(question: string): string[] {
  const words = question.trim().split(/\s+/)
  if (words.length > MAX_LOOKUP_WORDS) return []
  const names = words.filter((word) => words.length === 1 || NAME_LIKE.test(word))
  return names.map((name) => name.replace(/\(\)?$/, '').toLowerCase()).filter((name) => name.length > 1)
}

/** Whether a chunk defines one of some names, with or without qualifiers: `csv.DictReader` defines `DictReader`. */
export function definesName(chunk: Pick<Chunk, 'symbol' | 'kind' | 'content'>, names: readonly string[]): boolean {
  if (!mayDefine(chunk, names)) return false
  return symbolsOf(chunk).some((symbol) => {
    const defined = symbol.toLowerCase()
    return names.some((name) => {
      return (
        defined === name || (defined.endsWith(name) && /[.:#/]/.test(defined.charAt(defined.length - name.length - 1)))
      )
    })
  })
}

/**
 * Whether a text may define one of some names, because it contains the name. Most texts contain none, and this check is much faster than
 * finding definitions.
 */
function mayDefine({ symbol, content }: Pick<Chunk, 'symbol' | 'content'>, names: readonly string[]): boolean {
  if (symbol !== null) return true
  const text = content.toLowerCase()
  const plain = text.includes('**') ? text.replace(/[`*]/g, '') : ''
  return names.some((name) => text.includes(name) || plain.includes(name) || !ASCII.test(name))
}

/** Text in ASCII only. The lower case of other letters can depend on their position, so it cannot be compared. */
const ASCII = /^[ -~]*$/
