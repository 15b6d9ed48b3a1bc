import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BrowserType } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { PUBLIC_ONLY } from '../addresses.ts'
import { BrowserPool } from './pool.ts'

/** What the fake browser does when it is asked for a session and when it is closed. Each succeeds by default. */
interface FakeBrowser {
  readonly newSession?: () => Promise<unknown>
  readonly closeBrowser?: () => Promise<void>
}

/** Opens a pool with a fake browser. Also returns the mock of its `close` and the folders of its profiles. */
function openPool({ newSession, closeBrowser }: FakeBrowser) {
  const folders: string[] = []
  const close = vi.fn(closeBrowser ?? (async () => {}))
  const session = { send: async () => ({ processInfo: [] }) }
  const browser = { close, once: () => {}, newBrowserCDPSession: newSession ?? (async () => session) }
  const chromium = {
    launchPersistentContext: async (folder: string) => {
      folders.push(folder)
      return { browser: () => browser }
    },
  }
  const opening = BrowserPool.open(chromium as unknown as BrowserType, {
    ...{ executablePath: '/x', userAgent: 'x', startMs: 50 },
    guard: { allowance: PUBLIC_ONLY },
    recycle: { pages: 1, memoryBytes: 1, ageMs: 60_000 },
  })
  return { opening, close, folders }
}

test.each([
  ['does not answer', () => new Promise(() => {}), 'the browser does not answer'],
  ['fails', () => Promise.reject(new Error('broken')), 'broken'],
])('closes a browser that starts and then %s', async (_what, newSession, message) => {
  const { opening, close, folders } = openPool({ newSession, closeBrowser: () => Promise.reject(new Error('gone')) })
  await expect(opening).rejects.toThrow(message)
  expect(close).toHaveBeenCalledTimes(1)
  expect(folders.map((folder) => existsSync(dirname(folder)))).toEqual([false])
})

test('`ended` resolves even if the browser fails to close', async () => {
  const { opening } = openPool({ closeBrowser: () => Promise.reject(new Error('broken')) })
  const pool = await opening
  pool.retire()
  await pool.ended
  // Only `close()` rejects with the error; `ended` does not.
  await expect(pool.close()).rejects.toThrow('broken')
})
