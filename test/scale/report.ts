import { HEARTBEATS_PER_TIMEOUT } from '../../src/crawl/observe-crawl.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { COSTS, UNCHANGED_CPU_MS } from './costs.ts'
import type { Cost, Operation } from './database.ts'
import { CORES, LARGE, ONE_DATABASE, ONE_SOURCE, SCARCE, SHORT } from './scenarios.ts'
import type { Outcome, Spread } from './simulate.ts'

/** Results of all simulations. */
export interface Results {
  readonly large: Outcome
  readonly scarce: Outcome
  readonly whole: Outcome
  readonly oneSource: readonly Outcome[]
  readonly oneDatabase: readonly Outcome[]
  readonly short: readonly Outcome[]
}

/** The heading above the section that a test regenerates. */
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

/** Writes the section that a test regenerates: the small simulations, lean and with the whole engine. */
export function writeShort(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome, i) => [SHORT[i]?.name ?? '', ...factsOf(outcome)])
  return `${table(['', ...FACTS], rows)}\n`
}

const INTRODUCTION = `# Scale

How Pharos behaves past what one machine can run: many workers on one library in PostgreSQL. **This page is generated**; \`node_modules/.bin/node bench/scale.mjs --write\` simulates everything anew, in some twenty minutes on one core, and writes the same bytes. Figures are of the simulation unless it says that they were measured. It ends with exit code 1 where a rule is broken.`

function writeSummary(results: Results): string {
  const { large, scarce, oneSource, oneDatabase } = results
  const problems = Object.values(results)
    .flat()
    .flatMap((outcome: Outcome) => outcome.problems)
  return `- **Throughput**: ${count(rateOf(large))} visits a second by ${count(LARGE.workers)} workers, where databases keep up.
- **Politeness**: ${problems.length === 0 ? 'never broken, and no address lost or settled twice' : `broken, or addresses lost: ${problems.length} times`}.
- **Recovery**: hosts of a worker that was killed are another's after ${seconds(scarce.recovery.kill?.median ?? 0)} s in the middle and ${seconds(scarce.recovery.kill?.most ?? 0)} s at most, where there are few hosts for many workers; where there are many they wait for their place among all others, ${seconds(large.recovery.kill?.median ?? 0)} s in the middle.
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
| pages, links, index, vectors | **not at all** | every answer says that nothing changed, and is charged as a page with 20 links |

Not all of it is code of the program:

| | what runs |
| --- | --- |
| when a host may be asked | code of the program: \`crawl/host-clock.ts\`, \`pacer.ts\`, \`robots-rules.ts\` |
| who has a host, takes it, keeps it, wants it, gives it back | code of the program: \`crawl/host-lease.ts\`, \`store/postgres/host-holder.ts\`, what \`store/postgres/frontier.ts\` decides |
| which addresses come first, and their slots | code of the program: \`store/common/slots.ts\` |
| ledger: leasing, settling, putting back, counting | **its rules real, its statements written anew** (\`test/scale/shared-ledger.ts\`): that no address is lost or settled twice is shown of that file here, and of PostgreSQL itself by \`test/postgres/many-workers.test.ts\` |
| frontier and visits (\`crawl/frontier.ts\`, \`visit.ts\`) | **written anew, shorter** (\`test/scale/lean-crawl.ts\`) with the waits of the program, because they would take twice as long; ${count(whole.visits)} visits below and two of three short forms are made by the engine as it is |
| PostgreSQL | **by what its operations take**, as measured; its cores and the locks of sources are queues, an operation waits for its source and then for a core. Connections are not counted |
| who works where | **a rule of the simulation**: a worker goes where most hosts are free for each who is there, and leaves when it has had none for some seconds. The program has a queue of jobs, and lets workers without one take part in crawls that have most hosts free; which sources are begun, and how even work is, is therefore said of the simulation only |
| worlds, latencies, troubles, deaths | **made up**, below |

Of a hundred hosts, 8 ask for a pause of 1 to 10 s, 3 are away for 10 to 90 s, one of 200 for good, 2 answer 429 with \`Retry-After\` for a while, 2 take twelve times as long for a while, and 2 belong to two sources. Half of them answer within 250 ms; a connection that is not there takes another 0.4 of that, and may make a request too late for its slot. Hosts and sources are uneven: the largest source has ${count(large.largestSource)} hosts.`
}

function writeThroughput({ visits, spanMs, windows, seen, lost }: Outcome): string {
  const shown = windows.slice(0, Math.floor(spanMs / 10_000))
  return `## Throughput

${count(visits)} visits in ${seconds(spanMs)} s: **${count((visits / spanMs) * 1000)} visits a second**, ${((visits / spanMs) * (1000 / LARGE.workers)).toFixed(1)} of each worker. ${count(seen.failures + seen.refusals)} requests failed or were refused, and were made again later; ${count(lost)} answers came when the host had changed hands, and were not written.

${table(
  ['from s', 'visits/s', 'what happened'],
  shown.map((visitsOf, i) => [String(i * 10), count(visitsOf / 10), listMishaps(i * 10_000)]),
)}`
}

function listMishaps(from: number): string {
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

function writePoliteness({ large, scarce, whole, short }: Results): string {
  const all = [large, scarce, whole, ...short]
  const { slack } = large.seen
  const sumOf = (pick: (outcome: Outcome) => number): number => all.reduce((total, one) => total + pick(one), 0)
  const names = ['less than 25', '25 to 50', '50 to 100', '100 to 200', 'more']
  const sum = slack.reduce((total, one) => total + one, 0)
  return `## Politeness

Every host looks at every request: whether the one before it is as long ago as it has to be, which is 200 ms, what robots.txt asks for, or the pause that its clock has because it is new, slow or has failed, whichever is longest; and whether it had asked to be left alone. **${sumOf(({ seen }) => seen.breachCount)} of ${count(sumOf(({ seen }) => seen.requests))} requests came too early**, workers that died, stood still past their lease and woke up included (the short form has those with the whole engine and a slow database, so that many stand still with an answer on its way). ${count(sumOf(({ seen }) => seen.tooLate))} requests found their slot passed when they had a connection, and took another. The shortest pause was ${Math.floor(Math.min(...all.map(({ seen }) => seen.leastSlackMs)))} ms longer than it had to be.

How many requests are under way at a host at once is no rule of its own: it follows from pauses, which get longer where answers do. Of the hosts that were asked, half had ${large.underWay.median} at once at most, 95 of 100 had ${large.underWay.p95}, and none more than ${large.underWay.most}.

${table(
  ['longer than it had to be by, ms', 'of all pauses'],
  slack.map((of, i) => [names[i] ?? '', percent(of / sum)]),
)}

Where pauses are much longer, the worker was busy elsewhere: it has ${LARGE.hostsAtOnce} hosts and makes ${LARGE.visitsAtOnce} visits at once.`
}

function writeFairness({ hostsAsked, sourcesBegun, perWorker, sourceWaitMs, sharedHosts }: Outcome): string {
  const { world } = LARGE
  return `## Fairness

Who works where is the simulation's own; within a source, addresses are taken by depth and age, so that every host of a source gets on before any gets far. ${count(hostsAsked)} of ${count(world.hosts)} hosts were asked, and ${count(sourcesBegun)} of ${count(world.sources)} sources begun.

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
  const { aliveMs } = DEFAULT_CRAWL_LIMITS
  const row = (name: string, kind: 'kill' | 'freeze', outcome: Outcome) => [
    name,
    count(outcome.recovered[kind]),
    ...spread(outcome.recovery[kind], (ms) => (ms / 1000).toFixed(1)),
  ]
  return `## Recovery

How long it took until a host of a worker that was killed, or stood still, was another's, in seconds. A lease lasts ${seconds(aliveMs)} s from the last sign of life, which comes every ${seconds(aliveMs / HEARTBEATS_PER_TIMEOUT)}; what was under way is visited again by whoever takes the host.

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

Together **${statements.toFixed(1)} statements and ${cpuMs.toFixed(1)} ms of a core of the database a visit**, a page with 20 links each time. ${count(rate)} visits a second are ${count(rate * statements)} statements a second and ${count((rate * cpuMs) / 1000)} cores. Statements are counted on the wire, with those that begin and end a transaction (\`test/postgres/statement-counts.test.ts\`). The time is that of the processes of PostgreSQL 15, measured by \`npm run bench postgres -- --parts operations\` on two slow cores that were busy with other things too.`
}

function writeBottleneck({ oneSource, oneDatabase, large }: Results): string {
  const { cpuMs } = loadOf(large)
  const perCore = 1000 / cpuMs
  // This includes work that was started and not finished at the end.
  const busy = oneDatabase.map((outcome) => Math.min(CORES, (loadOf(outcome).cpuMs * rateOf(outcome)) / 1000))
  const most = Math.max(...oneDatabase.map(rateOf))
  const last = oneDatabase.at(-1)
  const { statements, cpuMs: settleMs } = COSTS.settle
  const sourceMs = settleMs + statements * LARGE.database.roundTripMs
  return `## Where it ends first

**One database.** A core of it does ${count(perCore)} visits a second, whatever the number of workers:

${table(
  ['workers', 'visits/s', `cores busy of ${CORES}`, 'wait for a core, ms a visit', 'for a source'],
  oneDatabase.map((outcome, i) => [
    String(ONE_DATABASE[i]?.workers),
    count(rateOf(outcome)),
    (busy[i] ?? 0).toFixed(1),
    (outcome.waitedForCoreMs / outcome.visits).toFixed(1),
    (outcome.waitedForSourceMs / outcome.visits).toFixed(1),
  ]),
)}

With ${CORES} cores like these it does not go beyond ${count(most)} visits a second: with ${ONE_DATABASE.at(-1)?.workers} workers ${(busy.at(-1) ?? 0).toFixed(1)} of them are busy, and a visit waits ${count((last?.waitedForCoreMs ?? 0) / (last?.visits ?? 1))} ms for one, and longer behind others that write to its source and wait for one too. A settlement of a page that is unchanged takes ${UNCHANGED_CPU_MS.toFixed(1)} ms of a core as measured, ${settleMs.toFixed(1)} where it is new, so that refreshing goes further than crawling. Before that nothing has to be done; then, in this order:

1. **Several databases, sources shared out among them.** Nothing of a source refers to another but the clocks of hosts that two sources have in common: sources of one host belong into one database. Each database has its own server and workers. No code has to change; whoever searches them all asks each.
2. **Citus**, with \`ledger\`, \`links\`, \`pages\` and \`chunks\` distributed by \`source\`, and \`hosts\` by \`host\`: one address for all. A transaction that touches a source and its hosts then spans two nodes, which is why it comes second.
3. **Fewer connections**, as soon as processes have more than a database bears: ${count(LARGE.workers)} processes with up to eight each are ${count(LARGE.workers * 8)}. A pooler (PgBouncer) in session mode needs nothing, and saves nothing; in transaction mode it saves most, and the role has to name the schema, because what a connection sets does not stay there (\`deploy/README.md\`).

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

The same world of ${count(SCARCE.world.hosts)} hosts and ${count(SCARCE.workers)} workers, once by the lean way and once by the engine of the program as it is (\`crawl/active-crawl.ts\`, \`frontier.ts\`, \`visit.ts\`), with the same ledger. Both draw other random numbers, so that they do not agree to the visit.

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
    String(Math.floor(seen.leastSlackMs)),
    count(hostsAsked),
    count(changesOfHands),
    count(lost),
    ((operations['lease'] ?? 0) / visits).toFixed(3),
    count(problems.length),
  ]
}

/** Statements and CPU milliseconds per visit. */
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
