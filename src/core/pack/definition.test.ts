import { expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import type { Chunk } from '../model.ts'
import { findDefinition, isCallable, listDefinitions } from './definition.ts'

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

test('the definitions of a pack include the methods of small classes, and no keys of JSON', () => {
  const members = [{ name: 'Site.visit', line: 12 }]
  const chunks = [
    { ...chunk('Site', 'class Site:'), members },
    { ...chunk('Site', 'class Site: # its end'), members },
    { ...chunk('port', '{"port":1}'), kind: 'json' as const },
  ]
  const pack = { chunks, refs: ['c0001', 'c0002', 'c0003'] }
  const visit = { name: 'Site.visit', line: 12, path: 'a.py', ref: 'c0001' }
  expect(listDefinitions(pack)).toEqual([{ name: 'Site', line: 10, path: 'a.py', ref: 'c0001' }, visit])
  expect(listDefinitions(pack, 'a.py', 'vis')).toEqual([visit])
  expect(listDefinitions(pack, 'b.py')).toEqual([])
})

test.each([
  ['visit', 'def visit(url):', true],
  ['Site.visit', '  async visit(url) {', true],
  ['visit', 'export const visit = async (url) => url', true],
  ['visit', 'export function visit<T>(url: T) {}', true],
  ['visit', 'def visit\nend', true],
  ['Visit', 'func (s *Site) Visit(url string) {', true],
  ['Site', 'export class Site extends Base(1) {', false],
  ['Site', 'class Site(Base):', false],
  ['Site', 'export interface Site { visit(): void }', false],
  ['Name', 'export type Name = string', false],
  ['Color', 'enum Color { Red }', false],
])('whether %s in %j can be called is %j', (symbol, content, isFunction) => {
  expect(isCallable(chunk(symbol, content))).toBe(isFunction)
})
