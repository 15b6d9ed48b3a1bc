// Number of requests needed to find the hubs of a news site: following links, with sitemaps, and with the planner.
//
//   npm run bench plan [--articles 4] [--concurrency 8]
//
// The two sites are larger versions of those in test/plan: a newspaper with a hub for all countries except twelve, and one with other
// address patterns and forty hubs, which names five that do not exist. Requests are counted in the log of the site. Following links level
// by level from the start is what plain crawlers such as Scrapy do.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addSource } from '../dist/library/operations/add-source.js'
import { crawlSource } from '../dist/library/operations/crawl-source.js'
import { openLibrary } from '../dist/open-library.js'
import { countriesGazetteer } from '../test/gazetteer/world.ts'
import { listCountries } from '../test/plan/list-countries.ts'
import { openNewsSite } from '../test/plan/news-site.ts'
import { createContinental, createMeridian } from '../test/plan/sites.ts'
import { cpuSeconds, option, printTable } from './measure.mjs'

const TYPES = ['basic', 'basic-with-sitemap', 'intelligent']
/** Numbers of requests at which the found hubs are counted. */
const MARKS = [50, 100, 200, 300, 500, 1000]
const articles = Number(option('articles') ?? 4)
const concurrency = Number(option('concurrency') ?? 8)
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const world = await countriesGazetteer()
const rows = []
const targets = []
try {
  const countries = await listCountries(world)
  const size = { articlesPerHub: [articles, 2 * articles], articlesPerSection: 20 * articles }
  await measureSite('all countries but 12', createMeridian(countries, 12, size))
  await measureSite('40 countries', createContinental(countries, size))
  printTable(['', 'pages', 'hubs', ...MARKS.map((mark) => `@${mark}`), 'all after', 'missing', 'CPU s'], rows)
  console.log()
  printTable(['target', 'wanted', 'measured', 'met'], targets)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Crawls a site in each way, each in its own library. */
async function measureSite(label, made) {
  const needed = {}
  for (const crawlType of TYPES) {
    const site = await openNewsSite(made)
    const library = await openWorld(rows.length)
    try {
      const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType } })
      const since = process.cpuUsage()
      let missing = 0
      for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) {
        if (event.type === 'problem' && event.kind === 'missing-hub') missing++
      }
      const hubs = site.order(made.truth.hubs.values())
      needed[crawlType] = site.requestsUntil(made.truth.hubs.values())
      const marks = MARKS.map((mark) => hubs.filter(({ after }) => after <= mark).length)
      const pages = Object.keys(made.pages).length
      rows.push([
        `${label}, ${crawlType}`,
        pages,
        hubs.length,
        ...marks,
        needed[crawlType],
        missing,
        cpuSeconds(since).toFixed(1),
      ])
    } finally {
      await library.close()
      await site.close()
    }
  }
  const share = needed.intelligent / needed.basic
  targets.push([
    `${label}: requests for all hubs ÷ those by links`,
    '≤ 0.5',
    share.toFixed(2),
    share <= 0.5 ? 'yes' : 'no',
  ])
}

async function openWorld(i) {
  const path = join(folder, `${i}.db`)
  copyFileSync(world, path)
  return openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: { concurrency } })
}
