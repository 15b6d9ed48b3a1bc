import { expect, test } from 'vitest'
import { page } from '../site.ts'
import { type Answerer, crawlHostile, isLong, openRawServer, rowsOf, send } from './harness.ts'

/*
 * Text that causes catastrophic backtracking in careless patterns, in every place where text is matched: Markdown and its front matter,
 * pages and their attributes, response headers. Each page must be settled before the crawl times out, which quadratic time would prevent.
 */

const ALL_UNITS = [
  ' ',
  '\t',
  '<',
  '[',
  '](',
  '-',
  '- ',
  '#',
  ' #',
  '=',
  '`',
  '*_',
  '|',
  '"',
  "'",
  '\\',
  '/',
  '.',
  ';',
  ',',
  '&#',
  '1',
  'a-',
  '\u00a0',
  '漢',
]
/** The long form tries every text in every place, the short form every second combination. */
const isTried = (unit: number, place: number) => isLong || (unit + place) % 2 === 0
const UNITS = isLong ? ALL_UNITS : ALL_UNITS.filter((_, i) => i % 5 === 0)
const LENGTH = isLong ? 250_000 : 60_000

const MARKDOWN: Readonly<Record<string, (text: string) => string>> = {
  text: (text) => `# Title\n\nx${text}x\n`,
  heading: (text) => `# x${text}x\n\nText.\n`,
  item: (text) => `# Title\n\n- x${text}x\n`,
  cell: (text) => `# Title\n\n| a |\n|---|\n| x${text}x |\n`,
  fence: (text) => `# Title\n\n\`\`\`x${text}x\nText.\n\`\`\`\n`,
  link: (text) => `# Title\n\n[x${text}x](/a) [x](x${text}x)\n`,
  value: (text) => `---\ntitle: x${text}x\ndescription: "x${text}x\n---\n# Title\n\nText.\n`,
  name: (text) => `---\nx${text}x: y\n---\n# Title\n\nText.\n`,
}

const escaped = (text: string) => text.replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const HTML: Readonly<Record<string, (text: string) => string>> = {
  text: (text) => `<p>x${escaped(text)}x</p>`,
  raw: (text) => `<p>x${text}x</p>`,
  title: (text) => `<title>x${text}x</title><meta property="og:title" content="x${escaped(text)}x">`,
  heading: (text) => `<h2 id="x${escaped(text)}x">x${escaped(text)}x</h2>`,
  code: (text) => `<pre><code class="language-${escaped(text)}">x${escaped(text)}x</code></pre>`,
  attribute: (text) => `<p class="x${escaped(text)}x" style="x${escaped(text)}x" role="x${escaped(text)}x">Words.</p>`,
  link: (text) => `<a href="x${escaped(text)}x" rel="x${escaped(text)}x">x</a><base href="x${escaped(text)}x">`,
  image: (text) => `<img alt="x${escaped(text)}x" src="a.png" srcset="x${escaped(text)}x">`,
  refresh: (text) =>
    `<meta http-equiv=refresh content="5;${escaped(text)}x"><meta http-equiv=refresh content="5; url=${escaped(text)}">`,
  charset: (text) => `<meta http-equiv=content-type content="text/html;${escaped(text)}charset=${escaped(text)}x">`,
  robots: (text) => `<meta name=robots content="x${escaped(text)}x"><meta name=keywords content="x${escaped(text)}x">`,
  date: (text) => `<time datetime="2026${escaped(text)}x">x</time><meta name=date content="2026-01-${escaped(text)}x">`,
  generator: (text) => `<meta name=generator content="x${escaped(text)}x">`,
  data: (text) => `<script type="application/ld+json">{"@type":"Article","headline":"x${text}x</script>`,
  style: (text) => `<style>.x${text}x{display:none}</style>`,
  comment: (text) => `<!--x${text}x--><p>Words.</p>`,
}

/** Fields of the response header, which is not read beyond 64 kB. */
const FIELDS: Readonly<Record<string, string>> = {
  'content-type': 'text/html',
  link: '<a>; rel',
  'x-robots-tag': 'x',
  'last-modified': 'Mon, 01',
  etag: '"',
  'content-language': 'de',
  'set-cookie': 'a=b',
}

/** Texts to try in one crawl, which must stay within its limits. The long form tries each text alone. */
const GROUPS: readonly (readonly string[])[] = isLong ? UNITS.map((unit) => [unit]) : [UNITS]

test.each(GROUPS.map((units) => [units]))('text that makes patterns backtrack is read in time: %j', async (units) => {
  const answers: Record<string, Answerer> = {}
  for (const [i, unit] of units.entries()) {
    const text = unit.repeat(Math.ceil(LENGTH / unit.length))
    for (const [place, [name, write]] of Object.entries(MARKDOWN).entries()) {
      if (isTried(i, place)) answers[`/markdown/${name}/${i}`] = send(write(text), { 'content-type': 'text/markdown' })
    }
    for (const [place, [name, write]] of Object.entries(HTML).entries()) {
      if (!isTried(i, place)) continue
      const body = `<!doctype html><body>${write(text)}<p>Words enough that this is the content of a page, number ${i}.</p>`
      answers[`/html/${name}/${i}`] = send(body, { 'content-type': 'text/html' })
    }
    if (!/^[\t\x20-\x7e]+$/.test(unit)) continue
    for (const [place, [name, before]] of Object.entries(FIELDS).entries()) {
      if (!isTried(i, place)) continue
      const value = `${before};${unit.repeat(Math.ceil(50_000 / unit.length))}x`
      answers[`/field/${name}/${i}`] = send(page(`Field ${name} ${i}`), { 'content-type': 'text/html', [name]: value })
    }
  }
  const paths = Object.keys(answers)
  const server = await openRawServer()
  server.answers.set('/', send(page('Start', [...paths, '/good'])))
  server.answers.set('/good', send(page('Good')))
  for (const path of paths) server.answers.set(path, answers[path] ?? send(''))
  const run = await crawlHostile([{ url: `${server.origin}/` }])
  const rows = rowsOf(run, server)
  expect(rows['/good']).toBe('indexed')
  expect(run.sources.get(`${server.origin}/`)?.end).toBe('completed')
  expect(paths.filter((path) => !/^(?:indexed|skipped)/.test(rows[path] ?? ''))).toEqual([])
})
