import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SimulatedNetwork } from './network.ts'
import { createRandom } from './random.ts'
import { SHORT_HEADING, writeShort } from './report.ts'
import { SHORT } from './scenarios.ts'
import { type Outcome, simulate } from './simulate.ts'
import { SimulatedTime } from './time.ts'
import { createWorld } from './world.ts'

const document = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8')

// Some seconds of a processor that has nothing else to do.
const MOST_MS = 300_000

test('workers that die, stand still or lose their database break no rule, and docs/scale.md says what came of it', {
  timeout: MOST_MS,
}, async () => {
  const outcomes: Outcome[] = []
  for (const scenario of SHORT) outcomes.push(await simulate(scenario))
  expect(outcomes.flatMap(({ problems }) => problems)).toEqual([])
  // Hosts did change hands because their workers were gone, and answers that came too late were refused.
  for (const { recovered, lost } of outcomes) expect([recovered.freeze > 0, lost > 0]).toEqual([true, true])
  const short = document.slice(document.indexOf(SHORT_HEADING))
  expect(short.slice(short.indexOf('|'))).toBe(writeShort(outcomes))
})

test('a host of the simulation sees who asks too early', async () => {
  const time = new SimulatedTime()
  const world = createWorld({ hosts: 1, sources: 1, backlog: 10, spanMs: 1 }, 1)
  const network = new SimulatedNetwork(time, world, createRandom(1))
  const { fetch } = network.open((answer) => answer())
  const askAt = (moment: number) => time.at(moment, () => void fetch({ url: 'https://h0.example/1' }))
  askAt(1000)
  askAt(1200)
  askAt(1399)
  await time.run(2000, () => false)
  expect(network.seen.breaches).toEqual([{ host: 'h0.example', at: 1399, kind: 'pause', gapMs: 199, leastMs: 200 }])
})
