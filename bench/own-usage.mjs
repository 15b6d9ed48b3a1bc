// A program in a process of its own, which reports its own resource usage: what its children use is not counted.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs a program of Node to its end; wall and CPU seconds, and the most memory it had in bytes. */
export function runMeasured(command, args, environment) {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-usage-'))
  try {
    const report = join(folder, 'usage.json')
    const hook = join(folder, 'usage.cjs')
    writeFileSync(
      hook,
      `process.on('exit', () => {
        require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify(process.resourceUsage()))
      })`,
    )
    const start = performance.now()
    const { status, stderr } = spawnSync(command, args, {
      encoding: 'utf8',
      env: { ...process.env, ...environment, NODE_OPTIONS: `--require ${hook}` },
    })
    const wall = (performance.now() - start) / 1000
    if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`)
    const usage = JSON.parse(readFileSync(report, 'utf8'))
    return { wall, cpu: (usage.userCPUTime + usage.systemCPUTime) / 1e6, memory: usage.maxRSS * 1024 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
