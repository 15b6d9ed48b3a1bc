import { describe, expect, test } from 'vitest'
import { reduceQuestion } from './question.ts'

describe('reduceQuestion', () => {
  test('keeps the message and own functions of a JavaScript stack trace', () => {
    const question = `My server dies at start:
Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1817:16)
    at startServer (/home/me/app/server.js:10:5)
    at Module._compile (node:internal/modules/cjs/loader:1376:14)
    at /home/me/app/main.js:3:1
what can I do?`
    expect(reduceQuestion(question)).toBe(
      'My server dies at start:\nError: listen EADDRINUSE: address already in use :::3000\nwhat can I do?\nstartServer',
    )
  })

  test('keeps the last line and own functions of a Python traceback, the innermost first', () => {
    const question = `Traceback (most recent call last):
  File "app.py", line 9, in <module>
    main()
  File "app.py", line 5, in main
    load(path)
  File "/usr/lib/python3.11/json/__init__.py", line 293, in load
    return loads(fp.read())
json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 5)`
    expect(reduceQuestion(question)).toBe('json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 5)\nmain')
  })

  test('keeps the panic of a Rust backtrace and leaves out the standard library', () => {
    const question = `thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 7', src/main.rs:4:5
stack backtrace:
   0: rust_begin_unwind
             at /rustc/90c5418/library/std/src/panicking.rs:584:5
   1: core::panicking::panic_fmt
             at /rustc/90c5418/library/core/src/panicking.rs:142:14
   2: app::grid::cell_at
             at ./src/main.rs:4:5
note: run with \`RUST_BACKTRACE=full\` for a verbose backtrace.`
    const reduced = reduceQuestion(question)
    expect(reduced).toContain('index out of bounds')
    expect(reduced).toContain('app::grid::cell_at')
    expect(reduced).not.toContain('panic_fmt')
    expect(reduced).not.toContain('RUST_BACKTRACE')
  })

  test('drops times, addresses and ids of log lines', () => {
    const question = `2026-11-02 10:44:01.123 [main] ERROR could not connect to 0x7f3a21bc90ab, code 0x80070005
2026-11-02T10:44:02Z request 6f9619ff-8b86-d011-b42d-00cf4fc964ff failed`
    expect(reduceQuestion(question)).toBe('ERROR could not connect to  , code 0x80070005\nrequest   failed')
  })

  test.each([
    'how do I serve files from another folder',
    'at (the) office nobody can log in',
    'a question\nwith two lines and main.c:12 in it',
    '',
  ])('returns %j unchanged', (question) => {
    expect(reduceQuestion(question)).toBe(question)
  })

  test('returns a trace that has only foreign frames unchanged', () => {
    const question = '    at node:internal/main:1:2\n    at Module.run (node:internal/modules:3:4)'
    expect(reduceQuestion(question)).toBe(question)
  })

  test('handles hostile questions of 20,000 characters', () => {
    for (const part of ['.', 'a.', 'at ', 'File "', '1: a::', '#1 0x', '2026-11-02 ', 'a.b(', '0x', '[ ']) {
      for (const text of [part, `${part}\n`]) {
        expect(reduceQuestion(text.repeat(20_000 / text.length)).length).toBeLessThanOrEqual(20_000)
      }
    }
  })
})
