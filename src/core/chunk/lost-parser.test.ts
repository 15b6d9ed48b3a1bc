import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test, vi } from 'vitest'
import { Parser } from 'web-tree-sitter'
import { chunkFile } from './chunk-file.ts'
import { openGrammars } from './code-grammars.ts'

const { resolve } = createRequire(import.meta.url)
const CODE = 'function f() {}\nfunction g() {}\n'

// This test has a file of its own because a failed runtime stays failed for the whole program.
test('every code file that a failed parser cannot cut is cut as text, with a warning', async () => {
  const grammars = await openGrammars({
    runtime: await readFile(resolve('web-tree-sitter/web-tree-sitter.wasm')),
    load: (name) => readFile(resolve(`tree-sitter-${name}/tree-sitter-${name}.wasm`)),
  })
  await grammars.prepare(['javascript', 'python'])
  const chunk = (path: string, text: string) => {
    const { chunks, warnings } = chunkFile({ path, bytes: new TextEncoder().encode(text) }, { grammars })
    return [chunks.length, warnings]
  }
  const warningOf = (path: string) => ({ path, code: 'parser', message: 'cut as text: the parser failed' })

  expect(chunk('a.js', CODE)).toEqual([2, []])
  vi.spyOn(Parser.prototype, 'parse').mockImplementationOnce(() => {
    throw new RangeError('Maximum call stack size exceeded')
  })
  expect(chunk('a.js', CODE)).toEqual([1, [warningOf('a.js')]])
  expect(grammars.hasFailed).toBe(true)
  expect(chunk('b.py', 'def f(): pass\n')).toEqual([1, [warningOf('b.py')]])
  expect(chunk('c.md', '# a\n')).toEqual([1, []])
  expect(chunk('d.go', 'package d\n')).toEqual([1, []])
  const [, minified] = chunk('e.js', `x = '${'a'.repeat(20_000)}'`)
  expect(minified).toEqual([])
})
