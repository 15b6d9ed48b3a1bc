import { describe, expect, test } from 'vitest'
import { findDefaultExclude, findHardExclude } from './excludes.ts'

describe('findHardExclude', () => {
  const archives = 'zip tar tgz gz bz2 xz 7z rar zst jar whl deb rpm dmg exe msi iso apk'.split(' ')

  test.each(archives)('refuses archives that end in .%s', (ending) => {
    expect(findHardExclude(`/a/b-1.2.${ending}`)).toBe(`*.${ending}`)
  })

  test.each([
    ['/llms.txt', 'llms.txt'],
    ['/docs/LLMS.txt', 'llms.txt'],
    ['/llms.txt/', 'llms.txt'],
    ['/llms-full.txt', 'llms-full.txt'],
    ['/robots.txt', 'robots.txt'],
    ['/sitemap.xml', 'sitemap*.xml'],
    ['/a/Sitemap_index.xml', 'sitemap*.xml'],
    ['/sitemap-1.xml.gz', 'sitemap*.xml.gz'],
    ['/a.tar.gz', '*.gz'],
    ['/a.ZIP', '*.zip'],
  ])('refuses %s by the pattern %s', (path, pattern) => {
    expect(findHardExclude(path)).toBe(pattern)
  })

  test.each([
    '/',
    '/a',
    '/my-llms.txt',
    '/llms.txt/a',
    '/llms.txt.html',
    '/llms',
    '/robots.txt.html',
    '/mysitemap.xml',
    '/sitemap',
    '/sitemap.html',
    '/a.zip/',
    '/a.zip/b',
    '/zip',
    '/wiki/.zip',
    '/a.zipper',
    '/a.txt',
    '/a.png',
  ])('does not refuse %s', (path) => {
    expect(findHardExclude(path)).toBeUndefined()
  })
})

describe('findDefaultExclude', () => {
  test.each([
    ['/a.png', '*.png'],
    ['/a.JPEG', '*.jpeg'],
    ['/a.svg', '*.svg'],
    ['/favicon.ico', '*.ico'],
    ['/a.woff2', '*.woff2'],
    ['/a.css', '*.css'],
    ['/a.min.js', '*.js'],
    ['/a.mjs', '*.mjs'],
    ['/a.css.map', '*.map'],
    ['/a.mp4', '*.mp4'],
    ['/a.wasm', '*.wasm'],
  ])('refuses %s by the pattern %s', (path, pattern) => {
    expect(findDefaultExclude(path)).toBe(pattern)
  })

  test.each([
    '/a.pdf',
    '/a.json',
    '/a.xml',
    '/a.txt',
    '/a.md',
    '/a.html',
    '/a',
    '/png',
    '/next.js/',
    '/a.js/b',
    '/.css',
    '/a.ts',
    '/v1.2',
  ])('does not refuse %s', (path) => {
    expect(findDefaultExclude(path)).toBeUndefined()
  })
})
