import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { listDuplicates } from '../../src/library/search/list-duplicates.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import type { SearchAnswer, SearchInput } from '../../src/library/search.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { createTempFolder, writeFiles } from '../trees/archive-fixture.ts'
import { openTestLibrary, openTestSite, runCrawl } from './crawl.ts'
import type { Answer } from './site.ts'

/** The site of one version of a documentation: two pages in three languages. */
function guideOf(version: string): Record<string, Answer> {
  const [en, de, fr] = (['en', 'de', 'fr'] as const).map((language) => {
    const { timeout, retry } = TEXTS[language]
    return {
      [`/${language}/timeout.html`]: pageOf(language, timeout.title, `${timeout.text} lighthouse ${version}.`),
      [`/${language}/retry.html`]: pageOf(language, retry.title, `${retry.text} lighthouse ${version}.`),
    }
  })
  const links = Object.keys({ ...en, ...de, ...fr }).map((path) => `<li><a href="${path}">page</a></li>`)
  return { '/': `<!doctype html><title>Start</title><main><ul>${links.join('')}</ul></main>`, ...en, ...de, ...fr }
}

function pageOf(language: string, title: string, text: string): string {
  return `<!doctype html><html lang="${language}"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`
}

const TEXTS = {
  en: {
    timeout: {
      title: 'The timeout',
      text: 'The timeout of a request is how long the client waits for the answer of the server before it gives up. It is given in seconds, and thirty seconds are waited where nothing else was said. Set `requestTimeout` to change it for all requests of a client. A request that takes longer is broken off, and an error tells which address did not answer. This holds for',
    },
    retry: {
      title: 'Trying again',
      text: 'A request that failed is tried again as often as `retryCount` says, with a pause that becomes twice as long each time. Requests that change something are not tried again by themselves, since nobody knows whether the first one was done. Those that the server refused are not tried again either. This holds for',
    },
  },
  de: {
    timeout: {
      title: 'Die Wartezeit',
      text: 'Die Wartezeit einer Anfrage ist die Zeit, die der Client auf die Antwort des Servers wartet, bevor er aufgibt. Sie wird in Sekunden angegeben, und ohne weitere Angabe wird dreißig Sekunden lang gewartet. Mit `requestTimeout` kann sie für alle Anfragen eines Clients geändert werden. Eine Anfrage, die länger dauert, wird abgebrochen, und ein Fehler nennt die Adresse, die nicht geantwortet hat. Das gilt für',
    },
    retry: {
      title: 'Noch einmal versuchen',
      text: 'Eine Anfrage, die nicht gelungen ist, wird so oft wiederholt, wie `retryCount` sagt, mit einer Pause, die jedes Mal doppelt so lang wird. Anfragen, die etwas verändern, werden nicht von selbst wiederholt, denn niemand weiß, ob die erste ausgeführt wurde. Das gilt für',
    },
  },
  fr: {
    timeout: {
      title: 'Le délai',
      text: 'Le délai d’une requête est le temps pendant lequel le client attend la réponse du serveur avant de renoncer. Il est donné en secondes, et trente secondes sont attendues quand rien d’autre n’est dit. La valeur `requestTimeout` le change pour toutes les requêtes d’un client. Une requête qui dure plus longtemps est interrompue, et une erreur nomme l’adresse qui n’a pas répondu. Cela vaut pour',
    },
    retry: {
      title: 'Essayer encore',
      text: 'Une requête qui a échoué est répétée autant de fois que `retryCount` le dit, avec une pause qui double à chaque fois. Les requêtes qui changent quelque chose ne sont pas répétées, car personne ne sait si la première a été exécutée. Cela vaut pour',
    },
  },
} as const

let library: OpenLibrary

beforeEach(async () => {
  library = await openTestLibrary()
})

async function crawl(pages: Readonly<Record<string, Answer>>, name: string, version?: string): Promise<void> {
  const site = await openTestSite(pages)
  const source = await addSource(library, { url: `${site.origin}/`, name, version })
  await runCrawl(library, source, { kind: 'add' }, site.origin)
}

const ask = (query: string, input: Partial<SearchInput> = {}): Promise<SearchAnswer> =>
  searchLibrary(library, { query, ...input })

/** Version and path of everything that an answer shows. */
function shownBy({ passages, more }: SearchAnswer): string[] {
  return [...passages, ...more].map(({ version, url }) => nameOf(version, url))
}

/** The pages about timeouts among the shown ones. */
function timeoutsOf(answer: SearchAnswer): string[] {
  return shownBy(answer)
    .filter((name) => name.endsWith('timeout.html'))
    .sort(compareUtf8)
}

function nameOf(version: string | null, url: string): string {
  return `${version} ${new URL(url).pathname}`
}

describe('two versions and three languages of one documentation', () => {
  beforeEach(async () => {
    await crawl(guideOf('1.0'), 'guide', '1.0')
    await crawl(guideOf('2.0'), 'guide', '2.0')
  })

  test('a question is answered once, from the newest version and in its own language, and the others are named', async () => {
    const english = await ask('how long does the client wait for the timeout of a request')
    expect(english.passages.map(({ version, url }) => nameOf(version, url))[0]).toBe('2.0 /en/timeout.html')
    expect(timeoutsOf(english)).toEqual(['2.0 /en/timeout.html'])
    expect(shownBy(english).filter((name) => !name.includes('/en/'))).toEqual([])
    const german = await ask('wie lange wartet der Client auf die Antwort')
    expect(timeoutsOf(german)).toEqual(['2.0 /de/timeout.html'])
    // All words of this query exist only in French.
    const french = await ask('délai requête serveur')
    expect(shownBy(french)[0]).toBe('2.0 /fr/timeout.html')
    // The query has no recognizable language, so the language of the source decides.
    const answer = await ask('requestTimeout')
    expect(timeoutsOf(answer)).toEqual(['2.0 /en/timeout.html'])
    expect(
      answer.passages[0]?.similar
        ?.map(({ version, url, language }) => `${nameOf(version, url)} ${language}`)
        .sort(compareUtf8),
    ).toEqual([
      '1.0 /de/timeout.html de',
      '1.0 /en/timeout.html en',
      '1.0 /fr/timeout.html fr',
      '2.0 /de/timeout.html de',
      '2.0 /fr/timeout.html fr',
    ])
    // The notice counts the pages that the answer names, and does not suggest a filter that is already set.
    const namedUrls = [...answer.passages, ...answer.more].flatMap(({ similar = [] }) => similar.map(({ url }) => url))
    const count = new Set(namedUrls).size
    expect(answer.notices.join('\n')).toMatch(
      new RegExp(`^${count} pages .* duplicates=show and language=any show all$`, 'm'),
    )
    const anyLanguage = await ask('requestTimeout', { language: 'any' })
    expect(anyLanguage.notices.join('\n')).toMatch(/place or version; duplicates=show shows all$/m)
    const limited = await ask('requestTimeout', { limit: 1 })
    expect(limited.notices.join('\n')).toMatch(/^5 pages are grouped/m)
  })

  test('filters by version and language show the other versions and languages', async () => {
    expect(timeoutsOf(await ask('requestTimeout', { version: '1.0' }))).toEqual(['1.0 /en/timeout.html'])
    expect(timeoutsOf(await ask('requestTimeout', { language: 'fr' }))).toEqual(['2.0 /fr/timeout.html'])
    expect(timeoutsOf(await ask('requestTimeout', { language: 'fr-FR' }))).toEqual(['2.0 /fr/timeout.html'])
    const french = await ask('requestTimeout', { language: 'french' })
    expect(french.notices).toContain('“french” is not a language tag such as de or pt-BR')
    expect(french.widen).toMatchObject([{ filter: 'language', instead: ['de', 'en', 'fr'] }])
    expect(timeoutsOf(await ask('requestTimeout', { language: 'any' }))).toEqual([
      '2.0 /de/timeout.html',
      '2.0 /en/timeout.html',
      '2.0 /fr/timeout.html',
    ])
    expect(timeoutsOf(await ask('requestTimeout', { duplicates: 'show' }))).toEqual([
      '1.0 /en/timeout.html',
      '2.0 /en/timeout.html',
    ])
    const all = await ask('requestTimeout', { duplicates: 'show', language: 'any' })
    expect([timeoutsOf(all).length, all.notices]).toEqual([6, []])
  })

  test('listDuplicates groups all versions and translations of a page', async () => {
    const { groups, groupCount, pageCount, compared, unknown } = await listDuplicates(library)
    const named = groups.map(({ count, pages }) => [count, pages.map(({ version, url }) => nameOf(version, url))])
    const six = (name: string) =>
      ['2.0', '1.0'].flatMap((version) => ['de', 'en', 'fr'].map((language) => `${version} /${language}/${name}.html`))
    expect(named).toEqual([
      [2, ['2.0 /', '1.0 /']],
      [6, six('retry')],
      [6, six('timeout')],
    ])
    expect([groupCount, pageCount, compared, unknown]).toEqual([3, 14, 14, 0])
    const some = await listDuplicates(library, { source: 'guide@1.0', offset: 1, limit: 1 })
    expect(some.groups.map(({ pages }) => pages.map(({ version, url }) => nameOf(version, url)))).toEqual([
      six('timeout').slice(3),
    ])
  })
})

describe('pages of one site', () => {
  const text = (ending: string) => `${TEXTS.en.timeout.text} ${ending}.`

  test('pages that repeat each other are shown once, and pages that contradict each other are not merged', async () => {
    const copy = text('all clients, and it can be changed while they run')
    await crawl(
      {
        '/': '<!doctype html><title>Start</title><main><a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a></main>',
        '/a': pageOf('en', 'The timeout', copy),
        '/b': pageOf('en', 'The timeout', `${copy} Yes`),
        '/c': pageOf('en', 'The timeout', copy.replace('can be changed', 'cannot be changed')),
      },
      'docs',
    )
    const answer = await ask('timeout of a request')
    const paths = [...answer.passages, ...answer.more].map(({ url }) => new URL(url).pathname)
    expect(paths).toContain('/c')
    expect(paths.filter((path) => path !== '/c')).toHaveLength(1)
    expect(answer.passages.flatMap(({ similar = [] }) => similar)).toHaveLength(1)
  })

  test('pages in another language are shown if no page in the language of the query answers equally well', async () => {
    await crawl(
      {
        '/': '<!doctype html><title>Start</title><main><a href="/en/timeout">a</a> <a href="/de/proxy">b</a> <a href="/de/log">c</a></main>',
        '/en/timeout': pageOf('en', 'The timeout', text('all')),
        '/de/proxy': pageOf('de', 'proxySettings', `${TEXTS.de.retry.text} proxySettings und proxyServer.`),
        // This page falsely declares English.
        '/de/log': pageOf(
          'en',
          'Журнал',
          'Журнал запросов клиента хранит время ожидания каждого запроса request, если это не отключено. '.repeat(3),
        ),
      },
      'docs',
    )
    const only = await ask('what does proxySettings do')
    expect(new URL(only.passages[0]?.url ?? '').pathname).toBe('/de/proxy')
    const both = await ask('how long does the request wait')
    const shown = [...both.passages, ...both.more].map(({ url }) => new URL(url).pathname)
    expect(shown).toEqual(['/en/timeout'])
    expect(both.notices.join()).toMatch(/in other languages than the question \(ru\) left out; language=any shows all/)
    expect((await ask('how long does the request wait', { language: 'any' })).notices).toEqual([])
  })

  test('are found if names in a query are words of another language, and hreflang links to front pages do not group them', async () => {
    const fronts = ['en', 'pl'].map((code) => `<link rel="alternate" hreflang="${code}" href="/${code}/">`).join('')
    const withFronts = (page: string) => page.replace('<title>', `${fronts}<title>`)
    const pages = {
      '/en/mock': pageOf(
        'en',
        'Timers',
        'How you mock the timers of a test: call jest mock timers before the test runs.',
      ),
      '/pl/mock': pageOf(
        'pl',
        'Zegary',
        'Jak można zastąpić zegary: jest mock timers, oraz jest clock, które są przez jest.',
      ),
      '/en/license': pageOf(
        'en',
        'License',
        'You have the MIT license, which you should read before you copy the code.',
      ),
      '/pl/other': pageOf(
        'pl',
        'Inne',
        'MIT license oraz inne, które można czytać, jeśli się jest przy tym. MIT license.',
      ),
      '/en/proxy': pageOf(
        'en',
        'Proxy',
        'The client asks a proxy. Set `proxyBypass`: what proxyBypass names goes past it.',
      ),
      '/pl/proxy': pageOf(
        'pl',
        'Proxy',
        'Jak działa proxy, które można ustawić: klient pyta proxy, oraz czeka przy tym.',
      ),
    }
    const links = Object.keys(pages).map((path) => `<a href="${path}">page</a>`)
    const entries = Object.entries(pages).map(([path, page]) => [path, withFronts(page)] as const)
    await crawl(
      { '/': `<!doctype html><title>Start</title><main>${links.join(' ')}</main>`, ...Object.fromEntries(entries) },
      'docs',
    )
    const paths = async (query: string) => shownBy(await ask(query)).map((name) => name.replace('null ', ''))
    expect(await paths('jest mock timers')).toContain('/en/mock')
    expect(await paths('MIT license')).toEqual(expect.arrayContaining(['/en/license', '/pl/other']))
    expect(await paths('timers license')).toEqual(expect.arrayContaining(['/en/mock', '/en/license']))
    // The translation does not mention the term.
    expect(await paths('jak działa proxyBypass')).toContain('/en/proxy')
  })

  test('the newer version is shown even if it ranks behind many other hits', async () => {
    const words = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')
    const steps = words('step', 80)
    const sections = Array.from(
      { length: 60 },
      (_, i) => `<h2>Part ${i}</h2><p>beam lamp beam lamp ${words(`p${i}x`, 80)}</p>`,
    )
    await crawl({ '/': pageOf('en', 'Lamps', `beam lamp beam lamp ${steps}`) }, 'guide', '1.0')
    await crawl({ '/': pageOf('en', 'Lamps', `beam lamp ${steps} ${words('more', 20)}`) }, 'guide', '2.0')
    await crawl({ '/': pageOf('en', 'Many', sections.join('')) }, 'other')
    const answer = await ask('beam lamp', { version: '*' })
    expect(shownBy(answer).filter((name) => !name.startsWith('null'))).toEqual(['2.0 /'])
    expect(answer.notices.join()).toMatch('1 page is grouped with a page that has the same content')
  })

  test('an answer with pages indexed by an older Pharos, which did not compare pages, has a notice', async () => {
    await crawl(
      {
        '/': `<main><a href="/a">a</a> <a href="/b">b</a></main>`,
        '/a': pageOf('en', 'A', text('all')),
        '/b': pageOf('en', 'A', text('some')),
      },
      'docs',
    )
    const readPageSignatures = async (places: readonly unknown[]) => places.map(() => undefined)
    const older = { ...library, store: { ...library.store, readPageSignatures } }
    const { notices } = await searchLibrary(older, { query: 'timeout of a request' })
    expect(notices.join()).toMatch(/2 pages indexed by an older Pharos are not compared yet: .* pharos duplicates/)
    expect((await ask('timeout of a request')).notices.join()).not.toMatch('older')
  })
})

test('a page in two versions of a folder is shown once, and code has no language', async () => {
  const files = (version: string) => ({
    'guide/timeout.md': `# The timeout\n\n${TEXTS.en.timeout.text} lighthouse ${version}.\n`,
    'lib/pause.css': '/* You should know what the pause is, and why you have to set it. */ .a { margin: 1em }\n'.repeat(
      3,
    ),
  })
  const languages: unknown[] = []
  for (const version of ['1.0', '2.0']) {
    const folder = join(createTempFolder(), `docs-${version}`)
    writeFiles(folder, files(version))
    const url = pathToFileURL(folder).href
    const source = await addSource(library, { url, name: 'docs', version, isOwnFolder: true })
    await runCrawl(library, source, { kind: 'add' }, '')
    for await (const { key, language } of library.store.listPageSignatures(source.id)) languages.push([key, language])
  }
  expect(languages.slice(2)).toEqual([
    ['guide/timeout.md', 'en'],
    ['lib/pause.css', null],
  ])
  const { passages, more } = await ask('timeout of a request')
  expect([passages.map(({ version }) => version), more]).toEqual([['2.0'], []])
  expect(passages[0]?.similar?.map(({ version }) => version)).toEqual(['1.0'])
})

test('a short text that two sources share is shown once', async () => {
  for (const name of ['one', 'two']) {
    const folder = join(createTempFolder(), name)
    writeFiles(folder, { 'docs/a.md': '# Lantern\n\nThe lantern glows.\n' })
    const source = await addSource(library, { url: pathToFileURL(folder).href, name, isOwnFolder: true })
    await runCrawl(library, source, { kind: 'add' }, '')
  }
  const { passages, more } = await ask('lantern glows')
  expect([passages.length, more.length, passages[0]?.similar?.length]).toEqual([1, 0, 1])
})
