import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { thisRunner } from './runner.ts'

const idOf = (pid: number | undefined) => thisRunner.id.replace(/\d+$/, String(pid))

test('a runner is gone when its process on this machine is', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
  await once(child, 'spawn')
  expect(thisRunner.isGone(idOf(child.pid))).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(thisRunner.isGone(idOf(child.pid))).toBe(true)
})

test('nothing is known of runners elsewhere', () => {
  expect(thisRunner.isGone(thisRunner.id)).toBe(false)
  for (const id of [`elsewhere/${process.platform}/1`, `x${thisRunner.id}`, '', 'no process', idOf(0)]) {
    expect(thisRunner.isGone(id), id).toBe(false)
  }
})
