import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { FetchOutcome } from '../../src/crawl/ports.ts'
import { COSTS } from './costs.ts'
import { SimulatedDatabase } from './database.ts'
import { SimulatedNetwork } from './network.ts'
import { createRandom } from './random.ts'
import { SHORT_HEADING, writeShort } from './report.ts'
import { SHORT } from './scenarios.ts'
import { type Outcome, simulate } from './simulate.ts'
import { SimulatedTime } from './time.ts'
import { createWorld } from './world.ts'

const document = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8')

// An idle processor takes some seconds; the timeout is for a busy one.
const TIMEOUT_MS = 300_000

test('workers that die, freeze or lose their database break no rule, and docs/scale.md has the results', {
  timeout: TIMEOUT_MS,
}, async () => {
  const outcomes: Outcome[] = []
  for (const scenario of SHORT) outcomes.push(await simulate(scenario))
  expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
  // Hosts were taken over from frozen workers, and late results were refused.
  for (const { recovered, lost } of outcomes) expect([recovered.freeze > 0, lost > 0]).toEqual([true, true])
  const short = document.slice(document.indexOf(SHORT_HEADING))
  expect(short.slice(short.indexOf('|'))).toBe(writeShort(outcomes))
})

test('a simulated host notices early requests, also after its interval has grown', async () => {
  const time = new SimulatedTime()
  const world = createWorld({ hosts: 2, sources: 1, backlog: 10, spanMs: 1 }, 1)
  const network = new SimulatedNetwork(time, world, createRandom(1))
  const { fetch } = network.open((answer) => answer())
  const requestAt = (moment: number, host: string) => time.at(moment, () => void fetch({ url: `https://${host}/1` }))
  const [, slow] = world.hosts
  if (slow === undefined) throw new TypeError('the world has fewer than two hosts')
  for (const host of world.hosts) requestAt(1, host.name)
  await time.run(999, () => false)
  // The connections are open, so requests are sent immediately.
  for (const moment of [1000, 1200, 1399]) requestAt(moment, 'h0.example')
  slow.clock = { ...slow.clock, intervalMs: 800 }
  for (const moment of [1000, 1799]) requestAt(moment, slow.name)
  await time.run(2000, () => false)
  expect(network.stats.breaches).toEqual([
    { host: 'h0.example', at: 1399, kind: 'pause', gapMs: 199, leastMs: 200 },
    { host: slow.name, at: 1799, kind: 'pause', gapMs: 799, leastMs: 800 },
  ])
})

test('a simulated request is not sent if its connection opens too late', async () => {
  const time = new SimulatedTime()
  const world = createWorld({ hosts: 1, sources: 1, backlog: 10, spanMs: 1 }, 1)
  const network = new SimulatedNetwork(time, world, createRandom(1))
  const { fetch } = network.open((answer) => answer())
  const outcomes: FetchOutcome[] = []
  time.at(1, () => void fetch({ url: 'https://h0.example/1', isInTime: () => false }).then((one) => outcomes.push(one)))
  await time.run(2000, () => false)
  expect(outcomes).toMatchObject([{ type: 'failed', reason: 'timeout' }])
  expect(network.stats).toMatchObject({ requests: 0, tooLate: 1 })
})

test('an operation of a simulated database uses no core while it waits for its source', async () => {
  const time = new SimulatedTime()
  const cost = { statements: 0, cpuMs: 10, isExclusive: true }
  const costs = { ...COSTS, settle: cost, readClock: { ...cost, isExclusive: false } }
  const database = new SimulatedDatabase(time, { costs, roundTripMs: 1, cores: 2 })
  const done: string[] = []
  const runOperation = (operation: 'settle' | 'readClock', name: string) =>
    database.run(operation, 'docs', () => done.push(`${name} at ${time.now}`))
  time.at(1, () => {
    runOperation('settle', 'first')
    runOperation('settle', 'second')
    runOperation('readClock', 'another')
  })
  await time.run(100, () => false)
  expect(done).toEqual(['first at 11', 'another at 11', 'second at 21'])
  expect([database.waitedForSourceMs, database.waitedForCoreMs]).toEqual([10, 0])
})
