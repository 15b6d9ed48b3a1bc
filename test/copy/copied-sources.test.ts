import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { SOURCES_TABLE } from '../../src/library/copy-tables.ts'
import { addSource } from '../../src/library/operations/add-source.ts'
import { copyLibrary } from '../../src/library/operations/copy-library.ts'
import { openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { NO_BROWSER } from '../e2e/program.ts'

/** Two libraries in files; one has a source. */
async function openTwo() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-copy-'))
  closeLater(() => rmSync(folder, { recursive: true, force: true }))
  const [from, to] = await Promise.all(
    ['from.db', 'to.db'].map((name) => openLibrary({ path: join(folder, name), version: '0.0.0' })),
  )
  if (from === undefined || to === undefined) throw new Error('there are not two')
  for (const library of [from, to]) closeLater(() => library.close())
  return { from, to, source: await addSource(from, { url: 'https://docs.example/' }) }
}

test('a copy whose sources have changed is refused, and an unchanged one is not', async () => {
  const { from, to, source } = await openTwo()
  await copyLibrary({ from, to })
  expect(await copyLibrary({ from, to })).toMatchObject({ wasComplete: true, sources: 1 })
  await to.store.updateSource(source.id, { siteUrl: 'https://elsewhere.example/' })
  await expect(copyLibrary({ from, to })).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining('1 difference in sources'),
  })
})

test('a moving view holds no snapshot of a library file, which would make the write-ahead log grow', async () => {
  const { to } = await openTwo()
  const look = (isMoving: boolean) =>
    to.libraryCopy.view(
      async (view) => {
        const before = await view.count(SOURCES_TABLE)
        await addSource(to, { url: `https://${isMoving}.example/` })
        return (await view.count(SOURCES_TABLE)) - before
      },
      { isMoving },
    )
  expect([await look(false), await look(true)]).toEqual([0, 1])
})

/** The standard output of the program. */
async function ask(...args: string[]): Promise<string> {
  let answer = ''
  await run(args, { stdout: { write: (text) => (answer += text) }, stderr: { write: () => true } })
  return answer
}

test('doctor names an interrupted copy into a file, and the copy can be discarded although its origin cannot be opened', async () => {
  const { from, to } = await openTwo()
  const stop = new AbortController()
  const onProgress = () => stop.abort(new Error('enough'))
  await expect(copyLibrary({ from, to, onProgress, signal: stop.signal })).rejects.toThrow('enough')
  const [origin, target] = [from.store.location, to.store.location]
  for (const library of [from, to]) await library.close()
  writeFileSync(origin, 'no library any more')
  for (const [name, value] of Object.entries(NO_BROWSER)) vi.stubEnv(name, value)
  expect(await ask('doctor', '--library', target)).toContain(`a copy of ${origin} into it is incomplete`)
  expect(await ask('copy', origin, target, '--discard')).toContain('removed what was copied')
  expect(await ask('doctor', '--library', target)).not.toContain('a copy of')
})
