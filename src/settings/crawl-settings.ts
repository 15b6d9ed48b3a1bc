import type { Setting } from './settings.ts'

/** Settings for crawls: rendering, pace, limits and identity. Durations are in milliseconds. */
export interface CrawlConfig {
  readonly crawl4aiEndpoint: string
  /** Empty when there is none. Never shown. */
  readonly crawl4aiToken: string
  readonly crawl4aiTimeout: number
  readonly crawl4aiConcurrency: number
  readonly crawl4aiRetries: number
  readonly crawl4aiFailOnError: boolean
  /** Empty to search for a browser. */
  readonly browser: string
  readonly renderConcurrency: number
  readonly renderTimeout: number
  readonly allowPrivate: readonly string[]
  readonly concurrency: number
  readonly hosts: number
  readonly requestInterval: number
  readonly startInterval: number
  readonly jitterMin: number
  readonly jitterMax: number
  readonly firstByteTimeout: number
  readonly answerTimeout: number
  readonly maxHeaderBytes: number
  readonly maxRedirects: number
  readonly maxSitemapEntries: number
  readonly maxAddresses: number
  readonly maxPageBytes: number
  readonly maxMemory: number
  readonly fullDiskTime: number
  readonly maxAge: number
  /** Empty when there is none. */
  readonly contactUrl: string
  /** Empty when there is none. May hold a password: display it only with `redactValue`. */
  readonly proxy: string
  /** Origins with headers and the names of the variables that hold their values: `docs.example.com Cookie=DOCS_COOKIE`. */
  readonly siteHeaders: readonly string[]
}

export const CRAWL_SETTINGS: Readonly<Record<keyof CrawlConfig, Setting>> = {
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
  concurrency: { type: 'count', default: 16, least: 1, most: 256, description: 'pages to fetch at once' },
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
  jitterMin: { type: 'duration', default: 25, hasFlag: false, description: 'minimum jitter added to each pause' },
  jitterMax: { type: 'duration', default: 50, hasFlag: false, description: 'maximum jitter added to each pause' },
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
  maxRedirects: { type: 'count', default: 10, hasFlag: false, description: 'redirects to follow in a row' },
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
  siteHeaders: {
    type: 'list',
    default: [],
    hasFlag: false,
    description:
      'variables that hold headers for sites behind a login, {"docs.example.com": {"Cookie": "DOCS_COOKIE"}}; never their values',
  },
}
