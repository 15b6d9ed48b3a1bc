// Measures how many news pages `pharos analyze` processes per CPU second, with the places of the whole world.
//
//   npm run bench analyse [--pages 10000] [--data <folder with the gazetteer's packages>] [--keep <library>]
//
// The news is generated: 800 to 1,500 words per article with places in every other sentence, and about 75 links around it, as on news
// sites. The command runs in its own process, and its start and exit count too. A second run inside this process shows where the time
// goes. `--keep` names a library that is created once and reused.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { openLibrary } from '../dist/open-library.js'
import { analysePage } from '../dist/places/analysis/analyse-page.js'
import { importWorld } from '../dist/places/gazetteer/import-world.js'
import { analyseLibrary } from '../dist/places/runs/analyse-library.js'
import { storeNews } from '../test/analysis/stored-news.ts'
import { cpuSeconds, option, printTable } from './measure.mjs'

const pages = Number(option('pages') ?? 10_000)
const dataFolder = option('data')
const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const targetRate = 200

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
try {
  const filledPath = option('keep') ?? join(folder, 'filled.db')
  if (!existsSync(filledPath)) await fill(filledPath)
  const command = measureCommand(filledPath)
  const { parts, total } = await measureParts(filledPath)
  const { progress, cpu, rssMb } = command
  const places = (progress.places / progress.pages).toFixed(1)
  console.log(`${progress.pages} pages, ${places} mentions of places each, ${progress.hubs} hubs; ${rssMb} MB at most`)
  printTable(
    ['where the time goes', 'CPU s', 'share', 'ms a page'],
    parts.map(([name, seconds]) => [
      name,
      seconds.toFixed(1),
      `${Math.round((100 * seconds) / total)} %`,
      ((1000 * seconds) / progress.pages).toFixed(2),
    ]),
  )
  const rate = progress.pages / cpu
  printTable(
    ['target', 'wanted', 'measured', 'met'],
    [['pages per CPU second of the command', targetRate, rate.toFixed(0), rate >= targetRate ? 'yes' : 'NO']],
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function fill(path) {
  const library = await openLibrary({ path, version: '0' })
  await importWorld(library.gazetteer, {
    folder: join(tmpdir(), 'pharos-bench-gazetteer'),
    now: Date.now(),
    ...(dataFolder === undefined ? {} : { from: dataFolder }),
  })
  await storeNews(library.store, { articles: pages - 15, words: [800, 1500], links: 60 })
  await library.close()
}

/** Runs `pharos analyze` as a user does. */
function measureCommand(filledPath) {
  const path = join(folder, 'command.db')
  const usageFile = join(folder, 'usage.json')
  const measure = join(folder, 'measure.mjs')
  copyFileSync(filledPath, path)
  writeFileSync(
    measure,
    `import { writeFileSync } from 'node:fs'
     process.on('exit', () => writeFileSync(${JSON.stringify(usageFile)}, JSON.stringify(process.resourceUsage())))`,
  )
  const args = ['--import', pathToFileURL(measure).href, program, 'analyze', '--json', '--library', path]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`pharos analyze failed: ${stderr}`)
  const usage = JSON.parse(readFileSync(usageFile, 'utf8'))
  const cpu = (usage.userCPUTime + usage.systemCPUTime) / 1e6
  return { progress: JSON.parse(stdout), cpu, rssMb: Math.round(usage.maxRSS / 1024) }
}

/** Runs the same analysis inside this process and measures the CPU time of each part. */
async function measureParts(filledPath) {
  const path = join(folder, 'parts.db')
  copyFileSync(filledPath, path)
  const library = await openLibrary({ path, version: '0' })
  const secondsByPart = new Map()
  const timed =
    (name, work) =>
    (...args) => {
      const since = process.cpuUsage()
      const addTime = () => secondsByPart.set(name, (secondsByPart.get(name) ?? 0) + cpuSeconds(since))
      const result = work(...args)
      if (!(result instanceof Promise)) addTime()
      return result instanceof Promise ? result.finally(addTime) : result
    }
  const { analyses } = library
  const timedLibrary = {
    ...library,
    openPlaces: timed('opening the gazetteer', library.openPlaces),
    analyses: {
      ...analyses,
      countPending: timed('counting pages', analyses.countPending),
      listPending: timed('reading pages', analyses.listPending),
      write: timed('writing results', analyses.write),
      measureDomain: timed('hosts', analyses.measureDomain),
      listAchievements: timed('milestones', analyses.listAchievements),
    },
  }
  const since = process.cpuUsage()
  for await (const _ of analyseLibrary(timedLibrary, { analyse: timed('analysing pages', analysePage) }));
  const total = cpuSeconds(since)
  await library.close()
  const measured = [...secondsByPart.values()].reduce((sum, seconds) => sum + seconds, 0)
  return { total, parts: [...secondsByPart, ['everything else', Math.max(0, total - measured)]] }
}
