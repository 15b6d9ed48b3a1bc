import { expect, test } from 'vitest'
import { checkConnections } from '../../../src/cli/doctor-connections.ts'
import { readConfig } from '../../../src/config.ts'
import { locateChromium } from '../../browser/chromium.ts'

async function checkBrowser(browser: string): Promise<unknown> {
  const checks = await checkConnections(readConfig({ environment: { PHAROS_BROWSER: browser }, file: 'none' }))
  return checks.find(({ name }) => name === 'browser')
}

test('doctor starts the browser, and explains why a program does not start', async () => {
  expect(await checkBrowser('/bin/false')).toEqual({
    name: 'browser',
    ok: true,
    isWarning: true,
    found: 'pages cannot be rendered: /bin/false does not start: it exits immediately; correct the setting `browser`',
  })
  const path = locateChromium()
  const found = `${path}; root runs the browser without its sandbox; run Pharos as another user`
  const isRoot = process.getuid?.() === 0
  expect(await checkBrowser(path)).toEqual({
    name: 'browser',
    ok: true,
    ...(isRoot ? { isWarning: true, found } : { found: path }),
  })
})
