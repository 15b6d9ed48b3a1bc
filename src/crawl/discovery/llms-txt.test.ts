import { expect, test } from 'vitest'
import type { ResourceFetcher } from '../resource.ts'
import { findLlmsFull, findLlmsTxt } from './llms-txt.ts'

const INDEX = '# Project\n\n- [A](a): first\n'
const CONTENT = '# Project\n\nMany words.\n\nAnd more.\n'

function createSite(files: Record<string, string | { body: string; type?: string; url?: string }>) {
  const requested: string[] = []
  const fetchResource: ResourceFetcher = async (url) => {
    requested.push(url)
    const file = files[url]
    if (file === undefined) return { type: 'missing', status: 404 }
    const { body, type = 'text/plain', url: final = url } = typeof file === 'string' ? { body: file } : file
    return { type: 'found', url: final, snapshot: { url: final, body, headers: { 'content-type': type } } }
  }
  return { requested, fetchResource }
}

test('prefers llms.txt in the folder of the start to the one at the root', async () => {
  const { requested, fetchResource } = createSite({
    'https://e.com/docs/llms.txt': INDEX,
    'https://e.com/llms.txt': INDEX,
  })
  const { hit, tried } = await findLlmsTxt({ startUrl: 'https://e.com/docs/start', manualUrl: null, fetchResource })
  expect(hit).toMatchObject({
    url: 'https://e.com/docs/llms.txt',
    place: 'folder',
    llmsTxt: { projectName: 'Project' },
  })
  expect(hit?.llmsTxt.links.map(({ url }) => url)).toEqual(['https://e.com/docs/a'])
  expect(tried).toEqual([
    {
      url: 'https://e.com/docs/llms.txt',
      place: 'folder',
      detail: '1 link',
      isAnswered: true,
      fault: null,
      isProof: true,
    },
  ])
  expect(requested).toEqual(['https://e.com/docs/llms.txt'])
})

test('treats a start with a trailing slash as a folder', async () => {
  const { requested, fetchResource } = createSite({})
  await findLlmsTxt({ startUrl: 'https://e.com/docs/v2/?x#y', manualUrl: null, fetchResource })
  expect(requested).toEqual(['https://e.com/docs/v2/llms.txt', 'https://e.com/llms.txt'])
})

test('requests llms.txt once when the folder of the start is the root', async () => {
  const { requested, fetchResource } = createSite({})
  expect(await findLlmsTxt({ startUrl: 'https://e.com/start', manualUrl: null, fetchResource })).toEqual({
    hit: null,
    tried: [
      {
        url: 'https://e.com/llms.txt',
        place: 'folder',
        detail: 'status 404',
        isAnswered: true,
        fault: null,
        isProof: true,
      },
    ],
  })
  expect(requested).toEqual(['https://e.com/llms.txt'])
})

test('tries the address given by the user first, then the other locations', async () => {
  const manualUrl = 'https://other.com/my-llms.txt'
  const startUrl = 'https://e.com/docs/start'
  const given = createSite({ [manualUrl]: INDEX })
  expect((await findLlmsTxt({ startUrl, manualUrl, fetchResource: given.fetchResource })).hit).toMatchObject({
    place: 'manual',
    url: manualUrl,
  })
  expect(given.requested).toEqual([manualUrl])
  const wrong = createSite({ [manualUrl]: 'words', 'https://e.com/llms.txt': INDEX })
  const { hit, tried } = await findLlmsTxt({ startUrl, manualUrl, fetchResource: wrong.fetchResource })
  expect(hit).toMatchObject({ place: 'root' })
  expect(tried.map(({ detail }) => detail)).toEqual(['no list of links', 'status 404', '1 link'])
})

test('refuses an HTML page by its type and by its content', async () => {
  const { fetchResource } = createSite({
    'https://e.com/docs/llms.txt': { body: INDEX, type: 'text/html; charset=utf-8' },
    'https://e.com/llms.txt': '<!doctype html>\n# A\n- [a](/a)',
  })
  const { hit, tried } = await findLlmsTxt({ startUrl: 'https://e.com/docs/x', manualUrl: null, fetchResource })
  expect(hit).toBe(null)
  expect(tried.map(({ fault }) => fault)).toEqual([null, null])
  expect(tried.map(({ detail }) => detail)).toEqual(['sent as text/html; charset=utf-8', 'an HTML page'])
  expect(tried.map(({ isProof }) => isProof)).toEqual([false, false])
})

test('resolves links against the address after redirects', async () => {
  const { fetchResource } = createSite({
    'https://e.com/llms.txt': { body: INDEX, url: 'https://www.e.com/ai/llms.txt' },
  })
  const { hit } = await findLlmsTxt({ startUrl: 'https://e.com/', manualUrl: null, fetchResource })
  expect([hit?.url, hit?.llmsTxt.links[0]?.url]).toEqual(['https://www.e.com/ai/llms.txt', 'https://www.e.com/ai/a'])
})

test('looks for llms-full.txt with content beside a given llms.txt, beside the start, then at the root', async () => {
  const { requested, fetchResource } = createSite({
    'https://e.com/x/llms-full.txt': INDEX,
    'https://e.com/docs/llms-full.txt': '<html><body># A',
    'https://e.com/llms-full.txt': CONTENT,
  })
  const { hit, tried } = await findLlmsFull({
    startUrl: 'https://e.com/docs/start',
    manualUrl: 'https://e.com/x/llms.txt',
    fetchResource,
  })
  expect(hit).toMatchObject({ url: 'https://e.com/llms-full.txt', place: 'root', text: CONTENT })
  expect(tried.map(({ detail }) => detail)).toEqual([
    'a list of links, not their content',
    'an HTML page',
    `${CONTENT.length} characters`,
  ])
  expect(requested).toHaveLength(3)
})

test('reports a failure with its reason and detail', async () => {
  const fetchResource: ResourceFetcher = async () => ({
    type: 'failed',
    reason: 'timeout',
    detail: 'after 10 s',
    status: null,
  })
  expect((await findLlmsFull({ startUrl: 'https://e.com/', manualUrl: null, fetchResource })).tried).toEqual([
    {
      url: 'https://e.com/llms-full.txt',
      place: 'folder',
      detail: 'timeout: after 10 s',
      isAnswered: false,
      fault: 'timeout: after 10 s',
      isProof: false,
    },
  ])
})

test.each([
  [404, true],
  [410, true],
  [401, false],
  [403, false],
  [451, false],
])('status %i proves that there is no llms.txt: %s', async (status, isProof) => {
  const fetchResource: ResourceFetcher = async () => ({ type: 'missing', status })
  const { tried } = await findLlmsTxt({ startUrl: 'https://e.com/', manualUrl: null, fetchResource })
  expect(tried).toMatchObject([{ isAnswered: true, isProof }])
})

test('sends the validators of a known llms-full.txt and accepts a 304', async () => {
  const requested: [string, unknown, unknown][] = []
  const fetchResource: ResourceFetcher = async (url, { etag, lastModified } = {}) => {
    requested.push([url, etag, lastModified])
    return etag === '"1"' ? { type: 'unchanged', url } : { type: 'missing', status: 404 }
  }
  const known = { etag: '"1"', lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' }
  const validatorsOf = async (url: string) => (url === 'https://e.com/llms-full.txt' ? known : undefined)
  const options = { startUrl: 'https://e.com/docs/x', manualUrl: null, fetchResource, validatorsOf }
  const { hit, tried } = await findLlmsFull(options)
  expect(hit).toEqual({ url: 'https://e.com/llms-full.txt', place: 'root', text: null, ...known })
  expect(tried.at(-1)).toMatchObject({ detail: 'unchanged', isAnswered: true, isProof: true })
  expect(requested).toEqual([
    ['https://e.com/docs/llms-full.txt', undefined, undefined],
    ['https://e.com/llms-full.txt', known.etag, known.lastModified],
  ])
})

test('refuses a file with more than 400,000 lines', async () => {
  const body = `${INDEX}${'===\n'.repeat(400_000)}`
  const { fetchResource } = createSite({ 'https://e.com/llms.txt': body, 'https://e.com/llms-full.txt': body })
  const options = { startUrl: 'https://e.com/', manualUrl: null, fetchResource }
  for (const { hit, tried } of [await findLlmsTxt(options), await findLlmsFull(options)]) {
    expect(hit).toBeNull()
    expect(tried).toMatchObject([{ detail: 'more than 400000 lines', isAnswered: true, isProof: false }])
  }
})
