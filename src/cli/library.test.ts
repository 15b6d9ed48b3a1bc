import { expect, test } from 'vitest'
import { type ConfigInput, readConfig } from '../config.ts'
import { createHint } from './library.ts'

function hintFor(flags: NonNullable<ConfigInput['flags']>, environment: Record<string, string> = {}) {
  return createHint(readConfig({ environment, folder: '/', flags }))
}

test('a hint can be copied, whatever a source is called', () => {
  const hint = hintFor({})
  expect(hint('retry', 'docs@2.0')).toBe('pharos retry docs@2.0')
  expect(hint('retry', "it's; rm -rf /")).toBe("pharos retry 'it'\\''s; rm -rf /'")
  expect(hint('retry', 'a\x1b[2J')).toBe("pharos retry 'a�[2J'")
  expect(hint('explain', 'docs', '<url>')).toBe('pharos explain docs <url>')
})

test('a hint names the library and the private hosts that were given by flag, and only those', () => {
  const hint = hintFor({ library: '/my docs/l.db', allowPrivate: ['*'] })
  expect(hint('retry', 'docs')).toBe("pharos retry docs --allow-private --library '/my docs/l.db'")
  expect(hint('status', 'docs')).toBe("pharos status docs --library '/my docs/l.db'")
  expect(hintFor({ allowPrivate: ['10.0.0.0/8', 'wiki'] })('recrawl', 'docs')).toBe(
    "pharos recrawl docs '--allow-private=10.0.0.0/8,wiki'",
  )
  const configured = hintFor({}, { PHAROS_LIBRARY: '/l.db', PHAROS_ALLOW_PRIVATE: '*' })
  expect(configured('retry', 'docs')).toBe('pharos retry docs')
})
