// Megabytes of HTML per CPU second, from the text of a page to its Markdown, compared with other libraries.
//
//   npm run bench extract -- [--pages folder,folder] [--share 0.1]
//
// The pages come from two documentation sites packaged by Debian (python3.11-doc, postgresql-doc-15). Every contender reads all pages
// except defuddle, which would take many minutes. It reads an evenly spread share (`--share`), and pharos is measured on that share too.
// turndown converts a whole page without finding its content; defuddle and pharos do both. Contenders take turns, forty pages each, so
// that a temporarily slow machine affects all of them. Before that, each reads the same sixteenth of the pages to warm up.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Defuddle } from 'defuddle/node'
import { parseDocument } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { extractPage } from '../dist/index.js'
import { nodeSha256 } from '../dist/node.js'
import { cpuSeconds, option, printTable } from './measure.mjs'

const folders = (option('pages') ?? '/usr/share/doc/python3.11/html,/usr/share/doc/postgresql-doc-15/html').split(',')
const share = Number(option('share') ?? 0.05)
const pages = folders.flatMap(readPages)
const step = Math.round(1 / share)
const sample = pages.filter((_, i) => i % step === step >> 1)
const pageSizes = [50_000, 100_000, 200_000, 400_000]
const paragraph = '<p>A paragraph that says something, as the content of a page does.</p>'
const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' })

const pharos = ({ html, url }) => extractPage({ url, body: html }, { sha256: nodeSha256 })
const rounds = [
  {
    list: pages,
    contenders: {
      'pharos: page, sections, links, hash': pharos,
      'htmlparser2: tree alone': ({ html }) => parseDocument(html),
      'turndown: whole page': ({ html }) => turndown.turndown(html),
    },
  },
  {
    list: sample,
    contenders: {
      'pharos: page, sections, links, hash': pharos,
      'defuddle: content as Markdown': ({ html, url }) => Defuddle(parseHTML(html).document, url, { markdown: true }),
    },
  },
]

const size = (list) => list.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0) / 1e6
for (const { list, contenders } of rounds) {
  console.log(`${list.length} pages, ${size(list).toFixed(1)} MB`)
  const rates = await measure(Object.values(contenders), list)
  const rows = Object.keys(contenders).map((name, i) => [name, rates[i].toFixed(2), (rates[0] / rates[i]).toFixed(1)])
  printTable(['', 'MB a CPU s', 'ours ÷ this'], rows)
}

console.log('\nCPU seconds as a page grows')
const shapes = {
  'nested elements': (n) => '<div>'.repeat(n) + paragraph + '</div>'.repeat(n),
  'rows of a table': (n) => `<table>${'<tr><td>cell one</td><td>cell two</td></tr>'.repeat(n)}</table>${paragraph}`,
  'links in a list': (n) => `<ul>${'<li><a href="/page">a link to a page</a></li>'.repeat(n)}</ul>${paragraph}`,
}
printTable(
  ['', ...pageSizes.map((n) => `n ${n.toLocaleString('en')}`)],
  Object.entries(shapes).map(([name, shape]) => [name, ...pageSizes.map((n) => measureShape(shape(n)).toFixed(2))]),
)

function measureShape(html) {
  const start = process.cpuUsage()
  extractPage({ url: 'https://docs.example/', body: html }, { sha256: nodeSha256 })
  return cpuSeconds(start)
}

async function measure(contenders, list) {
  for (const work of contenders) for (const page of list.filter((_, i) => i % 16 === 8)) await work(page)
  const seconds = contenders.map(() => 0)
  for (let from = 0; from < list.length; from += 40) {
    for (const [i, work] of contenders.entries()) {
      const start = process.cpuUsage()
      for (const page of list.slice(from, from + 40)) await work(page)
      seconds[i] += cpuSeconds(start)
    }
  }
  return seconds.map((cpu) => size(list) / cpu)
}

function readPages(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .sort()
    .map((name) => ({ url: `https://docs.example/${name}`, html: readFileSync(join(folder, name), 'utf8') }))
}
