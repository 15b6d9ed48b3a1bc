import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findBrowser, findInstalled } from './find-browser.ts'

test('uses the given program, and fails if it does not exist or is not executable', async () => {
  expect(await findBrowser(process.execPath)).toBe(process.execPath)
  const folder = await mkdtemp(join(tmpdir(), 'pharos-browser-'))
  const text = join(folder, 'notes.txt')
  await writeFile(text, 'no program', { mode: 0o600 })
  for (const given of [join(folder, 'chromium'), ...(process.platform === 'win32' ? [] : [text])]) {
    await expect(findBrowser(given)).rejects.toMatchObject({
      code: 'BROWSER_MISSING',
      message: `pages cannot be rendered: there is no program at ${given}`,
    })
  }
  await rm(folder, { recursive: true })
})

test('looks at the usual paths first, then for program names in the PATH', async () => {
  expect(await findInstalled(['/nowhere', process.execPath], [])).toBe(process.execPath)
  expect(await findInstalled([], ['no-such-browser', 'node'])).toMatch(/node/)
})

test('explains how to install a browser when none is found', async () => {
  await expect(findInstalled(['/nowhere'], ['no-such-browser'])).rejects.toMatchObject({
    code: 'BROWSER_MISSING',
    details: {
      advice: 'install one (Debian: apt-get install chromium-headless-shell), or name it in the setting `browser`',
    },
  })
})

test('finds the installed browser of this machine, or reports that there is none', async () => {
  const found = await findBrowser('').catch((error: Error) => error.message)
  expect(found).toMatch(/chrom|edge|there is no Chromium or Chrome/i)
})
