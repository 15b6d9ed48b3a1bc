import { urlKey } from '../../src/core/url/key.ts'
import type { PlaceHub } from '../../src/library/ports/findings.ts'
import type { JobNote, JobRecord } from '../../src/library/ports/job-log.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import { analyseLibrary } from '../../src/places/runs/analyse-library.ts'
import { beginRun } from '../../src/places/runs/begin-run.ts'
import type { Answer } from '../sites/site.ts'
import { jobOf, MOMENT, openPageFixture, type PageFixture, queueNote } from './page-fixture.ts'

/* Texts that a hostile site can store in the library. Each sets a global or opens a dialog if a page renders it as markup. */

/** One text for each kind of attack. `[n]` is replaced by the name of the field, so that a failure shows which text ran. */
const ATTACKS = [
  '<script>globalThis.pwned="[n]"</script>',
  '"><img src=x onerror="globalThis.pwned=\'[n]\'">',
  "'><svg onload=\"globalThis.pwned='[n]'\">",
  '</title></textarea></template></script><script>alert("[n]")</script>',
  '<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:alert(\'[n]\')"><text y="9">click</text></a></svg>',
  '" autofocus onfocus="globalThis.pwned=\'[n]\'" x="',
  '--><iframe srcdoc="<script>parent.pwned=\'[n]\'</script>"></iframe>',
  '&lt;script&gt;globalThis.pwned="[n]"&lt;/script&gt;',
  '{"x":"\\u003cscript>globalThis.pwned=1</script>"} [n]',
  '\u202egpj.exe\u2066<b>[n]</b>\u0000',
] as const

/** All attacks in one text, marked with the name of the field that holds the text. */
export function attackOn(field: string): string {
  return ATTACKS.map((attack) => attack.replaceAll('[n]', field)).join(' ')
}

/** Addresses that must never become links. */
export const SCRIPT_URLS = [
  'javascript:globalThis.pwned="url"',
  ' javascript:alert(1)',
  'data:text/html,<script>parent.pwned=1</script>',
  'https://docs.example/"onmouseover="globalThis.pwned=1"><script>globalThis.pwned="path"</script>',
  "https://docs.example/'><svg onload=globalThis.pwned=1>",
] as const

export const HOSTILE_JOB = '33333333-3333-4333-8333-333333333333'

export const HOSTILE_ENDED_JOB = '44444444-4444-4444-8444-444444444444'

/** An analysis that never ends. */
export const HOSTILE_RUN = '55555555-5555-4555-8555-555555555555'

/** A library that a hostile site has filled as far as possible, with its history. */
export async function openHostileFixture(): Promise<PageFixture> {
  const fixture = await openPageFixture({
    pages: PAGES,
    block: ['/blocked/"><script>globalThis.pwned=1<!script>/**', '/b/**'],
    jobs: [JOB, ENDED_JOB],
    notes: NOTES,
  })
  await addHostileRows(fixture.library)
  await addHostilePlaces(fixture.library)
  return fixture
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** A page that shows its text instead of running it, so that all of it is indexed. */
function hostilePage(name: string, links: readonly string[] = []): Answer {
  const title = escapeHtml(attackOn(`title ${name}`))
  const items = links.map((href) => `<li><a href="${escapeHtml(href)}">${escapeHtml(attackOn('link'))}</a></li>`)
  return {
    headers: {
      etag: `"'><script>globalThis.pwned='etag'</script>"`,
      'last-modified': `<img src=x onerror=globalThis.pwned='modified'>`,
      'x-powered-by': '<script>globalThis.pwned=1</script>',
    },
    body: `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>
<p>This page says enough about itself that nobody takes it for an empty one, and then it attacks.</p>
<h2>${escapeHtml(attackOn(`heading ${name}`))}</h2><p>Some words about it, so that the heading has something below.</p>
<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.pwned='svg'"><script>globalThis.pwned='svg'</script></svg>
<ul>${items.join('')}</ul></main></body></html>`,
  }
}

/** Attacks by links and images of Markdown. */
const HOSTILE_LINKS = `# Markdown that attacks

A paragraph that says enough about itself that nobody takes it for an empty one: markdownattack.

[link](javascript:globalThis.pwned='link') [tab](java\tscript:globalThis.pwned=1) [entity](&#106;avascript:alert(1))
[upper](JaVaScRiPt:alert(1)) [data](data:text/html,parent.pwned=1) [file](file:///etc/passwd) [vb](vbscript:alert(1))
[title](https://docs.example/ "x" onmouseover="globalThis.pwned=1") [relative](//evil.example/x) [own](/page)
<javascript:alert(1)> ![image](javascript:alert(1)) ![alt" onerror="globalThis.pwned=1](x)
[reference][r] [anchor](#"onclick="alert)

[r]: javascript:globalThis.pwned='reference' "t"

## A heading {#"onfocus="globalThis.pwned=1}

\`\`\`html"onload="globalThis.pwned=1
${attackOn('fence')}
\`\`\`
`

/** Attacks by means of Markdown and the raw HTML in it, which a crawl would clean. */
export const HOSTILE_MARKDOWN: string = `# ${attackOn('markdown title')}

${HOSTILE_LINKS}
<script>globalThis.pwned="raw block"</script>

<img src=x onerror="globalThis.pwned='raw image'"> <a href="javascript:alert(1)" onclick="alert(1)">raw link</a>
<svg onload="globalThis.pwned='raw svg'"><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>

<details open ontoggle="globalThis.pwned='details'"><summary>s</summary></details>

## ${attackOn('markdown heading')} {#"onfocus="globalThis.pwned=1}

| a | <script>globalThis.pwned="cell"</script> |
|:-:|--:|
| x | ${attackOn('cell')} |

    ${attackOn('indented')}

- ${attackOn('item')}
> ${attackOn('quote')}

<${attackOn('broken tag')}
`

const PAGES: Readonly<Record<string, Answer>> = {
  '/': hostilePage('start', [
    '/page',
    '/raw.md',
    '/broken',
    "/it's'onmouseover='globalThis.pwned=1",
    '/b/"><script>alert(1)</script>',
    ...SCRIPT_URLS,
  ]),
  '/page': hostilePage('page'),
  '/raw.md': { headers: { 'content-type': 'text/markdown; charset=utf-8' }, body: HOSTILE_LINKS },
  '/broken': { status: 400, headers: { 'x-error': '<script>' }, body: attackOn('error') },
}

const JOB: JobRecord = jobOf(HOSTILE_JOB, {
  url: 'javascript:globalThis.pwned="job"',
  args: [attackOn('args'), '--depth=<script>globalThis.pwned=1</script>'],
  status: 'running',
  endedAt: null,
  problem: attackOn('problem of the job'),
})

const ENDED_JOB: JobRecord = { ...JOB, id: HOSTILE_ENDED_JOB, status: 'failed', startedAt: 1, endedAt: 2 }

const NOTES: readonly JobNote[] = [
  ...[...SCRIPT_URLS, attackOn('queue url')].map((url, i) =>
    queueNote(HOSTILE_JOB, MOMENT + i, url, {
      action: 'drop',
      host: attackOn('host'),
      reason: attackOn('reason'),
      alias: attackOn('alias'),
    }),
  ),
  ...(['problem', 'milestone'] as const).map((type) => ({
    jobId: HOSTILE_JOB,
    at: MOMENT,
    type,
    data: {
      kind: attackOn(`${type} kind`),
      scope: attackOn(`${type} scope`),
      target: attackOn(`${type} target`),
      message: attackOn(`${type} message`),
      details: { [attackOn('key')]: attackOn('detail') },
    },
  })),
]

/** Adds rows that no server on loopback can produce, but that the ledger can hold. */
async function addHostileRows({ store, newId, clock }: OpenLibrary): Promise<void> {
  const [source] = await store.listSources()
  if (source === undefined) throw new Error('there is no source')
  const now = clock.now()
  const crawl = await store.beginCrawl(
    {
      id: newId(),
      sourceId: source.id,
      kind: 'recrawl',
      state: 'running',
      options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
      runner: null,
      startedAt: now,
      heartbeatAt: now,
      endedAt: null,
      summary: null,
    },
    1000,
  )
  const host = `<b>host</b>"onclick="globalThis.pwned=1`
  const find = { host, depth: 1, discovery: 'link', foundOn: 'javascript:globalThis.pwned="found"' } as const
  await store.offer(
    source.id,
    crawl.id,
    [
      ...SCRIPT_URLS.map((url) => ({
        ...find,
        url,
        key: url,
        refusal: { reason: 'blocked', pattern: attackOn('pattern'), target: null } as const,
      })),
      // The key must match the address, so that a lookup by address finds the row.
      { ...find, url: FAILED_URL, key: urlKey(new URL(FAILED_URL)) ?? '', refusal: null },
    ],
    now,
  )
  const [visit] = await store.lease({
    sourceId: source.id,
    crawlId: crawl.id,
    limit: 1,
    now,
    until: now + 60_000,
    horizon: now + 60_000,
    isBreadthFirst: false,
  })
  if (visit === undefined) throw new Error('nothing was leased')
  await store.settle({
    visit,
    crawlId: crawl.id,
    now,
    state: 'failed',
    reason: 'http-server-error',
    pattern: attackOn('failed pattern'),
    status: 500,
    detail: attackOn('error message'),
    etag: attackOn('etag'),
    lastModified: attackOn('last-modified'),
  })
  await store.endCrawl(crawl.id, null, now)
}

/** Stores analysis results of a hostile site, and places of a hostile data file. */
async function addHostilePlaces(library: OpenLibrary): Promise<void> {
  const { gazetteer, placeHubs, planMemory, analyses, clock } = library
  for await (const _ of analyseLibrary(library)) void _
  const now = clock.now()
  const source = {
    name: attackOn('source'),
    version: attackOn('version'),
    license: attackOn('licence'),
    attribution: attackOn('credit'),
    url: 'javascript:globalThis.pwned="credit"',
  }
  await gazetteer.importPlaces(source, [HOSTILE_PLACE], now)
  const [place] = (await gazetteer.listPlaces({ offset: 0, limit: 1 })).items
  if (place === undefined) throw new Error('the hostile place was not imported')
  await placeHubs.write([{ ...HOSTILE_HUB, placeId: place.id }], now)
  const { host } = HOSTILE_HUB
  const pattern = attackOn('place pattern')
  const examples = [attackOn('example')]
  await planMemory.writePatterns(
    host,
    [{ pattern, role: 'place-hub', seen: 1, hits: 1, misses: 0, confidence: 1, examples }],
    now,
  )
  await planMemory.writeVerdicts(host, [
    {
      ...{ url: FAILED_URL, pattern, placeId: place.id, placeSlug: attackOn('missing slug'), placeKind: 'country' },
      ...{ origin: 'listed', state: 'missing', status: 404, title: attackOn('missing title') },
      ...{ navLinks: 0, articleLinks: 0, checkedAt: now },
    },
  ])
  const { run } = await beginRun({ ...library, newId: () => HOSTILE_RUN }, { options: { dryRun: true } }, 'somebody')
  const holder = { id: run.id, runner: 'somebody' }
  await analyses.addEvent({
    ...{ runId: run.id, at: now, stage: 'pages', message: attackOn('run message') },
    details: { [attackOn('run key')]: attackOn('run detail') },
  })
  await analyses.changeRun(holder, {
    error: attackOn('run error'),
    summary: { gazetteerRevision: attackOn('summary') },
  })
}

const HOSTILE_PLACE: PlaceRecord = {
  ref: attackOn('ref'),
  kind: 'country',
  countryCode: 'XX',
  adm1Code: null,
  adm2Code: null,
  population: 1,
  timezone: attackOn('zone'),
  lat: 48,
  lng: 2,
  bbox: null,
  status: 'current',
  validFrom: attackOn('from'),
  validTo: null,
  extra: { [attackOn('extra')]: attackOn('extra') },
  names: [
    { name: attackOn('place name'), lang: null, kind: 'common', isPreferred: true, isOfficial: false },
    { name: attackOn('other name'), lang: 'en', kind: 'alias', isPreferred: false, isOfficial: false },
  ],
  parents: [],
  externalIds: [{ source: attackOn('id source'), id: attackOn('id') }],
}

const HOSTILE_HUB: PlaceHub = {
  url: 'javascript:globalThis.pwned="hub"',
  host: 'docs.example',
  placeId: 0,
  placeSlug: attackOn('hub slug'),
  placeKind: 'country',
  topicSlug: attackOn('topic slug'),
  topicLabel: attackOn('topic label'),
  topicKind: 'section',
  title: attackOn('hub title'),
  navLinks: 12,
  articleLinks: 3,
  evidence: { [attackOn('evidence')]: attackOn('evidence') },
}

/** An address whose last response was an attack. */
export const FAILED_URL = 'https://docs.example/"><script>globalThis.pwned="failed"</script>'

/** Paths of all pages that show texts of the corpus, each with a text that the page must show. */
export function hostilePaths(origin: string): readonly (readonly [path: string, shows: string])[] {
  const url = (address: string) => `/url?url=${encodeURIComponent(address)}`
  const read = (address: string) => `/read?url=${encodeURIComponent(address)}`
  return [
    ['/queues/ssr', 'javascript:globalThis.pwned'],
    [`/queues/${HOSTILE_JOB}/ssr`, '<script>globalThis.pwned="args"</script>'],
    [`/queues/${HOSTILE_JOB}/ssr?action=drop`, '<script>globalThis.pwned="reason"</script>'],
    ['/problems/ssr', '<script>globalThis.pwned="problem message"</script>'],
    [
      `/problems/ssr?kind=${encodeURIComponent(attackOn('problem kind'))}`,
      '<script>globalThis.pwned="problem scope"</script>',
    ],
    [`/problems/ssr?scope=${encodeURIComponent('"><script>alert(1)</script>')}`, 'No problems pass these filters'],
    ['/milestones/ssr', '<script>globalThis.pwned="milestone message"</script>'],
    ['/errors', '<script>globalThis.pwned="error message"</script>'],
    ['/domains', '<b>host</b>"onclick="globalThis.pwned=1'],
    [
      `/domains?host=${encodeURIComponent('<b>host</b>"onclick="globalThis.pwned=1')}`,
      '<b>host</b>"onclick="globalThis.pwned=1',
    ],
    [`/domains?host=${encodeURIComponent('<script>alert(1)</script>')}`, '<script>alert(1)</script>'],
    ['/urls', '<script>globalThis.pwned="pattern"</script>'],
    [`/urls?text=${encodeURIComponent('"><script>alert(1)</script>')}`, 'No address passes these filters'],
    [`/urls?state=${encodeURIComponent('<script>alert(1)</script>')}`, 'got "<script>alert(1)</script>"'],
    [url(`${origin}/page`), '<script>globalThis.pwned="heading page"</script>'],
    [read(`${origin}/page`), '<script>globalThis.pwned="heading page"</script>'],
    [read(`${origin}/raw.md`), '<script>globalThis.pwned="fence"</script>'],
    [read(`${origin}/raw.md#"><script>alert(1)</script>`), 'markdownattack'],
    [read(FAILED_URL), 'The library holds no text of this page'],
    [read(SCRIPT_URLS[0]), 'The library holds no text of this page'],
    [`${read(`${origin}/page`)}&lines=${encodeURIComponent('"><script>alert(1)</script>')}`, 'Raw Markdown'],
    [url(FAILED_URL), '<script>globalThis.pwned="etag"</script>'],
    [url(SCRIPT_URLS[0]), 'javascript:globalThis.pwned="found"'],
    [url('https://nowhere.example/<script>alert(1)</script>'), 'No source has seen this address'],
    ['/nowhere/%3Cscript%3Ealert(1)%3C/script%3E', 'There is no page at'],
    ['/analysis/ssr', 'Perform Analysis'],
    [`/analysis/${HOSTILE_RUN}/ssr`, '<script>globalThis.pwned="run message"</script>'],
    ['/analysis/%3Cscript%3Ealert(1)%3C%2Fscript%3E/ssr', 'This is not the id of an analysis run'],
    ['/gazetteer', '<script>globalThis.pwned="place name"</script>'],
    ['/gazetteer?host=%3Cscript%3Ealert(1)%3C%2Fscript%3E', '<script>alert(1)</script>'],
    ['/gazetteer/places?q=script', '<script>globalThis.pwned="place name"</script>'],
    [`/gazetteer/places?q=${encodeURIComponent('"><script>alert(1)</script>')}`, 'No place passes these filters'],
    ['/gazetteer/countries', '<script>globalThis.pwned="place name"</script>'],
    ['/gazetteer/country/XX', '<script>globalThis.pwned="other name"</script>'],
    ['/gazetteer/country/%3Cb%3E', 'A country is named by two letters'],
    ['/gazetteer/kind/country', '<script>globalThis.pwned="place name"</script>'],
    ['/gazetteer/kind/%3Cscript%3E', 'There is no such kind of place'],
    ['/gazetteer/place/1', '<script>globalThis.pwned="id source"</script>'],
    ['/hubs', '<script>globalThis.pwned="topic label"</script>'],
    ['/hubs?host=docs.example', '<script>globalThis.pwned="place pattern"</script>'],
    ['/hubs?place=1', '<script>globalThis.pwned="hub title"</script>'],
    [`/hubs?topic=${encodeURIComponent('"><script>alert(1)</script>')}`, 'No hub passes these filters'],
  ]
}

/** Views of the dashboard that show texts of the corpus, each with a text that the view must show. */
export function hostileViews(sourceId: string): readonly (readonly [hash: string, shows: string])[] {
  const explain = (address: string) => `#/sources/${sourceId}?explain=${encodeURIComponent(address)}`
  return [
    ['#/', '<script>globalThis.pwned="problem of the job"</script>'],
    ['#/search?q=nobody+takes+it+for+an+empty+page', '<script>globalThis.pwned="title page"</script>'],
    [`#/search?q=${encodeURIComponent(attackOn('search'))}&kind=${encodeURIComponent('<b>kind</b>')}`, '<b>kind</b>'],
    ['#/search?q=markdownattack&path=/raw.md', 'nobody takes it for an empty one: markdownattack'],
    [
      `#/search?q=heading&source=${encodeURIComponent(attackOn('source'))}`,
      '<script>globalThis.pwned="source"</script>',
    ],
    ['#/sources', 'guide'],
    [`#/sources/${encodeURIComponent('<script>alert(1)</script>')}`, '<script>alert(1)</script>'],
    [explain(FAILED_URL), '<script>globalThis.pwned="error message"</script>'],
    [explain(FAILED_URL), 'javascript:globalThis.pwned="found"'],
    [explain(SCRIPT_URLS[0]), 'javascript:globalThis.pwned="url"'],
    [explain('https://nowhere.example/\u202e<script>alert(1)</script>'), 'Never seen in this source'],
  ]
}

/** Emits the events of a crawl of a hostile site. */
export function emitHostileEvents({ dispatcher: { feed } }: PageFixture, jobId: string): void {
  const url = `https://docs.example/${attackOn('card url')}`
  const host = attackOn('card host')
  const now = new Date().toISOString()
  const item = { id: jobId, url, status: 'running', stage: 'running', paused: false, startedAt: now, visited: 0 }
  const note = { kind: attackOn('card kind'), scope: null, target: attackOn('card target'), details: null }
  feed.tell('jobs', null, { count: 1, items: [item] })
  feed.tell('progress', jobId, {
    visited: 3,
    downloaded: 3,
    saved: 2,
    errors: 1,
    queueSize: 4,
    bytes: 5,
    paused: false,
    currentDownloads: [{ url: attackOn('card download'), ageMs: 10 }],
    currentDownloadsCount: 1,
    perHost: { [host]: { rpm: 1, limitRpm: null, intervalMs: 1000, backoffUntil: null } },
  })
  feed.tell('problem', jobId, { ...note, message: attackOn('card problem'), severity: 'warn' })
  feed.tell('milestone', jobId, { ...note, message: attackOn('card milestone') })
  feed.tell('log', jobId, { stream: 'stderr', line: attackOn('card line') })
}
