import * as fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { zeroTable } from '../damage-library.ts'
import { LocalSite, manyPages, writePage } from './local-site.ts'
import { NO_BROWSER, PROGRAM, ProgramSandbox } from './program.ts'

const SIGNALS: readonly NodeJS.Signals[] = process.env['TEST_LONG'] === undefined ? ['SIGKILL'] : ['SIGINT', 'SIGKILL']

let sandbox: ProgramSandbox
let site: LocalSite

const PAGES = {
  '/docs/': writePage('Guide', ['/docs/install', '/docs/retry', '/docs/old/a', '/blog', 'https://other.invalid/x']),
  '/docs/install': writePage('Install', ['/docs/', '/docs/broken']),
  '/docs/retry': writePage('Retry', [], 'Wait for Retry-After before the next visit.'),
  '/docs/old/a': writePage('Archive'),
  '/blog': writePage('Blog'),
}

beforeAll(async () => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  site = await LocalSite.open(PAGES)
})

afterAll(() => site.close())

beforeEach(() => {
  sandbox = new ProgramSandbox()
  site.serve(PAGES)
})

afterEach(() => sandbox.remove())

/** Runs the program on the library of the sandbox with loopback allowed. `{}` stands for the origin of the site. */
function pharos(line: string, ...extraArgs: string[]) {
  const args = [...line.split(' ').filter(Boolean), ...extraArgs].map((arg) => arg.replace('{}', site.origin))
  return sandbox.runInProcess(args, environment())
}

function environment(): Record<string, string> {
  return { ...NO_BROWSER, PHAROS_LIBRARY: sandbox.path('library.db'), PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
}

interface SourceCounts {
  readonly [name: string]: unknown
  readonly discovered: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly gone: number
  readonly pending: number
}

/** The counts of a source, after a check that they add up. */
async function readCounts(source = 'guide'): Promise<SourceCounts> {
  const { stdout, stderr, code } = await pharos(`status ${source} --json`)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  const { sources } = JSON.parse(stdout) as { sources: [SourceCounts] }
  const { discovered, indexed, unchanged, skipped, failed, gone, pending } = sources[0]
  expect(discovered).toBe(indexed + unchanged + skipped + failed + gone + pending)
  return sources[0]
}

const ADD = 'add {}/docs/ --name guide'

describe('add', () => {
  test('crawls a site, prints the totals, and accounts for every address', async () => {
    const { code, stdout, stderr } = await pharos(ADD)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^guide: 4 pages, 4 chunks in the library\n {2}discovered +\d/)
    expect(stdout).toContain('  failed      1  1 not-found\n')
    expect(stdout).toContain(`failed:\n  ${site.origin}/docs/broken: not-found: `)
    expect(stdout).toContain('why: pharos explain guide <url>\nagain: pharos retry guide\n')
    expect(await readCounts()).toMatchObject({
      status: 'INDEXED',
      indexed: 4,
      failed: 1,
      pending: 0,
      pages: 4,
      chunks: 4,
    })
    expect(site.countOf('/blog')).toBe(0)
  })

  test('leaves nothing behind when its browser is missing or does not start', async () => {
    for (const [browser, problem] of [
      ['/bin/false', '/bin/false does not start'],
      ['/nonsense/chrome', 'there is no program at /nonsense/chrome'],
    ] as const) {
      const { code, stdout, stderr } = await pharos(`${ADD} --render chromium --browser ${browser}`)
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr).toContain(`pages cannot be rendered: ${problem}`)
      expect(stderr).toContain('correct the setting `browser`')
    }
    expect(JSON.parse((await pharos('list --json')).stdout)).toMatchObject({ sources: [] })
    const shell = '<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>'
    site.serve({ ...PAGES, '/docs/app': shell })
    const fetched = await pharos('fetch {}/docs/app --render auto --browser /nonsense/chrome')
    expect(fetched).toMatchObject({ code: 3, stderr: expect.stringContaining('there is no program at /nonsense') })
  })

  test('leaves no source behind when the first crawl fails, and says what to correct', async () => {
    sandbox.write({ 'bad.zip': 'PK\u0003\u0004 and nothing of an archive', 'empty/a.md': ' ' })
    site.pages.set('/missing/', 404)
    for (const [line, problem] of [
      // Port 1 has no listener.
      [
        'add http://127.0.0.1:1/docs/',
        /: failed \(network, 127\.0\.0\.1 refused .*\) – check the spelling of the host/,
      ],
      ['add {}/missing/', /: failed \(not-found, .*\) – check the address/],
      ['add ./bad.zip', /bad\.zip cannot be used: /],
      ['add ./empty', /no file of .*empty\/ has text to index – left out: 1 empty/],
    ] as const) {
      const { code, stdout, stderr } = await pharos(line)
      expect({ line, code, stdout }).toEqual({ line, code: 3, stdout: '' })
      expect(stderr).toMatch(problem)
      expect(stderr).not.toContain('robots')
      expect(JSON.parse((await pharos('list --json')).stdout)).toMatchObject({ sources: [] })
    }
  })

  test('completes an address without a scheme, and reports it', async () => {
    const { host } = new URL(site.origin)
    const { code, stderr } = await pharos(`add ${host}/docs/ --name guide`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: `${host}/docs/ has no scheme: reading ${site.origin}/docs/\n` })
    expect(await pharos(`add ${host}/docs/ --name guide`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is already a source guide – crawl it again'),
    })
  })

  test('status prints an added source in its documented layout', async () => {
    await pharos(ADD)
    const { stdout, stderr } = await pharos('status guide')
    expect(stderr).toBe('')
    const lines = stdout.split('\n')
    expect(lines.slice(0, 2)).toEqual([`Source: guide (${site.origin}/docs/)`, 'Status: INDEXED'])
    expect(lines[2]).toMatch(/^Last crawl: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(just now\), add, completed in \S+$/)
    expect(lines.slice(3, 7)).toEqual([
      'Pages: 4 crawled, 0 skipped (unchanged), 1 error',
      'Chunks: 4 total',
      'Ledger: 7 discovered = 4 indexed + 0 unchanged + 2 skipped + 1 failed + 0 gone + 0 pending',
      'Errors: 1 page failed',
    ])
    expect(stdout).toContain('Filtered: 2 URLs excluded by scope\n')
    expect(stdout).toContain('  - https://other.invalid/x: off-site (scope subpages ')
    expect((await pharos('status')).stdout).toMatch(
      /^guide {2}INDEXED {2}4 pages, 4 chunks, 1 error, crawled just now {2}http/,
    )
  })

  test('--json prints only the summary', async () => {
    const { code, stdout, stderr } = await pharos(`${ADD} --version 2.0 --json --verbose`)
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
    expect(JSON.parse(stdout)).toMatchObject({
      source: { name: 'guide', version: '2.0', url: `${site.origin}/docs/` },
      kind: 'add',
      end: 'completed',
      indexed: 4,
      failed: 1,
      reasons: { 'failed/not-found': 1, 'skipped/off-site': 1, 'skipped/out-of-scope': 1 },
      run: { indexed: 4, removed: 0 },
      failures: [{ url: `${site.origin}/docs/broken`, reason: 'not-found', status: 404 }],
    })
    expect((await pharos('status guide@2.0')).code).toBe(0)
  })

  test('--verbose reports each page, and --quiet reports none', async () => {
    const loud = await pharos(`${ADD} --verbose`)
    expect(loud.stderr).toContain(`indexed ${site.origin}/docs/retry (1 chunk)\n`)
    expect(loud.stderr).toContain(`failed ${site.origin}/docs/broken (not-found: `)
    const quiet = await pharos(`${ADD} --version 2 --quiet`)
    expect(quiet).toMatchObject({
      stderr: '',
      stdout: expect.stringMatching(/^guide@2: \d+ pages, \d+ chunks in the library\n$/),
    })
  })

  test('does not fetch private addresses, and says how to allow them', async () => {
    const blocked = await sandbox.runInProcess(['add', `${site.origin}/docs/`, '--name', 'guide'])
    expect({ code: blocked.code, stdout: blocked.stdout }).toEqual({ code: 3, stdout: '' })
    expect(blocked.stderr).toMatch(/^pharos: nothing could be indexed: .* – .*--allow-private.*\n$/)
    expect(site.requests).toEqual([])
    const allowed = await sandbox.runInProcess(['add', '--allow-private', `${site.origin}/docs/`, '--name', 'guide'])
    expect(allowed).toMatchObject({ code: 0, stderr: '' })
    expect(fs.existsSync(sandbox.path('.local/share/pharos/library.db'))).toBe(true)
  })

  test('adding an existing source is refused with the command to use instead', async () => {
    await pharos(ADD)
    expect(await pharos(ADD)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^pharos: there is already a source guide – crawl it again with `pharos recrawl guide`/,
      ),
    })
    const again = await pharos(`${ADD} --max-pages 80 --block /old/**,/b/**`)
    expect(again.stderr).toContain("`pharos recrawl guide --block '/old/**' --block '/b/**' --max-pages 80")
    expect(await pharos('add {}/blog --name guide')).toMatchObject({ code: 2 })
  })

  test('respects globs, depth and page limit, and reports a reached limit first', async () => {
    const globs = await pharos('add {}/docs/ --name globs --allow /docs/*,/docs/old/** --block /docs/retry --json')
    expect(JSON.parse(globs.stdout)).toMatchObject({ indexed: 3, reasons: { 'skipped/blocked': 1 } })
    const deep = await pharos('add {}/docs/ --name deep --max-depth 0 --json')
    expect(JSON.parse(deep.stdout)).toMatchObject({ indexed: 1, reasons: { 'skipped/max-depth': 3 } })
    const capped = await pharos('add {}/docs/ --name capped --max-pages 2')
    expect(capped.stdout).toMatch(
      /^PARTIAL: the cap of 2 was reached: \d known address(es)? not read; complete it with: pharos recrawl capped --max-pages \d\b/,
    )
    expect((await pharos('status capped')).stdout).toMatch(/^PARTIAL: the cap of 2 was reached: /)
    for (const name of ['globs', 'deep', 'capped']) await readCounts(name)
  })

  test('sends --header fields to its own origin only, and neither stores nor prints them', async () => {
    const other = await LocalSite.open({ '/docs/x': writePage('Elsewhere') })
    site.pages.set('/docs/', writePage('Guide', ['/docs/retry', `${other.origin}/docs/x`]))
    // Each port counts as a separate host, so only the scope of the domain reaches both.
    const secret = 'Bearer s3cr3t-t0ken'
    const { stdout, stderr } = await pharos(`${ADD} --scope domain --verbose`, '--header', `Authorization: ${secret}`)
    expect(site.requests.every(({ headers }) => headers.authorization === secret)).toBe(true)
    expect(other.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false)
    expect(stdout + stderr).not.toContain('s3cr3t')
    const kept = fs.readdirSync(sandbox.folder).filter((name) => name.startsWith('library.db'))
    for (const name of kept) expect(fs.readFileSync(sandbox.path(name)).includes('s3cr3t')).toBe(false)
    await other.close()
  })

  test.each([
    [
      'add docs-example',
      /^pharos: docs-example cannot be crawled: it is neither a URL nor an existing file or folder – give an/,
    ],
    ['add ftp://x/', /its scheme is ftp/],
    ['add https://me:pw@docs.example/', /give them with --header instead/],
    ['add {}/ --scope all', /--scope: there is no "all"; there are subpages, hostname, domain/],
    ['add {}/ --crawl-type doc', /--crawl-type: there is no "doc", did you mean docs\?/],
    ['add {}/ --allow /{a,b}', /pattern "\/\{a": /],
    ['add {}/ --header s3cret', /--header: expected 'Name: value'/],
    ['add {}/ --name a@b', /contains @, which separates name and version/],
    ['add {}/ --allow-private 10.0.0.0/8', /with an equals sign: `--allow-private=10\.0\.0\.0\/8`/],
    ['add {}/ --allow-private=what/ever/8', /--allow-private: "what\/ever\/8" /],
    ['add {}/ --request-interval soon', /--request-interval: expected a duration such as 200ms/],
    ['add {}/ --concurrency 0', /^pharos: --concurrency: expected a whole number from 1 to 256, got "0"/],
    ['add {}/ --version=', /^pharos: --version: expected a label, got an empty one/],
    ['recrawl', /name a source, or give --all/],
  ])('pharos %s is wrong usage', async (line, problem) => {
    const { code, stdout, stderr } = await pharos(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(problem)
    expect(stderr).not.toContain('s3cret')
    expect(site.requests).toEqual([])
  })

  test('shows the built-in defaults in its help', async () => {
    const help = (await pharos('help add')).stdout.replaceAll(/\s+/g, ' ')
    for (const [flag, value] of [
      ['--scope', 'subpages'],
      ['--crawl-type', 'docs'],
      ['--llms-full', 'auto'],
      ['--max-pages', 'no limit'],
      ['--concurrency', '16'],
      ['--request-interval', '200ms'],
      ['--max-page-bytes', '20MB'],
    ]) {
      expect(help).toMatch(new RegExp(`${flag} [^-]*(?:-[^-]+)*?default: ${value}\\)`))
    }
  })

  test('reports a seed that the scope excludes, with the reason', async () => {
    const { code, stderr } = await pharos(`${ADD} --seed {}/blog --seed {}/docs/old/a`)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `--seed ${site.origin}/blog will not be fetched: out-of-scope, it is on the same site, but outside the part that is crawled\n`,
    })
  })

  test('prints the addresses that the scope refused and the command that includes them', async () => {
    const siblings = ['/docs/guide/a', '/docs/guide/b', '/docs/guide/c', '/about']
    site.pages.set('/docs/guide/start/', writePage('Start', siblings))
    for (const path of siblings.slice(0, 3)) site.pages.set(path, writePage(path))
    site.pages.set('/llms.txt', '# Guide\n\n- [A](/docs/guide/a): about\n- [B](/docs/guide/b): about\n')
    const { code, stdout } = await pharos('add {}/docs/guide/start/ --name guide')
    expect(code).toBe(0)
    const again = `pharos remove guide && pharos add ${site.origin}/docs/guide/start/ --scope hostname --allow '/docs/guide/**' --name guide`
    expect(stdout.split('\n')[0]).toBe(
      `the scope left only the start page: it refused 4 addresses of the site (2 of them listed by llms.txt or a sitemap); include them with: ${again}`,
    )
    for (const command of again.split(' && '))
      expect((await pharos(command.replace('pharos ', '').replaceAll("'", ''))).code).toBe(0)
    expect(await readCounts()).toMatchObject({ pages: 4 })

    site.pages.set('/one/only', writePage('Only', ['/about', '/blog']))
    const far = await pharos('add {}/one/only --name far --json')
    expect(JSON.parse(far.stdout)).toMatchObject({ wider_scope: { refused: 4, listed: 2, folder: null } })
    expect((await pharos('recrawl far')).stdout).toContain(
      `pharos add ${site.origin}/one/only --scope hostname --name far`,
    )
  })

  test('reports the address to which the start redirects', async () => {
    site.pages.set('/start/', new URL('/docs/', site.origin))
    const { code, stdout } = await pharos('add {}/start/ --name moved')
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toBe(`the start redirects to ${site.origin}/docs/; that address was crawled`)
    expect((await pharos('explain moved {}/docs/retry')).stdout).not.toContain('refuse')
    expect((await pharos('explain moved {}/start/')).stdout).toContain(
      `Content: held by ${site.origin}/docs/ (indexed)`,
    )
  })

  test('status lists the pages skipped for reasons other than the scope', async () => {
    site.pages.set('/robots.txt', 'User-agent: *\nDisallow: /docs/private\n')
    site.pages.set(
      '/docs/',
      writePage('Guide', ['/docs/install', '/docs/retry', '/docs/old/a', '/docs/moved', '/docs/private', '/blog']),
    )
    site.pages.set('/docs/moved', new URL('/docs/retry', site.origin))
    await pharos('add {}/docs/ --name listed')
    const { stdout } = await pharos('status listed')
    expect(stdout).toContain('Filtered: 1 URL excluded by scope\n')
    expect(stdout).toContain(
      [
        'Skipped: 2 URLs left out for other reasons',
        `  - ${site.origin}/docs/private: robots-disallow (Disallow: /docs/private)`,
        `  - ${site.origin}/docs/moved: redirect → ${site.origin}/docs/retry`,
        '',
      ].join('\n'),
    )
    expect(await readCounts('listed')).toMatchObject({
      left_out_total: 2,
      left_out: [{ reason: 'robots-disallow' }, { reason: 'redirect', target: `${site.origin}/docs/retry` }],
    })
  })

  test('a missing start page fails with fitting advice', async () => {
    expect(await pharos('add {}/nowhere/')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/nothing could be indexed: .*not-found.* – check the address\n$/),
    })
    const { stderr } = await pharos('add {}/nowhere/ --json')
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'CRAWL_START_FAILED', advice: 'check the address' } })
  })
})

describe('an existing source', () => {
  /** The bytes of a library with the source; each test starts with a copy. */
  let crawled: Buffer

  beforeAll(async () => {
    sandbox = new ProgramSandbox()
    expect(await pharos(ADD)).toMatchObject({ code: 0 })
    expect(fs.readdirSync(sandbox.folder).filter((name) => name.startsWith('library'))).toEqual(['library.db'])
    crawled = fs.readFileSync(sandbox.path('library.db'))
    sandbox.remove()
  })

  beforeEach(() => sandbox.write({ 'library.db': crawled }))

  test('a recrawl adds new pages, replaces changed ones and removes those proven gone', async () => {
    site.pages.set('/docs/', writePage('Guide', ['/docs/install', '/docs/retry', '/docs/old/a', '/docs/new']))
    site.pages.set('/docs/new', writePage('New'))
    site.pages.delete('/docs/retry')
    const { code, stdout } = await pharos('recrawl guide --json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'recrawl', run: { indexed: 2, removed: 1 } })
    expect(await readCounts()).toMatchObject({ gone: 1 })
    expect((await pharos('search retry-after')).stdout).not.toContain('/docs/retry>')
  })

  test('a recrawl with another scope uses it for one run only', async () => {
    const narrow = await pharos('recrawl guide --block /docs/retry --json')
    expect(JSON.parse(narrow.stdout)).toMatchObject({ run: { removed: 0 } })
    expect(site.countOf('/docs/retry')).toBe(0)
    await pharos('recrawl guide')
    expect(site.countOf('/docs/retry')).toBe(1)
    expect(await readCounts()).toMatchObject({ pages: 4 })
  })

  test('a refresh requests only known pages and counts new addresses', async () => {
    site.pages.set('/docs/', writePage('Guide', ['/docs/install', '/docs/new']))
    site.pages.set('/docs/new', writePage('New'))
    const { code, stdout } = await pharos('refresh guide')
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      '1 new address found but not fetched; fetch it with: pharos refresh guide --discover',
    )
    expect([site.countOf('/docs/new'), site.countOf('/docs/broken')]).toEqual([0, 0])
    await readCounts()
  })

  test('a refresh skips pages that were checked recently', async () => {
    expect(await pharos('refresh guide --max-age 1h')).toMatchObject({ code: 0 })
    expect(site.requests.filter(({ path }) => path.startsWith('/docs/'))).toEqual([])
  })

  test('retry fetches failed pages again', async () => {
    site.pages.set('/docs/broken', writePage('Mended'))
    expect((await pharos('retry guide')).stdout).toContain('this run: 1 indexed, ')
    expect(site.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt')).toEqual(['/docs/broken'])
    expect(await readCounts()).toMatchObject({ failed: 0, pages: 5 })
  })

  test('retry has nothing to do when nothing failed', async () => {
    site.pages.set('/docs/broken', writePage('Mended'))
    await pharos('retry guide')
    site.requests.length = 0
    expect(await pharos('retry guide')).toMatchObject({ code: 0, stdout: 'guide: nothing to retry\n' })
    expect(JSON.parse((await pharos('retry guide --json')).stdout)).toMatchObject({
      kind: 'retry',
      run: { visited: 0 },
    })
    expect(site.requests.filter(({ path }) => path.startsWith('/docs/'))).toEqual([])
  })

  test('a start address or name that several sources share is refused with a list of these sources', async () => {
    await pharos('add {}/docs/ --name twin')
    await pharos('add {}/docs/ --name twin --version 2')
    await pharos('add {}/docs/ --name other --version 1')
    await pharos('add {}/docs/ --name other --version 2')
    expect(await pharos('status {}/docs/')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/: several sources start at \S+\/docs\/: guide, /),
    })
    expect((await pharos('status other')).stderr).toContain('other has several versions, name one: other@1, other@2')
  })

  test.each([
    ['explain guide', 'expected an address, got an empty one'],
    ['search', 'expected words to search for, got none'],
  ])('pharos %s with an empty argument is wrong usage', async (line, problem) => {
    expect(await pharos(line, '')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(problem) })
  })

  test('status lists ten refused addresses with their total, and with --all every one', async () => {
    site.pages.set(
      '/docs/',
      writePage('Guide', ['/docs/install', ...Array.from({ length: 15 }, (_, i) => `https://other.invalid/${i}`)]),
    )
    await pharos('recrawl guide')
    const some = await readCounts()
    expect(some).toMatchObject({ errors_total: 1, filtered_total: 17 })
    expect(some['filtered']).toHaveLength(10)
    const { stdout } = await pharos('status guide --json --all')
    const { sources } = JSON.parse(stdout) as { sources: [SourceCounts] }
    expect(sources[0]['filtered']).toHaveLength(17)
    expect((await pharos('status guide')).stdout).toContain('  and 7 more; --all lists them\n')
    expect((await pharos('status guide --all')).stdout).not.toContain('more')
  })

  test('is found by its start address and its id too, and a wrong name gets a suggestion', async () => {
    const { id } = await readCounts()
    for (const name of [String(id), `${site.origin}/docs`]) expect((await pharos(`status ${name}`)).code).toBe(0)
    expect(await pharos('status guidee')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no source guidee in'),
    })
    expect((await pharos('status guidee')).stderr).toContain('did you mean guide?')
  })

  test('explains every address, known or not', async () => {
    const explain = async (url: string) => (await pharos(`explain guide ${url}`)).stdout
    expect(await explain('{}/docs/install')).toMatch(
      /^http\S+\nState: indexed, its content was indexed\nFound: as a link on \S+\/docs\/, 1 link/,
    )
    expect(await explain('/docs/broken')).toMatch(
      /State: failed \(not-found\).*\nWhy: it was not found\n[\s\S]*Last answer: 404\n/,
    )
    expect(await explain('https://other.invalid/x')).toContain('State: skipped (off-site)')
    expect(await explain('/docs/unseen')).toContain('Never seen in guide.\nThe scope would let it through')
    expect(await explain('/elsewhere')).toContain('Never seen in guide.\nThe scope would refuse it as out-of-scope')
    const { stdout } = await pharos('explain guide /docs/broken --json')
    expect(JSON.parse(stdout)).toMatchObject({
      is_known: true,
      row: { state: 'failed', reason: 'not-found', status: 404 },
    })
  })

  test('is searched, listed, measured, packed and removed', async () => {
    const hits = await pharos('search retry-after --source guide --full')
    expect(hits.stdout).toMatch(
      /^## 1\. Retry\n\n<http:\/\/\S+\/docs\/retry>\nchunk guide\/\S+, lines 1-\d+, .*\n\n```markdown\n# Retry\n\n.*Wait for Retry-After/,
    )
    const { stdout } = await pharos('search retry-after --json')
    expect(JSON.parse(stdout)).toMatchObject({ passages: { 0: { source: 'guide', url: `${site.origin}/docs/retry` } } })
    expect((await pharos('list')).stdout).toMatch(/^guide {2}INDEXED {2}4 pages/)
    expect(JSON.parse((await pharos('list --json')).stdout)).toMatchObject({ sources: [{ name: 'guide', pages: 4 }] })
    expect((await pharos('stats')).stdout).toMatch(
      /^Library: .*library\.db\nSources: 1\nPages: 4\nChunks: 4\nVectors: none, .*\nSize: .*\nLast change: 2/,
    )
    expect(await pharos('pack guide --out guide.zip')).toMatchObject({ code: 0, stdout: 'guide.zip\n' })
    expect((await pharos('search retry-after --pack guide.zip')).stdout).toContain('/docs/retry:')
    expect((await pharos('pack guide')).stdout).toMatch(/^guide\.llmx-[0-9a-f]{8}\.zip\n$/)
    expect(await pharos('remove guide')).toMatchObject({ code: 0, stdout: 'removed guide: 4 pages, 4 chunks\n' })
    expect(await pharos('list')).toMatchObject({ stdout: '', stderr: expect.stringContaining('no sources yet') })
    expect((await pharos('remove guide')).code).toBe(3)
  })

  test('pack suggests the nearest source when neither a folder nor a source has the given name', async () => {
    expect(await pharos('pack guid')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /there is nothing at guid, nor a source of that name in \S+library\.db, did you mean guide\?/,
      ),
    })
  })

  test('doctor checks the library without changing it', async () => {
    const before = fs.readFileSync(sandbox.path('library.db'))
    const { code, stdout } = await pharos('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/ok {4}library: \S+library\.db has schema \d+, \S+ KB\n/)
    expect(stdout).toContain('  allowPrivate = 127.0.0.1  environment\n')
    expect(stdout).toContain('  requestInterval = 200ms  default\n')
    expect(fs.readFileSync(sandbox.path('library.db')).equals(before)).toBe(true)
  })
})

describe('fetch', () => {
  test('prints one page as Markdown and stores none', async () => {
    const { code, stdout, stderr } = await pharos('fetch {}/docs/retry')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^# Retry\n\nThis page is about Retry/)
    expect(JSON.parse((await pharos('fetch {}/docs/retry --json')).stdout)).toMatchObject({ title: 'Retry' })
    expect((await pharos('stats')).stdout).toContain('Pages: 0\n')
  })

  test('fetch respects robots.txt unless told otherwise', async () => {
    site.pages.set('/robots.txt', 'User-agent: *\nDisallow: /docs/retry\n')
    expect(await pharos('fetch {}/docs/retry')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/robots-disallow.* – .*--ignore-robots/),
    })
    expect((await pharos('fetch {}/docs/retry --ignore-robots')).code).toBe(0)
  })

  test('a failed fetch gives fitting advice', async () => {
    expect(await pharos('fetch {}/none')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('check the address'),
    })
    expect(await pharos('fetch what')).toMatchObject({ code: 2 })
    expect(await pharos('fetch {}/docs/retry --max-page-bytes 1')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/too-large, more than 1 bytes – raise --max-page-bytes\n$/),
    })
    site.pages.set('/large', 'x'.repeat(3 * 2 ** 20))
    expect((await pharos('fetch {}/large --max-page-bytes 2MB')).stderr).toContain('too-large, more than 2 MB – ')
    site.pages.set('/shell', '<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>')
    const { stderr } = await pharos('fetch {}/shell')
    expect(stderr).toMatch(/cannot be read as a page: needs-rendering \(.*\) – .* --render auto/)
  })
})

describe('loss gate', () => {
  beforeEach(async () => {
    for (const [path, page] of Object.entries(manyPages(40))) site.pages.set(path, page)
    expect(await pharos(ADD)).toMatchObject({ code: 0 })
    site.pages.set('/docs/', writePage('Start', ['/docs/p0', '/docs/p1']))
    for (let i = 2; i < 40; i++) site.pages.delete(`/docs/p${i}`)
  })

  test('a crawl that would remove too much exits with 4, and --accept-loss lets it remove the pages', async () => {
    const stopped = await pharos('recrawl guide')
    expect(stopped).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/this crawl would remove 38 of 41 pages; nothing was removed – .*--accept-loss/),
    })
    expect(stopped.stdout).toMatch(/^38 pages no longer found, but kept/)
    expect(stopped.stdout).not.toContain('retry')
    expect(await readCounts()).toMatchObject({ status: 'ERROR', pages: 41 })
    const opened = await pharos('recrawl guide --accept-loss --json')
    expect(opened.code).toBe(0)
    expect(JSON.parse(opened.stdout)).toMatchObject({ end: 'completed', pages: 3, run: { removed: 38 } })
    expect(await readCounts()).toMatchObject({ status: 'INDEXED', pages: 3, gone: 38 })
  })
})

describe('a host that asks to be left alone', () => {
  test('a host that sends Retry-After ends the crawl with exit code 5, and the next crawl does not request it', async () => {
    for (const [path, page] of Object.entries(manyPages(40))) site.pages.set(path, page)
    site.pages.set('/docs/p3', 429)
    site.retryAfter = 3600
    const { host } = new URL(site.origin)
    const parked = await pharos(`${ADD} --concurrency 1 --json`)
    expect(parked.code).toBe(5)
    const [notice, error] = parked.stderr.split('\n')
    expect(notice).toBe(`${host} is skipped for the rest of this crawl: Retry-After 3600`)
    expect(JSON.parse(error ?? '')).toMatchObject({ error: { code: 'CRAWL_PARKED' } })
    expect(JSON.parse(parked.stdout)).toMatchObject({ end: 'completed', failed: expect.any(Number) })
    expect((await pharos('status guide')).stdout).toContain(`Host skipped: ${host}, Retry-After 3600\n`)
    site.requests.length = 0
    const again = await pharos('retry guide')
    expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining('it asked to wait until 20') })
    expect(site.requests).toEqual([])
    expect((await pharos('explain guide /docs/p30')).stdout).toContain(
      'Why: its host kept failing or asked for a long pause',
    )
  })
})

describe('the loss gate of a refresh', () => {
  test('a refresh and a retry stop at the loss gate, and --accept-loss lets them remove the pages', async () => {
    for (const [path, page] of Object.entries(manyPages(40))) site.pages.set(path, page)
    expect(await pharos(ADD)).toMatchObject({ code: 0 })
    for (let i = 2; i < 40; i++) site.pages.set(`/docs/p${i}`, 410)
    expect(await pharos('refresh guide')).toMatchObject({ code: 4, stderr: expect.stringContaining('--accept-loss') })
    expect(await readCounts()).toMatchObject({ pages: 41 })
    expect(await pharos('retry guide')).toMatchObject({ code: 4 })
    expect(await pharos('retry guide --accept-loss')).toMatchObject({ code: 0 })
    expect(await readCounts()).toMatchObject({ pages: 3 })
    for (let i = 0; i < 2; i++) site.pages.set(`/docs/p${i}`, 410)
    expect(await pharos('refresh guide --accept-loss')).toMatchObject({ code: 0 })
    expect(await readCounts()).toMatchObject({ pages: 1 })
  })
})

describe('a running crawl', () => {
  beforeEach(() => {
    for (const [path, page] of Object.entries(manyPages(60))) site.pages.set(path, page)
    site.delayMs = 100
  })

  /** Starts a crawl and stops it after the given number of requests. */
  async function interrupt(line: string, requests: number, signal: NodeJS.Signals = 'SIGINT') {
    const { child, ended } = await start(line, requests)
    child.kill(signal)
    return ended
  }

  /** Starts a crawl and waits for the given number of requests. */
  async function start(line: string, requests: number) {
    const args = [PROGRAM, ...line.split(' ')].map((arg) => arg.replace('{}', site.origin))
    const { child, ended } = sandbox.start(process.execPath, args, environment())
    while (site.requests.length < requests && child.exitCode === null) await new Promise((wake) => setTimeout(wake, 10))
    return { child, ended }
  }

  test('a running crawl can be watched from another process without being disturbed', async () => {
    const { child, ended } = await start(`${ADD} --concurrency 2`, 12)
    // The crawl is slowed down so that it outlasts the observing commands, which are slow on a busy machine.
    site.delayMs = 500
    const { stdout } = await pharos('status guide')
    expect(stdout).toMatch(
      /^Source: guide \(.*\)\nStatus: CRAWLING\nProgress: \d+\/\d+ pages crawled \(\d+%\)\nSkipped: 0 pages\nErrors: 0 pages failed\nFiltered: 0 URLs excluded by scope\nStarted: \S+Z\nElapsed: \S+\n$/,
    )
    expect(await readCounts()).toMatchObject({
      status: 'CRAWLING',
      is_running: true,
      last_crawl: { elapsed_ms: expect.any(Number) },
    })
    for (const line of [ADD, 'recrawl guide']) {
      expect(await pharos(line)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('guide is being crawled by another process'),
      })
    }
    expect(child.exitCode).toBe(null)
    site.delayMs = 0
    expect(await ended).toMatchObject({ code: 0 })
    expect(await readCounts()).toMatchObject({ status: 'INDEXED', pages: 61 })
  })

  test('a crawl ends when its source is removed, and says so', async () => {
    const { ended } = await start(`${ADD} --concurrency 2`, 12)
    expect(await pharos('remove guide')).toMatchObject({
      code: 1,
      stderr:
        'pharos: guide is being crawled by another process – wait for it to end, or stop the crawl and remove it: `pharos remove guide --force`\n',
    })
    expect((await pharos('remove guide --force')).code).toBe(0)
    expect(await ended).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^pharos: no source guide in \S+: it was removed while it was crawled – /),
    })
    expect((await pharos('stats')).stdout).toContain('Sources: 0\nPages: 0\nChunks: 0\n')
  })

  test('Ctrl-C stops a crawl cleanly, prints how to resume, and the resumed crawl repeats no work', async () => {
    const { code, stdout, stderr } = await interrupt(`${ADD} --concurrency 4`, 20)
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'pharos: interrupted – nothing is lost; go on with: pharos recrawl guide\n',
    })
    expect(stdout).toMatch(/^stopped with \d+ addresses left\nguide: \d+ pages/)
    const { pending, pages } = await readCounts()
    expect(pending).toBeGreaterThan(0)
    expect((await pharos('status guide')).stdout).toContain(
      `PARTIAL: interrupted: ${pending} addresses not read; complete it with: pharos`,
    )
    site.delayMs = 0
    const before = site.requests.length
    const resumed = await pharos('recrawl guide')
    expect(resumed).toMatchObject({ code: 0, stderr: 'resuming the interrupted crawl of guide\n' })
    expect(await readCounts()).toMatchObject({ pages: 61, pending: 0, failed: 0 })
    expect(site.requests.slice(before).filter(({ path }) => path.startsWith('/docs/p')).length).toBeLessThanOrEqual(
      61 - Number(pages),
    )
  })

  test('a stopped crawl does not resume with other settings', async () => {
    await interrupt(`${ADD} --concurrency 4 --block /docs/p1`, 20)
    const requestCount = site.requests.length
    expect(await pharos(`${ADD} --block /docs/p2 --library`, sandbox.path('library.db'))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        `pharos: guide exists with other settings: leave these options out to resume it, or run \`pharos remove guide --library ${sandbox.path('library.db')}\` first`,
      ),
    })
    expect(await pharos(`${ADD} --crawl-type basic`)).toMatchObject({ code: 2 })
    expect(site.requests.length).toBe(requestCount)
    site.delayMs = 0
    expect(await pharos(`${ADD} --block /docs/p1`)).toMatchObject({ code: 0 })
    expect(await readCounts()).toMatchObject({ pages: 60, pending: 0 })
  })

  test('printed commands repeat the library path and the allowed hosts, so that they can be copied', async () => {
    const flags = ['--library', sandbox.path('library.db'), '--allow-private']
    const { ended, child } = await start(`${ADD} --concurrency 2 ${flags.join(' ')}`, 12)
    const again = await sandbox.runInProcess(['add', `${site.origin}/docs/`, '--name', 'guide', ...flags])
    expect(again.stderr).toContain(`\`pharos status guide --library ${sandbox.path('library.db')}\` shows its progress`)
    child.kill('SIGINT')
    const resumeCommand = `pharos recrawl guide --allow-private --library ${sandbox.path('library.db')}\n`
    expect((await ended).stderr).toContain(`go on with: ${resumeCommand}`)
    const status = await sandbox.runInProcess(['status', 'guide', '--library', sandbox.path('library.db')])
    // The earlier permission is not stored, so the hint allows the host of the source and no other.
    const narrow = resumeCommand.replace('--allow-private', '--allow-private=127.0.0.1')
    expect(status.stdout).toContain(`complete it with: ${narrow}`)
  })

  // A short run tests only SIGKILL here, because a test above covers Ctrl-C.
  test.each(SIGNALS)('a crawl stopped by %s resumes with the same add command', async (signal) => {
    await interrupt(`${ADD} --concurrency 4`, 20, signal)
    site.delayMs = 0
    expect(await pharos(ADD)).toMatchObject({ code: 0, stderr: 'resuming the interrupted crawl of guide\n' })
    expect(await readCounts()).toMatchObject({ pages: 61, pending: 0 })
  })
})

test('a terminal shows a live block that never wraps and is erased at the end', async () => {
  for (const [path, page] of Object.entries(manyPages(60))) site.pages.set(path, page)
  site.delayMs = 60
  const command = `'${process.execPath}' '${PROGRAM}' add ${site.origin}/docs/ --name guide --concurrency 4 --allow-private`
  const { stdout } = await sandbox.shell(`TERM=xterm script -qec "stty cols 50 rows 20; ${command}" /dev/null`)
  const seen = stdout.replaceAll('\x1b', '␛')
  const blocks = seen.split(/\r(?:␛\[\d+A)?(?=␛\[(?:2K|J))/).slice(1)
  const drawn = blocks.filter((block) => /guide: \d+ pages?, 0 errors, \S+\/s, \d+ queued, \d+s/.test(block))
  expect(drawn.length).toBeGreaterThan(2)
  expect(drawn.some((block) => /127\.0\.0\.1:\d+ without pause/.test(block) && /\d in flight: http/.test(block))).toBe(
    true,
  )
  for (const line of drawn.slice(0, -1).flatMap((block) => block.split('\n'))) {
    expect(line.replaceAll(/␛\[\d*[A-Za-z]|\r/g, '').length).toBeLessThan(50)
  }
  expect(blocks.at(-1)).toMatch(/^␛\[J(?:␛\[\d+m)?guide(?:␛\[\d+m)?: 61 pages/)
  // The first source of a library is followed by what to do next.
  expect(seen).toMatch(
    /next\r\n {2}ask: pharos search 'your question'\r\n {2}agents: pharos setup\r\n {2}dashboard: pharos serve/,
  )
})

test('a dumb terminal gets plain text only', async () => {
  const command = `'${process.execPath}' '${PROGRAM}' add ${site.origin}/docs/ --name guide --allow-private`
  const { stdout } = await sandbox.shell(`TERM=dumb script -qec "${command}" /dev/null`)
  expect(stdout).toContain('guide: 4 pages')
  expect(stdout).not.toContain('\x1b')
})

test('a terminal gets an immediate answer to Ctrl-C', async () => {
  for (const [path, page] of Object.entries(manyPages(60))) site.pages.set(path, page)
  site.delayMs = 200
  const command = `timeout -s INT 2 '${process.execPath}' '${PROGRAM}' add ${site.origin}/docs/ --name guide --concurrency 1 --allow-private`
  const { stdout } = await sandbox.shell(`TERM=xterm script -qec "${command}" /dev/null`)
  expect(stdout).toContain('stopping … (press Ctrl-C again to stop at once)')
})

describe('a library', () => {
  test('a library that cannot be created fails at once with a message in words', async () => {
    sandbox.write({ 'a-file': 'x' })
    fs.mkdirSync(sandbox.path('a-folder'))
    for (const [path, problem] of [
      ['/proc/none/deep/library.db', '/proc/none cannot be created there'],
      [sandbox.path('a-folder'), `${sandbox.path('a-folder')} is a folder`],
      [sandbox.path('a-file/deep/library.db'), `${sandbox.path('a-file')} is a file, not a folder`],
    ] as const) {
      expect(await sandbox.runInProcess(['list', '--library', path])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(`^pharos: the library ${path} cannot be used: ${problem} – `),
      })
      expect(await sandbox.runInProcess(['doctor', '--library', path], NO_BROWSER)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining(`FAIL  library: ${problem}; use another with --library\n`),
      })
    }
  })

  test('a damaged library is neither shown as empty nor reported as sound by doctor', async () => {
    const path = sandbox.path('library.db')
    expect(await sandbox.runInProcess(['list', '--library', path])).toMatchObject({ code: 0 })
    zeroTable(path, 'sources')
    for (const verb of ['list', 'status', 'stats']) {
      expect(await sandbox.runInProcess([verb, '--library', path])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          `^pharos: the library ${path} cannot be used: it is damaged: .+ – restore a copy`,
        ),
      })
    }
    expect(await sandbox.runInProcess(['doctor', '--library', path], NO_BROWSER)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        `FAIL  library: the library ${path} cannot be used: it is damaged: .+; restore a copy`,
      ),
    })
  })

  test('a missing library is created with its folders, but not by doctor', async () => {
    const path = sandbox.path('new/deep/library.db')
    const { stdout } = await sandbox.runInProcess(['doctor', '--library', path], NO_BROWSER)
    expect(stdout).toContain(`ok    library: ${path} will be created`)
    expect(fs.existsSync(sandbox.path('new'))).toBe(false)
    expect(await sandbox.runInProcess(['list', '--library', path])).toMatchObject({ code: 0 })
    expect(fs.statSync(sandbox.path('new/deep')).mode & 0o777).toBe(0o700)
    expect(fs.statSync(path).mode & 0o777).toBe(0o600)
  })
})
