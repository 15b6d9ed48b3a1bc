import { expect, test } from 'vitest'
import { readDeclarations, readStyleRules } from './stylesheet.ts'

test.each([
  ['a{b:c}', ['a|b:c']],
  ['a{b:c}d{e:f}', ['a|b:c', 'd|e:f']],
  ['/*x*/a/*y*/{b:/*z*/c}', ['a|b:c']],
  ['/* never closed a{b:c}', []],
  ['a{b:"}"}c{d:e}', ['a|b:"}"', 'c|d:e']],
  ['a{b:url(x}y)}c{d:e}', ['a|b:url(x}y)', 'c|d:e']],
  ['a{b:"never closed\n}c{d:e}', ['a|b:"never closed\n', 'c|d:e']],
  ['@import "x";a{b:c}', ['a|b:c']],
  ['@media print{a{b:c}}d{e:f}', ['d|e:f']],
  ['@media all{a{b:c}}d{e:f}', ['a|b:c', 'd|e:f']],
  ['@media (min-width:1px){a{b:c}}', ['a|b:c']],
  ['@media (min-width:1900px){a{b:c}}', ['a|b:c?']],
  ['@media (max-width:600px),not all{a{b:c}}', []],
  ['@supports (x:y){@media screen{a{b:c}}}d{e:f}', ['a|b:c', 'd|e:f']],
  ['@supports not (x:y){a{b:c}}', ['a|b:c?']],
  ['@layer x{a{b:c}}', ['a|b:c']],
  ['<!-- a{b:c} --> d{e:f}', ['a|b:c', 'd|e:f']],
  ['@keyframes x{from{a:b}to{c:d}}e{f:g}', ['e|f:g']],
  ['a{b:c;d{e:f}g:h}', ['a|b:c;g:h']],
  ['}}a{b:c}', ['a|b:c']],
  ['a{b:c}d{e:f', ['a|b:c', 'd|e:f']],
])('%j has the rules %j', (css, expected) => {
  const rules = [...readStyleRules(css)]
  expect(rules.map((rule) => `${rule.selectors}|${rule.declarations}${rule.isConditional ? '?' : ''}`)).toEqual(
    expected,
  )
})

test.each([
  ['', {}],
  ['a:b', { a: 'b' }],
  [' A : B ;; c:d; ', { a: 'b', c: 'd' }],
  ['a:b;a:c', { a: 'c' }],
  ['a:b ! important;a:c', { a: 'b!' }],
  ['a:b/*;*/;\\63:d', { a: 'b', c: 'd' }],
  ['display:none;display:bogus', { display: 'none' }],
  ['a:url(data:x;y);c:d', { a: 'url(data:x;y)', c: 'd' }],
  ['a:"x;y";c:d', { a: '"x;y"', c: 'd' }],
  ['broken;c:d', { c: 'd' }],
])('%j declares %j', (text, expected) => {
  const declared = [...readDeclarations(text)]
  const written = declared.map(([name, { value, isImportant }]) => [name, value + (isImportant ? '!' : '')])
  expect(Object.fromEntries(written)).toEqual(expected)
})
