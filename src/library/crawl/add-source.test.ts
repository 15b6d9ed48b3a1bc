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
  ['name', 'x'.repeat(5000), 'the name has 5000 characters, more than 200'],
] as const)('checkLabel rejects the %s %j', (what, label, problem) => {
  expect(() => checkLabel(what, label)).toThrow(problem)
})

test('checkLabel accepts other labels and trims them', () => {
  for (const label of ['5.2.0', 'next, maybe', 'Größe', '手册', 'a b'])
    expect(checkLabel('name', ` ${label} `)).toBe(label)
})

test.each(['http://127.0.0.1:99999/', '127.0.0.1:99999', 'https://docs.example:99999/a?b:1'])(
  'the port of %s is named as the problem',
  async (url) => {
    const library = await openTestLibrary()
    const problem = 'its port is 99999, and the highest is 65535'
    await expect(addSource(library, { url })).rejects.toMatchObject({ code: 'URL_INVALID', details: { problem } })
  },
)

test('an llms.txt must be given by its whole address', async () => {
  const library = await openTestLibrary()
  const add = (llmsTxtUrl: string) => addSource(library, { url: 'https://docs.example/a', settings: { llmsTxtUrl } })
  await expect(add('/path')).rejects.toThrow(
    'llms.txt: expected a web address such as https://docs.example/llms.txt, got /path',
  )
  expect((await add('https://docs.example/path')).settings.llmsTxtUrl).toBe('https://docs.example/path')
})

test('a default name is at most as long as a name may be', async () => {
  const library = await openTestLibrary()
  expect((await addSource(library, { url: `https://docs.example/${'a'.repeat(1000)}` })).name).toHaveLength(200)
})

test('a default name has hyphens instead of characters that a label cannot contain', async () => {
  const library = await openTestLibrary()
  const { name } = await addSource(library, { url: 'file:///srv/a%0Ab@c/', isOwnFolder: true })
  expect(name).toBe('a-b-c')
  const page = await addSource(library, { url: 'https://cdn.example/react@18/' })
  expect(page.name).toBe('cdn.example/react-18')
})
