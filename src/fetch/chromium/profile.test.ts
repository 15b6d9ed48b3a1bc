import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { openProfile } from './profile.ts'

test('opening a profile deletes folders of exited processes, and removing it deletes its own folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-profiles-'))
  const mine = await openProfile(folder)
  const name = basename(mine.path)
  // Folders of an exited process, of a running one that may not be signalled and of another machine, and one with an unrelated name.
  const { pid } = spawnSync(process.execPath, ['--version'])
  const leftover = name.replace(`-${process.pid}-`, `-${pid}-`)
  const kept = [name.replace(`-${process.pid}-`, '-1-'), name.replace('chromium-', 'chromium-elsewhere-'), 'other']
  for (const profile of [leftover, ...kept]) await mkdir(join(folder, profile))
  await writeFile(join(folder, leftover, 'file'), 'x')
  const next = await openProfile(folder)
  expect(new Set(await readdir(folder))).toEqual(new Set([name, basename(next.path), ...kept]))
  await mine.remove()
  await next.remove()
  await next.remove()
  expect(new Set(await readdir(folder))).toEqual(new Set(kept))
  await rm(folder, { recursive: true })
})

test('neither opening nor removing a profile fails when a folder cannot be deleted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-profiles-'))
  await chmod(folder, 0o777)
  const { pid } = spawnSync(process.execPath, ['--version'])
  const mine = await openProfile(folder)
  const leftover = basename(mine.path).replace(`-${process.pid}-`, `-${pid}-`)
  await mkdir(join(folder, leftover))
  const stuck = [mine.path, join(folder, leftover)]
  for (const path of stuck) {
    await writeFile(join(path, 'file'), 'x')
    await chmod(path, 0o500)
  }
  // Runs as an ordinary user, because root can delete every folder.
  const NOBODY = 65_534
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    const next = await openProfile(folder)
    expect(await readdir(folder)).toContain(leftover)
    await next.remove()
    await mine.remove()
    expect(await readdir(folder)).toContain(basename(mine.path))
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  for (const path of stuck) await chmod(path, 0o700)
  await rm(folder, { recursive: true })
})
