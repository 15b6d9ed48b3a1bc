import { readFile } from 'node:fs/promises'
import { type Grammars, openGrammars } from '../core/chunk/code-grammars.ts'
import type { GrammarName } from '../core/chunk/languages.ts'

/** Opens the grammars that the build put beside the program. Each is loaded on first use. */
export function openBundledGrammars(
  folder: URL = new URL('../web/local/grammars/', import.meta.url),
): Promise<Grammars> {
  return openGrammars({ load: (name: GrammarName) => readFile(new URL(`${name}.wasm`, folder)) })
}
