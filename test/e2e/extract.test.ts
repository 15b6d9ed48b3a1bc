import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSample } from '../documents/convert.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

/** Runs a command line that holds no quotes. */
function pharos(line: string) {
  return sandbox.runInProcess(line.split(' ').filter(Boolean))
}

beforeAll(() => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  sandbox.write({
    'page.html': `<title>Tides</title><nav><a href="/">Home</a></nav><main><h1>Tides</h1>
      <p>High at <a href="times">six</a>.</p><p hidden>secret \x1b[31m</p></main>`,
    'latin.html': Uint8Array.from('<meta charset=latin1><p>Caf\xe9', (character) => character.charCodeAt(0)),
    'notes.md': '---\ntitle: Notes\n---\n# Heading\n\nText.\n',
    'shell.html': '<div id="root"></div><script src="main.js"></script>',
    'stub.html': '<meta http-equiv="refresh" content="0; url=https://example.org/new">',
    'image.html': Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0]),
    'empty.html': '',
    'data.json': '{"a": "<p>b</p>"}',
    'guide.mdx': '# Guide\n\nText.\n',
    'guide.docx': readSample('guide.docx'),
    'locked.pdf': readSample('locked.pdf'),
    'notes.rst': 'Notes\n=====\n\nSee `a <a>`_.\n',
    'folder/file': '',
  })
})

afterAll(() => sandbox.remove())

describe('extract', () => {
  test('prints the Markdown of a file, and nothing else', async () => {
    expect(await pharos('extract page.html --url https://example.com/guide/')).toEqual({
      code: 0,
      signal: null,
      stdout: '# Tides\n\nHigh at [six](https://example.com/guide/times).\n',
      stderr: '',
    })
  })

  test.each([
    'pharos extract --url https://example.com/',
    'cat page.html | pharos extract - --url https://example.com/',
  ])('reads standard input: %s', async (line) => {
    const { stdout } = await sandbox.shell(line.startsWith('cat') ? line : `${line} < page.html`)
    expect(stdout).toContain('[six](https://example.com/times)')
  })

  test('decodes a file with the encoding that it declares', async () => {
    expect((await pharos('extract latin.html')).stdout).toBe('Café\n')
  })

  test('refuses a page that needs more memory than a document may have', async () => {
    sandbox.write({ 'nested.html': `<main><p>Text.</p>${'<i>'.repeat(1_500_000)}` })
    expect(await pharos('extract nested.html')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('it needs more memory than allowed'),
    })
  })

  test('reads Markdown', async () => {
    expect((await pharos('extract notes.md')).stdout).toBe('# Heading\n\nText.\n')
  })

  test('reads documents that it recognizes by their names or their bytes', async () => {
    const { stdout, stderr } = await pharos('extract guide.docx')
    expect({ start: stdout.slice(0, 19), stderr }).toEqual({ start: '# Lighthouse Guide\n', stderr: '' })
    expect((await sandbox.shell('pharos extract - < guide.docx')).stdout).toBe(stdout)
    expect((await pharos('extract notes.rst --url https://example.com/')).stdout).toContain(
      '[a](https://example.com/a)',
    )
    const locked = await pharos('extract locked.pdf')
    expect(locked.stderr).toContain('it is protected by a password (it is encrypted with a password)')
  })

  test('reads MDX as Markdown', async () => {
    expect((await pharos('extract guide.mdx')).stdout).toBe('# Guide\n\nText.\n')
  })

  test('refuses an empty file name', async () => {
    const { code, stderr } = await sandbox.runInProcess(['extract', ''])
    expect(code).toBe(2)
    expect(stderr).toContain('expected the name of a file, got an empty one')
  })

  test('--json prints every part of the page', async () => {
    const { stdout, stderr, code } = await pharos('extract page.html --url https://example.com/ --json --debug')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(JSON.parse(stdout)).toMatchObject({
      type: 'page',
      page: {
        url: 'https://example.com/',
        title: 'Tides',
        sections: [{ title: 'Tides', level: 1, startLine: 1 }],
        links: [
          { url: 'https://example.com/', text: 'Home', rel: [], isContent: false },
          { url: 'https://example.com/times', text: 'six', rel: [], isContent: true },
        ],
        contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      removals: expect.arrayContaining([expect.objectContaining({ step: 'hidden', reason: 'hidden attribute' })]),
    })
  })

  test('--debug lists on stderr what was left out, without control characters', async () => {
    const { stdout, stderr } = await pharos('extract page.html --debug')
    expect(stdout).toContain('# Tides')
    expect(stderr).toContain('hidden: hidden attribute: p: secret \u{fffd}[31m\n')
  })

  test.each([
    [
      'shell.html',
      'shell.html cannot be read as a page: it is empty until a browser runs its scripts (an empty element that scripts fill)',
      'save the page from a browser when it is complete; --json gives its links',
    ],
    [
      'stub.html',
      'stub.html cannot be read as a page: it redirects to another address (refreshes to another address after 0 s: https://example.org/new)',
      'read the page that it redirects to; --json gives its links',
    ],
    [
      'image.html',
      'image.html cannot be read as a page: it is not text (image/png)',
      'give HTML, Markdown, plain text or a document such as a PDF',
    ],
    [
      'data.json',
      'data.json cannot be read as a page: it is not text (application/json)',
      'give HTML, Markdown, plain text or a document such as a PDF',
    ],
    [
      'empty.html',
      'empty.html cannot be read as a page: it is empty (no text)',
      'check that it was saved completely; --debug shows what was left out',
    ],
  ])('reports in one line why %s holds no page', async (file, message, advice) => {
    expect(await pharos(`extract ${file}`)).toEqual({
      code: 3,
      signal: null,
      stdout: '',
      stderr: `pharos: ${message} – ${advice}\n`,
    })
  })

  test('--json prints why there is no page on stdout, and the error on stderr', async () => {
    const { stdout, stderr, code } = await pharos('extract stub.html --json')
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ type: 'no-page', reason: 'redirect', target: 'https://example.org/new' })
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'PAGE_REFUSED', advice: 'read the page that it redirects to' },
    })
  })

  test.each([
    ['nowhere.html', 'there is no file at nowhere.html – check the path'],
    ['folder', 'folder cannot be read: it is a folder – name a file in it'],
  ])('reports in one line why %s cannot be read', async (file, message) => {
    const { code, stdout, stderr } = await pharos(`extract ${file}`)
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^pharos: ${message}.*\n$`))
  })

  test('refuses more than 50 MB', async () => {
    const { code, stdout, stderr } = await sandbox.shell('head -c 60000000 /dev/zero | pharos extract')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('standard input cannot be read: more than 50 MB – give a smaller one')
  })

  test('refuses a --url that is not http or https', async () => {
    const { code, stderr } = await pharos('extract page.html --url example.com')
    expect(code).toBe(2)
    expect(stderr).toBe(
      'pharos: --url: expected an address with http or https, got "example.com" – see `pharos help extract`\n',
    )
  })
})
