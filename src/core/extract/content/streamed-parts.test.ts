import { expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { placeStreamedParts } from './streamed-parts.ts'

const cases: [name: string, html: string, text: string][] = [
  [
    'puts a part in the position of its placeholder',
    '<body><p>a </p><template id="B:0"></template><p> c</p><div hidden id="S:0">b</div></body>',
    'a b c',
  ],
  [
    'puts a part into another part',
    '<body><template id="B:0"></template><div hidden id="S:1">b</div><div hidden id="S:0">a <template id="B:1"></template> c</div></body>',
    'a b c',
  ],
  ['leaves a part without a placeholder where it is', '<body>a <div hidden id="S:0">b</div></body>', 'a b'],
  [
    'does not put a part into itself',
    '<body>a <div hidden id="S:0">b<template id="B:0"></template></div></body>',
    'a b',
  ],
]

test.each(cases)('%s', (_, html, text) => {
  const root = parseHtml(html)
  placeStreamedParts(root)
  expect(lineOf(root)).toBe(text)
})
