import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SETTINGS } from '../../src/settings/settings.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, root)), 'utf8')

const examples = readdirSync(fileURLToPath(new URL('examples', root)))
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => read(`examples/${name}`))

test('every code sample of READERS.md is part of an example', () => {
  const samples = [...read('docs/READERS.md').matchAll(/```js\n([\s\S]*?)```/g)].map(([, sample = '']) => sample)
  expect(samples.length).toBeGreaterThan(5)
  // The indentation is removed, because most code of an example is inside a `try` block.
  const texts = examples.map((text) => text.replaceAll('\n  ', '\n'))
  expect(samples.filter((sample) => !texts.some((text) => text.includes(sample)))).toEqual([])
})

test('READERS.md names only existing settings', () => {
  const settingNames = [...read('docs/READERS.md').matchAll(/`(crawl4ai[A-Z]\w*)`/g)].map(([, name]) => name)
  expect(settingNames.length).toBeGreaterThan(4)
  expect(settingNames.filter((name) => !(String(name) in SETTINGS))).toEqual([])
})
