import { describe, expect, test } from 'vitest'
import type { DocumentPart } from './document.ts'
import { convertOpenapi } from './openapi.ts'

async function read(description: unknown): Promise<readonly DocumentPart[]> {
  const text = typeof description === 'string' ? description : JSON.stringify(description)
  const converted = await convertOpenapi(new TextEncoder().encode(text), 'api.json')
  if (converted.type !== 'parts') throw new Error(`no parts but ${converted.type}`)
  return converted.parts
}

const PET = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer', format: 'int64', description: 'Its number' },
    kind: { type: 'string', enum: ['cat', 'dog'], default: 'cat' },
    parent: { $ref: '#/components/schemas/Pet' },
    friends: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
  },
}

const STORE = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.2', description: 'Sells pets.\n\n# Use\n\nCall it.' },
  servers: [{ url: 'https://api.example/v1', description: 'live' }],
  security: [{ key: [] }],
  paths: {
    '/pets/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, description: 'One | two' },
      ],
      get: {
        operationId: 'getPetById',
        summary: 'Find a pet',
        description: 'Finds one.',
        parameters: [{ $ref: '#/components/parameters/Verbose' }],
        responses: {
          200: {
            description: 'The pet',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' }, example: { id: 1 } } },
          },
          default: { $ref: '#/components/responses/Error' },
        },
      },
      delete: { deprecated: true, responses: {} },
    },
    '/pets': {
      post: {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { allOf: [{ $ref: '#/components/schemas/Pet' }, { properties: { tag: { type: 'string' } } }] },
            },
          },
        },
        responses: {},
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    parameters: { Verbose: { name: 'verbose', in: 'query', schema: { type: 'boolean' } } },
    responses: {
      Error: { description: 'Failed', content: { 'application/json': { schema: { $ref: 'errors.yaml#/Error' } } } },
    },
    schemas: { Pet: PET },
  },
}

describe('an OpenAPI description', () => {
  test('becomes an introduction and one page per operation', async () => {
    const parts = await read(STORE)
    expect(parts.map(({ name, title }) => [name, title])).toEqual([
      ['introduction', 'Pets'],
      ['get-pet-by-id', 'Find a pet'],
      ['delete-pets-id', 'DELETE /pets/{id}'],
      ['post-pets', 'POST /pets'],
    ])
    expect(parts[0]?.body.text).toBe(
      '# Pets\n\nVersion: 1.2\n\nSells pets.\n\n### Use\n\nCall it.\n\n## Servers\n\n- `https://api.example/v1` live\n\n## Security schemes\n\n- `key` (apiKey, header, X-Key)\n\nSecurity: `key`\n\n## Operations\n\n- `GET /pets/{id}`: Find a pet\n- `DELETE /pets/{id}`\n- `POST /pets`\n',
    )
  })

  test('lists parameters, bodies and responses with their schemas, and names recursive schemas', async () => {
    const [, get, remove, post] = await read(STORE)
    expect(get?.body.text).toBe(
      [
        '# Find a pet',
        '`GET /pets/{id}`',
        'Finds one.',
        'Operation: `getPetById`',
        '## Parameters',
        '| Name | In | Type | Required | Description |\n| --- | --- | --- | --- | --- |\n| `id` | path | integer | yes | One \\| two minimum: `1`. |\n| `verbose` | query | boolean | no |  |',
        '## Responses',
        '### 200',
        'The pet',
        'Content type: `application/json`',
        'Type: `Pet`',
        '- `id` (integer (int64), required): Its number\n- `kind` (string): One of `cat`, `dog`. Default: `cat`.\n- `parent` (`Pet`)\n- `friends` (array of `Pet`)',
        'Example:',
        '```json\n{\n  "id": 1\n}\n```',
        '### default',
        'Failed',
        'Content type: `application/json`',
        'Type: `Error`. See `errors.yaml#/Error`.\n',
      ].join('\n\n'),
    )
    expect(remove?.body.text).toContain('> This operation is deprecated.')
    expect(post?.body.text).toContain('## Request body\n\nRequired.')
    expect(post?.body.text).toContain('- `tag` (string)')
  })

  test('may be written in YAML, and may have version 2', async () => {
    const parts = await read(
      'swagger: "2.0"\ninfo: {title: Old, version: 1}\nhost: api.example\nbasePath: /v2\npaths:\n  /a:\n    put:\n      parameters:\n        - {in: body, name: b, schema: {$ref: "#/definitions/A"}}\n        - {in: query, name: q, type: string}\n      responses:\n        200: {description: ok, schema: {type: array, items: {type: string}}}\ndefinitions:\n  A: {properties: {x: {type: number}}}\n',
    )
    expect(parts[0]?.body.text).toContain('- `https://api.example/v2`')
    expect(parts[1]?.body.text).toContain('| `q` | query | string | no |  |')
    expect(parts[1]?.body.text).toContain('## Request body\n\nType: `A`\n\n- `x` (number)')
    expect(parts[1]?.body.text).toContain('### 200\n\nok\n\nType: array of string')
  })

  test('has unique part names', async () => {
    const operation = { operationId: 'same', responses: {} }
    const parts = await read({ openapi: '3.0.0', paths: { '/a': { get: operation, put: operation } } })
    expect(parts.map(({ name }) => name)).toEqual(['introduction', 'same', 'same-2'])
  })
})

describe('convertOpenapi with recursive or invalid descriptions', () => {
  test('limits the length of schemas that contain themselves', async () => {
    const self = Array.from({ length: 20 }, () => ({ $ref: '#/s/A', title: 'x' }))
    for (const A of [
      { allOf: self },
      { oneOf: self },
      { items: self[0] },
      { properties: { a: self[0], b: self[1] } },
    ]) {
      const get = { responses: { 200: { content: { 'a/b': { schema: { $ref: '#/s/A' } } } } } }
      const [, part] = await read({ openapi: '3.0.0', paths: { '/a': { get } }, s: { A } })
      expect(part?.body.text.length).toBeLessThan(100_000)
    }
    const [, loop] = await read({
      openapi: '3',
      paths: { '/a': { get: { responses: { 200: { $ref: '#/r' } } } } },
      r: { $ref: '#/r' },
    })
    expect(loop?.body.text).toContain('### 200')
  })

  test('refuses YAML aliases that expand to too much data', async () => {
    const levels = 'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefg'[i]},`.repeat(9)}]`)
    await expect(read(`openapi: 3.0.0\na: &a [x, x]\n${levels.join('\n')}\n`)).rejects.toThrow('aliases')
  })

  test.each([
    ['{"openapi": "3.0.0", ', 'JSON'],
    ['openapi: 3.0.0\n\tx: [', 'YAML'],
    [`openapi: 3.0.0\na: ${'['.repeat(300)}`, 'too deep'],
    ['{"a": 1}', 'not an OpenAPI'],
    ['just: words', 'not an OpenAPI'],
  ])('refuses %j', async (text, reason) => {
    await expect(read(text)).rejects.toThrow(reason)
  })
})
