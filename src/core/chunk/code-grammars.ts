import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'
import { cutCode } from './code.ts'
import { CODE_RULES, type CodeRules } from './code-rules.ts'
import { codeLanguageOf, type GrammarName } from './languages.ts'
import { type ChunkSizes, PARSER_FAILED, type ParserFailed, type Piece } from './piece.ts'

/** The source of the WebAssembly files. Bytes are passed in, so the same code runs in Node and in a browser. */
export interface GrammarSource {
  /** The bytes of `web-tree-sitter.wasm`. Without them the runtime looks beside its own script, which works in Node only. */
  readonly runtime?: Uint8Array | undefined
  /** The bytes of `tree-sitter-<name>.wasm`. Called at most once per grammar, and again after it rejects. */
  readonly load: (name: GrammarName) => Promise<Uint8Array>
}

/**
 * Starts the parser runtime and returns the grammars, none of them loaded yet. A program has only one runtime: a second call shares it and
 * ignores `source.runtime`.
 */
export async function openGrammars(source: GrammarSource): Promise<Grammars> {
  await startRuntime(source.runtime)
  return new Grammars(source.load)
}

/** Grammars by name. `prepare` loads the grammars for a batch of files; all other calls are synchronous. */
export class Grammars {
  readonly #load: GrammarSource['load']
  readonly #loading = new Map<GrammarName, Promise<void>>()
  readonly #parsers = new Map<GrammarName, CodeParser>()

  constructor(load: GrammarSource['load']) {
    this.#load = load
  }

  /** Loads the grammars that are not loaded yet. Rejects when one cannot be loaded; a later call tries that one again. */
  async prepare(names: Iterable<GrammarName>): Promise<void> {
    await Promise.all([...new Set(names)].map((name) => this.#prepareOne(name)))
  }

  /** The parser of a prepared grammar, or `undefined` when it was not prepared. */
  parser(name: GrammarName): CodeParser | undefined {
    return this.#parsers.get(name)
  }

  /**
   * Cuts a file with the grammar of its extension. Returns `undefined` when the extension has no grammar, when the grammar was not
   * prepared, or when `cutCode` returns `undefined`. Returns `PARSER_FAILED` when the runtime fails or has failed earlier.
   */
  cut(path: string, text: string, sizes: ChunkSizes): Piece[] | ParserFailed | undefined {
    const language = codeLanguageOf(path)
    const parser = language && this.#parsers.get(language.grammar)
    return parser && cutCode(text, parser, sizes)
  }

  /** Whether the parser runtime has failed. After a failure no grammar of the program can parse. */
  get hasFailed(): boolean {
    return hasRuntimeFailed
  }

  /** Frees the parsers. The grammars themselves stay in the runtime until the program ends. */
  close(): void {
    for (const parser of this.#parsers.values()) parser.close()
    this.#parsers.clear()
    this.#loading.clear()
  }

  #prepareOne(name: GrammarName): Promise<void> {
    const known = this.#loading.get(name)
    if (known !== undefined) return known
    const loading = this.#load(name).then(async (bytes) => {
      const language = await Language.load(bytes)
      this.#parsers.set(name, new CodeParser(language, CODE_RULES[name]))
    })
    this.#loading.set(name, loading)
    loading.catch(() => this.#loading.delete(name))
    return loading
  }
}

/** Parses one language. Holds WebAssembly memory that is reused from file to file. */
export class CodeParser {
  /** The node types that are definitions in this language. */
  readonly rules: CodeRules
  readonly #language: Language
  #parser: Parser | undefined

  constructor(language: Language, rules: CodeRules) {
    this.#language = language
    this.rules = rules
  }

  /**
   * Parses `text` and passes the root node to `use`; nodes are invalid once it returns. Returns `undefined` when the parse exceeds its work
   * budget. The work is counted, never timed, so that the same text has the same outcome on any machine. Returns `PARSER_FAILED` when the
   * runtime fails, has failed before or runs short of memory. That outcome also depends on earlier parses, so it must not be stored.
   */
  read<T>(text: string, use: (root: Node) => T): T | ParserFailed | undefined {
    if (hasLongLine(text) || isNestedTooDeep(text, this.rules) || hasLongChain(text)) return undefined
    if (hasRuntimeFailed) return PARSER_FAILED
    const tree = this.#parse(text)
    if (tree === undefined || tree === PARSER_FAILED) return tree
    try {
      const result = use(tree.rootNode)
      tree.delete()
      return result
    } catch (error) {
      // Only the runtime's own error counts here: a `RangeError` can come from `use`.
      if (error instanceof WebAssembly.RuntimeError) return markRuntimeFailed()
      tree.delete()
      throw error
    }
  }

  #parse(text: string): Tree | ParserFailed | undefined {
    try {
      this.#parser ??= new Parser().setLanguage(this.#language)
      const tree = parseWithinBudget(this.#parser, text)
      // Without a reset the parser would resume the stopped parse with the next text.
      if (tree === undefined || tree === PARSER_FAILED) this.#parser.reset()
      return tree
    } catch (error) {
      if (isTrap(error)) return markRuntimeFailed()
      throw error
    }
  }

  /** Frees the parser. The next read creates a new one. */
  close(): void {
    if (!hasRuntimeFailed) this.#parser?.delete()
    this.#parser = undefined
  }
}

/**
 * Budget for one parse. One unit is a hundred steps of the parser (its progress callback) or one read of `READ_CHARS`. Ordinary code takes
 * 3 to 15 units per 1,000 characters, evenly spread over the text. Ambiguous text (`a<b> a<b> …`) exceeds its budget long before its end,
 * and each further step of such a parse costs more than the last. The upper limit keeps the parse of garbage of any size to a few seconds
 * and well under the 2 GB that the runtime can address.
 */
const PARSE_BUDGET = { base: 500, perChar: 0.03, max: 20_000 }

/** Steps in error recovery cost tens of times more than others. Ordinary code has none, even with a few errors. */
const ERROR_RECOVERY_COST = 40

/** The runtime counts in bytes of UTF-16. */
const BYTES_PER_CHAR = 2

/** Reads are short so that repeated scanning far ahead, as for heredocs and raw strings, counts as many reads. */
const READ_CHARS = 1024

/**
 * Memory, in bytes, that one parse may add, and that all parses may use together. A runtime that has used its 2 GB fails for good. Ordinary
 * files never come near either limit, but broken ones can need memory quadratic in their size. Memory is reused but never freed, so whether
 * a parse is stopped here depends on earlier parses.
 */
const MEMORY_LIMITS = { growth: 512 * 1024 * 1024, total: 1536 * 1024 * 1024 }

/**
 * Nesting beyond which a text is not parsed. The runtime frees its parse stack by recursion, which some thousand levels
 * overflow, and copies it again and again when it recovers from an error. Hand-written code stays below a hundred.
 */
const MAX_NESTING = 1_000

/** Chained assignments in one statement (`a = b = c = …`) nest like brackets, but each level costs far more to parse. */
const MAX_ASSIGNMENTS = 200

/** Chained prefix operators (`-+!~&*-+!~…`) also nest, and their cost grows with the square of their number. */
const MAX_PREFIXES = 500

/**
 * Statements and expressions that open another one without a bracket (`if (a) if (b) …`, `a ? b : c ? d : …`, labels) nest as well. After a
 * syntax error, each further one makes the parser read all open ones again.
 */
const MAX_CHAIN = 500

/**
 * Longest line of code that is parsed. Minified and generated code has such lines. Its definitions are of no use to a reader, and most
 * texts that keep a parser busy for minutes have such lines.
 */
const MAX_LINE_CHARS = 20_000

function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    if ((end < 0 ? text.length : end) - start > MAX_LINE_CHARS) return true
    if (end < 0) return false
    start = end + 1
  }
  return false
}

/** Counts all brackets and signs, even those in strings: finding the strings would need the parser. */
function isNestedTooDeep(text: string, { needsSemicolons }: CodeRules): boolean {
  let brackets = 0
  let angles = 0
  let assignments = 0
  if (new RegExp(`(?:[-+!~&*]\\s{0,100}){${MAX_PREFIXES}}`).test(text)) return true
  for (const [sign] of text.matchAll(needsSemicolons ? /[()[\]{}<>;,]|=+/g : /[()[\]{}<>;,\n]|=+/g)) {
    if (sign.startsWith('=')) assignments++
    else if (sign === '<') angles++
    else if (sign === '>') angles = Math.max(angles - 1, 0)
    else {
      assignments = 0
      if ('([{'.includes(sign)) brackets++
      if (')]}'.includes(sign)) brackets = Math.max(brackets - 1, 0)
      if ('{};'.includes(sign)) angles = 0
    }
    if (brackets > MAX_NESTING || angles > MAX_NESTING || assignments > MAX_ASSIGNMENTS) return true
  }
  return false
}

/** Whether too many chained openings occur before a brace, a semicolon, a comma or the end of a statement. */
function hasLongChain(text: string): boolean {
  let chainLength = 0
  /** Where the last keyword on this line ends. */
  let keywordEnd = -1
  for (const { 0: sign, index } of text.matchAll(CHAIN_SIGNS)) {
    if (sign === '\n') {
      const end = trimmedLineEnd(text, index)
      if (end < 0) continue
      const last = text.charAt(end - 1)
      const isOpen = OPEN_LINE_END.test(last) || keywordEnd === end || (keywordEnd > 0 && last === ')')
      if (!isOpen) chainLength = 0
      keywordEnd = -1
    } else if (CHAIN_STOP.test(sign)) {
      chainLength = 0
      keywordEnd = -1
    } else {
      chainLength++
      if (sign.length > 1) keywordEnd = index + sign.length
    }
    if (chainLength > MAX_CHAIN) return true
  }
  return false
}

const CHAIN_SIGNS = /[?:;,{}\n]|\b(?:if|else|while|until|unless|for|do|with|switch)\b/g
const CHAIN_STOP = /[;,{}]/

/** Last characters of a line that let its statement continue. A slash or star is more often the end of a comment. */
const OPEN_LINE_END = /[-+%<>&|^!~?:=.\\]/

/** The offset after the last character, other than white space, of the line that ends at `end`; -1 for a blank line. */
function trimmedLineEnd(text: string, end: number): number {
  let at = end
  while (at > 0 && ' \t\r'.includes(text.charAt(at - 1))) at--
  return at === 0 || text[at - 1] === '\n' ? -1 : at
}

function computeParseBudget(chars: number): number {
  return Math.min(PARSE_BUDGET.base + chars * PARSE_BUDGET.perChar, PARSE_BUDGET.max)
}

function parseWithinBudget(parser: Parser, text: string): Tree | ParserFailed | undefined {
  const limit = computeParseBudget(text.length)
  const memoryBefore = memory.buffer.byteLength
  let work = 0
  /** Work outside of error recovery. Its limit is the budget for the text parsed so far; `work` has the budget for the whole text. */
  let errorFreeWork = 0
  /** Offset that the parser has reached. */
  let reached = 0
  let isShortOfMemory = false
  /** Nodes of the finished tree get their text by the same function, without a limit. */
  let isParsing = true
  const isOverBudget = () => work > limit || errorFreeWork > computeParseBudget(reached)
  const tree = parser.parse(
    (index) => {
      if (isParsing) work++
      // Past the limit the input appears to end, so that a scanner stuck between two progress callbacks returns.
      return isParsing && work > limit ? '' : text.slice(index, index + READ_CHARS)
    },
    null,
    {
      progressCallback: ({ currentOffset, hasError }) => {
        work += hasError ? ERROR_RECOVERY_COST : 1
        if (!hasError) errorFreeWork++
        reached = Math.max(reached, currentOffset / BYTES_PER_CHAR)
        const growth = memory.buffer.byteLength - memoryBefore
        isShortOfMemory = growth > MEMORY_LIMITS.growth || (growth > 0 && memoryBefore + growth > MEMORY_LIMITS.total)
        return isOverBudget() || isShortOfMemory
      },
    },
  )
  isParsing = false
  if (!isOverBudget() && tree !== null) return tree
  tree?.delete()
  return isShortOfMemory ? PARSER_FAILED : undefined
}

/** After a trap the state of the runtime's memory is undefined, and a second runtime cannot be created. */
function markRuntimeFailed(): ParserFailed {
  hasRuntimeFailed = true
  return PARSER_FAILED
}

/** Distinguishes a failure of the WebAssembly code (a trap, an abort, a full stack) from an error of this program. */
function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
}

/** The runtime's memory, which only grows. Its sizes, in pages of 64 KiB, are those that the runtime would choose itself. */
const memory = new WebAssembly.Memory({ initial: 512, maximum: 32_768 })

let runtimeStart: Promise<void> | undefined
let hasRuntimeFailed = false

/** Two concurrent starts would give `web-tree-sitter` two memories and mix them up, so the start is shared. */
function startRuntime(wasmBinary: Uint8Array | undefined): Promise<void> {
  const options = { ...(wasmBinary && { wasmBinary }), wasmMemory: memory, printErr: ignore }
  runtimeStart ??= Parser.init(options).catch((error: unknown) => {
    runtimeStart = undefined
    throw error
  })
  return runtimeStart
}

/** Silences the runtime, which prints `Aborted()` before it throws an error with the same message. */
function ignore(): void {}
