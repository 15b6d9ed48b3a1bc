import { expect, test } from 'vitest'
import { describeLaunch, loadPlaywright } from './browser.ts'
import { measureProcesses } from './memory.ts'

test('explains what to install when Playwright is missing', async () => {
  expect((await loadPlaywright()).name()).toBe('chromium')
  const missing = () => Promise.reject(new Error('Cannot find package'))
  await expect(loadPlaywright(missing)).rejects.toMatchObject({
    code: 'BROWSER_MISSING',
    message: 'pages cannot be rendered: the package playwright-core is not installed',
    details: { advice: 'npm install playwright-core' },
  })
})

test('adds up the memory of processes and ignores exited ones', async () => {
  const UNUSED_PID = 2 ** 30
  expect(await measureProcesses([UNUSED_PID])).toBe(0)
  const own = await measureProcesses([process.pid, UNUSED_PID])
  if (process.platform === 'linux') expect(own).toBeGreaterThan(2 ** 20)
})

test.each([
  [
    'browserType.launchPersistentContext: Failed to launch: Error: spawn /x EACCES\nCall log:\n',
    'Failed to launch: Error: spawn /x EACCES',
  ],
  [
    'browserType.launch: Target page, context or browser has been closed\nBrowser logs:\n\n<launched> pid=7',
    'it exits immediately',
  ],
  [
    'browserType.launch: Target page, context or browser has been closed\n<launched> pid=7\n[pid=7][err] /x: libnss3.so: not found\n[pid=7][err] more',
    '/x: libnss3.so: not found',
  ],
])('explains in one line why a browser did not start', (message, line) => {
  expect(describeLaunch(new Error(message))).toBe(line)
})
