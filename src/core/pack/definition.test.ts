import { expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import type { Chunk } from '../model.ts'
import { findDefinition } from './definition.ts'

const [sampleChunk] = chunkFile({ path: 'a.py', bytes: new TextEncoder().encode('x') }).chunks

function chunk(symbol: string | null, content: string): Chunk {
  if (sampleChunk === undefined) throw new Error('the file has no chunk')
  return { ...sampleChunk, symbol, content, startLine: 10 }
}

test('a definition is the first line that names the symbol, below comments and decorators', () => {
  expect(findDefinition(chunk('Site.visit', '# Looks.\n@cached\n  def visit(url):\n    visit(url)'))).toEqual({
    line: 12,
    text: '  def visit(url):',
  })
})

test.each(['\n', '\r\n', '\r'])('the line of a definition is counted in a text with line ends %j', (end) => {
  expect(findDefinition(chunk('visit', `# a${end}# b${end}def visit():`))?.line).toBe(12)
})

test('a chunk that has no symbol, does not name its symbol or is JSON has no definition', () => {
  expect(findDefinition(chunk(null, 'def visit():'))).toBeUndefined()
  expect(findDefinition(chunk('visit', 'pass'))).toBeUndefined()
  expect(findDefinition({ ...chunk('visit', '{"visit":1}'), kind: 'json' })).toBeUndefined()
})
