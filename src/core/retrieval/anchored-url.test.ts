import { expect, test } from 'vitest'
import type { Section } from '../model.ts'
import { findAnchor, withAnchor, writeCitationUrl } from './anchored-url.ts'

const section = (anchor: string | null, startLine: number, endLine: number, children: Section[] = []): Section => {
  return { title: 'T', level: 1, anchor, startLine, endLine, children }
}

const sections = [section('top', 3, 30, [section('first', 5, 9), section(null, 10, 20, [section('deep', 12, 14)])])]

test('findAnchor finds the deepest section with an anchor around a line', () => {
  const at = (line: number) => withAnchor('https://docs.example/a?b=c', findAnchor(sections, line))
  expect([1, 4, 7, 11, 13, 15, 40].map(at)).toEqual([
    'https://docs.example/a?b=c',
    'https://docs.example/a?b=c#top',
    'https://docs.example/a?b=c#first',
    'https://docs.example/a?b=c#top',
    'https://docs.example/a?b=c#deep',
    'https://docs.example/a?b=c#top',
    'https://docs.example/a?b=c',
  ])
})

test('withAnchor encodes the anchor', () => {
  expect(withAnchor('https://docs.example/', findAnchor([section('größe "x"', 1, 9)], 1))).toBe(
    'https://docs.example/#gr%C3%B6%C3%9Fe%20%22x%22',
  )
  expect(withAnchor('file:///docs/a.md', findAnchor([section('one', 1, 9)], 1))).toBe('file:///docs/a.md#one')
})

test('findAnchor prefers the last mark before a line to the anchor of the section around the line', () => {
  const marked: Section = {
    ...section('top', 1, 20, [section('child', 15, 20)]),
    marks: [
      { line: 4, anchor: 'page=2' },
      { line: 9, anchor: 'page=3' },
    ],
  }
  const at = (line: number) => withAnchor('file:///docs/a.pdf', findAnchor([marked], line))
  expect([1, 4, 8, 12, 16].map(at)).toEqual([
    'file:///docs/a.pdf#top',
    'file:///docs/a.pdf#page=2',
    'file:///docs/a.pdf#page=2',
    'file:///docs/a.pdf#page=3',
    'file:///docs/a.pdf#child',
  ])
})

test('findAnchor uses the anchor of the section again after a mark with an empty anchor', () => {
  const marked: Section = {
    ...section('top', 1, 20),
    marks: [
      { line: 4, anchor: 'csv.reader' },
      { line: 9, anchor: '' },
    ],
  }
  expect([1, 4, 8, 9].map((line) => findAnchor([marked], line))).toEqual(['top', 'csv.reader', 'csv.reader', 'top'])
})

test('an address with a fragment stays unchanged', () => {
  expect(withAnchor('https://docs.example/api#listLamps', 'parameters')).toBe('https://docs.example/api#listLamps')
})

test('writeCitationUrl cites the lines of an unchanged file of a repository, if no section has an anchor', () => {
  const source = 'git+https://github.com/o/lamp'
  const url = `https://github.com/o/lamp/blob/${'0'.repeat(40)}/src/lamp.py`
  const lines = { source, url, anchor: null, isVerbatimFile: true, startLine: 4, endLine: 9 }
  expect(writeCitationUrl(lines)).toBe(`${url}#L4-L9`)
  expect(writeCitationUrl({ ...lines, anchor: 'fill' })).toBe(`${url}#fill`)
  // The stored lines of a converted document differ from those of the file, and so do the lines of a web page that shows the file.
  expect(writeCitationUrl({ ...lines, isVerbatimFile: false })).toBe(url)
  expect(writeCitationUrl({ ...lines, source: 'https://github.com/o/lamp' })).toBe(url)
  expect(writeCitationUrl({ ...lines, url: 'file:///docs/a.py', source: 'file:///docs/' })).toBe('file:///docs/a.py')
})
