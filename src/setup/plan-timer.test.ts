import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { planTimer } from './plan-timer.ts'

test.each([
  ['the launcher of a checkout', { command: '/home/me/pharos/pharos', args: [] }, '/home/me/pharos/pharos'],
  ['Node', { command: process.execPath, args: ['/opt/pharos/main.js'] }, process.execPath],
  ['npx', { command: 'npx', args: ['-y', '@example/docs@1.2.3'] }, join(dirname(process.execPath), 'npx')],
])('started by %s, the service names the program by an absolute path, as systemd demands', (_, command, program) => {
  const home = mkdtempSync(join(tmpdir(), 'pharos-timer-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const [service] = planTimer({ home, applicationConfig: home, config: home }, command)
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(service?.after ?? '') ?? []
  expect(line).toBe([program, ...command.args].join(' '))
})
