import { join } from 'node:path'

/* Copies a library, and is killed at one of its steps. Uses the build, which starts in a third of the time. */

const load = (path: string): Promise<unknown> => import(join(import.meta.dirname, '../../dist', path))
const { copyLibrary } = (await load(
  'library/operations/copy-library.js',
)) as typeof import('../../src/library/operations/copy-library.ts')
const { openLibrary } = (await load('open-library.js')) as typeof import('../../src/open-library.ts')

const [path = '', target = '', last = ''] = process.argv.slice(2)
const from = await openLibrary({ path, version: '0.0.0' })
const to = await openLibrary({ path: target, version: '0.0.0' })
let steps = 0
const onProgress = () => {
  if (++steps === Number(last)) process.kill(process.pid, 'SIGKILL')
}
await copyLibrary({ from, to, onProgress })
await from.close()
await to.close()
