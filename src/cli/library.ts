import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, join } from 'node:path'
import type { Command } from 'commander'
import {
  clientPlaces,
  type EffectiveConfig,
  libraryDataFolder,
  readGitAccess,
  readRegistryTokens,
  readSiteHeaders,
} from '../config.ts'
import { PharosError, usageError } from '../core/errors.ts'
import { isPostgres } from '../core/url/postgres-address.ts'
import { hostRuleOf } from '../library/ports/download.ts'
import type { RegistriesOption } from '../library/ports/registries.ts'
import { labelOf, type Source } from '../library/source.ts'
import type { ConnectionOptions, EmbeddingOptions, RerankingOptions } from '../open-connections.ts'
import type { LibraryOptions, OpenLibrary } from '../open-library.ts'
import type { ProjectReaderSettings } from '../project/open-project.ts'
import { type Config, flagName, SETTINGS, type SettingName, variableName } from '../settings/settings.ts'
import { redactValue } from '../settings/write-value.ts'
import { VERSION } from '../version.ts'
import { AdvisedError } from './advised-error.ts'
import { findCommandNames } from './command-names.ts'
import { addCommonOptions, addSettings } from './options/options.ts'
import { printableLine, shellWord } from './terminal.ts'

/** Settings of the commands that fetch. */
export const FETCH_SETTINGS: readonly SettingName[] = [
  'allowPrivate',
  'concurrency',
  'hosts',
  'requestInterval',
  'maxPageBytes',
  'maxMemory',
  'contactUrl',
  'proxy',
  'browser',
]

/** Settings of the commands that read web sites, folders, repositories and packages. */
export const READ_SETTINGS: readonly SettingName[] = [...FETCH_SETTINGS, 'maxFileBytes', 'maxArchiveBytes']

/** Adds the options of a command that uses a library, and flags for further settings. */
export function addLibraryOptions(command: Command, settings: readonly SettingName[] = []): Command {
  return addSettings(addCommonOptions(command), ['library', ...settings])
}

/** Opens the configured library, which the caller must close. `notice` receives the notices about the library. */
export async function openConfiguredLibrary(
  { values }: Pick<EffectiveConfig, 'values'>,
  notice: (text: string) => void = (text) => void process.stderr.write(`${printableLine(text)}\n`),
  options: Pick<LibraryOptions, 'busyMs' | 'connections' | 'registries'> = {},
): Promise<OpenLibrary> {
  if (basename(values.library) === ':memory:') {
    const problem = '--library: expected a file, got :memory:, which would be gone with this command'
    throw usageError(problem)
  }
  // Loaded on demand: the database and the HTTP client would slow down every command that does not need them.
  const { openLibrary } = await import('../open-library.ts')
  return openLibrary({
    path: values.library,
    ...(isPostgres(values.library) ? { importFolder: join(libraryDataFolder(values.library), 'imports') } : {}),
    notice,
    allowPrivate: values.allowPrivate,
    version: VERSION,
    ...(values.contactUrl === '' ? {} : { contactUrl: values.contactUrl }),
    ...(values.proxy === '' ? {} : { proxy: values.proxy }),
    embed: values.embed,
    ...(values.embedThreads === 0 ? {} : { embedThreads: values.embedThreads }),
    ...connectionsOf(values),
    maxPageBytes: values.maxPageBytes,
    maxFileBytes: values.maxFileBytes,
    exclude: values.failures === '' ? [] : [values.failures, `${values.failures}.1`],
    maxArchiveBytes: values.maxArchiveBytes,
    registries: {
      npm: values.npmRegistry,
      pypi: values.pypiRegistry,
      crates: values.cratesRegistry,
      maven: values.mavenRegistry,
    },
    ...options,
    registryToken: readRegistryTokens(values),
    git: readGitAccess(values),
    siteHeaders: readSiteHeaders(values),
    firstByteTimeoutMs: values.firstByteTimeout,
    answerTimeoutMs: values.answerTimeout,
    maxHeaderBytes: values.maxHeaderBytes,
    limits: {
      concurrency: values.concurrency,
      hosts: values.hosts,
      intervalMs: values.requestInterval,
      startIntervalMs: values.startInterval,
      jitterMs: [values.jitterMin, values.jitterMax],
      redirects: values.maxRedirects,
      sitemapEntries: values.maxSitemapEntries,
      ledgerRows: values.maxAddresses,
      memoryBytes: values.maxMemory,
      fullMs: values.fullDiskTime,
    },
  })
}

/**
 * Reads the registries of packages: those of the settings, then those that the package managers of the user are configured for. Only for
 * commands that the user runs. A server does not call it, because its clients would reach registries, with tokens, that its owner never
 * gave it. `project` is a folder that the user named, whose settings count too.
 */
export function registriesOf(
  { values, origins }: Pick<EffectiveConfig, 'values' | 'origins'>,
  project?: string,
): RegistriesOption {
  const configured = Object.fromEntries(
    REGISTRY_SETTINGS.flatMap(([type, name]) => (origins[name] === 'default' ? [] : [[type, values[name]]])),
  )
  return async () => {
    const { readRegistries } = await import('../project/clients/read-registries.ts')
    return readRegistries(configured, { ...clientPlaces(), ...(project === undefined ? {} : { project }) })
  }
}

/** The settings of package managers for reading a project: those of the user, and for the registries those of the project too. */
export function projectSettingsOf(
  config: Pick<EffectiveConfig, 'values' | 'origins'>,
  project: string,
): ProjectReaderSettings {
  return {
    registries: registriesOf(config, project),
    findMavenRepository: async () => {
      const { findLocalRepository } = await import('../project/clients/maven-settings.ts')
      return findLocalRepository(clientPlaces())
    },
  }
}

const REGISTRY_SETTINGS = [
  ['npm', 'npmRegistry'],
  ['pypi', 'pypiRegistry'],
  ['crates', 'cratesRegistry'],
  ['maven', 'mavenRegistry'],
] as const

/** The options of the configured services. */
export function connectionsOf(values: Config): ConnectionOptions {
  const { embedder, reranker } = values
  return {
    browser: {
      ...(values.browser === '' ? {} : { path: values.browser }),
      concurrency: values.renderConcurrency,
      timeoutMs: values.renderTimeout,
    },
    crawl4ai: {
      endpoint: values.crawl4aiEndpoint,
      ...optionalField('token', values.crawl4aiToken),
      timeoutMs: values.crawl4aiTimeout,
      concurrency: values.crawl4aiConcurrency,
      retries: values.crawl4aiRetries,
    },
    ...(embedder === 'tei' || embedder === 'openai' ? { embedding: embeddingOf(embedder, values) } : {}),
    ...(reranker === 'tei' || reranker === 'hosted' ? { reranking: rerankingOf(reranker, values) } : {}),
    ...(values.qdrantUrl === ''
      ? {}
      : {
          qdrant: {
            url: values.qdrantUrl,
            collection: values.qdrantCollection,
            ...optionalField('key', values.qdrantKey),
          },
        }),
  }
}

function embeddingOf(type: 'tei' | 'openai', values: Config): EmbeddingOptions {
  const { embedEndpoint, embedModel: model, embedDimensions } = values
  requireSetting('embedEndpoint', embedEndpoint, `the address of a service, because embedder is ${type}`)
  if (type === 'openai') requireSetting('embedModel', model, 'the name of a model, because embedder is openai')
  return {
    type,
    endpoint: embedEndpoint,
    ...(model === '' ? {} : { model }),
    ...optionalField('key', values.embedKey),
    batch: values.embedBatch,
    batchBytes: values.embedBatchBytes,
    timeoutMs: values.embedTimeout,
    textPrefix: values.embedTextPrefix,
    queryPrefix: values.embedQueryPrefix,
    ...(embedDimensions === 0 ? {} : { dimensions: embedDimensions }),
  }
}

function rerankingOf(type: 'tei' | 'hosted', values: Config): RerankingOptions {
  const { rerankEndpoint: endpoint, rerankModel: model } = values
  requireSetting('rerankEndpoint', endpoint, `the address of a service, because reranker is ${type}`)
  if (type === 'hosted') requireSetting('rerankModel', model, 'the name of a model, because reranker is hosted')
  return {
    type,
    endpoint,
    ...(model === '' ? {} : { model }),
    ...optionalField('key', values.rerankKey),
    candidates: values.rerankCandidates,
    budgetMs: values.rerankBudget,
  }
}

/** Throws if a setting that another one requires is empty. */
function requireSetting(name: SettingName, value: string, expected: string): void {
  if (value !== '') return
  const ways = [...(SETTINGS[name].hasFlag === false ? [] : [`--${flagName(name)}`]), variableName(name)]
  const problem = `expected ${expected}, got none; give it with ${ways.join(' or ')}`
  throw new PharosError('CONFIG_INVALID', { origin: name, problem })
}

function optionalField<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>)
}

/**
 * Opens the configured library while the work runs. `words` are the arguments that suggested crawl commands repeat. `open` replaces the
 * default way to open the library.
 */
export async function withLibrary<T>(
  config: EffectiveConfig,
  work: (library: OpenLibrary) => Promise<T>,
  words: readonly string[] = [],
  open: () => Promise<OpenLibrary> = () => openConfiguredLibrary(config),
): Promise<T> {
  const library = await open()
  try {
    return await work(library)
  } catch (error) {
    throw await advise(error, library, config, words)
  } finally {
    await library.close()
  }
}

/** Replaces the advice of some errors by commands that use the same library. */
async function advise(
  error: unknown,
  { store }: OpenLibrary,
  config: EffectiveConfig,
  words: readonly string[],
): Promise<unknown> {
  if (!(error instanceof PharosError) || error instanceof AdvisedError) return error
  const label = String(error.details['source'])
  switch (error.code) {
    case 'SOURCE_EXISTS': {
      const source = (await store.listSources()).find((one) => labelOf(one) === label)
      const again = (await createHintFor(config, source))('recrawl', label, ...words)
      return new AdvisedError(
        error,
        `crawl it again with \`${again}\`, or give the new one another --name or --version`,
      )
    }
    case 'CRAWL_RUNNING':
      return new AdvisedError(
        error,
        `wait for it to end; \`${createHint(config)('status', label)}\` shows its progress`,
      )
    case 'CRAWL_UNFINISHED': {
      const source = (await store.listSources()).find((one) => labelOf(one) === label)
      const finish = (await createHintFor(config, source))('recrawl', label)
      return new AdvisedError(error, `finish it with \`${finish}\`, then run the same command again`)
    }
    case 'SOURCE_UNKNOWN':
      return new AdvisedError(
        error,
        `\`${createHint(config)('list')}\` lists the sources; refer to one by its id, name, name@version or start URL`,
      )
    default:
      return error
  }
}

/** Writes a command that a user can copy: `('retry', 'docs')` → `pharos retry docs`. */
export type Hint = (verb: string, ...words: string[]) => string

/** Commands that fetch. */
const FETCH_VERBS: ReadonlySet<string> = new Set(['add', 'recrawl', 'refresh', 'retry', 'fetch', 'serve'])

/**
 * Creates hints that use the same library, and may reach the same private hosts, as the current command. If the configuration allows no
 * private hosts, the hints allow only `privateHost`.
 */
export function createHint({ values, origins }: Pick<EffectiveConfig, 'values' | 'origins'>, privateHost = ''): Hint {
  const library = origins.library === 'flag' ? ['--library', shownLibrary(values)] : []
  const hosts = values.allowPrivate.join(',') || privateHost
  const needsFlag = hosts !== '' && (origins.allowPrivate === 'flag' || values.allowPrivate.length === 0)
  const allowance = needsFlag ? [hosts === '*' ? '--allow-private' : `--allow-private=${hosts}`] : []
  return (verb, ...words) => {
    const flags = FETCH_VERBS.has(verb) ? [...allowance, ...library] : library
    return [findCommandNames().here, verb, ...[...words, ...flags].map((word) => quoteWord(word))].join(' ')
  }
}

/** Creates hints for commands about a source. */
export async function createHintFor(config: EffectiveConfig, source: Pick<Source, 'url'> | undefined): Promise<Hint> {
  const host = hostRuleOf(source?.url ?? 'https://example.com/')
  return createHint(config, (await isPrivateHost(host)) ? host : '')
}

/** Whether a host is private, judged by its name alone. */
async function isPrivateHost(host: string): Promise<boolean> {
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  const { isPublicAddress } = await import('../fetch/addresses.ts')
  return isIP(host) !== 0 && !isPublicAddress(host)
}

/** Placeholders such as `<url>` are not quoted. */
function quoteWord(word: string): string {
  return /^<\w+>$/.test(word) ? word : shellWord(printableLine(word))
}

/** The configured library without credentials. */
export function shownLibrary(values: Config): string {
  return String(redactValue('library', values.library))
}

/** The message for a library without sources. */
export function writeEmptyLibrary(location: string, hint: Hint): string {
  return `${printableLine(location)} has no sources yet; add one: ${hint('add', '<url>')}`
}

/** Lists the names of the sources in a library file, without creating it or opening it for writing. */
export async function nameSources(path: string): Promise<readonly Pick<Source, 'name' | 'version'>[]> {
  if (!existsSync(path)) return []
  const { listSourceNames } = await import('../store/sqlite/list-source-names.ts')
  return listSourceNames(path)
}

/** The label of a source, safe to print. */
export function printableLabel(source: Pick<Source, 'name' | 'version'>): string {
  return printableLine(labelOf(source))
}

/** The fields that identify a source in JSON. */
export function sourceRecord({ id, name, version, url }: Source): Record<string, unknown> {
  return { id, name, version, url }
}
