import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FRAME_CSS } from '../../src/http/pages/frame.ts'
import { PAGE_STYLE } from '../../src/http/pages/style.ts'
import { TOKENS_CSS } from '../../src/http/pages/tokens.ts'
import { READER_STYLE } from '../../src/http/reader/style.ts'

const web = new URL('../../web/', import.meta.url).pathname

/** All style sheets without the tokens, by name. */
const SHEETS: readonly (readonly [name: string, css: string])[] = [
  ['frame', FRAME_CSS.replace(TOKENS_CSS, '')],
  ['pages', PAGE_STYLE.replace(FRAME_CSS, '')],
  ['reader', READER_STYLE],
  ...readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.css'))
    .map((path) => [path, readFileSync(join(web, path), 'utf8')] as const),
]

test.each(SHEETS)('%s takes its colors and font sizes from the tokens', (_, css) => {
  const sizes = [...css.matchAll(/font(?:-size)?:[^;}]*?\d(?:rem|px)\b[^;}]*/g)].map(([rule]) => rule)
  // Black in a mask is its opacity, not a color.
  const colors = [...css.matchAll(/^(?!\s*mask-image).*#[\da-f]{3,8}\b/gim)].map(([line]) => line.trim())
  expect([...sizes, ...colors]).toEqual([])
})

test('every custom property that a style sheet uses is defined', () => {
  const all = [TOKENS_CSS, ...SHEETS.map(([, css]) => css)].join('\n')
  const defined = new Set([...all.matchAll(/(--[\w-]+):/g)].map(([, name]) => name))
  const used = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name))
  expect([...used].filter((name) => !defined.has(name))).toEqual([])
})
