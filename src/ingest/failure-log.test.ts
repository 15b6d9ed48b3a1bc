import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendFailure, type FailureLine } from './failure-log.ts'

const LINE: FailureLine = {
  file_path: '/docs/a.pdf',
  file_name: 'a.pdf',
  timestamp: '2026-02-20T10:30:00.000Z',
  event_type: 'modified',
  error_type: 'damaged',
  error_message: 'it is damaged,\nsays its reader',
  retry_count: 0,
}

test('the log file is created on first use, and rotated when it is full', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'pharos-failures-'))
  try {
    const file = join(folder, 'deep/failed.jsonl')
    const bytes = JSON.stringify(LINE).length + 1
    const append = (retry_count: number) => appendFailure(file, { ...LINE, retry_count }, 2 * bytes)
    const read = (name: string) => {
      const lines = fs.readFileSync(name, 'utf8').trimEnd().split('\n')
      return lines.map((line) => (JSON.parse(line) as FailureLine).retry_count)
    }
    append(0)
    append(1)
    expect(read(file)).toEqual([0, 1])
    for (const count of [2, 3, 4]) append(count)
    expect([read(`${file}.1`), read(file)]).toEqual([[2, 3], [4]])
    expect(fs.readdirSync(join(folder, 'deep'))).toEqual(['failed.jsonl', 'failed.jsonl.1'])
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
