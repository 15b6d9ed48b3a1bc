import { expect, test } from 'vitest'
import { detectBodyKind } from './media-type.ts'

const HTML = { type: 'html' }
const MARKDOWN = { type: 'text', isMarkdown: true, isMdx: false }
const MDX = { type: 'text', isMarkdown: true, isMdx: true }
const PLAIN = { type: 'text', isMarkdown: false, isMdx: false }

function other(name: string): unknown {
  return { type: 'other', name }
}

test.each([
  ['text/html; charset=utf-8', '/', 'anything', HTML],
  ['application/xhtml+xml', '/', '<html>', HTML],
  ['TEXT/HTML', '/', '', HTML],
  ['text/markdown', '/', '# A', MARKDOWN],
  ['text/x-markdown; charset=utf-8', '/', '<p>', MARKDOWN],
  ['text/mdx', '/', '# A', MDX],
  ['text/plain', '/a.mdx', '# A', MDX],
  ['application/octet-stream', '/a.mdx?raw=1', '# A', MDX],
  ['text/plain', '/notes.txt', 'a', PLAIN],
  ['text/plain', '/README.md', 'a', MARKDOWN],
  ['text/plain', '/llms.txt', '> a', MARKDOWN],
  ['text/plain', '/llms-full.txt', 'a', MARKDOWN],
  ['text/plain', '/a', '# A\n\nb', PLAIN],
  ['text/plain', '/notes.txt?raw=1', '# A\n\n## B', MARKDOWN],
  ['text/plain', '/v1.2/notes', '# A\n\n## B', MARKDOWN],
  ['text/plain', '/a.py', '# A\n\n## B', PLAIN],
  ['text/plain', '/a.sh?raw=1', '# A\n\n## B', PLAIN],
  ['text/plain', '/robots.txt', 'User-agent: *', PLAIN],
  ['text/html', '/README.md?raw=1', '# A', MARKDOWN],
  ['text/html', '/README.md', ' <!doctype html>', HTML],
  ['', '/', '\n<!DOCTYPE html>', HTML],
  ['', '/', '\ufeff<p>', HTML],
  ['', '/', 'Hello <b>you</b>', HTML],
  ['', '/', 'Hello you', PLAIN],
  ['', '/', '# Hello', MARKDOWN],
  ['application/octet-stream', '/', '<html>', HTML],
  ['application/json', '/', '{}', other('application/json')],
  ['application/rss+xml', '/', '<rss>', other('application/rss+xml')],
  ['image/svg+xml', '/', '<svg>', other('image/svg+xml')],
  ['text/css', '/', 'a{}', other('text/css')],
])('content type "%s" at %s with body %j is %j', (type, path, body, expected) => {
  expect(detectBodyKind({ url: `https://example.com${path}`, body, headers: { 'content-type': type } })).toEqual(
    expected,
  )
})

test.each([
  ['%PDF-1.7', other('application/pdf')],
  ['PK\x03\x04', other('application/zip')],
  ['\x89PNG\r\n', other('image/png')],
  ['\xff\xd8\xff\xe0', other('image/jpeg')],
  ['a\0\0\0b', other('binary data')],
  ['a\x01\x02b\x03\x04c\x05d\x06', other('binary data')],
  ['<\0p\0>\0', HTML],
  ['\xff\xfe<\0p\0>\0', HTML],
  ['\xef\xbb\xbf<p>', HTML],
])('the bytes %j take precedence over the content type', (text, expected) => {
  const body = Uint8Array.from(text, (character) => character.charCodeAt(0))
  const headers = { 'content-type': 'text/html' }
  expect(detectBodyKind({ url: 'https://example.com/', body, headers })).toEqual(expected)
  expect(detectBodyKind({ url: 'https://example.com/', body })).toEqual(expected)
})
