// Draws the pictures of the README from the demo: the dashboard and its search (PNG), and a search in a terminal (SVG).
//
//   node scripts/screenshots.mjs        needs Chromium; /usr/bin/chromium or the path in CHROMIUM
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const pharos = join(root, 'pharos')
const QUESTION = 'how many attempts before a message becomes a dead letter'
const WIDTH = 1280
const HEIGHT = 860

const folder = mkdtempSync(join(tmpdir(), 'pharos-screenshots-'))
const demo = spawn(pharos, ['demo'], { stdio: ['ignore', 'ignore', 'pipe'] })
try {
  const [site, server] = await readAddresses()
  await drawDashboard(server)
  drawSearch(site)
} finally {
  demo.kill('SIGINT')
  rmSync(folder, { recursive: true, force: true })
}

/** Waits until the demo has crawled its site; an earlier line contains both addresses. */
async function readAddresses() {
  let addresses
  for await (const line of createInterface(demo.stderr)) {
    addresses ??= line.match(/http:\/\/[\d.:]+\//g) ?? undefined
    if (line.includes('Ctrl-C')) return addresses
  }
  throw new Error('the demo ended early')
}

async function drawDashboard(server) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme: 'light' })
    await page.goto(server, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(root, 'docs/images/dashboard.png') })
    await page.goto(`${server}#/search?q=${encodeURIComponent(QUESTION)}`)
    await page.locator('.passage').first().waitFor()
    await page.screenshot({ path: join(root, 'docs/images/dashboard-search.png') })
  } finally {
    await browser.close()
  }
}

function drawSearch(site) {
  const library = ['--library', join(folder, 'library.db')]
  run(['add', site, '--name', 'lanternfish', '--allow-private', '--quiet', ...library])
  const { stdout } = run(['search', QUESTION, '--limit', '3', ...library])
  const lines = [`$ pharos search "${QUESTION}"`, ...stdout.trimEnd().split('\n').map(stripVTControlCharacters)]
  writeFileSync(join(root, 'docs/images/search.svg'), writeSvg(lines))
}

function run(args) {
  const { status, stdout, stderr } = spawnSync(pharos, args, {
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '1' },
  })
  if (status !== 0) throw new Error(`pharos ${args.join(' ')}: ${stderr}`)
  return { stdout }
}

/** Draws lines of text like a terminal. */
function writeSvg(lines) {
  const [charWidth, lineHeight, margin] = [8.4, 20, 20]
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * charWidth) + 2 * margin
  const height = lines.length * lineHeight + 2 * margin
  const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const rows = lines.map(
    (line, i) =>
      `<text x="${margin}" y="${margin + (i + 0.75) * lineHeight}" xml:space="preserve">${escapeText(line)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6e6e6">
<title>A search in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="#1c1f24"/>
${rows.join('\n')}
</svg>
`
}
