import { describe, expect, test } from 'vitest'
import {
  nameOfRepository,
  parseRepositoryUrl,
  portOf,
  type RepositoryAddress,
  readCommit,
  readRepositoryPath,
  writeCommitUrl,
  writeLinesUrl,
} from './repository-url.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

function addressOf(text: string): RepositoryAddress {
  const address = parseRepositoryUrl(text)
  if (address === undefined) throw new Error(`${text} is not a repository`)
  return address
}

describe('the address of a repository', () => {
  test.each([
    ['git+https://github.com/o/lamp', 'git+https://github.com/o/lamp', 'https'],
    ['https://github.com/o/lamp.git', 'git+https://github.com/o/lamp.git', 'https'],
    ['https://github.com/o/lamp.git/', 'git+https://github.com/o/lamp.git', 'https'],
    ['git+http://127.0.0.1:8080/lamp?x=1#y', 'git+http://127.0.0.1:8080/lamp', 'http'],
    ['git@github.com:o/lamp.git', 'git+ssh://git@github.com/o/lamp.git', 'ssh'],
    ['ssh://git@host.example:2222/o/lamp', 'git+ssh://git@host.example:2222/o/lamp', 'ssh'],
    ['git@GitHub.com:o/Lamp.git', 'git+ssh://git@github.com/o/Lamp.git', 'ssh'],
    ['git://host.example/lamp', 'git+git://host.example/lamp', 'git'],
    ['git+file:///srv/lamp/', 'git+file:///srv/lamp', 'file'],
  ])('is read from %s', (text, url, protocol) => {
    expect(parseRepositoryUrl(text)).toEqual({ url, remote: url.slice(4), protocol })
    expect(parseRepositoryUrl(url)).toEqual({ url, remote: url.slice(4), protocol })
  })

  test.each([
    'https://github.com/o/lamp',
    'file:///srv/lamp.git',
    './lamp.git',
    'lamp@2.0',
    'git+ftp://host/lamp',
    'git+ext::sh -c true',
    'ext::sh -c true',
    'git+file://host/lamp',
    'git+ssh:///lamp',
    "ssh://host';true;'/lamp",
    'ssh://host%20x/lamp',
    'ssh://-oProxyCommand=true/lamp',
    'ssh://-oProxyCommand=true@host/lamp',
    'pkg:npm/lamp',
    '',
  ])('is not %s', (text) => {
    expect(parseRepositoryUrl(text)).toBeUndefined()
  })

  test.each([
    ['git+https://github.com/o/lamp.git', 'lamp', 443],
    ['git+file:///srv/lamp/.git', 'lamp', 0],
    ['git+ssh://git@host/~me/b%C3%BCcher', 'bücher', 22],
    ['git+ssh://git@host:2222/a', 'a', 2222],
    ['git+git://host', 'repository', 9418],
  ])('%s has the name %s and the port %d', (text, name, port) => {
    expect(nameOfRepository(addressOf(text))).toBe(name)
    expect(portOf(addressOf(text).remote)).toBe(port)
  })
})

describe('the address of a file at a commit', () => {
  test.each([
    ['git+https://github.com/o/lamp.git', `https://github.com/o/lamp/blob/${COMMIT}/`, '#L3-L9', '#L3'],
    ['git@github.com:o/lamp.git', `https://github.com/o/lamp/blob/${COMMIT}/`, '#L3-L9', '#L3'],
    ['git+https://gitlab.com/a/b/lamp', `https://gitlab.com/a/b/lamp/-/blob/${COMMIT}/`, '#L3-9', '#L3'],
    ['git+https://gitlab.example:8443/b/lamp', `https://gitlab.example:8443/b/lamp/-/blob/${COMMIT}/`, '#L3-9', '#L3'],
    ['git+https://codeberg.org/o/lamp', `https://codeberg.org/o/lamp/src/commit/${COMMIT}/`, '#L3-L9', '#L3'],
    ['git+https://bitbucket.org/o/lamp', `https://bitbucket.org/o/lamp/src/${COMMIT}/`, '#lines-3:9', '#lines-3'],
    ['git+https://git.sr.ht/~o/lamp', `https://git.sr.ht/~o/lamp/tree/${COMMIT}/item/`, '#L3-9', '#L3'],
    ['git+https://forgejo.example/o/lamp', `https://forgejo.example/o/lamp/src/commit/${COMMIT}/`, '#L3-L9', '#L3'],
    ['git+https://host.example/lamp', `git+https://host.example/lamp@${COMMIT}!/`, '#L3-L9', '#L3'],
    ['git+file:///srv/lamp', `git+file:///srv/lamp@${COMMIT}!/`, '#L3-L9', '#L3'],
  ])('is written and read for %s', (repository, start, lines, line) => {
    const url = writeCommitUrl(addressOf(repository), COMMIT, 'docs/ü #1.md')
    expect(url).toBe(`${start}docs/%C3%BC%20%231.md`)
    expect(readCommit(repository, url)).toBe(COMMIT)
    expect(readCommit(repository, `${start.replace(COMMIT, 'main')}a.md`)).toBeUndefined()
    const { url: repositoryUrl } = addressOf(repository)
    expect(readRepositoryPath(repositoryUrl, url)).toBe('docs/ü #1.md')
    expect(readRepositoryPath(repositoryUrl, `${url}#L3`)).toBe('docs/ü #1.md')
    expect(readRepositoryPath(repositoryUrl, `${repositoryUrl}!/docs/a.md`)).toBe('docs/a.md')
    expect(writeLinesUrl(repositoryUrl, url, 3, 9)).toBe(url + lines)
    expect(writeLinesUrl(repositoryUrl, url, 3, 3)).toBe(url + line)
    expect(writeLinesUrl(repositoryUrl, `${url}#usage`, 3, 9)).toBeUndefined()
  })

  test('is not read from another repository, a branch or other text', () => {
    const repositoryUrl = 'git+https://github.com/o/lamp'
    expect(readRepositoryPath(repositoryUrl, `https://github.com/o/other/blob/${COMMIT}/a.md`)).toBeUndefined()
    expect(readRepositoryPath(repositoryUrl, 'https://github.com/o/lamp/blob/main/a.md')).toBeUndefined()
    expect(readRepositoryPath(repositoryUrl, 'docs/a.md')).toBeUndefined()
    expect(readRepositoryPath('https://github.com/', `https://github.com/blob/${COMMIT}/a.md`)).toBeUndefined()
    expect(writeLinesUrl(repositoryUrl, 'https://github.com/o/lamp/wiki', 1, 2)).toBeUndefined()
  })
})
