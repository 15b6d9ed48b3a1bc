import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { PharosError } from './core/errors.ts'
import { DEFAULT_LIMITS, MIN_MAX_CHARS } from './core/limits.ts'
import { parseBytes } from './core/text/bytes.ts'
import { parseDuration, writeDuration } from './core/text/duration.ts'
import { findNearest } from './core/text/nearest.ts'
import { hasCredentials } from './core/url/credentials.ts'
import { PUBLIC_REGISTRIES } from './core/url/package-url.ts'
import { findLibraryProblem, hidePassword, isPostgres, nameDatabase } from './core/url/postgres-address.ts'
import type { GitAccess } from './core/url/repository-url.ts'

/** The effective values of all settings. */
export interface Config {
  readonly maxFileBytes: number
  readonly maxTotalBytes: number
  readonly maxChunksPerFile: number
  readonly maxTotalChunks: number
  readonly chunkTargetChars: number
  readonly chunkMaxChars: number
  readonly maxArchiveBytes: number
  readonly npmRegistry: string
  readonly pypiRegistry: string
  readonly cratesRegistry: string
  readonly mavenRegistry: string
  /** Hosts with the names of the variables that hold their tokens: `github.com=GITHUB_TOKEN`. */
  readonly gitTokens: readonly string[]
  /** Hosts of registries with the names of the variables that hold their tokens: `npm.example.com=NPM_TOKEN`. */
  readonly registryTokens: readonly string[]
  readonly cache: boolean
  readonly cacheFolder: string
  /** A file path, or the address of a database, which may hold a password: display it only with {@link redactValue}. */
  readonly library: string
  /** Empty for a file beside the library. */
  readonly failures: string
  readonly embed: boolean
  /** 0 for all processors. */
  readonly embedThreads: number
  /** One of `built-in`, `tei`, `openai`. */
  readonly embedder: string
  /** Empty when there is none. */
  readonly embedEndpoint: string
  /** Empty if the service has only one model. */
  readonly embedModel: string
  /** Empty when there is none. Never shown. */
  readonly embedKey: string
  /** 0 for the dimensions of the model. */
  readonly embedDimensions: number
  readonly embedBatch: number
  readonly embedBatchBytes: number
  /** Milliseconds. */
  readonly embedTimeout: number
  readonly embedTextPrefix: string
  readonly embedQueryPrefix: string
  /** One of `none`, `tei`, `hosted`. */
  readonly reranker: string
  /** Empty when there is none. */
  readonly rerankEndpoint: string
  readonly rerankModel: string
  /** Empty when there is none. Never shown. */
  readonly rerankKey: string
  readonly rerankCandidates: number
  /** Milliseconds. */
  readonly rerankBudget: number
  /** Empty when there is none. */
  readonly qdrantUrl: string
  readonly qdrantCollection: string
  /** Empty when there is none. Never shown. */
  readonly qdrantKey: string
  readonly crawl4aiEndpoint: string
  /** Empty when there is none. Never shown. */
  readonly crawl4aiToken: string
  /** Milliseconds. */
  readonly crawl4aiTimeout: number
  readonly crawl4aiConcurrency: number
  readonly crawl4aiRetries: number
  readonly crawl4aiFailOnError: boolean
  /** Empty to search for a browser. */
  readonly browser: string
  readonly renderConcurrency: number
  /** Milliseconds. */
  readonly renderTimeout: number
  readonly allowPrivate: readonly string[]
  readonly concurrency: number
  readonly hosts: number
  /** Milliseconds. */
  readonly requestInterval: number
  /** Milliseconds. */
  readonly startInterval: number
  /** Milliseconds. */
  readonly jitterMin: number
  /** Milliseconds. */
  readonly jitterMax: number
  /** Milliseconds. */
  readonly firstByteTimeout: number
  /** Milliseconds. */
  readonly answerTimeout: number
  readonly maxHeaderBytes: number
  readonly maxRedirects: number
  readonly maxSitemapEntries: number
  readonly maxAddresses: number
  readonly maxPageBytes: number
  readonly maxMemory: number
  /** Milliseconds. */
  readonly fullDiskTime: number
  /** Milliseconds. */
  readonly maxAge: number
  /** Empty when there is none. */
  readonly contactUrl: string
  /** Empty when there is none. May hold a password: display it only with {@link redactValue}. */
  readonly proxy: string
  /** Name or address on which the server listens. */
  readonly host: string
  /** 0 for the first free port. */
  readonly port: number
  /** Empty when there is none. */
  readonly tokenFile: string
  /** Empty when there is none. Never shown. */
  readonly token: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  readonly maxCrawls: number
  readonly maxRequests: number
  readonly workers: number
  /** Milliseconds. */
  readonly drainTime: number
  /** Empty when there is none. */
  readonly defaultStartUrl: string
  readonly traceStart: boolean
}

/** A value of a setting. */
type Value = Config[SettingName]

/** Name of a setting. */
export type SettingName = keyof Config

/** One setting: its type, limits, default and description. The names of its flag and variable derive from its name. */
export interface Setting {
  readonly type: 'bytes' | 'count' | 'duration' | 'list' | 'path' | 'switch' | 'text' | 'url'
  readonly default: Value
  /** Minimum of a number. @default 0 */
  readonly least?: number
  /** Maximum of a number. @default none */
  readonly most?: number
  /** The allowed texts. @default any */
  readonly choices?: readonly string[]
  /** Whether leading and trailing spaces are kept. @default false */
  readonly isVerbatim?: boolean
  /** Value of the flag when it has no argument; an argument then needs `=`. @default an argument is required */
  readonly bareFlagValue?: string
  /** Whether the setting has a flag; otherwise only the file and the environment can set it. @default true */
  readonly hasFlag?: boolean
  /** Whether a value may hold a password, so that messages must not repeat it. @default false */
  readonly isSecret?: boolean
  /**
   * The setting that holds the key of the service at this address; the address itself must have no user name and password. @default none
   */
  readonly key?: SettingName
  /** Whether the address must have no user name and password, although `key` names no setting for them. @default false */
  readonly isCredentialFree?: boolean
  /** Whether a path may also be the address of a PostgreSQL database. @default false */
  readonly mayBePostgres?: boolean
  /** Whether only servers and workers use the setting, so that their child processes do not get it. @default false */
  readonly isServerOnly?: boolean
  readonly description: string
}

/** All settings: file, environment and flags are parsed with this table. */
export const SETTINGS: Readonly<Record<SettingName, Setting>> = {
  maxFileBytes: {
    type: 'bytes',
    default: DEFAULT_LIMITS.maxFileBytes,
    least: 1,
    description: 'leave out files larger than this (bytes, or 512KB, 10MB)',
  },
  maxArchiveBytes: {
    type: 'bytes',
    default: 2 ** 30,
    least: 1,
    description: 'refuse archives that are larger unpacked, and repositories that are larger (bytes, or 1GB)',
  },
  npmRegistry: {
    type: 'url',
    default: PUBLIC_REGISTRIES.npm,
    hasFlag: false,
    isSecret: true,
    isCredentialFree: true,
    description: 'URL of the npm registry; it may be on a private network',
  },
  pypiRegistry: {
    type: 'url',
    default: PUBLIC_REGISTRIES.pypi,
    hasFlag: false,
    isSecret: true,
    isCredentialFree: true,
    description: 'URL of the PyPI index; it may be on a private network',
  },
  cratesRegistry: {
    type: 'url',
    default: PUBLIC_REGISTRIES.crates,
    hasFlag: false,
    isSecret: true,
    isCredentialFree: true,
    description: 'URL of the sparse index of crates; it may be on a private network',
  },
  mavenRegistry: {
    type: 'url',
    default: PUBLIC_REGISTRIES.maven,
    hasFlag: false,
    isSecret: true,
    isCredentialFree: true,
    description: 'URL of the Maven repository; it may be on a private network',
  },
  gitTokens: {
    type: 'list',
    default: [],
    hasFlag: false,
    description:
      'variables that hold tokens for hosts of git repositories: github.com=GITHUB_TOKEN; never their values',
  },
  registryTokens: {
    type: 'list',
    default: [],
    hasFlag: false,
    description:
      'variables that hold tokens, or name:password, for hosts of registries: npm.example.com=NPM_TOKEN; never their values',
  },
  maxTotalBytes: {
    type: 'bytes',
    default: DEFAULT_LIMITS.maxTotalBytes,
    least: 1,
    description: 'leave out further files once their total size exceeds this (bytes, or 200MB, 1GB)',
  },
  maxChunksPerFile: {
    type: 'count',
    default: DEFAULT_LIMITS.maxChunksPerFile,
    least: 1,
    description: 'cut a file off after this many chunks',
  },
  maxTotalChunks: {
    type: 'count',
    default: DEFAULT_LIMITS.maxTotalChunks,
    least: 1,
    description: 'leave out files beyond this many chunks in all',
  },
  chunkTargetChars: {
    type: 'count',
    default: DEFAULT_LIMITS.targetChars,
    least: 1,
    description: 'close a chunk at the next good place after this many characters',
  },
  chunkMaxChars: {
    type: 'count',
    default: DEFAULT_LIMITS.maxChars,
    least: MIN_MAX_CHARS,
    description: 'never let a chunk have more characters than this',
  },
  cache: {
    type: 'switch',
    default: true,
    description: 'use the cache, which avoids reading unchanged files again',
  },
  cacheFolder: {
    type: 'path',
    default: '',
    hasFlag: false,
    description: 'folder of the cache (default: the cache folder of the user)',
  },
  library: {
    type: 'path',
    default: '',
    mayBePostgres: true,
    description: 'the library to use: a file, or postgres://user@host/database (default: a file in the data folder)',
  },
  failures: {
    type: 'path',
    default: '',
    description: 'where watch writes down, as JSON lines, which files it could not read (default: beside the library)',
  },
  embed: {
    type: 'switch',
    default: true,
    description: 'embed pages for search by meaning',
  },
  embedThreads: {
    type: 'count',
    default: 0,
    most: 256,
    description: 'number of processors for embedding, 0 for all',
  },
  embedder: {
    type: 'text',
    default: 'built-in',
    choices: ['built-in', 'tei', 'openai'],
    description: 'embedding model: built-in, tei (Text Embeddings Inference) or openai (any compatible service)',
  },
  embedEndpoint: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'embedKey',
    description: 'URL of the embedding service: http://localhost:8080 (tei), http://localhost:11434/v1 (openai)',
  },
  embedModel: {
    type: 'text',
    default: '',
    description: 'model of the embedding service; not needed for tei, which has only one',
  },
  embedKey: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'API key for the embedding service',
  },
  embedDimensions: {
    type: 'count',
    default: 0,
    most: 65_536,
    hasFlag: false,
    description: 'number of dimensions to request, 0 for the default of the model',
  },
  embedBatch: {
    type: 'count',
    default: 32,
    least: 1,
    most: 2048,
    hasFlag: false,
    description: 'texts in one request to the embedding service',
  },
  embedBatchBytes: {
    type: 'bytes',
    default: 2 ** 20,
    least: 1,
    hasFlag: false,
    description: 'bytes in one request to the embedding service',
  },
  embedTimeout: {
    type: 'duration',
    default: 30_000,
    least: 1,
    hasFlag: false,
    description: 'timeout for the embedding service',
  },
  embedTextPrefix: {
    type: 'text',
    default: '',
    hasFlag: false,
    isVerbatim: true,
    description: 'put this before every text, for models that want it ("passage: ")',
  },
  embedQueryPrefix: {
    type: 'text',
    default: '',
    hasFlag: false,
    isVerbatim: true,
    description: 'put this before every question ("query: ")',
  },
  reranker: {
    type: 'text',
    default: 'none',
    choices: ['none', 'tei', 'hosted'],
    description:
      'reranker for the best hits: none, tei (Text Embeddings Inference) or hosted (such as Jina, Cohere or vLLM)',
  },
  rerankEndpoint: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'rerankKey',
    description: 'URL of the reranker: http://localhost:8081 (tei), https://api.jina.ai/v1 (hosted)',
  },
  rerankModel: {
    type: 'text',
    default: '',
    hasFlag: false,
    description: 'model of the reranker; not needed for tei, which has only one',
  },
  rerankKey: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'API key for the reranker',
  },
  rerankCandidates: {
    type: 'count',
    default: 50,
    least: 1,
    most: 100,
    hasFlag: false,
    description: 'number of hits to rerank',
  },
  rerankBudget: {
    type: 'duration',
    default: 1000,
    least: 1,
    hasFlag: false,
    description: 'timeout for the reranker; after that the answer is not reranked',
  },
  qdrantUrl: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'qdrantKey',
    description: 'URL of a Qdrant that keeps a copy of all vectors and finds the nearest ones',
  },
  qdrantCollection: {
    type: 'text',
    default: 'pharos',
    hasFlag: false,
    description: 'Qdrant collection to use',
  },
  qdrantKey: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'API key for Qdrant',
  },
  crawl4aiEndpoint: {
    type: 'url',
    default: 'http://localhost:52004/',
    hasFlag: false,
    isSecret: true,
    key: 'crawl4aiToken',
    description: 'the Crawl4AI service that --render crawl4ai and the reader use',
  },
  crawl4aiToken: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'token for the Crawl4AI service',
  },
  crawl4aiTimeout: {
    type: 'duration',
    default: 60_000,
    least: 10_000,
    most: 300_000,
    hasFlag: false,
    description: 'timeout for a page from Crawl4AI (10s to 300s)',
  },
  crawl4aiConcurrency: {
    type: 'count',
    default: 5,
    least: 1,
    most: 20,
    hasFlag: false,
    description: 'pages to request from Crawl4AI at once',
  },
  crawl4aiRetries: {
    type: 'count',
    default: 3,
    most: 10,
    hasFlag: false,
    description: 'retries when Crawl4AI fails; at most one in a crawl, which has its own retries',
  },
  crawl4aiFailOnError: {
    type: 'switch',
    default: false,
    hasFlag: false,
    description: 'stop the reader at the first page that fails',
  },
  browser: {
    type: 'path',
    default: '',
    description: 'the Chromium or Chrome that renders pages (default: the first that is found)',
  },
  renderConcurrency: {
    type: 'count',
    default: 2,
    least: 1,
    most: 16,
    hasFlag: false,
    description: 'pages to render at once',
  },
  renderTimeout: {
    type: 'duration',
    default: 30_000,
    least: 1000,
    hasFlag: false,
    description: 'timeout for rendering; then a page is taken as it is, or fails if it is empty',
  },
  allowPrivate: {
    type: 'list',
    default: [],
    bareFlagValue: '*',
    description: 'fetch from private hosts or networks too: =localhost,10.0.0.0/8, or all of them',
  },
  concurrency: {
    type: 'count',
    default: 16,
    least: 1,
    most: 256,
    description: 'pages to fetch at once',
  },
  hosts: {
    type: 'count',
    default: 100_000,
    least: 1,
    most: 100_000,
    description: 'crawl this many hosts at once with a library in PostgreSQL; the crawls of a worker share this limit',
  },
  requestInterval: {
    type: 'duration',
    default: 200,
    description: 'leave at least this pause between two requests to a host that is not this machine (200ms, 2s)',
  },
  startInterval: {
    type: 'duration',
    default: 1000,
    hasFlag: false,
    description: 'begin with this pause, until a host has shown that it answers quickly',
  },
  jitterMin: {
    type: 'duration',
    default: 25,
    hasFlag: false,
    description: 'minimum jitter added to each pause',
  },
  jitterMax: {
    type: 'duration',
    default: 50,
    hasFlag: false,
    description: 'maximum jitter added to each pause',
  },
  firstByteTimeout: {
    type: 'duration',
    default: 10_000,
    least: 1,
    hasFlag: false,
    description: 'timeout for the start of a response',
  },
  answerTimeout: {
    type: 'duration',
    default: 30_000,
    least: 1,
    hasFlag: false,
    description: 'timeout for a complete response',
  },
  maxHeaderBytes: {
    type: 'bytes',
    default: 2 ** 16,
    least: 1,
    hasFlag: false,
    description: 'refuse an answer with a larger header than this',
  },
  maxRedirects: {
    type: 'count',
    default: 10,
    hasFlag: false,
    description: 'redirects to follow in a row',
  },
  maxSitemapEntries: {
    type: 'count',
    default: 200_000,
    hasFlag: false,
    description: 'addresses to read from the sitemaps of a site',
  },
  maxAddresses: {
    type: 'count',
    default: 1_000_000,
    least: 1,
    hasFlag: false,
    description: 'limit of recorded addresses of a source, whatever their state',
  },
  maxPageBytes: {
    type: 'bytes',
    default: 20 * 2 ** 20,
    least: 1,
    description: 'leave out pages larger than this (bytes, or 20MB)',
  },
  maxMemory: {
    type: 'bytes',
    default: 512 * 2 ** 20,
    least: 1,
    description: 'fetch one page at a time while the program uses more memory than this (bytes, or 512MB)',
  },
  fullDiskTime: {
    type: 'duration',
    default: 300_000,
    hasFlag: false,
    description: 'without a terminal, give up a crawl when the disk has been full for this long',
  },
  maxAge: {
    type: 'duration',
    default: 0,
    description: 'do not request pages again that were checked within this time (90s, 15m, 2h, 7d)',
  },
  contactUrl: {
    type: 'url',
    default: '',
    description: 'URL with your contact details; sent to sites with every request',
  },
  proxy: {
    type: 'url',
    default: '',
    isSecret: true,
    description:
      'fetch through this proxy, http://user:password@host:port; HTTP_PROXY and similar variables are ignored',
  },
  host: {
    type: 'text',
    default: '127.0.0.1',
    isServerOnly: true,
    description: 'listen at this address; requires a token if other machines can reach it (default: 127.0.0.1)',
  },
  port: {
    type: 'count',
    default: 0,
    most: 65_535,
    isServerOnly: true,
    description: 'listen at this port, 0 for the first free one from 41000 up',
  },
  tokenFile: {
    type: 'path',
    default: '',
    isServerOnly: true,
    description: 'file with the token that every request must send; PHAROS_TOKEN can hold the token instead',
  },
  token: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    isServerOnly: true,
    description: 'the token that every request must send',
  },
  allowedHosts: {
    type: 'list',
    default: [],
    isServerOnly: true,
    description: 'further host names that the server accepts: pharos.example,192.0.2.7',
  },
  allowedOrigins: {
    type: 'list',
    default: [],
    isServerOnly: true,
    description: 'origins of other sites whose pages may read answers: https://example.com',
  },
  maxCrawls: {
    type: 'count',
    default: 1,
    least: 1,
    most: 64,
    isServerOnly: true,
    description: 'crawls to run at once',
  },
  maxRequests: {
    type: 'count',
    default: 32,
    least: 1,
    most: 1024,
    isServerOnly: true,
    description: 'requests in flight at once, over all crawls',
  },
  workers: {
    type: 'count',
    default: 1,
    most: 1,
    isServerOnly: true,
    description: 'on a library in PostgreSQL: 1 to run crawls in the server too, 0 to leave all to pharos worker',
  },
  drainTime: {
    type: 'duration',
    default: 10_000,
    most: 3_600_000,
    isServerOnly: true,
    description: 'grace period for running crawls when a worker stops; then other workers continue them',
  },
  defaultStartUrl: {
    type: 'url',
    default: '',
    hasFlag: false,
    isServerOnly: true,
    description: 'start URL of POST /api/crawl when the body has none',
  },
  traceStart: {
    type: 'switch',
    default: false,
    hasFlag: false,
    isServerOnly: true,
    description: 'log how long each step of a crawl start takes',
  },
}

/** Variables of other programs that also set a setting, with lower priority than `PHAROS_…`. `read` returns undefined to ignore a value. */
const FOREIGN_VARIABLES: Partial<
  Record<SettingName, { readonly name: string; readonly read: (text: string) => string | undefined }>
> = {
  port: { name: 'PORT', read: (text) => text },
  failures: { name: 'FAILED_DOCS_LOG', read: (text) => text },
  maxCrawls: { name: 'UI_ALLOW_MULTI_JOBS', read: (text) => (/^(?:1|true)$/i.test(text) ? '4' : undefined) },
}

/** Where a value came from, in ascending priority. */
export type SettingOrigin = 'default' | 'file' | 'environment' | 'flag'

/** The effective values, and the origin of each. */
export interface EffectiveConfig {
  readonly values: Config
  readonly origins: Readonly<Record<SettingName, SettingOrigin>>
  /** The configuration file that was read, if any. */
  readonly file: string | undefined
  /** `PHAROS_…` variables that match no setting, probably misspelled. */
  readonly unknownVariables: readonly string[]
}

/** Inputs of the configuration. */
export interface ConfigInput {
  /** Values given on the command line, as text, by setting name. */
  readonly flags?: Readonly<Partial<Record<SettingName, string | boolean | readonly string[]>>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly folder?: string
  /** Path of a configuration file, which must exist, or `none`. */
  readonly file?: string | undefined
}

const FILE_NAME = 'pharos.config.json'

/** Reads the configuration: the environment overrides the file, and flags override both. Checks every value; errors name its origin. */
export function readConfig(input: ConfigInput = {}): EffectiveConfig {
  const environment = withoutEmpty(input.environment ?? process.env)
  const { file, values: fromFile } = readConfigFile(input.file ?? environment['PHAROS_CONFIG'], input.folder ?? '.')
  const values: Record<string, Value> = {}
  const origins: Record<string, SettingOrigin> = {}
  for (const name of settingNames()) {
    const candidates: GivenValue[] = [
      { origin: 'flag', label: `--${flagName(name)}`, value: input.flags?.[name] },
      { origin: 'environment', label: variableName(name), value: environment[variableName(name)] },
      readForeign(name, environment),
      { origin: 'file', label: `${file}: ${name}`, value: fromFile[name] },
    ]
    const given = candidates.find(({ value }) => value !== undefined)
    const folder = given?.origin === 'file' && file !== undefined ? dirname(file) : (input.folder ?? '.')
    values[name] = given === undefined ? defaultValue(name, environment) : parseValue(name, given, folder)
    origins[name] = given?.origin ?? 'default'
  }
  checkJitter(values['jitterMin'], values['jitterMax'])
  for (const name of TOKEN_SETTINGS) parseTokens(name, values[name] as Config[typeof name])
  for (const [name, endpoint] of SERVICES) {
    if (origins[name] === 'default' && values[endpoint] !== '') refuseUnused(name, endpoint)
  }
  const known = new Set([...settingNames().map(variableName), 'PHAROS_CONFIG'])
  return {
    // The loop above has set every name to a value of its type.
    values: values as unknown as Config,
    origins: origins as Record<SettingName, SettingOrigin>,
    file,
    unknownVariables: Object.keys(environment).filter((name) => name.startsWith('PHAROS_') && !known.has(name)),
  }
}

/** Reads the variable of another program for a setting. */
function readForeign(name: SettingName, environment: Readonly<Record<string, string | undefined>>): GivenValue {
  const { name: label = '', read } = FOREIGN_VARIABLES[name] ?? {}
  return { origin: 'environment', label, value: read?.(environment[label] ?? '') || undefined }
}

function checkJitter(min: Value | undefined, max: Value | undefined): void {
  if (Number(min) <= Number(max)) return
  const problem = `${writeDuration(Number(min))} is more than jitterMax, ${writeDuration(Number(max))}`
  throw new PharosError('CONFIG_INVALID', { origin: 'jitterMin', problem })
}

const TOKEN_SETTINGS = ['gitTokens', 'registryTokens'] as const
type TokenSetting = (typeof TOKEN_SETTINGS)[number]

/**
 * Maps hosts to the names of the variables with their tokens. The tokens themselves are not settings, because settings are displayed and
 * passed to child processes.
 */
function parseTokens(name: TokenSetting, entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    entries.map((entry) => {
      const [, host = '', variable = ''] = /^([^=/@\s]+)=([A-Z_][A-Z0-9_]*)$/.exec(entry) ?? []
      if (host !== '' && !variable.startsWith('PHAROS_')) return [host.toLowerCase(), variable]
      // The entry is not repeated in the message, because it may be the token itself.
      const problem =
        'expected hosts with names of variables, such as github.com=GITHUB_TOKEN; not PHAROS_… and not the token itself'
      throw new PharosError('CONFIG_INVALID', { origin: name, problem })
    }),
  )
}

const GIT_VARIABLES = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'SYSTEMROOT', 'TMPDIR', 'TEMP']

/** Reads the environment for git. Tokens are read on demand and not stored. */
export function readGitAccess(
  { gitTokens }: Pick<Config, 'gitTokens'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): GitAccess {
  const passed = GIT_VARIABLES.flatMap((name) => {
    const value = environment[name] ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  return {
    environment: Object.fromEntries(passed),
    tokenFor: createTokenLookup('gitTokens', gitTokens, environment),
  }
}

/** Returns a function that reads registry tokens on demand; they are not stored. */
export function readRegistryTokens(
  { registryTokens }: Pick<Config, 'registryTokens'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TokenLookup {
  return createTokenLookup('registryTokens', registryTokens, environment)
}

/** Returns the token for a host, or undefined. Throws if the configured variable is not set. */
type TokenLookup = GitAccess['tokenFor']

function createTokenLookup(
  name: TokenSetting,
  entries: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): TokenLookup {
  const variables = parseTokens(name, entries)
  return (host) => {
    const variable = variables.get(host.toLowerCase())
    if (variable === undefined) return undefined
    const token = (environment[variable] ?? '').trim()
    if (token !== '') return token
    const problem = `${variable}, which should hold the token for ${host}, is not set`
    throw new PharosError('CONFIG_INVALID', { origin: name, problem })
  }
}

/** The settings with the type and the endpoint of each service: an endpoint without a type would never be used. */
const SERVICES = [
  ['embedder', 'embedEndpoint'],
  ['reranker', 'rerankEndpoint'],
] as const satisfies readonly (readonly [SettingName, SettingName])[]

function refuseUnused(name: SettingName, endpoint: SettingName): never {
  const { choices = [], default: defaultChoice } = SETTINGS[name]
  const serviceTypes = choices.filter((choice) => choice !== defaultChoice)
  const problem = `expected ${serviceTypes.join(' or ')}, because ${endpoint} names a service`
  throw new PharosError('CONFIG_INVALID', { origin: name, problem })
}

/** A given value, and the name of its origin for messages. */
interface GivenValue {
  readonly origin: SettingOrigin
  readonly label: string
  readonly value: unknown
}

/** Removes empty variables: `NAME=` in a script means not set. */
function withoutEmpty(environment: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

/** `maxFileBytes` → `max-file-bytes` */
export function flagName(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxFileBytes` → `PHAROS_MAX_FILE_BYTES` */
export function variableName(setting: SettingName): string {
  return `PHAROS_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function settingNames(): SettingName[] {
  return Object.keys(SETTINGS) as SettingName[]
}

function defaultValue(name: SettingName, environment: Readonly<Record<string, string | undefined>>): Value {
  if (name === 'cacheFolder') return cacheHome(environment)
  if (name === 'library') return join(dataFolder(environment), 'pharos', 'library.db')
  return SETTINGS[name].default
}

/** Whether the terminal supports only plain text. */
export function isDumbTerminal(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return environment['TERM'] === 'dumb'
}

/** Terminals known to support hyperlinks, by their program name. */
const HYPERLINK_PROGRAMS = new Set(['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'rio', 'zed', 'WarpTerminal'])
const HYPERLINK_TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|wezterm|contour|rio)/

/** Whether the terminal supports hyperlinks behind text (OSC 8). Guessed from the environment, because terminals cannot be asked. */
export function canShowHyperlinks(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const forced = environment['FORCE_HYPERLINK'] ?? ''
  if (forced !== '') return forced !== '0'
  const program = environment['TERM_PROGRAM'] ?? ''
  // Inside tmux, tmux displays the output; tmux passes links on since version 3.4.
  if (program === 'tmux') return Number.parseFloat(environment['TERM_PROGRAM_VERSION'] ?? '') >= 3.4
  if (environment['TERM'] === 'dumb' || /^(?:screen|tmux)/.test(environment['TERM'] ?? '')) return false
  return (
    HYPERLINK_PROGRAMS.has(program) ||
    HYPERLINK_TERMS.test(environment['TERM'] ?? '') ||
    Number(environment['VTE_VERSION'] ?? 0) >= 5000 ||
    (environment['WT_SESSION'] ?? environment['KONSOLE_VERSION'] ?? '') !== ''
  )
}

/** Folder of Node's compile cache, inside the cache folder. */
export function codeCacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(cacheHome(withoutEmpty(environment)), 'code')
}

/** Folder for data that can be recreated. */
function cacheHome(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pharos')
}

/** Folder for user data of programs. */
function dataFolder(environment: Readonly<Record<string, string | undefined>>): string {
  if (process.platform === 'win32') return environment['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  const given = environment['XDG_DATA_HOME'] ?? ''
  // The XDG specification requires relative paths to be ignored.
  return isAbsolute(given) ? given : join(homedir(), '.local', 'share')
}

/** Folders in which programs of this user keep their configuration. */
export function userFolders(environment: Readonly<Record<string, string | undefined>> = process.env): {
  readonly home: string
  readonly applicationConfig: string
  readonly config: string
} {
  const home = homedir()
  const given = environment['XDG_CONFIG_HOME'] ?? ''
  const config = isAbsolute(given) ? given : join(home, '.config')
  if (process.platform === 'win32') {
    const roaming = environment['APPDATA'] || join(home, 'AppData', 'Roaming')
    return { home, applicationConfig: roaming, config: roaming }
  }
  const isMac = process.platform === 'darwin'
  return { home, applicationConfig: isMac ? join(home, 'Library', 'Application Support') : config, config }
}

/** Folder for local data that belongs to a library but is not in it: the folder of its file, or a separate one for a database. */
export function libraryDataFolder(
  library: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (!isPostgres(library)) return dirname(library)
  const digest = createHash('sha256').update(nameDatabase(library)).digest('hex').slice(0, 16)
  return join(dataFolder(environment), 'pharos', 'postgres', digest)
}

/** A value for display, without its secret part: the credentials in an address, or the whole value of a key. */
export function redactValue(name: SettingName, value: Value): Value {
  const { isSecret = false, mayBePostgres = false, type } = SETTINGS[name]
  if (mayBePostgres) return hidePassword(String(value))
  if (!isSecret || typeof value !== 'string') return value
  if (type !== 'url') return value === '' ? '' : '…'
  if (!hasCredentials(value)) return value
  const url = new URL(value)
  return `${url.protocol}//…@${url.host}${url.pathname}`
}

/** Value that disables the configuration file. */
const NO_FILE = 'none'

/**
 * The environment of a child process with the same settings, except those of the server, above all its token. The child reads no
 * configuration file, because this environment has all effective values.
 */
export function writeEnvironment(
  values: Config,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('PHAROS_'))
  const own = settingNames()
    .filter((name) => SETTINGS[name].isServerOnly !== true)
    .map((name) => [variableName(name), writeVariable(name, values[name])])
  return { ...Object.fromEntries(others), ...Object.fromEntries(own), PHAROS_CONFIG: NO_FILE }
}

/** Formats a value for its environment variable. */
function writeVariable(name: SettingName, value: Value): string {
  if (SETTINGS[name].type === 'duration') return `${Number(value)}ms`
  return typeof value === 'object' ? value.join(',') : String(value)
}

/** Formats a value for display. */
export function writeValue(name: SettingName, given: Value): string {
  const value = redactValue(name, given)
  if (typeof value === 'object') return value.length === 0 ? 'none' : value.join(', ')
  if (SETTINGS[name].type === 'duration') return writeDuration(Number(value))
  return value === '' ? 'none' : String(value)
}

/** Parses a value according to the table. A relative path is resolved against `folder`. */
function parseValue(name: SettingName, { origin, label, value }: GivenValue, folder: string): Value {
  const setting = SETTINGS[name]
  const { least = 0, most = Number.MAX_SAFE_INTEGER } = setting
  const refuse = (expected: string, showsValue = setting.isSecret !== true): never => {
    const problem = `expected ${expected}${showsValue ? `, got ${JSON.stringify(value)}` : ''}`
    throw origin === 'flag'
      ? new PharosError('USAGE', { problem: `${label}: ${problem}` })
      : new PharosError('CONFIG_INVALID', { origin: label, problem })
  }
  // Without this check, `String` would turn an array with one entry into that entry.
  const text = typeof value === 'object' ? '' : String(value)
  switch (setting.type) {
    case 'switch':
      if (value === true || text === 'true' || text === '1') return true
      if (value === false || text === 'false' || text === '0') return false
      return refuse('true or false')
    case 'path':
      if (typeof value !== 'string' || value === '') return refuse('a path')
      if (setting.mayBePostgres !== true) return resolve(folder, value)
      return isPostgres(value) ? value : resolve(folder, refuseMistypedAddress(value, refuse))
    case 'url':
      if (value === '' && setting.default === '') return ''
      if ((setting.key !== undefined || setting.isCredentialFree === true) && hasCredentials(text)) {
        const instead = setting.key === undefined ? '' : `: give a key as ${setting.key}`
        return refuse(`an address without user name and password${instead}`)
      }
      if (typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return new URL(value).href
      return refuse('an address with http or https')
    case 'text': {
      if (typeof value !== 'string' || value.trim() === '') return refuse('a text')
      const { choices, isVerbatim = false } = setting
      if (choices !== undefined && !choices.includes(value.trim())) return refuse(`one of ${choices.join(', ')}`)
      return isVerbatim ? value : value.trim()
    }
    case 'list':
      return parseList(value) ?? refuse('a list of texts')
    case 'bytes': {
      const bytes = parseBytes(text)
      return bytes !== undefined && bytes >= least ? bytes : refuse('a number of bytes such as 10MB')
    }
    case 'duration': {
      const ms = parseDuration(text)
      const isWithin = ms !== undefined && ms >= least && ms <= most
      return isWithin ? ms : refuse(describeDuration(setting))
    }
    case 'count': {
      const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
      const range = setting.most === undefined ? `${least} up` : `${least} to ${most}`
      return Number.isSafeInteger(count) && count >= least && count <= most
        ? count
        : refuse(`a whole number from ${range}`)
    }
  }
}

/** Refuses a library path that looks like a mistyped address. */
function refuseMistypedAddress(value: string, refuse: (expected: string, showsValue: boolean) => never): string {
  const expected = findLibraryProblem(value)
  return expected === undefined ? value : refuse(expected, false)
}

/** Describes the allowed durations, with examples if there is no limit. */
function describeDuration({ least = 0, most }: Setting): string {
  if (most !== undefined) return `a duration from ${writeDuration(least)} to ${writeDuration(most)}`
  if (least > 1) return `a duration of at least ${writeDuration(least)}`
  return 'a duration such as 200ms, 90s, 15m, 2h or 7d'
}

/** Parses a list: an array in a file, comma-separated text elsewhere. Undefined if it is neither. */
function parseList(value: unknown): readonly string[] | undefined {
  const entries: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(',')
      : [value]
  if (!entries.every((entry) => typeof entry === 'string')) return undefined
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

function readConfigFile(
  given: string | undefined,
  folder: string,
): { file: string | undefined; values: Readonly<Record<string, unknown>> } {
  if (given === NO_FILE) return { file: undefined, values: {} }
  const file = resolve(folder, given ?? FILE_NAME)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (given === undefined && isMissing) return { file: undefined, values: {} }
    const problem = isMissing ? 'it does not exist' : 'it cannot be read'
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
  const values = flattenGroups(parseObject(text, file), file)
  for (const key of Object.keys(values)) {
    if (key === '$schema' || Object.hasOwn(SETTINGS, key)) continue
    const nearest = findNearest(key, settingNames())
    const problem = `unknown setting ${JSON.stringify(key)}${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`
    throw new PharosError('CONFIG_INVALID', { origin: file, problem })
  }
  return { file, values }
}

/** Related settings may be grouped in an object: `{"crawl4ai": {"endpoint": …}}` is `crawl4aiEndpoint`. */
const GROUPS = ['crawl4ai', 'embed', 'rerank', 'qdrant', 'render']

function flattenGroups(values: Readonly<Record<string, unknown>>, file: string): Readonly<Record<string, unknown>> {
  const refuse = (problem: string): never => {
    throw new PharosError('CONFIG_INVALID', { origin: file, problem })
  }
  const flat = Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    // `embed` is both a group and a switch.
    if (!GROUPS.includes(key) || (Object.hasOwn(SETTINGS, key) && typeof value !== 'object')) return [[key, value]]
    if (!isObject(value)) return refuse(`${key}: expected an object of settings`)
    return Object.entries(value).map(([name, inner]) => [
      `${key}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      inner,
    ])
  })
  const names = flat.map(([name]) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  return twice === undefined ? Object.fromEntries(flat) : refuse(`${twice} is given twice`)
}

function parseObject(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // The message of the parser quotes the input, which may hold a password, so the quote is removed.
    const problem = `not JSON: ${cause.message.replace(/, (?:\.\.\.)?"[\s\S]*$/, '')}`
    throw new PharosError('CONFIG_UNREADABLE', { file, problem }, { cause })
  }
  throw new PharosError('CONFIG_UNREADABLE', { file, problem: 'expected a JSON object' })
}

/** Checks only the shape; each value is checked with its setting. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
