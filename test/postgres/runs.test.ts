import { describe } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { describeRuns, fillWithNews } from '../analysis/runs.contract.ts'
import { createFilled, createLibrary } from './databases.ts'

describe('analysis runs on PostgreSQL', () => {
  const open = (path: string) => openLibrary({ path, version: '0' })
  const creating = (hasPlaces: boolean) =>
    createFilled(async (address) => {
      const library = await open(address)
      await fillWithNews(library, hasPlaces)
      await library.close()
    })
  const [createNews, createPlaces] = [creating(false), creating(true)]
  describeRuns(
    async () => open(await createLibrary()),
    async (hasPlaces) => open(await (hasPlaces ? createPlaces() : createNews())),
  )
})
