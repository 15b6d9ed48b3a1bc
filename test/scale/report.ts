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
    `${SHORT_HEADING}\n\n\`test/scale/scale.test.ts\` repeats these simulations and compares the results, so that this page follows the program. If they differ, the whole simulation must be repeated.\n\n${writeShort(results.short)}`,
  ].join('\n\n')
}

/** Writes the section that a test regenerates: the small simulations, lean and with the whole engine. */
export function writeShort(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome, i) => [SHORT[i]?.name ?? '', ...factsOf(outcome)])
  return `${table(['', ...FACTS], rows)}\n`
}

const INTRODUCTION = `# Scale

This page shows how Pharos scales beyond one machine: many workers on one library in PostgreSQL. **This page is generated.** \`node_modules/.bin/node bench/scale.mjs --write\` repeats the simulation, in about twenty minutes on one core, and writes the same bytes. Figures come from the simulation unless they are marked as measured. The command ends with exit code 1 if a rule is broken.`

function writeSummary(results: Results): string {
  const { large, scarce, oneSource, oneDatabase } = results
  const problems = Object.values(results)
    .flat()
    .flatMap((outcome: Outcome) => outcome.problems)
  return `- **Throughput**: ${count(rateOf(large))} visits a second with ${count(LARGE.workers)} workers, if the databases keep up.
- **Politeness**: ${problems.length === 0 ? 'never broken, and no address lost or settled twice' : `broken, or addresses lost: ${problems.length} times`}.
- **Recovery**: another worker takes over the crawls of a killed worker within about fifteen seconds, but its hosts only when their leases have ended. With few hosts for many workers, that is after a median of ${seconds(scarce.recovery.kill?.median ?? 0)} s and at most ${seconds(scarce.recovery.kill?.max ?? 0)} s. With many hosts, they wait for their place among all others, with a median of ${seconds(large.recovery.kill?.median ?? 0)} s.
- **First bottleneck**: one database, at ${count(Math.max(...oneDatabase.map(rateOf)))} visits a second with ${CORES} slow cores; one source, at ${count(Math.max(...oneSource.map(rateOf)))}.`
}

function writeSimulated({ large, scarce, whole, oneSource, oneDatabase }: Results): string {
  const { world, workers, visitsAtOnce, hostsAtOnce, workersAtOnce } = LARGE
  const others = [scarce, whole, ...oneSource, ...oneDatabase].reduce((sum, { visits }) => sum + visits, 0)
  return `## What is simulated

The simulated time advances in milliseconds. Every visit is simulated on its own: it is leased, waits for its turn, sends its request, gets a response, updates the pace and is settled.

| | how | how many |
| --- | --- | --- |
| visits | one by one | ${count(large.visits)}, and ${count(others)} in smaller worlds |
| requests at hosts, and the pause before each | one by one | ${count(large.network.requests)} |
| hosts: clock, lease, latency, robots.txt, faults | one by one | ${count(world.hosts)} in ${count(world.sources)} sources |
| workers: leases, pace, slots, crashes | one by one | ${count(workers)}, with ${visitsAtOnce} visits and at most ${hostsAtOnce} hosts at once, no more than ${workersAtOnce} at one source |
| addresses that no worker has taken yet | **a count for each host** | ${count(world.backlog)} |
| pages, links, index, vectors | **not at all** | every response says that nothing changed, and costs as much as a page with 20 links |

Only a part of the simulation is code of the program:

| | what runs |
| --- | --- |
| when a host may get a request | code of the program: \`crawl/hosts/host-clock.ts\`, \`pacer.ts\`, \`robots-rules.ts\` |
| which worker holds a host, takes it, keeps it, wants it and releases it | code of the program: \`crawl/hosts/host-lease.ts\`, \`store/postgres/ledger/host-holder.ts\`, the decisions of \`store/postgres/ledger/frontier.ts\` |
| which addresses come first, and their slots | code of the program: \`store/common/slots.ts\` |
| ledger: leasing, settling, putting back, counting | **real rules, rewritten statements** (\`test/scale/shared-ledger.ts\`): this page shows for that file that no address is lost or settled twice, and \`test/postgres/many-workers.test.ts\` shows it for PostgreSQL itself |
| frontier and visits (\`crawl/frontier.ts\`, \`visit/visit.ts\`) | **rewritten, shorter** (\`test/scale/lean-crawl.ts\`) with the waits of the program, because the originals would take twice as long; ${count(whole.visits)} visits below and two of the three short forms use the real engine |
| PostgreSQL | **by the measured cost of its operations**; its cores and the locks of sources are queues: an operation waits for its source, then for a core. Connections are not counted |
| which worker joins which source | **a rule of the simulation**: a worker joins the source with the most free hosts per worker, and leaves when it has had none for some seconds. The program has a job queue instead, and lets idle workers join the crawls with the most free hosts. Which sources are started, and how evenly work is spread, is therefore true of the simulation only |
| worlds, latencies, faults, crashes | **invented**, see below |

Of a hundred hosts, 8 ask for a pause of 1 to 10 s, 3 are down for 10 to 90 s, 2 answer 429 with \`Retry-After\` for a while, 2 take twelve times as long for a while, and 2 belong to two sources. One host of 200 is down for good. Half of all hosts answer within 250 ms. A new connection takes another 0.4 of that, and may make a request too late for its slot. Hosts and sources differ in size: the largest source has ${count(large.largestSource)} hosts.`
}

function writeThroughput({ visits, spanMs, windows, network, lost }: Outcome): string {
  const shown = windows.slice(0, Math.floor(spanMs / 10_000))
  return `## Throughput

${count(visits)} visits in ${seconds(spanMs)} s: **${count((visits / spanMs) * 1000)} visits a second**, ${((visits / spanMs) * (1000 / LARGE.workers)).toFixed(1)} per worker. ${count(network.failures + network.refusals)} requests failed or were refused, and were repeated later. ${count(lost)} responses came after another worker had taken over the host, and were not written.

${table(
  ['from s', 'visits/s', 'what happened'],
  shown.map((visitsOf, i) => [String(i * 10), count(visitsOf / 10), listMishaps(i * 10_000)]),
)}`
}

function listMishaps(from: number): string {
  const { mishaps, database } = LARGE
  const isIn = (at: number): boolean => at >= from && at < from + 10_000
  const events = mishaps
    .filter(({ at }) => isIn(at))
    .map(({ kind, workers }) =>
      kind === 'kill' ? `${workers} workers are killed` : `${workers} workers are frozen for 45 s`,
    )
  const outage = database.outage !== undefined && isIn(database.outage.from) ? ['the database is down for 10 s'] : []
  return [...events, ...outage].join('; ')
}

function writePoliteness({ large, scarce, whole, short }: Results): string {
  const all = [large, scarce, whole, ...short]
  const { slack } = large.network
  const sumOf = (pick: (outcome: Outcome) => number): number => all.reduce((total, one) => total + pick(one), 0)
  const names = ['less than 25', '25 to 50', '50 to 100', '100 to 200', 'more']
  const sum = slack.reduce((total, one) => total + one, 0)
  return `## Politeness

Every simulated host checks every request. The pause since the previous request must be at least 200 ms, the delay that robots.txt asks for, or the pause of the host clock, whichever is longest. The clock has a longer pause for a host that is new, slow or failing. A host that asked for a pause must not get a request meanwhile. **${sumOf(({ network }) => network.breachCount)} of ${count(sumOf(({ network }) => network.requests))} requests came too early**, including those of workers that were killed, or frozen past their lease and resumed. (The short form has such workers with the whole engine and a slow database, so that many are frozen while a response is on its way.) ${count(sumOf(({ network }) => network.tooLate))} requests missed their slot while they opened a connection, and took another. The shortest pause was ${Math.floor(Math.min(...all.map(({ network }) => network.minSlackMs)))} ms longer than required.

No rule limits the concurrent requests to a host. Their number follows from the pauses, which grow with the response time. Of the hosts that got requests, half had at most ${large.inFlight.median} at once, 95 of 100 had at most ${large.inFlight.p95}, and none had more than ${large.inFlight.max}.

${table(
  ['longer than required by, ms', 'share of all pauses'],
  slack.map((pauses, i) => [names[i] ?? '', percent(pauses / sum)]),
)}

Pauses are much longer if the worker is busy with other hosts: it has ${LARGE.hostsAtOnce} hosts, but makes only ${LARGE.visitsAtOnce} visits at once.`
}

function writeFairness({ requestedHosts, startedSources, perWorker, sourceWaitMs, sharedHosts }: Outcome): string {
  const { world } = LARGE
  return `## Fairness

The simulation decides which worker joins which source. Within a source, addresses are taken by depth and age, so that all hosts of a source advance evenly. ${count(requestedHosts)} of ${count(world.hosts)} hosts got requests, and ${count(startedSources)} of ${count(world.sources)} sources were started.

${table(
  ['', 'least', '5 %', 'median', '95 %', 'most'],
  [
    ['visits of a worker that ran all the time', ...spread(perWorker, count)],
    ['longest wait between two visits of a source, s', ...spread(sourceWaitMs, (ms) => (ms / 1000).toFixed(1))],
    ['share of the source with fewer visits, at shared hosts', ...spread(sharedHosts.smallerShare, percent)],
  ],
)}

${count(sharedHosts.count)} hosts belong to two sources that both had more work there: the two crawls take turns of five seconds. The share is small if one source was started later. ${count(world.sources - startedSources)} sources were not started at all, because workers prefer sources with many free hosts: at the hosts that such a source shares, its share is zero.`
}

function writeRecovery({ large, scarce }: Results): string {
  const { aliveMs } = DEFAULT_CRAWL_LIMITS
  const row = (name: string, kind: 'kill' | 'freeze', outcome: Outcome) => [
    name,
    count(outcome.recovered[kind]),
    ...spread(outcome.recovery[kind], (ms) => (ms / 1000).toFixed(1)),
  ]
  return `## Recovery

The table shows how many seconds it took until another worker had a host of a killed or frozen worker. A lease lasts ${seconds(aliveMs)} s from the last heartbeat, and a heartbeat comes every ${seconds(aliveMs / HEARTBEATS_PER_TIMEOUT)} s. The worker that takes over a host repeats its unfinished visits.

${table(
  ['', 'hosts', 'least', '5 %', 'median', '95 %', 'most'],
  [
    row('killed, many hosts', 'kill', large),
    row('frozen, many hosts', 'freeze', large),
    row('killed, few hosts for many workers', 'kill', scarce),
    row('frozen, few hosts for many workers', 'freeze', scarce),
  ],
)}

If there are more hosts than the workers can visit, a host that is free again waits for its place in the order; nothing else waits for it. None of the ${count(large.lost + scarce.lost)} late responses was written. At the end, every address was in exactly one state: settled, failed, leased or pending.`
}

function writeLoad(outcome: Outcome): string {
  const operations = Object.entries(COSTS) as [Operation, Cost][]
  const { visits, spanMs } = outcome
  const countOf = (operation: Operation): number => outcome.operations[operation] ?? 0
  const rows = operations.map(([operation, { statements, cpuMs }]) => [
    `\`${operation}\``,
    (countOf(operation) / visits).toFixed(3),
    String(statements),
    ((countOf(operation) * statements) / visits).toFixed(2),
    ((countOf(operation) * cpuMs) / visits).toFixed(2),
  ])
  const { statements, cpuMs } = loadOf(outcome)
  const rate = (visits / spanMs) * 1000
  return `## Load on the database

${table(['operation', 'per visit', 'statements each', 'statements per visit', 'core ms per visit'], rows)}

In total, a visit of a page with 20 links takes **${statements.toFixed(1)} statements and ${cpuMs.toFixed(1)} ms of a core of the database**. ${count(rate)} visits a second take ${count(rate * statements)} statements a second and ${count((rate * cpuMs) / 1000)} cores. Statements are counted on the wire, including those that begin and end a transaction (\`test/postgres/statement-counts.test.ts\`). The time is that of the processes of PostgreSQL 15, measured by \`npm run bench postgres -- --parts operations\` on two slow cores that were also busy with other work.`
}

function writeBottleneck({ oneSource, oneDatabase, large }: Results): string {
  const { cpuMs } = loadOf(large)
  const perCore = 1000 / cpuMs
  // This includes work that was started and not finished at the end.
  const busy = oneDatabase.map((outcome) => Math.min(CORES, (loadOf(outcome).cpuMs * rateOf(outcome)) / 1000))
  const maxRate = Math.max(...oneDatabase.map(rateOf))
  const last = oneDatabase.at(-1)
  const { statements, cpuMs: settleMs } = COSTS.settle
  const sourceMs = settleMs + statements * LARGE.database.roundTripMs
  return `## First bottleneck

**One database.** Each of its cores handles ${count(perCore)} visits a second, whatever the number of workers:

${table(
  ['workers', 'visits/s', `busy cores of ${CORES}`, 'wait for a core, ms per visit', 'for a source'],
  oneDatabase.map((outcome, i) => [
    String(ONE_DATABASE[i]?.workers),
    count(rateOf(outcome)),
    (busy[i] ?? 0).toFixed(1),
    (outcome.waitedForCoreMs / outcome.visits).toFixed(1),
    (outcome.waitedForSourceMs / outcome.visits).toFixed(1),
  ]),
)}

${CORES} such cores handle at most ${count(maxRate)} visits a second. With ${ONE_DATABASE.at(-1)?.workers} workers, ${(busy.at(-1) ?? 0).toFixed(1)} of them are busy. A visit then waits ${count((last?.waitedForCoreMs ?? 0) / (last?.visits ?? 1))} ms for a core, and longer for other visits that write to its source and wait for a core as well. Settling an unchanged page takes ${UNCHANGED_CPU_MS.toFixed(1)} ms of a core as measured, and ${settleMs.toFixed(1)} ms for a new page, so that refreshing scales further than crawling. Below this limit, nothing needs to be done. Beyond it, these steps help, in this order:

1. **Several databases, with the sources divided among them.** Sources share only the clocks of their common hosts, so sources with a common host belong in the same database. Each database has its own server and workers. No code has to change; a client that searches all of them queries each one.
2. **Citus**, with \`ledger\`, \`links\`, \`pages\` and \`chunks\` distributed by \`source\`, and \`hosts\` by \`host\`. All data then has one address. A transaction that touches a source and its hosts spans two nodes, which is why this step comes second.
3. **Fewer connections**, once processes have more of them than a database can handle: ${count(LARGE.workers)} processes with up to eight each have ${count(LARGE.workers * 8)}. A pooler (PgBouncer) in session mode needs no setup, but saves none. In transaction mode it saves most, and the role must set the schema, because the settings of a connection do not persist (\`deploy/README.md\`).

**One source.** A write to the ledger of a source locks it, here for ${sourceMs.toFixed(1)} ms per settlement, so that more workers at one source only wait:

${table(
  ['workers at one source', 'visits/s', 'wait for the source, ms per visit'],
  oneSource.map((outcome, i) => [
    String(ONE_SOURCE[i]?.workers),
    count(rateOf(outcome)),
    (outcome.waitedForSourceMs / outcome.visits).toFixed(1),
  ]),
)}

A larger source can be divided by host, into one source for each group of hosts. If that is not enough, the lock can be taken by host instead of by source, with \`ledger\` partitioned by host. A single host is never faster than its pauses allow.

**Beyond the ledger.** Vectors: from about ten million on, use Qdrant with shards instead of pgvector. A collection distributes its points by hash; set \`shard_number\` when it is created. Contents: ${count(LARGE.world.backlog)} pages of 10 kB are ${count((LARGE.world.backlog * 10) / 1e9)} TB, which belong in object storage, addressed by hash, while the database keeps hash and location. Both can be replaced behind their interfaces (\`VectorIndex\`, \`Store\`); neither is the first bottleneck.`
}

function writeComparison({ scarce, whole }: Results): string {
  return `## Comparison with the whole engine

The same world of ${count(SCARCE.world.hosts)} hosts and ${count(SCARCE.workers)} workers, once with the lean version and once with the real engine of the program (\`crawl/visit/visit-site.ts\`, \`frontier.ts\`, \`visit/visit.ts\`), on the same ledger. The two draw different random numbers, so their visits differ in detail.

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
  'hosts requested',
  'host handovers',
  'late responses',
  'leases per visit',
  'problems',
]

function factsOf(outcome: Outcome): string[] {
  const { visits, network, requestedHosts, handovers, lost, operations, problems } = outcome
  return [
    count(visits),
    count(rateOf(outcome)),
    count(network.breachCount),
    String(Math.floor(network.minSlackMs)),
    count(requestedHosts),
    count(handovers),
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

function spread(figures: Spread | null, write: (value: number) => string): string[] {
  if (figures === null) return ['', '', '', '', '']
  return [figures.min, figures.p5, figures.median, figures.p95, figures.max].map(write)
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
