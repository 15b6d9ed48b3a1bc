import { afterEach, describe, expect, test } from 'vitest'
import { createEmbedFixture } from './embed-fixture.ts'
import { openOpenAiServer } from './servers/openai.ts'
import { openTeiServer } from './servers/tei.ts'

const stage = createEmbedFixture()
afterEach(() => stage.end())

const JSON_TYPE = { 'content-type': 'application/json' }

async function send(url: string, body: unknown, headers: Readonly<Record<string, string>> = JSON_TYPE) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(url, { method: 'POST', headers, body: text })
  const answerText = await answer.text()
  return { status: answer.status, answerText }
}

describe('the TEI test server', () => {
  test.each<[number, RegExp, unknown]>([
    [200, /^\[\[/, { inputs: 'one' }],
    [
      200,
      /^\[\[.*\],\[/,
      { inputs: ['one', 'two'], truncate: null, truncation_direction: 'left', prompt_name: 'query' },
    ],
    [200, /^\[\[\d[^,]*,[^,]*\]\]$/, { inputs: ['one'], normalize: false, dimensions: 2 }],
    [400, /"error_type":"Empty"/, { inputs: [] }],
    [400, /"error_type":"Empty"/, { inputs: ['one', ''] }],
    [
      413,
      /batch size 5 > maximum allowed batch size 4","error_type":"Validation"/,
      { inputs: ['a', 'b', 'c', 'd', 'e'] },
    ],
    [413, /length limit exceeded/, { inputs: 'a'.repeat(2000) }],
    [422, /"error_type":"Tokenizer"/, { inputs: ['unreadable'] }],
    [424, /"error_type":"Backend"/, { inputs: ['poison'] }],
    [400, /as JSON/, '{"inputs":'],
    [422, /missing field/, {}],
    [422, /expected a map/, []],
    [422, /unknown field `input`/, { input: 'one' }],
    [422, /untagged enum/, { inputs: [1] }],
    [422, /a boolean/, { inputs: 'one', truncate: 'yes' }],
    [422, /a boolean/, { inputs: 'one', normalize: 1 }],
    [422, /unknown variant/, { inputs: 'one', truncation_direction: 'up' }],
    [422, /a string/, { inputs: 'one', prompt_name: 1 }],
    [422, /usize/, { inputs: 'one', dimensions: 0 }],
  ])('answers %s %s to %j', async (status, pattern, body) => {
    const options = { maxBatch: 4, payloadLimit: 1000, isUnreadable: equals('unreadable'), isPoison: equals('poison') }
    const { origin } = stage.later(await openTeiServer(options))
    expect(await send(`${origin}/embed`, body)).toEqual({ status, answerText: expect.stringMatching(pattern) })
  })

  test('checks path, method, content type and key, except for the key of a health check', async () => {
    const { origin } = stage.later(await openTeiServer({ apiKey: 'secret' }))
    const key = { authorization: 'Bearer secret' }
    const statusOf = async (path: string, init: RequestInit = {}) => (await fetch(origin + path, init)).status
    expect(await statusOf('/health')).toBe(200)
    expect(await statusOf('/info')).toBe(401)
    expect(await statusOf('/info', { headers: key })).toBe(200)
    expect(await statusOf('/embed', { headers: key })).toBe(405)
    expect(await statusOf('/other', { headers: key })).toBe(404)
    expect((await send(`${origin}/embed`, { inputs: 'a' })).status).toBe(401)
    expect((await send(`${origin}/embed`, { inputs: 'a' }, { ...key, 'content-type': 'text/plain' })).status).toBe(415)
  })
})

describe('the OpenAI test server', () => {
  const model = 'text-embedding-3-small'

  test.each<[number, RegExp, unknown]>([
    [200, /^\{"object":"list"/, { model, input: 'one', encoding_format: 'float', user: 'somebody' }],
    [200, /"index":1/, { model, input: ['one', 'two'], dimensions: 2 }],
    [404, /"code":"model_not_found"/, { model: 'nobody', input: 'one' }],
    [400, /provide a model/, { input: 'one' }],
    [400, /'\$.input' is invalid/, { model, input: '' }],
    [400, /'\$.input' is invalid/, { model, input: [] }],
    [400, /'\$.input' is invalid/, { model, input: ['one', ''] }],
    [400, /'\$.input' is invalid/, { model }],
    [400, /array too long/, { model, input: ['a', 'b', 'c', 'd'] }],
    [400, /maximum context length/, { model, input: 'long' }],
    [400, /Must be less than/, { model, input: 'one', dimensions: 9 }],
    [400, /Invalid dimensions/, { model, input: 'one', dimensions: 0.5 }],
    [400, /encoding_format/, { model, input: 'one', encoding_format: 'int8' }],
    [400, /Invalid user/, { model, input: 'one', user: 1 }],
    [400, /Unrecognized request argument supplied: truncate/, { model, input: 'one', truncate: true }],
    [400, /could not parse/, '{'],
  ])('answers %s %s to %j', async (status, pattern, body) => {
    const { origin } = stage.later(await openOpenAiServer({ maxTexts: 3, isTooLong: equals('long') }))
    expect(await send(`${origin}/v1/embeddings`, body)).toEqual({ status, answerText: expect.stringMatching(pattern) })
  })

  test('checks path, method, content type and key', async () => {
    const { origin } = stage.later(await openOpenAiServer({ apiKey: 'secret' }))
    const url = `${origin}/v1/embeddings`
    const key = { authorization: 'Bearer secret' }
    expect((await fetch(url, { headers: key })).status).toBe(405)
    expect((await fetch(`${origin}/v1/models`, { headers: key })).status).toBe(404)
    expect(await send(url, { model, input: 'a' })).toMatchObject({
      status: 401,
      answerText: expect.stringMatching(/api_key/),
    })
    expect((await send(url, { model, input: 'a' }, { ...key, 'content-type': 'text/plain' })).status).toBe(400)
  })
})

function equals(word: string): (text: string) => boolean {
  return (text) => text === word
}
