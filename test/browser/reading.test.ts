import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { type ServerProcess, startServer, until } from '../e2e/server.ts'
import { openSite, type Site } from '../sites/site.ts'
import { listViolations } from './axe.ts'
import { openChromium } from './chromium.ts'

/* The search page, the reader and the box behind Ctrl-K of a real `pharos serve`, in a real Chromium. */

const ENVIRONMENT = { PHAROS_ALLOW_PRIVATE: '127.0.0.0/8', PHAROS_START_INTERVAL: '5ms' }
const PATIENCE = { timeout: 45_000 }

const sandbox = new ProgramSandbox()
let browser: Browser
let page: Page
let site: Site
let server: ServerProcess
/** The window of each test; the dashboard hides the button of the box beside a search on a phone. */
const SCREEN = { width: 1280, height: 900 }
/** Problems in the window since the current test opened it. */
const problems: string[] = []

beforeAll(async () => {
  const openingBrowser = openChromium()
  site = await openSite(createPages())
  server = await startServer(sandbox, [], ENVIRONMENT)
  for (const [name, version, path] of [
    ['lamps', '2.0', '/2.0/'],
    ['lamps', '1.0', '/1.0/'],
    ['ships', null, '/ships/'],
  ] as const) {
    await server.post('/api/sources', { url: `${site.origin}${path}`, name, ...(version === null ? {} : { version }) })
  }
  browser = await openingBrowser
  page = await openWindow({})
  await until(countPages, (count) => count === 7, PATIENCE.timeout)
})

afterAll(async () => {
  await browser?.close()
  server?.kill('SIGTERM')
  await server?.ended
  await site?.close()
  sandbox.remove()
})

describe('search', () => {
  test('answers while the user types, renders the passage, and keeps the question in the address', async () => {
    await open('/#/search')
    await page.getByLabel('What to look for').pressSequentially('trim the wick', { delay: 60 })
    const first = page.locator('article.passage').first()
    // The page also answers what was typed so far; on a busy machine those answers may still be there.
    await expect.poll(() => new URL(page.url()).hash).toBe('#/search?q=trim+the+wick')
    await first
      .locator('.rendered mark', { hasText: /^wick$/ })
      .first()
      .waitFor(PATIENCE)
    await first.getByRole('link', { name: 'Care of lamps' }).waitFor(PATIENCE)
    expect(await first.locator('.rendered table td').first().textContent()).toBe('daily')
    expect(await first.locator('.rendered pre .code-keyword').first().textContent()).toBe('def')
    expect(await first.locator('.heading-path').textContent()).toContain('lamps@2.0')
    // A search that the user typed over is no failure.
    expect(problems).toEqual([])
    await page.reload()
    await first.getByRole('link', { name: 'Care of lamps' }).waitFor(PATIENCE)
    expect(await page.getByLabel('What to look for').inputValue()).toBe('trim the wick')
  })

  test('keeps what is typed right after an earlier question went into the address', async () => {
    await open('/#/search')
    // The page writes the question into the address in a timer, and looks at the address again after the next frame.
    const typed = await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('input[name="q"]')
      const type = (text) => {
        box.value = text
        box.dispatchEvent(new InputEvent('input', { bubbles: true }))
      }
      const replaceState = history.replaceState.bind(history)
      history.replaceState = (...state) => {
        replaceState(...state)
        history.replaceState = replaceState
        queueMicrotask(() => type('trim the w'))
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(box.value), 100)))
      }
      type('trim the')
    })`)
    expect(typed).toBe('trim the w')
  })

  test('begins a folded passage where the matching words are', async () => {
    await open('/#/search?q=carrick+hawser')
    const text = page.locator('article.passage', { hasText: 'carrick hawser' }).first().locator('.passage-text')
    await text.locator('mark', { hasText: 'carrick' }).waitFor(PATIENCE)
    const folded = `[...document.querySelectorAll('.passage-text')].find((one) => one.textContent.includes('carrick'))`
    expect(await page.evaluate(`${folded}.scrollTop`)).toBeGreaterThan(0)
    const [box, mark] = await Promise.all([
      text.boundingBox(),
      text.locator('mark', { hasText: 'carrick' }).boundingBox(),
    ])
    expect(mark?.y ?? 0).toBeGreaterThanOrEqual(box?.y ?? 0)
    // Its first line, which often matches best, neither fades out nor is cut.
    expect(await page.evaluate(`getComputedStyle(${folded}).maskImage`)).toMatch(
      /^linear-gradient\((?:to bottom, )?rgb\(0, 0, 0\)/,
    )
    expect(mark?.y ?? 0).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0))
  })

  test('narrows the search by chips, and says what to do when nothing fits', async () => {
    await open('/#/search?q=wick')
    await page.locator('article.passage').first().waitFor(PATIENCE)
    await page.getByRole('button', { name: 'lamps', exact: true }).click()
    await page.getByRole('button', { name: '1.0', exact: true }).click()
    await page.locator('.heading-path', { hasText: 'lamps@1.0' }).first().waitFor(PATIENCE)
    expect(new URL(page.url()).hash).toBe('#/search?q=wick&source=lamps&version=1.0')
    await page.getByRole('button', { name: 'All sources' }).click()
    await page.getByLabel('What to look for').fill('quantum chromodynamics of gluons')
    await page.getByText('No good match').waitFor(PATIENCE)
    await page.getByRole('link', { name: 'add a source' }).waitFor()
    expect(problems).toEqual([])
  })

  test('copies the search as a call with the names and values of the tool', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.origin })
    await open('/#/search?q=wick&source=lamps&contentType=prose&other=1')
    const facts = page.locator('.result-facts')
    await facts.getByRole('button', { name: 'Copy as MCP call' }).click()
    await facts.getByText('Copied as MCP call').waitFor(PATIENCE)
    const call = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))
    expect(call.params).toEqual({
      name: 'search_docs',
      arguments: { query: 'wick', source: 'lamps', contentType: 'prose' },
    })
  })

  test('copies a passage as citation, as Markdown and as MCP call', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.origin })
    await open('/#/search?q=trim+the+wick')
    const first = page.locator('article.passage').first()
    const copied = async (name: string) => {
      await first.getByRole('button', { name: `Copy as ${name}` }).click()
      await first.getByText(`Copied as ${name}`).waitFor(PATIENCE)
      return page.evaluate<string>('navigator.clipboard.readText()')
    }
    expect(await copied('citation')).toMatch(
      /^"Care of lamps".* — http.*\(chunk lamps@2\.0\/[0-9a-f]{12}, lines \d+-\d+\)/,
    )
    expect(await copied('Markdown')).toContain('— [Care of lamps')
    const call = JSON.parse(await copied('MCP call'))
    expect(call).toMatchObject({
      params: { name: 'get_chunk', arguments: { chunk: expect.stringMatching(/^lamps@2\.0\//) } },
    })
  })
})

describe('the reader', () => {
  test('opens a hit at its passage by the keyboard, and switches the version', async () => {
    await open('/#/search?q=trim+the+wick')
    await page.locator('article.passage').first().waitFor(PATIENCE)
    await page.getByLabel('What to look for').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/read\?.*lines=\d+-\d+#L\d+$/, PATIENCE)
    await page.getByRole('heading', { name: 'Care of lamps', level: 1 }).waitFor()
    expect(await page.locator('.in-passage').count()).toBeGreaterThan(1)
    expect(await page.locator('.in-passage').first().isVisible()).toBe(true)
    await page.getByRole('navigation', { name: 'Version' }).getByRole('link', { name: '1.0' }).click()
    await page.getByText('In version 1 the wick was never trimmed').waitFor(PATIENCE)
    expect(problems).toEqual([])
  })

  test('works without JavaScript', async () => {
    const plain = await openWindow({ javaScriptEnabled: false })
    const url = encodeURIComponent(`${site.origin}/2.0/care`)
    await plain.goto(`${server.origin}/read?url=${url}`)
    await plain.getByRole('navigation', { name: 'Outline' }).getByRole('link', { name: 'Fuel' }).click()
    expect(new URL(plain.url()).hash).toMatch(/^#L\d+$/)
    const line = new URL(plain.url()).hash
    expect(await plain.locator(line).textContent()).toContain('Fuel')
    await plain.getByRole('link', { name: 'the start' }).click()
    await plain.getByRole('heading', { name: 'Lamps 2.0', level: 1 }).waitFor()
    expect(new URL(plain.url()).pathname).toBe('/read')
    await plain.close()
  })
})

describe('the box behind Ctrl-K', () => {
  test('shows the history of an address, and opens the page', async () => {
    await open('/#/sources')
    const box = await openBox()
    await box.fill(`${site.origin}/2.0/care`)
    const history = page.getByRole('region', { name: 'History of the address' })
    await history.getByText('its content was indexed').first().waitFor(PATIENCE)
    await history.getByText('was found for lamps@2.0 as a link').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/read\?/, PATIENCE)
    await page.getByRole('heading', { name: 'Care of lamps', level: 1 }).waitFor()
    expect(problems).toEqual([])
  })

  test('says why an address is not there, and finds addresses and passages by words', async () => {
    await open('/#/')
    const box = await openBox()
    await box.fill(`${site.origin}/2.0/secret`)
    await page.getByText('robots.txt').first().waitFor(PATIENCE)
    await box.fill('care')
    await page.getByRole('option', { name: `${site.origin}/2.0/care` }).waitFor(PATIENCE)
    await box.fill('trim the wick')
    await page.getByRole('option', { name: 'Search for “trim the wick”' }).waitFor(PATIENCE)
    await page.getByRole('option', { name: 'Care of lamps' }).first().waitFor(PATIENCE)
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/search\?q=trim\+the\+wick/, PATIENCE)
  })

  test('takes names with colons for words, and goes on with text that has no answer yet', async () => {
    await open('/#/')
    const box = await openBox()
    await box.fill('std::vector')
    await page.getByRole('option', { name: 'Search for “std::vector”' }).waitFor(PATIENCE)
    await box.fill(`${site.origin}/2.0/care`)
    await page.getByRole('option', { name: `Search for “${site.origin}/2.0/care”` }).waitFor(PATIENCE)
    await box.fill('trim the wick')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/search\?q=trim\+the\+wick/, PATIENCE)
    await openBox()
    // Without its scheme, as a browser shows it.
    await box.fill(`${new URL(site.origin).host}/2.0/care`)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/url\?url=http%3A/, PATIENCE)
    await page.getByText('was found for lamps@2.0').waitFor()
  })

  test('takes every key that follows Ctrl-K, and fills in the address of a source to add', async () => {
    const url = `${site.origin}/oil/barrels`
    await open('/#/')
    await page.getByRole('button', { name: 'Search or explain a URL' }).waitFor(PATIENCE)
    await page.keyboard.press('Control+k')
    await page.keyboard.type(url)
    const add = page.getByRole('option', { name: 'Add a source that has it' })
    await add.waitFor(PATIENCE)
    await page.getByText(`No page ${url} in the library: `).waitFor(PATIENCE)
    await add.click()
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await dialog.waitFor(PATIENCE)
    expect(await dialog.getByLabel('Address').inputValue()).toBe(url)
    await dialog.getByRole('button', { name: 'Back' }).click()
    expect(new URL(page.url()).hash).toBe('#/sources')
  })

  test('opens on the server-rendered pages too', async () => {
    await open('/urls')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Address or words').fill('std::vector')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/search\?q=std%3A%3Avector/, PATIENCE)
    await open('/urls')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Address or words').fill(`${site.origin}/2.0/care`)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/url\?url=/, PATIENCE)
    await page.getByText('was found for lamps@2.0').waitFor()
  })
})

describe('accessibility', () => {
  const screens: Readonly<Record<string, () => Promise<void>>> = {
    'empty search': async () => {
      await open('/#/search')
      await page.getByText('All sources').waitFor(PATIENCE)
    },
    'search with an answer': async () => {
      await open('/#/search?q=trim+the+wick&kind=markdown')
      await page.locator('article.passage').first().waitFor(PATIENCE)
      await page.getByRole('button', { name: 'why it ranked' }).first().click()
    },
    'search without a good answer': async () => {
      await open('/#/search?q=quantum+gluons')
      await page.getByText('No good match').waitFor(PATIENCE)
    },
    reader: async () => {
      await open(`/read?url=${encodeURIComponent(`${site.origin}/2.0/care`)}&lines=3-9`)
    },
    'reader of an unknown page': async () => {
      await open('/read?url=https%3A%2F%2Fnowhere.example%2F')
    },
    'box with a history': async () => {
      await open('/#/search')
      await (await openBox()).fill(`${site.origin}/2.0/care`)
      await page.getByRole('region', { name: 'History of the address' }).waitFor(PATIENCE)
    },
    'box with options': async () => {
      await open('/#/search')
      await (await openBox()).fill('wick')
      await page.getByRole('option').nth(2).waitFor(PATIENCE)
    },
  }

  test.each(Object.keys(screens))('axe finds no violation in the %s, wide and narrow, light and dark', async (name) => {
    await screens[name]?.()
    expect(await listViolations(page)).toEqual([])
  })
})

/** Opens an address in the window, from a blank page, so that nothing of the test before is left. */
async function open(path: string): Promise<void> {
  await page.goto('about:blank')
  await page.setViewportSize(SCREEN)
  problems.length = 0
  await page.goto(`${server.origin}${path}`)
}

/** Opens the box by its keys, once the dashboard listens. */
async function openBox(): Promise<Locator> {
  await page.getByRole('button', { name: 'Search or explain a URL' }).waitFor(PATIENCE)
  await page.keyboard.press('Control+k')
  return page.getByRole('combobox', { name: 'Address or words' })
}

async function openWindow(options: { readonly javaScriptEnabled?: boolean }): Promise<Page> {
  const context = await browser.newContext({ viewport: SCREEN, ...options })
  const opened = await context.newPage()
  opened.setDefaultTimeout(PATIENCE.timeout)
  opened.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  opened.on('pageerror', (error) => problems.push(error.message))
  return opened
}

async function countPages(): Promise<number> {
  const { items } = (await server.get('/api/sources')) as { readonly items: readonly { readonly pages: number }[] }
  return items.reduce((sum, { pages }) => sum + pages, 0)
}

function createPages(): Record<string, string | { headers: Record<string, string>; body: string }> {
  return {
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /2.0/secret' },
    '/2.0/': article('Lamps 2.0', '<p>The manual: <a href="care">care</a> and <a href="secret">secret</a>.</p>'),
    '/2.0/care': article('Care of lamps', CARE),
    '/1.0/': article('Lamps 1.0', '<p>The old manual: <a href="care">care</a>.</p>'),
    '/1.0/care': article(
      'Care of lamps',
      '<p>In version 1 the wick was never trimmed, and nobody lit a lamp twice.</p>',
    ),
    '/ships/': article(
      'Ships',
      '<p>Ships pass the lighthouse at night: <a href="sails">sails</a> and <a href="knots">knots</a>.</p>',
    ),
    '/ships/knots': article(
      'Knots',
      `<ul>${KNOTS.map((name) => `<li>The ${name} knot is tied by hand.</li>`).join('')}</ul>`,
    ),
    '/ships/sails': article('Sails', '<p>A sail is mended with a needle and with thread that was waxed before.</p>'),
  }
}

const CARE = `<p>Trim the wick of the lamp before you light it, see <a href="/2.0/">the start</a>.</p>
<table><thead><tr><th>when</th><th>what</th></tr></thead><tbody><tr><td>daily</td><td>trim the wick</td></tr></tbody></table>
<pre><code class="language-python">def trim(wick):
    return wick.cut(2)  # millimetres of a rather long line that is wider than a telephone, so that it has to be scrolled</code></pre>
<h2 id="fuel">Fuel</h2><ul><li>Use <b>paraffin</b>.</li><li>Never use <code>petrol</code>.</li></ul>
<h2 id="light">Light</h2><p>Strike a match and hold it to the wick until it burns with a steady flame.</p>`

const KNOTS = Array.from({ length: 40 }, (_, i) => (i === 34 ? 'carrick hawser' : `reef number ${i}`))

function article(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${content}</main></body></html>`
}
