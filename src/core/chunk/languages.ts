import type { Kind } from '../model.ts'
import { extensionOf } from '../text/path.ts'

/** Grammars that code is parsed with. A kind can need several: `java_script` covers three of them. */
export const GRAMMAR_NAMES = [
  'javascript',
  'typescript',
  'tsx',
  'python',
  'go',
  'rust',
  'java',
  'c',
  'cpp',
  'ruby',
  'bash',
] as const

/** Name of a grammar, as in its file `tree-sitter-<name>.wasm`. */
export type GrammarName = (typeof GRAMMAR_NAMES)[number]

/** The language of files with one extension. */
export interface CodeLanguage {
  readonly kind: Kind
  readonly grammar: GrammarName
}

const LANGUAGES: readonly (readonly [kind: Kind, grammar: GrammarName, extensions: string])[] = [
  ['java_script', 'javascript', 'js jsx mjs cjs'],
  ['java_script', 'typescript', 'ts mts cts'],
  ['java_script', 'tsx', 'tsx'],
  ['python', 'python', 'py pyi'],
  ['go', 'go', 'go'],
  ['rust', 'rust', 'rs'],
  ['java', 'java', 'java'],
  ['c', 'c', 'c h'],
  ['cpp', 'cpp', 'cc cpp cxx hh hpp hxx'],
  ['ruby', 'ruby', 'rb'],
  ['shell', 'bash', 'sh bash'],
]

/** Maps a file extension, lower case and without its dot, to its language. */
export const CODE_LANGUAGES: ReadonlyMap<string, CodeLanguage> = new Map(
  LANGUAGES.flatMap(([kind, grammar, extensions]) =>
    extensions.split(' ').map((extension): [string, CodeLanguage] => [extension, { kind, grammar }]),
  ),
)

/** The language of a path by its extension, in upper or lower case, or `undefined` when no grammar exists for it. */
export function codeLanguageOf(path: string): CodeLanguage | undefined {
  return CODE_LANGUAGES.get(extensionOf(path))
}
