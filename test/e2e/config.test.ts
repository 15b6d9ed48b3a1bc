import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type ConfigInput,
  canShowHyperlinks,
  isDumbTerminal,
  libraryDataFolder,
  readConfig,
  readGitAccess,
  readRegistryTokens,
  writeEnvironment,
} from '../../src/config.ts'
import { flagName, SETTINGS, type SettingName, variableName } from '../../src/settings/settings.ts'
import { redactValue, writeValue } from '../../src/settings/write-value.ts'

let folder = ''

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pharos-config-')))
})

afterEach(() => {
  fs.rmSync(folder, { recursive: true })
})

function read(file: unknown, input: ConfigInput = {}) {
  if (file !== undefined) fs.writeFileSync(join(folder, 'pharos.config.json'), JSON.stringify(file))
  return readConfig({ folder, environment: { XDG_CACHE_HOME: '/cache', XDG_DATA_HOME: '/data' }, ...input })
}

function refusal(file: unknown, input: ConfigInput = {}): string {
  try {
    read(file, input)
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(folder, 'FOLDER') : 'not an error'
  }
  return 'accepted'
}

describe('a setting', () => {
  test('a setting that is not given has its default', () => {
    const { values, origins, file } = read(undefined)
    expect(values).toEqual({
      maxFileBytes: 10 * 2 ** 20,
      maxArchiveBytes: 2 ** 30,
      npmRegistry: 'https://registry.npmjs.org/',
      pypiRegistry: 'https://pypi.org/',
      cratesRegistry: 'https://index.crates.io/',
      mavenRegistry: 'https://repo.maven.apache.org/maven2',
      gitTokens: [],
      registryTokens: [],
      maxTotalBytes: 50 * 2 ** 20,
      maxChunksPerFile: 2000,
      maxTotalChunks: 250_000,
      chunkTargetChars: 4000,
      chunkMaxChars: 8000,
      cache: true,
      cacheFolder: '/cache/pharos',
      library: '/data/pharos/library.db',
      failures: '',
      embed: true,
      embedThreads: 0,
      embedder: 'built-in',
      embedEndpoint: '',
      embedModel: '',
      embedKey: '',
      embedDimensions: 0,
      embedBatch: 32,
      embedBatchBytes: 2 ** 20,
      embedTimeout: 30_000,
      embedTextPrefix: '',
      embedQueryPrefix: '',
      reranker: 'none',
      rerankEndpoint: '',
      rerankModel: '',
      rerankKey: '',
      rerankCandidates: 50,
      rerankBudget: 1000,
      qdrantUrl: '',
      qdrantCollection: 'pharos',
      qdrantKey: '',
      crawl4aiEndpoint: 'http://localhost:52004/',
      crawl4aiToken: '',
      crawl4aiTimeout: 60_000,
      crawl4aiConcurrency: 5,
      crawl4aiRetries: 3,
      crawl4aiFailOnError: false,
      browser: '',
      renderConcurrency: 2,
      renderTimeout: 30_000,
      allowPrivate: [],
      concurrency: 16,
      hosts: 100_000,
      requestInterval: 200,
      startInterval: 1000,
      jitterMin: 25,
      jitterMax: 50,
      firstByteTimeout: 10_000,
      answerTimeout: 30_000,
      maxHeaderBytes: 65_536,
      maxRedirects: 10,
      maxSitemapEntries: 200_000,
      maxAddresses: 1_000_000,
      maxMemory: 512 * 2 ** 20,
      fullDiskTime: 300_000,
      maxPageBytes: 20 * 2 ** 20,
      maxAge: 0,
      contactUrl: '',
      proxy: '',
      siteHeaders: [],
      host: '127.0.0.1',
      port: 0,
      tokenFile: '',
      token: '',
      allowedHosts: [],
      allowedOrigins: [],
      maxCrawls: 1,
      maxRequests: 32,
      workers: 1,
      drainTime: 10_000,
      defaultStartUrl: '',
      traceStart: false,
    })
    expect([...new Set(Object.values(origins))]).toEqual(['default'])
    expect(file).toBeUndefined()
  })

  test('a flag overrides the environment, and the environment overrides the file', () => {
    const { values, origins } = read(
      { maxFileBytes: '1MB', maxTotalBytes: '1MB', maxChunksPerFile: 1 },
      {
        environment: { PHAROS_MAX_TOTAL_BYTES: '2 MB', PHAROS_MAX_CHUNKS_PER_FILE: '2' },
        flags: { maxChunksPerFile: '3' },
      },
    )
    expect(values).toMatchObject({ maxFileBytes: 2 ** 20, maxTotalBytes: 2 ** 21, maxChunksPerFile: 3 })
    expect(origins).toMatchObject({
      maxFileBytes: 'file',
      maxTotalBytes: 'environment',
      maxChunksPerFile: 'flag',
      chunkMaxChars: 'default',
    })
  })

  test('an empty environment variable counts as not given', () => {
    const { origins, values } = read(
      { maxFileBytes: 5 },
      { environment: { PHAROS_MAX_FILE_BYTES: '', PHAROS_CONFIG: '' } },
    )
    expect([values.maxFileBytes, origins.maxFileBytes]).toEqual([5, 'file'])
  })

  test('a relative path in a configuration file starts at the folder of that file', () => {
    fs.mkdirSync(join(folder, 'etc'))
    fs.writeFileSync(join(folder, 'etc/mine.json'), '{ "cacheFolder": "cache" }')
    expect(read(undefined, { file: 'etc/mine.json' }).values.cacheFolder).toBe(join(folder, 'etc/cache'))
  })

  test('a list is an array in the file and comma-separated text elsewhere', () => {
    const list = ['localhost', '10.0.0.0/8']
    expect(read({ allowPrivate: list }).values.allowPrivate).toEqual(list)
    const environment = { PHAROS_ALLOW_PRIVATE: 'localhost, 10.0.0.0/8,' }
    expect(read({ allowPrivate: ['*'] }, { environment }).values.allowPrivate).toEqual(list)
    expect(read({}, { environment, flags: { allowPrivate: ['*'] } }).values.allowPrivate).toEqual(['*'])
  })

  test('a duration has a unit, or counts seconds', () => {
    const environment = { PHAROS_MAX_AGE: '7d', PHAROS_REQUEST_INTERVAL: '2' }
    expect(read({}, { environment }).values).toMatchObject({ maxAge: 604_800_000, requestInterval: 2000 })
    expect(read({ maxAge: 90, requestInterval: '50ms' }).values).toMatchObject({ maxAge: 90_000, requestInterval: 50 })
  })

  test("the default library is in the user's data folder, and a relative XDG_DATA_HOME is ignored", () => {
    expect(read({}, { environment: { XDG_DATA_HOME: 'data' } }).values.library).toMatch(
      /\/\.local\/share\/pharos\/library\.db$/,
    )
    expect(read({ library: 'my.db' }).values.library).toBe(join(folder, 'my.db'))
  })

  test.each([
    [{ maxFileBytes: '10 apples' }, 'maxFileBytes: expected a number of bytes such as 10MB, got "10 apples"'],
    [{ maxFileBytes: ['10MB'] }, 'maxFileBytes: expected a number of bytes such as 10MB, got ["10MB"]'],
    [{ maxFileBytes: null }, 'maxFileBytes: expected a number of bytes such as 10MB, got null'],
    [{ maxFileBytes: 0 }, 'maxFileBytes: expected a number of bytes such as 10MB, got 0'],
    [{ maxChunksPerFile: 1.5 }, 'maxChunksPerFile: expected a whole number from 1 up, got 1.5'],
    [{ chunkMaxChars: 63 }, 'chunkMaxChars: expected a whole number from 64 up, got 63'],
    [{ cache: 'maybe' }, 'cache: expected true or false, got "maybe"'],
    [{ cacheFolder: 7 }, 'cacheFolder: expected a path, got 7'],
    [{ concurrency: 0 }, 'concurrency: expected a whole number from 1 to 256, got 0'],
    [{ concurrency: 257 }, 'concurrency: expected a whole number from 1 to 256, got 257'],
    [{ maxAge: '1 week' }, 'maxAge: expected a duration such as 200ms, 90s, 15m, 2h or 7d, got "1 week"'],
    [{ maxAge: -1 }, 'maxAge: expected a duration such as 200ms, 90s, 15m, 2h or 7d, got -1'],
    [{ allowPrivate: true }, 'allowPrivate: expected a list of texts, got true'],
    [{ allowPrivate: [1] }, 'allowPrivate: expected a list of texts, got [1]'],
    [{ proxy: 'socks5://me:s3cret@proxy.example' }, 'proxy: expected an address with http or https'],
    [{ port: 65_536 }, 'port: expected a whole number from 0 to 65535, got 65536'],
    [{ host: ' ' }, 'host: expected a text, got " "'],
    [{ token: 12345 }, 'token: expected a text'],
    [{ contactUrl: 'me@example.org' }, 'contactUrl: expected an address with http or https, got "me@example.org"'],
    [{ embedder: 'tie' }, 'embedder: expected one of built-in, tei, openai, got "tie"'],
    [{ reranker: true }, 'reranker: expected a text, got true'],
    [{ embedKey: 12345 }, 'embedKey: expected a text'],
    [{ embedBatch: 2049 }, 'embedBatch: expected a whole number from 1 to 2048, got 2049'],
    [{ qdrantUrl: 'me:s3cret@qdrant' }, 'qdrantUrl: expected an address with http or https'],
    [{ crawl4aiEndpoint: '' }, 'crawl4aiEndpoint: expected an address with http or https'],
    [{ crawl4aiTimeout: '9s' }, 'crawl4aiTimeout: expected a duration from 10s to 5m, got "9s"'],
    [{ crawl4aiTimeout: 301 }, 'crawl4aiTimeout: expected a duration from 10s to 5m, got 301'],
    [{ crawl4aiTimeout: 'soon' }, 'crawl4aiTimeout: expected a duration from 10s to 5m, got "soon"'],
    [{ crawl4aiConcurrency: 21 }, 'crawl4aiConcurrency: expected a whole number from 1 to 20, got 21'],
    [{ crawl4aiRetries: 11 }, 'crawl4aiRetries: expected a whole number from 0 to 10, got 11'],
    [{ renderTimeout: '200ms' }, 'renderTimeout: expected a duration of at least 1s, got "200ms"'],
    [{ crawl4ai: { timeout: 5 } }, 'crawl4aiTimeout: expected a duration from 10s to 5m, got 5'],
  ])('a wrong value in the file is refused with the names of the file and the setting: %j', (file, problem) => {
    expect(refusal(file)).toBe(`configuration FOLDER/pharos.config.json: ${problem}`)
  })

  test('a proxy with a password is shown without the login', () => {
    const proxy = 'http://me:s3cret@proxy.example:3128/'
    const { values } = read({ proxy })
    expect(values.proxy).toBe(proxy)
    expect([redactValue('proxy', values.proxy), writeValue('proxy', values.proxy)]).toEqual(
      Array(2).fill('http://…@proxy.example:3128/'),
    )
    expect(writeValue('proxy', 'http://proxy.example:3128/')).toBe('http://proxy.example:3128/')
    expect(writeValue('proxy', '')).toBe('none')
  })

  test.each([
    ['embedEndpoint', 'embedKey'],
    ['rerankEndpoint', 'rerankKey'],
    ['qdrantUrl', 'qdrantKey'],
    ['crawl4aiEndpoint', 'crawl4aiToken'],
  ])('%s refuses a URL with a login and does not repeat the password', (name, key) => {
    for (const login of ['me:s3cret', 'me', ':s3cret']) {
      expect(refusal({ [name]: `https://${login}@service.example/v1` })).toBe(
        `configuration FOLDER/pharos.config.json: ${name}: expected an address without user name and password: give a key as ${key}`,
      )
    }
  })

  test.each([
    ['embedEndpoint', 'embedder', 'tei or openai', 'built-in'],
    ['rerankEndpoint', 'reranker', 'tei or hosted', 'none'],
  ])('%s requires the kind of the service', (endpoint, kind, kinds, none) => {
    const service = { [endpoint]: 'http://service.example/' }
    expect(refusal(service)).toBe(`configuration ${kind}: expected ${kinds}, because ${endpoint} names a service`)
    expect(refusal({ ...service, [kind]: 'tei' })).toBe('accepted')
    expect(refusal({ ...service, [kind]: none })).toBe('accepted')
  })

  test.each(['embedKey', 'rerankKey', 'qdrantKey', 'crawl4aiToken'] as const)('%s is never shown', (name) => {
    const { values } = read({}, { environment: { [variableName(name)]: ' s3cret ' } })
    expect([values[name], redactValue(name, values[name]), writeValue(name, values[name])]).toEqual([
      's3cret',
      '…',
      '…',
    ])
    expect(SETTINGS[name].hasFlag).toBe(false)
  })

  test.each(['npmRegistry', 'pypiRegistry', 'cratesRegistry', 'mavenRegistry'] as const)(
    '%s accepts another registry, but no URL with a password',
    (name) => {
      expect(read({ [name]: 'https://packages.example/x' }).values[name]).toBe('https://packages.example/x')
      expect(refusal({ [name]: 'https://me:s3cret@packages.example/' })).toBe(
        `configuration FOLDER/pharos.config.json: ${name}: expected an address without user name and password`,
      )
    },
  )

  test('gitTokens names environment variables, which are read only when needed', () => {
    const { values } = read({ gitTokens: ['GitHub.com=GITHUB_TOKEN', 'git.example:8443=TOKEN_2'] })
    const { environment, tokenFor } = readGitAccess(values, {
      PATH: '/bin',
      HOME: '/home/me',
      GITHUB_TOKEN: ' s3cret ',
      GIT_DIR: '/elsewhere',
      SSH_AUTH_SOCK: '',
    })
    expect(environment).toEqual({ PATH: '/bin', HOME: '/home/me' })
    expect([tokenFor('github.com'), tokenFor('gist.github.com')]).toEqual(['s3cret', undefined])
    expect(() => tokenFor('git.example:8443')).toThrow(
      'configuration gitTokens: TOKEN_2, which should hold the token for git.example:8443, is not set',
    )
    expect(writeEnvironment(values, { GITHUB_TOKEN: 's3cret' })).toMatchObject({
      GITHUB_TOKEN: 's3cret',
      PHAROS_GIT_TOKENS: 'GitHub.com=GITHUB_TOKEN,git.example:8443=TOKEN_2',
    })
    for (const entry of [
      'github.com',
      'github.com=ghp_s3cret',
      'https://github.com=A',
      'a=PHAROS_TOKEN',
      'me@host=A',
    ]) {
      expect(refusal({ gitTokens: [entry] })).toBe(
        'configuration gitTokens: expected hosts with names of variables, such as github.com=GITHUB_TOKEN; not PHAROS_… and not the token itself',
      )
    }
  })

  test('registryTokens names environment variables for registry hosts', () => {
    const { values } = read({ registryTokens: ['npm.example=NPM_TOKEN'] })
    const tokenFor = readRegistryTokens(values, { NPM_TOKEN: 's3cret' })
    expect([tokenFor('NPM.example'), tokenFor('other.example')]).toEqual(['s3cret', undefined])
    expect(() => readRegistryTokens(values, {})('npm.example')).toThrow(
      'configuration registryTokens: NPM_TOKEN, which should hold the token for npm.example, is not set',
    )
    expect(refusal({ registryTokens: ['npm.example=npm_s3cret'] })).toContain('configuration registryTokens: expected')
  })

  test('a prefix for texts keeps its spaces', () => {
    expect(read({ embedTextPrefix: 'passage: ' }).values.embedTextPrefix).toBe('passage: ')
    expect(read({ embedder: ' tei ' }).values.embedder).toBe('tei')
  })

  test('token is never shown', () => {
    const { values } = read({}, { environment: { PHAROS_TOKEN: 's3cret-s3cret-s3cret' } })
    expect(values.token).toBe('s3cret-s3cret-s3cret')
    expect([redactValue('token', values.token), writeValue('token', values.token)]).toEqual(['…', '…'])
    expect(writeValue('token', '')).toBe('none')
  })

  test('port and maxCrawls fall back to variables of other programs, after their own', () => {
    const environment = { PORT: '8080', UI_ALLOW_MULTI_JOBS: '1' }
    expect(read({ port: 1, maxCrawls: 2 }, { environment })).toMatchObject({
      values: { port: 8080, maxCrawls: 4 },
      origins: { port: 'environment', maxCrawls: 'environment' },
    })
    const withOwn = { ...environment, PHAROS_PORT: '9090', PHAROS_MAX_CRAWLS: '3' }
    expect(read({}, { environment: withOwn }).values).toMatchObject({ port: 9090, maxCrawls: 3 })
    expect(read({}, { environment: { PORT: '', UI_ALLOW_MULTI_JOBS: '0' } }).values).toMatchObject({
      port: 0,
      maxCrawls: 1,
    })
    expect(refusal({}, { environment: { PORT: 'http' } })).toBe(
      'configuration PORT: expected a whole number from 0 to 65535, got "http"',
    )
  })

  test('a wrong value of the environment or a flag is refused with the name of the variable or flag', () => {
    expect(refusal({}, { environment: { PHAROS_CACHE: 'perhaps' } })).toBe(
      'configuration PHAROS_CACHE: expected true or false, got "perhaps"',
    )
    expect(refusal({}, { flags: { maxFileBytes: 'lots' } })).toBe(
      '--max-file-bytes: expected a number of bytes such as 10MB, got "lots"',
    )
  })
})

describe('a configuration file', () => {
  test.each(['{ "proxy": s3cret', '{ "proxy": "http://me:s3cret@proxy.example/" "', '"s3cret" x'])(
    'a file that is not JSON is refused without being quoted (%j)',
    (text) => {
      fs.writeFileSync(join(folder, 'pharos.config.json'), text)
      expect(refusal(undefined)).toContain('not JSON')
      expect(refusal(undefined)).not.toContain('s3cret')
    },
  )

  test('a file with an unknown setting is refused with the nearest name', () => {
    expect(refusal({ maxFileByte: 1 })).toBe(
      'configuration FOLDER/pharos.config.json: unknown setting "maxFileByte", did you mean "maxFileBytes"?',
    )
    expect(refusal({ toString: 1 })).toBe('configuration FOLDER/pharos.config.json: unknown setting "toString"')
  })

  test('may hold related settings in a group', () => {
    const { values, origins } = read(
      {
        crawl4ai: { endpoint: 'http://crawler:11235', timeout: '2m', concurrency: 20, retries: 0, failOnError: true },
        embedder: 'tei',
        embed: { endpoint: 'http://tei:8080', threads: 2 },
        rerank: { candidates: 10 },
        qdrant: { url: 'http://qdrant:6333', collection: 'mine' },
        render: { concurrency: 4 },
      },
      { environment: { PHAROS_CRAWL4AI_ENDPOINT: 'http://other:11235', PHAROS_QDRANT_COLLECTION: 'theirs' } },
    )
    expect(values).toMatchObject({
      crawl4aiEndpoint: 'http://other:11235/',
      crawl4aiTimeout: 120_000,
      crawl4aiConcurrency: 20,
      crawl4aiRetries: 0,
      crawl4aiFailOnError: true,
      embedEndpoint: 'http://tei:8080/',
      embedThreads: 2,
      rerankCandidates: 10,
      qdrantUrl: 'http://qdrant:6333/',
      qdrantCollection: 'theirs',
      renderConcurrency: 4,
    })
    expect(origins).toMatchObject({ crawl4aiEndpoint: 'environment', crawl4aiTimeout: 'file' })
  })

  test.each([
    [{ crawl4ai: { endpont: 'x' } }, 'unknown setting "crawl4aiEndpont", did you mean "crawl4aiEndpoint"?'],
    [{ qdrant: 'http://qdrant' }, 'qdrant: expected an object of settings'],
    [{ embed: ['tei'] }, 'embed: expected an object of settings'],
    [{ max: { age: 1 } }, 'unknown setting "max"'],
    [{ renderTimeout: '5s', render: { timeout: '5s' } }, 'renderTimeout is given twice'],
  ])('a file with an invalid group is refused: %j', (file, problem) => {
    expect(refusal(file)).toBe(`configuration FOLDER/pharos.config.json: ${problem}`)
  })

  test('may name its schema', () => {
    expect(refusal({ $schema: 'https://example.org/pharos.json' })).toBe('accepted')
  })

  test('a configuration file that is named explicitly must exist', () => {
    expect(refusal(undefined, { file: 'mine.json' })).toBe(
      'configuration file FOLDER/mine.json cannot be used: it does not exist',
    )
    expect(refusal(undefined, { environment: { PHAROS_CONFIG: 'mine.json' } })).toContain('it does not exist')
  })

  test.each([
    ['[1]', 'expected a JSON object'],
    ['{"a":', 'not JSON'],
    ['', 'not JSON'],
  ])('a configuration file that holds %j is refused', (text, problem) => {
    fs.writeFileSync(join(folder, 'pharos.config.json'), text)
    expect(refusal(undefined)).toContain(`configuration file FOLDER/pharos.config.json cannot be used: ${problem}`)
  })
})

describe('the environment of a child process', () => {
  const file = {
    requestInterval: '1.5s',
    maxPageBytes: '5MB',
    allowPrivate: ['localhost', '10.0.0.0/8'],
    cache: false,
    proxy: 'http://me:s3cret@proxy.example:3128/',
    contactUrl: 'https://example.org/bot',
    token: 's3cret-s3cret-s3cret',
    port: 7,
    embedder: 'tei',
    embed: { endpoint: 'http://tei:8080', key: 'key', textPrefix: 'passage: ', timeout: '1.5s' },
    crawl4aiRetries: 0,
  }

  test('passes on the same settings, whatever file is in the working directory of the child', () => {
    const { values } = read(file)
    const environment = writeEnvironment(values, { PHAROS_MAX_AGE: '7d', HOME: '/home/me' })
    expect(environment['HOME']).toBe('/home/me')
    const child = read({ ...file, maxAge: '3d', allowPrivate: ['*'] }, { environment })
    expect({ ...child.values, token: values.token, port: values.port }).toEqual(values)
    expect(child.file).toBeUndefined()
    expect(child.unknownVariables).toEqual([])
  })

  test('hands over the address of a database, which is not a path and is shown without its password', () => {
    const address = 'postgres://me:s3cret@db.example/pharos?schema=docs'
    for (const input of [{ flags: { library: address } }, { environment: { PHAROS_LIBRARY: address } }]) {
      expect(read(undefined, input).values.library).toBe(address)
    }
    const { values } = read({ library: address })
    expect(values.library).toBe(address)
    expect(redactValue('library', values.library)).toBe('postgres://me@db.example/pharos?schema=docs')
    expect(writeValue('library', values.library)).toBe('postgres://me@db.example/pharos?schema=docs')
    expect(read(undefined, { environment: writeEnvironment(values, {}) }).values.library).toBe(address)
    expect(read({ cacheFolder: address }).values.cacheFolder).toContain(folder)
  })

  test('allows nothing beyond the settings of the parent', () => {
    const { values } = read({ allowPrivate: ['*'] }, { flags: { allowPrivate: [''] } })
    const environment = writeEnvironment(values, { PHAROS_ALLOW_PRIVATE: '*' })
    expect(read({ allowPrivate: ['*'] }, { environment }).values.allowPrivate).toEqual([])
  })

  test('leaves out the settings that only concern the server', () => {
    const environment = writeEnvironment(read(file).values, { PHAROS_TOKEN: 's3cret-s3cret-s3cret' })
    expect(Object.keys(environment)).not.toContain('PHAROS_TOKEN')
    expect(Object.values(environment).join()).not.toContain('s3cret-s3cret')
    expect(Object.keys(environment)).not.toContain('PHAROS_PORT')
  })
})

test('environment variables that begin with PHAROS_ but match no setting are listed', () => {
  const environment = { PHAROS_MAX_FILE_BYTE: '1', PHAROS_CONFIG: '', PHAROS_CACHE: '1', HOME: '/' }
  expect(read(undefined, { environment }).unknownVariables).toEqual(['PHAROS_MAX_FILE_BYTE'])
})

test('names of flags and variables derive from the names of settings', () => {
  // Object.keys types the keys as strings, but they are the names of the settings.
  const names = Object.keys(SETTINGS) as SettingName[]
  expect(names.map((name) => [flagName(name), variableName(name)])).toContainEqual([
    'max-chunks-per-file',
    'PHAROS_MAX_CHUNKS_PER_FILE',
  ])
})

test('no variable that controls the tests looks like a setting, because doctor would call it misspelled', () => {
  const root = dirname(dirname(import.meta.dirname))
  const files = ['scripts', 'test', 'src'].flatMap((folder) => {
    const names = fs.readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    return names.filter((name) => /\.(?:ts|mjs)$/.test(name)).map((name) => join(root, folder, name))
  })
  const variables = files.flatMap(
    (file) => fs.readFileSync(file, 'utf8').match(/(?<=process\.env(?:\.|\['))PHAROS_\w+/g) ?? [],
  )
  expect(files.length).toBeGreaterThan(100)
  expect(variables).toEqual([])
})

test('TERM=dumb makes a terminal dumb', () => {
  expect([isDumbTerminal({ TERM: 'dumb' }), isDumbTerminal({ TERM: 'xterm' }), isDumbTerminal({})]).toEqual([
    true,
    false,
    false,
  ])
})

test.each([
  [{ TERM_PROGRAM: 'iTerm.app', TERM: 'xterm-256color' }, true],
  [{ TERM: 'xterm-kitty' }, true],
  [{ VTE_VERSION: '7200', TERM: 'xterm-256color' }, true],
  [{ VTE_VERSION: '4601' }, false],
  [{ TERM: 'xterm-256color' }, false],
  // Variables inherited from the terminal outside tmux say nothing about tmux.
  [{ TERM: 'tmux-256color', VTE_VERSION: '7200' }, false],
  [{ TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.3a' }, false],
  [{ TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.5' }, true],
  [{ FORCE_HYPERLINK: '1' }, true],
  [{ FORCE_HYPERLINK: '0', TERM: 'xterm-kitty' }, false],
])('a terminal with the environment %o shows hyperlinks: %s', (environment, isLinking) => {
  expect(canShowHyperlinks(environment)).toBe(isLinking)
})

describe('libraryDataFolder', () => {
  test('the data of a library is beside its file, or in a separate folder for each database', () => {
    const folderOf = (library: string) => libraryDataFolder(library, { XDG_DATA_HOME: '/data' })
    expect(folderOf('/libraries/a.db')).toBe('/libraries')
    expect(folderOf('postgres://me:s3cret@h/d')).toMatch(/\/pharos\/postgres\/[0-9a-f]{16}$/)
    expect(folderOf('postgres://me:s3cret@h/d')).toBe(folderOf('postgresql://you@h:5432/d?sslmode=require'))
    expect(folderOf('postgres://h/d')).not.toBe(folderOf('postgres://h/e'))
  })
})
