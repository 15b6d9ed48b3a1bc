import { expect, test } from 'vitest'
import type { Section } from '../model.ts'
import { withHeadingAnchors } from './heading-anchors.ts'

function sectionOf(title: string, children: readonly Section[] = [], anchor: string | null = null): Section {
  return { title, level: 1, anchor, startLine: 1, endLine: 2, children }
}

test('headings get the same unique anchors as on sites that show Markdown, such as GitHub', () => {
  const sections = [
    sectionOf("What's new in `v2.1`?", [sectionOf('Usage'), sectionOf('Über_uns – heute')]),
    sectionOf('Usage'),
    sectionOf('Given', [], 'own'),
    sectionOf('…'),
  ]
  const anchorsOf = (all: readonly Section[]): unknown[] =>
    all.map(({ anchor, children }) => [anchor, anchorsOf(children)])
  expect(anchorsOf(withHeadingAnchors(sections))).toEqual([
    [
      'whats-new-in-v21',
      [
        ['usage', []],
        ['über_uns--heute', []],
      ],
    ],
    ['usage-1', []],
    ['own', []],
    [null, []],
  ])
})
