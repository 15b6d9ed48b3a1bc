import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import ReportTries from './test/report-tries.ts'

// What Node remembers of compiling is shared by the workers and by all programs that tests start, as it is by the runs of one user:
// a third of a start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/pharos-compiled')

/**
 * Files whose tests keep nothing: they share processes, which spares the start of one and what they import. Not those that lose the
 * parser of their process, change its folder or its settings, start programs, or have a helper with hooks of its own. Those that crawl
 * do so with ample memory (`test/sites/crawl.ts`): a crawl goes slowly while its process has too much in use.
 */
const SHARING = [
  'src/{analysis,core,crawl,plan}/**/!(lost-parser).test.ts',
  'src/{documents,http,ingest,mcp,store}/**/*.test.ts',
  'src/cli/!(analyze|serve-library|serve-note).test.ts',
  'src/library/{classified-reader,compare-rows,crawl-jobs,failed-files,gather-changes,import-pages,parse-import,tree}.test.ts',
  'src/library/operations/{add-source,choose-sources,embed-arrivals,find-page,search-library,source-status}.test.ts',
  'src/library/dispatch/{create-feed,frames,hear-crawl,job-rates,log-writer,process-end}.test.ts',
  'src/{fetch/addresses,fetch/clock,jobs/frame-writer}.test.ts',
  'test/{analysis,contracts,injection,passages,web}/*.test.ts',
  'test/{chunk-properties,faithful,golden,pages}.test.ts',
  'test/{embed/kernel,embed/ranked-hits,gazetteer/own-file}.test.ts',
  'test/http/!(contract|crawl|understanding).test.ts',
  'test/jobs/{crawl-order,take-up-start}.test.ts',
  'test/mcp/!(client|official-tools|protocol).test.ts',
  'test/sites/!(credentials|politeness|render|resume|retries|together|traps).test.ts',
]

/**
 * What starts programs and browsers, or measures real pauses, is tried once more: a machine that is busy for seconds breaks no rule, and
 * a rule that is broken is broken both times. The report names what was retried.
 */
const RETRY = 1

/**
 * What is tried again and has a process for each file: it looks at the memory, the threads or the programs of its process, or changes what
 * others would see in it. The rest shares processes, which spares half a second for each file.
 */
const ALONE = [
  'src/{cli,core,embed,jobs,library}/**/*.test.ts',
  'src/fetch/large-bodies.test.ts',
  'test/{deploy,embed,faults,gazetteer,places,plan,scale}/**/*.test.ts',
  'test/sites/hostile/*.test.ts',
  'test/{determinism,launcher}.test.ts',
]

/** What measures real pauses runs first and alone: beside others it would measure how busy the machine is. */
const TIMED = ['test/sites/{politeness,retries}.test.ts']

/** What talks to services and to browsers: its tests run last and alone, because how much of it they reach is measured. */
const CONNECTORS = [
  'src/readers/**/*',
  'src/fetch/{address-check,agent,chromium*,connect-error,connector,crawl4ai*,find-browser,guard-proxy,service-client}',
  'src/embed/{openai,qdrant,rerank,service,tei}*',
  'src/library/{alarm,catch-up,circuit-breaker,query-meaning,rerank-hits,service-call,vector-copy,wait-at-most}',
  'src/library/operations/{embed-library,open-rendering,sync-vectors}',
  'src/open-connections',
]
/** What needs a PostgreSQL, of which one is started for all. */
const POSTGRES = ['test/postgres/**/*.test.ts']

/**
 * What runs a second time with its libraries in PostgreSQL (`test/library-place.ts`). `test/postgres/` has all that a store does for the
 * rest of the program; here a site with something of each rule of crawls is read in several orders, and crawls are asked of a server that
 * is then asked for all it has. With TEST_LONG everything that could differ by where a library is kept is run.
 */
const ALSO_ON_POSTGRES = [
  'test/sites/any-order.test.ts',
  'test/http/{contract,crawl}.test.ts',
  ...(process.env['TEST_LONG'] === undefined
    ? []
    : [
        'test/e2e/{search,understanding}.test.ts',
        'test/sites/{canonical,determinism,redirects,resume,sitemaps,together}.test.ts',
        'test/http/understanding.test.ts',
        'test/trees/watch-tree.test.ts',
      ]),
]

const CONNECTOR_TESTS = [...CONNECTORS.map((files) => `${files}.test.ts`), 'test/connectors/**/*.test.ts']

/** Of those the ones that look at all programs that their process has started, or change its settings. The others share processes. */
const CONNECTOR_TESTS_APART = ['test/connectors/{degrade,render/lifetime}.test.ts']

/**
 * The sources are run by Node itself, which remembers what it compiled of them: a third of a second for each process. Not where it is
 * measured how much of them is reached.
 */
const RUN_BY_NODE = { deps: { external: [/\/src\/(?!.*(?:\/(?:test|web)\/|\.test\.ts))/] } }

/** Ends a test that hangs. It measures no speed: a busy machine may take many times as long as an idle one. */
const HANG_MS = process.env['TEST_LONG'] === undefined ? 300_000 : 1_800_000

export default defineConfig({
  test: {
    pool: 'forks',
    // One core less is the default, which on two cores leaves one idle: most of the time goes to programs that tests start, and
    // most of it is spent waiting, for them and for pauses that are tested.
    maxWorkers: availableParallelism() + 2,
    // The built program is run as it is.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/setup.ts'],
    // Most tests are not about meaning, and each program that embeds loads the model.
    env: { PHAROS_EMBED: 'false' },
    reporters: ['default', new ReportTries()],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: 60_000 } },
    // They run in the order of their names: the short files of the later ones fill what the long ones of the first leave idle.
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          server: RUN_BY_NODE,
          retry: RETRY,
          include: ALONE,
          exclude: [...configDefaults.exclude, ...SHARING, ...TIMED, ...CONNECTOR_TESTS],
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          server: RUN_BY_NODE,
          retry: RETRY,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SHARING, ...ALONE, ...TIMED, ...CONNECTOR_TESTS, ...POSTGRES],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          server: RUN_BY_NODE,
          include: SHARING,
          exclude: [...configDefaults.exclude, ...CONNECTOR_TESTS],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          server: RUN_BY_NODE,
          retry: RETRY,
          include: [...POSTGRES, ...ALSO_ON_POSTGRES],
          globalSetup: 'test/postgres/setup.ts',
          isolate: false,
        },
      },
      { extends: true, test: { name: 'timed', server: RUN_BY_NODE, retry: RETRY, include: TIMED } },
      // Its name sorts before that of the other connectors, so that its two long files do not run last, when nothing is left beside them.
      { extends: true, test: { name: 'apart-connectors', retry: RETRY, include: CONNECTOR_TESTS_APART } },
      {
        extends: true,
        test: {
          name: 'connectors',
          retry: RETRY,
          include: CONNECTOR_TESTS,
          exclude: [...configDefaults.exclude, ...CONNECTOR_TESTS_APART],
          // What it is measured in has to be compiled for each process: a fifth of the time.
          isolate: false,
        },
      },
    ],
    // Only with --coverage, which scripts/test.mjs gives for the connectors.
    coverage: {
      provider: 'v8',
      include: CONNECTORS.map((files) => `${files}.ts`),
      reportsDirectory: 'node_modules/.cache/pharos-coverage',
      reporter: [['text', { skipFull: true, maxCols: 140 }], 'text-summary'],
      // All of them together; and none of them may hide behind the others.
      thresholds: { lines: 85, branches: 85, perFile: { lines: 75, branches: 65 } },
    },
  },
})
