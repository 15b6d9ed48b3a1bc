import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { closeLater } from '../../test/close-later.ts'
import { openTunnelProxy } from '../../test/sites/tunnel-proxy.ts'
import { createTempFolder, listTree, openTree } from '../../test/trees/archive-fixture.ts'
import {
  answerPack,
  createRepository,
  type GitServer,
  listLeftoverRepositories,
  openGitServer,
  packBomb,
  type Repository,
} from '../../test/trees/git-fixture.ts'
import { parseAllowance } from '../fetch/addresses.ts'
import { openDownloads } from '../fetch/download.ts'
import type { OpenProxy } from '../library/ports/download.ts'
import type { OpenTree, TreeOptions } from '../library/ports/tree.ts'
import { createGitOptions } from './fetch-repository.ts'
import { GitError, runGit } from './git.ts'
import { openRepository } from './open-repository.ts'
import { openFilePages } from './read-file-page.ts'
import type { TreeReaderOptions } from './tree-reader.ts'

const UNKNOWN = { version: null, stamp: null }
const PATH = process.env['PATH'] ?? ''
const LOCAL_OPTIONS = { git: { environment: { PATH }, tokenFor: () => undefined } }

const FILES = {
  'README.md': '# Lamp\n\nSee [the guide](docs/guide.md#fill).\n',
  'docs/guide.md': '# Guide\n\n## Fill\n\nFill it at dusk.\n',
  'src/lamp.py': 'def ignite():\n    """Lights the lamp."""\n    return True\n',
  'big.txt': 'x'.repeat(2000),
  'lamp.png': 'x',
  'ü/ö.md': '# Ü\n\nFar away.\n',
}

/** Opens a local repository, or one on loopback. */
async function openAt(
  url: string,
  treeOptions: TreeOptions = {},
  options: Partial<TreeReaderOptions> = {},
): Promise<OpenTree> {
  return openTree(url, { ...LOCAL_OPTIONS, openDownloads: () => openLoopback(['127.0.0.1']), ...options }, treeOptions)
}

async function openLoopback(
  allowed: readonly string[],
  proxy?: string,
): ReturnType<NonNullable<TreeReaderOptions['openDownloads']>> {
  const parsed = parseAllowance(allowed)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const { allowance } = parsed
  const resolve = async () => ['127.0.0.1']
  return openDownloads({ userAgent: 'Pharos/0.0.0', allowance, origins: [], resolve, proxy })
}

async function readMarkdown(tree: OpenTree, path: string): Promise<string | undefined> {
  const read = await tree.read({ path, part: null }, UNKNOWN)
  return read.type === 'page' ? read.record.page.markdown : undefined
}

describe('the reader of local repositories', () => {
  test('lists the files of a commit by the rules of folders', async () => {
    const repository = createRepository(FILES)
    fs.symlinkSync('/etc/passwd', join(repository.folder, 'passwd.md'))
    // A tracked file that .gitignore matches was added on purpose.
    const ignored = { '.gitignore': '*.gen.md\n', 'api.gen.md': 'a', '.pharosignore': 'old.md\n', 'old.md': 'a' }
    const commit = repository.commit(ignored)
    fs.writeFileSync(join(repository.folder, 'later.md'), 'not committed')
    const tree = await openAt(repository.url, {}, { maxFileBytes: 1000 })
    expect(tree).toMatchObject({ url: repository.url, name: 'lamp' })
    expect(await listTree(tree)).toEqual({
      'README.md': 'file',
      'docs/guide.md': 'file',
      'src/lamp.py': 'file',
      'big.txt': 'file',
      '.gitignore': 'file',
      '.pharosignore': 'file',
      'api.gen.md': 'file',
      'old.md': 'ignored old.md',
      'lamp.png': 'not-text *.png',
      'passwd.md': 'excluded symbolic links',
      'ü/ö.md': 'file',
    })
    const url = `${repository.url}@${commit}!/%C3%BC/%C3%B6.md`
    expect(tree.addressOf('ü/ö.md')).toBe(url)
    const read = await tree.read({ path: 'ü/ö.md', part: null }, UNKNOWN)
    expect(read).toMatchObject({ type: 'page', record: { page: { url, title: 'Ü' } } })
    expect(await tree.read({ path: 'big.txt', part: null }, UNKNOWN)).toMatchObject({ reason: 'too-large' })
    expect(await tree.read({ path: 'none.md', part: null }, UNKNOWN)).toEqual({ type: 'missing' })
    expect(await readMarkdown(tree, 'README.md')).toBe(FILES['README.md'])
  })

  test('reads a branch, tag or commit, optionally below a folder', async () => {
    const repository = createRepository(FILES)
    const first = repository.git('rev-parse', 'HEAD')
    repository.git('tag', '--annotate', '--message=One', 'v1.0')
    repository.git('switch', '--quiet', '--create', 'feature/new')
    repository.commit({ 'docs/guide.md': '# Guide\n\nFill it at dawn.\n' })
    repository.git('switch', '--quiet', 'main')
    const guide = async (ref: string) => readMarkdown(await openAt(repository.url, { ref, path: '/docs/' }), 'guide.md')
    expect(await guide('feature/new')).toContain('dawn')
    expect(await guide('v1.0')).toContain('dusk')
    expect(await guide(first)).toContain('dusk')
    expect(await guide(first.slice(0, 10))).toContain('dusk')
    for (const tag of ['@scope/lamp@1.2.3', 'größe', 'release,1', 'a=b#c(d)']) {
      repository.git('tag', tag)
      expect(await guide(tag)).toContain('dusk')
    }
    const tree = await openAt(repository.url, { ref: 'v1.0', path: 'docs' })
    expect(tree.version).toBe('v1.0')
    expect(await listTree(tree)).toEqual({ 'guide.md': 'file' })
    expect(tree.addressOf('guide.md')).toBe(`${repository.url}@${first}!/docs/guide.md`)
  })

  test('does not read a file with the same bytes again', async () => {
    const repository = createRepository(FILES)
    const first = await openAt(repository.url)
    const known = await first.read({ path: 'docs/guide.md', part: null }, UNKNOWN)
    repository.commit({ 'README.md': '# Other\n' })
    if (known.type !== 'page') throw new Error('expected a page')
    const { version, stamp } = known
    expect(stamp).toBe(repository.git('rev-parse', 'HEAD:docs/guide.md'))
    const second = await openAt(repository.url)
    expect(await second.read({ path: 'docs/guide.md', part: null }, { version, stamp })).toEqual({
      type: 'unchanged',
      version,
      stamp,
      bytes: 0,
      detail: null,
    })
  })

  test('reports what is wrong with a repository', async () => {
    const repository = createRepository(FILES)
    const problemOf = async (url: string, treeOptions?: TreeOptions, options?: Partial<TreeReaderOptions>) => {
      const error = await openAt(url, treeOptions, options).then(
        () => undefined,
        (reason: unknown) => reason as { code: string; details: Record<string, unknown> },
      )
      return [error?.code, error?.details['problem'] ?? error?.details['path']]
    }
    expect(await problemOf(repository.url, { ref: 'none' })).toEqual([
      'SOURCE_UNREADABLE',
      'there is no branch, tag or commit none; it has main',
    ])
    expect(await problemOf(repository.url, { path: 'none' })).toEqual(['SOURCE_NOT_FOUND', `${repository.url}!/none/`])
    expect(await problemOf(`${repository.url}/none`)).toEqual(['SOURCE_NOT_FOUND', join(repository.folder, 'none')])
    expect(await problemOf(repository.url, { path: 'docs/guide.md' })).toEqual([
      'SOURCE_UNREADABLE',
      'it is a file, but path must name a folder',
    ])
    // A folder inside a repository is not a repository.
    expect((await problemOf(`${repository.url}/docs`))[1]).toMatch(/not a git repository/)
    expect((await problemOf(`git+file://${createTempFolder()}`))[1]).toMatch(/not a git repository/)
    for (const ref of [
      '--upload-pack=x',
      'a..b',
      'HEAD@{1}',
      ':/x',
      'a b',
      '',
      'a/',
      '@',
      '^a',
      'a~1',
      '.a',
      'a.lock',
    ]) {
      expect((await problemOf(repository.url, { ref }))[0]).toBe('USAGE')
    }
    const nowhere = { git: { environment: { PATH: '/nonexistent' }, tokenFor: () => undefined } }
    expect((await problemOf(repository.url, {}, nowhere))[1]).toBe('the program git is not installed')
  })

  test('a repository cannot run hooks, filters or programs, or open another repository', async () => {
    const repository = createRepository(FILES)
    const trace = join(createTempFolder(), 'trace')
    const program = join(repository.folder, 'evil.sh')
    fs.writeFileSync(program, `#!/bin/sh\necho ran >> ${trace}\n`, { mode: 0o755 })
    const inner = createRepository({ 'a.md': 'a' })
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.folder, 'inner')
    repository.commit({ '.gitattributes': '* filter=evil diff=evil\n' })
    const settings = {
      'core.fsmonitor': program,
      'core.sshCommand': program,
      'core.pager': program,
      'core.gitProxy': program,
      'filter.evil.smudge': program,
      'filter.evil.clean': program,
      'diff.evil.textconv': program,
      'diff.external': program,
      'credential.helper': program,
      'protocol.ext.allow': 'always',
      'remote.origin.url': `ext::${program}`,
      'remote.origin.promisor': 'true',
      'remote.origin.uploadpack': program,
      'extensions.partialClone': 'origin',
    }
    for (const [name, value] of Object.entries(settings)) repository.git('config', name, value)
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      fs.copyFileSync(program, join(repository.folder, '.git/hooks', hook))
    }
    // A missing object is not fetched, whatever the repository configures.
    const object = repository.git('rev-parse', 'HEAD:docs/guide.md')
    fs.rmSync(join(repository.folder, '.git/objects', object.slice(0, 2), object.slice(2)))
    fs.rmSync(trace, { force: true })
    const tree = await openAt(repository.url).catch((error: unknown) => error as Error)
    if (tree instanceof Error) expect(tree).toMatchObject({ code: 'SOURCE_UNREADABLE' })
    else {
      expect(await listTree(tree)).toMatchObject({ inner: 'excluded a repository in it', 'docs/guide.md': 'file' })
      const read = await tree.read({ path: 'docs/guide.md', part: null }, UNKNOWN)
      expect(read).toMatchObject({ type: 'no-page', reason: 'damaged' })
      expect(await readMarkdown(tree, 'README.md')).toContain('Lamp')
    }
    expect(fs.existsSync(trace)).toBe(false)
  })

  test.each([
    ['a file system monitor', ['status', '--short']],
    ['a hook', ['update-ref', 'refs/heads/other', 'HEAD']],
    ['a transport program', ['ls-remote', 'ext::./evil.sh']],
    ['a credential helper', ['credential-evil']],
  ])('does not run %s of the repository', async (_what, args) => {
    const repository = createRepository(FILES)
    const trace = join(createTempFolder(), 'trace')
    const program = join(repository.folder, 'evil.sh')
    fs.writeFileSync(program, `#!/bin/sh\necho ran >> ${trace}\n`, { mode: 0o755 })
    fs.copyFileSync(program, join(repository.folder, '.git/hooks/reference-transaction'))
    repository.git('config', 'core.fsmonitor', program)
    repository.git('config', 'protocol.ext.allow', 'always')
    repository.git('config', 'credential.helper', program)
    repository.git('config', 'alias.credential-evil', '!printf "protocol=https\\nhost=x\\n\\n" | git credential fill')
    fs.rmSync(trace, { force: true })
    const git = createGitOptions(repository.folder, { ...LOCAL_OPTIONS, maxFileBytes: 1000 })
    await runGit(args, git).catch((error: unknown) => expect(error).toBeInstanceOf(GitError))
    expect(fs.existsSync(trace)).toBe(false)
    // Plain git runs the program; some of these commands then fail without an answer.
    spawnSync('git', args, { cwd: repository.folder, env: { PATH, GIT_TERMINAL_PROMPT: '0' } })
    expect(fs.existsSync(trace)).toBe(true)
  })

  test('a killed git process is replaced once; after a second kill the file counts as unreadable', async () => {
    const repository = createRepository(FILES)
    const programs = createTempFolder()
    const flag = join(programs, 'flag')
    const writeProgram = (then: string) => {
      const end = `if [ "$1" = cat-file ] && [ -e ${flag} ]; then ${then} kill -9 $$; fi`
      fs.writeFileSync(join(programs, 'git'), `#!/bin/sh\n${end}\nPATH=${PATH} exec git "$@"\n`, { mode: 0o755 })
    }
    const git = { environment: { PATH: `${programs}:${PATH}` }, tokenFor: () => undefined }
    writeProgram(`rm ${flag};`)
    const tree = await openAt(repository.url, {}, { git })
    fs.writeFileSync(flag, '')
    expect(await readMarkdown(tree, 'README.md')).toContain('Lamp')
    expect(fs.existsSync(flag)).toBe(false)
    await tree.close()
    writeProgram('')
    const dying = await openAt(repository.url, {}, { git })
    fs.writeFileSync(flag, '')
    expect(await dying.read({ path: 'README.md', part: null }, UNKNOWN)).toMatchObject({
      type: 'failed',
      reason: 'unreadable',
    })
  })

  test('files with the text of an error or login page are pages like others', async () => {
    const form = '<form><input name="user"><input type="password"><button>Sign in</button></form>'
    const repository = createRepository({
      '404.md': '404 Not Found\n',
      '404.html': '<title>404 Not Found</title><main><h1>Page not found</h1><p>It does not exist.</p></main>',
      'login.html': `<title>Sign in</title><main><h1>Sign in</h1>${form}</main>`,
    })
    const tree = await openAt(repository.url)
    for (const path of ['404.md', '404.html', 'login.html']) {
      expect((await tree.read({ path, part: null }, UNKNOWN)).type, path).toBe('page')
    }
  })

  test.each(['files', 'empty folders'])(
    'refuses a repository with too many %s without listing all of them',
    async (what) => {
      const repository = createRepository({ 'a.md': 'a' })
      const makeTree = (entries: readonly string[]) => {
        fs.writeFileSync(join(repository.folder, 'tree'), entries.map((entry) => `${entry}\n`).join(''))
        return repository.git('-c', 'alias.mk=!git mktree < tree', 'mk')
      }
      // Ten levels of ten folders each: 10¹⁰ in total.
      let tree = what === 'files' ? repository.git('rev-parse', 'HEAD^{tree}') : makeTree([])
      for (let depth = 0; depth < 10; depth++) {
        tree = makeTree(Array.from({ length: 10 }, (_, i) => `040000 tree ${tree}\td${i}`))
      }
      repository.git('update-ref', 'refs/heads/bomb', repository.git('commit-tree', tree, '-m', 'x'))
      const refused = () => Promise.reject(new Error('nothing is read'))
      const pages = openFilePages({ readPage: refused, readDocument: refused, openGrammars: refused })
      const options = { ...LOCAL_OPTIONS, maxFileBytes: 1000, maxFiles: 5000, resolveHost: refused, openProxy: refused }
      await expect(openRepository(repository.url, pages, options, { ref: 'bomb' })).rejects.toMatchObject({
        details: { problem: 'it has more than 5000 members' },
      })
    },
  )
})

describe('the reader of remote repositories', () => {
  let repository: Repository
  let server: GitServer
  let url = ''

  beforeEach(async () => {
    repository = createRepository(FILES)
    server = await openGitServer(join(repository.folder, '..'))
    url = `git+${server.origin}/lamp`
  })

  test('fetches only the requested branch, tag or commit, and deletes it afterwards', async () => {
    const first = repository.git('rev-parse', 'HEAD')
    repository.git('tag', '--annotate', '--message=One', 'v1.0')
    repository.commit({ 'docs/guide.md': '# Guide\n\nFill it at dawn.\n' })
    const guide = async (ref: string | null) => {
      const tree = await openAt(url, { ref, path: 'docs' })
      const text = await readMarkdown(tree, 'guide.md')
      expect(listLeftoverRepositories()).toHaveLength(1)
      await tree.close()
      expect(listLeftoverRepositories()).toEqual([])
      return text
    }
    expect(await guide(null)).toContain('dawn')
    expect(await guide('main')).toContain('dawn')
    expect(await guide('v1.0')).toContain('dusk')
    expect(await guide(first)).toContain('dusk')
  })

  test('finds a commit when the server does not serve it by hash', async () => {
    const first = repository.git('rev-parse', 'HEAD')
    repository.commit({ 'docs/guide.md': '# Guide\n\nFill it at dawn.\n' })
    // Protocol version 0 only serves the tips of branches and tags.
    server.environment['GIT_PROTOCOL'] = 'version=0'
    const tree = await openAt(url, { ref: first })
    expect(await readMarkdown(tree, 'docs/guide.md')).toContain('dusk')
    expect(tree.addressOf('a.md')).toBe(`${url}@${first}!/a.md`)
    const other = `${'0'.repeat(39)}1`
    await expect(openAt(url, { ref: other })).rejects.toMatchObject({
      details: { problem: expect.stringMatching(/^the server does not serve commits by hash/) },
    })
    await expect(openAt(url, { ref: first.slice(0, 10) })).rejects.toMatchObject({
      details: {
        problem: `there is no branch or tag ${first.slice(0, 10)}; a commit needs its full hash; it has main`,
        advice: 'name a branch, tag or commit that it has',
      },
    })
    await tree.close()
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('deletes only the folders that killed programs left', async () => {
    const createFolder = (name: string, age: number): string => {
      const folder = join(tmpdir(), name)
      fs.mkdirSync(join(folder, 'objects'), { recursive: true })
      closeLater(() => fs.rmSync(folder, { recursive: true, force: true }))
      fs.utimesSync(folder, new Date(Date.now() - age), new Date(Date.now() - age))
      return folder
    }
    const day = 24 * 3_600_000
    const folders = [createFolder('pharos-git-99999999-old', 2 * day), createFolder('pharos-git-99999998-new', 0)]
    // Another program has this process id by now.
    folders.push(createFolder(`pharos-git-${process.ppid}-old`, 2 * day))
    await openAt(url)
    expect(folders.map((folder) => fs.existsSync(folder))).toEqual([false, true, false])
  })

  test('supports a repository with SHA-256 hashes', async () => {
    repository.git('init', '--quiet', '--object-format=sha256', 'large')
    fs.writeFileSync(join(repository.folder, 'large/a.md'), '# Large\n')
    repository.git('-C', 'large', 'add', 'a.md')
    repository.git('-C', 'large', 'commit', '--quiet', '--message', 'x')
    const tree = await openAt(`${url}/large`)
    expect(await readMarkdown(tree, 'a.md')).toContain('Large')
    expect(tree.addressOf('a.md')).toMatch(/@[0-9a-f]{64}!\/a\.md$/)
  })

  test('does not fetch large files', async () => {
    repository.git('config', 'uploadpack.allowFilter', 'true')
    const tree = await openAt(url, {}, { maxFileBytes: 1000 })
    expect((await listTree(tree))['big.txt']).toBe('file')
    const read = await tree.read({ path: 'big.txt', part: null }, UNKNOWN)
    expect(read).toMatchObject({ reason: 'too-large', detail: 'more than 1000 bytes' })
    expect(await readMarkdown(tree, 'docs/guide.md')).toContain('dusk')
  })

  test('refuses a repository that is too large, and leaves nothing behind', async () => {
    await expect(openAt(url, {}, { maxArchiveBytes: 100 })).rejects.toMatchObject({
      details: { problem: 'it has more than 100 bytes (maxArchiveBytes)' },
    })
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('stops fetching when the caller aborts', async () => {
    const stop = new AbortController()
    server.answer = () => stop.abort(new Error('enough'))
    await expect(openAt(url, { signal: stop.signal })).rejects.toThrow('enough')
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('sends the token of a host without exposing it', async () => {
    const basic = Buffer.from('x-access-token:s3cret').toString('base64')
    server.authorization = `Basic ${basic}`
    const { host } = new URL(server.origin)
    await expect(openAt(url)).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      details: {
        problem: `${host} requires authentication: name a variable that holds a token with gitTokens, as ${host}=VARIABLE`,
      },
    })
    // The token of a host applies to its default port only.
    const other = { environment: { PATH }, tokenFor: (name: string) => (name === '127.0.0.1' ? 's3cret' : undefined) }
    await expect(openAt(url, {}, { git: other })).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    const tokenFor = (name: string) => (name === host ? 's3cret' : undefined)
    const git = { environment: { PATH }, tokenFor }
    expect(await readMarkdown(await openAt(url, {}, { git }), 'README.md')).toContain('Lamp')
    // The message of a server must not reveal the token either.
    server.answer = (request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`you sent ${request.headers.authorization} s3cret`)
    }
    const error = await openAt(url, {}, { git }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SOURCE_UNREADABLE' })
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toMatch(new RegExp(`s3cret|${basic}`))
  })

  test("does not expose the user's other credentials", async () => {
    const home = createTempFolder()
    fs.writeFileSync(join(home, '.netrc'), 'default login me password s3cret\n')
    const authorizations: (string | undefined)[] = []
    server.answer = (request, response) => {
      authorizations.push(request.headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="lamps"' }).end()
    }
    const git = { environment: { PATH, HOME: home }, tokenFor: () => undefined }
    await expect(openAt(url, {}, { git })).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    expect(new Set(authorizations)).toEqual(new Set([undefined]))
  })

  test('refuses packed data that would need too much memory', async () => {
    server.answer = answerPack(packBomb())
    await expect(openAt(url)).rejects.toMatchObject({
      details: { problem: expect.stringMatching(/^it holds something that takes more than 134217728 bytes of memory/) },
    })
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('fetches through a proxy of this process, and fails when the proxy closes', async () => {
    const requested = Promise.withResolvers<void>()
    server.answer = () => requested.resolve()
    const downloads = await openLoopback(['127.0.0.1'])
    const opened = Promise.withResolvers<OpenProxy>()
    const openProxy: typeof downloads.openProxy = async (target) => {
      const proxy = await downloads.openProxy(target)
      opened.resolve(proxy)
      return proxy
    }
    const tree = openAt(url, {}, { openDownloads: async () => ({ ...downloads, openProxy }) })
    tree.catch(() => undefined)
    await requested.promise
    await (await opened.promise).close()
    await expect(tree).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('accepts a host whose name is also the name of a scheme', async () => {
    const options = { openDownloads: () => openLoopback(['git']) }
    await expect(openAt('git+git://git:1/lamp', {}, options)).rejects.toMatchObject({
      details: { problem: expect.stringContaining('127.0.0.1') },
    })
  })

  test('follows no redirects, and refuses private addresses', async () => {
    server.answer = (_, response) => {
      response.writeHead(301, { location: `${server.origin}/other/info/refs?service=git-upload-pack` }).end()
    }
    const { host } = new URL(server.origin)
    await expect(openAt(url)).rejects.toMatchObject({
      details: { problem: `${host} redirects to another address; name that address instead` },
    })
    expect(server.requests.splice(0)).toEqual(['GET /lamp/info/refs?service=git-upload-pack'])
    // The address may contain any word, such as redirect.
    server.answer = (_, response) => void response.writeHead(500).end()
    await expect(openAt(`${url}-redirect`)).rejects.toMatchObject({
      details: { problem: expect.stringContaining('returned error: 500') },
    })
    const refused = { openDownloads: () => openLoopback([]) }
    await expect(openAt(url, {}, refused)).rejects.toMatchObject({
      details: { problem: '127.0.0.1 is not a public address' },
    })
    for (const scheme of ['git+ssh://git@', 'git+git://']) {
      await expect(openAt(`${scheme}lamps.example/lamp`, {}, refused)).rejects.toMatchObject({
        details: { problem: 'lamps.example leads to an address that is not public' },
      })
    }
    expect(server.requests).toHaveLength(1)
    expect(listLeftoverRepositories()).toEqual([])
  })

  test('connects to the checked address, whatever the name resolves to later', async () => {
    const { port } = new URL(server.origin)
    const options = { openDownloads: () => openLoopback(['lamps.example']) }
    const tree = await openAt(`git+http://lamps.example:${port}/lamp`, {}, options)
    expect(await readMarkdown(tree, 'README.md')).toContain('Lamp')
  })

  test("connects through the owner's proxy, which gets the checked address", async () => {
    const { port } = new URL(server.origin)
    const proxy = await openTunnelProxy({ authorization: `Basic ${Buffer.from('me:s3cret').toString('base64')}` })
    closeLater(() => proxy.close())
    const proxyUrl = proxy.url.replace('://', '://me:s3cret@')
    const options = { openDownloads: () => openLoopback(['lamps.example'], proxyUrl) }
    const tree = await openAt(`git+http://lamps.example:${port}/lamp`, {}, options)
    expect(await readMarkdown(tree, 'README.md')).toContain('Lamp')
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${port}`]))
  })
})
