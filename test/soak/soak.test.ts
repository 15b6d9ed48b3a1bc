import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { codeOf } from '../../src/core/errors.ts'
import { closeLater } from '../close-later.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { type FaultySite, type FaultySiteOptions, openFaultySite } from '../faults/faulty-site.ts'
import { fitLine } from '../faults/fit-line.ts'
import { createEmptyLibrary } from '../postgres/databases.ts'
import { Fleet } from '../postgres/fleet.ts'
import { DURABLE_SETTINGS, startPostgres } from '../postgres/server.ts'
import { expectSound } from '../sites/file-fixture.ts'
import { describeTally, MARGIN_MS, SOAK_MS } from './duration.ts'
import { ServedLibrary } from './served-library.ts'

/*
 * Three libraries are used for hours: crawled, searched, read, exported and embedded, on sites with faults. The server of the first is
 * never disturbed, so its memory shows every leak. That of the second is killed, and its disk fills up. The third is in PostgreSQL, with a
 * worker; worker, server and database are killed in turns.
 */

const MINUTE_MS = 60_000
const CHANGE_INTERVAL_MS = 20_000
/** Pauses between two strikes. */
const STRIKE_INTERVAL_MS = [20_000, 60_000] as const
const FULL_DISK_MS = 8000
const DISK_MB = 400
/** Share of the time in which caches fill and code is compiled. */
const WARM_UP_SHARE = 1 / 3
const MAX_SLOPE_MB_PER_HOUR = 1
/** The slope of less time says little: a run this long or longer must stay below the limit. */
const MIN_JUDGED_MS = 60 * MINUTE_MS
const LARGE_BYTES = 300_000
const MAX_TOLD_FAILURES = 10

type SitePlan = Omit<FaultySiteOptions, 'largeBytes'>
const STEADY_SITES: readonly SitePlan[] = [
  { address: '127.0.1.1', size: 60, faultRates: { error: 0.02 } },
  { address: '127.0.1.2', size: 40, faultRates: { slow: 0.05, reset: 0.01 } },
  { address: '127.0.1.3', size: 20, faultRates: { slow: 0.02 } },
]
const KILLED_SITES: readonly SitePlan[] = [
  { address: '127.0.1.4', size: 40, faultRates: { error: 0.02, slow: 0.05 } },
  { address: '127.0.1.5', size: 20, faultRates: { busy: 0.002, reset: 0.01 } },
]
const SHARED_SITES: readonly SitePlan[] = [
  { address: '127.0.1.6', size: 40, faultRates: { error: 0.02, slow: 0.05 } },
  { address: '127.0.1.7', size: 20, faultRates: { reset: 0.01 } },
]

test('a library can be used for hours', { timeout: SOAK_MS + MARGIN_MS }, async () => {
  const steady = await openSteady()
  const killed = await openKilled()
  const shared = await openShared()
  const all = [steady, killed, shared]
  const sites = all.flatMap(({ sites: own }) => own)
  const changeTimer = setInterval(() => {
    for (const site of sites) site.changePages()
  }, CHANGE_INTERVAL_MS)
  closeLater(() => clearInterval(changeTimer))
  const deadline = performance.now() + SOAK_MS
  const strikes = [killed, shared].map(({ strike }) => strikeUntil(deadline, strike))
  try {
    await Promise.all([...all.map(({ library }) => library.use(deadline)), ...strikes])
  } finally {
    clearInterval(changeTimer)
    for (const { library } of all) console.log(describeTally(library))
  }
  for (const site of sites) site.clearFaults()
  for (const { library } of all) await library.expectComplete()
  for (const { library } of all) await library.end()
  for (const { library } of all) console.log(...listUnexpected(library.log))
  for (const path of [steady.path, killed.path]) expectSound(path)
  expectSteadyMemory(steady.samples)
  for (const { library } of all) expect(library.tally.faults, library.name).toEqual([])
})

async function openSites(plans: readonly SitePlan[]): Promise<readonly FaultySite[]> {
  const sites = await Promise.all(plans.map((plan) => openFaultySite({ ...plan, largeBytes: LARGE_BYTES })))
  for (const site of sites) closeLater(() => site.close())
  return sites
}

function openSandbox(): ProgramSandbox {
  const sandbox = new ProgramSandbox(SOAK_MS + MARGIN_MS)
  closeLater(() => sandbox.remove())
  return sandbox
}

/** One library whose server is left alone. One of its sites is rendered in a browser. */
async function openSteady() {
  const sandbox = openSandbox()
  const sites = await openSites(STEADY_SITES)
  const samples = sandbox.path('samples.jsonl')
  const preload = join(import.meta.dirname, 'sample-memory.mjs')
  const environment = {
    PHAROS_EMBED: 'true',
    NODE_OPTIONS: `--expose-gc --import=${preload}`,
    SOAK_SAMPLES: samples,
  }
  const library = new ServedLibrary({
    name: 'steady',
    sandbox,
    flags: [],
    environment,
    sites,
    render: ['http', 'http', 'chromium'],
    isStruck: false,
  })
  await library.start()
  return { library, sites, samples, path: sandbox.path('library.db') }
}

/** One library whose server and crawls are killed, on a disk that fills up if this user may mount one. */
async function openKilled() {
  const sandbox = openSandbox()
  const sites = await openSites(KILLED_SITES)
  const disk = sandbox.path('disk')
  mkdirSync(disk)
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk]).status === 0
  if (isMounted) closeLater(() => void spawnSync('umount', ['-l', disk]))
  else console.log('no full disk: this user may not mount one')
  const path = join(disk, 'library.db')
  const library = new ServedLibrary({
    name: 'killed',
    sandbox,
    flags: ['--library', path],
    environment: { PHAROS_EMBED: 'true' },
    sites,
    render: [],
    isStruck: true,
  })
  await library.start()
  const ballast = join(disk, 'ballast')
  const fillDisk = async () => {
    fillUp(ballast)
    await sleep(FULL_DISK_MS)
    rmSync(ballast, { force: true })
  }
  const strikes = [
    () => library.killServer('server'),
    () => library.killCrawls(),
    ...(isMounted ? [fillDisk] : []),
    () => library.killServer('both'),
  ]
  return { library, sites, path, strike: takeTurns(strikes) }
}

/** One library in PostgreSQL, whose server, worker and database are killed. */
async function openShared() {
  const sandbox = openSandbox()
  const sites = await openSites(SHARED_SITES)
  const database = startPostgres(DURABLE_SETTINGS)
  closeLater(() => database.stop())
  await createEmptyLibrary(database.folder)
  const address = database.addressOf('pharos_empty')
  const environment = { PHAROS_EMBED: 'true' }
  const fleet = new Fleet(sandbox, ['--library', address, '--allow-private'], environment)
  const library = new ServedLibrary({
    name: 'shared',
    sandbox,
    flags: ['--library', address],
    environment,
    sites,
    render: [],
    isStruck: true,
  })
  await library.start()
  fleet.start()
  closeLater(() => fleet.close('SIGTERM'))
  const strikes = [
    () => library.killServer('both'),
    async () => {
      const [pid] = fleet.pids
      if (pid !== undefined) await fleet.kill(pid, 'both')
    },
    () => database.killAndStart(),
    () => library.killCrawls(),
  ]
  return { library, sites, strike: takeTurns(strikes) }
}

/** Writes a file until the disk is full. */
function fillUp(path: string): void {
  const zeros = Buffer.alloc(2 ** 16)
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, zeros)
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}

function takeTurns(strikes: readonly (() => void | Promise<void>)[]): () => Promise<void> {
  let turn = 0
  return async () => {
    await strikes[turn++ % strikes.length]?.()
  }
}

async function strikeUntil(deadline: number, strike: () => Promise<void>): Promise<void> {
  const [least, most] = STRIKE_INTERVAL_MS
  for (;;) {
    const pauseMs = least + Math.random() * (most - least)
    if (performance.now() + pauseMs > deadline) return
    await sleep(pauseMs)
    await strike()
  }
}

/** The unexpected failures in the log of a server, with their stacks. */
function listUnexpected(log: string): string[] {
  return [...log.matchAll(/^.*code=INTERNAL.*(?:\n\s+at .*)*/gm)].map(([text]) => text).slice(0, MAX_TOLD_FAILURES)
}

/** Tells how the memory of the undisturbed server grows, and expects less than the limit. */
function expectSteadyMemory(file: string): void {
  const samples = readFileSync(file, 'utf8').trim().split('\n')
  // Written by sample-memory.mjs.
  const read = samples.map((line) => JSON.parse(line) as { atMs: number; rssMb: number; heapMb: number })
  const warm = read.filter(({ atMs }) => atMs > SOAK_MS * WARM_UP_SHARE)
  const slopeOf = (name: 'rssMb' | 'heapMb') =>
    fitLine(warm.map((sample) => [sample.atMs / (60 * MINUTE_MS), sample[name]]))
  const [rss, heap] = [slopeOf('rssMb'), slopeOf('heapMb')]
  const tell = ({ slope, error }: { slope: number; error: number }) =>
    `${slope.toFixed(2)} ± ${error.toFixed(2)} MB an hour`
  const most = Math.max(...read.map(({ rssMb }) => rssMb)).toFixed(0)
  console.log(
    `memory of the undisturbed server: heap ${tell(heap)}, resident ${tell(rss)}, at most ${most} MB resident`,
  )
  if (SOAK_MS < MIN_JUDGED_MS) return
  // The runtime returns memory at random times, so twice the error of the slope is tolerated.
  for (const { slope, error } of [rss, heap]) expect(slope - 2 * error).toBeLessThan(MAX_SLOPE_MB_PER_HOUR)
}
