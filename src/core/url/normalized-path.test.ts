import { expect, test } from 'vitest'
import { languageInUrl, normalizePagePath } from './normalized-path.ts'

const START = { url: 'https://docs.test/2.0/', version: null }
const normalize = (path: string, language: string | null) =>
  normalizePagePath(`https://docs.test/2.0/${path}`, START, language)

test.each([
  ['guide/install.html', null, 'guide/install.html', false],
  ['guide/install.html', 'en', 'guide/install.html', false],
  ['de/guide/install.html', 'de', 'guide/install.html', true],
  ['fr-fr/guide/install.html', 'fr', 'guide/install.html', true],
  ['pt_BR/guide/install.html', 'pt-BR', 'guide/install.html', true],
  ['guide/install.de.html', 'de', 'guide/install.html', true],
  ['guide/install_zh-CN.md', 'zh', 'guide/install.md', true],
  ['guide/install.html?lang=it', 'it', 'guide/install.html', true],
  ['guide/install.html?page=2&hl=it', 'it', 'guide/install.html?page=2', true],
  ['de/index.html', 'de', '', true],
  ['de/', 'de', '', true],
  ['', 'en', '', false],
  // Parts that look like a language but are not that of the page.
  ['is/guide/install.html', 'en', 'is/guide/install.html', false],
  ['guide/x-de.html', 'fr', 'guide/x-de.html', false],
  ['german/guide.html', 'de', 'german/guide.html', false],
] as const)('%s in the language %s has the normalized path %j', (path, language, normalized, namesLanguage) => {
  expect(normalize(path, language)).toEqual({ path: normalized, namesLanguage })
})

test('the normalized path of a page outside the start address includes its host', () => {
  expect(normalizePagePath('https://other.test/de/a.html', START, 'de').path).toBe('other.test/a.html')
  expect(normalizePagePath('file:///docs/de/a.md', { url: 'file:///docs/', version: null }, 'de').path).toBe('a.md')
})

const GITHUB = 'git+https://github.com/o/r.git'
const GIT = 'git+file:///srv/r'
const commit = (digit: string) => digit.repeat(40)

test.each([
  ['a site', '1.0', 'https://docs.test/1.0/', 'https://docs.test/1.0/a/b.md'],
  ['a site without a slash at the end of its start', '1.0', 'https://docs.test/1.0', 'https://docs.test/1.0/a/b.md'],
  ['a site with the version after its start', 'v2', 'https://docs.test/', 'https://docs.test/v2/a/b.md'],
  ['a site with the version after the language', '2', 'https://docs.test/en/', 'https://docs.test/en/2/a/b.md'],
  ['a repository on a site', '1', GITHUB, `https://github.com/o/r/blob/${commit('a')}/a/b.md`],
  ['a repository on a site at another commit', '2', GITHUB, `https://github.com/o/r/blob/${commit('b')}/a/b.md`],
  ['a repository of this machine', '1', GIT, `${GIT}@${commit('a')}!/a/b.md`],
  ['a package', '1.0.0', 'pkg:npm/react@1.0.0', 'pkg:npm/react@1.0.0!/a/b.md'],
  ['an archive', '1.0.0', 'https://docs.test/docs-1.0.0.zip', 'https://docs.test/docs-1.0.0.zip!/a/b.md'],
  ['a folder in an archive', '1.0.0', 'file:///d/docs.tgz', 'file:///d/docs.tgz!/docs-1.0.0/a/b.md'],
  ['a folder', '1.0', 'file:///d/docs-1.0', 'file:///d/docs-1.0/a/b.md'],
  ['an import', '1.0', 'import+https://docs.test/1.0/', 'https://docs.test/1.0/a/b.md'],
])('a page has the same normalized path in every version of %s', (_what, version, url, page) => {
  expect(normalizePagePath(page, { url, version }, 'en').path).toBe('a/b.md')
})

test('a part that looks like a version other than that of the source stays', () => {
  expect(normalizePagePath('https://docs.test/a/3.0/', { url: 'https://docs.test/', version: '2.0' }, null).path).toBe(
    'a/3.0',
  )
})

test.each([
  ['https://docs.test/en/2.0/', 'en'],
  ['https://docs.test/2.0/pt-br/', 'pt'],
  ['https://de.docs.test/', 'de'],
  ['https://docs.test/guide/', null],
  ['file:///docs/guide/', null],
  ['nothing', null],
] as const)('%s names the language %s', (url, language) => {
  expect(languageInUrl(url)).toBe(language)
})
