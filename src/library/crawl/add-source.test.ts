import { expect, test } from 'vitest'
import { openTestLibrary } from '../../../test/sites/crawl.ts'
import { addSource, checkLabel } from './add-source.ts'

test.each([
  ['name', ' ', 'the name " " is empty'],
  ['name', 'a@b', 'the name "a@b" contains @, which separates name and version'],
  ['version', '1@2', 'the version "1@2" contains @, which separates name and version'],
  ['version', '1\nx', 'the version "1\\nx" contains an invisible character'],
  ['version', '1\u2028x', 'contains an invisible character'],
  ['name', 'a\u200bb', 'contains an invisible character'],
  ['name', 'a\u{e0041}b', 'contains an invisible character'],
  ['name', '\ud800', 'contains an invisible character'],
] as const)('checkLabel rejects the %s %j', (what, label, problem) => {
  expect(() => checkLabel(what, label)).toThrow(problem)
})

test('checkLabel accepts other labels and trims them', () => {
  for (const label of ['5.2.0', 'next, maybe', 'Größe', '手册', 'a b'])
    expect(checkLabel('name', ` ${label} `)).toBe(label)
})

test('a default name has hyphens instead of characters that a label cannot contain', async () => {
  const library = await openTestLibrary()
  const { name } = await addSource(library, { url: 'file:///srv/a%0Ab@c/', isOwnFolder: true })
  expect(name).toBe('a-b-c')
  const page = await addSource(library, { url: 'https://cdn.example/react@18/' })
  expect(page.name).toBe('cdn.example/react-18')
})
