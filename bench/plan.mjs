// Number of requests needed to find all hubs of a news site: by following links, with sitemaps, and with the planner.
//
//   npm run bench plan [--articles 4] [--concurrency 8]
//
// The two sites are larger versions of those in test/plan: a newspaper with a hub for all countries except twelve, and one with other
// address patterns and forty hubs, which lists five more that do not exist. Requests are counted in the log of the site. Following links
// level by level from the start is what plain crawlers such as Scrapy do.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addSource } from '../dist/library/crawl/add-source.js'
import { crawlSource } from '../dist/library/crawl/crawl-source.js'
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
  const marks = MARKS.map((mark) => `@${mark}`)
  printTable(['', 'pages', 'hubs', ...marks, 'requests for all', 'reported missing', 'CPU s'], rows)
  console.log()
  printTable(['target', 'wanted', 'measured', 'met'], targets)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Crawls a site with each crawl type, each in its own library. */
async function measureSite(label, newsSite) {
  const requestsNeeded = {}
  for (const crawlType of TYPES) {
    const site = await openNewsSite(newsSite)
    const library = await openLibraryWithPlaces(rows.length)
    try {
      const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType } })
      const since = process.cpuUsage()
      let missing = 0
      for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) {
        if (event.type === 'problem' && event.kind === 'missing-hub') missing++
      }
      const hubs = site.order(newsSite.truth.hubs.values())
      requestsNeeded[crawlType] = site.requestsUntil(newsSite.truth.hubs.values())
      const marks = MARKS.map((mark) => hubs.filter(({ after }) => after <= mark).length)
      const pages = Object.keys(newsSite.pages).length
      rows.push([
        `${label}, ${crawlType}`,
        pages,
        hubs.length,
        ...marks,
        requestsNeeded[crawlType],
        missing,
        cpuSeconds(since).toFixed(1),
      ])
    } finally {
      await library.close()
      await site.close()
    }
  }
  const share = requestsNeeded.intelligent / requestsNeeded.basic
  targets.push([
    `${label}: requests for all hubs, intelligent ÷ basic`,
    '≤ 0.5',
    share.toFixed(2),
    share <= 0.5 ? 'yes' : 'no',
  ])
}

async function openLibraryWithPlaces(i) {
  const path = join(folder, `${i}.db`)
  copyFileSync(world, path)
  return openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: { concurrency } })
}
