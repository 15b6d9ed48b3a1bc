// Runs a program in its own process, which reports its resource usage without that of its children.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs a Node program to its end. Returns wall and CPU seconds, and its peak memory in bytes. */
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
