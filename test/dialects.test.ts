import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { codeRanges } from '../src/core/extract/text/markdown-source.ts'
import { anchorsOf, casePath, listCases, readCase } from './dialects/cases.ts'

/*
 * Markdown in the dialects of site generators, and the Markdown that a careful reader expects of each. See dialects/README.md. After an
 * intended change, `UPDATE_GOLDEN=1 npm test -- test/dialects.test.ts` writes the expected Markdown again; review the difference.
 */
const cases = await listCases()

/** Syntax that only generators read. */
const SYNTAX: readonly RegExp[] = [
  /^\s*(?:> )*:{2,}/,
  /^\s*(?:> )*(?:!!!|\?\?\?)/,
  /^\s*(?:> )*===/,
  /^\s*(?:> )*\/{3,}/,
  /^\s*(?:import|export) .*['"{=]/,
  /\{\/\*/,
  /\{\s*[#.:]/,
  /\{\{/,
  /\{%/,
  /\{[*!]/,
  /8<-/,
  /<<</,
  /\\?<\/?[A-Z]/,
  /\\?<\/?(?:div|span|p|details|summary|table|tr|td|img|a|b|h[1-6]|figure|script|style)\b/,
  /^\s*\([\w-]+\)=/,
  /:(?:material|octicons|fontawesome)-/,
  /\[\[?toc\]/i,
]
/** Directives of generators inside code blocks. */
const CODE_SYNTAX: readonly RegExp[] = [
  /\[!code/,
  /---cut(?:-\w+)?---/,
  /highlight-(?:next|start|end)/,
  /^\s*\/\/\s+\^\?/,
  /8<-|\{!/,
]
const FENCE = /^\s*(?:> )*`{3,}(.*)$/

describe('Markdown of site generators', () => {
  test.each(cases)('%s becomes the expected Markdown', async (name) => {
    const { markdown } = await readCase(name)
    const expected = casePath(name, 'expected.md')
    if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(expected, markdown)
    expect(markdown).toBe(await readFile(expected, 'utf8'))
  })

  test.each(cases)('the expected Markdown of %s has no syntax of its generator', async (name) => {
    const lines = (await readFile(casePath(name, 'expected.md'), 'utf8')).split('\n')
    const code = new Set(
      codeRanges(lines).flatMap(([start, end]) => Array.from({ length: end - start }, (_, i) => start + i)),
    )
    const prose = lines.map((line, i) => (code.has(i) ? '' : line.replace(/(`+).*?\1/g, '')))
    expect(prose.filter((line) => SYNTAX.some((pattern) => pattern.test(line)))).toEqual([])
    const codeLines = lines.filter((_, i) => code.has(i))
    expect(codeLines.filter((line) => CODE_SYNTAX.some((pattern) => pattern.test(line)))).toEqual([])
    const infos = codeLines.flatMap((line) => FENCE.exec(line)?.[1]?.trim() ?? [])
    expect(infos.filter((info) => /[{}=[\]]|\s/.test(info))).toEqual([])
  })

  test('is tested with many cases of many generators', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60)
    expect(new Set(cases.map((name) => name.split('-')[0])).size).toBeGreaterThanOrEqual(12)
  })
})

describe('metadata in Markdown', () => {
  test.each([
    ['nextjs-front-matter', 'Fonts', 'Optimise loading web fonts.'],
    ['nextjs-metadata', 'Release notes', 'What is new'],
    ['mintlify-exports', 'Plans and "prices"', 'What lamps cost'],
    ['nextra-front-matter', 'Bees', 'About the bees.'],
    ['vitepress-home', 'Compass', 'A router for small apps'],
    ['hugo-docsy-tabs', 'Tabs', 'Panes of tabs'],
    ['gitbook-hints', 'Hints', 'Hints tell the reader what to mind.'],
  ])('%s has the title and description of its metadata', async (name, title, description) => {
    expect(await readCase(name)).toMatchObject({ title, description })
  })

  test.each([
    ['fastapi-anchors', { 'First Steps': 'first-steps', 'Check it': 'check-it', 'Path operation': 'path-operation-1' }],
    ['docusaurus-anchors', { 'My heading': 'my-explicit-id', 'New form': 'new-id', 'With code': 'with_code' }],
    ['react-reference', { Reference: 'reference', 'useLamp(initial)': 'uselamp' }],
    ['myst-targets', { Targets: 'top-label', 'Second part': 'second-label' }],
  ])('%s has the anchors that its author set', async (name, anchors) => {
    expect(anchorsOf((await readCase(name)).sections)).toMatchObject(anchors)
  })
})
