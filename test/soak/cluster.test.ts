import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { closeLater } from '../close-later.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { type FaultySite, openFaultySite } from '../faults/faulty-site.ts'
import { createEmptyLibrary, execute } from '../postgres/databases.ts'
import { Fleet } from '../postgres/fleet.ts'
import { startPgBouncer } from '../postgres/pgbouncer.ts'
import { DURABLE_SETTINGS, startPostgres } from '../postgres/server.ts'
import { describeTally, MARGIN_MS, SOAK_MS } from './duration.ts'
import { ServedLibrary } from './served-library.ts'

/*
 * PostgreSQL as teams run it: two servers and four workers share a library behind PgBouncer in transaction mode. Each of them is restarted
 * once, as in an upgrade, while both servers crawl, search, export and remove sources of their own.
 */

const WORKERS = 4
const SERVERS = [
  { name: 'first', addresses: ['127.0.1.11', '127.0.1.12'] },
  { name: 'second', addresses: ['127.0.1.13', '127.0.1.14'] },
] as const
const SITE_SIZE = 40
const CRAWL_DELAY_MS = 500
/** How much earlier than allowed a request may arrive on a busy machine: the one before it may have waited for its connection. */
const TOLERANCE_MS = 300
const CHANGE_INTERVAL_MS = 20_000

test('two servers and four workers can be restarted one after the other', {
  timeout: SOAK_MS + MARGIN_MS,
}, async () => {
  const { fleet, libraries, sites } = await openCluster()
  const changeTimer = setInterval(() => {
    for (const site of sites) site.changePages()
  }, CHANGE_INTERVAL_MS)
  closeLater(() => clearInterval(changeTimer))
  const restarts = [
    ...libraries.map((library) => () => library.restart()),
    ...fleet.pids.map((pid) => () => fleet.restart(pid)),
  ]
  const deadline = performance.now() + SOAK_MS
  try {
    await Promise.all([...libraries.map((library) => library.use(deadline)), takeTurns(restarts)])
  } finally {
    clearInterval(changeTimer)
    for (const library of libraries) console.log(describeTally(library))
  }
  for (const site of sites) site.clearFaults()
  await Promise.all(libraries.map((library) => library.expectComplete()))
  for (const library of libraries) await library.end()
  for (const { name, tally } of libraries) {
    expect(tally.faults, name).toEqual([])
    // A restart ends no crawl.
    expect([...tally.ends.keys()], name).toEqual(['done'])
  }
  for (const site of sites) expectPolite(site)
})

async function openCluster() {
  const sandbox = new ProgramSandbox(SOAK_MS + MARGIN_MS)
  closeLater(() => sandbox.remove())
  const database = startPostgres([...DURABLE_SETTINGS, 'autovacuum=on'])
  closeLater(() => database.stop())
  await createEmptyLibrary(database.folder)
  await execute('ALTER DATABASE pharos_empty SET search_path TO pharos', 'postgres', database.folder)
  const address = await startPgBouncer('pharos_empty', 'transaction', undefined, database.folder)
  const environment = { PHAROS_EMBED: 'true' }
  const open = async ({ name, addresses }: (typeof SERVERS)[number]) => {
    const sites = await Promise.all(addresses.map(openSite))
    const flags = ['--workers', '0', '--library', address]
    const library = new ServedLibrary({ name, sandbox, flags, environment, sites, render: [], isStruck: true })
    await library.start()
    return { library, sites }
  }
  const opened = await Promise.all(SERVERS.map(open))
  const fleet = new Fleet(sandbox, ['--library', address, '--allow-private'], environment)
  for (let i = 0; i < WORKERS; i++) fleet.start()
  closeLater(() => fleet.close('SIGTERM'))
  return { fleet, libraries: opened.map(({ library }) => library), sites: opened.flatMap(({ sites }) => sites) }
}

async function openSite(address: string): Promise<FaultySite> {
  const faultRates = { error: 0.01, slow: 0.05 }
  const site = await openFaultySite({
    address,
    size: SITE_SIZE,
    largeBytes: 100_000,
    faultRates,
    crawlDelayMs: CRAWL_DELAY_MS,
  })
  closeLater(() => site.close())
  return site
}

/** Restarts one process after the other, spread over the whole time. */
async function takeTurns(restarts: readonly (() => Promise<void>)[]): Promise<void> {
  for (const restart of restarts) {
    await sleep(SOAK_MS / (restarts.length + 1))
    await restart()
  }
}

/** Expects that n consecutive requests always took at least n - 1 times the Crawl-delay. */
function expectPolite(site: FaultySite): void {
  const times = site.arrivalTimes()
  let latest = Number.NEGATIVE_INFINITY
  let earliest = Number.POSITIVE_INFINITY
  for (const [i, at] of times.entries()) {
    const moment = at - i * CRAWL_DELAY_MS
    earliest = Math.min(earliest, moment - latest)
    latest = Math.max(latest, moment)
  }
  console.log(`${site.origin}: ${times.length} requests, at most ${Math.max(0, -earliest)} ms earlier than allowed`)
  expect(-earliest, site.origin).toBeLessThan(TOLERANCE_MS)
}
