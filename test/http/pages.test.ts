import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import { readNext } from '../../src/http/pages/login.ts'
import { TOKENS_CSS } from '../../src/http/pages/tokens.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { NO_PROGRESS } from '../../src/library/jobs/events/frames.ts'
import type { PlaceHub } from '../../src/library/ports/findings.ts'
import { page } from '../sites/site.ts'
import { jobOf, MOMENT, openPageFixture, type PageFixture, queueNote } from './page-fixture.ts'

const FIRST = '11111111-1111-4111-8111-111111111111'
const SECOND = '22222222-2222-4222-8222-222222222222'
const ACTIONS = ['enqueued', 'dequeued', 'retry', 'drop'] as const
const blocked = Array.from({ length: 230 }, (_, i) => `/blocked/${String(i).padStart(3, '0')}`)

let fixture: PageFixture
let http: HttpApp

beforeAll(async () => {
  fixture = await openPageFixture({
    pages: {
      '/': page('Start', ['/install', '/missing', ...blocked]),
      '/install': page('Install the thing', []),
    },
    block: ['/blocked/**'],
    jobs: [
      jobOf(FIRST),
      jobOf(SECOND, {
        startedAt: MOMENT + 120_000,
        endedAt: MOMENT + 180_000,
        status: 'failed',
        problem: 'its process was killed',
      }),
    ],
    notes: [
      ...Array.from({ length: 500 }, (_, i) =>
        queueNote(FIRST, MOMENT + i, `https://docs.example/${i}`, { action: ACTIONS[i % 4] ?? 'drop' }),
      ),
      ...Array.from({ length: 130 }, (_, i) => ({
        jobId: i < 100 ? FIRST : SECOND,
        at: MOMENT + i,
        type: 'problem' as const,
        data: {
          kind: i % 2 === 0 ? 'missing-hub' : 'unknown-pattern',
          scope: 'docs.example',
          target: `/world/${i}`,
          message: `problem ${i}`,
          details: { place: i },
        },
      })),
      {
        jobId: FIRST,
        at: MOMENT,
        type: 'milestone',
        data: { kind: 'patterns-learned', scope: 'docs.example', target: null, message: 'Two sections', details: null },
      },
    ],
  })
  http = createHttp(fixture.ports)
})

afterAll(async () => {
  http.close()
  await fixture.close()
})

/** Requests a page as a browser does. */
function ask(path: string, app: HttpApp = http): Promise<Response> {
  return app.fetch(new Request(`http://127.0.0.1:41000${path}`, { headers: { accept: 'text/html' } }))
}

async function get(path: string, status = 200): Promise<string> {
  const response = await ask(path)
  expect(response.status, path).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^text\/html/)
  return response.text()
}

/** The target of the link with this text. */
function linkOf(body: string, label: string): string | undefined {
  return new RegExp(`<a href="([^"]+)"[^>]*>${label}</a>`).exec(body)?.[1]?.replaceAll('&amp;', '&')
}

/** The texts in the column of a table with this header, in order. */
function cellsOf(body: string, label: string): string[] {
  const cells = body
    .replaceAll(/<template[\s\S]*?<\/template>/g, '')
    .matchAll(new RegExp(`<td[^>]*data-label="${label}">([\\s\\S]*?)</td>`, 'g'))
  return [...cells].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '').trim())
}

/** Follows a link with this label until it is missing, and returns the pages on the way. */
async function followLinks(path: string, label: string): Promise<string[]> {
  const bodies: string[] = []
  for (let next: string | undefined = path; next !== undefined; next = linkOf(bodies.at(-1) ?? '', label)) {
    bodies.push(await get(next))
    expect(bodies.length).toBeLessThan(20)
  }
  return bodies
}

describe('every page', () => {
  const paths = [
    '/queues/ssr',
    `/queues/${FIRST}/ssr`,
    '/problems/ssr',
    '/milestones/ssr',
    '/errors',
    '/domains',
    '/urls',
    '/url',
    '/analysis/ssr',
    '/gazetteer',
  ]

  test.each(paths)('%s has navigation, a skip link, one heading and nothing inline', async (path) => {
    const body = await get(path)
    const labels = [...(/<nav aria-label="Main">([\s\S]*?)<\/nav>/.exec(body)?.[1] ?? '').matchAll(/>([^<]+)<\/a>/g)]
    const groups = labels.map(([, label]) => label)
    expect(groups.filter((label) => label !== 'Understanding')).toEqual(['Home', 'Search', 'Sources', 'Crawls'])
    expect(body.match(/<h1>/g)).toHaveLength(1)
    expect(body.match(/aria-current="page"/g)).toHaveLength(1)
    expect(body).toContain('<a class="skip" href="#main">')
    expect(body).not.toMatch(/<style|\sstyle=|<script(?! type="module" src="\/pages\/live.js"><\/script>)/)
  })

  test('tables have captions, and roles that survive the card layout', async () => {
    const body = await get('/urls')
    expect(body).toContain('<table role="table">')
    expect(body).toMatch(/<caption>[^<]*50 of 233 addresses/)
    expect(body.match(/role="columnheader"/g)).toHaveLength(8)
  })
})

/** The page of the crawl that filled the library, which no job ran. */
async function findCrawlOfCommand(): Promise<string> {
  const { items } = await fixture.log.list(9)
  return `/queues/${items.find(({ id }) => id !== FIRST && id !== SECOND)?.id}/ssr`
}

describe('crawls', () => {
  test('the list has the newest crawl first, with its result and duration, also those that no job ran', async () => {
    await fixture.log.change(SECOND, { progress: { ...NO_PROGRESS, saved: 7, unchanged: 1200, errors: 2 } })
    const body = await get('/queues/ssr')
    expect(cellsOf(body, 'Crawl').slice(1)).toEqual(['https://docs.example/', 'https://docs.example/'])
    expect(body).toContain(`href="/queues/${SECOND}/ssr"`)
    expect(cellsOf(body, 'Status')).toEqual(['done', 'failed', 'done'])
    expect(cellsOf(body, 'New or changed').slice(1)).toEqual(['7', '0'])
    expect(cellsOf(body, 'Unchanged').slice(1)).toEqual(['1,200', '0'])
    expect(cellsOf(body, 'Took').slice(1)).toEqual(['1m', '1m'])
  })

  test('the page of a crawl that no job ran has its counts, and says why it lists no addresses', async () => {
    const body = await get(await findCrawlOfCommand())
    expect(body).toContain('This crawl ran outside this server')
    expect(body).toMatch(/data-counter="saved">[1-9]/)
  })

  test('a crawl that reached its page limit is not just done', async () => {
    await fixture.log.change(FIRST, { progress: { ...NO_PROGRESS, unread: 3 } })
    expect(cellsOf(await get('/queues/ssr'), 'Status')).toEqual(['done', 'failed', 'page limit'])
    expect(await get(`/queues/${FIRST}/ssr`)).toContain('<span class="pill pill-limit" data-field="status">page limit')
    await fixture.log.change(FIRST, { progress: NO_PROGRESS })
    expect(cellsOf(await get('/queues/ssr'), 'Status')).toEqual(['done', 'failed', 'done'])
  })

  test('/queues/latest redirects to the crawl that ended last', async () => {
    const response = await ask('/queues/latest')
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(await findCrawlOfCommand())
  })

  test('a queue is paged through all its events, newest first, and back', async () => {
    const down = await followLinks(`/queues/${FIRST}/ssr?limit=150`, 'Older →')
    const urls = down.flatMap((body) => cellsOf(body, 'Address'))
    expect(urls).toEqual(Array.from({ length: 500 }, (_, i) => `https://docs.example/${499 - i}`))
    expect(down.map((body) => cellsOf(body, 'Address').length)).toEqual([150, 150, 150, 50])
    const last = linkOf(down.at(-1) ?? '', '← Newer') ?? ''
    const up = await followLinks(last, '← Newer')
    expect(up.map((body) => cellsOf(body, 'Address')[0])).toEqual([
      'https://docs.example/199',
      'https://docs.example/349',
      'https://docs.example/499',
    ])
    expect(linkOf(up[0] ?? '', 'Latest')).toBe(`/queues/${FIRST}/ssr?limit=150`)
  })

  test('the filter stays while paging', async () => {
    const bodies = await followLinks(`/queues/${FIRST}/ssr?action=drop&limit=50`, 'Older →')
    expect(bodies.flatMap((body) => cellsOf(body, 'Action'))).toEqual(Array.from({ length: 125 }, () => 'left out'))
    expect(bodies[0]).toContain('<option value="drop" selected>')
  })

  test('the page of a queue shows the problem of its job and links to the next newer and older crawl', async () => {
    const body = await get(`/queues/${SECOND}/ssr`)
    expect(body).toContain('its process was killed')
    expect(linkOf(body, 'Older crawl →')).toBe(`/queues/${FIRST}/ssr`)
    expect(linkOf(await get(await findCrawlOfCommand()), '← Newer crawl')).toBeUndefined()
    expect(linkOf(await get(`/queues/${FIRST}/ssr`), '← Newer crawl')).toBe(`/queues/${SECOND}/ssr`)
  })

  test('only the first page of a running job is updated live', async () => {
    expect(await get(`/queues/${FIRST}/ssr`)).not.toContain('data-events')
    await fixture.log.change(FIRST, { status: 'running' })
    expect(await get(`/queues/${FIRST}/ssr`)).toContain(`data-events="/events?logs=0&amp;job=${FIRST}"`)
    expect(await get(`/queues/${FIRST}/ssr?before=300`)).not.toContain('data-events')
    await fixture.log.change(FIRST, { status: 'done' })
  })

  test.each([
    ['/queues/nobody/ssr', 404, 'There is no crawl with this id'],
    ['/queues/%3Cb%3E/ssr', 400, 'This is not the id of a crawl'],
    [`/queues/${FIRST}/ssr?action=jump`, 400, 'action: expected one of enqueued, dequeued, retry, drop, got'],
    [`/queues/${FIRST}/ssr?before=x`, 400, 'before: expected a whole number, got'],
  ])('%s is answered with %i', async (path, status, message) => {
    expect(await get(path, status)).toContain(message)
  })
})

describe('problems and milestones', () => {
  test('the severity is shown as a colored pill', async () => {
    const body = await get('/problems/ssr?limit=2')
    expect(cellsOf(body, 'Severity')).toEqual(['note', 'warning'])
    expect(body).toContain('<span class="pill pill-warn" data-field="severity">warning</span>')
  })

  test('kinds are chosen by their titles', async () => {
    expect(await get('/problems/ssr')).toContain('<option value="page-cap">Page limit reached</option>')
    expect(await get('/milestones/ssr?job=x')).toContain('<option value="depth2-coverage">Second level read</option>')
  })

  test('filters narrow the list down, and stay while paging', async () => {
    expect(cellsOf(await get(`/problems/ssr?job=${SECOND}`), 'What')).toHaveLength(30)
    expect(cellsOf(await get('/problems/ssr?scope=elsewhere'), 'What')).toEqual([])
    const bodies = await followLinks('/problems/ssr?kind=missing-hub&limit=40', 'Older →')
    const found = bodies.flatMap((body) => cellsOf(body, 'What'))
    expect(found).toHaveLength(65)
    expect(found.every((text) => text.startsWith('Missing hub'))).toBe(true)
  })

  test('a sentence names the address as a link, also when the address is part of another one', async () => {
    const site = 'https://docs.example/'
    const message = `${site}broken could not be read`
    const note = { kind: 'llms-txt-unusable', scope: 'docs.example', target: site, message, details: { detail: 'x' } }
    await fixture.log.append([{ jobId: FIRST, at: MOMENT, type: 'problem', data: note }])
    const body = await get('/problems/ssr?kind=llms-txt-unusable')
    expect(cellsOf(body, 'What')).toEqual(['llms.txt cannot be usedhttps://docs.example/broken could not be read.'])
    expect(body).not.toContain('itbroken')
  })

  test('milestones are listed', async () => {
    expect(cellsOf(await get('/milestones/ssr'), 'What')).toEqual([expect.stringContaining('Two sections.')])
  })
})

describe('addresses', () => {
  test('/urls is paged through all addresses once, and back', async () => {
    const down = await followLinks('/urls?state=skipped&limit=100', 'Older →')
    const urls = down.flatMap((body) => cellsOf(body, 'Address'))
    expect(urls.toSorted()).toEqual(blocked.map((path) => fixture.origin + path))
    const up = await followLinks(linkOf(down.at(-1) ?? '', '← Newer') ?? '', '← Newer')
    expect(cellsOf(up.at(-1) ?? '', 'Address')).toEqual(cellsOf(down[0] ?? '', 'Address'))
  })

  test.each([
    ['text=INSTALL', ['/install']],
    ['state=failed', ['/missing']],
    ['status=404', ['/missing']],
    ['text=install&host=elsewhere.example', []],
    ['text=install&from=2020-01-01&to=2020-01-02', []],
    ['text=install&from=2020-01-01', ['/install']],
  ])('/urls?%s lists exactly the matching addresses', async (query, paths) => {
    expect(cellsOf(await get(`/urls?${query}`), 'Address').map((text) => text.split('Install the')[0])).toEqual(
      paths.map((path) => fixture.origin + path),
    )
  })

  test.each([
    ['state=nowhere', 'state: expected one of pending'],
    ['status=x', 'status: expected a whole number'],
    ['from=soon', 'from: expected a date'],
    ['older=x', 'it does not come from this list'],
  ])('/urls?%s is refused', async (query, message) => {
    expect(await get(`/urls?${query}`, 400)).toContain(message)
  })

  test('an indexed address shows its state, where it was found, its title and its chunks', async () => {
    const body = await get(`/url?url=${encodeURIComponent(`${fixture.origin}/install`)}`)
    for (const part of [
      'guide@2.0',
      'its content was indexed',
      'as a link, 1 link from the start',
      'Install the thing',
      'in 1 chunk',
    ])
      expect(body).toContain(part)
    expect(body).toMatch(/href="\/api\/explain\?source=[\w-]+&amp;url=http/)
  })

  test('a skipped address shows the reason and the rule', async () => {
    const body = await get(`/url?url=${encodeURIComponent(`${fixture.origin}/blocked/007`)}`)
    for (const part of [
      'not wanted, or beyond a limit',
      'a block pattern matches its path',
      '/blocked/**',
      'holds no content',
    ])
      expect(body).toContain(part)
  })

  test('an unknown address is answered with 404 and the decision of the scope', async () => {
    // A source of a local folder says nothing about web addresses.
    await addSource(fixture.library, { url: 'file:///srv/notes/', isOwnFolder: true })
    const body = await get(`/url?url=${encodeURIComponent(`${fixture.origin}/blocked/new`)}`, 404)
    expect(body).toContain('No source has seen this address.')
    expect(body).toContain('The scope would refuse it: a block pattern')
    expect(await get('/url?url=nonsense', 404)).toContain('cannot be read as an address')
  })

  test('errors are grouped with examples', async () => {
    const body = await get('/errors')
    expect(cellsOf(body, 'Status')).toEqual(['404'])
    expect(cellsOf(body, 'Examples')[0]).toContain(`${fixture.origin}/missing`)
    // The count links to exactly these addresses.
    const [, path = ''] = /<a href="(\/urls\?[^"]+)">1</.exec(body) ?? []
    expect(path).toContain('reason=not-found')
    expect(cellsOf(await get(path.replaceAll('&amp;', '&')), 'State')).toEqual(['failed'])
    expect(await get('/urls?state=failed&reason=blocked')).toContain('No address passes these filters')
  })

  test('domains have a summary', async () => {
    const host = new URL(fixture.origin).host
    expect(cellsOf(await get('/domains'), 'Addresses')).toEqual(['233'])
    const body = await get(`/domains?host=${host}`)
    expect(body).toContain(`<h1>${host}</h1>`)
    expect(body).toContain('aria-label="2 read, 230 left out, 1 failed, 0 to read"')
    expect(await get('/domains?host=elsewhere.example', 404)).toContain('No address of the host elsewhere.example')
  })
})

test('without an analysis, the analysis page says so, and without places the gazetteer page says how to get them', async () => {
  const analysis = await get('/analysis/ssr')
  expect(analysis).toContain('Nothing has been analysed yet')
  expect(analysis).not.toContain('/analysis/latest')
  const body = await get('/gazetteer')
  expect(body).toContain('No places are known yet')
  expect(body).not.toContain('data-counter')
})

test('an error page advises its reader, not a program', async () => {
  const body = await get('/read?source=nowhere&url=x', 404)
  expect(body).toContain('The page Sources lists what the library has.')
  expect(body).not.toContain('/api/sources')
})

test('the page for an unknown path says what to do', async () => {
  expect(await get('/nowhere/%3Cscript%3E', 404)).toContain('Check the address')
})

test('pages that need an unreadable library are answered with 503, without internal details', async () => {
  fixture.setStoreBroken(true)
  try {
    for (const path of [
      '/queues/ssr',
      '/queues/latest',
      `/queues/${FIRST}/ssr`,
      '/problems/ssr',
      '/milestones/ssr',
      '/errors',
      '/domains',
      '/urls',
      '/url?url=x',
      '/gazetteer',
      '/analysis/ssr',
    ]) {
      const body = await get(path, 503)
      expect(body).toContain('The library cannot be read at the moment.')
      expect(body).toContain('STORE_UNAVAILABLE')
      expect(body).not.toMatch(/secret|SQLITE|\.ts:/)
    }
    expect(fixture.warnings.at(-1)).toContain('disk I/O error')
  } finally {
    fixture.setStoreBroken(false)
  }
  await get('/urls')
})

test('the login form redirects only to this server', async () => {
  const guarded = createHttp({ ...fixture.ports, settings: { ...fixture.ports.settings, token: 'secret' } })
  const body = await (await ask('/login?next=%2Furls%3Fstate%3Dfailed', guarded)).text()
  guarded.close()
  expect(body).toContain('<form class="stack" method="post">')
  expect(body).toContain('<input type="password" name="token"')
  expect(body).toContain('name="next" value="/urls?state=failed"')
  expect(body).not.toContain('secret')
  for (const elsewhere of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/a\nb',
  ])
    expect(readNext(elsewhere)).toBe('/')
})

test('assets have their content types', async () => {
  for (const [path, type] of [
    ['/pages/style.css', 'text/css'],
    ['/pages/live.js', 'text/javascript'],
    ['/pages/icon.svg', 'image/svg+xml'],
  ] as const) {
    const response = await ask(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain(type)
  }
})

const HUB: PlaceHub = {
  url: 'https://news.example/world/france',
  host: 'news.example',
  placeId: 1,
  placeSlug: 'france',
  placeKind: 'country',
  topicSlug: null,
  topicLabel: null,
  topicKind: null,
  title: null,
  navLinks: 30,
  articleLinks: 3,
  evidence: {},
}

test('the navigation has a fifth group only when the library has findings', async () => {
  const readGroups = async (app: HttpApp) => (await (await ask('/docs', app)).text()).includes('>Understanding</a>')
  for (const hasPlaces of [false, true]) {
    const own = await openPageFixture({ pages: {} })
    if (hasPlaces) await own.library.placeHubs?.write([HUB], 1)
    const app = createHttp(own.ports)
    expect(await readGroups(app)).toBe(hasPlaces)
    app.close()
    await own.close()
  }
})

describe('the color schemes', () => {
  const [light = '', dark = ''] = TOKENS_CSS.split('@media')
  const tonePairs = ['good', 'warn', 'bad', 'info', 'quiet'].map((tone) => [tone, `${tone}-ground`])
  const textPairs = ['text', 'text-2', 'accent'].flatMap((text) =>
    ['ground', 'surface', 'surface-2'].map((ground) => [text, ground]),
  )

  test.each([
    ['light', light],
    ['dark', dark],
  ])('have enough contrast in the %s scheme', (_, tokens) => {
    for (const [text = '', ground = ''] of [...tonePairs, ...textPairs, ['on-accent', 'accent'], ['text', 'mark']]) {
      expect(contrastOf(colorOf(tokens, text), colorOf(tokens, ground)), `${text} on ${ground}`).toBeGreaterThan(4.5)
    }
  })

  function colorOf(tokens: string, name: string): number[] {
    const hex = new RegExp(`--${name}: #(\\w{6});`).exec(tokens)?.[1] ?? ''
    return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  }

  /** The contrast ratio of WCAG 2. */
  function contrastOf(a: readonly number[], b: readonly number[]): number {
    const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y)
    return (high + 0.05) / (low + 0.05)
  }

  function luminanceOf(color: readonly number[]): number {
    const [r = 0, g = 0, b = 0] = color.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
})

test('an empty library gives pages that say where to begin', async () => {
  const empty = await openPageFixture({ pages: {} })
  const app = createHttp(empty.ports)
  try {
    const { store } = await empty.ports.library()
    for (const { id } of await store.listSources()) await store.removeSource(id)
    expect((await ask('/queues/latest', app)).headers.get('location')).toBe('/queues/ssr')
    expect(await (await ask('/queues/ssr', app)).text()).toContain('Nothing has been crawled yet')
    expect(await (await ask('/problems/ssr', app)).text()).toContain('No problems are known')
  } finally {
    app.close()
    await empty.close()
  }
})
