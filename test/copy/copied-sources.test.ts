import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { copyLibrary } from '../../src/library/copy/copy-library.ts'
import { SOURCES_TABLE } from '../../src/library/copy/table-columns.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { NO_BROWSER } from '../e2e/program.ts'

/** Two libraries in files; one has a source. */
async function openTwoLibraries() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-copy-'))
  closeLater(() => rmSync(folder, { recursive: true, force: true }))
  const [from, to] = await Promise.all(
    ['from.db', 'to.db'].map((name) => openLibrary({ path: join(folder, name), version: '0.0.0' })),
  )
  if (from === undefined || to === undefined) throw new Error('the two libraries were not opened')
  for (const library of [from, to]) closeLater(() => library.close())
  return { from, to, source: await addSource(from, { url: 'https://docs.example/' }) }
}

test('repeating a copy is refused when a source of the target has changed, and succeeds otherwise', async () => {
  const { from, to, source } = await openTwoLibraries()
  await copyLibrary({ from, to })
  expect(await copyLibrary({ from, to })).toMatchObject({ wasComplete: true, sources: 1 })
  await to.store.updateSource(source.id, { siteUrl: 'https://elsewhere.example/' })
  await expect(copyLibrary({ from, to })).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining('1 difference in sources'),
  })
})

test('a moving view holds no snapshot of a library file, which would make the write-ahead log grow', async () => {
  const { to } = await openTwoLibraries()
  const countAdded = (isMoving: boolean) =>
    to.libraryCopy.view(
      async (view) => {
        const before = await view.count(SOURCES_TABLE)
        await addSource(to, { url: `https://${isMoving}.example/` })
        return (await view.count(SOURCES_TABLE)) - before
      },
      { isMoving },
    )
  expect([await countAdded(false), await countAdded(true)]).toEqual([0, 1])
})

/** Runs the program and returns its standard output. */
async function runProgram(...args: string[]): Promise<string> {
  let answer = ''
  await run(args, { stdout: { write: (text) => (answer += text) }, stderr: { write: () => true } })
  return answer
}

test('doctor names an interrupted copy into a file, and the copy can be discarded although its origin cannot be opened', async () => {
  const { from, to } = await openTwoLibraries()
  const stop = new AbortController()
  const onProgress = () => stop.abort(new Error('enough'))
  await expect(copyLibrary({ from, to, onProgress, signal: stop.signal })).rejects.toThrow('enough')
  const [origin, target] = [from.store.location, to.store.location]
  for (const library of [from, to]) await library.close()
  writeFileSync(origin, 'no library any more')
  for (const [name, value] of Object.entries(NO_BROWSER)) vi.stubEnv(name, value)
  expect(await runProgram('doctor', '--library', target)).toContain(`a copy of ${origin} into it is incomplete`)
  expect(await runProgram('copy', origin, target, '--discard')).toContain('removed what was copied')
  expect(await runProgram('doctor', '--library', target)).not.toContain('a copy of')
})
