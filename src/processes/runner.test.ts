import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { thisRunner } from './runner.ts'

/** No process has this pid: the maximum on Linux is 2²². */
const UNUSED_PID = 4_194_305

const idOf = (pid: number | undefined) => thisRunner.id.replace(/\d+$/, String(pid))

test('a runner is gone when its process on this machine has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
  await once(child, 'spawn')
  expect(thisRunner.isGone(idOf(child.pid))).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(thisRunner.isGone(idOf(child.pid))).toBe(true)
})

test('a runner is gone when its process was killed, even if the parent has not reaped it', async () => {
  // The parent is stopped after starting the child, and never reaps it.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; kill -STOP $$'])
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    expect(thisRunner.isGone(idOf(pid))).toBe(false)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => thisRunner.isGone(idOf(pid))).toBe(true)
    // The pid is still taken.
    expect(() => process.kill(pid, 0)).not.toThrow()
  } finally {
    parent.kill('SIGKILL')
  }
})

test('a runner on another machine never counts as gone', () => {
  expect(thisRunner.isGone(thisRunner.id)).toBe(false)
  // The same host name on another machine.
  const [name, , ...rest] = idOf(UNUSED_PID).split('/')
  expect(thisRunner.isGone(idOf(UNUSED_PID))).toBe(true)
  expect(thisRunner.isGone([name, '00000000-0000', ...rest].join('/'))).toBe(false)
  for (const id of [`elsewhere/${process.platform}/1`, `x${thisRunner.id}`, '', 'no process', idOf(0)]) {
    expect(thisRunner.isGone(id), id).toBe(false)
  }
})
