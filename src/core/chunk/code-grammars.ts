import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'
import { cutCode } from './code.ts'
import { CODE_RULES, type CodeRules } from './code-rules.ts'
import { codeLanguageOf, type GrammarName } from './languages.ts'
import type { ChunkSizes, Piece } from './piece.ts'

/** Where the WebAssembly comes from. Bytes are passed in, so the same code runs in Node and in a browser. */
export interface GrammarSource {
  /** `web-tree-sitter.wasm`. Without it the runtime looks beside its own script, which works in Node only. */
  readonly runtime?: Uint8Array | undefined
  /** The bytes of `tree-sitter-<name>.wasm`. Called at most once per grammar, unless it rejects. */
  readonly load: (name: GrammarName) => Promise<Uint8Array>
}

/**
 * Starts the parser runtime and returns the grammars, none of them loaded yet.
 * The runtime is one per program: a second call shares it and ignores its `runtime`.
 */
export async function openGrammars(source: GrammarSource): Promise<Grammars> {
  await startRuntime(source.runtime)
  return new Grammars(source.load)
}

/** Grammars by name. `prepare` loads what a batch of files needs; after it everything is synchronous. */
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
   * Cuts a file with the grammar of its extension. Gives `undefined` when there is none, when it was not prepared, or
   * when `cutCode` does.
   */
  cut(path: string, text: string, sizes: ChunkSizes): Piece[] | undefined {
    const language = codeLanguageOf(path)
    const parser = language && this.#parsers.get(language.grammar)
    return parser && cutCode(text, parser, sizes)
  }

  /** Whether the parser runtime has failed. Nothing is parsed after that, here or in other grammars of the program. */
  get isLost(): boolean {
    return isLost
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
  /** What counts as a definition in this language. */
  readonly rules: CodeRules
  readonly #language: Language
  #parser: Parser | undefined

  constructor(language: Language, rules: CodeRules) {
    this.#language = language
    this.rules = rules
  }

  /**
   * Parses `text` and hands the root node to `use`; nodes are dead once it returns.
   * Gives `undefined` when the parse takes more work than such a text deserves, or when the parser itself fails.
   * The work is counted, never timed, so that the same text has the same outcome on any machine.
   */
  read<T>(text: string, use: (root: Node) => T): T | undefined {
    if (isLost || isNestedTooDeep(text, this.rules)) return undefined
    let tree: Tree | null = null
    try {
      this.#parser ??= new Parser().setLanguage(this.#language)
      tree = parseWithin(this.#parser, text)
      if (tree === null) {
        // A stopped parse would otherwise be resumed with the next text.
        this.#parser.reset()
        return undefined
      }
      const result = use(tree.rootNode)
      tree.delete()
      return result
    } catch (error) {
      if (!isTrap(error)) {
        tree?.delete()
        throw error
      }
      // A trap leaves the runtime's memory in any state, and a second runtime cannot be had.
      isLost = true
      return undefined
    }
  }

  /** Frees the parser. Reading again makes a new one. */
  close(): void {
    if (!isLost) this.#parser?.delete()
    this.#parser = undefined
  }
}

/**
 * What a parse may cost. One unit is a hundred steps of the parser (its progress callback) or one read of `READ_CHARS`.
 * Ordinary code takes 3 to 15 units per 1,000 characters.
 * The upper end keeps garbage of any size to a few seconds and well under the 2 GB that the runtime can address.
 */
const WORK = { base: 500, perChar: 0.03, most: 20_000 }

/** Steps while the parser is lost in errors cost tens of times more than others; sound code with a few errors has none. */
const LOST_COST = 40

/** Few enough that rescanning far ahead, as heredocs and raw strings do, shows up as reads. */
const READ_CHARS = 1024

/**
 * Memory, in bytes, beyond which a parse that asks for more is stopped. Ordinary files never come near it, but broken
 * ones can need memory quadratic in their nesting (`a<a<a<…` in Java), and a runtime whose 2 GB are used up is lost.
 */
const MEMORY_CEILING = 512 * 1024 * 1024

/**
 * Nesting beyond which a text is not parsed. The runtime frees its parse stack by recursion, which some thousand levels
 * overflow, and copies it again and again when it recovers from an error. Hand-written code stays below a hundred.
 */
const MAX_NESTING = 1_000

/** As many assignments in one statement (`a = b = c = …`) nest as deep as brackets, each at a far higher price. */
const MAX_ASSIGNMENTS = 200

/** Counts brackets and signs wherever they stand: finding out which of them are in strings would take the parser. */
function isNestedTooDeep(text: string, { needsSemicolons }: CodeRules): boolean {
  let brackets = 0
  let angles = 0
  let assignments = 0
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

function parseWithin(parser: Parser, text: string): Tree | null {
  const limit = Math.min(WORK.base + text.length * WORK.perChar, WORK.most)
  const memoryBefore = memory.buffer.byteLength
  let work = 0
  const tree = parser.parse(
    (index) => {
      work++
      // Past the limit the input seems to end, so that a scanner stuck between two progress callbacks comes back.
      return work > limit ? '' : text.slice(index, index + READ_CHARS)
    },
    null,
    {
      progressCallback: ({ hasError }) => {
        work += hasError ? LOST_COST : 1
        const size = memory.buffer.byteLength
        if (size > MEMORY_CEILING && size > memoryBefore) work = Number.POSITIVE_INFINITY
        return work > limit
      },
    },
  )
  if (work <= limit) return tree
  tree?.delete()
  return null
}

/** Tells a failure of the WebAssembly code (a trap, an abort, a full stack) from one of ours. */
function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
}

/** The runtime's memory, with the sizes in pages of 64 KiB that it would choose itself. It only ever grows. */
const memory = new WebAssembly.Memory({ initial: 512, maximum: 32_768 })

let started: Promise<void> | undefined
let isLost = false

/** Two concurrent starts would give the library two memories and mix them up, so there is only ever one. */
function startRuntime(wasmBinary: Uint8Array | undefined): Promise<void> {
  const options = { ...(wasmBinary && { wasmBinary }), wasmMemory: memory, printErr: ignore }
  started ??= Parser.init(options).catch((error: unknown) => {
    started = undefined
    throw error
  })
  return started
}

/** The runtime prints `Aborted()` before it throws; the error says it already. */
function ignore(): void {}
