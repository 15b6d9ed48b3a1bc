import { expect, test } from 'vitest'
import type { Section } from '../model.ts'
import { anchoredUrl } from './anchored-url.ts'

const section = (anchor: string | null, startLine: number, endLine: number, children: Section[] = []): Section => {
  return { title: 'T', level: 1, anchor, startLine, endLine, children }
}

const sections = [section('top', 3, 30, [section('first', 5, 9), section(null, 10, 20, [section('deep', 12, 14)])])]

test('the deepest section around a line that has an anchor', () => {
  const at = (line: number) => anchoredUrl('https://docs.example/a?b=c', sections, line)
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

test('an anchor is written as addresses are', () => {
  expect(anchoredUrl('https://docs.example/', [section('größe "x"', 1, 9)], 1)).toBe(
    'https://docs.example/#gr%C3%B6%C3%9Fe%20%22x%22',
  )
  expect(anchoredUrl('file:///docs/a.md', [section('one', 1, 9)], 1)).toBe('file:///docs/a.md#one')
})
