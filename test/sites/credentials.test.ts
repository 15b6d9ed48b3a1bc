import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseAllowance } from '../../src/fetch/addresses.ts'
import { openHttpFetcher } from '../../src/fetch/http.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { createSiteHeaderLookup } from '../../src/settings/site-headers.ts'
import { NO_BROWSER, type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { startServer, until } from '../e2e/server.ts'
import { openTestLibrary, openTestSite, runCrawl } from './crawl.ts'
import { type Answer, page, redirect, sitemap, text } from './site.ts'

const SECRET = 'Bearer s3cret-of-the-origin'
const HEADERS = { Authorization: SECRET, 'X-Api-Key': 's3cret-key', Cookie: 'session=s3cret' }
const STATUSES = [301, 302, 303, 307, 308]

/** A request that the server received, with the origin that it was sent to. */
interface ReceivedRequest {
  readonly origin: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

/** One server with many origins: several host names on two ports, each with and without TLS. */
interface Realm {
  /** The origin that the credentials are for. */
  readonly own: string
  /** Origins that differ in host, subdomain, port or scheme, each in one of these only. */
  readonly others: readonly string[]
  readonly requests: ReceivedRequest[]
  readonly certificate: string
  close(): Promise<void>
}

let realm: Realm
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  realm = await openRealm()
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  realm.requests.length = 0
})

afterAll(() => realm.close())

describe('headers for one origin', () => {
  test.each(['given', 'configured'])(
    'a crawl sends %s headers to their own origin only, wherever it is led',
    async (from) => {
      const library = from === 'given' ? await openTrustingLibrary() : withSiteHeaders(await openTrustingLibrary())
      const source = await addSource(library, { url: `${realm.own}/`, scope: { reach: 'domain', trapGuards: false } })
      await runCrawl(library, source, { kind: 'add', headers: from === 'given' ? HEADERS : {} }, realm.own)
      expectOwnOnly()
      // Each kind of link and redirect reached every origin.
      for (const [k, origin] of realm.others.entries()) {
        const paths = new Set(realm.requests.filter((one) => one.origin === origin).map(({ path }) => path))
        const expected = ['/robots.txt', `/linked/${k}`, `/refreshed/${k}`, `/mapped/${k}`, `/listed/${k}`]
        const landed = STATUSES.flatMap((status) => [`/landed/${status}/${k}`, `/bounced/${status}/${k}`])
        expect([...expected, ...landed].filter((path) => !paths.has(path))).toEqual([])
        expect([...paths].some((path) => path.endsWith('.md'))).toBe(true)
      }
      const own = new Set(realm.requests.filter(({ origin }) => origin === realm.own).map(({ path }) => path))
      const back = realm.others.flatMap((_, k) => STATUSES.map((status) => `/back/${status}/${k}`))
      expect(
        [...back, '/robots.txt', '/robots-end.txt', '/llms-end.txt', '/sitemap-end.xml'].filter(
          (path) => !own.has(path),
        ),
      ).toEqual([])
      for (const list of ['robots', 'llms', 'sitemap']) {
        const chain = realm.requests.filter(({ path }) => path.startsWith(`/${list}-chain`)).map(({ origin }) => origin)
        expect(new Set(chain)).toEqual(new Set(realm.others.slice(0, CHAIN_LENGTH)))
      }
    },
  )

  test.each(STATUSES)(
    'the headers go only to the origin of the start when its site has moved with status %i, also in later crawls',
    async (status) => {
      for (const k of realm.others.keys()) {
        const library = await openTrustingLibrary()
        const source = await addSource(library, { url: `${realm.own}/to/${status}/${k}` })
        await runCrawl(library, source, { kind: 'add', headers: HEADERS }, realm.own)
        const [moved] = await library.store.listSources()
        await runCrawl(library, moved ?? source, { kind: 'recrawl', full: true, headers: HEADERS }, realm.own)
        await runCrawl(library, moved ?? source, { kind: 'refresh', headers: HEADERS }, realm.own)
        const landed = realm.requests.filter(({ path }) => path === `/landed/${status}/${k}`)
        expect(landed.length).toBeGreaterThan(1)
      }
      expectOwnOnly()
    },
  )

  test('a crawl that starts elsewhere sends configured headers to their own origin only', async () => {
    const library = withSiteHeaders(await openTrustingLibrary())
    const source = await addSource(library, {
      url: `${realm.others[2]}/linked/2`,
      scope: { reach: 'domain', trapGuards: false },
    })
    await runCrawl(library, source, { kind: 'add' }, realm.own)
    expectOwnOnly()
  })

  test('fetching a single page sends configured headers to their own origin only, robots.txt included', async () => {
    const library = withSiteHeaders(await openTrustingLibrary())
    const { signal } = new AbortController()
    for (const k of realm.others.keys()) {
      for (const path of [`/to/302/${k}`, `/bounce/307/${k}`])
        await fetchUrl(library, `${realm.own}${path}`, { signal })
    }
    expectOwnOnly()
  })

  test('fetching a single page sends the headers to their own origin only, wherever it redirects', async () => {
    const library = await openTrustingLibrary()
    const { signal } = new AbortController()
    for (const k of realm.others.keys()) {
      for (const status of STATUSES) {
        for (const path of [`/to/${status}/${k}`, `/bounce/${status}/${k}`]) {
          const { markdown } = await fetchUrl(library, `${realm.own}${path}`, { headers: HEADERS, signal })
          expect(markdown).toContain('about')
        }
      }
    }
    const landings = realm.requests.filter(({ path }) => /^\/(?:landed|bounced)/.test(path))
    expect(landings.length).toBe(2 * STATUSES.length * realm.others.length)
    expectOwnOnly({ canRobotsLackHeaders: true })
  })

  test('the headers are sent to their origin in every spelling of it', async () => {
    const library = await openTrustingLibrary()
    const { port } = new URL(realm.own)
    const url = `http://A.docs.LOCALHOST:${port}/linked/0`
    await fetchUrl(library, url, { headers: HEADERS, signal: new AbortController().signal })
    expect(realm.requests.at(-1)).toMatchObject({ origin: realm.own, headers: { authorization: SECRET } })
  })
})

describe('a search for secrets in everything the program writes', () => {
  /** Each secret is given to the program in a different place, so that a match shows from where it leaked. */
  const secrets = Object.fromEntries(
    ['bearer', 'file', 'link', 'cookie', 'start', 'proxy'].map((name) => [
      name,
      `${name}-${randomBytes(12).toString('hex')}`,
    ]),
  )
  const secret = (name: string) => secrets[name] ?? ''

  /** Each secret as it is, as a part of credentials in Base64 at each of three offsets, and in other encodings. */
  const spellings = Object.entries(secrets).flatMap(([name, value]) => {
    const base64Forms = [0, 1, 2].map((shift) =>
      Buffer.from('x'.repeat(shift) + value)
        .toString('base64')
        .slice(4, -4),
    )
    const hex = Buffer.from(value).toString('hex')
    const percent = [...value].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
    const utf16 = Buffer.from(value, 'utf16le').toString('latin1')
    return [value, ...base64Forms, hex, percent, utf16].map((text) => ({ name, text }))
  })

  const findIn = (text: string) => spellings.filter((one) => text.includes(one.text)).map(({ name }) => name)

  let sandbox: ProgramSandbox

  beforeAll(() => {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
    sandbox = new ProgramSandbox()
  })

  afterAll(() => sandbox.remove())

  /** Runs the program and searches its output. */
  const run = async (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    return expectNoSecrets(args, await sandbox.runInProcess(args, { ...ENVIRONMENT, ...environment, ...inLibrary() }))
  }

  const inLibrary = () => ({ PHAROS_LIBRARY: sandbox.path('library.db') })

  const expectNoSecrets = (args: readonly string[], outcome: Outcome) => {
    expect([args[0], findIn(outcome.stdout), findIn(outcome.stderr)]).toEqual([args[0], [], []])
    return outcome
  }

  /** Searches every file in the folder of the program, except for `fields`, which gives a secret to the program. */
  const expectCleanFiles = (): string[] => {
    const files = readdirSync(sandbox.folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
      return name !== 'fields' && statSync(sandbox.path(name)).isFile()
    })
    const found = files.map((name) => [name, findIn(readFileSync(sandbox.path(name), 'latin1'))] as const)
    expect(found.filter(([, names]) => names.length > 0)).toEqual([])
    return files
  }

  const openSecretSite = () => {
    const at = (origin: string, path: string) => origin.replace('//', `//me:${secret('link')}@`) + path
    const cookie = { 'set-cookie': `session=${secret('cookie')}` }
    const isLoggedIn = ({ headers }: IncomingMessage) =>
      headers.authorization === `Bearer ${secret('bearer')}` && headers['x-api-key'] === secret('file')
    return openTestSite({}).then((site) => {
      const { origin } = site
      const to = (path: string) => at(origin, path)
      const pages: Record<string, Answer> = {
        '/': withLinks('Home', [
          to('/a'),
          '/moved',
          '/refresh',
          '/canonical',
          '/missing',
          '/broken',
          at('ftp://host', '/'),
        ]),
        '/a': withLinks('A', [at('http://127.0.0.2:1', '/elsewhere'), at('https://host', '/'), at('http://[bad', '/')]),
        '/moved': redirect(to('/target')),
        '/target': page('Target'),
        '/refresh': text(`<meta http-equiv="refresh" content="0; url=${to('/refreshed')}">`, 'text/html'),
        '/refreshed': page('Refreshed'),
        '/canonical': page(
          'Canonical',
          [],
          `<link rel="canonical" href="${to('/a')}"><link rel="alternate" type="text/markdown" href="${to('/c.md')}">`,
        ),
        '/broken': { status: 403 },
        '/robots.txt': text(
          `User-agent: *\nSitemap: ${to('/map.xml')}\nSitemap: ftp://me:${secret('link')}@host/x.xml\n`,
        ),
        '/map.xml': sitemap([to('/mapped'), at('http://127.0.0.2:1', '/mapped')]),
        '/mapped': page('Mapped'),
        '/llms.txt': text(`# Docs\n\n- [Listed](${to('/listed')})\n`),
        '/listed': page('Listed'),
        '/llms-full.txt': text(
          `# Full\nSource: ${to('/full')}\n\nThe full file says enough about this to be a page of its own.\n`,
        ),
      }
      for (const [path, given] of Object.entries(pages)) {
        site.pages.set(path, (request) => {
          if (!isLoggedIn(request)) return { status: 401, headers: cookie, body: 'who are you' }
          const parts = typeof given === 'function' ? given(request) : given
          const answered = typeof parts === 'string' ? { body: parts } : parts
          return { ...answered, headers: { ...answered.headers, ...cookie } }
        })
      }
      return site
    })
  }

  const ENVIRONMENT = { ...NO_BROWSER, PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  const login = () => [
    '--header',
    `Authorization: Bearer ${secret('bearer')}`,
    '--header',
    `@${sandbox.path('fields')}`,
  ]

  test('finds no secret in the library, the cache, a pack or any output after crawls', {
    timeout: PATIENCE_MS,
  }, async () => {
    const site = await openSecretSite()
    sandbox.write({ fields: `X-Api-Key: ${secret('file')}\n` })
    const add = ['add', `${site.origin}/`, '--verbose', ...login()]
    // The first run is a separate process, so that the output of the process itself is searched too.
    const first = [...add, '--name', 'docs']
    const { code: added } = expectNoSecrets(first, await sandbox.run(first, { ...ENVIRONMENT, ...inLibrary() }))
    const { code: again } = await run([...add, '--name', 'again', '--json'])
    expect([added, again]).toEqual([0, 0])
    expect(site.requests.filter(({ status }) => status === 200).length).toBeGreaterThan(10)
    for (const verb of ['recrawl', 'refresh', 'retry']) await run([verb, 'docs', '--verbose', ...login()])
    for (const path of ['/moved', '/canonical', '/broken']) await run(['explain', 'docs', `${site.origin}${path}`])
    for (const path of ['/a', '/moved']) await run(['fetch', `${site.origin}${path}`, '--json', ...login()])
    for (const verb of ['status', 'list', 'doctor']) await run([verb, '--json'])
    await run(['search', 'page', '--json'])
    const { code } = await run(['pack', 'docs', '-o', sandbox.path('packed')])
    expect(code).toBe(0)
    const files = expectCleanFiles()
    expect(files).toContain('library.db')
    expect(files).toContain(join('packed', 'llm.md'))
  })

  test('finds no secret that siteHeaders names, after crawls of the command line and of a server', {
    timeout: PATIENCE_MS,
  }, async () => {
    const site = await openSecretSite()
    const siteHeaders = { [site.origin]: { Authorization: 'SITE_TOKEN', 'X-Api-Key': 'SITE_KEY' } }
    sandbox.write({ 'site.json': JSON.stringify({ siteHeaders }) })
    const variables = { SITE_TOKEN: `Bearer ${secret('bearer')}`, SITE_KEY: secret('file') }
    const environment = { PHAROS_CONFIG: sandbox.path('site.json'), ...variables }
    const everything = { ...ENVIRONMENT, ...environment, ...inLibrary() }
    const first = ['add', `${site.origin}/`, '--verbose', '--name', 'closed']
    expect(expectNoSecrets(first, await sandbox.run(first, everything)).code).toBe(0)
    expect(site.requests.filter(({ status }) => status === 401)).toEqual([])
    for (const verb of ['recrawl', 'refresh', 'retry']) await run([verb, 'closed', '--verbose'], environment)
    await run(['explain', 'closed', `${site.origin}/moved`], environment)
    const { stdout } = await run(['fetch', `${site.origin}/a`], environment)
    expect(stdout).toContain('A')
    for (const verb of ['status', 'list', 'doctor', 'stats']) await run([verb, '--json'], environment)
    await run(['pack', 'closed', '-o', sandbox.path('closed.zip')], environment)

    const missing = await run(['recrawl', 'closed'], { ...environment, SITE_TOKEN: '' })
    expect(missing.code).not.toBe(0)
    expect(missing.stderr).toContain('SITE_TOKEN')
    const doctor = await run(['doctor'], { ...environment, SITE_TOKEN: '' })
    expect(doctor.stdout).toContain('SITE_TOKEN, which siteHeaders names, is not set')

    const server = await startServer(sandbox, [], everything)
    const seen = [JSON.stringify(await server.post('/api/sources', { url: `${site.origin}/a`, name: 'served' }))]
    const { items } = (await server.get('/api/crawls')) as { items: { id: string }[] }
    await until(
      () => server.get('/api/crawls'),
      ({ count }) => count === 0,
    )
    const details = items.map(({ id }) => `/api/crawls/${id}`)
    for (const path of [...details, '/api/sources', '/api/status', '/api/queues', '/api/system-health', '/metrics']) {
      seen.push(await (await server.ask(path)).text())
    }
    expect(seen.join('\n')).toContain('served')
    expect(findIn(seen.join('\n'))).toEqual([])
    server.kill('SIGTERM')
    expectNoSecrets(['serve'], await server.ended)
    expect(site.requests.filter(({ status }) => status === 401)).toEqual([])
    expectCleanFiles()
  })

  test('finds no secret in the files of a killed process', { timeout: PATIENCE_MS }, async () => {
    const site = await openSecretSite()
    sandbox.write({ fields: `X-Api-Key: ${secret('file')}\n` })
    site.pages.set('/a', { delayMs: 30_000 })
    const { child, ended } = sandbox.start(
      process.execPath,
      [PROGRAM, 'add', `${site.origin}/`, '--name', 'killed', '--library', sandbox.path('killed.db'), ...login()],
      ENVIRONMENT,
    )
    for (let left = 300; left > 0 && !site.requestedPaths().includes('/target'); left--) await sleep(50)
    child.kill('SIGKILL')
    const { stdout, stderr } = await ended
    expect([findIn(stdout), findIn(stderr)]).toEqual([[], []])
    expect(expectCleanFiles()).toContain('killed.db-wal')
  })

  test('finds no secret in error messages', { timeout: PATIENCE_MS }, async () => {
    const site = await openSecretSite()
    const user = `me:${secret('start')}@`
    const host = new URL(site.origin).host
    sandbox.write({ fields: `${secret('file')}\n` })
    const mistakes: [code: number, ...args: string[]][] = [
      [2, 'add', `http://${user}${host}/`],
      [2, 'add', `ftp://${user}${host}/`],
      [2, 'add', `http://${user}[${host}/`],
      [2, 'add', `${user}${host}`],
      [2, 'add', `${site.origin}/`, '--seed', `http://${user}${host}/a`],
      [2, 'add', `${site.origin}/`, '--seed', `ftp://${user}${host}/a`],
      [2, 'add', `${site.origin}/`, '--llms-txt', `http://${user}${host}/llms.txt`],
      [2, 'add', `${site.origin}/`, '--header', `Authorization Bearer ${secret('bearer')}`],
      [2, 'add', `${site.origin}/`, '--header', `Authorization: Bearer ${secret('bearer')}\r\nx: y`],
      [2, 'add', `${site.origin}/`, '--header', `Host: ${secret('bearer')}`],
      [2, 'add', `${site.origin}/`, '--header', `@${sandbox.path('fields')}`],
      [2, 'add', `${site.origin}/`, '--proxy', `socks5://${user}${host}`],
      [2, 'add', `${site.origin}/`, '--proxy', `http://a%:${secret('start')}@${host}`],
      [2, 'fetch', `http://${user}${host}/`],
      [2, 'fetch', `ftp://${user}${host}/`],
      [2, 'fetch', `http://${user}[${host}/`],
    ]
    for (const [i, [code, ...args]] of mistakes.entries()) {
      const outcome = await run(i % 2 === 0 ? args : [...args, '--json'])
      expect([args, outcome.code]).toEqual([args, code])
    }
    const failures: string[][] = [
      // The site refuses these credentials, so the crawl cannot start.
      ['add', `${site.origin}/`, '--name', 'refused', '--header', `Authorization: Basic ${secret('bearer')}`],
      ['fetch', 'http://127.0.0.1:1/', '--ignore-robots', '--header', `Authorization: Bearer ${secret('bearer')}`],
      ['explain', 'nothing', `http://${user}${host}/a`],
      ['explain', `http://${user}${host}/a`, '/a'],
    ]
    for (const args of failures) {
      const { code } = await run([...args, '--verbose'])
      expect([args, code]).not.toEqual([args, 0])
    }
    for (const args of [['fetch', `${site.origin}/`, '--ignore-robots'], ['doctor'], ['doctor', '--json']]) {
      await run(args, { PHAROS_PROXY: `http://me:${secret('proxy')}@127.0.0.1:1` })
    }
    expectCleanFiles()
  })

  test('finds a secret that is present, plain or encoded', () => {
    for (const [name, value] of Object.entries(secrets)) {
      const given = [
        value,
        `x${value}`,
        Buffer.from(`me:${value}`).toString('base64'),
        Buffer.from(`Bearer ${value}`).toString('hex'),
      ]
      expect(given.map((text) => new Set(findIn(text)))).toEqual(given.map(() => new Set([name])))
    }
  })
})

/** Expects that every request to the own origin had the headers, and no request to another origin did. */
function expectOwnOnly({ canRobotsLackHeaders = false } = {}): void {
  const hasSecret = ({ headers }: ReceivedRequest) => JSON.stringify(headers).includes('s3cret')
  const isOwn = ({ origin }: ReceivedRequest) => origin === realm.own
  const urlOf = ({ origin, path }: ReceivedRequest) => `${origin}${path}`
  expect(realm.requests.filter((one) => !isOwn(one) && hasSecret(one)).map(urlOf)).toEqual([])
  const withoutSecret = realm.requests.filter((one) => isOwn(one) && !hasSecret(one)).map(urlOf)
  expect(withoutSecret.filter((url) => !(canRobotsLackHeaders && /\/robots/.test(url)))).toEqual([])
  expect(realm.requests.some((one) => isOwn(one) && hasSecret(one))).toBe(true)
}

/** Timeout for many consecutive runs on a busy machine. */
const PATIENCE_MS = 180_000

/** A page whose link addresses are not part of its text, because the library stores the text. */
function withLinks(title: string, urls: readonly string[]): string {
  return page(title).replace('</ul>', `${urls.map((url) => `<li><a href="${url}">more</a></li>`).join('')}</ul>`)
}

/** Number of other origins that a list redirects through. One more redirect leads back, and robots.txt may have five in total. */
const CHAIN_LENGTH = 4

/** The response for a path of an origin. */
function answer(
  origin: string,
  path: string,
  own: string,
  others: readonly string[],
): [number, Record<string, string>, string] {
  const html = { 'content-type': 'text/html' }
  const plain = { 'content-type': 'text/plain' }
  const redirectTo = (target: string, status = 302): [number, Record<string, string>, string] => [
    status,
    { location: target },
    '',
  ]
  const [, name = '', a = '', b = ''] = path.split('/')
  const k = Number(b === '' ? a : b)
  const other = others[k] ?? own
  const [, list, step] = /^\/(robots|llms|sitemap)(?:-chain-(\d)|\.(?:txt|xml))$/.exec(path) ?? []
  if (list !== undefined && (origin === own || step !== undefined)) {
    const next = Number(step ?? -1) + 1
    const end = `${own}/${list}-end.${list === 'sitemap' ? 'xml' : 'txt'}`
    return redirectTo(next < CHAIN_LENGTH ? `${others[next]}/${list}-chain-${next}` : end)
  }
  switch (name) {
    case '':
      return [
        200,
        html,
        page(
          'Home',
          others.flatMap((to, i) => [
            `${to}/linked/${i}`,
            `/refresh/${i}`,
            `/canonical/${i}`,
            ...STATUSES.flatMap((status) => [`/to/${status}/${i}`, `/bounce/${status}/${i}`]),
          ]),
        ),
      ]
    case 'robots-end.txt':
      return [200, plain, `User-agent: *\nSitemap: ${own}/sitemap.xml\n`]
    case 'llms-end.txt':
      return [200, plain, `# Docs\n\n${others.map((to, i) => `- [Page](${to}/listed/${i})\n`).join('')}`]
    case 'sitemap-end.xml':
      return [
        200,
        { 'content-type': 'application/xml' },
        String(sitemap(others.map((to, i) => `${to}/mapped/${i}`)).body),
      ]
    case 'to':
      return redirectTo(`${other}/landed/${a}/${b}`, Number(a))
    case 'bounce':
      return redirectTo(`${other}/bounced/${a}/${b}`, Number(a))
    case 'bounced':
      return redirectTo(`${own}/back/${a}/${b}`, Number(a))
    case 'refresh':
      return [200, html, `<meta http-equiv="refresh" content="0; url=${other}/refreshed/${a}">`]
    case 'canonical': {
      const links = `<link rel="canonical" href="${other}/canonical/${a}"><link rel="alternate" type="text/markdown" href="${other}/alternate/${a}.md">`
      return [200, html, page(`Canonical ${a}`, [], links)]
    }
    case 'landed':
    case 'linked':
    case 'refreshed':
    case 'mapped':
    case 'listed':
    case 'back':
      return path.endsWith('.md')
        ? [404, plain, 'none']
        : [200, html, page(`${name} ${a} ${b} at ${origin}`, [`${own}/`])]
    default:
      return [404, plain, 'none']
  }
}

async function openRealm(): Promise<Realm> {
  const { key, cert } = createCertificate([
    'a.docs.localhost',
    'sub.a.docs.localhost',
    'b.docs.localhost',
    'docs.localhost',
  ])
  const requests: ReceivedRequest[] = []
  let own = ''
  let others: string[] = []
  const listen = (scheme: string) => (request: IncomingMessage, response: ServerResponse) => {
    const origin = `${scheme}://${request.headers.host}`
    const path = request.url ?? ''
    requests.push({ origin, path, headers: request.headers })
    const [status, fields, body] = answer(origin, path, own, others)
    response.writeHead(status, fields).end(body)
  }
  const plain = createServer(listen('http'))
  const secure = createHttpsServer({ key, cert }, listen('https'))
  const openPort = async () => {
    // The first byte of a TLS handshake is 22, which no HTTP request begins with.
    const listener = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('readable', () => {
        const first = socket.read() as Buffer | null
        if (first === null) return
        socket.unshift(first)
        const server = first[0] === 22 ? secure : plain
        server.emit('connection', socket)
      })
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    return { listener, port: (listener.address() as AddressInfo).port }
  }
  const [main, side] = [await openPort(), await openPort()]
  own = `http://a.docs.localhost:${main.port}`
  others = [
    `http://b.docs.localhost:${main.port}`,
    `http://sub.a.docs.localhost:${main.port}`,
    `http://a.docs.localhost:${side.port}`,
    `https://a.docs.localhost:${main.port}`,
    `http://docs.localhost:${main.port}`,
  ]
  const close = async () => {
    for (const { listener } of [main, side]) listener.close()
    for (const server of [plain, secure]) server.closeAllConnections()
  }
  return { own, others, requests, certificate: cert, close }
}

/** Configures the headers for the own origin of the realm. */
function withSiteHeaders(library: OpenLibrary): OpenLibrary {
  const entries = Object.keys(HEADERS).map((name) => `${realm.own} ${name}=${name.toUpperCase().replaceAll('-', '_')}`)
  const values = Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase().replaceAll('-', '_'), value])
  return { ...library, siteHeaders: createSiteHeaderLookup(entries, Object.fromEntries(values)) }
}

/** A library that reaches the realm and trusts its certificate. */
async function openTrustingLibrary(): Promise<OpenLibrary> {
  const parsed = parseAllowance(['127.0.0.1'])
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const fetcher = openHttpFetcher({
    userAgent: 'Pharos/0.0.0',
    allowance: parsed.allowance,
    resolve: async () => ['127.0.0.1'],
    ca: realm.certificate,
  })
  closers.push(() => fetcher.close())
  return { ...(await openTestLibrary()), fetcher }
}

function createCertificate(hosts: readonly string[]): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = [
    '-subj',
    `/CN=${hosts[0]}`,
    '-addext',
    `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`,
  ]
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return made
}
