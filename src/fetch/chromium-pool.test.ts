import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BrowserType } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { PUBLIC_ONLY } from './addresses.ts'
import { BrowserPool } from './chromium-pool.ts'

/** Behaviour of the fake browser; everything not given succeeds. */
interface Pretended {
  readonly introduce?: () => Promise<unknown>
  readonly end?: () => Promise<void>
}

/** Opens a pool with a fake browser. Also returns the mock of its `close` and the folders of its profiles. */
function openPool({ introduce, end }: Pretended) {
  const folders: string[] = []
  const close = vi.fn(end ?? (async () => {}))
  const session = { send: async () => ({ processInfo: [] }) }
  const browser = { close, once: () => {}, newBrowserCDPSession: introduce ?? (async () => session) }
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
])('closes a browser that starts and then %s', async (_what, introduce, message) => {
  const { opening, close, folders } = openPool({ introduce, end: () => Promise.reject(new Error('gone')) })
  await expect(opening).rejects.toThrow(message)
  expect(close).toHaveBeenCalledTimes(1)
  expect(folders.map((folder) => existsSync(dirname(folder)))).toEqual([false])
})

test('`ended` resolves although the browser fails to close', async () => {
  const { opening } = openPool({ end: () => Promise.reject(new Error('broken')) })
  const pool = await opening
  pool.retire()
  await pool.ended
  // Callers of `close()` get the error; the end of the pool does not reject.
  await expect(pool.close()).rejects.toThrow('broken')
})
