import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { closeLater } from '../../../test/close-later.ts'
import { PUBLIC_REGISTRIES, type Registries } from '../../core/url/package-url.ts'
import type { PackageRegistries } from '../../library/ports/registries.ts'
import { findLocalRepository } from './maven-settings.ts'
import { readRegistries } from './read-registries.ts'

let folder = ''

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'pharos-clients-'))
  closeLater(() => fs.rmSync(folder, { recursive: true }))
})

function write(path: string, content: string): string {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
  fs.writeFileSync(join(folder, path), content)
  return join(folder, path)
}

/** Reads the registries with the settings in `home`, `app` and the given environment. */
function read(
  environment: Record<string, string> = {},
  options: { readonly configured?: object; readonly withoutProject?: boolean; readonly project?: string } = {},
): Promise<PackageRegistries> {
  const { configured = {}, withoutProject = false, project = 'app' } = options
  return readRegistries(configured, {
    home: join(folder, 'home'),
    environment,
    platform: 'test',
    systemFolder: join(folder, 'etc'),
    nodeFolder: join(folder, 'usr'),
    ...(withoutProject ? {} : { project: join(folder, project) }),
  })
}

const headerOf = (registries: PackageRegistries, url: string, type: keyof Registries) =>
  registries.authorize?.(new URL(url), type)
/** A variable as the files name it. */
const variable = (name: string) => `$\{${name}}`
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('without settings, the registries are the public ones, and no address has a header', async () => {
  const registries = await read()
  expect(registries).toMatchObject({ npm: PUBLIC_REGISTRIES.npm, crates: PUBLIC_REGISTRIES.crates, broken: {} })
  expect(headerOf(registries, PUBLIC_REGISTRIES.npm, 'npm')).toBeUndefined()
})

describe('npm', () => {
  test('the environment goes before the project, the user and all users', async () => {
    write('usr/etc/npmrc', 'registry=https://all.example/\n@deep:registry=https://deep.example/\n')
    expect((await read()).npm).toBe('https://all.example/')
    write('home/.npmrc', '; mine\nregistry = "https://user.example/npm"\n')
    expect((await read()).npm).toBe('https://user.example/npm')
    write('app/.npmrc', 'registry=https://project.example/ # ours\n')
    const registries = await read()
    expect(registries.npm).toBe('https://project.example/')
    expect(registries.npmScopes?.get('@deep')).toBe('https://deep.example/')
    expect((await read({ NPM_CONFIG_REGISTRY: 'https://variable.example/' })).npm).toBe('https://variable.example/')
    const other = write('other/npmrc', 'registry=https://other.example/\n')
    expect((await read({ npm_config_userconfig: other }, { withoutProject: true })).npm).toBe('https://other.example/')
  })

  test('the settings of Pharos go before all, and the project counts only if it is named', async () => {
    write('app/.npmrc', 'registry=https://project.example/\n//project.example/:_authToken=s3cret\n')
    const own = await read({}, { configured: { npm: 'https://own.example/' } })
    expect(own.npm).toBe('https://own.example/')
    expect((await read()).ofUser?.npm).toBe(PUBLIC_REGISTRIES.npm)
    expect(own.ofUser?.npm).toBe('https://own.example/')
    expect(headerOf(own, 'https://project.example/lamp', 'npm')).toBeUndefined()
    expect((await read({}, { withoutProject: true })).npm).toBe(PUBLIC_REGISTRIES.npm)
  })

  test('a secret belongs to its host and path only, and the longest path wins', async () => {
    write(
      'home/.npmrc',
      [
        'registry=https://npm.example/team/',
        `//npm.example/team/:_authToken=${variable('TEAM_TOKEN')}`,
        `//npm.example/team/inner/:_authToken=${variable('INNER_TOKEN-fallback')}`,
        '//npm.example:8443/:_auth=bWU6aW4gcGVyc29u',
        '//old.example/:username=me',
        `//old.example/:_password=${Buffer.from('s3cret').toString('base64')}`,
        `//unset.example/:_authToken=${variable('UNSET_TOKEN')}`,
      ].join('\n'),
    )
    const registries = await read({ TEAM_TOKEN: 's3cret' })
    expect(headerOf(registries, 'https://npm.example/team/lamp', 'npm')).toBe('Bearer s3cret')
    expect(headerOf(registries, 'https://npm.example/team/inner/lamp', 'npm')).toBe('Bearer fallback')
    expect(headerOf(registries, 'https://npm.example:8443/lamp', 'npm')).toBe('Basic bWU6aW4gcGVyc29u')
    expect(headerOf(registries, 'https://old.example/lamp', 'npm')).toBe(basic('me:s3cret'))
    for (const other of ['npm.example/teams/lamp', 'npm.example/', 'unset.example/', 'x.npm.example/team/']) {
      expect(headerOf(registries, `https://${other}`, 'npm'), other).toBeUndefined()
    }
  })

  test('Yarn names registries, scopes and tokens in .yarnrc.yml', async () => {
    write(
      'home/.yarnrc.yml',
      `npmRegistryServer: "https://yarn.example/npm/"\nnpmAuthToken: "${variable('YARN_TOKEN:-none')}"\nnpmScopes:\n  corp:\n    npmRegistryServer: "https://corp.example/"\n    npmAuthIdent: me:s3cret\n`,
    )
    const registries = await read({ YARN_TOKEN: 't0ken' })
    expect(registries.npm).toBe('https://yarn.example/npm/')
    expect(registries.npmScopes?.get('@corp')).toBe('https://corp.example/')
    expect(headerOf(registries, 'https://yarn.example/npm/lamp', 'npm')).toBe('Bearer t0ken')
    expect(headerOf(registries, 'https://corp.example/@corp%2flamp', 'npm')).toBe(basic('me:s3cret'))
  })

  test('files of a project name registries, but get no variable of the environment', async () => {
    const environment = { NPM_TOKEN: 's3cret', REGISTRY: 'corp.example' }
    const file = write('app/.npmrc', `//x.example/:_authToken=${variable('NPM_TOKEN')}\nregistry=https://x.example/\n`)
    const registries = await read(environment)
    expect(registries.npm).toBe('https://x.example/')
    expect(headerOf(registries, 'https://x.example/lamp', 'npm')).toBeUndefined()
    for (const name of ['NPM_TOKEN', 'NPM_TOKEN-none']) {
      write('app/.npmrc', `registry=https://x.example/${variable(name)}/\n`)
      expect((await read(environment)).broken?.npm?.details, name).toMatchObject({ origin: `${file}:1` })
    }
    // The environment takes precedence, so that the address of the project is not used.
    expect((await read({ npm_config_registry: 'https://own.example/' })).npm).toBe('https://own.example/')
    fs.rmSync(file)
    write('app/.yarnrc.yml', `npmRegistryServer: "https://${variable('REGISTRY')}/"\n`)
    expect((await read(environment)).broken?.npm?.message).toContain('.yarnrc.yml:1')
  })

  test('a token of the user is sent to its address, also if a project names this address', async () => {
    write('home/.npmrc', `//corp.example/npm/:_authToken=${variable('CORP_TOKEN')}\n`)
    write('app/.npmrc', `registry=https://corp.example/npm/\n//corp.example/npm/:_authToken=${variable('CI_TOKEN')}\n`)
    const registries = await read({ CORP_TOKEN: 's3cret', CI_TOKEN: 'other' })
    expect(headerOf(registries, 'https://corp.example/npm/lamp', 'npm')).toBe('Bearer s3cret')
    expect(headerOf(registries, 'https://corp.example/other/lamp', 'npm')).toBeUndefined()
  })

  test('the settings of the home folder are those of the user, although it is above the project', async () => {
    write('home/.npmrc', 'registry=https://npm.example/\n')
    write('home/.yarnrc.yml', `npmRegistryServer: "https://${variable('HOST')}/"\n`)
    write('home/code/.yarnrc.yml', 'npmScopes:\n  corp:\n    npmRegistryServer: "https://corp.example/"\n')
    fs.mkdirSync(join(folder, 'home/code/app'))
    for (const project of ['home/code/app', 'home']) {
      const registries = await read({ HOST: 'yarn.example' }, { project })
      expect(registries.npm, project).toBe('https://npm.example/')
      expect(registries.npmScopes?.has('@corp'), project).toBe(project !== 'home')
    }
  })

  test('a pipe is no settings file, and does not stop the reading', async () => {
    fs.mkdirSync(join(folder, 'app'))
    execFileSync('mkfifo', [join(folder, 'app/.npmrc')])
    expect((await read()).npm).toBe(PUBLIC_REGISTRIES.npm)
  })

  test('an address that is none, or whose variable is not set, is reported with its line', async () => {
    const file = write('home/.npmrc', `# mine\nregistry=${variable('NOWHERE')}/s3cret\n`)
    const { broken = {} } = await read()
    expect(broken.npm?.details).toMatchObject({ origin: `${file}:2` })
    expect(JSON.stringify(broken.npm)).not.toContain('s3cret')
    write('home/.npmrc', 'registry=s3cret\n')
    expect((await read()).broken?.npm?.message).toMatch(/npmrc:1: the address of a registry is no web address/)
  })
})

describe('pip', () => {
  const isPublic = (registries: PackageRegistries) => registries.pypi === PUBLIC_REGISTRIES.pypi

  test('indexes come from the environment, the virtual environment, the user and all users', async () => {
    write('etc/xdg/pip/pip.conf', '[global]\nindex-url = https://all.example/simple\n')
    expect((await read()).pypi).toBe('simple+https://all.example/simple')
    write('home/.config/pip/pip.conf', '[global]\nindex_url: https://user.example/simple\n')
    expect((await read()).pypi).toBe('simple+https://user.example/simple')
    write(
      'app/.venv/pip.conf',
      '[global]\nindex-url = https://site.example/simple\n[install]\nindex-url = https://install.example/simple\n',
    )
    expect((await read()).pypi).toBe('simple+https://install.example/simple')
    expect((await read({ PIP_INDEX_URL: 'https://variable.example/s' })).pypi).toBe('simple+https://variable.example/s')
    expect(isPublic(await read({ PIP_CONFIG_FILE: '/dev/null' }))).toBe(true)
    const given = write('given.conf', '[global]\nindex-url = https://given.example/simple\n')
    expect((await read({ PIP_CONFIG_FILE: given })).pypi).toBe('simple+https://given.example/simple')
  })

  test('further indexes are asked after the first, and passwords in addresses become headers of their host', async () => {
    write(
      'home/.pip/pip.conf',
      '[global]\nextra-index-url =\n    https://me:s3%26cret@one.example/simple\n    https://two.example/simple\n',
    )
    const registries = await read()
    expect(isPublic(registries)).toBe(true)
    expect(registries.further?.pypi).toEqual(['simple+https://one.example/simple', 'simple+https://two.example/simple'])
    expect(headerOf(registries, 'https://one.example/files/lamp.whl', 'pypi')).toBe(basic('me:s3&cret'))
    expect(headerOf(registries, 'https://two.example/', 'pypi')).toBeUndefined()
    expect(JSON.stringify(registries)).not.toMatch(/s3|c2/)
  })

  test('every requirements file of the project may name an index, also one that it includes', async () => {
    write('app/requirements.txt', '--index-url https://corp.example/simple\nlamp==1.0\n')
    expect((await read()).pypi).toBe('simple+https://corp.example/simple')
    expect(isPublic(await read({}, { withoutProject: true }))).toBe(true)
    write('app/requirements-dev.txt', '-r more/tools.txt\nlamp==1.0\n')
    write('app/more/tools.txt', '-i https://tools.example/simple\n')
    const { pypi, further } = await read()
    expect([pypi, ...(further?.pypi ?? [])]).toEqual([
      'simple+https://corp.example/simple',
      'simple+https://tools.example/simple',
    ])
  })

  test.each([
    ['app/requirements.txt', `lamp==1.0\n--index-url https://x.example/${variable('TOKEN')}/simple\n`, 2],
    ['app/requirements-dev.txt', '--no-index\n', 1],
    ['home/.config/pip/pip.conf', '[global]\nno-index = true\n', 2],
  ])('%s with %j does not lead to the public index', async (path, text, line) => {
    const file = write(path, text)
    expect((await read({ TOKEN: 's3cret' })).broken?.pypi?.details['origin']).toBe(`${file}:${line}`)
  })

  test('no-index that is turned off changes nothing', async () => {
    write('home/.config/pip/pip.conf', '[global]\nno-index = false\n')
    expect(isPublic(await read())).toBe(true)
    expect((await read({ PIP_NO_INDEX: '1' })).broken?.pypi?.message).toContain('PIP_NO_INDEX')
  })

  test('passwords for two indexes of one host are sent below their own paths only, and not for other packages', async () => {
    const index = (name: string) => `https://me:${name}@repo.example/pypi/${name}/simple`
    const environment = { PIP_INDEX_URL: index('one') }
    const single = await read(environment)
    expect(headerOf(single, 'https://repo.example/files/lamp.whl', 'pypi')).toBe(basic('me:one'))
    expect(headerOf(single, 'https://repo.example/pypi/one/simple/lamp/', 'npm')).toBeUndefined()
    const both = await read({ ...environment, PIP_EXTRA_INDEX_URL: index('two') })
    expect(headerOf(both, 'https://repo.example/pypi/two/packages/lamp.whl', 'pypi')).toBe(basic('me:two'))
    expect(headerOf(both, 'https://repo.example/files/lamp.whl', 'pypi')).toBeUndefined()
  })

  test('a broken file is reported with its line, and stops only packages of PyPI', async () => {
    const file = write('home/.config/pip/pip.conf', '[global]\nindex-url https://s3cret.example\n  :\nnonsense\n')
    const { broken = {} } = await read()
    expect(broken.pypi?.details['origin']).toBe(`${file}:4`)
    expect(Object.keys(broken)).toEqual(['pypi'])
  })
})

describe('Cargo', () => {
  const SPARSE = 'sparse+https://crates.example/index/'

  test('a replaced source is found through the folders above the project and the home of Cargo', async () => {
    write('.cargo/config.toml', '[source.crates-io]\nreplace-with = "corp"\n')
    write('home/.cargo/config.toml', `[registries.corp]\nindex = "${SPARSE}"\n`)
    write('home/.cargo/credentials.toml', '[registries.corp]\ntoken = "s3cret"\n[registry]\ntoken = "publishing"\n')
    const registries = await read()
    expect(registries.crates).toBe(SPARSE)
    // Cargo sends the token as it is.
    expect(headerOf(registries, 'https://crates.example/dl/lamp-1.0.crate', 'crates')).toBe('s3cret')
    expect(headerOf(registries, 'https://index.crates.io/config.json', 'crates')).toBeUndefined()
    const variables = { CARGO_REGISTRIES_CORP_TOKEN: 'other', CARGO_REGISTRIES_CORP_INDEX: 'sparse+https://b.example/' }
    const changed = await read(variables)
    expect(changed.crates).toBe('sparse+https://b.example/')
    expect(headerOf(changed, 'https://b.example/config.json', 'crates')).toBe('other')
  })

  test('a project that gives another address to a registry does not get its token', async () => {
    write('home/.cargo/config.toml', `[registries.corp]\nindex = "${SPARSE}"\ntoken = "s3cret"\n`)
    write('home/.cargo/credentials.toml', '[registries.corp]\ntoken = "s3cret"\n')
    const index = 'sparse+https://x.example/'
    for (const table of [`[registries.corp]\nindex = "${index}"`, `[source.corp]\nregistry = "${index}"`]) {
      write('app/.cargo/config.toml', `[source.crates-io]\nreplace-with = "corp"\n${table}\n`)
      const registries = await read({ CARGO_REGISTRIES_CORP_TOKEN: 's3cret' })
      expect(registries.crates).toBe(index)
      expect(headerOf(registries, 'https://x.example/config.json', 'crates')).toBeUndefined()
    }
  })

  test('a folder of crates replaces nothing but the public registry', async () => {
    write('app/.cargo/config.toml', '[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = "vendor"\n')
    expect(await read()).toMatchObject({ crates: PUBLIC_REGISTRIES.crates, broken: {} })
  })

  test.each([
    ['[source.crates-io]\nreplace-with = "typo"\n', 'the source typo, which has no address'],
    ['[source.crates-io]\nreplace-with = "a"\n[source.a]\nreplace-with = "crates-io"\n', 'in a circle'],
    [
      '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "https://github.example/index"\n',
      'no sparse index',
    ],
    ['[source.crates-io]\nreplace-with = s3cret\n', 'config.toml:2: it is not valid TOML'],
  ])('refuses %j', async (text, problem) => {
    write('home/.cargo/config.toml', text)
    const { broken = {} } = await read()
    expect(broken.crates?.message).toContain(problem)
    expect(broken.crates?.message).not.toContain('s3cret')
  })
})

describe('Maven', () => {
  const mirror = (of: string) =>
    `<mirror><id>corp</id><url>https://maven.example/repo</url><mirrorOf>${of}</mirrorOf></mirror>`
  const settings = (inner: string) => `<?xml version="1.0"?>\n<settings>\n${inner}\n</settings>\n`
  const servers = `<servers><server><id>corp</id><username>me</username><password>${variable('env.MAVEN_PASSWORD')}</password></server></servers>`

  test('a mirror takes the place of the central repository, with the password of its server', async () => {
    write('home/.m2/settings.xml', settings(`<mirrors>${mirror('external:*,!snapshots')}</mirrors>${servers}`))
    const registries = await read({ MAVEN_PASSWORD: 's3cret' })
    expect(registries.maven).toBe('https://maven.example/repo')
    expect(headerOf(registries, 'https://maven.example/repo/a/b/maven-metadata.xml', 'maven')).toBe(basic('me:s3cret'))
    expect(headerOf(registries, 'https://maven.example/', 'maven')).toBeUndefined()
    expect(headerOf(await read(), 'https://maven.example/repo/a', 'maven')).toBeUndefined()
  })

  test('repositories of active profiles and of the project come before the central one', async () => {
    const repository = (id: string) => `<repository><id>${id}</id><url>https://${id}.example/</url></repository>`
    write(
      'home/.m2/settings.xml',
      settings(
        `<activeProfiles><activeProfile>a</activeProfile></activeProfiles><profiles><profile><id>a</id><repositories>${repository('active')}</repositories></profile><profile><id>b</id><repositories>${repository('passive')}</repositories></profile></profiles>`,
      ),
    )
    write('app/pom.xml', `<project><repositories>${repository('ours')}</repositories></project>`)
    const registries = await read()
    expect([registries.maven, ...(registries.further?.maven ?? [])]).toEqual([
      'https://active.example/',
      'https://ours.example/',
      PUBLIC_REGISTRIES.maven,
    ])
  })

  const profile = (inner: string) =>
    `<profiles><profile><activation><activeByDefault>true</activeByDefault></activation><repositories>${inner}</repositories></profile></profiles>`
  const repository = (id: string, url: string) => `<repository><id>${id}</id><url>${url}</url></repository>`
  const server = (id: string) =>
    `<servers><server><id>${id}</id><username>me</username><password>s3cret</password></server></servers>`

  test('a repository named central takes the place of the public one, which never gets a password', async () => {
    const own = profile(repository('central', 'https://corp.example/maven'))
    write('home/.m2/settings.xml', settings(own + server('central')))
    const registries = await read()
    expect(registries).toMatchObject({ maven: 'https://corp.example/maven', further: {} })
    expect(headerOf(registries, 'https://corp.example/maven/a', 'maven')).toBe(basic('me:s3cret'))
    expect(headerOf(registries, `${PUBLIC_REGISTRIES.maven}/a`, 'maven')).toBeUndefined()
    write('home/.m2/settings.xml', settings(server('central')))
    expect(headerOf(await read(), `${PUBLIC_REGISTRIES.maven}/a`, 'maven')).toBeUndefined()
  })

  test('a repository of the project gets neither a variable nor the password of a server', async () => {
    write('home/.m2/settings.xml', settings(server('corp')))
    const pom = (url: string) => `<project><repositories>${repository('corp', url)}</repositories></project>`
    const file = write('app/pom.xml', pom('https://x.example/maven'))
    const registries = await read()
    expect(registries.maven).toBe('https://x.example/maven')
    expect(headerOf(registries, 'https://x.example/maven/a', 'maven')).toBeUndefined()
    write('app/pom.xml', pom(`https://x.example/${variable('env.TOKEN')}`))
    expect((await read({ TOKEN: 's3cret' })).broken?.maven?.details['origin']).toBe(file)
    write('app/pom.xml', pom(`file://${variable('project.basedir')}/lib`))
    expect(await read()).toMatchObject({ maven: PUBLIC_REGISTRIES.maven, broken: {} })
  })

  test('a mirror without a known address, or that blocks, does not lead to the public repository', async () => {
    const unset = mirror('*').replace('https://maven.example', `https://${variable('env.HOST')}`)
    write('home/.m2/settings.xml', settings(`<mirrors>${unset}</mirrors>`))
    expect((await read({ HOST: 'maven.example' })).maven).toBe('https://maven.example/repo')
    expect((await read()).broken?.maven?.message).toContain('the address of corp has a variable')
    const blocked = mirror('*').replace('</mirror>', '<blocked>true</blocked></mirror>')
    write('home/.m2/settings.xml', settings(`<mirrors>${blocked}</mirrors>`))
    expect((await read()).broken?.maven?.message).toContain('the mirror corp blocks the repository central')
  })

  test('a mirror of exactly one repository takes precedence over patterns', async () => {
    const exact = mirror('central').replace('maven.example', 'exact.example')
    write('home/.m2/settings.xml', settings(`<mirrors>${mirror('*')}${exact}</mirrors>`))
    expect((await read()).maven).toBe('https://exact.example/repo')
  })

  test('a broken file is reported with its line', async () => {
    const file = write('home/.m2/settings.xml', '<settings>\n<mirrors>\n<mirror>\n</settings>\n')
    expect((await read()).broken?.maven?.details['origin']).toBe(`${file}:4`)
  })
})

test('an address of a megabyte is an error, and does not block the process', async () => {
  const slashes = '/'.repeat(900_000)
  const file = write('app/.npmrc', `registry=https://npm.example${slashes}x\n`)
  expect((await read()).broken?.npm?.details['origin']).toBe(`${file}:1`)
  write('app/.npmrc', `//npm.example${slashes}x/:_authToken=s3cret\n`)
  expect((await read()).broken).toEqual({})
})

describe('the local repository of Maven', () => {
  const find = (environment: Record<string, string> = {}) =>
    findLocalRepository({
      home: join(folder, 'home'),
      environment,
      platform: 'test',
      systemFolder: join(folder, 'etc'),
      nodeFolder: join(folder, 'usr'),
      project: join(folder, 'app'),
    })
  const settings = (path: string) => `<settings><localRepository>${path}</localRepository></settings>`

  test('is the folder that the settings of the user name, else that of all users', async () => {
    expect(await find()).toBeUndefined()
    write('etc/maven/settings.xml', settings('/srv/maven'))
    expect(await find()).toBe('/srv/maven')
    write('home/.m2/settings.xml', settings(`${variable('user.home')}/artifacts`))
    expect(await find()).toBe(join(folder, 'home/artifacts'))
    write('home/.m2/settings.xml', settings(`${variable('env.STORE')}/artifacts`))
    expect(await find({ STORE: '/mnt' })).toBe('/mnt/artifacts')
  })

  test.each(['relative/folder', variable('env.UNSET'), '', '</broken>'])('is not known for %j', async (path) => {
    write('home/.m2/settings.xml', settings(path))
    expect(await find()).toBeUndefined()
  })
})
