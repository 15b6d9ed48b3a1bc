import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { page } from '../site.ts'
import { type Answerer, crawlHostile, isLong, openCanary, openRawServer, rowsOf, send } from './harness.ts'

/* Responses with hostile bodies: decompression bombs, bytes that are not text, and pathological pages. */

const HTML = 'text/html'
const GOOD = ['/good/1', '/good/2', '/good/3']
const html = (body: string | Uint8Array, more: Readonly<Record<string, string>> = {}) =>
  send(body, { 'content-type': HTML, ...more })
const PROSE = '<p>The visible paragraph, which has enough words to be the content of this page, comes last of all.</p>'
const pageWith = (body: string) => `<!doctype html><title>T</title><body>${body}${PROSE}</body>`

/** Crawls a server whose start page links to the given answers and to good pages. */
async function crawlAnswers(answers: Readonly<Record<string, Answerer>>, queries: readonly string[] = []) {
  const canary = await openCanary()
  const server = await openRawServer()
  const paths = Object.keys(answers)
  server.answers.set('/', send(page('Start', [...paths, ...GOOD])))
  for (const path of GOOD) server.answers.set(path, send(page(`Good ${path}`)))
  for (const path of paths) server.answers.set(path, answers[path] ?? send(''))
  const run = await crawlHostile([{ url: `${server.origin}/` }], { queries })
  const rows = rowsOf(run, server)
  expect(GOOD.map((path) => rows[path])).toEqual(GOOD.map(() => 'indexed'))
  expect(run.sources.get(`${server.origin}/`)?.end).toBe('completed')
  expect(canary.connections).toBe(0)
  expect(server.requestedPaths.length).toBeLessThan(2 * paths.length + 20)
  const states = Object.fromEntries(paths.map((path) => [path, rows[path]]))
  return { states, run, server, canary }
}

test('decompression bombs in every encoding, also nested ones, are refused', async () => {
  const repeated = Buffer.alloc(isLong ? 1_000_000_000 : 40_000_000, '<p>word ')
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const gzip = gzipSync(repeated, { level: 1 })
  const encoded = (body: Uint8Array, encoding: string) => html(body, { 'content-encoding': encoding })
  const { states } = await crawlAnswers({
    '/gzip': encoded(gzip, 'gzip'),
    '/brotli': encoded(brotliCompressSync(repeated, quick), 'br'),
    '/zstd': encoded(zstdCompressSync(repeated), 'zstd'),
    '/deflate': encoded(deflateSync(repeated, { level: 1 }), 'deflate'),
    '/bare-deflate': encoded(deflateRawSync(repeated, { level: 1 }), 'deflate'),
    '/twice': encoded(gzipSync(gzip), 'gzip, gzip'),
    '/mixed': encoded(brotliCompressSync(gzipSync(gzip)), 'gzip, gzip, br'),
    '/too-often': encoded(gzip, 'gzip, gzip, gzip, gzip'),
    '/cut-off': encoded(gzip.subarray(0, 1000), 'gzip'),
    '/many-members': encoded(Buffer.concat(new Array<Buffer>(5000).fill(gzipSync(Buffer.alloc(10_000)))), 'gzip'),
  })
  const large = 'failed too-large'
  const bad = 'failed bad-answer'
  expect(states).toEqual({
    '/gzip': large,
    '/brotli': large,
    '/zstd': large,
    '/deflate': large,
    '/bare-deflate': large,
    '/twice': large,
    '/mixed': large,
    '/too-often': bad,
    '/cut-off': bad,
    '/many-members': large,
  })
})

/**
 * A word in another encoding, with the bytes and the declared type of its page. The crawl must decode the word despite a missing or wrong
 * charset.
 */
const CHARSETS: readonly (readonly [path: string, word: string, bytes: Uint8Array, type: string])[] = [
  ['/utf-16le-bom', 'Zwölfte', utf16('Zwölfte', true), HTML],
  ['/utf-16le', 'Elfte', utf16('Elfte', false), `${HTML}; charset=utf-16le`],
  ['/utf-16be-bom', 'Zehnte', Buffer.from(utf16('Zehnte', true)).swap16(), HTML],
  ['/shift-jis', '東京', legacy([0x93, 0x8c, 0x8b, 0x9e]), `${HTML}; charset=shift_jis`],
  ['/gbk', '北京', legacy([0xb1, 0xb1, 0xbe, 0xa9], 'gbk'), HTML],
  ['/windows-1251', 'Москва', legacy([0xcc, 0xee, 0xf1, 0xea, 0xe2, 0xe0], 'windows-1251'), HTML],
  ['/koi8-r', 'Казань', legacy([0xeb, 0xc1, 0xda, 0xc1, 0xce, 0xd8]), `${HTML}; charset=koi8-r`],
  ['/latin-1', 'Größe', legacy([0x47, 0x72, 0xf6, 0xdf, 0x65], 'iso-8859-1'), HTML],
]

test('pages in UTF-16, in legacy encodings and with invalid bytes are indexed', async () => {
  const bad = Buffer.concat([
    Buffer.from(`<!doctype html><title>Bad</title><p>Sturdy words around `),
    Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0xf8, 0x00, 0x1b]),
    Buffer.from(` bytes that are no text stay findable, and there are enough of them.</p>`),
  ])
  const noise = Buffer.alloc(
    200_000,
    Uint8Array.from({ length: 256 }, (_, i) => (i * 167 + 13) % 256),
  )
  const { states, run, server } = await crawlAnswers(
    {
      ...Object.fromEntries(CHARSETS.map(([path, , bytes, type]) => [path, send(bytes, { 'content-type': type })])),
      '/bad-bytes': html(bad),
      '/unknown-charset': send(page('Strangely'), { 'content-type': `${HTML}; charset=klingon` }),
      '/long-charset': send(page('Lengthy'), { 'content-type': `${HTML}; charset=${'x'.repeat(50_000)}` }),
      '/noise-as-page': html(noise),
      '/noise-as-text': send(noise, { 'content-type': 'text/plain' }),
      '/noise': send(noise, { 'content-type': 'application/octet-stream' }),
      '/nothing': html(''),
    },
    CHARSETS.map(([, word]) => word),
  )
  expect(run.found).toEqual(CHARSETS.map(([path]) => `${server.origin}${path}`))
  expect(states).toMatchObject({
    ...Object.fromEntries(CHARSETS.map(([path]) => [path, 'indexed'])),
    '/bad-bytes': 'indexed',
    '/unknown-charset': 'indexed',
    '/long-charset': 'indexed',
    '/noise': 'skipped not-text',
    '/nothing': 'skipped empty',
  })
})

test('a pathological page is indexed, skipped or failed without affecting other pages', async () => {
  const links = isLong ? 1_000_000 : 10_000
  const list = Array.from({ length: links }, (_, i) => `<a href=/l/${i.toString(36)}>x</a>`).join('')
  const deep = (count: number) => `${'<div>'.repeat(count)}${PROSE}${'</div>'.repeat(count)}`
  const laughs = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
  const { states, server, canary } = await crawlAnswers({
    '/nested': html(pageWith(deep(isLong ? 100_000 : 20_000))),
    // `nofollow` keeps the number of requests small.
    '/links': html(`<!doctype html><title>L</title><meta name=robots content=nofollow>${list}${PROSE}`),
    '/entities': html(`<!DOCTYPE html [<!ENTITY l0 "ha">${laughs}]><title>E</title><p>&l30; &l30;</p>${PROSE}`),
    '/external': html(`<!DOCTYPE html [<!ENTITY f SYSTEM "file:///etc/passwd">]><title>X</title><p>&f;</p>${PROSE}`),
    '/headings': html(pageWith('<h2>H'.repeat(26_000))),
    // The resolved links of this page have more than 30 million characters, so only the long form of the test includes it.
    ...(isLong && {
      '/long-base': html(pageWith(`<base href="/${'a/'.repeat(900)}">${'<a href=x>y</a>'.repeat(18_000)}`)),
    }),
    '/unclosed': html(pageWith('<i>'.repeat(isLong ? 6_000_000 : 50_000))),
  })
  expect(states).toMatchObject({
    '/nested': 'indexed',
    '/entities': expect.stringMatching(/^(?:indexed|skipped duplicate)$/),
    '/external': expect.stringMatching(/^(?:indexed|skipped duplicate)$/),
    '/headings': 'failed page-defect',
    ...(isLong && { '/long-base': 'failed page-defect' }),
    '/links': expect.stringMatching(isLong ? /^(?:indexed too-many-links|failed page-defect)$/ : /^indexed/),
    '/unclosed': expect.stringMatching(isLong ? /^failed page-defect$/ : /^(?:indexed|skipped duplicate)$/),
  })
  expect(server.requestedPaths.filter((path) => path.startsWith('/l/'))).toEqual([])
  expect(canary.connections).toBe(0)
})

test('links to other schemes and hosts are recorded and never requested', async () => {
  const canary = await openCanary()
  const server = await openRawServer()
  const links = [
    'javascript:alert(1)',
    'data:text/html,<p>data</p>',
    'file:///etc/passwd',
    'mailto:a@b.example',
    'ftp://127.0.0.2/a',
    'blob:http://127.0.0.1/a',
    'view-source:http://127.0.0.1/',
    'ws://127.0.0.2/',
    'tel:+1',
    'unknown:thing',
    'http://',
    'http://[::1',
    'http://a b/',
    `http://127.0.0.2:1/`,
    `${canary.origin}/a`,
    `//${new URL(canary.origin).host}/b`,
    `\\\\${new URL(canary.origin).host}\\c`,
    `http://user:secret@${new URL(canary.origin).host}/d`,
    `${server.origin}@${new URL(canary.origin).host}/e`,
    `/${'long/'.repeat(100_000)}`,
    `/?${'a=b&amp;'.repeat(100_000)}`,
    `http://${'a'.repeat(100_000)}.example/`,
    '/good/%00%ff%zz',
    '/good/../../../../etc/passwd',
  ]
  const forms = links.flatMap((link) => [
    `<a href="${link}">A link</a>`,
    `<link rel=canonical href="${link}"><link rel=alternate type=text/markdown href="${link}">`,
    `<iframe src="${link}"></iframe><img src="${link}"><form action="${link}"></form>`,
  ])
  server.answers.set('/', send(`<!doctype html><title>Links</title><body>${forms.join('')}${page('Start', GOOD)}`))
  server.answers.set('/refresh', send(`<meta http-equiv=refresh content="0; url=${canary.origin}/refresh">`))
  for (const path of GOOD) {
    server.answers.set(path, send(page(path, ['/refresh'], `<base href="${canary.origin}/"><meta name=x content=y>`)))
  }
  const run = await crawlHostile([{ url: `${server.origin}/` }])
  const rows = rowsOf(run, server)
  expect(GOOD.map((path) => rows[path])).toEqual(GOOD.map(() => 'indexed'))
  for (const link of links.slice(0, 10)) expect(rows[link] ?? 'none', link).toMatch(/^(?:skipped scheme|none)$/)
  expect(rows[`${canary.origin}/a`]).toBe('skipped off-site')
  expect(canary.connections).toBe(0)
  expect(server.requestedPaths.filter((path) => path.length > 2000)).toEqual([])
  expect(server.requestedPaths.length).toBeLessThan(40)
  expect(JSON.stringify([...run.sources.values()])).not.toContain('secret')
})

function utf16(word: string, hasBom: boolean): Buffer {
  return Buffer.from(`${hasBom ? '\ufeff' : ''}${page(`The word ${word} in two bytes a character`)}`, 'utf16le')
}

/** A page with some bytes in its text, and an optional charset declaration. */
function legacy(bytes: readonly number[], charset?: string): Buffer {
  const meta = charset === undefined ? '' : `<meta charset="${charset}">`
  const [before = '', after = ''] = page('A word of another encoding', [], meta).split('This page is about', 2)
  return Buffer.concat([
    Buffer.from(`${before}The word `),
    Buffer.from(bytes),
    Buffer.from(` is here. It is about ${after}`),
  ])
}
