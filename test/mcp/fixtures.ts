import {
  completable,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

/*
 * The tools, resources and prompts that scenarios of the conformance suite expect. The product has none of them; they run on the same
 * server code, to test every kind of answer.
 */

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='
/** Empty audio. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

/** Adds the fixtures of the suite to a server. */
export function addFixtures(server: McpServer): void {
  server.server.registerCapabilities({ logging: {} })
  addContentTools(server)
  addNotifyingTools(server)
  addRequestingTools(server)
  addFixtureResources(server)
  addPrompts(server)
}

function addContentTools(server: McpServer): void {
  const resource = {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  }
  const mixed = {
    uri: 'test://mixed-content-resource',
    mimeType: 'application/json',
    text: '{"test":"data","value":123}',
  }
  server.registerTool('test_simple_text', { description: 'Simple text.' }, () =>
    textResult('This is a simple text response for testing.'),
  )
  server.registerTool('test_image_content', { description: 'An image.' }, () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  }))
  server.registerTool('test_audio_content', { description: 'A sound.' }, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }))
  server.registerTool('test_embedded_resource', { description: 'A resource.' }, () => ({
    content: [{ type: 'resource', resource }],
  }))
  server.registerTool('test_multiple_content_types', { description: 'Several.' }, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: mixed },
    ],
  }))
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } }
  const inputSchema = fromJsonSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  })
  server.registerTool('json_schema_2020_12_tool', { description: 'A schema.', inputSchema }, () => textResult('done'))
}

/** Tools that send notifications while they work. */
function addNotifyingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs.' }, async ({ mcpReq }: ServerContext) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', message)
      await pause()
    }
    return textResult('logged')
  })
  server.registerTool('test_tool_with_progress', { description: 'Progresses.' }, async ({ mcpReq }: ServerContext) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      }
      await pause()
    }
    return textResult('progressed')
  })
  server.registerTool('test_reconnection', { description: 'Closes its stream.' }, async ({ http }: ServerContext) => {
    http?.closeSSE?.()
    await pause()
    return textResult('Reconnection test completed')
  })
}

/** Sends the request on the stream of the call. The client may not have opened its general stream yet, and the request would be lost. */
function elicit({ send }: ServerContext['mcpReq'], params: Record<string, unknown>) {
  return send({ method: 'elicitation/create', params })
}

/** Tools that send requests to the client. */
function addRequestingTools(server: McpServer): void {
  const prompt = z.object({ prompt: z.string() })
  server.registerTool('test_sampling', { description: 'Samples.', inputSchema: prompt }, async (args, { mcpReq }) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: args.prompt } }]
    const { content } = await mcpReq.send({ method: 'sampling/createMessage', params: { messages, maxTokens: 100 } })
    return textResult(`LLM response: ${JSON.stringify(content)}`)
  })
  const message = z.object({ message: z.string() })
  server.registerTool('test_elicitation', { description: 'Asks.', inputSchema: message }, async (args, { mcpReq }) => {
    const result = await elicit(mcpReq, {
      message: args.message,
      requestedSchema: {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      },
    })
    return textResult(`User response: <action: ${result.action}, content: ${JSON.stringify(result.content)}>`)
  })
  server.registerTool(
    'test_elicitation_sep1034_defaults',
    { description: 'Asks.' },
    async ({ mcpReq }: ServerContext) => {
      const result = await elicit(mcpReq, {
        message: 'Please confirm',
        requestedSchema: {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
        },
      })
      return textResult(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content)}`)
    },
  )
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks.' }, async ({ mcpReq }: ServerContext) => {
    const titled = ['value1', 'value2', 'value3'].map((value, i) => ({ const: value, title: `Choice ${i + 1}` }))
    const options = ['option1', 'option2', 'option3']
    const result = await elicit(mcpReq, {
      message: 'Please choose',
      requestedSchema: {
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled } },
        },
      },
    })
    return textResult(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content)}`)
  })
}

function addFixtureResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'Text.', mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  )
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'An image.', mimeType: 'image/png' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
    }),
  )
  server.registerResource('watched', 'test://watched-resource', { description: 'Watched.' }, ({ href }) => ({
    contents: [{ uri: href, text: 'watched' }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource(
    'template',
    template,
    { description: 'By id.', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
  server.server.registerCapabilities({ resources: { subscribe: true } })
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Simple.' }, () =>
    promptResult('This is a simple prompt for testing.'),
  )
  const two = z.object({ arg1: completable(z.string(), () => ['paris', 'park']), arg2: z.string() })
  server.registerPrompt('test_prompt_with_arguments', { description: 'Two.', argsSchema: two }, ({ arg1, arg2 }) =>
    promptResult(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  )
  const uri = z.object({ resourceUri: z.string() })
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'One.', argsSchema: uri },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        ...promptResult('Please process the embedded resource above.').messages,
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'An image.' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      ...promptResult('Please analyze the image above.').messages,
    ],
  }))
}

function textResult(text: string) {
  return { content: [{ type: 'text' as const, text }] }
}

function promptResult(text: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] }
}

/** The delay that the scenarios require. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
