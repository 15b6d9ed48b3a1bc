import { expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { PackInput, WrittenPack } from '../../src/mcp/ports.ts'
import { connect, until } from './connect.ts'

const PACK: WrittenPack = { path: '/nowhere', bytes: 0, files: 0, chunks: 0, tokens: 0 }

/** A fake pack writer that waits for `release` or an abort, and records the largest number of packs written at once. */
function createFakeExporter() {
  const written: string[] = []
  let running = 0
  let maxRunning = 0
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const exportPack = async (_: unknown, { source, signal }: PackInput) => {
    running++
    maxRunning = Math.max(maxRunning, running)
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([released, stopped])
    running--
    written.push(source.name)
    return PACK
  }
  return { exportPack, release: () => release(), written, maxRunning: () => maxRunning }
}

test('packs are written one at a time, equal requests share one pack, and the queue is limited', async () => {
  const exporter = createFakeExporter()
  const { call, callForText, client, library } = await connect({ exportPack: exporter.exportPack })
  const opened = await library()
  for (let i = 0; i < 30; i++) await addSource(opened, { url: `https://docs.invalid/${i}/`, name: `s${i}` })
  const start = async (source: string, compact = false) => {
    const { structuredContent } = await call('export_pack', { source, compact })
    return structuredContent as { packId: string; state: string }
  }
  const first = await start('s0')
  expect(first.state).toBe('running')
  expect((await start('s0')).packId).toBe(first.packId)
  const second = await start('s1')
  expect(second.state).toBe('waiting')
  expect((await start('s1')).packId).toBe(second.packId)
  expect((await start('s1', true)).packId).not.toBe(second.packId)

  const answers = []
  for (let i = 2; i < 30; i++) answers.push(await callForText('export_pack', { source: `s${i}` }))
  expect(answers.filter((text) => text.startsWith('Error (JOBS_FULL): ')).length).toBeGreaterThan(0)
  expect(answers.at(-1)).toMatch(/^Error \(JOBS_FULL\): 20 packs are .*wait/)

  exporter.release()
  const read = async (packId: string) => {
    const [content] = (await client.readResource({ uri: `docs://packs/${packId}` })).contents
    return JSON.parse(content !== undefined && 'text' in content ? content.text : '{}') as { state: string }
  }
  await until(
    () => read(second.packId),
    ({ state }) => state === 'done',
  )
  expect(exporter.maxRunning()).toBe(1)
  expect(exporter.written.slice(0, 2)).toEqual(['s0', 's1'])
  expect((await start('s0')).packId).not.toBe(first.packId)
})
