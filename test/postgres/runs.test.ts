import { describe } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { describeRuns } from '../analysis/runs.contract.ts'
import { createLibrary } from './databases.ts'

describe('on PostgreSQL', () => {
  describeRuns(async () => openLibrary({ path: await createLibrary(), version: '0' }))
})
