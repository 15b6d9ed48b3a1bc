import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { answerParseErrors } from './parse-errors.ts'

test('each line that is not JSON gets a parse error, however the lines arrive', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  answerParseErrors(input, output)
  const text = 'not json\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\n{"text":"ü\u2028"}\n{"jsonrpc":\n[]\n{"open'
  for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]))
  input.write('":1}\n}\n{"a":1}\n')
  await new Promise((resolve) => input.end(resolve))
  const errors = String(output.read()).trim().split('\n')
  expect(errors.map((line) => JSON.parse(line))).toEqual(
    Array.from({ length: 3 }, () => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: expect.stringContaining('not JSON') },
    })),
  )
})
