import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { Rendering } from '../../src/crawl/ports.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { statesOf } from './crawl.ts'
import { createFileFixture, expectUntouched, type FileFixture } from './file-fixture.ts'
import { type AnswerParts, text } from './site.ts'

/** The HTML that the server of an application sends for every page. */
const SHELL =
  '<!doctype html><html lang="en"><title>Birds</title><div id="root"></div><script type="module" src="/app.js"></script></html>'

/** The script of the application. It draws a page from its data, and follows links without loading another document. */
const APP = `
const root = document.getElementById('root')
async function show(path) {
  const answer = await fetch('/data' + (path === '/' ? '/home' : path) + '.json')
  const { title, text, links, moved } = await answer.json()
  if (moved) return go(moved, 'replaceState')
  document.title = title
  root.innerHTML = '<nav id="nav"></nav><main><h1></h1><p></p></main>'
  root.querySelector('h1').textContent = title
  root.querySelector('p').textContent = text
  for (const href of links) {
    const link = document.createElement('a')
    link.href = href
    link.textContent = 'Read about ' + href
    link.onclick = (event) => { event.preventDefault(); go(href, 'pushState') }
    root.querySelector('#nav').append(link, ' ')
  }
}
function go(path, how) {
  history[how](null, '', path)
  return show(path)
}
addEventListener('popstate', () => show(location.pathname))
show(location.pathname)
`

const BIRDS: Readonly<Record<string, { readonly text: string; readonly links: readonly string[] }>> = {
  home: { text: 'All birds that anybody has seen here.', links: ['/birds/heron', '/birds/plover', '/old'] },
  'birds/heron': { text: 'A heron stands in the water and waits for fish.', links: ['/', '/birds/dunlin'] },
  'birds/plover': { text: 'A plover runs along the shore and stops at once.', links: ['/'] },
  'birds/dunlin': { text: 'A dunlin is small and never alone.', links: ['/', '/birds/avocet'] },
  'birds/avocet': { text: 'An avocet has a bill that is bent upwards.', links: [] },
}

const PATHS = ['/', '/birds/avocet', '/birds/dunlin', '/birds/heron', '/birds/plover']

function dataOf(name: string, { text: body, links } = BIRDS[name] ?? { text: '', links: [] }): AnswerParts {
  return text(JSON.stringify({ title: `About ${name}`, text: body, links }), 'application/json')
}

/** An application: one document for all paths, a script, and data for each page. */
function stageApp(render: Rendering): Promise<FileFixture> {
  const data = Object.keys(BIRDS).map((name) => [`/data/${name}.json`, dataOf(name)] as const)
  return createFileFixture(
    {
      ...Object.fromEntries(data),
      '/app.js': text(APP, 'text/javascript'),
      '/data/old.json': text(JSON.stringify({ moved: '/birds/plover' }), 'application/json'),
    },
    { settings: { render }, siteOptions: { fallback: SHELL } },
  )
}

describe('an application', () => {
  test('is indexed completely with auto, is unchanged in a recrawl, and changes of its data are found', async () => {
    const { site, library, source, crawl, readContent, search } = await stageApp('auto')
    const first = await crawl()
    const expected = Object.fromEntries(PATHS.map((path) => [path, 'indexed']))
    expect(statesOf(first)).toEqual({ ...expected, '/old': 'skipped redirect' })
    expect(first.summary).toMatchObject({ end: 'completed', indexed: PATHS.length, failed: 0 })
    expect(await search('bill bent upwards')).toEqual(['/birds/avocet'])
    const before = await readContent()
    expect(before.pages.get('/birds/heron')?.markdown).toBe(
      '# About birds/heron\n\nA heron stands in the water and waits for fish.\n',
    )
    // One request per page, because the browser gets the fetched document.
    const documents = site.requests.filter(({ path }) => PATHS.includes(path))
    expect(documents.map(({ path }) => path).toSorted(compareUtf8)).toEqual(PATHS)

    site.clearRequests()
    const second = await crawl({ kind: 'recrawl' })
    expect(second.summary).toMatchObject({ end: 'completed', indexed: 0, unchanged: PATHS.length, removed: 0 })
    const after = await readContent()
    expectUntouched(before, after, [])
    expect([...after.pages]).toEqual([...before.pages])
    const again = site.requests.filter(({ path }) => PATHS.includes(path))
    expect(again.map(({ status, headers }) => [status, headers['if-none-match']])).toEqual(
      PATHS.map(() => [200, undefined]),
    )

    const dunlin = { text: 'A dunlin is seen in flocks of thousands.', links: ['/', '/birds/avocet'] }
    site.pages.set('/data/birds/dunlin.json', dataOf('birds/dunlin', dunlin))
    const third = await crawl({ kind: 'refresh' })
    expect(statesOf(third)).toMatchObject({ '/birds/dunlin': 'indexed', '/birds/heron': 'unchanged' })
    expect(await search('flocks of thousands')).toEqual(['/birds/dunlin'])

    const explanation = await explainUrl(library, source, '/birds/dunlin')
    expect(explanation.row).toMatchObject({ isShell: true, etag: null })
    expect(writeExplanation(explanation, source, (...words) => words.join(' '), Date.now())).toContain(
      'read in a browser',
    )
    const { signal } = new AbortController()
    const page = await fetchUrl(library, `${site.origin}/old`, { render: 'auto', signal })
    expect(page).toMatchObject({ title: 'About birds/plover', url: `${site.origin}/birds/plover` })
  })

  test('cannot be indexed with http, because its documents are empty', async () => {
    const { crawl } = await stageApp('http')
    const { rows, summary } = await crawl()
    expect(rows.get('/')).toMatchObject({ state: 'failed', reason: 'needs-rendering', isShell: false })
    expect(summary).toMatchObject({ end: 'failed', uselessReason: 'needs-rendering' })
  })
})
