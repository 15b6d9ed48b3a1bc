import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import ReportRetries from './test/report-retries.ts'

// Test workers and all programs that tests start share Node's compile cache, which saves a third of each start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/pharos-compiled')

/**
 * Test files without side effects on their process: they share processes, which saves starts and imports. Excluded are files that lose the
 * parser of their process, change its folder or settings, start programs, or use a helper with its own hooks. Those that crawl do so with
 * ample memory (`test/sites/crawl.ts`), because a crawl slows down while its process uses too much.
 */
const SHARING = [
  'src/{core,crawl}/**/!(lost-parser).test.ts',
  'src/places/{analysis,plan}/*.test.ts',
  'src/{documents,http,ingest,mcp,store}/**/*.test.ts',
  'src/cli/**/!(serve-library|server-registration).test.ts',
  'src/library/{copy/compare-rows,import/failed-files,import/import-pages,import/parse-import,ports/tree}.test.ts',
  'src/library/{crawl/add-source,refresh/schedule,sources/choose-sources,sources/source-status}.test.ts',
  'src/library/jobs/{crawl-jobs,job-rates,process-end,events/create-feed,events/frames,events/log-writer}.test.ts',
  'src/library/search/{find-page,search-library}.test.ts',
  'src/{fetch/addresses,fetch/clock,processes/frame-writer}.test.ts',
  'test/{analysis,contracts,injection,memory-store,passages,web}/*.test.ts',
  'test/{chunk-properties,faithful,golden,pages}.test.ts',
  'test/{embed/kernel,embed/ranked-hits,gazetteer/own-file}.test.ts',
  'test/http/!(contract|crawl|page-analyses|schedule).test.ts',
  'test/jobs/{crawl-request,prepare-start}.test.ts',
  'test/mcp/!(client|official-tools|protocol).test.ts',
  'test/sites/!(credentials|politeness|render|resume|retries|concurrent-processes|traps).test.ts',
]

/**
 * Tests that start programs and browsers, or measure real pauses, are retried once: a busy machine is no defect, and a real defect fails
 * both times. The report names retried tests.
 */
const RETRY = 1

/**
 * Retried files that need their own process: they inspect the memory, threads or programs of the process, or change its global state. The
 * rest shares processes, which saves half a second per file.
 */
const ALONE = [
  'src/{cli,core,embed,library,places,processes}/**/*.test.ts',
  'src/fetch/large-bodies.test.ts',
  'test/{deploy,embed,faults,gazetteer,places,plan,scale}/**/*.test.ts',
  'test/sites/hostile/*.test.ts',
  'test/{determinism,launcher}.test.ts',
]

/** Tests of real pauses run first and alone: beside others they would measure how busy the machine is. */
const TIMED = ['test/sites/{politeness,retries}.test.ts']

/** Runs for hours: `npm run soak`. */
const SOAK = ['test/soak/*.test.ts']

/** Connectors to services and browsers: their tests run last and alone, because their coverage is measured. */
const CONNECTORS = [
  'src/readers/**/*',
  'src/fetch/{address-check,agent,chromium/*,connect-error,connector,crawl4ai*,guard-proxy,service-client}',
  'src/embed/{openai,qdrant,rerank,service,tei}*',
  'src/library/{circuit-breaker,service-call,wakeable-sleep,with-timeout}',
  'src/library/{crawl/open-rendering,ports/vector-copy,search/query-embedding,search/rerank-hits}',
  'src/library/embed/{background-embedding,embed-library,sync-vectors}',
  'src/open-connections',
]
/** Tests that need PostgreSQL; one server is started for all. */
const POSTGRES = ['test/postgres/**/*.test.ts']

/**
 * Tests that run a second time with their libraries in PostgreSQL (`test/library-location.ts`). `test/postgres/` covers the store itself. Here
 * a site with every crawl rule is read in several orders, and crawls run through a server. With TEST_LONG, everything that could depend on
 * the kind of store runs.
 */
const ALSO_ON_POSTGRES = [
  'test/sites/{any-order,changes}.test.ts',
  'test/http/{contract,crawl,schedule}.test.ts',
  'test/refresh/weeks.test.ts',
  ...(process.env['TEST_LONG'] === undefined
    ? []
    : [
        'test/e2e/{search,planned-crawl}.test.ts',
        'test/sites/{canonical,determinism,redirects,resume,sitemaps,concurrent-processes}.test.ts',
        'test/http/page-analyses.test.ts',
        'test/trees/watch-tree.test.ts',
      ]),
]

const CONNECTOR_TESTS = [...CONNECTORS.map((files) => `${files}.test.ts`), 'test/connectors/**/*.test.ts']

/** Connector tests that inspect all programs of their process, or change its settings. The others share processes. */
const CONNECTOR_TESTS_APART = ['test/connectors/{degrade,render/lifetime}.test.ts']

/** Node itself runs the sources, with its compile cache, which saves a third of a second per process. Not for coverage. */
const RUN_BY_NODE = { deps: { external: [/\/src\/(?!.*(?:\/(?:test|web)\/|\.test\.ts))/] } }

/** Timeout for a hanging test. It measures no speed: a busy machine may be many times slower than an idle one. */
const HANG_MS = process.env['TEST_LONG'] === undefined ? 300_000 : 1_800_000

export default defineConfig({
  test: {
    pool: 'forks',
    // The default is one core less, which leaves one of two cores idle: tests mostly wait for the programs they start and for the pauses
    // they measure.
    maxWorkers: availableParallelism() + 2,
    // The built program is not transformed.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/setup.ts'],
    // Most tests do not concern embeddings, and each program that embeds loads the model.
    env: { PHAROS_EMBED: 'false' },
    reporters: ['default', new ReportRetries()],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: 60_000 } },
    // Projects run in the order of their names: short files of later ones fill the cores that long files of the first leave idle.
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
          exclude: [
            ...configDefaults.exclude,
            ...SHARING,
            ...ALONE,
            ...TIMED,
            ...CONNECTOR_TESTS,
            ...POSTGRES,
            ...SOAK,
          ],
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
      { extends: true, test: { name: 'soak', server: RUN_BY_NODE, include: SOAK } },
      { extends: true, test: { name: 'timed', server: RUN_BY_NODE, retry: RETRY, include: TIMED } },
      // The name sorts before the other connectors, so that the two long files do not run last with nothing beside them.
      { extends: true, test: { name: 'apart-connectors', retry: RETRY, include: CONNECTOR_TESTS_APART } },
      {
        extends: true,
        test: {
          name: 'connectors',
          retry: RETRY,
          include: CONNECTOR_TESTS,
          exclude: [...configDefaults.exclude, ...CONNECTOR_TESTS_APART],
          // With coverage, each process must compile the sources again, which takes a fifth of the time.
          isolate: false,
        },
      },
    ],
    // Only with --coverage, which scripts/test.mjs sets for the connectors.
    coverage: {
      provider: 'v8',
      include: CONNECTORS.map((files) => `${files}.ts`),
      reportsDirectory: 'node_modules/.cache/pharos-coverage',
      reporter: [['text', { skipFull: true, maxCols: 140 }], 'text-summary'],
      // Thresholds for all files together, and lower ones for each file.
      thresholds: { lines: 85, branches: 85, perFile: { lines: 75, branches: 65 } },
    },
  },
})
