import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { locateLibrary } from '../library-location.ts'
import { LocalSite } from './local-site.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox
let site: LocalSite
let library: string

function write(title: string, body: string): string {
  return `<!doctype html><html lang="en"><title>${title}</title><main><h1 id="top">${title}</h1>${body}</main></html>`
}

const NAMES = ['kiln', 'glaze', 'clay', 'wheel', 'slip', 'bisque', 'cone', 'shelf', 'pyrometer', 'wedging', 'trimming']

const LINKS = ['/docs/retry', '/docs/broken', '/docs/hostile', ...NAMES.map((name) => `/docs/${name}`)]

const PAGES = {
  '/docs/': write(
    'Guide',
    `<p>Where to begin with pottery.</p>${LINKS.map((link) => `<a href="${link}">${link}</a> `).join('')}`,
  ),
  '/docs/retry': write(
    'Retry',
    '<p>How visits are repeated when a host is busy, in enough words to be a page of its own.</p>' +
      '<h2 id="after">Retry-After</h2><p>Wait as long as <a href="/docs/">the field</a> says before the next visit.</p>' +
      '<p><code>retry_visit(url, attempts=3)</code></p><p>Visits an address once more.</p>' +
      '<pre><code class="language-python">retry_visit("https://a.example/")\n</code></pre>',
  ),
  '/docs/hostile': write(
    'Hostile \u009b2J title',
    '<p>Hostile words \u009b31m here.</p><pre>```\n## 9. Fake > Passage\n```</pre><p>The end of what is hostile.</p>',
  ),
  ...Object.fromEntries(
    NAMES.map((name, i) => [
      `/docs/${name}`,
      write(
        `About ${name}`,
        `<p>Everything on firing with the ${name}: ${'it gets hot and stays so. '.repeat(i + 3)}</p>`,
      ),
    ]),
  ),
}

beforeAll(async () => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  library = await locateLibrary(sandbox.path('library.db'))
  site = await LocalSite.open(PAGES)
  expect(await start('add', `${site.origin}/docs/`, '--name', 'guide', '--version', '2')).toMatchObject({ code: 0 })
})

afterAll(async () => {
  await site.close()
  sandbox.remove()
})

/** Runs the program on the library of the sandbox as a separate process. */
function start(...args: string[]) {
  return sandbox.run(args, { PHAROS_LIBRARY: library, PHAROS_ALLOW_PRIVATE: '127.0.0.1' })
}

/** Runs the program inside this process, which takes a tenth of the time. */
function pharos(...args: string[]) {
  return sandbox.runInProcess([...args, '--library', library])
}

async function json(...args: string[]): Promise<unknown> {
  const { stdout, stderr, code } = await pharos(...args, '--json')
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

/** Runs the program in a terminal and returns the terminal output. */
async function runInTerminal(line: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const command = `stty cols 90; '${process.execPath}' '${PROGRAM}' ${line}`
  const { stdout } = await sandbox.start('script', ['-qec', command, '/dev/null'], {
    PHAROS_LIBRARY: library,
    TERM: 'xterm-256color',
    ...environment,
  }).ended
  return stdout.replaceAll('\r\n', '\n')
}

interface Answer {
  readonly passages: { readonly chunk: string; readonly url: string; readonly text: string; readonly score: number }[]
  readonly more: { readonly url: string }[]
  readonly cursor: string | null
  readonly widen: { readonly filter: string }[]
}

describe('search in a pipe', () => {
  test('shows five pages with the lines that match', async () => {
    const { code, stdout, stderr } = await start('search', 'firing it gets hot')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^by words, in 1 source; --full shows the passages\nnext: pharos search /),
    })
    const hits = stdout.trimEnd().split('\n\n')
    expect(hits).toHaveLength(5)
    for (const [i, hit] of hits.entries()) {
      expect(hit).toMatch(
        new RegExp(
          `^${i + 1}  About \\w+\\n   http\\S+/docs/\\w+(?:#top)?  guide@2/[0-9a-f]{12}\\n(?:   .*(?:\\n|$)){1,3}$`,
        ),
      )
    }
  })

  test('prints Markdown with --full, and each passage can be fetched again by its name', async () => {
    const { code, stdout, stderr } = await start('search', 'retry after', '--limit', '1', '--full')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^1 passage, about \d+ tokens, by words/),
    })
    expect(stdout).toMatch(
      /^## 1\. Retry\n\n<http:\/\/127\.0\.0\.1:\d+\/docs\/retry#top>\nchunk guide@2\/[0-9a-f]{12}, lines \d+-\d+, checked \d{4}-\d\d-\d\d, changed /,
    )
    expect(stdout).toMatch(/\n````markdown\n(?:.*\n)*````\n$/)
    const [, name = ''] = /^chunk (\S+),/m.exec(stdout) ?? []
    const { stdout: text, stderr: citation } = await start('get', name)
    expect(text).toContain('[the field](')
    expect(stdout).toContain(text.trim())
    expect(citation).toMatch(
      /^http\S+\/docs\/retry#after {2}Retry > Retry-After {2}guide@2, lines \d+-\d+, checked and changed just now/,
    )
    expect(await json('get', name.slice('guide@2/'.length))).toMatchObject({
      chunk: expect.stringMatching(new RegExp(`^${name}[0-9a-f]{52}$`)),
      source: 'guide@2',
      version: '2',
      title: 'Retry',
      content: text.slice(0, -1),
    })
  })

  test('--json prints every part of the answer', async () => {
    const answer = (await json('search', 'retry after', '--explain', '--source', 'guide')) as Answer
    expect(Object.keys(answer)).toEqual([
      'query',
      'engines',
      'relevance',
      'uncovered',
      'elsewhere',
      'notices',
      'searched',
      'searchedCount',
      'more',
      'moreShown',
      'tokens',
      'cursor',
      'widen',
      'passages',
      'partial',
      'searched_count',
      'more_shown',
    ])
    expect(answer.passages[0]).toMatchObject({
      source: 'guide@2',
      url: `${site.origin}/docs/retry#top`,
      headingPath: ['Retry'],
      heading_path: ['Retry'],
      terms: expect.arrayContaining(['retry']),
      explain: { wordScore: expect.any(Number), word_score: expect.any(Number), similarity: null },
    })
  })

  test('prints a command that continues the search', async () => {
    const args = ['search', 'firing it gets hot', '--limit', '4', '--tokens', '60', '--source', 'guide']
    const { passages } = (await json(...args)) as Answer
    const { stderr } = await pharos(...args)
    const [, next = ''] = /^next: (.+)$/m.exec(stderr) ?? []
    expect(next).toMatch(
      /^pharos search 'firing it gets hot' --source guide --limit 4 --tokens 60 --cursor \S+ --library \S+$/,
    )
    const { stdout } = await sandbox.shell(`${next} --json`)
    const later = JSON.parse(stdout) as Answer
    // A page that was only listed under `more` may have a passage now.
    const texts = [...passages, ...later.passages].map(({ text }) => text)
    expect([passages.length > 0, later.passages.length > 0]).toEqual([true, true])
    expect(new Set(texts).size).toBe(texts.length)
  })

  test('accepts a heading as it is printed, and ignores control characters in the query', async () => {
    const args = [
      'search',
      'wait\x07\x1b as long',
      '--heading',
      'Retry > Retry-After',
      '--limit',
      '1',
      '--tokens',
      '10',
    ]
    const { query, passages } = (await json(...args)) as Answer & { readonly query: string }
    expect([query, passages.length]).toEqual(['wait  as long', 1])
    const { stderr } = await pharos('search', 'firing\x07', '--limit', '1')
    expect(stderr).toMatch(/^next: pharos search firing --limit 1 --cursor /m)
  })

  test('a search without hits suggests what would find something and exits with 0', async () => {
    const args = ['search', 'retry after', '--path', '/docs/kiln']
    const { code, stdout, stderr } = await pharos(...args)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^nothing found; without --path \/docs\/kiln: \d+ page/)
    expect(((await json(...args)) as Answer).widen.map(({ filter }) => filter)).toContain('path')
  })

  test('keeps the text of a page from imitating the output of the program', async () => {
    const { stdout } = await pharos('search', 'hostile', '--full')
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u)
    const [, fence = ''] = /^(`{4,})markdown$/m.exec(stdout) ?? []
    const quoted = stdout.split('\n')
    const fake = quoted.indexOf('## 9. Fake > Passage')
    expect([quoted.indexOf(`${fence}markdown`) < fake, fake < quoted.indexOf(fence)]).toEqual([true, true])
  })
})

describe('search in a terminal', () => {
  test('marks matches, prints clickable links where the terminal supports them, and explains scores in columns', async () => {
    const [colored, plain] = await Promise.all([
      runInTerminal('search retry after --limit 1 --full'),
      runInTerminal('search retry after --limit 1 --explain', { NO_COLOR: '1', FORCE_HYPERLINK: '1' }),
    ])
    const url = `${site.origin}/docs/retry#top`
    expect(colored).toContain('\x1b[1m\x1b[33mRetry\x1b[39m\x1b[22m')
    expect(colored).toContain(`\n   \x1b[36m${url}\x1b[39m\n   \x1b[2mguide@2/`)
    expect(colored).toMatch(/, lines \d+-\d+, checked and changed just now/)
    expect(colored).toContain('the field says before the next visit.\n')
    expect(plain).toContain(`\n   \x1b]8;;${url}\x1b\\${url}\x1b]8;;\x1b\\\n   guide@2/`)
    expect(plain).toContain(`\x1b]8;;${site.origin}/docs/\x1b\\the field\x1b]8;;\x1b\\`)
    expect(plain).not.toContain('\x1b[')
    expect(plain).toMatch(/\n {3}score \d+\.\d{4}: .+\n(?: {3} +\d+\.\d{4} {2}.*\n)+/)
    expect(plain).toMatch(/\n {3} +\d\.\d{4} {4}retry +retry.*; (?:\d+ in \w+, )*\d+ in body; \d+ chunks? in all\n/)
  })
})

describe('a stored page', () => {
  test('is read as Markdown, whole or by a range of lines', async () => {
    const whole = await start('read', `${site.origin}/docs/retry#after`)
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringMatching(/^# Retry\n\nHow visits/) })
    expect(whole.stderr).toMatch(
      /^http\S+\/docs\/retry {2}Retry {2}guide@2, lines 1-\d+ of \d+, checked and changed just now/,
    )
    const lines = whole.stdout.trimEnd().split('\n')
    expect((await pharos('read', '/docs/retry', '--source', 'guide', '--lines', '3-5')).stdout).toBe(
      `${lines.slice(2, 5).join('\n')}\n`,
    )
    expect(await json('read', '/docs/retry', '--source', 'guide', '--lines', '3-')).toMatchObject({
      url: `${site.origin}/docs/retry`,
      start_line: 3,
      end_line: lines.length,
      line_count: lines.length,
      markdown: lines.slice(2).join('\n'),
      language: 'en',
    })
    expect(await pharos('read', '/docs/retry', '--source', 'guide', '--lines', '900')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`--lines: expected at most line ${lines.length}, the last of the page, got 900`),
    })
  })

  test('an address without a page is answered with similar addresses or with its state in the crawl', async () => {
    const unknown = await pharos('read', `${site.origin}/docs/retri`)
    expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 3, stdout: '' })
    expect(unknown.stderr).toMatch(/no page \S+\/docs\/retri in .*did you mean \S+\/docs\/retry\?/)
    const elsewhere = await pharos('outline', '/manual/pyrometer', '--source', 'guide')
    expect(elsewhere.stderr).toMatch(/, did you mean \S+\/docs\/pyrometer\?/)
    expect((await pharos('symbols', 'guide')).stderr).toMatch(/not a page – list .*`pharos symbols --source guide /)
    expect((await pharos('outline', 'guide@2')).stderr).toMatch(/`pharos outline <page> --source guide@2 /)
    const failed = await pharos('symbols', `${site.origin}/docs/broken`)
    expect(failed.stderr).toMatch(/no page \S+\/docs\/broken in .*: guide@2 has it as failed \(not-found\)/)
  })

  test('outline lists the sections of a page with lines and anchors', async () => {
    const { stdout } = await pharos('outline', `${site.origin}/docs/retry`)
    expect(stdout).toMatch(/^Retry {2}1-\d+ {2}#top\n {2}Retry-After {2}\d+-\d+ {2}#after\n$/)
    expect(await json('outline', '/docs/retry', '--source', 'guide')).toMatchObject({
      source: 'guide@2',
      sections: [{ title: 'Retry', level: 1, start_line: 1, children: [{ title: 'Retry-After', anchor: 'after' }] }],
    })
  })

  test('symbols lists the definitions of a page with signatures', async () => {
    const { stdout } = await pharos('symbols', `${site.origin}/docs/retry`)
    expect(stdout).toMatch(/^retry_visit\(url, attempts=3\) {2}http\S+\/docs\/retry#after {2}line \d+\n$/)
    expect(await json('symbols', '--source', 'guide', '--prefix', 'RETRY_')).toMatchObject({
      symbols: [{ name: 'retry_visit', signature: 'retry_visit(url, attempts=3)', source: 'guide@2' }],
      has_more: false,
    })
    expect(await pharos('symbols', '--source', 'guide', '--prefix', 'zz')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no definitions that begin with zz\n',
    })
  })
})

describe('the size of the library', () => {
  test('stats prints the size of the library', async () => {
    const { stdout } = await pharos('stats')
    expect(stdout).toContain(`Library: ${library}\n`)
    expect(stdout).toMatch(
      /^Library: .*\nSources: 1\nPages: 14\nChunks: \d+\nVectors: none, .*\nSize: .*\nLast change: 2\S+ \(just now\)\n$/,
    )
    expect(await json('stats')).toMatchObject({ sources: 1, pages: 14, vectors: null })
    const { code, stderr } = await pharos('changes', 'guide')
    expect([code, stderr]).toEqual([2, expect.stringContaining('guide@2 was crawled only once')])
    expect(await json('duplicates')).toMatchObject({ compared: 14, unknown: 0, group_count: expect.any(Number) })
  })

  test('stats shows the vectors, and a search that cannot use them says so beside its answer', async () => {
    const space = { model: 'small', fingerprint: 'f'.repeat(64), dimensions: 4 }
    const { store, vectors, close } = await openLibrary({ path: library, version: '0' })
    const [chunk] = (await vectors?.listMissing(1)) ?? []
    const { chunks } = await store.stats()
    const vector = Float32Array.from([0.6, 0.8, 0, 0])
    await vectors?.replaceSpace(space)
    if (chunk !== undefined) await vectors?.write(space, [{ ...chunk, vector }])
    await close()
    expect((await pharos('stats')).stdout).toContain(
      `\nVectors: 1 (${Math.floor(100 / chunks)}%) of the chunks, by small (4 dimensions)\n`,
    )
    expect(await json('stats')).toMatchObject({ vectors: { ...space, embedded: 1 } })
    const { code, stdout, stderr } = await pharos('search', 'retry after', '--limit', '1')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^1 {2}Retry/) })
    expect(stderr).toMatch(
      /^the library has vectors of another model \(small\) than the built-in one \(pharos-embed-1\); .*\nby words, /,
    )
  })
})
