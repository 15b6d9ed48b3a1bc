/** What a part of a program is; the style sheet has a color for each. */
type Token = 'comment' | 'string' | 'number' | 'keyword' | 'call' | 'tag' | 'added' | 'removed'

/** A part of a program; parts without a token keep the color of the text. */
export interface CodePart {
  readonly text: string
  readonly token: Token | null
}

/** Longer code is shown without colors, because a page must appear at once. */
const MAX_COLORED_CHARS = 200_000

/**
 * Cuts a program into comments, strings, numbers, keywords and calls. This is no parser: it needs one pass without backtracking, for any
 * language that resembles one of those below, and the parts together are always the text.
 */
export function colorCode(code: string, language: string): readonly CodePart[] {
  const grammar = GRAMMARS.get(ALIASES.get(language.toLowerCase()) ?? language.toLowerCase())
  if (grammar === undefined || code.length > MAX_COLORED_CHARS) return [{ text: code, token: null }]
  const parts: CodePart[] = []
  let from = 0
  for (const match of code.matchAll(grammar.pattern)) {
    const token = tokenOf(match, grammar)
    if (token === null) continue
    if (match.index > from) parts.push({ text: code.slice(from, match.index), token: null })
    parts.push({ text: match[0], token })
    from = match.index + match[0].length
  }
  if (from < code.length) parts.push({ text: code.slice(from), token: null })
  return parts
}

/** The rules of a language. */
interface Grammar {
  /** Its groups have the names of tokens; `word` is a keyword, a call or nothing. */
  readonly pattern: RegExp
  readonly keywords: ReadonlySet<string>
  readonly ignoresCase: boolean
}

function tokenOf({ groups = {} }: RegExpExecArray, { keywords, ignoresCase }: Grammar): Token | null {
  const { word, call } = groups
  if (word !== undefined && keywords.has(ignoresCase ? word.toLowerCase() : word)) return 'keyword'
  if (word !== undefined) return call === undefined ? null : 'call'
  return TOKENS.find((token) => groups[token] !== undefined) ?? null
}

const TOKENS: readonly Token[] = ['comment', 'string', 'number', 'tag', 'added', 'removed']

/* Each repetition excludes its own end, so that a pattern never backtracks. */
const SLASH_COMMENT = String.raw`\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?`
const HASH_COMMENT = String.raw`(?<![^\s;])#[^\n]*`
const DASH_COMMENT = String.raw`--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?`
const QUOTED = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`
const DOUBLE_QUOTED = String.raw`"(?:[^"\\]|\\.)*"?`
const TEMPLATE = '`(?:[^`\\\\]|\\\\.)*`?'
const TRIPLE_QUOTED = String.raw`"""(?:[^"\\]|\\.|"(?!""))*(?:""")?|'''(?:[^'\\]|\\.|'(?!''))*(?:''')?`
/** Of Rust, where a single quote also begins a lifetime. */
const RUST_QUOTED = String.raw`${DOUBLE_QUOTED}|'(?:[^'\\\n]|\\.)'`

function createGrammar(comment: string, string: string, keywords: string, ignoresCase = false): Grammar {
  const pattern = [
    `(?<comment>${comment})`,
    `(?<string>${string})`,
    String.raw`(?<number>(?<![\p{L}_$])\d[\w.]*)`,
    String.raw`(?<word>[\p{L}_$][\p{L}\p{N}_$]*)(?:(?=(?<call>\())|)`,
  ]
  return { pattern: new RegExp(pattern.join('|'), 'gsu'), keywords: new Set(keywords.split(' ')), ignoresCase }
}

const C_WORDS =
  'auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL'
const JAVASCRIPT_WORDS =
  'abstract as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of override private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while yield any boolean never number string unknown'
const JAVA_WORDS =
  'abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int interface long native new null package private protected public record return sealed short static super switch synchronized this throw throws transient true try var void volatile while yield'
const SQL_WORDS =
  'add all alter and any as asc begin between by cascade case cast check column commit constraint create cross database default delete desc distinct drop else end exists false for foreign from full function grant group having if in index inner insert into is join key left like limit not null offset on or order outer primary procedure references returning revoke right rollback select set table then to trigger true union unique update user using values view when where with'

const GRAMMARS: ReadonlyMap<string, Grammar> = new Map([
  ['javascript', createGrammar(SLASH_COMMENT, `${QUOTED}|${TEMPLATE}`, JAVASCRIPT_WORDS)],
  ['json', createGrammar(SLASH_COMMENT, QUOTED, 'true false null')],
  [
    'c',
    createGrammar(
      SLASH_COMMENT,
      QUOTED,
      `${C_WORDS} class constexpr catch concept delete explicit export final friend mutable namespace new noexcept nullptr operator override private protected public template this throw try typename using virtual`,
    ),
  ],
  [
    'java',
    createGrammar(
      SLASH_COMMENT,
      QUOTED,
      `${JAVA_WORDS} companion data fun internal lateinit object open suspend val when async await foreach get in is namespace out ref set string using where func guard let nil protocol struct`,
    ),
  ],
  [
    'go',
    createGrammar(
      SLASH_COMMENT,
      `${QUOTED}|${TEMPLATE}`,
      'break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var any bool byte error float64 int int64 rune string uint',
    ),
  ],
  [
    'rust',
    createGrammar(
      SLASH_COMMENT,
      RUST_QUOTED,
      'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char f32 f64 i32 i64 str u8 u32 u64 usize',
    ),
  ],
  [
    'php',
    createGrammar(
      `${SLASH_COMMENT}|${HASH_COMMENT}`,
      QUOTED,
      `${JAVA_WORDS} array as declare echo elseif endforeach endif endwhile fn foreach function global include insteadof list mixed namespace require self string trait unset use`,
    ),
  ],
  [
    'python',
    createGrammar(
      HASH_COMMENT,
      `${TRIPLE_QUOTED}|${QUOTED}`,
      'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
    ),
  ],
  [
    'ruby',
    createGrammar(
      HASH_COMMENT,
      QUOTED,
      'alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield',
    ),
  ],
  [
    'bash',
    createGrammar(
      HASH_COMMENT,
      `${DOUBLE_QUOTED}|'[^']*'?`,
      'case do done elif else esac exit export fi for function if in local read return set shift source then trap unset until while cd echo sudo',
    ),
  ],
  ['yaml', createGrammar(HASH_COMMENT, QUOTED, 'true false null yes no on off')],
  [
    'docker',
    createGrammar(
      HASH_COMMENT,
      QUOTED,
      'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL USER VOLUME WORKDIR AS',
    ),
  ],
  ['sql', createGrammar(DASH_COMMENT, QUOTED, SQL_WORDS, true)],
  ['css', createGrammar(SLASH_COMMENT, QUOTED, 'and from important import media not root supports to')],
  [
    'xml',
    {
      pattern: /(?<comment><!--(?:[^-]|-(?!->))*(?:-->)?)|(?<tag><\/?[\w:.-]+|\/?>)|(?<string>"[^"<>]*"|'[^'<>]*')/g,
      keywords: new Set(),
      ignoresCase: false,
    },
  ],
  [
    'diff',
    {
      pattern: /^(?:(?<comment>@@[^\n]*)|(?<added>\+[^\n]*)|(?<removed>-[^\n]*))/gm,
      keywords: new Set(),
      ignoresCase: false,
    },
  ],
])

/** Other names of languages: of code fences, and of the kinds of files. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    javascript: 'js jsx mjs cjs ts tsx typescript java_script node vue svelte',
    json: 'json5 jsonc jsonl',
    c: 'cpp c++ cc h hpp objc cuda arduino glsl',
    java: 'kotlin kt csharp cs c# swift scala groovy dart',
    go: 'golang',
    rust: 'rs',
    python: 'py python3 pycon py3 starlark',
    ruby: 'rb',
    bash: 'sh shell zsh console fish shell-session shellsession makefile make r perl nix',
    yaml: 'yml toml ini conf properties cfg',
    docker: 'dockerfile',
    sql: 'psql postgresql mysql sqlite plpgsql',
    css: 'scss less sass',
    xml: 'html svg xhtml vue-html',
    diff: 'patch udiff',
  }).flatMap(([language, names]) => names.split(' ').map((name): [string, string] => [name, language])),
)
