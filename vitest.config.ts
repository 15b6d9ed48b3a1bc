import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// What Node remembers of compiling is shared by the workers and by all programs that tests start, as it is by the runs of one user:
// a third of a start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/pharos-compiled')

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // One core less is the default, which on two cores leaves one idle: most of the time goes to programs that tests start, and
    // most of it is spent waiting, for them and for pauses that are tested.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
