// Simulates many workers on one library, and writes docs/scale.md.
//
//   node_modules/.bin/node bench/scale.mjs [--write] [--results file.json]
//
// Without --write the report is printed. Simulation results are stored in the file of --results, and read from there if it exists, so that
// the text of the report can be changed without a new simulation. Exits with code 1 if a rule is broken: a host got a request too early, or
// an address is lost or duplicated.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeReport } from '../test/scale/report.ts'
import { LARGE, ONE_DATABASE, ONE_SOURCE, SCARCE, SHORT, WHOLE } from '../test/scale/scenarios.ts'
import { simulate } from '../test/scale/simulate.ts'
import { cpuSeconds, option } from './measure.mjs'

/** Pending events live long enough to be copied repeatedly in a small young generation, so it is larger here. */
const FLAGS = ['--max-semi-space-size=256', '--max-old-space-size=8192']

if (process.execArgv.includes(FLAGS[0])) {
  await run()
} else {
  const { status } = spawnSync(process.execPath, [...FLAGS, ...process.argv.slice(1)], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

async function run() {
  const results = await readResults()
  const report = writeReport(results)
  if (process.argv.includes('--write')) {
    writeFileSync(fileURLToPath(new URL('../docs/scale.md', import.meta.url)), report)
  } else console.log(report)
  const problems = Object.values(results)
    .flat()
    .flatMap((outcome) => outcome.problems)
  for (const problem of problems) console.error(`scale: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

async function readResults() {
  const file = option('results')
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const results = {
    short: await simulateAll('short form', SHORT),
    whole: (await simulateAll('whole engine', [WHOLE]))[0],
    scarce: (await simulateAll('few hosts', [SCARCE]))[0],
    oneSource: await simulateAll('one source', ONE_SOURCE),
    oneDatabase: await simulateAll('one database', ONE_DATABASE),
    large: (await simulateAll('ten million visits', [LARGE]))[0],
  }
  if (file !== undefined) writeFileSync(file, JSON.stringify(results))
  return results
}

async function simulateAll(name, scenarios) {
  const outcomes = []
  for (const scenario of scenarios) {
    const since = process.cpuUsage()
    const outcome = await simulate(scenario)
    outcomes.push(outcome)
    console.error(`${name}: ${outcome.visits} visits, ${cpuSeconds(since).toFixed(0)} CPU seconds`)
  }
  return outcomes
}
