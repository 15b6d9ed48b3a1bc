import { DEFAULT_LIMITS, MIN_MAX_CHARS } from '../core/limits.ts'
import { PUBLIC_REGISTRIES } from '../core/url/package-url.ts'
import type { Setting } from './settings.ts'

/** Settings for files, packages and repositories, and where data is kept. */
export interface FileConfig {
  readonly maxFileBytes: number
  readonly maxArchiveBytes: number
  readonly npmRegistry: string
  readonly pypiRegistry: string
  readonly cratesRegistry: string
  readonly mavenRegistry: string
  /** Hosts with the names of the variables that hold their tokens: `github.com=GITHUB_TOKEN`. */
  readonly gitTokens: readonly string[]
  /** Hosts of registries with the names of the variables that hold their tokens: `npm.example.com=NPM_TOKEN`. */
  readonly registryTokens: readonly string[]
  readonly maxTotalBytes: number
  readonly maxChunksPerFile: number
  readonly maxTotalChunks: number
  readonly chunkTargetChars: number
  readonly chunkMaxChars: number
  readonly cache: boolean
  readonly cacheFolder: string
  /** A file path, or the address of a database, which may hold a password: display it only with `redactValue`. */
  readonly library: string
  /** Empty for a file beside the library. */
  readonly failures: string
}

export const FILE_SETTINGS: Readonly<Record<keyof FileConfig, Setting>> = {
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
  cache: { type: 'switch', default: true, description: 'use the cache, which avoids reading unchanged files again' },
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
}
