import type { Setting } from './settings.ts'

/** Settings that only servers and workers use, so that their child processes do not get them. */
export interface ServerConfig {
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

export const SERVER_SETTINGS: Readonly<Record<keyof ServerConfig, Setting>> = {
  host: {
    type: 'text',
    default: '127.0.0.1',
    description: 'listen at this address; requires a token if other machines can reach it (default: 127.0.0.1)',
  },
  port: {
    type: 'count',
    default: 0,
    most: 65_535,
    description: 'listen at this port, 0 for the first free one from 41000 up',
  },
  tokenFile: {
    type: 'path',
    default: '',
    description: 'file with the token that every request must send; PHAROS_TOKEN can hold the token instead',
  },
  token: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'the token that every request must send',
  },
  allowedHosts: {
    type: 'list',
    default: [],
    description: 'further host names that the server accepts: pharos.example,192.0.2.7',
  },
  allowedOrigins: {
    type: 'list',
    default: [],
    description: 'origins of other sites whose pages may read answers: https://example.com',
  },
  maxCrawls: { type: 'count', default: 1, least: 1, most: 64, description: 'crawls to run at once' },
  maxRequests: {
    type: 'count',
    default: 32,
    least: 1,
    most: 1024,
    description: 'requests in flight at once, over all crawls',
  },
  workers: {
    type: 'count',
    default: 1,
    most: 1,
    description: 'on a library in PostgreSQL: 1 to run crawls in the server too, 0 to leave all to pharos worker',
  },
  drainTime: {
    type: 'duration',
    default: 10_000,
    most: 3_600_000,
    description: 'grace period for running crawls when a worker stops; then other workers continue them',
  },
  defaultStartUrl: {
    type: 'url',
    default: '',
    hasFlag: false,
    description: 'start URL of POST /api/crawl when the body has none',
  },
  traceStart: {
    type: 'switch',
    default: false,
    hasFlag: false,
    description: 'log how long each step of a crawl start takes',
  },
}
