import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { createLazyAssets, pageFolder } from '../../src/cli/serve/assets.ts'
import { writeContentSecurityPolicy, writePolicySource } from '../../src/core/content-security-policy.ts'
import { isLong } from '../faults/bounded.ts'

/** A host that, like `pharos serve`, sends the page with its content security policy, so that no service worker has to add the policy. */
export interface PageHost {
  /** Address of the page. */
  readonly address: string
  /** Paths of all requests. */
  readonly requestedPaths: readonly string[]
  close(): Promise<void>
}

/** Serves the page on loopback, in a folder of the host. */
export async function openPageHost(): Promise<PageHost> {
  const read = createLazyAssets(pageFolder('local'))
  const requestedPaths: string[] = []
  const server = createServer((incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?')
    requestedPaths.push(path)
    const file = path.startsWith(PAGE_PATH) ? path.slice(PAGE_PATH.length) || 'index.html' : '.'
    void read(`/${file}`).then((found) => {
      if (found === undefined) outgoing.writeHead(404).end()
      else outgoing.writeHead(200, { 'content-type': found.type, 'content-security-policy': policy }).end(found.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PAGE_PATH}`
  const policy = writeContentSecurityPolicy(writePolicySource(address))
  return {
    address,
    requestedPaths,
    async close() {
      if (!server.listening) return
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const PAGE_PATH = '/a/page/'

/** Content of files by their paths. */
export type Files = ReadonlyMap<string, Uint8Array>

/** Writes files in the given order, with old times that are one second apart, the first `offsetSeconds` after 2020 began. */
export function writeFiles(
  folder: string,
  files: Iterable<readonly [string, string | Uint8Array]>,
  offsetSeconds = 0,
): void {
  let second = Date.UTC(2020, 0, 1) / 1000 + offsetSeconds
  for (const [path, content] of files) {
    const target = join(folder, path)
    fs.mkdirSync(dirname(target), { recursive: true })
    fs.writeFileSync(target, content)
    fs.utimesSync(target, second, second)
    second++
  }
}

/** Reads all files below a folder. */
export function readFiles(folder: string): Files {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort()
  return new Map(paths.map((path) => [path.slice(folder.length + 1), fs.readFileSync(path)]))
}

/** Unpacks a zip. */
export function unzip(archive: Uint8Array): Files {
  return new Map(Object.entries(unzipSync(archive)))
}

/** Differences between two sets of files, by path. */
export function listDifferences(actual: Files, expected: Files): string[] {
  const missing = [...expected.keys()].filter((path) => !actual.has(path)).map((path) => `${path} is missing`)
  const other = [...actual].flatMap(([path, content]) => {
    const wanted = expected.get(path)
    if (wanted === undefined) return [`${path} is not expected`]
    return Buffer.compare(content, wanted) === 0 ? [] : [`${path} differs`]
  })
  return [...missing, ...other]
}

/** A file that the page offers for download. */
export interface Downloaded {
  readonly name: string
  readonly bytes: Buffer
}

/** Clicks a download button of the open index, and returns the downloaded file. */
export async function download(page: Page, label: string): Promise<Downloaded> {
  const [downloaded] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: `Download ${label}`, exact: true }).click(),
  ])
  return { name: downloaded.suggestedFilename(), bytes: fs.readFileSync(await downloaded.path()) }
}

/** Opens the export view of the open index. */
export async function openExport(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Export', exact: true }).click()
  await page.locator('#export-state').waitFor({ state: 'attached' })
}

/** Reads the previewed folder to the end. */
export async function readPreviewed(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Read / }).click()
  await page.locator('#search-box').waitFor()
}

/** Uploads a folder to the page, and reads it. */
export async function readUploaded(page: Page, folder: string, input = '#folder-input'): Promise<void> {
  await page.locator(input).setInputFiles(folder)
  await page.getByRole('heading', { name: /^(?:Preview of|Update from) / }).waitFor()
  await readPreviewed(page)
}

/** Drops files and folders of the disk onto the page, as a user does. */
export async function drop(page: Page, files: readonly string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const data = { items: [], files: [...files], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, x: 50, y: 50, data })
  }
  await devtools.detach()
}

/** The longest times for which a task blocked the page, which need not be of the same task. */
export interface LongestTask {
  /** Unlike elapsed time, this does not depend on the load of the machine. */
  readonly cpuMs: number
  readonly elapsedMs: number
}

/** Records the tasks that block the page, until the returned function is called. A browser can record only one page at a time. */
export async function measureLongestTask(browser: Browser, page: Page): Promise<() => Promise<LongestTask>> {
  await browser.startTracing(page, { categories: ['-*', 'disabled-by-default-devtools.timeline'] })
  let isOver = false
  // A failed test must not leave the trace running for the next test.
  onTestFinished(async () => void (isOver || (await browser.stopTracing())))
  return async () => {
    isOver = true
    const { traceEvents: all } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
    const pages = all.filter(({ name, args }) => name === 'thread_name' && args['name'] === 'CrRendererMain')
    const threads = new Set(pages.map(({ pid, tid }) => `${pid} ${tid}`))
    const tasks = all.filter(({ name, pid, tid }) => name === 'RunTask' && threads.has(`${pid} ${tid}`))
    const measureLongest = (time: 'dur' | 'tdur') =>
      tasks.reduce((longest, { [time]: length = 0 }) => Math.max(longest, length / 1000), 0)
    const longest = { cpuMs: measureLongest('tdur'), elapsedMs: measureLongest('dur') }
    if (longest.cpuMs === 0 || longest.elapsedMs === 0) throw new Error('the trace contains no task with its times')
    return longest
  }
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Elapsed time in microseconds. */
  readonly dur?: number
  /** CPU time of the thread in microseconds. */
  readonly tdur?: number
  readonly args: Readonly<Record<string, unknown>>
}

/** Number of files of each kind; in a short run just enough for every form of a kind. */
const COUNTS = {
  notes: isLong ? 150 : 8,
  pages: isLong ? 40 : 4,
  records: isLong ? 40 : 6,
  texts: isLong ? 40 : 8,
  logs: isLong ? 12 : 2,
  programs: isLong ? 15 : 2,
  pictures: isLong ? 40 : 12,
  settings: isLong ? 20 : 4,
  modules: isLong ? 20 : 2,
}

/** Minimum number of mixed files that are not skipped. */
export const MIN_MIXED_FILES: number = isLong ? 500 : 75

/** Files of every supported kind, and some that are skipped. The result is deterministic. */
export function makeMixedFiles(): Map<string, string | Uint8Array> {
  const files = new Map<string, string | Uint8Array>(Object.entries(ODD_FILES))
  for (let i = 0; i < COUNTS.notes; i++) files.set(`notes/part ${i % 7}/note-${i}.md`, writeNote(i))
  for (let i = 0; i < COUNTS.pages; i++) files.set(`pages/${i % 3}/page-${i}.html`, writePage(i))
  for (let i = 0; i < COUNTS.records; i++)
    files.set(`data/record-${i}.json`, JSON.stringify(makeRecord(i), null, i % 3))
  for (let i = 0; i < COUNTS.texts; i++)
    files.set(`texts/text-${i}.${['txt', 'csv', 'ini', 'xml'][i % 4]}`, writeWords(i, 60))
  for (let i = 0; i < COUNTS.logs; i++) files.set(`logs/day-${i}.log`, writeLog(i))
  for (const [ending, write] of Object.entries({ ...CODE, ...(isLong ? MORE_CODE : {}) })) {
    for (let i = 0; i < COUNTS.programs; i++) files.set(`code/${ending}/part_${i}.${ending}`, write(i))
  }
  for (let i = 0; i < COUNTS.pictures; i++) files.set(`pictures/${i % 4}/picture ${i}.png`, makePicture(i))
  for (let i = 0; i < COUNTS.settings; i++)
    files.set(`settings/${['a.yaml', 'b.toml', 'c.css', 'Makefile'][i % 4]}.${i}`, writeWords(i, 30))
  for (let i = 0; i < COUNTS.modules; i++) files.set(`node_modules/thing-${i}/index.js`, `module.exports = ${i}\n`)
  return files
}

/** A file size that only `large.txt` exceeds. */
export const MIN_LARGE_BYTES: number = 2 ** 17

const utf8 = new TextEncoder()

const ODD_FILES: Readonly<Record<string, string | Uint8Array>> = {
  '.gitignore': '# Rules\n*.tmp\n!kept.tmp\n/only-here/\ndrafts/**/*.md\n',
  '.pharosignore': 'private/\n',
  'nested/.gitignore': 'local-*.txt\n!/local-kept.txt\n',
  'a.tmp': 'ignored words',
  'kept.tmp': 'kept words of a rule that takes back another',
  'only-here/a.txt': 'ignored words',
  'nested/only-here/a.txt': 'words of a folder that the rule does not mean',
  'drafts/one/two/a.md': '# Ignored\n',
  'drafts/a.txt': 'a draft that is not ignored',
  'private/a.md': '# Private\n',
  'nested/local-a.txt': 'ignored words',
  'nested/local-kept.txt': 'kept after all',
  'nested/deeper/local-b.txt': 'ignored words',
  'build/out.js': 'built()\n',
  'archive.zip': new Uint8Array([80, 75, 3, 4]),
  'binary.dat': Uint8Array.from({ length: 3000 }, (_, i) => (i * 7919) % 256),
  'empty.md': '',
  'empty.txt': '',
  'blank.md': '\n \n\t\n',
  'lines/crlf.md': '# Windows\r\n\r\nTwo lines\r\nof one paragraph.\r\n\r\n## Second\r\n\r\n- a\r\n- b\r\n',
  'lines/crlf.py': 'class Kiln:\r\n    def fire(self, heat):\r\n        return heat + 1\r\n',
  'lines/cr.txt': 'old\rlines\rof a Mac\r',
  'lines/mixed.txt': 'one\ntwo\r\nthree\rfour',
  'lines/endless.txt': 'endless words without a break '.repeat(1500),
  'marked/bom.md': '\u{feff}# Marked\n\nText after a mark.\n',
  'marked/bom.json': '\u{feff}{"marked": [1, 2, 3]}\n',
  'marked/bom.py': '\u{feff}def marked():\n    return 1\n',
  'marked/latin.txt': Buffer.from('caf\u{e9} cr\u{e8}me, na\u{ef}ve\n', 'latin1'),
  'marked/latin.html': Buffer.from('<meta charset="iso-8859-1"><h1>Caf\u{e9}</h1><p>Cr\u{e8}me.</p>', 'latin1'),
  'marked/wide.txt': Buffer.from('\u{feff}wide letters\n', 'utf16le'),
  'marked/broken.md': new Uint8Array([...utf8.encode('# Broken\n\nhalf a letter '), 0xe2, 0x82, 10]),
  'marked/controls.txt': 'a bell \u{7} and an escape \u{1b}[31m and a separator \u{2028} here\n',
  'names/a name with spaces.md': '# Spaces\n\nIn its name.\n',
  'names/Übergröße äöü ß.md': '# Umlaute\n\nMit Maß und Ziel.\n',
  'names/u\u{308}ber.md': '# Apart\n\nThe dots are a letter of their own.\n',
  'names/fox 🦊 and 漢字.txt': 'a fox and signs',
  'names/it\'s "quoted".md': '# Quoted\n\nBoth kinds.\n',
  'names/back`tick`.md': '# Ticks\n\n`a`\n',
  'names/100%25 & <b>#1?.txt': 'signs that addresses use',
  'names/-dash.js': 'function dash(it) {\n  return it\n}\n',
  'names/no ending': 'A file without an extension.\n',
  'names/UPPER.MD': '# UPPER\n\nletters\n',
  'names/.hidden': 'hidden words\n',
  'names/__proto__.js': 'export function proto() {\n  return {}\n}\n',
  'names/constructor': 'a name that objects have\n',
  'secrets/deploy.ini': `key = ${'AKIA'}${'IOSFODNN7EXAMPLE'}\n`,
  'large.txt': 'A line that is there too often to be read.\n'.repeat(4000),
  [`${'deep/'.repeat(40)}end.md`]: '# The end\n\nA long way down.\n',
  'data/broken.json': '{"open": [1, 2,\n',
  'data/lines.jsonl': '{"a":1}\n{"a":2}\n',
  'pictures/not.png': 'no picture at all',
  'pictures/empty.gif': '',
  'code/broken.js': 'export class { function (((\n',
  'pages/script.html': '<title>Title</title><h1>Head <script>alert(1)</script></h1><img src=x onerror=alert(1)><p>Rest',
}

/** Programs in some of the languages with a grammar: all grammars are handled in the same way. */
const CODE: Readonly<Record<string, (i: number) => string>> = {
  js: (i) =>
    `/** ${writeWords(i, 8)} */\nexport function run${i}(a) {\n  return a + ${i}\n}\n\nclass Kiln${i} {\n  fire() {}\n}\n`,
  py: (i) =>
    `"""${writeWords(i, 8)}"""\n\nclass Kiln${i}:\n    def fire(self, heat):\n        return heat * ${i}\n\n\ndef cool():\n    pass\n`,
  go: (i) =>
    `package kiln\n\n// Fire${i} ${writeWords(i, 6)}\nfunc Fire${i}(heat int) int {\n\treturn heat + ${i}\n}\n\ntype Clay struct{}\n`,
  java: (i) =>
    `package kiln;\n\n/** ${writeWords(i, 6)} */\npublic class Kiln${i} {\n  int fire(int heat) {\n    return heat + ${i};\n  }\n}\n`,
}

/** Programs in the other languages: their grammars are five times as large, and the browser compiles them each time. */
const MORE_CODE: typeof CODE = {
  mts: (i) => `export interface Heat${i} { degrees: number }\n\nexport const at = (h: Heat${i}): number => h.degrees\n`,
  tsx: (i) => `export function View${i}(): JSX.Element {\n  return <p title="${writeWords(i, 3)}">{${i}}</p>\n}\n`,
  rs: (i) =>
    `/// ${writeWords(i, 6)}\npub struct Kiln${i};\n\nimpl Kiln${i} {\n    pub fn fire(&self) -> u32 {\n        ${i}\n    }\n}\n`,
  c: (i) => `#include "kiln.h"\n\n/* ${writeWords(i, 6)} */\nint fire_${i}(int heat) {\n  return heat + ${i};\n}\n`,
  hpp: (i) =>
    `namespace kiln {\ntemplate <typename T>\nclass Oven${i} {\n public:\n  T fire(T heat) { return heat; }\n};\n}\n`,
  rb: (i) =>
    `# ${writeWords(i, 6)}\nmodule Kiln\n  class Oven${i}\n    def fire(heat)\n      heat + ${i}\n    end\n  end\nend\n`,
  sh: (i) => `#!/bin/sh\n# ${writeWords(i, 6)}\nfire_${i}() {\n  echo "$((${i} + $1))"\n}\n`,
}

const WORDS =
  `kiln clay glaze heat oven wheel bowl ember ash slip cone bisque throw trim foot rim wedge coil slab stain`.split(' ')

/** Words derived from a number. */
function writeWords(seed: number, count: number): string {
  let state = seed + 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return WORDS[state % WORDS.length] ?? ''
  }
  return Array.from({ length: count }, next).join(' ')
}

function writeNote(i: number): string {
  const table = `| name | heat |\n| --- | --- |\n| ${writeWords(i, 2)} | ${i} |\n`
  const code = `\`\`\`js\nfire(${i})\n\`\`\`\n`
  const parts = [
    `# ${writeWords(i, 3)} ${i}`,
    writeWords(i + 1, 120),
    `## ${writeWords(i + 2, 2)}`,
    table,
    code,
    `### Deeper\n\n- ${writeWords(i, 9)}`,
  ]
  return `${i % 5 === 0 ? `---\ntitle: Note ${i}\n---\n\n` : ''}${parts.join('\n\n')}\n${writeWords(i + 3, 500 * Number(i % 10 === 3))}\n`
}

function writePage(i: number): string {
  const body = `<nav>${writeWords(i, 4)}</nav><main><h1>${writeWords(i, 3)}</h1><p>${writeWords(i + 1, 50)}</p><h2 id=a>More</h2><pre>fire(${i})</pre></main>`
  return `<!doctype html><html lang="en"><head><title>Page ${i}</title></head><body>${body}</body></html>\n`
}

function makeRecord(i: number): object {
  return {
    id: i,
    name: writeWords(i, 2),
    tags: writeWords(i, 5).split(' '),
    inner: { text: writeWords(i + 1, 40), list: [i, { a: null }] },
  }
}

function writeLog(i: number): string {
  const lines = Array.from(
    { length: 80 },
    (_, n) => `2020-01-${10 + i} level=${n % 9 === 0 ? 'warn' : 'info'} ${writeWords(n >> 3, 6)}`,
  )
  return `${lines.join('\n')}\n`
}

/**
 * Together the images exceed one megabyte even without two of them, so that the page keeps them in files; each is smaller than
 * `MIN_LARGE_BYTES`.
 */
const PICTURE_BYTES = Math.ceil(1_400_000 / COUNTS.pictures)

/** Bytes that begin like an image. */
export function makePicture(i: number, length: number = PICTURE_BYTES + i): Uint8Array {
  const head = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, i + 1, 0, 0, 0, 9, 8, 6, 0, 0, 0]
  return Uint8Array.from({ length }, (_, n) => head[n] ?? (n * (i + 13)) % 256)
}
