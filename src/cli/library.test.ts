import { expect, test } from 'vitest'
import { type ConfigInput, readConfig } from '../config.ts'
import { connectionsOf, createHint, createHintFor } from './library.ts'

function hintFor(flags: NonNullable<ConfigInput['flags']>, environment: Record<string, string> = {}) {
  return createHint(readConfig({ environment, folder: '/', flags }))
}

test('a hint is quoted so that it can be copied, whatever the name of the source', () => {
  const hint = hintFor({})
  expect(hint('retry', 'docs@2.0')).toBe('pharos retry docs@2.0')
  expect(hint('retry', "it's; rm -rf /")).toBe("pharos retry 'it'\\''s; rm -rf /'")
  expect(hint('retry', 'a\x1b[2J')).toBe("pharos retry 'a�[2J'")
  expect(hint('explain', 'docs', '<url>')).toBe('pharos explain docs <url>')
})

test('a hint repeats the library and the private hosts if they were given as flags', () => {
  const hint = hintFor({ library: '/my docs/l.db', allowPrivate: ['*'] })
  expect(hint('retry', 'docs')).toBe("pharos retry docs --allow-private --library '/my docs/l.db'")
  expect(hint('status', 'docs')).toBe("pharos status docs --library '/my docs/l.db'")
  expect(hintFor({ allowPrivate: ['10.0.0.0/8', 'wiki'] })('recrawl', 'docs')).toBe(
    "pharos recrawl docs '--allow-private=10.0.0.0/8,wiki'",
  )
  const configured = hintFor({}, { PHAROS_LIBRARY: '/l.db', PHAROS_ALLOW_PRIVATE: '*' })
  expect(configured('retry', 'docs')).toBe('pharos retry docs')
})

test.each([
  ['http://localhost:8080/', true],
  ['http://wiki.localhost/', true],
  ['http://127.0.0.1/', true],
  ['http://[::1]:8080/', true],
  ['http://10.1.2.3/', true],
  ['http://192.168.0.1/docs/', true],
  ['https://docs.example/', false],
  ['https://1.1.1.1/', false],
  ['https://[2606:4700::1111]/', false],
])('a hint for a source at %s allows its own private host: %s', async (url, isAllowed) => {
  const config = readConfig({ environment: {}, folder: '/' })
  const hint = await createHintFor(config, { url })
  const { hostname } = new URL(url)
  const flag = ` --allow-private=${hostname.replace(/^\[|\]$/g, '')}`
  expect(hint('recrawl', 'docs')).toBe(`pharos recrawl docs${isAllowed ? flag : ''}`)
  expect(hint('status', 'docs')).toBe('pharos status docs')
  const configured = readConfig({ environment: { PHAROS_ALLOW_PRIVATE: 'localhost' }, folder: '/' })
  expect((await createHintFor(configured, { url }))('recrawl', 'docs')).toBe('pharos recrawl docs')
})

test.each([
  [{ embedder: 'tei' }, 'embedEndpoint', '--embed-endpoint or PHAROS_EMBED_ENDPOINT'],
  [{ embedder: 'openai', embedEndpoint: 'http://127.0.0.1:1/' }, 'embedModel', '--embed-model or PHAROS_EMBED_MODEL'],
  [{ reranker: 'hosted' }, 'rerankEndpoint', '--rerank-endpoint or PHAROS_RERANK_ENDPOINT'],
  [{ reranker: 'hosted', rerankEndpoint: 'http://127.0.0.1:1/' }, 'rerankModel', 'PHAROS_RERANK_MODEL'],
])('a setting that %j requires is named with the ways to set it', (flags, origin, ways) => {
  const { values } = readConfig({ environment: {}, folder: '/', flags })
  expect(() => connectionsOf(values)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      details: { origin, problem: expect.stringMatching(new RegExp(`, got none; give it with ${ways}$`)) },
    }),
  )
})
