import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Grammars, openGrammars } from '../src/core/chunk/code-grammars.ts'
import type { GrammarName } from '../src/core/chunk/languages.ts'

const { resolve } = createRequire(import.meta.url)

/** Opens the real grammars from their npm packages, so that no build is needed first. */
export async function openNodeGrammars(names: readonly GrammarName[]): Promise<Grammars> {
  const grammars = await openGrammars({
    runtime: await readFile(resolve('web-tree-sitter/web-tree-sitter.wasm')),
    load: (name) => readFile(resolve(`tree-sitter-${name === 'tsx' ? 'typescript' : name}/tree-sitter-${name}.wasm`)),
  })
  await grammars.prepare(names)
  return grammars
}
