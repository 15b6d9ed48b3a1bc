import { COSTS } from './costs.ts'
import type { Cost, Operation } from './database.ts'
import { CORES, LARGE, ONE_DATABASE, ONE_SOURCE, SCARCE, SHORT } from './scenarios.ts'
import type { Outcome, Spread } from './simulate.ts'

/** What came of everything that is simulated. */
export interface Results {
  readonly large: Outcome
  readonly scarce: Outcome
  readonly whole: Outcome
  readonly oneSource: readonly Outcome[]
  readonly oneDatabase: readonly Outcome[]
  readonly short: readonly Outcome[]
}

/** The line above what a test writes anew. */
export const SHORT_HEADING = '## Short form'

/** Writes the report. */
export function writeReport(results: Results): string {
  return [
    INTRODUCTION,
    writeSummary(results),
    writeSimulated(results),
    writeThroughput(results.large),
    writePoliteness(results),
    writeFairness(results.large),
    writeRecovery(results),
    writeLoad(results.large),
    writeBottleneck(results),
    writeComparison(results),
    `${SHORT_HEADING}\n\nWhat \`test/scale/scale.test.ts\` simulates anew and compares, so that this page follows the program: where it differs, everything is to be simulated anew.\n\n${writeShort(results.short)}`,
  ].join('\n\n')
}

/** What a test writes anew: the small simulations, by the lean way and by the whole engine. */
export function writeShort(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome, i) => [SHORT[i]?.name ?? '', ...factsOf(outcome)])
  return `${table(['', ...FACTS], rows)}\n`
}

const INTRODUCTION = `# Scale

How Pharos behaves past what one machine can run: many workers on one library in PostgreSQL. **This page is generated**; \`node_modules/.bin/node bench/scale.mjs --write\` simulates everything anew, in five to fifteen minutes on one core, and writes the same bytes. It ends with exit code 1 where a rule is broken.`

function writeSummary(results: Results): string {
  const { large, oneSource, oneDatabase } = results
  const problems = Object.values(results)
    .flat()
    .flatMap((outcome: Outcome) => outcome.problems)
  return `- **Throughput**: ${count(rateOf(large))} visits a second by ${count(LARGE.workers)} workers, where databases keep up.
- **Politeness**: ${problems.length === 0 ? 'never broken, and no address lost or settled twice' : `broken, or addresses lost: ${problems.length} times`}.
- **Recovery**: what a worker leaves that dies or stands still is free after 30 s at most.
- **First to end**: one database, at ${count(Math.max(...oneDatabase.map(rateOf)))} visits a second with ${CORES} slow cores; one source, at ${count(Math.max(...oneSource.map(rateOf)))}.`
}

function writeSimulated({ large, scarce, whole, oneSource, oneDatabase }: Results): string {
  const { world, workers, visitsAtOnce, hostsAtOnce, workersAtOnce } = LARGE
  const others = [scarce, whole, ...oneSource, ...oneDatabase].reduce((sum, { visits }) => sum + visits, 0)
  return `## What is simulated

Time goes by the millisecond. Every visit is made for itself: leased, its turn awaited, asked, answered, learnt from, settled.

| | how | how many |
| --- | --- | --- |
| visits | one by one | ${count(large.visits)}, and ${count(others)} in smaller worlds |
| requests at hosts, and the pause before each | one by one | ${count(large.seen.requests)} |
| hosts: clock, lease, latency, robots.txt, troubles | one by one | ${count(world.hosts)} in ${count(world.sources)} sources |
| workers: leases, pace, slots, deaths | one by one | ${count(workers)}, with ${visitsAtOnce} visits and at most ${hostsAtOnce} hosts at once, no more than ${workersAtOnce} at one source |
| addresses that nobody took yet | **a count for each host** | ${count(world.backlog)} |
| pages, links, index, vectors | **not at all** | every answer says that nothing changed |
| PostgreSQL | **by what its operations take**, as measured; locks of sources are queues | statements and time of each below |

This is code of the program: clocks (\`crawl/host-clock.ts\`), who has a host (\`crawl/host-lease.ts\`), pace (\`crawl/pacer.ts\`, \`crawl/robots-rules.ts\`), order and slots (\`store/common/slots.ts\`). What only waits and passes on (\`crawl/frontier.ts\`, \`crawl/visit.ts\`) is written anew without promises, because it would take twice as long; the last section sets it beside the whole engine.

Of a hundred hosts, 8 ask for a pause of 1 to 10 s, 3 are away for 10 to 90 s, one of 200 for good, 2 answer 429 with \`Retry-After\` for a while, 2 take twelve times as long for a while, and 2 belong to two sources. Half of them answer within 250 ms. Hosts and sources are uneven: the largest source has ${count(large.largestSource)} hosts.`
}

function writeThroughput({ visits, spanMs, windows, seen, lost }: Outcome): string {
  const shown = windows.slice(0, Math.floor(spanMs / 10_000))
  return `## Throughput

${count(visits)} visits in ${seconds(spanMs)} s: **${count((visits / spanMs) * 1000)} visits a second**, ${((visits / spanMs) * (1000 / LARGE.workers)).toFixed(1)} of each worker. ${count(seen.failures + seen.refusals)} requests failed or were refused, and were made again later; ${count(lost)} answers came when the host had changed hands, and were not written.

${table(
  ['from s', 'visits/s', 'what happened'],
  shown.map((visitsOf, i) => [String(i * 10), count(visitsOf / 10), happened(i * 10_000)]),
)}`
}

function happened(from: number): string {
  const { mishaps, database } = LARGE
  const isIn = (at: number): boolean => at >= from && at < from + 10_000
  const told = mishaps
    .filter(({ at }) => isIn(at))
    .map(({ kind, workers }) =>
      kind === 'kill' ? `${workers} workers are killed` : `${workers} workers stand still for 45 s`,
    )
  const outage = database.outage !== undefined && isIn(database.outage.from) ? ['the database is away for 10 s'] : []
  return [...told, ...outage].join('; ')
}

function writePoliteness({ large, scarce, whole }: Results): string {
  const all = [large, scarce, whole]
  const { slack } = large.seen
  const names = ['less than 25', '25 to 50', '50 to 100', '100 to 200', 'more']
  const sum = slack.reduce((total, one) => total + one, 0)
  return `## Politeness

Every host looks at every request: whether the one before it is as long ago as it has to be, which is 200 ms or what robots.txt asks for; and whether it had asked to be left alone. **${all.reduce((total, { seen }) => total + seen.breachCount, 0)} of ${count(all.reduce((total, { seen }) => total + seen.requests, 0))} requests came too early**, workers that died, stood still past their lease and woke up included (the short form below has those with the whole engine and a slow database, so that many stand still with an answer on its way). The shortest pause was ${Math.min(...all.map(({ seen }) => seen.leastSlackMs))} ms longer than it had to be.

${table(
  ['longer than it had to be by, ms', 'of all pauses'],
  slack.map((of, i) => [names[i] ?? '', percent(of / sum)]),
)}

Most pauses are longer because a new host is met with one a second, and because a worker with ${LARGE.visitsAtOnce} visits at once has more hosts than it can ask that often.`
}

function writeFairness({ hostsAsked, sourcesBegun, perWorker, sourceWaitMs, sharedHosts }: Outcome): string {
  const { world } = LARGE
  return `## Fairness

Addresses are taken by depth and age, so that every host of a source gets on before any gets far. ${count(hostsAsked)} of ${count(world.hosts)} hosts were asked, and ${count(sourcesBegun)} of ${count(world.sources)} sources begun.

${table(
  ['', 'least', '5 %', 'median', '95 %', 'most'],
  [
    ['visits of a worker that was there all the time', ...spread(perWorker, count)],
    ['longest wait between two visits of a source, s', ...spread(sourceWaitMs, (ms) => (ms / 1000).toFixed(1))],
    ['share of the source with fewer visits, at hosts of two', ...spread(sharedHosts.smallerShare, percent)],
  ],
)}

${count(sharedHosts.count)} hosts belong to two sources that both had more to do there: two crawls take turns of five seconds at them. The share is small where one source was begun later. ${count(world.sources - sourcesBegun)} sources were not begun at all, because workers go where most hosts are free: at hosts that one of those shares it has none.`
}

function writeRecovery({ large, scarce }: Results): string {
  const row = (name: string, kind: 'kill' | 'freeze', outcome: Outcome) => [
    name,
    count(outcome.recovered[kind]),
    ...spread(outcome.recovery[kind], (ms) => (ms / 1000).toFixed(1)),
  ]
  return `## Recovery

How long it took until a host of a worker that was killed, or stood still, was another's, in seconds. A lease lasts 30 s from the last sign of life, which comes every ten; what was under way is visited again by whoever takes the host.

${table(
  ['', 'hosts', 'least', '5 %', 'median', '95 %', 'most'],
  [
    row('killed, many hosts', 'kill', large),
    row('stood still, many hosts', 'freeze', large),
    row('killed, few hosts for many workers', 'kill', scarce),
    row('stood still, few hosts for many workers', 'freeze', scarce),
  ],
)}

Where there are more hosts than workers can ask, a host that is free again waits for its place in the order; nothing else waits for it. Of the ${count(large.lost + scarce.lost)} answers that came too late none was written, and at the end every address was settled, failed, leased or pending, and in one of these only.`
}

function writeLoad(outcome: Outcome): string {
  const operations = Object.entries(COSTS) as [Operation, Cost][]
  const { visits, spanMs } = outcome
  const asked = (operation: Operation): number => outcome.operations[operation] ?? 0
  const rows = operations.map(([operation, { statements, cpuMs }]) => [
    `\`${operation}\``,
    (asked(operation) / visits).toFixed(3),
    String(statements),
    ((asked(operation) * statements) / visits).toFixed(2),
    ((asked(operation) * cpuMs) / visits).toFixed(2),
  ])
  const { statements, cpuMs } = loadOf(outcome)
  const rate = (visits / spanMs) * 1000
  return `## What it asks of the database

${table(['operation', 'of a visit', 'statements each', 'statements a visit', 'ms of a core a visit'], rows)}

Together **${statements.toFixed(1)} statements and ${cpuMs.toFixed(1)} ms of a core of the database a visit**, a page with 20 links each time. ${count(rate)} visits a second are ${count(rate * statements)} statements a second and ${count((rate * cpuMs) / 1000)} cores. Statements are counted on the wire (\`test/postgres/statement-counts.test.ts\`); the time was measured on two slow cores that were busy with other things too, so that it is an upper bound.`
}

function writeBottleneck({ oneSource, oneDatabase, large }: Results): string {
  const { cpuMs } = loadOf(large)
  const perCore = 1000 / cpuMs
  const most = Math.max(...oneDatabase.map(rateOf))
  const { statements, cpuMs: settleMs } = COSTS.settle
  const sourceMs = settleMs + statements * LARGE.database.roundTripMs
  return `## Where it ends first

**One database.** A core of it does ${count(perCore)} visits a second, whatever the number of workers:

${table(
  ['workers', 'visits/s', `cores busy of ${CORES}`, 'wait for a core, ms a visit'],
  oneDatabase.map((outcome, i) => [
    String(ONE_DATABASE[i]?.workers),
    count(rateOf(outcome)),
    ((loadOf(outcome).cpuMs * rateOf(outcome)) / 1000).toFixed(1),
    (outcome.waitedForCoreMs / outcome.visits).toFixed(1),
  ]),
)}

With ${CORES} cores like these it does not go beyond ${count(most)} visits a second; cores that are left wait behind the locks of sources. A page that is unchanged costs less than half of one with 20 links, so that refreshing goes further than crawling. Before that nothing has to be done; then, in this order:

1. **Several databases, sources shared out among them.** Nothing of a source refers to another but the clocks of hosts that two sources have in common: sources of one host belong into one database. Each database has its own server and workers. No code has to change; whoever searches them all asks each.
2. **Citus**, with \`ledger\`, \`links\`, \`pages\` and \`chunks\` distributed by \`source\`, and \`hosts\` by \`host\`: one address for all. A transaction that touches a source and its hosts then spans two nodes, which is why it comes second.
3. **PgBouncer** before each, as soon as processes have more connections than a database bears (${count(LARGE.workers)} processes with up to eight each are ${count(LARGE.workers * 8)}).

**One source.** What writes to the ledger of a source has it for itself, ${sourceMs.toFixed(1)} ms for a settlement here, so that more workers at one source only wait:

${table(
  ['workers at one source', 'visits/s', 'wait for the source, ms a visit'],
  oneSource.map((outcome, i) => [
    String(ONE_SOURCE[i]?.workers),
    count(rateOf(outcome)),
    (outcome.waitedForSourceMs / outcome.visits).toFixed(1),
  ]),
)}

A source that is larger than that is cut by host: a source for each group of hosts, or, if that is ever not enough, the lock taken by host instead of by source, with \`ledger\` partitioned by host. A single host is never faster than politeness allows, whatever is done.

**Beside the ledger.** Vectors: from some ten million on, Qdrant with shards (a collection is shared out by its own hash; \`shard_number\` when it is made) instead of pgvector. Contents: ${count(LARGE.world.backlog)} pages of 10 kB are ${count((LARGE.world.backlog * 10) / 1e9)} TB, which belong into object storage by their hash, with the database keeping hash and place. Both are swapped behind their ports (\`VectorIndex\`, \`Store\`); neither is the first to end.`
}

function writeComparison({ scarce, whole }: Results): string {
  return `## Beside the whole engine

The same world of ${count(SCARCE.world.hosts)} hosts and ${count(SCARCE.workers)} workers, once by the lean way and once by the engine of the program as it is (\`crawl/active-crawl.ts\`, \`frontier.ts\`, \`visit.ts\`), where every clock that is read or changed takes its time too. Both draw other random numbers, so that they do not agree to the visit.

${table(
  ['', ...FACTS],
  [
    ['lean', ...factsOf(scarce)],
    ['whole engine', ...factsOf(whole)],
  ],
)}`
}

const FACTS = [
  'visits',
  'visits/s',
  'too early',
  'least slack ms',
  'hosts asked',
  'changes of hands',
  'answers too late',
  'leases a visit',
  'problems',
]

function factsOf(outcome: Outcome): string[] {
  const { visits, seen, hostsAsked, changesOfHands, lost, operations, problems } = outcome
  return [
    count(visits),
    count(rateOf(outcome)),
    count(seen.breachCount),
    String(seen.leastSlackMs),
    count(hostsAsked),
    count(changesOfHands),
    count(lost),
    ((operations['lease'] ?? 0) / visits).toFixed(3),
    count(problems.length),
  ]
}

/** Statements and milliseconds of a core that a visit takes. */
function loadOf({ operations, visits }: Outcome): { readonly statements: number; readonly cpuMs: number } {
  let statements = 0
  let cpuMs = 0
  for (const [operation, cost] of Object.entries(COSTS)) {
    statements += ((operations[operation] ?? 0) * cost.statements) / visits
    cpuMs += ((operations[operation] ?? 0) * cost.cpuMs) / visits
  }
  return { statements, cpuMs }
}

function rateOf({ visits, spanMs }: Outcome): number {
  return (visits / spanMs) * 1000
}

function spread(of: Spread | null, write: (value: number) => string): string[] {
  if (of === null) return ['', '', '', '', '']
  return [of.least, of.p5, of.median, of.p95, of.most].map(write)
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = header.map((_, i) => (i === 0 ? '---' : '---:'))
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

/** `12345.6` → `12,346`; small numbers keep a digit. */
function count(value: number): string {
  if (value !== 0 && Math.abs(value) < 10 && !Number.isInteger(value)) return value.toFixed(1)
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function seconds(ms: number): string {
  return count(ms / 1000)
}
