import type { TestProject } from 'vitest/node'
import { createEmptyLibrary } from './databases.ts'
import { startPostgres } from './server.ts'

/** One PostgreSQL for all tests that need one. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const server = startPostgres()
  try {
    await createEmptyLibrary(server.folder)
  } catch (error) {
    server.stop()
    throw error
  }
  provide('postgres', server.folder)
  return () => server.stop()
}
